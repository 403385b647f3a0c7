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
from streed.tree.nodes import Branch, Claims, FlatBranch, Leaf, Node, TreeRows, flatten, nest, walk, worth

__all__ = ["Branch", "Claims", "FlatBranch", "Leaf", "Node", "Tree", "flatten", "nest", "walk", "worth"]


def _plain_shown(shown: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
    """What leaves show as Python has it: numbers of numpy and fractions as ints and floats."""
    if shown is None:
        return None
    single = (x.item() if getattr(x, "ndim", None) == 0 and x.dtype.kind in "biufU" else x for x in shown)
    return tuple(float(x) if isinstance(x, Fraction) else x for x in single)


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
        unit: Fraction | int = 1,
        shown: tuple[Any, ...] | None = None,
        claims: Claims | None = None,
    ) -> Tree:
        """The tree of `root`, whose branches name columns of `data`; labels are the classes unless given."""
        columns = {j: data.column(j) for j in nodes.used_columns(root)}
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
        rows = TreeRows.of(X, self.columns, self.n_columns, self.recipe)
        return nodes.route(self.root, rows.sides, rows.n_rows)

    # -- forms -----------------------------------------------------------------------------------------------------

    def to_text(self, *, collapse: bool = False) -> str:
        """The tree as text, one node a line, children below their question; control characters are shown as signs.

        `collapse`: equal children of a branch are one, with the rows and costs of all; alone it needs no question.
        """
        shows = iter(self.shows())
        flat = flatten(self.root)
        shown = nest([attrs.evolve(x, label=next(shows)) if isinstance(x, Leaf) else x for x in flat])
        lines: list[str] = []
        stack: list[tuple[Node, str, str, str]] = [(shown, "", "", "")]
        while stack:
            node, lead, indent, answer = stack.pop()
            if isinstance(node, Leaf):
                lines.append(lead + visible(f"{answer}{_leaf(self, node, node.label)}"))
                continue
            column = self.columns[node.column]
            said = answers(column, node.cut)
            children: list[tuple[Any, str]] = list(zip(node.children, said, strict=True))
            if collapse:
                children = _together(children)
                if len(children) == 1:
                    stack.append((children[0][0], lead, indent, answer))
                    continue
            lines.append(lead + visible(f"{answer}{question(column, node.cut)}"))
            last = len(children) - 1
            below = [
                (child, indent + "├└"[at == last] + "── ", indent + "│ "[at == last] + "   ", f"{each}: ")
                for at, (child, each) in enumerate(children)
            ]
            stack.extend(reversed(below))
        if self.positive is not None:
            lines.append(visible(f"positive class: {written(self.positive)}"))
        return "\n".join(lines)

    def to_dot(self) -> str:
        """The tree in Graphviz's language: boxes for leaves, edges labelled with the answers."""
        shows = iter(self.shows())
        lines = ["digraph tree {", '  node [fontname="Helvetica"];', '  edge [fontname="Helvetica"];']
        for place, node in enumerate(flatten(self.root)):
            if isinstance(node, Leaf):
                lines.append(f"  n{place} [shape=box, label={_quoted(_leaf(self, node, next(shows)))}];")
                continue
            column, cut = self.columns[node.column], node.cut
            lines.append(f"  n{place} [shape=ellipse, label={_quoted(question(column, cut))}];")
            edges = zip(node.children, answers(column, cut), strict=True)
            lines += [f"  n{place} -> n{child} [label={_quoted(said)}];" for child, said in edges]
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
            and nodes.same(self.root, other.root, self.unit, other.unit)
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


def _together(children: list[tuple[Node, str]]) -> list[tuple[Node, str]]:
    """The children of a branch and their answers, those that ask and show the same as one with the rows of all."""
    alike: dict[str, list[tuple[Any, str]]] = {}
    for child, answer in children:
        flat = flatten(child)
        asked = [x.label if isinstance(x, Leaf) else attrs.evolve(x, rows=0) for x in flat]
        alike.setdefault(repr(asked), []).append((flat, answer))
    return [(_added([flat for flat, _ in each]), " or ".join(said for _, said in each)) for each in alike.values()]


def _added(flat: list[Any]) -> Node:
    """Equal nodes, as `flatten` gives each of them, as one with the rows and costs of all."""
    made = []
    for alike in zip(*flat, strict=True):
        first, several = alike[0], {"rows": sum(each.rows for each in alike)}
        if isinstance(first, Leaf):
            costs = [each.cost for each in alike]
            several["cost"] = tuple(map(sum, zip(*costs, strict=True))) if isinstance(first.cost, tuple) else sum(costs)
        made.append(attrs.evolve(first, **several))
    return nest(made)


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


def _leaf(tree: Tree, leaf: Leaf, shown: Any) -> str:
    rows = "1 row" if leaf.rows == 1 else f"{leaf.rows} rows"
    said = number(shown) if tree.shown is not None else written(shown)
    return f"{said} ({rows}, {worth_text(tree, worth(tree.unit, leaf.cost))})"


def worth_text(tree: Tree, cost: Any) -> str:
    """What a leaf costs, or gains where that is what the tree was grown for: `cost 3`, `gain 4`."""
    gains = 0 if tree.claims is None else tree.claims.gains
    return f"gain {number(worth(gains, cost))}" if gains else f"cost {number(cost)}"


def _quoted(said: str) -> str:
    """A Graphviz string: there a backslash starts an escape, and a line break is written as one."""
    written = said.replace("\\", "\\\\").replace('"', '\\"').replace("\r", "")
    lines = "\\n".join(map(visible, written.split("\n")))
    return f'"{lines}"'


_STYLE = (
    "font-family:system-ui,sans-serif;font-size:0.9em;border:1px solid #8886;border-radius:6px;"
    "padding:0.5em 0.8em;margin:0.4em 0;display:inline-block"
)
_MOST = 200  # lines of a tree, or points of a front, that are shown


def tree_html(tree: Tree, verdict: str = "") -> str:
    """The tree as HTML that needs nothing else; `verdict`: a line of HTML above it."""
    said = f"<div><b>{verdict}</b></div>" if verdict else ""
    lines = tree.to_text().split("\n")
    shown = [size_text(tree), *lines[:_MOST], *(["..."] if len(lines) > _MOST else [])]
    return f'<div class="streed-tree" style="{_STYLE}">{said}<pre>{"<br>".join(map(escaped, shown))}</pre></div>'


def verdict_html(value: Any, optimal: bool, lower: Any, upper: Any, gap: Any, *, unit: str, over: str) -> str:
    """How far a value is proved, and among which splits (`over`), as a line of HTML."""
    shown, among = escaped(f"{number(value)} {unit}"), f"; over {escaped(over)}" if over else ""
    if optimal:
        return f"&#10003; proved optimal: value {shown}{among}"
    known = "unknown" if gap is None else escaped(number(gap))
    bounds = " to ".join("?" if bound is None else number(bound) for bound in (lower, upper))
    return f"&#9888; stopped early: value {shown}, the optimum lies in {escaped(bounds)} (gap {known}){among}"


def front_html(front: Sequence[tuple[Any, Tree]]) -> str:
    """The values of a front and the sizes of their trees, as a table."""
    cells = [(escaped(number(value)), escaped(size_text(tree))) for value, tree in front[:_MOST]]
    lines = "".join(f"<tr><td>{value}</td><td>{size}</td></tr>" for value, size in cells)
    rest = f"<tr><td>... ({len(front):,})</td><td></td></tr>" if len(front) > _MOST else ""
    head = "<tr><th>value</th><th>tree</th></tr>"
    return f'<table class="streed-front"><caption>nondominated</caption>{head}{lines}{rest}</table>'


def extent_text(extent: str, bound: Any, maximize: bool) -> str:
    """Among which splits a tree is the best, and what no tree over all thresholds is better than, if that is known."""
    if bound is None:
        return extent
    return f"{extent}; no tree over all thresholds is worth {'more' if maximize else 'less'} than {number(bound)}"
