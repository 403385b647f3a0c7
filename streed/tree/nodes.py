"""The nodes of a tree, leaves and branches, walks through them, rows on their way, and what is claimed of a tree.

A node is a `Leaf` or a `Branch`; a branch has one child per code of its column: the first for 0, the second for 1, and
so on. On an ordered column it has a cut: the first child is for values up to its threshold, the second for others.
Trees may be hundreds of levels deep, so nothing here recurses.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, final

import attrs
import numpy as np

from streed.data import AUTO, Column, Cut, Dataset, Kind
from streed.data.column import raw_columns
from streed.data.questions import TableRecipe
from streed.data.reading import Values
from streed.errors import InputError
from streed.exact import Array

if TYPE_CHECKING:
    from streed.data.database import Roles


@attrs.frozen
class Leaf:
    """A leaf: the number of its label, how many rows it has (unweighted), and what they cost in the task's unit."""

    label: int
    rows: int
    cost: Any


@attrs.frozen(eq=False, repr=False)
class Branch:
    """A branching node: the number of the column that it asks about, one child per code, and how many rows it has."""

    column: int
    children: tuple[Node, ...]
    rows: int
    cut: Cut | None = None
    """The threshold of an ordered column; None of any other one."""

    def __eq__(self, other: object) -> bool:
        return flatten(self) == flatten(other) if isinstance(other, Branch) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.column, len(self.children), self.rows, self.cut))

    def __repr__(self) -> str:
        cut = "" if self.cut is None else f", {self.cut!r}"
        return f"Branch(column={self.column}, children=<{len(self.children)}>, rows={self.rows}{cut})"

    def __reduce__(self) -> tuple[Any, ...]:
        return nest, (flatten(self),)


Node = Leaf | Branch


@attrs.frozen
class FlatBranch:
    """A branch in a list of nodes: its children are their places in it."""

    column: int
    children: tuple[int, ...]
    rows: int
    cut: Cut | None = None


FlatNode = Leaf | FlatBranch


def walk(root: Node) -> Iterator[Node]:
    """Every node, parents first and children left to right."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, Branch):
            stack.extend(reversed(node.children))


def depth_of(root: Node) -> int:
    """The largest number of questions that a row is asked."""
    depth, level = 0, [root]
    while level := [child for node in level if isinstance(node, Branch) for child in node.children]:
        depth += 1
    return depth


def count_branches(root: Node) -> int:
    """The number of branching nodes."""
    return sum(isinstance(node, Branch) for node in walk(root))


def used_columns(root: Node) -> set[int]:
    """The numbers of the columns that the branches ask about."""
    return {node.column for node in walk(root) if isinstance(node, Branch)}


class Visit(NamedTuple):
    """A node with the rows that reach it, by number, the columns asked above it, and its parent's place or -1."""

    node: Node
    rows: Array
    path: tuple[int, ...]
    parent: int


def visits(root: Node, sides: Callable[[Branch, Array], Array], n_rows: int) -> Iterator[Visit]:
    """Every node with its rows, parents first and children left to right.

    `sides(branch, rows)` gives the child (m,) that each of the rows (m,), given by number, goes to.
    """
    stack, place = [Visit(root, np.arange(n_rows), (), -1)], 0
    while stack:
        visit = stack.pop()
        yield visit
        node = visit.node
        if isinstance(node, Branch):
            here, path = sides(node, visit.rows), (*visit.path, node.column)
            parts = [Visit(each, visit.rows[here == code], path, place) for code, each in enumerate(node.children)]
            stack.extend(reversed(parts))
        place += 1


def fold(found: list[Visit], make: Callable[[Visit, list[Any]], Any]) -> Any:
    """What `make` makes of the root, as of every node of what it made of the children; `found` is all of `visits`."""
    below: list[list[Any]] = [[] for _ in found]
    made = None
    for place in range(len(found) - 1, -1, -1):
        made = make(found[place], below[place][::-1])
        if place:
            below[found[place].parent].append(made)
    return made


def route(root: Node, sides: Callable[[Branch, Array], Array], n_rows: int) -> Array:
    """(n_rows,) int64: the number of each row's leaf; `sides` as in `visits`."""
    numbers = np.zeros(n_rows, dtype=np.int64)
    leaves = (visit for visit in visits(root, sides, n_rows) if isinstance(visit.node, Leaf))
    for number, visit in enumerate(leaves):
        numbers[visit.rows] = number
    return numbers


def flatten(root: Node) -> list[FlatNode]:
    """The nodes, parents first and children left to right."""
    flat: list[tuple[Node, list[int]]] = []
    waiting: list[tuple[Node, list[int]]] = [(root, [])]
    while waiting:
        node, beside = waiting.pop()
        beside.append(len(flat))
        below: list[int] = []
        flat.append((node, below))
        if isinstance(node, Branch):
            waiting += [(child, below) for child in reversed(node.children)]
    return [x if isinstance(x, Leaf) else FlatBranch(x.column, tuple(below), x.rows, x.cut) for x, below in flat]


def nest(flat: Sequence[FlatNode]) -> Node:
    """The root of the nodes that `flatten` gave."""
    nodes: list[Any] = list(flat)
    for place in reversed(range(len(nodes))):
        node = flat[place]
        if isinstance(node, FlatBranch):
            nodes[place] = Branch(node.column, tuple(nodes[child] for child in node.children), node.rows, node.cut)
    root: Node = nodes[0]
    return root


def sides_in(data: Dataset, node: Branch | FlatBranch, rows: Array | slice) -> Array:
    """(m,) the child that each of the rows (m,), given by number, goes to; `node` is on a column of `data`."""
    codes = data.X[:, node.column][rows]  # which is quicker than both at once
    return codes if node.cut is None else data.ordered[node.column].sides(codes, node.cut)


def visits_in(root: Node, data: Dataset) -> list[Visit]:
    """Every node of a tree on `data` with its rows, as `visits` gives them."""
    return list(visits(root, functools.partial(sides_in, data), data.n_rows))


def predict_data(root: Node, data: Dataset) -> Array:
    """(n,) int64: the number of the label that the tree gives each row of the data that it was grown on."""
    labels = np.array([node.label for node in walk(root) if isinstance(node, Leaf)])
    return np.asarray(labels[route(root, functools.partial(sides_in, data), data.n_rows)])


@final
class TreeRows:
    """The rows of a table or data set, by the columns that a tree asks about, each of which is read once."""

    def __init__(self, n_rows: int, read: Callable[[int], Array | Values]) -> None:
        self.n_rows = n_rows
        self.column = functools.cache(read)

    @classmethod
    def of(cls, X: Any, columns: Mapping[int, Column], n_columns: int, recipe: TableRecipe | None) -> TreeRows:
        """The rows of `X` as `Tree.predict` takes them, for a tree on `columns` of data with `n_columns`.

        `recipe`: how the columns are made of a raw table, as `Tree` has it. Warns of values that the tree's data did
        not have, unless the recipe says otherwise; raises InputError for missing columns and for values of another
        kind.
        """
        if isinstance(X, Dataset):
            places = _places(X, columns)
            return cls(X.n_rows, lambda j: _of_data(X, places[j], columns[j]))
        if recipe is not None:
            answers = recipe.encode(X, used=columns)
            return cls(len(answers), lambda j: answers[:, j])
        names = [columns[j].name if j in columns else "" for j in range(n_columns)]
        n_rows, raw = raw_columns(X, names, columns)

        def read(j: int) -> Array | Values:
            column, values = columns[j], raw(j)
            return column.codes(values, "warn") if column.scale is None else column.numbers(values, "warn")

        rows = cls(n_rows, read)
        for j in columns:
            rows.column(j)  # so that what cannot be read is an error, whatever branch the rows take
        return rows

    def sides(self, node: Branch, rows: Array) -> Array:
        """(m,) the child that each of the rows (m,), given by number, goes to."""
        column = self.column(node.column)
        if not isinstance(column, Values):
            return column[rows]
        assert node.cut is not None
        return node.cut.sides(np.asarray(column.values)[rows], column.missing[rows])


def _of_data(data: Dataset, j: int, column: Column) -> Array | Values:
    """Column j of the data, for a tree that has it as `column`."""
    codes = data.X[:, j]
    if column.scale is None:
        return codes
    if j in data.ordered:
        return Values(column.scale, *data.ordered[j].numbers(codes))
    # a column of two numbers may be binary in one data set and ordered in another one
    return Values(column.scale, np.array(data.column(j).categories)[codes])


def _places(data: Dataset, columns: Mapping[int, Column]) -> dict[int, int]:
    """The number in the data of each of the tree's columns."""
    places = {}
    for j, column in columns.items():
        place = j if j < data.n_columns and data.column(j).name == column.name else None
        if place is None:
            if column.name not in data.names:
                raise InputError("X", f"column {column.name!r} is missing", "give every column that the tree uses")
            place = data.names.index(column.name)
        found, wanted = data.column(place), column
        if column.scale is not None:
            zoned = column.scale is Kind.DATE and None not in (found.zone, column.zone)
            wanted = attrs.evolve(column, has_gaps=found.has_gaps, zone=found.zone if zoned else column.zone)
        real = bool(found.categories) and all(isinstance(x, (bool, int, float)) for x in found.categories)
        if found != wanted and not (column.scale is Kind.NUMBER and found.scale is None and real):
            told = f"column {column.name!r} has {_described(found)}, the tree's has {_described(column)}"
            raise InputError("X", told, "give the rows that it was grown on, or, to predict, the table itself")
        places[j] = place
    return places


def _described(column: Column) -> str:
    if column.scale is None or column.scale is Kind.CATEGORY:
        return f"the categories {column.categories}"
    zone = "" if column.scale is not Kind.DATE else f" of {'no' if column.zone is None else 'a'} zone"
    return f"{column.scale.value}s in order{zone}"


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
    roles: Roles | None = None
    """The columns of the labels, of weights and groups, where the shell read a table."""
    over: str = ""
    """Among which splits the tree is the best, as `extent_text` says it."""
    max_cuts: int | None = None
    """The most thresholds of each ordered column that were tried; None: all of them."""
    gains: int = 0
    """1 where the costs of leaves are what they gain, the larger the better; -1 where they are minus that."""
    positive: int | None = None
    """The number of the class that the task calls positive."""

    def cut(self, data: Dataset) -> Dataset:
        """The data with the thresholds that the solve tried, where the caller left open how many there are."""
        return data if self.max_cuts is None or data.max_cuts != AUTO else data.cut(self.max_cuts)
