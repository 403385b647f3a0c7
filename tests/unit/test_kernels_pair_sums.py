"""Pair sums over rows with numbers of their own, and the instructions that add four planes at once, against numpy."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import pytest

from streed.data import Dataset
from streed.exact import Array
from streed.kernels.compiled import entry
from streed.kernels.counting.fours import sum_eight, sum_sixteen
from streed.kernels.counting.groups import Groups, group_rows
from streed.kernels.packed import pack
from tests.unit.kernel_harness import Bench, Instance

pytestmark = pytest.mark.compiles


@entry
def _sum_eight(values, width, first, planes, names, rows, size, bits, column, into, row, stride):  # type: ignore[no-untyped-def]
    sum_eight(values, width, first, planes, names, rows, size, bits, column, into, row, stride)


@entry
def _sum_sixteen(values, width, first, planes, names, rows, size, bits, column, into, row, stride):  # type: ignore[no-untyped-def]
    sum_sixteen(values, width, first, planes, names, rows, size, bits, column, into, row, stride)


@pytest.mark.parametrize(("kernel", "lanes"), [(_sum_eight, 8), (_sum_sixteen, 16)])
@pytest.mark.parametrize(("number", "lane"), [(np.int64, np.int32), (np.int64, np.int64), (np.float64, np.float64)])
@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 65])
def test_sums_over_listed_rows_in_many_columns(kernel: Any, lanes: int, number: Any, lane: Any, size: int) -> None:
    """Up to four planes of a row that is known by another name, in columns of the second word of its bits."""
    rng = np.random.default_rng(size)
    having = rng.random((80, 64)) < 0.4
    bits = np.packbits(having, axis=1, bitorder="little").view(np.int32)
    names = rng.permutation(100)[:80].astype(np.int32)
    values = rng.integers(-(2**24), 2**24, 100 * 8).astype(number)
    rows = rng.permutation(80)[:size].astype(np.int32)
    for planes in (1, 2, 3, 4):
        for column in (0, lanes, 64 - lanes):
            into = np.full((4 * 2, 64), 9, lane)
            expected = into.copy()
            for p in range(planes):
                amounts = values[names[rows] * 8 + 3 + p]
                sums = (having[rows, column : column + lanes] * amounts[:, None]).sum(axis=0)
                expected[1 + 2 * p, column : column + lanes] = sums
            kernel(values, 8, 3, planes, names, rows, size, bits, column, into, 1, 2)
            assert (into == expected).all()


def summed(
    rng: np.random.Generator, rows: int, columns: int, labels: int, scale: int, min_leaf: int, share: float = 0.15
) -> Instance:
    """Different rows, each of costs of its own, so that sums over rows take less time than groups.

    `share`: of the columns that a row has.
    """
    X = (rng.random((4 * rows, columns)) < share).astype(np.uint8)
    X = X[np.sort(np.unique(X, axis=0, return_index=True)[1])][:rows]
    costs = rng.integers(0, 1000, (len(X), labels)) * scale
    costs -= costs.min(axis=1, keepdims=True)
    return Wide(Dataset.make(X), costs, 0, min_leaf)


@attrs.define(eq=False, slots=False)
class Wide(Instance):
    """An instance whose rows are summed one by one."""

    @property
    def packed(self) -> Any:
        if "_packed" not in self.__dict__:
            groups: Groups = group_rows(self.costs, 1, self.min_leaf > 1, self.data.X)
            assert groups.values is not None
            none = np.zeros(self.data.n_columns, np.int64)
            self.__dict__["_packed"] = pack(
                self.data.X, none, groups, self.costs.shape[1], 0, self.min_leaf, merge=False
            )
        return self.__dict__["_packed"]


@pytest.mark.parametrize("lane", [np.int32, np.int64])
@pytest.mark.parametrize(("columns", "share"), [(8, 0.15), (31, 0.15), (32, 0.15), (33, 0.15), (63, 0.15), (64, 0.15),
                                                (65, 0.15), (65, 0.45), (96, 0.45), (130, 0.45)])  # fmt: skip
@pytest.mark.parametrize(("labels", "min_leaf"), [(2, 1), (3, 1), (3, 2), (4, 2)])
def test_pair_sums_of_rows_with_numbers_of_their_own(
    lane: Any, columns: int, share: float, labels: int, min_leaf: int
) -> None:
    """Both ways: in registers up to 64 columns or where rows have many, else row by row; of four planes and of more."""
    rng = np.random.default_rng(columns)
    instance = summed(rng, 90, columns, labels, 2**40 if lane is np.int64 else 1, min_leaf, share)
    costs, planes = instance.costs, labels + 1 + (min_leaf > 1)
    worst = costs.max(axis=1)
    amounts = np.column_stack([worst[:, None] - costs, worst, np.ones(len(costs), np.int64)])[:, :planes]
    with Bench(instance, lane=lane) as bench:
        rows = rng.random(len(costs)) < 0.8
        bench.load(rows)
        bench.call("prepare")
        active, stride = len(bench.active()), int(bench.engine["stride"])
        assert bench.engine["dense"] == (share > 0.4)
        having = np.column_stack([bench.rows_with(f) for f in bench.active()]).astype(np.int64)

        def check(field: str, side: Array) -> None:
            found = bench.view(field, lane, planes, stride, stride)
            one = having * side[:, None]
            for plane, each in enumerate(amounts.T):
                assert (found[plane, :active, :active] == one.T @ (one * each[:, None])).all()
            assert not found[:, :active, active:].any()

        check("pairs", rows)
        assert bench.view("totals", np.int64, planes).tolist() == amounts[rows].sum(axis=0).tolist()
        for column in (0, active - 1):
            without, with_it = bench.sides(rows, column)
            bench.solve_children(column)
            check("child_pairs", with_it if 2 * with_it.sum() <= rows.sum() else without)
