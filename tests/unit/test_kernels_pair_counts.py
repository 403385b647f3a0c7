"""Pair sums of nodes and of their children, against matrix products in numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streed.data import Dataset
from streed.exact import Array
from streed.kernels.scoring.signed import ROWS_OF_SUMS
from tests.unit.kernel_harness import KINDS, Bench, Instance, make_instance

pytestmark = pytest.mark.compiles

LANE_TYPES = (np.int16, np.int32, np.int64)


def _amounts(bench: Bench) -> Array:
    """(n, planes): what every row adds to each plane of the pair sums."""
    costs = bench.instance.costs
    if bench.engine["signed"] == 1:
        signed = costs[:, 0] - costs[:, 1]
        return np.column_stack([signed, abs(signed)])
    worst = costs.max(axis=1)
    planes = np.column_stack([worst[:, None] - costs, worst, np.ones(len(costs), np.int64)])
    return planes[:, : int(bench.engine["planes"])]


def _having(bench: Bench, rows: Array) -> Array:
    """(n, n_active): which rows of the set have which local column."""
    columns = [bench.rows_with(f) & rows for f in bench.active()]
    return np.column_stack(columns) if columns else np.zeros((len(rows), 0), bool)


def _sums(having: Array, amounts: Array) -> Array:
    """(planes, n_active, n_active): for every pair of columns, the amounts of the rows that have both."""
    one = having.astype(np.int64)
    return np.stack([one.T @ (one * amount[:, None]) for amount in amounts.T])


def _pairs(bench: Bench, field: str, planes: int) -> Array:
    """The pair sums of the record, (planes, n_active, n_active); what lies beyond in the last lanes must be zero."""
    stride, active = int(bench.engine["stride"]), len(bench.active())
    found = bench.view(field, bench.workspace.lane_type, planes, stride, stride)
    assert not found[:, :active, active:].any()
    if field != "rest_pairs":
        assert not found[:, active : -(-active // 4) * 4].any()
    return found[:, :active, :active].astype(np.int64)


def _check_node(bench: Bench, rows: Array) -> Array:
    """The node's pair sums, after comparing them and the sums and totals made of them."""
    amounts = _amounts(bench)
    planes = amounts.shape[1]
    bench.load(rows)
    bench.call("prepare")
    having = _having(bench, rows)
    pairs = _pairs(bench, "pairs", planes)
    expected = _sums(having, amounts)
    assert (pairs == expected).all()
    assert bench.view("totals", np.int64, planes).tolist() == amounts[rows].sum(axis=0).tolist()
    width, active = int(bench.engine["width"]), len(bench.active())
    if bench.engine["signed"] == 1:
        sums = bench.view("sums", bench.workspace.lane_type, ROWS_OF_SUMS, width)[2:, :active]
        diagonals = expected[:1]
    else:
        sums = bench.view("sums", bench.workspace.lane_type, planes, width)[:, :active]
        diagonals = expected
    assert (sums == np.diagonal(diagonals, axis1=1, axis2=2)).all()
    return expected


def _check_children(bench: Bench, rows: Array, column: int) -> None:
    """Compares the pair sums that solving the children of a column leaves behind (by labels only)."""
    amounts = _amounts(bench)
    planes = amounts.shape[1]
    expected = _check_node(bench, rows)
    bench.solve_children(column)
    without, having = bench.sides(rows, column)
    literal = bench.active()[column] >= bench.packed.n_binary
    places = bench.packed.groups.places[::2]
    with_is_small = 2 * having[places].sum() <= rows[places].sum() or literal
    small = _sums(_having(bench, rows) & (having if with_is_small else without)[:, None], amounts)
    assert (_pairs(bench, "child_pairs", planes) == small).all()
    if not literal:
        assert (_pairs(bench, "rest_pairs", planes)[:, : len(expected[0])] == expected - small).all()


@pytest.mark.parametrize("lane", LANE_TYPES)
@pytest.mark.parametrize("signed", [True, False])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=12, deadline=None)
def test_pair_sums_are_matrix_products(lane: Any, signed: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    instance = make_instance(
        rng,
        rows=int(rng.choice([10, 50, 120])),
        binary=int(rng.choice([2, 5, 33])),
        categories=() if signed else rng.integers(3, 5, rng.integers(0, 2)).tolist(),
        labels=2 if signed else int(rng.integers(2, 6)),
        kind=str(rng.choice(KINDS)),
        min_leaf=1 if signed else 2,
    )
    with Bench(instance, lane=lane) as bench:
        assert bench.engine["signed"] == signed
        for share in (1.0, 0.3):
            rows = rng.random(instance.data.n_rows) < share
            _check_node(bench, rows)
            if not signed and bench.active():
                _check_children(bench, rows, int(rng.integers(0, len(bench.active()))))


def _long(labels: int) -> tuple[Instance, Array]:
    """An instance and rows of it of which more than 2,047 words of one group have both of two columns."""
    rng = np.random.default_rng(3)
    X = np.zeros((90_000, 4), np.uint8)
    X[:40_000, :2] = rng.random((40_000, 2)) < 0.99
    X[:, 2:] = rng.random((90_000, 2)) < 0.3
    costs = np.full((90_000, labels), 3)
    costs[:, 0] = 0
    costs[::50] = [2, 0, 2][:labels]
    return Instance(Dataset.make(X), costs), np.arange(90_000) < 44_000


@pytest.mark.parametrize("labels", [2, 3])
def test_groups_of_more_than_2047_words(labels: int) -> None:
    instance, rows = _long(labels)
    with Bench(instance) as bench:
        expected = _check_node(bench, rows)
        assert expected[-1, 0, 1] > 2**15
        assert int(bench.view("group_begins", np.int64, 3)[1:].max()) > 2047
        if labels == 3:
            for column in range(4):
                _check_children(bench, rows, column)
