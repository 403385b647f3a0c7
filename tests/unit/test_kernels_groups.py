"""Row groups: rows that cost alike stand together, and what they count for gives the costs back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streed.exact import Array
from streed.kernels.counting.group_kernels import common_divisor
from streed.kernels.counting.groups import MOST_GROUPS, Groups, group_rows


def _sums_by_row(groups: Groups, rows: int) -> Array:
    """(n, K + 2): for every row, the multipliers of all groups that it stands in."""
    sums = np.zeros((rows, groups.profits.shape[1]), np.int64)
    for row, place in groups.places.reshape(-1, 2).tolist():
        group = np.searchsorted(groups.words, place // 64, "right") - 1
        sums[row] += groups.profits[group]
    return sums


def _check(costs: Array, divisor: int, count_rows: bool) -> Groups:
    """The groups, after comparing them with the costs."""
    groups = group_rows(costs, divisor, count_rows)
    n, labels = costs.shape
    sums = _sums_by_row(groups, n)
    worst = costs.max(axis=1, initial=-(2**62))
    assert (sums[:, :labels] * divisor == worst[:, None] - costs).all()
    assert (sums[:, labels] * divisor == worst - costs.min(axis=1, initial=2**62)).all()
    assert groups.base == costs.min(axis=1, initial=2**62).sum()
    assert groups.worst == sums[:, labels].sum()
    if count_rows:
        assert (sums[:, labels + 1] == 1).all()
    places = groups.places[1::2]
    assert len(set(places.tolist())) == len(places)
    assert (places < 64 * groups.words[-1]).all()
    # every group fills its words from their beginning, and takes no more of them than it needs
    for begin, end in zip(groups.words[:-1], groups.words[1:], strict=True):
        inside = np.sort(places[(places >= 64 * begin) & (places < 64 * end)])
        assert inside.tolist() == list(range(64 * begin, 64 * begin + len(inside)))
        assert end - begin == -(-len(inside) // 64) > 0
    return groups


@given(seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_groups_give_the_costs_back(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, labels = int(rng.choice([1, 5, 60, 150])), int(rng.integers(1, 6))
    largest = int(rng.choice([2, 4, 1000, 2**30, 2**50]))
    divisor = int(rng.choice([1, 1, 3, 10]))
    costs = divisor * rng.integers(-largest, largest, (n, labels)) + rng.integers(-50, 50, (n, 1))
    _check(costs, divisor, bool(rng.integers(0, 2)))


@pytest.mark.parametrize("count_rows", [False, True])
@pytest.mark.parametrize("extra", [0, 1])
def test_too_many_different_costs_are_sliced_into_bits(count_rows: bool, extra: int) -> None:
    different = MOST_GROUPS + extra
    costs = np.zeros((2 * different, 2), np.int64)
    costs[:, 0] = np.repeat(np.arange(1, different + 1), 2)
    groups = _check(costs, 1, count_rows)
    if extra == 0:
        assert groups.profits.tolist() == [[0, c, c, 1] for c in range(1, different + 1)]
    else:
        used = np.unique(groups.profits).tolist()
        assert used == [0, *(2**bit for bit in range(different.bit_length()))]
        assert len(groups.profits) == 2 * different.bit_length() + count_rows
        assert ((groups.profits > 0).sum(axis=1) == 1).all()


@given(seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_the_common_divisor_is_that_of_all_differences(seed: int) -> None:
    rng = np.random.default_rng(seed)
    unit = int(rng.choice([1, 2, 6, 10**9]))
    shape = (int(rng.integers(1, 8)), int(rng.integers(1, 4)))
    costs = unit * rng.integers(-20, 20, shape) + rng.integers(-9, 9, (shape[0], 1))
    split = unit * int(rng.integers(0, 5))
    differences: list[Any] = [split, *(costs - costs[:, :1]).reshape(-1).tolist()]
    assert common_divisor(costs, split) == max(1, math.gcd(*differences))
