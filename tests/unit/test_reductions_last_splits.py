"""Trees near a Lagrangian bound whose last splits are chosen anew: the best ones, by every pair of last splits."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

import streed
from streed.enumerate.vector_trees import EvaluatedTree
from streed.exact import Array
from streed.kernels.records import LEAF
from streed.reductions import lagrangian
from streed.reductions.last_splits import LastSplits
from streed.tasks import DemographicParity, Misclassifications

Call = tuple[LastSplits, list[int], int, list[EvaluatedTree]]


def sample(seed: int) -> tuple[Array, Array, Array]:
    """(X, y, groups): a threshold of the first column tells the groups apart."""
    draw = np.random.default_rng([seed, 3])
    X = draw.integers(0, 20, (50, 3)).astype(float)
    y = ((X[:, 0] > 9) ^ (X[:, 1] > 12) ^ (draw.random(50) < 0.2)).astype(int)
    return X, y, (X[:, 0] > 10).astype(int)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[Call]:
    """What was asked for, and what was found."""
    seen: list[Call] = []
    best = LastSplits._best

    def spied(self: LastSplits, first: Sequence[int], most: int) -> Iterator[EvaluatedTree]:
        found = list(best(self, first, most))
        seen.append((self, list(first), most, found))
        yield from found

    monkeypatch.setattr(lagrangian, "_MANY_QUESTIONS", 20)
    monkeypatch.setattr(LastSplits, "_best", spied)
    return seen


@pytest.mark.parametrize("seed", range(6))
def test_values_are_the_same_and_trees_found_are_the_best(
    seed: int, calls: list[Call], monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y, groups = sample(seed)
    task = Misclassifications().subject_to(DemographicParity() <= 0.06)
    moved = streed.solve(task, X, y, max_depth=2, sensitive_features=groups)
    for moves, first, most, found in calls[:40]:
        expected = least_sum(moves, first, most)
        assert [tree.vector[0] for tree in found] == ([] if expected is None else [expected])
    monkeypatch.setattr(lagrangian.Relaxation, "_move_last_splits", lambda self: None)
    plain = streed.solve(task, X, y, max_depth=2, sensitive_features=groups)
    assert moved.status == plain.status == "optimal"
    assert moved.value == plain.value


def test_some_trees_are_asked_for_and_some_found(calls: list[Call]) -> None:
    for seed in range(6):
        X, y, groups = sample(seed)
        task = Misclassifications().subject_to(DemographicParity() <= 0.06)
        streed.solve(task, X, y, max_depth=2, sensitive_features=groups)
    assert {bool(found) for _, _, _, found in calls} == {False, True}
    # the first splits of a tree and these moved
    assert {first.count(LEAF) for _, first, _, _ in calls} >= {2}


def least_sum(moves: LastSplits, first: list[int], most: int) -> int | None:
    """The least sum of a tree of depth two with this first split, within the limit and of a multiplied sum <= most."""
    codes = moves.trees.data.X
    rows = np.ones(len(codes), bool)
    places = [rows] if first == [LEAF] else [codes[:, first[0]] == side for side in range(2)]
    if not all(place.any() for place in places):
        return None
    every = [np.array(list(subtrees(moves, codes, place))) for place in places]
    found = None
    (low, high), (multiplier,) = moves.intervals[0], moves.whole
    for chosen in itertools.product(*every):
        e, z = np.sum(chosen, axis=0).tolist()
        if low <= z <= high and moves.scale * e + multiplier * z <= most and (found is None or e < found):
            found = e
    return found


def subtrees(moves: LastSplits, codes: Array, place: Array) -> Iterator[Array]:
    """(e, z) of every leaf and every split of these rows, each once."""
    sums = moves.sums[moves.trees.kinds]
    seen = set()
    for k in range(sums.shape[1]):
        seen.add(tuple(sums[place, k].sum(axis=0).tolist()))
    for question in range(codes.shape[1]):
        right = place & (codes[:, question] == 1)
        left = place & (codes[:, question] == 0)
        if right.any() and left.any():
            for a, b in itertools.product(range(sums.shape[1]), repeat=2):
                seen.add(tuple((sums[left, a].sum(axis=0) + sums[right, b].sum(axis=0)).tolist()))
    yield from (np.array(each) for each in seen)
