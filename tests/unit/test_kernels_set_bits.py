"""Positions of set bits, by an instruction and by a table, wherever the tests run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streed.kernels.compiled import entry
from streed.kernels.counting import set_bits


def _stores(list_bits: Any) -> Any:
    @entry
    def store(array, at, base, mask):  # type: ignore[no-untyped-def]
        list_bits(array, at, base, mask)

    return store


BY = {
    "the one in use": _stores(set_bits.store_set_bits),
    "instruction": _stores(set_bits._compress_positions),
    "table": _stores(set_bits._look_positions_up),
}


@pytest.mark.parametrize("how", BY)
@given(at=st.integers(0, 20), base=st.integers(0, 2**31 - 17), mask=st.integers(0, 2**16 - 1))
@settings(deadline=None)
def test_positions_are_packed(how: str, at: int, base: int, mask: int) -> None:
    array = np.full(at + 18, -5, np.int32)
    BY[how](array, at, base, mask)
    positions = [base + bit for bit in range(16) if mask >> bit & 1]
    assert array[:at].tolist() == [-5] * at
    assert array[at : at + len(positions)].tolist() == positions
    assert array[at + 16 :].tolist() == [-5, -5]


def test_every_mask() -> None:
    array = np.zeros(32, np.int32)
    for mask in range(2**16):
        BY["table"](array, 0, 7, mask)
        count = mask.bit_count()
        assert sum(1 << (position - 7) for position in array[:count].tolist()) == mask
