"""Some problems of every family, of sizes that reach every corner of the search, and what happens to a wrong answer."""

from __future__ import annotations

import functools
import itertools
import json
import random
import re
from typing import Any

import attrs
import numpy as np
import pytest

import streed
from streed.bnb import units
from streed.data import Dataset
from streed.encoding.generated import Scored
from streed.errors import InputError
from streed.exact import Array
from streed.kernels.records import ALL, BEST, INFINITE, UNLIMITED
from streed.kernels.values import LABELS, LEAF1, LOWER0, LOWER1, MORE1, OPTIMUM0, SPLIT1, TWO1, UNKNOWN
from streed.task.analysis.linear_form import row_cost_form
from streed.task.bounded_sums import exact_costs
from streed.tasks import Accuracy, InstanceCosts, Misclassifications, SparseAccuracy, Splits, SquaredError
from tests.differential.volume import __main__ as command
from tests.differential.volume.judge import OTHERS, Drawn, judged, smaller, verdict_on
from tests.differential.volume.kinds import KINDS, draw_costs
from tests.differential.volume.problem import Problem, Size
from tests.shipped import NATIVE
from tests.unit.kernel_harness import KINDS as OF_COSTS
from tests.unit.kernel_harness import Bench, add_node, make_instance

QUICK = {"scores": 30, "fairness": 19, "hostile": 24, "proofs": 50, "claims": 60, "exports": 6}
"""How many are tried of the families that compile little; of the others only where much is compiled."""
LONG = {"costs": 30, "discounts": 24, "policies": 4, "regression": 4, "fronts": 56, "stops": 44, "thresholds": 12}
LONG |= {"near_optimal": 44, "user-tasks": 4}
COUNTS = QUICK | LONG


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "family", [pytest.param(x, marks=() if x in QUICK else pytest.mark.compiles) for x in (*KINDS, *OTHERS)]
)
def test_problems_of_every_family_are_answered_rightly(family: str) -> None:
    verdicts = [(n, verdict_on(Drawn(family, 7, n)).wrong) for n in range(COUNTS.get(family, 8))]
    assert [(number, wrong) for number, wrong in verdicts if wrong] == []


@pytest.mark.parametrize("path", sorted(command.CASES.glob("*.json")), ids=lambda path: path.stem)
def test_cases_that_once_failed(path: Any) -> None:
    assert judged(Problem.from_plain(json.loads(path.read_text(encoding="utf-8")))).wrong == ()


def test_it_tells_what_is_wrong_and_makes_it_small(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    solve = streed.solve
    assert command.main(["--family", "costs", "--count", "4", "--seed", "4"]) == 0
    X = np.random.default_rng(0).integers(0, 2, (12, 3)).astype(np.uint8)
    problem = Problem("Misclassifications()", X, X[:, 1].tolist(), limits={"max_depth": 1, "min_leaf": 1})
    assert not judged(problem).wrong
    monkeypatch.setattr(streed, "solve", lambda *given, **named: solve(*given, **{**named, "max_depth": 0}))
    little = smaller(problem)
    assert (little.n_rows, little.X.shape[1]) == (2, 1)
    monkeypatch.setattr(command, "smaller", lambda problem: little)
    assert command.main(["--family", "costs", "--count", "6", "--seed", "4", "--save", str(tmp_path)]) == 1
    assert '"task": "' in capsys.readouterr().out
    assert Problem.from_plain(json.loads(next(tmp_path.iterdir()).read_text(encoding="utf-8"))).n_rows == 2


WIDE: list[Any] = [(60, 31, 2), (60, 32, 2), (64, 33, 2), (65, 63, 2), (33, 64, 2), (50, 65, 2), (24, 130, 2)]
DEEP: list[tuple[int, int, Any]] = [(127, 12, 3), (300, 8, 3), (60, 13, 3), (200, 7, 4), (60, 5, 5)]
TALL = [(16_500, 8, 2), (32_770, 3, 2), (90_001, 2, 2)]
ANY = pytest.param((120, 7, None), marks=pytest.mark.compiles)
"""(rows, columns, depth): around vectors of columns, of many nodes, and around what 16 bits count; of any depth."""


def least_cost(problem: Problem, task: Any) -> list[Any] | None:
    """The optimum by sums over sets of rows in numpy, which many columns and rows need; None if nodes are counted."""
    data, limits = problem.data(), problem.limits
    if limits.get("max_nodes") is not None:
        return None
    bound = task.bind(data)
    form = row_cost_form(bound, data)
    assert form is not None
    costs, sizes, codes = exact_costs(form, data), data.counts, np.asarray(data.X)
    least = max([limits["min_leaf"], *(limit.support for limit in bound.limits)])
    each = costs.costs.astype(np.float64 if np.abs(costs.costs).sum() < 2**53 else object)
    literals = np.stack([code == codes.T for code in range(int(codes.max(initial=0)) + 1)], axis=1)

    @functools.cache
    def best(key: bytes, depth: int) -> Any:
        rows = np.frombuffer(key, np.bool_)
        found = each[rows].sum(axis=0).min() if sizes[rows].sum() >= least else np.inf
        parts = literals & rows
        large = parts @ sizes
        splits = ((large > 0).sum(axis=1) > 1) & ((large == 0) | (large >= least)).all(axis=1)
        if depth == 1 and splits.any():
            found = min(found, costs.split + (parts[splits] @ each).min(axis=2).sum(axis=1).min())
        for sides in parts[splits] if depth > 1 else ():
            found = min(found, costs.split + sum(best(side.tobytes(), depth - 1) for side in sides if side.any()))
        return found

    deepest = codes.shape[1]
    found = best(np.ones(len(codes), np.bool_).tobytes(), min(limits["max_depth"] or deepest, deepest))
    return [] if found == np.inf else [costs.value(int(found))]


def wrong(size: Size, number: int, **options: Any) -> tuple[str, ...]:
    """What is wrong with the answer to a problem of this size, with costs of any kind."""
    rng = np.random.default_rng([number, size.rows, size.columns])
    problem: Problem = draw_costs(random.Random(f"{size}/{number}"), rng, size)
    return judged(attrs.evolve(problem, options={**problem.options, **options}), least_cost).wrong


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("shape", [*WIDE, *DEEP, *TALL, ANY], ids=str)
def test_sizes_around_vectors_deep_trees_and_more_rows_than_16_bits_count(shape: tuple[int, int, Any]) -> None:
    name, count = ("large", 2) if shape in TALL else ("edge", 5)
    assert [found for number in range(count) if (found := wrong(Size(name, *shape), number))] == []


LIMITS: list[tuple[Any, Any]] = [(4, None), (5, None), (None, None), (None, 4), (4, 5), (3, None), (3, 4)]


@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize(
    "labels", [2, pytest.param(3, marks=pytest.mark.compiles), pytest.param(4, marks=pytest.mark.compiles)]
)
def test_nodes_that_cost_about_as_much_as_they_save(labels: int, limits: tuple[Any, Any]) -> None:
    """Where a bound that says one too much gives another value."""
    rng = np.random.default_rng(labels)
    for _ in range(16):
        rows, columns = int(rng.integers(12, 45)), int(rng.integers(4, 7))
        X = (rng.random((rows, columns)) < rng.uniform(0.2, 0.8, columns)).astype(np.uint8)
        rule = X.astype(int) @ rng.integers(0, labels, columns) % labels
        y = np.where(rng.random(rows) < 0.3, rng.integers(0, labels, rows), rule)
        weights = rng.integers(1, 5, rows).tolist() if rng.random() < 0.3 else None
        asked = {"max_depth": limits[0], "max_nodes": limits[1], "min_leaf": int(rng.choice([1, 1, 1, 2, 4]))}
        source = f"Misclassifications() + {rng.choice([0, 1, 1, 2])} * Splits()"
        options = {"search": str(rng.choice(NATIVE)), "threads": int(rng.integers(1, 3))}
        assert judged(Problem(source, X, y.tolist(), weights, limits=asked, options=options)).wrong == ()


def test_sides_that_are_pure_after_several_splits_with_a_price() -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = (rng.random((24, 5)) < rng.uniform(0.5, 0.9, 5)).astype(np.uint8)
        y = [bool(row[:4].all()) for row in X]
        assert judged(Problem("Gini() + Splits()", X, y, limits={"max_depth": 4, "min_leaf": 1})).wrong == ()


def test_bounds_of_rounded_sums_leave_room_for_the_rounding() -> None:
    rng = np.random.default_rng(0)
    data = Dataset.make(rng.integers(0, 2, (60, 7)), rng.random(60))
    scored = Scored.of(streed.problem.Problem(data, SquaredError().bind(data), 2, None, 1))
    assert scored.bound(10**6) < scored.value(10**6)


@pytest.mark.parametrize("limit", [2**15 - 2, 2**30, 2**60])
@pytest.mark.parametrize("labels", [2, 3])
def test_costs_up_to_the_limit_of_every_lane(limit: int, labels: int) -> None:
    """Sums just below what a lane of 16, 32 or 64 bits holds, and just above."""
    rng = np.random.default_rng(labels)
    X = rng.integers(0, 2, (40, 5)).astype(np.uint8)
    best = np.where(rng.random(40) < 0.3, rng.integers(0, labels, 40), X[:, 0] + X[:, 1] * (labels - 2))
    for beyond in (-9, 0, 9) if limit < 2**60 else (-9,):
        for tenths in (0, 1, 10):
            worst = (limit - 3) * 10 // (10 + 2 * tenths)
            costs = (best[:, None] != np.arange(labels)) * (worst // 40)
            costs[0, costs[0] > 0] += worst + beyond - int(costs.max(axis=1).sum())
            price = (limit - 3 - worst) // 2
            source = f"InstanceCosts() + {price} * Splits()"
            given: dict[str, Any] = {"row_data": {"costs": costs.tolist()}, "limits": {"max_depth": 3, "min_leaf": 1}}
            assert judged(Problem(source, X, [0] * 40, **given)).wrong == ()


def noisy(rng: np.random.Generator, rows: int, columns: int) -> tuple[Array, Array]:
    X = rng.integers(0, 2, (rows, columns)).astype(np.uint8)
    return X, (X[:, 0] ^ (X[:, 1] & X[:, 2])) ^ (rng.random(rows) < 0.25)


MANY: dict[str, tuple[streed.Task, dict[str, Any]]] = {
    "sparse": (SparseAccuracy(0.01), {}),
    "labels": (Misclassifications() + Splits(), {"max_depth": 6}),
    "support": (Accuracy(), {"max_depth": 5, "min_leaf": 4}),
    "nodes": (Accuracy(), {"max_depth": 5, "max_nodes": 7}),
    "costs": (InstanceCosts() + 30 * Splits(), {}),
}


@pytest.mark.parametrize("search", NATIVE)
@pytest.mark.parametrize("name", MANY)
def test_columns_and_rows_in_any_order_have_one_value(name: str, search: str) -> None:
    """Searches of thousands of nodes, whose bounds prune others when rows and columns stand in another order."""
    task, limits = MANY[name]
    for seed in range(3):
        rng = np.random.default_rng([seed, len(name)])
        X, y = noisy(rng, 160, 13)
        each: dict[str, Any] = {"costs": rng.integers(0, 40, (160, 3))} if name == "costs" else {"y": y}
        if name == "labels":
            each["y"] = y + (rng.random(160) < 0.2)
        values = set()
        for turn in range(4):
            rows, columns = rng.permutation(160), rng.permutation(13)
            table = X[np.ix_(rows, columns)] ^ rng.integers(0, 2, 13).astype(np.uint8)
            here = {key: of_rows[rows] for key, of_rows in each.items()}
            found = streed.solve(task, table, search=search, threads=1 + turn % 2, **here, **limits)
            assert found.status == "optimal"
            values.add(found.value)
        assert len(values) == 1


@pytest.mark.parametrize("labels", [2, 3])
def test_no_bound_of_a_side_is_above_its_optimum(labels: int) -> None:
    """Below a node of depth three, while splits are tried and once all were, and of any depth; nor is its floor."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        shape: dict[str, Any] = {"rows": int(rng.choice([5, 9, 30])), "binary": int(rng.integers(2, 6))}
        shape |= {"labels": labels, "kind": OF_COSTS[seed % 3], "split": int(rng.integers(0, 4))}
        instance = make_instance(rng, **shape)
        with Bench(instance, lane=np.int16) as bench:
            bench.engine["expand"] = units.expander(LABELS, np.int16).address
            everything, some = instance.everything(), rng.random(shape["rows"]) < 0.1
            bench.load()
            for state in (everything, *map(bench.rows_with, bench.active())):
                begun = add_node(bench.engine.address, bench.place(state), 9, UNLIMITED)
                floor, least = int(bench.workspace.nodes[begun]["lower"]), instance.optimum(state, None)
                assert floor <= least <= floor + 31 * instance.split
            mostly = bench.rows_with(bench.active()[0]) | some if bench.active() else everything
            for rows, asked, depth in ((everything, BEST, 2), (mostly, BEST, 2), (~some, BEST, 2), (mostly, ALL, 3)):
                bench.engine.write({"asked_target": INFINITE, "asked_all": asked})
                bench.load(rows)
                bench.call("solve_shallow")
                found = [bench.values()[[LOWER1, LOWER0]]] if bench.engine["upper"] else []
                bench.call("expand")
                grown = [bench.values()[[row, row + 1]] for row in (LEAF1, SPLIT1, TWO1, MORE1)]
                found.append(np.minimum.reduce(grown))
                for k in range(len(bench.active())):
                    for of_side, inside in zip((1, 0), bench.sides(rows, k), strict=True):
                        for lower, levels in zip(reversed(found), (None, depth), strict=False):
                            assert lower[of_side, k] <= instance.optimum(inside, levels)


def test_branches_are_told_apart_by_all_of_their_literals() -> None:
    """In whatever order, up to eight; more are not kept."""
    rng = np.random.default_rng(0)
    with Bench(make_instance(rng, rows=30, binary=5), lane=np.int16) as bench:
        bench.engine.write(units.further("store", "recall"))
        bench.load()
        branches = [frozenset(each) for size in range(1, 10) for each in itertools.combinations(range(10), size)]
        costs = {branch: cost for cost, branch in enumerate(branches)}
        for kernel, branch in itertools.product(("store", "recall"), branches):
            last, *others = rng.permutation(sorted(branch)).tolist()
            words = sum((each + 1) << (16 * i) for i, each in enumerate(sorted(others, reverse=True)))
            column, side = bench.active().index(last // 2), last % 2
            bench.engine.write({"asked_high": words >> 64, "asked_low": words % 2**64, "asked_column": column})
            known = [costs.get(frozenset((*others, last ^ 1)), UNKNOWN), costs[branch]]
            bench.engine.write({"cost0": known[1 - side], "cost1": known[side]})
            bench.call(kernel)
            found = bench.values()[OPTIMUM0 - side, column]
            assert kernel == "store" or found == (known[1] if len(branch) < 9 else UNKNOWN)


@pytest.mark.compiles
@pytest.mark.parametrize(
    ("task", "asked"),
    [
        (SparseAccuracy(0.004), {}),
        (SparseAccuracy(0.004), {"threads": 2}),
        (SparseAccuracy(0.006), {"search": "branches"}),
    ],
    ids=str,
)
def test_a_search_with_little_memory_forgets_and_proves_the_same(task: streed.Task, asked: dict[str, Any]) -> None:
    X, y = noisy(np.random.default_rng(0), 250, 19)
    free = streed.solve(task, X, y, **asked)
    with pytest.raises(InputError, match=r"this process holds .* already") as refused:
        streed.solve(task, X, y, memory_limit=1, **asked)
    held, more = (int(number.replace(",", "")) for number in re.findall(r"[\d,]{5,}", str(refused.value)))
    found = streed.solve(task, X, y, memory_limit=held + more + 2**20, **asked)
    assert found.stats["evictions"] > 0
    assert found.lower_bound <= free.value <= found.value
    assert (found.status, found.value) == ("optimal", free.value) or found.stats["stopped"] == "memory"
