"""How values are combined: by adding, on both sides of where they are known, and by a kernel of the task's own."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from streed.kernels.compiled import entry, unit
from streed.kernels.pointers import KERNEL, engine_at
from streed.kernels.records import ENGINE
from streed.kernels.scoring.operators import cost_of_split, least_cost, least_of
from streed.kernels.values import COST, LEAST0, LEAST1, ROWS_OF_VALUES


@entry
def _of_column(engine, values, column, without):  # type: ignore[no-untyped-def]
    e = engine_at(engine)
    return cost_of_split(e, values, column), least_of(e, values, column, without), least_cost(e, values)


@functools.cache
def kernels() -> tuple[int, int]:
    """The addresses of (the larger one, the left one), as operators; not compiled while this module is imported."""

    @unit(KERNEL)
    def larger(address):  # type: ignore[no-untyped-def]
        e = engine_at(address)
        e.combined = max(e.left, e.right)

    @unit(KERNEL)
    def left(address):  # type: ignore[no-untyped-def]
        e = engine_at(address)
        e.combined = e.left

    return larger.address, left.address


def record(**fields: int) -> Any:
    """A record (1,) with these fields, zero elsewhere, and its address."""
    engine = np.zeros(1, ENGINE)
    for name, value in fields.items():
        engine[name] = value
    return engine, engine.ctypes.data


@pytest.mark.parametrize("columns", [0, 1, 31, 32, 33])
@pytest.mark.parametrize("kind", ["constant", "scored", "has_test_costs"])
def test_costs_and_bounds_of_a_split(columns: int, kind: str) -> None:
    rng = np.random.default_rng(columns)
    fields = {"scored": int(kind == "scored"), "has_test_costs": int(kind == "has_test_costs")}
    engine, address = record(n_active=columns, n_categorical=1, split_cost=11, **fields)
    values = rng.integers(20, 90, (ROWS_OF_VALUES, columns + 1))
    for column in range(columns + 1):
        for without, row in ((0, LEAST1), (1, LEAST0)):
            cost, least, least_of_all = _of_column(address, values, column, without)
            assert cost == (11 if kind == "constant" else values[COST, column])
            assert least == (0 if kind == "constant" else values[row, column])
            # four less: what the rounding of two codes may add
            assert least_of_all == values[COST].min() - 4
    values[COST] = 3
    assert _of_column(address, values, 0, 0)[2] == 0
    assert engine["split_cost"] == 11
