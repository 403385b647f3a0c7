"""Views of memory by its address: the entries that numpy has there, and what is written to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import njit

from streed.kernels.records import EDGE
from streed.kernels.views import EDGE_TYPE, matrix, records, vector

DTYPES = [np.uint8, np.int16, np.uint64, np.float64]


def copier(dtype: Any) -> Callable[..., Any]:
    """A native function that copies what lies at an address, in a row and in rows and columns."""

    @njit
    def copies(address, rows, columns):  # type: ignore[no-untyped-def]
        return vector(address, rows * columns, dtype).copy(), matrix(address, rows, columns, dtype).copy()

    made: Callable[..., Any] = copies
    return made


@pytest.mark.parametrize("dtype", DTYPES)
def test_views_have_the_entries_at_the_address(dtype: Any) -> None:
    held = np.random.default_rng(0).integers(0, 200, 12).astype(dtype)
    copies = copier(dtype)
    for rows, columns in ((3, 4), (1, 12), (12, 1), (0, 4), (2, 0)):
        flat, table = copies(held.ctypes.data, rows, columns)
        assert flat.dtype == table.dtype == dtype
        assert flat.tolist() == held[: rows * columns].tolist()
        assert table.tolist() == held[: rows * columns].reshape(rows, columns).tolist()


def test_addresses_and_sizes_may_be_of_any_whole_type() -> None:
    held = np.arange(6)
    flat, table = copier(np.int64)(np.uint64(held.ctypes.data), np.int32(2), np.uint8(3))
    assert flat.tolist() == held.tolist()
    assert table.tolist() == held.reshape(2, 3).tolist()


def test_what_is_written_to_a_view_is_in_memory() -> None:
    held = np.zeros(12, np.int32)

    @njit
    def write(address):  # type: ignore[no-untyped-def]
        matrix(address, 3, 4, np.int32)[1, 2] = 7
        vector(address, 12, np.int32)[11] = 5

    write(held.ctypes.data)
    assert np.flatnonzero(held).tolist() == [6, 11]
    assert held[[6, 11]].tolist() == [7, 5]


def test_records_are_seen_at_their_places() -> None:
    held = np.zeros(3, EDGE)
    view = records(EDGE_TYPE)

    @njit
    def write(address, size):  # type: ignore[no-untyped-def]
        edges = view(address, size)
        for i in range(len(edges)):
            edges[i].lower = 10 * i
        return len(edges)

    assert write(held.ctypes.data, 3) == 3
    assert held["lower"].tolist() == [0, 10, 20]
