"""What the engine's tests share: instances with their oracle, workspaces to look into, and a few native entry points.

A `Bench` is a workspace made by hand. Its kernels are called one by one, and the arrays whose addresses the record
holds are read as numpy arrays in the caller's own rows and columns.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self, final
from unittest import mock

import attrs
import numpy as np

from streed.bnb import units, workspace
from streed.bnb.node_store import enter_node, look_up, write_node
from streed.bnb.nodes import rows_of
from streed.bnb.workspace import Space
from streed.data import Dataset
from streed.exact import Array
from streed.kernels import record_proxy, values
from streed.kernels.compiled import entry
from streed.kernels.counting.equal_rows import find_floors
from streed.kernels.counting.groups import NO_TIMES, group_rows
from streed.kernels.counting.rows import load_node, spread_rows
from streed.kernels.packed import PackedProblem, pack
from streed.kernels.records import INFINITE, UNLIMITED
from streed.kernels.stopping import ROWS_OF_CONTROL, SHARED_UPPER, UPPER
from streed.kernels.views import engine_at
from streed.reference import OptimizationTask, Recursion, S
from streed.task import RowCostTask

SPACE = Space(branches=2**12, nodes=2**12, edges=2**14, children=2**15, path=64)
"""More than any of these tests needs."""


@entry
def load(engine, row_set):  # type: ignore[no-untyped-def]
    """Makes the rows (W,) the node at hand, ready for its children."""
    e = engine_at(engine)
    load_node(e, row_set)
    spread_rows(e)


@entry
def add_node(engine, row_set, depth, budget):  # type: ignore[no-untyped-def]
    """A node of the rows (W,)."""
    e = engine_at(engine)
    rows = rows_of(e)[e.node_count]
    for w in range(len(row_set)):
        rows[w] = row_set[w]
    slot = look_up(e, depth, budget)[1]
    write_node(e, depth, budget)
    return enter_node(e, slot)


@final
@attrs.frozen(eq=False)
class TableCosts(RowCostTask):
    """The task whose costs are given, row by row and label by label."""

    costs: Any
    split: int

    def row_costs(self, data: Dataset) -> Array:
        return np.asarray(self.costs)

    def split_cost(self) -> int:
        return self.split

    def labels(self, data: Dataset) -> Sequence[Any]:
        return range(self.costs.shape[1])


@attrs.define(eq=False, slots=False)
class Instance:
    """Rows, whole costs (n, K) with a least cost of zero in every row, and limits on the leaves."""

    data: Dataset
    costs: Array
    split: int = 0
    min_leaf: int = 1

    @cached_property
    def packed(self) -> PackedProblem:
        categories = np.zeros(self.data.n_columns, np.int64)
        for j in self.data.categorical:
            categories[j] = len(self.data.column(j).categories)
        groups = group_rows(self.costs, 1, self.data.counts if self.min_leaf > 1 else None)
        packed = pack(self.data.X, categories, groups, self.costs.shape[1], self.split, self.min_leaf)
        return attrs.evolve(packed, floors=find_floors(packed.row_bits, groups.places, NO_TIMES, self.costs, 1))

    @cached_property
    def _recursion(self) -> Recursion:
        return Recursion(OptimizationTask(TableCosts(self.costs, self.split), self.data, self.min_leaf))

    def optimum(self, rows: Array, depth: int | None, nodes: int | None = None) -> int:
        """The least cost of a tree for rows (n,), by the reference; 0 for no rows, INFINITE if there is none."""
        if not rows.any():
            return 0
        state = S(int.from_bytes(np.packbits(rows, bitorder="little").tobytes(), "little"), ())
        best = self._recursion.T(state, depth, nodes)
        return int(best[0].value) if best else INFINITE

    def everything(self) -> Array:
        """All rows."""
        return np.ones(self.data.n_rows, bool)


KINDS = ("errors", "weights", "many")


def make_instance(
    rng: np.random.Generator,
    *,
    rows: int = 40,
    binary: int = 5,
    categories: Sequence[int] = (),
    labels: int = 2,
    kind: str = "errors",
    split: int = 0,
    min_leaf: int = 1,
) -> Instance:
    """A random instance; `kind`: 0/1 costs, a few different integer costs, or all rows different."""
    X = (rng.random((rows, binary)) < rng.uniform(0.2, 0.8, binary)).astype(np.uint8)
    coded = [rng.permutation(np.r_[np.arange(c), rng.integers(0, c, rows - c)]).astype(np.uint8) for c in categories]
    X = np.column_stack([X, *coded])
    best = (X[:, : binary + len(categories)].astype(np.int64) @ rng.integers(0, labels, X.shape[1])) % labels
    best = np.where(rng.random(rows) < 0.3, rng.integers(0, labels, rows), best)
    costs = (best[:, None] != np.arange(labels)).astype(np.int64)
    if kind == "weights":
        costs *= rng.integers(1, 5, rows)[:, None]
    elif kind == "many":
        costs *= rng.integers(0, 200, (rows, labels))
    costs -= costs.min(axis=1, keepdims=True)
    data = Dataset.make(X, categorical=list(range(binary, X.shape[1])) or None)
    return Instance(data, costs, split, min_leaf)


class Bench:
    """A workspace for an instance, its kernels linked; use it in a `with` statement."""

    def __init__(self, instance: Instance, *, lane: Any = None) -> None:
        self.instance = instance
        self.packed = instance.packed
        self.control = np.zeros(ROWS_OF_CONTROL, np.int64)
        self.control[[UPPER, SHARED_UPPER]] = INFINITE
        lane = lane or self.packed.lane_type()
        # a buffer that is used again holds anything
        with mock.patch.object(record_proxy, "borrow", lambda size: np.full(size, 165, np.uint8)):
            limits = UNLIMITED, UNLIMITED
            self.workspace = workspace.Workspace(self.packed, SPACE, lane, self.control, limits, False)
        self.engine = engine = self.workspace.engine
        engine.write(units.addresses(self.packed.kind, lane) | units.further(*units.shared(deep=False)))
        self.workspace.node_rows[0] = self.place(instance.everything())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.workspace.close()

    def place(self, rows: Array) -> Array:
        """The row set (W,) of the engine for rows (n,), with no test above them where these count."""
        bits = np.zeros(len(self.packed.row_bits), np.uint8)
        pairs = self.packed.groups.places.reshape(-1, 2)
        bits[pairs[rows[pairs[:, 0]], 1]] = 1
        words = np.packbits(bits, bitorder="little").view(np.uint64)
        return np.concatenate([words, np.zeros(int(self.engine["path_words"]), np.uint64)])

    def view(self, field: str, dtype: Any, *shape: int) -> Array:
        """A copy of the array whose address the record holds."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        return np.frombuffer(ctypes.string_at(int(self.engine[field]), size), dtype).reshape(shape).copy()

    def write(self, field: str, array: Array) -> None:
        """Overwrites the beginning of the array whose address the record holds."""
        ctypes.memmove(int(self.engine[field]), array.tobytes(), array.nbytes)

    def values(self) -> Array:
        """The matrix of `streed.kernels.values`."""
        width = int(self.engine["width"] + self.engine["categorical"])
        return self.view("values", np.int64, values.ROWS_OF_VALUES, width)

    def active(self) -> list[int]:
        """The bit column of every local column."""
        return self.view("active", np.int64, int(self.engine["n_active"])).tolist()  # type: ignore[no-any-return]

    def rows_with(self, column: int) -> Array:
        """The rows (n,) that have the bit column, by the caller's codes."""
        codes = self.instance.data.X[:, self.packed.column[column]]
        if column < self.packed.n_binary:
            return np.asarray(codes != self.packed.flipped[column])
        first = self.packed.literals[np.searchsorted(self.packed.literals, column, "right") - 1]
        return np.asarray(codes == column - first)

    def sides(self, rows: Array, column: int) -> tuple[Array, Array]:
        """The rows of a set without and with a local column of the node at hand."""
        having = self.rows_with(self.active()[column])
        return rows & ~having, rows & having

    def load(self, rows: Array | None = None) -> None:
        """Makes the rows the node at hand, to be prepared for depth three."""
        self.engine["asked_depth"] = 3
        self._loaded = self.place(self.instance.everything() if rows is None else rows)
        self.engine["asked_rows"] = self._loaded.ctypes.data
        load(self.engine.address, self._loaded)

    def call(self, kernel: str) -> None:
        """Calls the kernel whose address the record holds under this name."""
        address = int(self.workspace.engine.address)
        ctypes.CFUNCTYPE(None, ctypes.c_int64)(int(self.engine[kernel]))(address)

    def solve_children(self, column: int) -> tuple[int, int]:
        """(cost without, cost with) a local column, at depth two."""
        self.engine["asked_column"] = column
        known = self.values()
        known[[values.OPTIMUM1, values.OPTIMUM0], column] = values.UNKNOWN
        self.write("values", known)
        self.call("solve_children")
        return int(self.engine["cost0"]), int(self.engine["cost1"])
