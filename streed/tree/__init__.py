"""A tree in the caller's terms: nodes, the columns that they ask about, what leaves show; text, Graphviz, HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import attrs
import numpy as np

from streed.data import Column, Cut, Dataset
from streed.data.questions import TableRecipe
from streed.errors import InputError, brief, escaped, visible
from streed.exact import Array, as_objects
from streed.tree import nodes
from streed.tree.nodes import Branch, Claims, FlatBranch, Leaf, Node, TreeRows, flatten, nest, walk

__all__ = ["Branch", "Claims", "FlatBranch", "Leaf", "Node", "Tree", "flatten", "nest", "walk"]


def _plain(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values as Python has them: numbers, truth values and texts of numpy as ints, floats, bools and strings."""
    return tuple(x.item() if getattr(x, "ndim", None) == 0 and x.dtype.kind in "biufU" else x for x in values)


def _plain_shown(shown: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
    """What leaves show as Python has it, fractions as floats."""
    return None if shown is None else tuple(float(x) if isinstance(x, Fraction) else x for x in _plain(shown))


@attrs.frozen(eq=False, repr=False)
class Tree:
    """A decision tree in the caller's terms.

    `columns` holds those that the branches ask about, by their place in the data, which had `n_columns`. `labels` are
    the caller's, by label number. `shown` has one entry per leaf, left to right, where leaves show something else than
    their label. `recipe` says how the columns are made of a raw table, where they are not the table's own. Trees are
    equal if structure, columns, rows, costs and what the leaves show are; the claims do not count.
    """

    root: Node
    columns: Mapping[int, Column]
    n_columns: int
    labels: tuple[Any, ...] = attrs.field(converter=_plain)
    shown: tuple[Any, ...] | None = attrs.field(default=None, converter=_plain_shown)
    claims: Claims | None = None
    recipe: TableRecipe | None = None

    @classmethod
    def grown(
        cls,
        root: Node,
        data: Dataset,
        labels: tuple[Any, ...] | None = None,
        *,
        shown: tuple[Any, ...] | None = None,
        claims: Claims | None = None,
    ) -> Tree:
        """The tree of `root`, whose branches name columns of `data`; labels are the classes unless given."""
        columns = {j: data.column(j) for j in nodes.used_columns(root)}
        found = data.classes if labels is None else labels
        return cls(root, columns, data.n_columns, found, shown, claims, data.recipe)

    # -- size ------------------------------------------------------------------------------------------------------

    @property
    def n_leaves(self) -> int:
        """The number of leaves, empty ones included."""
        return sum(1 for _ in self.leaves())

    @property
    def n_branches(self) -> int:
        """The number of branching nodes."""
        return nodes.count_branches(self.root)

    @property
    def depth(self) -> int:
        """The largest number of questions that a row is asked."""
        return nodes.depth_of(self.root)

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
        rows = self.read(X)
        return nodes.route(self.root, rows.sides, rows.n_rows)

    def read(self, X: Any) -> TreeRows:
        """The rows of `X`, as `predict` takes it, by the columns that the tree asks about."""
        return TreeRows.of(X, self.columns, self.n_columns, self.recipe)

    # -- forms -----------------------------------------------------------------------------------------------------

    def to_text(self, *, collapse: bool = False) -> str:
        """The tree as text, one node a line, children below their question; control characters are shown as signs.

        `collapse`: equal children of a branch are one, with the rows and costs of all; alone it needs no question.
        """
        nodes, lines = told(self, gather=collapse), list[str]()
        indents = [""] * len(nodes)
        for seen in nodes:
            lead = ""
            if seen.parent >= 0:
                at, last = indents[seen.parent], seen.place == nodes[seen.parent].children[-1]
                lead, indents[seen.place] = at + "├└"[last] + "── ", at + "│ "[last] + "   "
            answer = f"{seen.answer}: " if seen.parent >= 0 else ""
            lines.append(lead + visible(answer + (seen.asks or _leaf(self, seen))))
        if self.positive is not None:
            lines.append(visible(f"positive class: {written(self.positive)}"))
        return "\n".join(lines)

    def to_dot(self) -> str:
        """The tree in Graphviz's language: boxes for leaves, edges labelled with the answers."""
        nodes = told(self)
        lines = ["digraph tree {", '  node [fontname="Helvetica"];', '  edge [fontname="Helvetica"];']
        for seen in nodes:
            shape, said = ("box", _leaf(self, seen)) if seen.asks is None else ("ellipse", seen.asks)
            lines.append(f"  n{seen.place} [shape={shape}, label={_quoted(said)}];")
            edges = ((child, _quoted(nodes[child].answer)) for child in seen.children)
            lines += [f"  n{seen.place} -> n{child} [label={answer}];" for child, answer in edges]
        return "\n".join([*lines, "}"])

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
        return tree_html(self)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<Tree: {size_text(self, 'branch', 'branches')}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return (
            dict(self.columns) == dict(other.columns)
            and self.n_columns == other.n_columns
            and self.labels == other.labels
            and self.shows() == other.shows()
            and self.root == other.root
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
    return as_objects(values)


def tree_of(model: Any, argument: str = "tree") -> Tree:
    """The tree of a Tree, a Result, or a fitted estimator; raises InputError where there is none."""
    for name in (None, "tree_", "tree"):
        found = model if name is None else getattr(model, name, None)
        if isinstance(found, Tree):
            return found
    remedy = "give a Tree, a Result whose status is not infeasible, or an estimator after fit"
    raise InputError(argument, f"{brief(model)} has no tree", remedy)


_RELATIONS = ("=", "<", ">", "≤", "≥", "≠")


def question(column: Column, cut: Cut | None = None) -> str:
    """What a branch on the column asks: `a5 = 1?`, `age <= 30.5?`, `gender = male?`, or `department?` if multiway."""
    if cut is not None:
        return f"{column.name} is missing?" if cut.threshold is None else f"{column.name} <= {column.written(cut)}?"
    if column.multiway:
        return f"{column.name}?"
    if column.is_plain:
        asks = any(relation in column.name for relation in _RELATIONS)
        return f"{column.name}?" if asks else f"{column.name} = 1?"
    return f"{column.name} = {column.categories[-1]}?"


def answers(column: Column, cut: Cut | None = None) -> tuple[str, ...]:
    """What leads to each child, in the order of the children; gaps are named where the column had any."""
    if cut is None or cut.threshold is None:
        return tuple(map(written, column.categories)) if column.multiway else ("no", "yes")
    gaps = [" or missing" if column.has_gaps and cut.gaps == side else "" for side in range(2)]
    return (f"yes{gaps[0]}", f"no{gaps[1]}")


def holds(column: Column, code: int, cut: Cut | None = None) -> str:
    """What the answer with this number says of a row: `department = A`, `age > 30.5`, `not age<=30`."""
    if cut is not None:
        if cut.threshold is None:
            return f"{column.name} is missing" if code else f"{column.name} is known"
        said = f"{column.name} {'>' if code else '<='} {column.written(cut)}"
        return f"{said} or missing" if column.has_gaps and cut.gaps == code else said
    if column.is_plain and question(column) == f"{column.name}?":
        return column.name if code else f"not {column.name}"
    # A column of a single value has no name for the other one.
    values = column.categories
    return f"{column.name} = {values[code]}" if code < len(values) else f"{column.name} ≠ {values[0]}"


def written(value: Any) -> str:
    """A label or category as text; of a number of thousands of digits, only that it is one."""
    try:
        return str(value)
    except ValueError:  # Python writes no number of more than 4,300 digits
        return "a number of more than 4,300 digits"


@attrs.frozen(eq=False)
class Seen:
    """A node as one reads it."""

    place: int
    """Its number, parents first and children left to right."""
    parent: int
    """The parent's number; -1 for the root."""
    depth: int
    answer: str
    """What leads here from the parent; empty for the root."""
    holds: str
    """What the answer says of the rows that come here: `department = A`, `gender = female`, `not age<=30`."""
    asks: str | None
    """The question of a branching node; None for a leaf."""
    shows: Any
    """What a leaf predicts; None for a branching node."""
    rows: int
    """How many rows reach it."""
    cost: Any
    """What a leaf costs on the rows that the tree was grown on, in the task's unit; None for a branching node."""
    leaves: tuple[int, ...]
    """The numbers of the leaves that a leaf stands for; none for a branching node."""
    children: list[int] = attrs.field(factory=list)
    counts: tuple[float, ...] | None = None
    """The weight of the rows of each of the tree's labels; None where labels are no classes, or rows are not given."""
    mean: float | None = None
    """The weighted mean of the rows' targets, where these are numbers and the tree predicts numbers."""

    def right(self, tree: Tree) -> float | None:
        """The share of a leaf's rows that have the label that it shows; None where classes or rows are not known."""
        if not self.counts or not sum(self.counts):
            return None
        return self.counts[tree.labels.index(self.shows)] / sum(self.counts)


def told(tree: Tree, *, gather: bool = False) -> list[Seen]:
    """Every node, parents first and children left to right.

    `gather`: equal children of a branch are one, with the rows and costs of all; alone it needs no question.
    """
    flat: list[Any] = flatten(tree.root)
    leaves = [place for place, node in enumerate(flat) if isinstance(node, Leaf)]
    shown, nodes = dict(zip(leaves, enumerate(tree.shows()), strict=True)), list[Seen]()
    alike, standing = _equal(flat, shown) if gather else (range(len(flat)), [[place] for place in range(len(flat))])
    stack = [(standing[0], -1, 0, "", "")]
    while stack:
        several, parent, depth, answer, held = stack.pop()
        place, node, rows = len(nodes), flat[several[0]], sum(flat[each].rows for each in several)
        if parent >= 0:
            nodes[parent].children.append(place)
        if isinstance(node, Leaf):
            costs = [flat[each].cost for each in several]
            tuples = [cost for cost in costs if isinstance(cost, tuple)]  # a leaf without rows has none
            cost = tuple(map(sum, zip(*tuples, strict=True))) if tuples else sum(costs)
            numbers = tuple(shown[each][0] for each in several)
            nodes.append(Seen(place, parent, depth, answer, held, None, shown[several[0]][1], rows, cost, numbers))
            continue
        column, cut = tree.columns[node.column], node.cut
        said, codes = answers(column, cut), dict[int, list[int]]()
        nodes.append(Seen(place, parent, depth, answer, held, question(column, cut), None, rows, None, ()))
        for code, child in enumerate(node.children):
            codes.setdefault(alike[child], []).append(code)
        for first, *others in reversed(codes.values()):
            rest = [said[code] for code in others]
            words = " or ".join([said[first], *rest]), " or ".join([holds(column, first, cut), *rest])
            below = [flat[each].children[code] for each in several for code in (first, *others)]
            stack.append(([x for child in below for x in standing[child]], place, depth + 1, *words))
    return nodes


def _equal(flat: Sequence[Any], shown: Mapping[int, Any]) -> tuple[list[int], list[list[int]]]:
    """(a number that equal nodes share, the nodes that are seen in its place), of every node.

    These are itself, or if its children all are equal, those that are seen in theirs.
    """
    known, alike, standing = dict[Any, int](), [0] * len(flat), [[place] for place in range(len(flat))]
    for place, node in reversed(list(enumerate(flat))):
        below = [] if isinstance(node, Leaf) else [alike[child] for child in node.children]
        if len(set(below)) == 1:
            alike[place], standing[place] = below[0], [x for child in node.children for x in standing[child]]
            continue
        key = (node.column, node.cut, *below) if below else repr(shown[place][1])
        alike[place] = known.setdefault(key, len(known))
    return alike, standing


def number(x: Any) -> str:
    """A cost or value as a person reads it: whole numbers as such, others to six digits, tuples entry by entry."""
    if isinstance(x, tuple):
        return f"({', '.join(map(number, x))})"
    if isinstance(x, Fraction):
        try:
            x = int(x) if x.denominator == 1 else float(x)
        except OverflowError:
            return f"about 2^{x.numerator.bit_length() - x.denominator.bit_length()}"
    return f"{x:.6g}" if isinstance(x, float) else written(x)


def size_text(tree: Tree, one: str = "branching node", several: str = "branching nodes") -> str:
    """How large the tree is: `1 branching node, 2 leaves, depth 1`."""
    branches, leaves = tree.n_branches, tree.n_leaves
    said = f"{branches} {one if branches == 1 else several}, {leaves} {'leaf' if leaves == 1 else 'leaves'}"
    return f"{said}, depth {tree.depth}"


def _leaf(tree: Tree, leaf: Seen) -> str:
    rows = "1 row" if leaf.rows == 1 else f"{leaf.rows} rows"
    said = number(leaf.shows) if tree.shown is not None else written(leaf.shows)
    return f"{said} ({rows}, {worth_text(tree, leaf.cost)})"


def worth_text(tree: Tree, cost: Any) -> str:
    """What a leaf costs, or gains where that is what the tree was grown for: `cost 3`, `gain 4`."""
    gains = 0 if tree.claims is None else tree.claims.gains
    if not gains:
        return f"cost {number(cost)}"
    return f"gain {number(tuple(gains * x for x in cost) if isinstance(cost, tuple) else gains * cost)}"


def _quoted(said: str) -> str:
    """A Graphviz string: there a backslash starts an escape, and a line break is written as one."""
    written = said.replace("\\", "\\\\").replace('"', '\\"').replace("\r", "")
    lines = "\\n".join(map(visible, written.split("\n")))
    return f'"{lines}"'


_STYLE = (
    "font-family:system-ui,sans-serif;font-size:0.9em;border:1px solid #8886;border-radius:6px;"
    "padding:0.5em 0.8em;margin:0.4em 0;display:inline-block"
)
MOST_SHOWN = 200
"""Lines of a tree, or points of a front, in a notebook."""


def tree_html(tree: Tree, verdict: str = "") -> str:
    """The tree as HTML that needs nothing else; `verdict`: a line above it."""
    said = f"<div><b>{escaped(verdict)}</b></div>" if verdict else ""
    lines = tree.to_text().split("\n")
    shown = [size_text(tree), *lines[:MOST_SHOWN], *(["..."] if len(lines) > MOST_SHOWN else [])]
    return f'<div class="streed-tree" style="{_STYLE}">{said}<pre>{"<br>".join(map(escaped, shown))}</pre></div>'
