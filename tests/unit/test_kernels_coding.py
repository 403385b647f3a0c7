"""Codes of values: they keep order, and give the values back."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from streed.kernels import coding_kernels
from streed.kernels.coding import BITS, GRID, WHOLE, decoded
from streed.kernels.compiled import entry
from streed.kernels.records import INFINITE, LOWEST


@entry
def codes_on_grid(x, scale):  # type: ignore[no-untyped-def]
    code = coding_kernels.encode_grid(x, scale)
    return code, coding_kernels.decode_grid(code, scale)


@entry
def codes_of_bits(x, scale):  # type: ignore[no-untyped-def]
    code = coding_kernels.encode_bits(x, scale)
    return code, coding_kernels.decode_bits(code, scale)


@entry
def codes_of_whole(x, scale):  # type: ignore[no-untyped-def]
    code = coding_kernels.encode_whole(x, scale)
    return code, coding_kernels.decode_whole(code, scale)


@entry
def rounded_up(x):  # type: ignore[no-untyped-def]
    return coding_kernels.next_whole(x)


CODES = {WHOLE: codes_of_whole, GRID: codes_on_grid, BITS: codes_of_bits}

numbers = st.floats(-1e307, 1e307)
small = st.integers(-(2**50), 2**50)


def check_order(kind: str, a: Any, b: Any, scale: float) -> None:
    first, second = int(CODES[kind](a, scale)[0]), int(CODES[kind](b, scale)[0])
    assert LOWEST <= first <= INFINITE
    if a <= b:
        assert first <= second
    if a >= b:
        assert first >= second


@settings(deadline=None)
@given(numbers, numbers)
def test_bits_keep_order(a: float, b: float) -> None:
    check_order(BITS, a, b, 1.0)


@settings(deadline=None)
@given(numbers)
def test_bits_give_back_all_but_the_last_bits(a: float) -> None:
    code, native = CODES[BITS](a, 1.0)
    assert decoded(int(code), BITS, 1.0) == native
    assert abs(native - a) <= 8 * math.ulp(a)


@settings(deadline=None)
@given(numbers, numbers, st.integers(-300, 300))
def test_a_grid_keeps_order(a: float, b: float, exponent: int) -> None:
    check_order(GRID, a, b, 2.0**exponent)


@settings(deadline=None)
@given(small, st.integers(-200, 200))
def test_a_grid_gives_back_its_points(steps: int, exponent: int) -> None:
    scale = 2.0**exponent
    code, native = CODES[GRID](steps / scale, scale)
    assert code == steps
    assert native == decoded(int(code), GRID, scale) == steps / scale


@settings(deadline=None)
@given(small, small)
def test_whole_numbers_are_their_own_codes(a: int, b: int) -> None:
    check_order(WHOLE, a, b, 1.0)
    code, native = CODES[WHOLE](a, 1.0)
    assert code == native == decoded(int(code), WHOLE, 1.0) == a


@settings(deadline=None)
@given(st.integers(-(2**40), 2**40), st.integers(1, 64))
def test_bounds_are_rounded_up(a: int, b: int) -> None:
    assert rounded_up(a / b) == math.ceil(Fraction(a / b))
    assert rounded_up(a) == a
