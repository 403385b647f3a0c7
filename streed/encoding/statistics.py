"""A problem's rows as the engine adds them up: statistics in planes, counted by groups of rows or summed by row."""

from __future__ import annotations

import math
from typing import Any

import attrs
import numpy as np

from streed.errors import InputError
from streed.exact import Array, writable
from streed.kernels import coding
from streed.kernels.codegen.spec import ROWS
from streed.kernels.counting.equal_rows import find_classes
from streed.kernels.counting.groups import Groups, group_vectors, merge_counted
from streed.kernels.packed import PackedProblem, pack
from streed.kernels.records import FOUR
from streed.problem import Problem
from streed.task.states import sums_by

Places = dict[str, tuple[tuple[int, ...], bool]]
"""The planes of each statistic, ROWS in place of one that is 1 for every row; whether it has several entries."""

_LARGEST_SUM = 2**53
"""Below this, float64 adds whole numbers exactly."""

_SUM_BITS = 52
"""Bits of the sums of rounded values; a row in 2**52 may be rounded up from next to nothing."""

_FINEST = 1e9
"""Numbers with more decimals than this has digits are not tried as decimals."""


@attrs.frozen(eq=False)
class StatisticsMatrix:
    """The rows (m) of a problem, equal ones merged where they are summed, and their statistics in S planes."""

    codes: Array
    """(m, p) uint8."""
    counts: Array
    """(m,) int64: how many of the caller's rows each of them is."""
    values: Array
    """(m, S) int64 or float64."""
    places: Places
    groups: Groups | None
    """The groups of equal values, if rows are counted."""
    integral: bool
    """Whether the statistics are whole numbers,"""
    exact: bool
    """and all their sums are so small that the engine adds them exactly."""
    per_unit: float | None = None
    """What the values are to be divided by, decimals that are held as whole numbers; None for 1."""

    @classmethod
    def of(cls, problem: Problem, weighs: bool) -> StatisticsMatrix:
        """The planes of the problem's statistics; `weighs`: whether what rows weigh is asked for, too."""
        sums, counts = problem.sums, problem.data.counts
        asked = {name: values for name, values in sums.items() if weighs or name != "weight"}
        values, places = place_statistics(asked, counts)
        codes = writable(problem.data.X)
        integral = values.dtype == np.int64
        if integral:
            vectors = np.empty((len(values), values.shape[1] + 1), np.int64)
            vectors[:, :-1], vectors[:, -1] = values, counts
            groups = group_vectors(vectors)
            if groups is not None:
                return cls(codes, counts, values, places, merge_counted(groups, codes), True, True)
        exact = integral and float(np.abs(values).sum(axis=0).max(initial=0)) < coding.LARGEST_CODE
        per_unit = None
        if not integral:
            values, per_unit = add_exactly(problem, values, list(asked))
        first, class_of = find_classes(codes)
        counts, values = (sums_by(class_of, each, len(first)) for each in (counts, values.astype(np.float64)))
        codes = np.ascontiguousarray(codes[first])
        return cls(codes, counts, values, places, None, integral, exact, per_unit)

    @property
    def lane(self) -> Any:
        """The narrowest lane type in which no sum overflows."""
        if self.groups is None:
            return np.float64
        largest = max(int(np.abs(self.values).sum(axis=0).max(initial=0)), int(self.counts.sum()))
        return np.int32 if largest < 2**30 else np.int64

    def pack(self, problem: Problem, merge: bool) -> PackedProblem:
        """The problem as the engine reads it, without its scoring; `merge`: of equal columns one is enough."""
        planes = self.values.shape[1] + 1
        groups = self.groups
        if groups is None:
            words = (len(self.codes) + 63) // 64
            places = np.repeat(np.arange(len(self.codes)), 2)
            groups = Groups(places, np.array([0, words]), np.ones((1, planes), np.int64), 0, 0)
        return pack(self.codes, problem.data.category_counts, groups, planes, 0, problem.min_leaf, merge=merge)

    def row_values(self, packed: PackedProblem) -> Array | None:
        """(N, S + 1 padded to fours) float64, the values and the count of every row, if they are summed."""
        if self.groups is not None:
            return None
        inputs = self.values.shape[1]
        padded = np.zeros((len(packed.row_bits), -(-(inputs + 1) // FOUR) * FOUR))
        padded[: len(self.values), :inputs] = self.values
        padded[: len(self.values), inputs] = self.counts
        return padded


def place_statistics(sums: dict[str, Array], counts: Array) -> tuple[Array, Places]:
    """(values (n, S) int64 or float64, the planes of each statistic); `counts` (n,) add up to the number of rows."""
    n_rows = len(counts)
    columns: list[Array] = []
    plane_of = {}
    for name, values in sums.items():
        places = []
        for column in values.reshape(n_rows, -1).T:
            if (column == counts).all():
                places.append(ROWS)
            else:
                places.append(len(columns))
                columns.append(column)
        plane_of[name] = (tuple(places), values.ndim > 1)
    return np.array(columns).T if columns else np.zeros((n_rows, 0), np.int64), plane_of


def add_exactly(problem: Problem, values: Array, names: list[str]) -> tuple[Array, float | None]:
    """(values (n, S) float64 whose sums and differences are exact in float64, what to divide them by; None for 1).

    Decimals become whole numbers of a unit. What is no decimal is rounded to multiples of a power of two, and never to
    nothing: a sum over rows that have none of a quantity is nothing, and one over rows that have some is not.
    """
    scaled = _decimals(problem, values, names)
    if scaled is not None:
        return scaled
    sizes = np.abs(values).sum(axis=0)
    shifts = _SUM_BITS - np.frexp(sizes)[1]
    rounded = np.rint(np.ldexp(values, shifts))
    lost = (rounded == 0) & (values != 0)
    return np.ldexp(np.where(lost, np.sign(values), rounded), -shifts), None


def _decimals(problem: Problem, values: Array, names: list[str]) -> tuple[Array, float] | None:
    """The values as whole numbers (n, S) float64 of one unit, and how many make 1; None where they do not fit."""
    weights = problem.data.weights
    for each in (values,) if weights is None else (weights.astype(np.float64),):
        if float(np.abs(each).sum()) * _FINEST < 2**53 and (np.rint(each * _FINEST) / _FINEST != each).any():
            return None
    try:
        sums = {name: problem.exact_sums[name] for name in names}
    except InputError:
        return None
    common = math.lcm(*(unit.denominator for _, unit in sums.values()))
    if common >= _LARGEST_SUM:
        return None
    columns: list[list[int]] = []
    for whole, unit in sums.values():
        factor = int(unit * common)
        columns.extend([int(x) * factor for x in column] for column in whole.reshape(len(values), -1).T)
    rows = [count * common for count in problem.data.counts.tolist()]
    kept = [column for column in columns if column != rows]
    if len(kept) < values.shape[1] or any(sum(map(abs, column)) >= _LARGEST_SUM for column in kept):
        return None
    return np.array(kept, np.float64).reshape(len(kept), len(values)).T, float(common)
