"""A tree: nested nodes, the columns that they ask about, and what each leaf shows.

A node is a `Leaf` or a `Branch`; a branch has one child per code of its column: the first for 0, the second for 1, and
so on. Trees may be hundreds of levels deep, so nothing here recurses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from streed.binarize import ColumnRecipe
from streed.data import Column, Dataset, encode
from streed.errors import InputError

if TYPE_CHECKING:
    from streed.tree.collapse import CollapsedTree
    from streed.tree.description import Description

Array = np.ndarray[Any, np.dtype[Any]]


@attrs.frozen
class Leaf:
    """A leaf: the number of its label, how many rows it has (unweighted), and what they cost in the tree's unit."""

    label: int
    rows: int
    cost: Any


@attrs.frozen(eq=False, repr=False)
class Branch:
    """A branching node: the number of the column that it asks about, one child per code, and how many rows it has."""

    column: int
    children: tuple[Node, ...]
    rows: int

    def __eq__(self, other: object) -> bool:
        return _same(self, other) if isinstance(other, Branch) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.column, len(self.children), self.rows))

    def __repr__(self) -> str:
        return f"Branch(column={self.column}, children=<{len(self.children)}>, rows={self.rows})"

    def __reduce__(self) -> tuple[Any, ...]:
        return nest, (flatten(self),)


Node = Leaf | Branch

_UNUSED = Column("", (0, 1), False)
"""Stands for the columns that no branch asks about."""

FlatNode = tuple[int, int, Any] | tuple[int, tuple[int, ...], int]
"""(label, rows, cost) of a leaf; (column, the places of its children, rows) of a branch."""


@attrs.frozen
class Reading:
    """How columns, labels and weights were made of a table, where the shell did that."""

    target: str
    """The column of the labels."""
    weights: str | None
    """The column of the row weights."""
    categorical: tuple[str, ...]
    """The columns of numbers that were taken as categories."""
    one_hot: bool
    """Whether there is a 0/1 column per category, or one column with a child per category."""
    sources: Mapping[str, tuple[Any, ...]]
    """Where `one_hot`: the columns that became several, and the values that each had."""
    sensitive: tuple[str, ...] = ()
    """The columns of the groups that limits are about; they are no features."""
    recipes: tuple[ColumnRecipe, ...] = ()
    """The columns that questions were made of: numbers, dates, columns with gaps, texts of many values."""
    frequency: str | None = None
    """The column that says how many equal rows each row stands for."""


@attrs.frozen
class Claims:
    """What a solve said about its tree, kept with it so that anyone may check it again."""

    task: Any
    """The task, or the description of it that was read from a file."""
    value: Any
    """What the task's `score` gave, in the task's own units."""
    lower_bound: Any
    upper_bound: Any
    status: str
    n_rows: int
    max_depth: int | None = None
    max_nodes: int | None = None
    min_leaf: int = 1
    reading: Reading | None = None

    def describe_task(self) -> Description:
        """The task as nested dicts, lists and plain values."""
        from streed.tree.description import describe

        return self.task if isinstance(self.task, dict) else describe(self.task)


@attrs.frozen(eq=False, repr=False)
class Tree:
    """A decision tree in the caller's terms.

    `columns` holds those that the branches ask about, by their place in the data, which had `n_columns`. `labels` are
    the caller's, by label number. A leaf costs `unit` times its `cost`. `shown` has one entry per leaf, left to right,
    where leaves show something else than their label. Trees are equal if structure, columns, rows, costs and what the
    leaves show are; the claims do not count.
    """

    root: Node
    columns: Mapping[int, Column]
    n_columns: int
    labels: tuple[Any, ...]
    unit: Fraction | int = 1
    shown: tuple[Any, ...] | None = None
    claims: Claims | None = None

    @classmethod
    def grown(
        cls,
        root: Node,
        data: Dataset,
        labels: tuple[Any, ...] | None = None,
        *,
        unit: Fraction | int = 1,
        shown: tuple[Any, ...] | None = None,
        claims: Claims | None = None,
    ) -> Tree:
        """The tree of `root`, whose branches name columns of `data`; labels are the classes unless given."""
        columns = {j: data.column(j) for j in used_columns(root)}
        return cls(root, columns, data.n_columns, data.classes if labels is None else labels, unit, shown, claims)

    def claiming(
        self,
        task: Any,
        value: Any,
        lower_bound: Any,
        upper_bound: Any,
        status: str,
        max_depth: int | None,
        max_nodes: int | None,
        min_leaf: int,
    ) -> Tree:
        """This tree with what a solve says about it."""
        n_rows = self.root.rows
        claims = Claims(task, value, lower_bound, upper_bound, status, n_rows, max_depth, max_nodes, min_leaf)
        return attrs.evolve(self, claims=claims)

    # -- size ------------------------------------------------------------------------------------------------------

    @property
    def n_leaves(self) -> int:
        """The number of leaves, empty ones included."""
        return sum(1 for _ in self.leaves())

    @property
    def n_branches(self) -> int:
        """The number of branching nodes."""
        return sum(isinstance(node, Branch) for node in walk(self.root))

    @property
    def depth(self) -> int:
        """The largest number of questions that a row is asked."""
        deepest, stack = 0, [(self.root, 0)]
        while stack:
            node, depth = stack.pop()
            deepest = max(deepest, depth)
            if isinstance(node, Branch):
                stack.extend((child, depth + 1) for child in node.children)
        return deepest

    def leaves(self) -> Iterator[Leaf]:
        """The leaves, left to right."""
        return (node for node in walk(self.root) if isinstance(node, Leaf))

    def shows(self) -> tuple[Any, ...]:
        """What each leaf predicts, left to right."""
        return tuple(self.labels[leaf.label] for leaf in self.leaves()) if self.shown is None else self.shown

    # -- prediction ------------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> Array:
        """(m,) what the leaf of each row shows: ints, floats, bools or strings as such, anything else as objects.

        `X` is an array or nested list with all columns, a table with at least those that the tree asks about (found
        by name), or a Dataset. Raises InputError for missing columns and for values that the tree does not know.
        """
        return _plain_array(self.shows())[self.apply(X)]

    def apply(self, X: Any) -> Array:
        """(m,) int64: the number of each row's leaf, the leaves numbered left to right; `X` as in `predict`."""
        n_rows, codes = self._codes(X)
        return route(self.root, codes, n_rows)

    def codes(self, X: Any) -> Array:
        """(m, n_columns) uint8: rows as the tree reads them, 0 where it does not ask; `X` as in `predict`."""
        n_rows, codes = self._codes(X)
        table = np.zeros((n_rows, self.n_columns), dtype=np.uint8)
        for j in self.columns:
            table[:, j] = codes(j)
        return table

    def _codes(self, X: Any) -> tuple[int, Callable[[int], Array]]:
        if isinstance(X, Dataset):
            places = self._places(X)
            return X.n_rows, lambda j: X.X[:, places[j]]
        columns = [_UNUSED] * self.n_columns
        for j, column in self.columns.items():
            columns[j] = column
        codes = encode(columns, X, used=self.columns)
        return len(codes), lambda j: codes[:, j]

    def _places(self, data: Dataset) -> dict[int, int]:
        places = {}
        for j, column in self.columns.items():
            place = j if j < data.n_columns and data.column(j).name == column.name else None
            if place is None:
                if column.name not in data.names:
                    raise InputError("X", f"column {column.name!r} is missing", "give every column that the tree uses")
                place = data.names.index(column.name)
            if data.column(place) != column:
                found = data.column(place).categories
                raise InputError(
                    "X",
                    f"column {column.name!r} has the categories {found}, the tree's has {column.categories}",
                    "give the table itself, so that its values are read by the tree's categories",
                )
            places[j] = place
        return places

    # -- forms -----------------------------------------------------------------------------------------------------

    def to_text(self) -> str:
        """The tree as text, one node a line."""
        from streed.tree.text import text

        return text(self)

    def collapse(self) -> CollapsedTree:
        """The tree with equal siblings of a branch drawn together, which says the same with fewer branching nodes."""
        from streed.tree.collapse import collapse

        return collapse(self)

    def to_dot(self) -> str:
        """The tree in Graphviz's language."""
        from streed.tree.text import dot

        return dot(self)

    def to_json(self, *, indent: int | None = None) -> str:
        """The tree and its claims as JSON by `tree.schema.json`; raises InputError for labels it cannot hold."""
        from streed.tree.storage import dump

        return dump(self, indent)

    @staticmethod
    def from_json(text: str) -> Tree:
        """The tree of `to_json`; raises InputError that says where `text` breaks the schema."""
        from streed.tree.storage import load

        return load(text)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<Tree: {self.n_branches} branches, {self.n_leaves} leaves, depth {self.depth}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return (
            dict(self.columns) == dict(other.columns)
            and self.n_columns == other.n_columns
            and self.labels == other.labels
            and self.shows() == other.shows()
            and _same(self.root, other.root, self.unit, other.unit)
        )

    def __hash__(self) -> int:
        return hash((self.root, self.labels, self.n_columns))


def worth(unit: Fraction | int, cost: Any) -> Any:
    """`unit` times a cost, which may be a tuple of numbers."""
    return tuple(unit * part for part in cost) if isinstance(cost, tuple) else unit * cost


def walk(root: Node) -> Iterator[Node]:
    """Every node, parents first and children left to right."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, Branch):
            stack.extend(reversed(node.children))


def used_columns(root: Node) -> set[int]:
    """The numbers of the columns that the branches ask about."""
    used, stack = set(), [root]
    while stack:
        node = stack.pop()
        if isinstance(node, Branch):
            used.add(node.column)
            stack.extend(node.children)
    return used


def route(root: Node, codes: Callable[[int], Array], n_rows: int) -> Array:
    """(n_rows,) int64: the number of each row's leaf; `codes(j)` gives the codes (n_rows,) of column j."""
    numbers = np.zeros(n_rows, dtype=np.int64)
    stack = [(root, np.arange(n_rows))]
    number = 0
    while stack:
        node, rows = stack.pop()
        if isinstance(node, Leaf):
            numbers[rows] = number
            number += 1
        else:
            here = codes(node.column)[rows]
            parts = [(child, rows[here == code]) for code, child in enumerate(node.children)]
            stack.extend(reversed(parts))
    return numbers


def flatten(root: Node) -> list[FlatNode]:
    """The nodes as tuples, parents first: a leaf as (label, rows, cost), a branch as (column, places, rows)."""
    flat: list[Any] = []
    places: list[list[int]] = []
    stack: list[tuple[Node, int]] = [(root, -1)]
    while stack:
        node, parent = stack.pop()
        if parent >= 0:
            places[parent].append(len(flat))
        places.append([])
        flat.append(node)
        if isinstance(node, Branch):
            stack.extend((child, len(flat) - 1) for child in reversed(node.children))
    return [
        (node.label, node.rows, node.cost) if isinstance(node, Leaf) else (node.column, tuple(at), node.rows)
        for node, at in zip(flat, places, strict=True)
    ]


def nest(flat: list[FlatNode]) -> Node:
    """The root of the nodes that `flatten` gave."""
    nodes: list[Any] = [None] * len(flat)
    for place in range(len(flat) - 1, -1, -1):
        first, second, third = flat[place]
        if isinstance(second, tuple):
            nodes[place] = Branch(first, tuple(nodes[child] for child in second), third)
        else:
            nodes[place] = Leaf(first, second, third)
    root: Node = nodes[0]
    return root


def _same(a: Node, b: Node, unit_a: Fraction | int = 1, unit_b: Fraction | int = 1) -> bool:
    stack: list[tuple[Node, Node]] = [(a, b)]
    while stack:
        x, y = stack.pop()
        if isinstance(x, Branch) and isinstance(y, Branch):
            if (x.column, x.rows, len(x.children)) != (y.column, y.rows, len(y.children)):
                return False
            stack.extend(zip(x.children, y.children, strict=True))
        elif isinstance(x, Leaf) and isinstance(y, Leaf):
            if (x.label, x.rows, worth(unit_a, x.cost)) != (y.label, y.rows, worth(unit_b, y.cost)):
                return False
        else:
            return False
    return True


_LONGEST = 1_000
"""Letters of a text in an array of texts, which has room for the longest in every row."""


def _plain_array(values: tuple[Any, ...]) -> Array:
    """(k,) the values, as an array of their own type if they share one that numpy holds exactly, else of objects."""
    kinds = set(map(type, values))
    long = kinds == {str} and max(map(len, values)) > _LONGEST
    if len(kinds) == 1 and kinds <= {bool, int, float, str} and not long:
        array = np.array(values)
        if array.dtype.kind in "bifU" and array.tolist() == list(values):
            return array
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects
