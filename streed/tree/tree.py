"""A tree in the caller's terms: its nodes, the columns that they ask about, and what each leaf shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from streed.binarize import TableRecipe
from streed.data import Column, Dataset, encode
from streed.errors import InputError
from streed.tree.claims import Claims
from streed.tree.nodes import Array, Branch, Leaf, Node, route, same, used_columns, walk

if TYPE_CHECKING:
    from streed.tree.collapse import CollapsedTree

_UNUSED = Column("", (0, 1), False)
"""Stands for the columns that no branch asks about."""


@attrs.frozen(eq=False, repr=False)
class Tree:
    """A decision tree in the caller's terms.

    `columns` holds those that the branches ask about, by their place in the data, which had `n_columns`. `labels` are
    the caller's, by label number. A leaf costs `unit` times its `cost`. `shown` has one entry per leaf, left to right,
    where leaves show something else than their label. `recipe` says how the columns are made of a raw table, where
    they are not the table's own. Trees are equal if structure, columns, rows, costs and what the leaves show are; the
    claims do not count.
    """

    root: Node
    columns: Mapping[int, Column]
    n_columns: int
    labels: tuple[Any, ...]
    unit: Fraction | int = 1
    shown: tuple[Any, ...] | None = None
    claims: Claims | None = None
    recipe: TableRecipe | None = None

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
        found = data.classes if labels is None else labels
        return cls(root, columns, data.n_columns, found, unit, shown, claims, data.recipe)

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
        by name), or a Dataset. A tree with a recipe takes raw rows, as the recipe's table had them, and Datasets with
        its questions. Raises InputError for missing columns and for values that the tree does not know.
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
        if self.recipe is not None:
            answers = self.recipe.encode(X, used=self.columns)
            return len(answers), lambda j: answers[:, j]
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
            and same(self.root, other.root, self.unit, other.unit)
        )

    def __hash__(self) -> int:
        return hash((self.root, self.labels, self.n_columns))


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
