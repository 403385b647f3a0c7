"""What the engine's tests share: instances with their oracle, workspaces to look into, and a few native entry points.

A `Bench` is a workspace made by hand. Its kernels are called one by one, and the arrays whose addresses the record
holds are read as numpy arrays in the caller's own rows and columns.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Self, final
from unittest import mock

import attrs
import numpy as np

from streed.bnb import session, units, workspace
from streed.bnb.branch_cache import extend_branch, recall_branch, store_branch
from streed.bnb.expand import opening
from streed.bnb.node_index import find_node
from streed.bnb.nodes import rows_of
from streed.bnb.pair_lookahead import side_bounds
from streed.bnb.workspace import Space
from streed.data import Dataset
from streed.exact import Array
from streed.kernels import buffers, values
from streed.kernels.compiled import entry
from streed.kernels.control import ROWS_OF_CONTROL, SHARED_UPPER, UPPER
from streed.kernels.counting.equal_rows import find_floors
from streed.kernels.counting.groups import NO_TIMES, group_rows
from streed.kernels.counting.rows import load_child, load_node, spread_rows
from streed.kernels.packed import PackedProblem, pack
from streed.kernels.pointers import engine_at
from streed.kernels.records import INFINITE, NONE, UNLIMITED
from streed.reference.definition import OptimizationTask, S
from streed.reference.recursion import Recursion
from streed.task import RowCostTask

SPACE = Space(branches=2**12, nodes=2**12, edges=2**14, children=2**15, path=64)
"""More than any of these tests needs."""

NO_BRANCH = (2**64 - 1, 2**64 - 1)
"""What more than eight literals are: rows with this branch are not remembered."""

# -- native entry points ---------------------------------------------------------------------------------------------


@entry
def load(engine, row_set):  # type: ignore[no-untyped-def]
    """Makes the rows (W,) the node at hand, ready for its children."""
    e = engine_at(engine)
    load_node(e, row_set)
    spread_rows(e)


@entry
def load_side(engine, column, side):  # type: ignore[no-untyped-def]
    """How many rows lie on the side of the local column, which becomes the child."""
    return load_child(engine_at(engine), column, side)


@entry
def extend(high, low, number):  # type: ignore[no-untyped-def]
    """`extend_branch`."""
    return extend_branch(high, low, number)


@entry
def store_costs(engine, branches, costs):  # type: ignore[no-untyped-def]
    """Stores the costs (m,) for the branches (m, 2) in the branch cache."""
    for i in range(len(costs)):
        store_branch(engine_at(engine), branches[i, 0], branches[i, 1], costs[i])


@entry
def recall_costs(engine, branches, costs):  # type: ignore[no-untyped-def]
    """Writes what the branch cache knows of the branches (m, 2) to costs (m,)."""
    for i in range(len(costs)):
        costs[i] = recall_branch(engine_at(engine), branches[i, 0], branches[i, 1])


@entry
def find_or_add(engine, row_set, depth, budget, add):  # type: ignore[no-untyped-def]
    """`find_node` for the rows (W,)."""
    e = engine_at(engine)
    rows = rows_of(e)[e.node_count]
    for w in range(len(row_set)):
        rows[w] = row_set[w]
    return find_node(e, depth, budget, add)


@entry
def bounds_of_side(matrix, column, without, depth, budget):  # type: ignore[no-untyped-def]
    """`side_bounds`."""
    return side_bounds(matrix, column, without, depth, budget)


# -- instances and their oracle ----------------------------------------------------------------------------------------


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
        groups = group_rows(self.costs, 1, self.min_leaf > 1)
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

    def cost_of(self, preorder: Sequence[int], rows: Array | None = None) -> int:
        """What a tree in preorder costs on the rows, by routing them; INFINITE if a leaf has too few of them."""
        nodes = iter(preorder)

        def cost(rows: Array) -> int:
            column = next(nodes)
            if column < 0:
                if 0 < rows.sum() < self.min_leaf:
                    return INFINITE
                return int(self.costs[rows].sum(axis=0).min(initial=2**62))
            codes = self.data.X[:, column]
            sides = len(self.data.column(column).categories) if column in self.data.categorical else 2
            return min(self.split + sum([cost(rows & (codes == code)) for code in range(sides)]), INFINITE)

        total = cost(self.everything() if rows is None else rows)
        assert next(nodes, None) is None, "the preorder goes on behind the tree"
        return total


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


# -- workspaces --------------------------------------------------------------------------------------------------------


class Bench:
    """A workspace for an instance, its kernels linked; use it in a `with` statement."""

    def __init__(
        self,
        instance: Instance,
        *,
        lane: Any = None,
        relaxed: bool = False,
        space: Space = SPACE,
        control: Array | None = None,
        flags: Mapping[str, int] | None = None,
        shared_branches: int = 0,
        joins: bool = False,
        by_class: bool = True,
    ) -> None:
        """`by_class`: nodes are expanded by classes where that applies, as the search does.

        `shared_branches` and `joins` make it the workspace of one of several threads, the first or another.
        """
        self.instance = instance
        self.packed = instance.packed
        self.control = np.zeros(ROWS_OF_CONTROL, np.int64) if control is None else control
        self.control[[UPPER, SHARED_UPPER]] = INFINITE
        lane = lane or self.packed.lane_type()
        # a buffer that is used again holds anything
        borrow = mock.patch.object(buffers, "borrow", lambda size: np.full(size, 165, np.uint8))
        with borrow, mock.patch.object(workspace, "SIMILAR_FROM", 1):
            self.workspace = workspace.Workspace(
                self.packed, space, lane, self.control, relaxed, shared_branches, joins
            )
        self.engine = engine = self.workspace.engine
        engine["asked_goal"] = INFINITE
        for name, value in (flags or {}).items():
            engine[name] = value
        kind = self.packed.kind
        engine.write(units.addresses(kind, lane) | units.beside("recall", "store", "inherit"))
        engine["expand"] = units.expand(*(self.workspace.expansion(kind) if by_class else (kind, lane))).address
        engine["open_node"] = opening().address
        if not joins:
            self.workspace.node_rows[0] = self.place(instance.everything())
        self._watched: list[object] = []

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

    def watch(self, kernel: str, look: Callable[[], object]) -> None:
        """Has `look` called just before every call of the kernel."""
        kind = ctypes.CFUNCTYPE(None, ctypes.c_int64)
        compiled = kind(int(self.engine[kernel]))

        def look_and_call(address: int) -> None:
            look()
            compiled(address)

        watched = kind(look_and_call)
        self._watched.append(watched)
        self.engine[kernel] = ctypes.cast(watched, ctypes.c_void_p).value or 0

    def solve_children(self, column: int) -> tuple[int, int]:
        """(cost without, cost with) a local column, at depth two."""
        self.engine["asked_column"] = column
        known = self.values()
        known[[values.OPTIMUM1, values.OPTIMUM0], column] = values.UNKNOWN
        self.write("values", known)
        self.call("solve_children")
        return int(self.engine["cost0"]), int(self.engine["cost1"])

    def ask(
        self,
        depth: int,
        rows: Array | None = None,
        *,
        target: int = INFINITE,
        lower: int = 0,
        everything: bool = False,
        similar: int = NONE,
        branch: tuple[int, int] = NO_BRANCH,
    ) -> tuple[int, int, int]:
        """(lower, upper, split) of the work unit for the rows; `branch` is what the branch cache knows them by."""
        row_set = self.place(self.instance.everything() if rows is None else rows)
        self.engine["asked_rows"] = row_set.ctypes.data
        self.engine["asked_depth"] = depth
        self.engine["asked_target"] = target
        self.engine["asked_lower"] = lower
        self.engine["asked_all"] = everything
        self.engine["asked_high"], self.engine["asked_low"] = branch
        self.engine["asked_similar"] = similar
        self.call("solve_shallow")
        return int(self.engine["lower"]), int(self.engine["upper"]), int(self.engine["split"])

    def search(self, depth: int | None = None, nodes: int | None = None) -> tuple[int, int]:
        """(lower, upper) of the search over all rows, until it ends or is stopped."""
        limits = (UNLIMITED if depth is None else depth, UNLIMITED if nodes is None else nodes)
        session.search_fully(self.workspace, *limits)
        return int(self.workspace.root["lower"]), int(self.workspace.root["upper"])

    def extract(self, depth: int | None = None, nodes: int | None = None) -> list[int]:
        """The best tree in preorder, in the caller's columns."""
        limits = (UNLIMITED if depth is None else depth, UNLIMITED if nodes is None else nodes)
        preorder: list[int] = session.extract_best(self.workspace, self.packed, *limits).tolist()
        return preorder
