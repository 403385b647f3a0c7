"""Bounds that processes tell each other: they are those of the subproblems that their literals name."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

import streed
from streed.cluster import forget, improve
from streed.cluster.told import KnownBounds, Told
from streed.reference import optimum
from streed.tasks import Accuracy, Splits

RNG = np.random.default_rng(5)
X = RNG.integers(0, 2, (150, 7)).astype(np.uint8)
Y = RNG.integers(0, 2, 150)
WIDE = np.random.default_rng(8).integers(0, 2, (200, 24)).astype(np.uint8)
WIDE_Y = np.random.default_rng(9).integers(0, 2, 200)

pytestmark = pytest.mark.compiles


def test_of_two_bounds_of_a_subproblem_the_greater_one_is_known() -> None:
    known = KnownBounds()
    assert len(known.about([1])) == 0
    known.add(Told(np.array([[1, 4, -1], [2, -1, -1], [1, 4, -1]], np.int32), np.array([3, 5, 7])))
    known.add(Told(np.array([[0, 2, 9], [2, -1, -1]], np.int32), np.array([1, 4])))
    assert len(known) == 3
    found = known.about([2, 9])
    assert dict(zip(map(tuple, found.sets.tolist()), found.bounds.tolist(), strict=True)) == {
        (2, -1, -1): 5,
        (0, 2, 9): 1,
    }
    assert known.about([4]).bounds.tolist() == [7]


@pytest.mark.parametrize(("task", "depth"), [(Accuracy(), 5), (Accuracy() + 2 * Splits(), 5)])
def test_a_bound_is_that_of_the_rows_with_its_literals(task: streed.Task, depth: int | None) -> None:
    forget()
    frontier = streed.frontier(task, X, Y, max_depth=depth)
    packed, bound_task = frontier.encoding.packed, frontier.problem.task
    checked = 0
    while checked < 12 and (piece := frontier.next()) is not None:
        found = improve(frontier.problem, piece)
        for literals, bound in list(zip(found.told.sets.tolist(), found.told.bounds.tolist(), strict=True))[::2]:
            inside = np.ones(150, np.bool_)
            named = [literal for literal in literals if literal >= 0]
            for literal in named:
                column, flipped = packed.column[literal // 2], packed.flipped[literal // 2]
                inside &= X[:, column] == (1 - literal % 2) ^ flipped
            left = None if depth is None else depth - len(named)
            best = optimum(bound_task, streed.Dataset.make(X[inside], Y[inside]), max_depth=left)
            assert best is not None
            assert frontier.encoding.value(bound) <= best[0]
            checked += 1
        frontier.settle(found)
    assert checked > 5


@pytest.mark.parametrize("seed", [4, 12, 20, 36])
def test_processes_that_know_only_what_they_are_told_prove_the_optimum(seed: int) -> None:
    """A told bound is no floor of equal rows: to add the price of two splits to it once proved too much."""
    draw = np.random.default_rng(seed)
    rows, labels = draw.integers(0, 2, (120, 9)).astype(np.uint8), draw.integers(0, 2, 120)
    task = Accuracy() + 2 * Splits()
    for keeps in (2, 3):
        forget()
        frontier = streed.frontier(task, rows, labels, max_depth=5)
        while (piece := frontier.next()) is not None:
            if frontier.pieces % keeps == 0:
                forget()
            frontier.settle(improve(frontier.problem, piece))
        assert frontier.value == streed.solve(task, rows, labels, max_depth=5).value


def test_what_is_told_saves_work() -> None:
    def nodes(silent: bool) -> int:
        frontier = streed.frontier(Accuracy(), WIDE[:, :12], WIDE_Y, max_depth=6)
        while (piece := frontier.next()) is not None:
            forget()  # a process that knows only what it is told
            frontier.settle(improve(frontier.problem, attrs.evolve(piece, told=Told()) if silent else piece))
        assert frontier.value == streed.solve(Accuracy(), WIDE[:, :12], WIDE_Y, max_depth=6).value
        return frontier.nodes

    assert nodes(silent=False) < 0.8 * nodes(silent=True)


def test_parts_of_a_split_are_proved_apart() -> None:
    forget()
    frontier = streed.frontier(Accuracy(), WIDE, WIDE_Y, max_depth=5)
    pieces = []
    while (piece := frontier.next()) is not None:
        pieces.append(piece)
    assert frontier.next(3, 0.1) is None  # nothing is in flight for long
    parts = []
    while (piece := frontier.next(3, 100.0)) is not None:
        parts.append(piece)
    assert {piece.parts for piece in parts} == {2}
    assert {(each.edge, each.part) for each in parts} == {(each.edge, part) for each in pieces for part in (0, 1)}
    before = frontier.lowers.copy()
    for piece in parts:
        forget()
        frontier.settle(improve(frontier.problem, piece))
    assert frontier.known.about([0, 1]).bounds.max() > 0
    assert (frontier.lowers >= before).all()
    frontier.give_back(pieces[0])
    for piece in pieces[1:]:
        frontier.settle(improve(frontier.problem, piece))
    while (piece := frontier.next()) is not None:
        frontier.settle(improve(frontier.problem, piece))
    assert frontier.is_done
    assert frontier.value == streed.solve(Accuracy(), WIDE, WIDE_Y, max_depth=5).value
