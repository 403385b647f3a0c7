"""The parts of the reductions by themselves: keys that hold sums, enumerated trees against all trees, dual bounds."""

from __future__ import annotations

import math
from typing import Any, ClassVar, final

import numpy as np
import pytest

import streed
from streed.bnb.procedure import DEPTH_FIRST, Procedure
from streed.data import Dataset
from streed.drivers.native import Native
from streed.enumerate.near_optimal import NearOptimalTrees
from streed.enumerate.numbered_rows import NumberedRowSets
from streed.enumerate.packed_rows import PackedRowSets
from streed.enumerate.packing import WORD, Packing
from streed.enumerate.vector_trees import Trees
from streed.exact import Array
from streed.problem import Driver, Problem, SearchLimits
from streed.problem.oracle_by_search import FixedCosts, preorder_of
from streed.reductions.dinkelbach import best_beyond
from streed.reductions.lagrangian import Relaxation
from streed.reference import every_tree
from streed.task.sums import LinearFraction
from streed.tasks import Accuracy, DemographicParity
from streed.tree import Node, route
from streed.tree.predictions import predict_rows

DRIVER = streed.DepthFirst()


@final
class Unprepared(Native):
    """Depth-first search without a linear oracle: sets of rows are numbered then."""

    name: ClassVar[str] = "depth-first"
    procedure: ClassVar[Procedure] = DEPTH_FIRST

    def linear_oracle(self, *_: Any) -> None:
        return None


def make_trees(seed: int, labels: int = 2, driver: Driver = DRIVER, **limits: Any) -> Trees:
    """Twelve rows of three columns with three random sums; the last two of them are signed.

    Their sets of rows are packed by depth-first search, and numbered by `Unprepared`.
    """
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (12, 3))
    categories = limits.pop("categories", 0)
    if categories:
        X[:, 0] = rng.permutation(np.arange(12) % categories)
        data = Dataset.make(X, np.arange(12) % labels, categorical=[0])
    else:
        data = Dataset.make(X, np.arange(12) % labels)
    parts = rng.integers(-4, 5, (3, 12, labels))
    parts[0] = np.abs(parts[0])
    parts[:, :, 0] *= rng.integers(0, 2, 12)
    allowed = {"max_depth": 2, "max_nodes": None, "min_leaf": 1, **limits}
    problem = Problem(data, FixedCosts(parts[0], 0), **allowed)
    return Trees(problem, parts.astype(np.int64), (1, 0, 0), driver, SearchLimits())


def all_vectors(trees: Trees) -> dict[tuple[int, ...], Node]:
    """Every vector of an allowed tree."""
    problem = trees.problem
    found: dict[tuple[int, ...], Node] = {}
    for root in every_tree(problem.task, problem.data, max_depth=problem.max_depth, max_nodes=problem.max_nodes):
        if smallest_leaf(root, problem.data.X) >= problem.min_leaf:
            found.setdefault(vector_of(trees, root), root)
    return found


def vector_of(trees: Trees, root: Node) -> tuple[int, ...]:
    columns, labels, _ = preorder_of(root)
    return trees.labelled(columns, labels).vector


def smallest_leaf(root: Node, codes: Array) -> int:
    leaf = route(root, lambda node, rows: codes[rows, node.column], len(codes))
    return int(np.unique(leaf, return_counts=True)[1].min())


KINDS: list[dict[str, Any]] = [
    {},
    {"max_depth": 1},
    {"max_depth": 0},
    {"max_nodes": 2},
    {"min_leaf": 2},
    {"labels": 3},
    {"categories": 3},
    {"categories": 5, "max_depth": 1},
    {"categories": 4, "max_nodes": 2},
    {"max_depth": 3, "max_nodes": 2, "min_leaf": 2},
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("driver", [DRIVER, Unprepared()], ids=["packed", "numbered"])
def test_all_trees_within_the_budget_are_enumerated(driver: Driver, kind: dict[str, Any], seed: int) -> None:
    trees = make_trees(seed, driver=driver, **kind)
    vectors = all_vectors(trees)
    scale, multipliers = 3, (2, -1)
    cost = {v: scale * v[0] + multipliers[0] * v[1] + multipliers[1] * v[2] for v in vectors}
    least = min(cost.values())
    for slack in (0, 5, 40):
        near_optimal = NearOptimalTrees(trees, [1], [1, 2], scale, multipliers, [(-1000, 1000)] * 2)
        is_packed = driver is DRIVER and not kind.get("categories")
        assert isinstance(near_optimal._rows, PackedRowSets if is_packed else NumberedRowSets)
        entries = near_optimal.every(least + slack)
        best: dict[tuple[int, int], int] = {}
        for v, total in cost.items():
            if total <= least + slack:
                best[v[1], v[2]] = min(best.get((v[1], v[2]), v[0]), v[0])
        sums = near_optimal.sums_of(entries)[:, :2].tolist()
        found: dict[tuple[int, int], int] = {}
        for (a, b), entry in zip(sums, entries, strict=True):
            found[a, b] = min(found.get((a, b), 10**9), int(entry[1]))
            assert near_optimal.tree(entry).vector == (int(entry[1]), a, b)
        assert found == best
        assert entries[:, 0].tolist() == sorted(entries[:, 0].tolist())


def test_the_dual_bound_is_below_the_optimum() -> None:
    for seed in range(6):
        trees = make_trees(seed)
        intervals = [(-2, 2), (-2, 2)]
        allowed = [v[0] for v in all_vectors(trees) if all(-2 <= z <= 2 for z in v[1:])]
        relaxation = Relaxation(trees, [1], intervals)
        for j in (0, 1):
            if not relaxation._raise_multiplier(j):
                assert not allowed
            elif allowed:
                assert relaxation.bound <= min(allowed)


def test_keys_hold_all_sums() -> None:
    rng = np.random.default_rng(1)
    for width, span in ((1, 10), (3, 10**9), (4, 10**12), (6, 3)):
        parts = [rng.integers(-span, span + 1, (20, 2)) for _ in range(width)]
        parts.append(parts[0] * 3 - parts[-1])
        packing = Packing.of(parts, [1, *[0] * (width - 1), 3 if width > 1 else 2], 7, bits=WORD)
        for _ in range(20):
            rows, labels = np.arange(20), rng.integers(0, 2, 20)
            branches = int(rng.integers(0, 8))
            chosen = packing.costs[rows, labels[rows]].sum(axis=0) + branches * np.array(packing.split)
            expected = [part[rows, labels[rows]].sum() for part in parts]
            expected[0] += branches
            expected[-1] += branches * (3 if width > 1 else 2)
            assert packing.totals(chosen.tolist()) == tuple(expected)


@pytest.mark.parametrize(("sizes", "forced"), [((9, 7), True), ((8, 6), False), ((9, 3), False)])
def test_no_gap_between_groups_of_coprime_sizes_leaves_one_label(sizes: tuple[int, int], forced: bool) -> None:
    draw = np.random.default_rng(sum(sizes))
    groups = np.repeat([0, 1], sizes)
    X = draw.integers(0, 2, (sum(sizes), 4))
    y = X[:, 0] ^ (draw.random(len(X)) < 0.1)
    task = Accuracy().subject_to(DemographicParity() <= 0)
    result = streed.solve(task, X, y, max_depth=2, sensitive_features=groups)
    predictions = [
        predict_rows(root, X.astype(np.uint8)) for root in every_tree(Accuracy(), Dataset.make(X, y), max_depth=2)
    ]
    fair = [p for p in predictions if p[groups == 0].sum() * sizes[1] == p[groups == 1].sum() * sizes[0]]
    assert result.value == min(int((p != y).sum()) for p in fair)
    assert (result.stats["scalar_solves"] == 0) == forced


def test_the_best_score_beyond_a_line_is_above_those_of_all_whole_sums_there() -> None:
    draw = np.random.default_rng(31)
    met = 0
    for _ in range(300):
        ranges = [tuple(sorted(draw.integers(0, 12, 2).tolist())) for _ in range(2)]
        falls, slopes = draw.integers(-3, 4, (2, 2)).tolist()
        score = LinearFraction(int(draw.integers(0, 60)), tuple(falls), int(draw.integers(1, 90)), tuple(slopes))
        weights = draw.integers(-3, 6, 2).tolist()
        every = [(x, y) for x in range(ranges[0][0], ranges[0][1] + 1) for y in range(ranges[1][0], ranges[1][1] + 1)]
        least = int(draw.integers(-20, 60))
        beyond = [v for v in every if weights[0] * v[0] + weights[1] * v[1] >= least]
        bound = best_beyond(score, weights, least, ranges)
        if any(score.base + slopes[0] * v[0] + slopes[1] * v[1] <= 0 for v in beyond):
            assert bound == math.inf
        elif beyond and bound < math.inf:
            best = max(score.at(v) for v in beyond)
            assert best <= bound
            met += best == bound
    assert met > 50
