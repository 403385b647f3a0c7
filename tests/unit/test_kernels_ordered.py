"""The kernels of ordered columns against plain numpy: orders, masks, scores of splits, and the best split of all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from streed.exact import Array
from streed.kernels.buffers import address_of
from streed.kernels.ordered.orders import sort_rows
from streed.kernels.ordered.record import INFEASIBLE, NEW, PLACE, ROW, SPLITS
from streed.ordered import units
from streed.ordered.generated import GeneratedRows
from streed.ordered.layout import LABELLED, MATRIX, SIGNED
from streed.ordered.problem import OrderedRows
from streed.ordered.session import OrderedSession

pytestmark = pytest.mark.compiles

SIZES = (1, 2, 31, 32, 33, 70)

KINDS = (SIGNED, LABELLED, MATRIX)

LARGEST = {np.int16: 40, np.int32: 10_000, np.int64: 2**40}
"""Of a row's costs, so that sums need the lane type."""


def _draw(rng: np.random.Generator, n: int, kind: str, lane: Any, min_leaf: int) -> OrderedRows:
    labels = 2 if kind == SIGNED else int(rng.integers(3, 6))
    costs = rng.integers(0, LARGEST[lane], (n, labels))
    if kind == LABELLED:
        costs = (rng.integers(0, labels, n)[:, None] != np.arange(labels)) * costs[:, :1]
    if lane != np.int16:
        # one row that alone asks for the lane type, and one that leaves no common divisor
        costs[0] = [0, *[LARGEST[lane] * 4] * (labels - 1)]
        costs[1] = [0, *[1] * (labels - 1)] if kind != MATRIX else [0, 1, *[2] * (labels - 2)]
    ranks = np.stack([rng.integers(0, most, n) for most in (1, 2, 5, 1000, 1000)]).astype(np.int32)
    frequency = rng.integers(1, 4, n) if min_leaf > 1 else None
    return OrderedRows(ranks, costs.astype(np.int64), min_leaf=min_leaf, frequency=frequency)


def _leaf(rows: OrderedRows, inside: Array) -> int:
    """What a leaf for some rows costs in units of the divisor."""
    frequency = np.ones(len(rows.costs), np.int64) if rows.frequency is None else rows.frequency
    if frequency[inside].sum() < rows.min_leaf:
        return INFEASIBLE
    return int(rows.reduced[inside].sum(axis=0).min())


def _stump(rows: OrderedRows, inside: Array) -> int:
    """What the best single split of some rows costs, likewise."""
    best = INFEASIBLE
    for ranks in rows.ranks:
        for rank in np.unique(ranks[inside])[:-1]:
            below = ranks <= rank
            sides = _leaf(rows, inside & below), _leaf(rows, inside & ~below)
            best = min(best, sum(sides) if max(sides) < INFEASIBLE else INFEASIBLE)
    return best


def _ask(session: OrderedSession, columns: int, splits: list[tuple[int, int]]) -> dict[str, Array]:
    """What the scoring kernel says of splits (column, position)."""
    record = session.record
    record[PLACE["asked_orders"]] = address_of(session.orders)
    record[PLACE["asked_rows"]] = session.rows.n_rows
    record[PLACE["asked_columns"]] = columns
    record[PLACE["asked_splits"]] = len(splits)
    for at, (column, position) in enumerate(splits):
        session.arrays["split_columns"][at], session.arrays["split_positions"][at] = column, position
    rows = session.rows
    if isinstance(rows, OrderedRows):
        units.score(rows.kind, rows.lane, rows.min_leaf > 1).ctypes(address_of(record))
    else:
        assert isinstance(rows, GeneratedRows)
        rows.compiled.units["score_thresholds"].ctypes(address_of(record))
    return {name: session.arrays[name][: len(splits)] for name in session.arrays if name.endswith(("left", "right"))}


def test_orders_hold_every_row_once_and_say_where_values_grow() -> None:
    rng = np.random.default_rng(0)
    for n in SIZES:
        ranks = rng.integers(0, 9, (3, n)).astype(np.int32)
        orders = sort_rows(ranks)
        for column in range(3):
            rows = orders[column, :n] & np.uint32(ROW)
            assert sorted(rows.tolist()) == list(range(n))
            grows = (orders[column, :n] & np.uint32(NEW)) != 0
            assert not grows[0]
            assert (grows[1:] == (np.diff(ranks[column][rows]) > 0)).all()


@pytest.mark.parametrize("min_leaf", [1, 4])
@pytest.mark.parametrize("lane", [np.int16, np.int32, pytest.param(np.int64, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
def test_scores_and_the_best_split_are_those_of_numpy(kind: str, lane: Any, min_leaf: int) -> None:
    rng = np.random.default_rng([KINDS.index(kind), np.dtype(lane).itemsize, min_leaf])
    for n in SIZES if lane == np.int16 else SIZES[1:]:
        rows = _draw(rng, n, kind, lane, min_leaf)
        session = OrderedSession(rows)
        assert (rows.kind, rows.lane) == (kind, lane)
        width, orders = session.n_columns, session.orders
        possible = [(0, 0)] + [
            (column, position)
            for column in range(width)
            for position in np.flatnonzero(orders[column, :n] >= NEW).tolist()
        ]
        for count in (1, 5, SPLITS - 1, SPLITS):
            drawn = [possible[i] for i in rng.integers(0, len(possible), count)]
            found = _ask(session, width, drawn)
            for at, (column, position) in enumerate(drawn):
                left = np.isin(np.arange(n), orders[column, :position] & np.uint32(ROW))
                for side, inside in (("left", left), ("right", ~left)):
                    leaf = _leaf(rows, inside) if inside.any() or min_leaf > 1 else 0
                    assert found[f"leaf_{side}"][at] == leaf
                    best = min(leaf, _stump(rows, inside))
                    # where no split is allowed, any cost from that of a leaf on will do
                    assert min(found[f"stump_{side}"][at], leaf) == best
            only_leaves = _ask(session, 0, drawn)
            assert (only_leaves["leaf_left"] == found["leaf_left"]).all()
        answer = np.zeros(4, np.int64)
        units.find_stump(session.address, orders, n, np.arange(width), answer)
        everything = np.ones(n, bool)
        assert answer[0] == _leaf(rows, everything)
        assert answer[1] == _stump(rows, everything)
        if answer[1] < INFEASIBLE:
            column, position = answer[2:].tolist()
            left = np.isin(np.arange(n), orders[column, :position] & np.uint32(ROW))
            assert _leaf(rows, left) + _leaf(rows, ~left) == answer[1]
