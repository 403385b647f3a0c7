"""A tree in the caller's terms: its nodes, the columns that they ask about, and what each leaf shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import attrs
import numpy as np

from streed.binarize import TableRecipe
from streed.data import Column, Dataset
from streed.errors import InputError
from streed.tree.description import Claims
from streed.tree.nodes import Array, Branch, Leaf, Node, depth_of, route, same, used_columns, walk
from streed.tree.rows import TreeRows


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
        return depth_of(self.root)

    def leaves(self) -> Iterator[Leaf]:
        """The leaves, left to right."""
        return (node for node in walk(self.root) if isinstance(node, Leaf))

    def shows(self) -> tuple[Any, ...]:
        """What each leaf predicts, left to right."""
        return tuple(self.labels[leaf.label] for leaf in self.leaves()) if self.shown is None else self.shown

    @property
    def positive(self) -> Any:
        """The label that the task calls positive; None if it calls none so."""
        number = None if self.claims is None else self.claims.positive
        return None if number is None else self.labels[number]

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
        rows = TreeRows.of(X, self.columns, self.n_columns, self.recipe)
        return route(self.root, rows.sides, rows.n_rows)

    # -- forms -----------------------------------------------------------------------------------------------------

    def to_text(self, *, collapse: bool = False) -> str:
        """The tree as text, one node a line; `collapse`: children of a branch that predict alike are drawn together."""
        from streed.tree.text import text

        return text(self, collapse)

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

    def _repr_html_(self) -> str:
        """The tree as a notebook shows it."""
        from streed.tree.text import tree_html

        return tree_html(self)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        branches = f"{self.n_branches} branch{'' if self.n_branches == 1 else 'es'}"
        leaves = f"{self.n_leaves} lea{'f' if self.n_leaves == 1 else 'ves'}"
        return f"<Tree: {branches}, {leaves}, depth {self.depth}>"

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


_LONGEST = 1_000  # letters of a text in an array of texts, which has room for the longest in every row


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


def tree_of(model: Any) -> Tree:
    """The tree of a Tree, a Result, or a fitted estimator; raises InputError where there is none."""
    for name in (None, "tree_", "tree"):
        found = model if name is None else getattr(model, name, None)
        if isinstance(found, Tree):
            return found
    remedy = "give a Tree, a Result whose status is not infeasible, or an estimator after fit"
    raise InputError("tree", f"{model!r} has no tree", remedy)
