"""A case: a task bound to a small data set that is drawn, and what laws ask of it, in words that its author knows."""

from __future__ import annotations

import functools
import itertools
import math
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, final

import attrs
import numpy as np
from hypothesis import strategies as st

from streed.data import Dataset
from streed.exact import close
from streed.reference import (
    Evaluation,
    OptimizationTask,
    Recursion,
    S,
    Split,
    children,
    context_independent,
    every_split,
    width,
)
from streed.task import TOTAL, State, Task, Value
from streed.tree import Branch, Leaf, Node, question

MAX_ROWS = 8

_LABELS = (0, 1, 2)


Tag = tuple[int, int]
"""What laws do with a row: the side of a split that it goes to, and by bits the sets of rows that it belongs to."""

_TAG = st.integers(0, 32).map(lambda bits: divmod(bits - 1, 8) if bits else None)  # None: it is left out


@st.composite
def datasets(
    draw: st.DrawFn,
    *,
    max_rows: int = MAX_ROWS,
    max_columns: int = 2,
    y: st.SearchStrategy[Any] | None = None,
    weights: bool = True,
    multiway: bool = True,
    row_data: Mapping[str, st.SearchStrategy[Any]] | None = None,
    few_kinds: bool = False,
) -> Dataset:
    """Data of 1 to `max_rows` rows and up to `max_columns` columns; contradictory rows are common.

    `y`: the labels of single rows (default: 0, 1 and 2). `weights`: whether some data sets have row weights.
    `multiway`: whether some have a column of three categories. `row_data`: by name, the strategy of a single row's
    entry, such as `{"treated": st.booleans()}`. `few_kinds`: all have the same labels, and weights or three categories
    but not both, because the engine compiles the costs of a task for every kind of data.
    """
    entries = dict(row_data or {})
    widths = [2] * draw(st.integers(1, max_columns))
    kind = draw(st.integers(0, 11))
    if multiway and kind >= 9:
        widths[-1] = 3
    weighted = weights and (4 <= kind <= 7 if few_kinds else kind % 3 == 2)
    # All codes of a row are one choice: fewer choices are quicker drawn, and rows are easier dropped.
    fields = [st.integers(0, math.prod(widths) - 1), st.sampled_from(_LABELS) if y is None else y]
    fields += [st.sampled_from((1, 2, 0, 0.5))] if weighted else []
    rows = draw(st.lists(st.tuples(*fields, *entries.values()), min_size=1, max_size=max_rows))
    n, absent = len(rows), _LABELS if few_kinds and y is None else ()
    rows += [(rows[0][0], label, *rows[0][2:]) for label in absent]
    given: dict[str, Any] = {name: [row[place] for row in rows] for place, name in enumerate(entries, len(fields))}
    if weighted:
        given["sample_weight"] = [row[2] for row in rows]
        if not any(given["sample_weight"]):
            given["sample_weight"][0] = 1
    codes = np.stack(np.unravel_index([row[0] for row in rows], widths, order="F"), axis=1).astype(np.uint8)
    multi = [len(widths) - 1] if widths[-1] == 3 else []
    return Dataset.make(codes, [row[1] for row in rows], categorical=multi, **given).subset(range(n))


Tagged = tuple[Dataset, list[Tag], bool]
"""Data, a tag for every row, and whether no row was left out."""


@st.composite
def tagged(draw: st.DrawFn, data: st.SearchStrategy[Dataset]) -> Tagged:
    """Data of any strategy with tags; rows may be left out, so that counterexamples have none that they do not need."""
    made = draw(data)
    tags = draw(st.lists(_TAG, min_size=made.n_rows, max_size=made.n_rows))
    kept = [row for row, tag in enumerate(tags) if tag is not None] or [0]
    whole = len(kept) == len(tags) or not (
        made.weights is None or made.weights[kept].any()
    )  # some row weighs something
    if not whole:
        made, tags = made.subset(kept), [tags[row] for row in kept]
    return made, [tag or (0, 0) for tag in tags], whole


LARGE = 64
"""Most rows of large data, which are few rows repeated: what holds of few may fail of many."""


@st.composite
def repeated(draw: st.DrawFn, source: st.SearchStrategy[Tagged]) -> Tagged:
    """Data with tags, its rows repeated until there are up to `LARGE`."""
    data, tags, whole = draw(source)
    times = draw(st.integers(1, -(-LARGE // data.n_rows)))
    return data.subset(list(range(data.n_rows)) * times), tags * times, whole


@st.composite
def subsets(draw: st.DrawFn, data: Dataset) -> Dataset:
    """Some rows of the data, up to `MAX_ROWS` of them."""
    return data.subset(draw(st.lists(st.integers(0, data.n_rows - 1), min_size=1, max_size=MAX_ROWS, unique=True)))


def parting(data: Dataset, rows: Sequence[int]) -> list[tuple[Split, list[list[int]]]]:
    """The splits that part the rows, each with the rows of its children."""
    found = []
    for split in every_split(data):
        child_of, count = children(data, split), width(data, split.column)
        parts = [[row for row in rows if child_of[row] == child] for child in range(count)]
        found += [(split, parts)] if sum(map(bool, parts)) > 1 else []
    return found


@st.composite
def trees(draw: st.DrawFn, data: Dataset, n_labels: int, *, rows: list[int] | None = None, max_depth: int = 2) -> Node:
    """Trees on the rows (default: all), of which every split separates some; leaves carry no costs."""
    rows = list(range(data.n_rows)) if rows is None else rows
    splits = parting(data, rows) if max_depth > 0 else []
    choice = draw(st.integers(0, n_labels + len(splits) - 1))
    if choice < n_labels:
        return Leaf(choice, len(rows), 0)
    split, parts = splits[choice - n_labels]
    below = [trees(data, n_labels, rows=part, max_depth=max_depth - 1) if part else None for part in parts]
    nodes = tuple(Leaf(0, 0, 0) if each is None else draw(each) for each in below)
    return Branch(split.column, nodes, len(rows), split.cut)


@st.composite
def states(draw: st.DrawFn, task: Task, data: Dataset) -> State:
    """The states of some rows, at least one, of a task on a data set; the task need not be bound."""
    rows = draw(st.lists(st.integers(0, data.n_rows - 1), min_size=1, unique=True))
    return Evaluation(task, data).state(sorted(rows))


@st.composite
def values(draw: st.DrawFn, task: Task, data: Dataset, *, max_depth: int = 2) -> Value:
    """Values that the task reaches: those of trees on some of the rows."""
    evaluation = Evaluation(task, data)
    rows = sorted(draw(st.lists(st.integers(0, data.n_rows - 1), min_size=1, unique=True)))
    tree = draw(trees(data, len(evaluation.labels), rows=rows, max_depth=max_depth))
    return evaluation.cost(tree, rows)


Draw = Callable[[st.SearchStrategy[Any]], Any]
"""Hypothesis' way to choose a value of a strategy."""


class Violation(Exception):
    """A law does not hold: what happened, and the facts that show it, as pairs of a name and a text."""

    def __init__(self, headline: str, *facts: tuple[str, str]) -> None:
        super().__init__(headline)
        self.headline = headline
        self.facts = facts


@attrs.frozen(eq=False)
class Reached:
    """A value that the task reaches, and how: by a tree on some rows, or by a branching node."""

    value: Value
    how: Callable[[], str]

    def __str__(self) -> str:
        return f"{show(self.value)}, {self.how()}"


@final
class Case(Evaluation):
    """A task on one data set with a tag for every row. `draw` is Hypothesis' way to choose."""

    def __init__(self, task: Task, data: Dataset, tags: Sequence[Tag], draw: Draw) -> None:
        super().__init__(task, data)
        self.tags, self.draw = tags, draw
        self._sets = 0

    def leaf_cost(self, rows: Sequence[int], k: int) -> Value:
        return self.task.leaf_cost(self.state(rows), k)

    def least_cost(self, rows: Sequence[int]) -> Value:
        """g*(s), the best cost of a leaf with these rows."""
        costs = [self.leaf_cost(rows, k) for k in range(len(self.labels))]
        return functools.reduce(lambda a, b: b if self.task.better(b, a) else a, costs)

    def beats(self, a: Value, b: Value) -> bool:
        """Whether a is better than b by more than rounding."""
        return bool(self.task.better(a, b)) and not close(a, b)

    def ties(self, a: Value, b: Value) -> bool:
        """Whether a and b are equally good: equal, or, where the order is total, neither is better."""
        neither = self.task.order == TOTAL and not self.task.better(a, b) and not self.task.better(b, a)
        return neither or close(a, b)

    # -- what is drawn ---------------------------------------------------------------------------------------------

    def sides(self, count: int) -> list[list[int]] | None:
        """`count` disjoint sets of rows, up to three, none empty; None where the data has too few rows."""
        if self.data.n_rows < count:
            return None
        sides: list[list[int]] = [[row] for row in range(count)]
        for row, (place, _) in enumerate(self.tags[count:], start=count):
            if place < 3:  # else it is on no side
                sides[place % count].append(row)
        return sides

    def rows(self) -> list[int]:
        """Some rows, at least one, in ascending order; other ones at the next call."""
        bit = 1 << self._sets % 3
        self._sets += 1
        return [row for row in self.root_rows if self.tags[row][1] & bit] or self.root_rows

    def draw_label(self) -> int:
        return int(self.draw(st.integers(0, len(self.labels) - 1)))

    def draw_path(self, rows: Sequence[int]) -> tuple[int, ...]:
        """Columns that may have been tested above these rows: some of those on which the rows agree."""
        agreed = sorted(set(range(self.data.n_columns)) - {split.column for split, _ in parting(self.data, rows)})
        if not agreed or context_independent(self.task):
            return ()
        return tuple(sorted(self.draw(st.sets(st.sampled_from(agreed)))))

    def reach(self, rows: list[int]) -> list[Reached]:
        """Values on these rows: of a leaf with every label, and of two trees that are drawn."""
        some = trees(self.data, len(self.labels), rows=rows)
        drawn = [self.draw(some) for _ in range(2 if parting(self.data, rows) else 0)]
        return self.leaves_at(rows) + [self._reached(node, rows) for node in drawn]

    def reach_all(self, rows: list[int], most: int) -> list[Reached]:
        """Different values on these rows, `most` at most: of every leaf and of every tree with one branching node."""
        n_labels = len(self.labels)
        nodes: list[Node] = [Leaf(k, len(rows), 0) for k in range(n_labels)]
        for split, parts in parting(self.data, rows):
            choices = [range(n_labels) if part else (0,) for part in parts]
            for labels in itertools.islice(itertools.product(*choices), 4 * most):
                leaves = tuple(Leaf(k, len(part), 0) for k, part in zip(labels, parts, strict=True))
                nodes.append(Branch(split.column, leaves, len(rows), split.cut))
        return distinct((self._reached(node, rows) for node in nodes), most)

    def leaves_at(self, rows: Sequence[int]) -> list[Reached]:
        """The values of a leaf with these rows."""
        return [self._reached(Leaf(k, len(rows), 0), list(rows)) for k in range(len(self.labels))]

    def reach_beside(self, side: list[int], rows: list[int]) -> list[Reached]:
        """What a value may be combined with: values on the rows of a sibling, and the branching cost above `rows`."""
        own: list[Reached] = []
        if self.data.n_columns:
            path, split = self.draw_path(rows), self.draw(st.integers(0, self.data.n_columns - 1))
            cost = self.task.branching_cost(len(rows), path, split)
            words = f"of branching_cost(rows={len(rows)}, path={path}, split={split})"
            own += [] if cost is None else [Reached(cost, lambda: words)]
        return self.reach(side) + own

    def _reached(self, tree: Node, rows: list[int]) -> Reached:
        value = self.cost(tree, rows)
        return Reached(value, lambda: f"of {self.tree_text(tree)} on {self.rows_text(rows)}")

    def best_values(self, rows: Sequence[int], path: tuple[int, ...]) -> list[tuple[Value, Node]]:
        """The values of the reference's optimal trees at this state, with those trees."""
        recursion = Recursion(OptimizationTask(self.given, self.data))
        s = S(sum(1 << row for row in rows), () if context_independent(self.task) else path)
        return [(solution.value, recursion.tree(solution, s)) for solution in recursion.T(s, None, None)]

    # -- words -----------------------------------------------------------------------------------------------------

    def rows_text(self, rows: Sequence[int]) -> str:
        return f"row {rows[0]}" if len(rows) == 1 else f"rows {', '.join(map(str, rows))}"

    def state_text(self, rows: Sequence[int]) -> str:
        return f"{show_state(self.state(rows))} of {self.rows_text(rows)}"

    def tree_text(self, node: Node) -> str:
        """A tree on one line: `leaf 'no'`, or `[x0: leaf 0 | leaf 1]` with the children in the order of the codes."""
        if isinstance(node, Leaf):
            return "leaf -" if node.rows == 0 else f"leaf {self.labels[node.label]!r}"
        asked = self.data.names[node.column] if node.cut is None else question(self.data.column(node.column), node.cut)
        return f"[{asked}: {' | '.join(map(self.tree_text, node.children))}]"


def distinct(found: Iterable[Reached], most: int) -> list[Reached]:
    """Those of different values, the first `most` of them."""
    kept: list[Reached] = []
    for reached in found:
        if len(kept) == most:
            break
        if not any(close(reached.value, other.value) for other in kept):
            kept.append(reached)
    return kept


def show(value: Value) -> str:
    """A value as a person writes it: fractions as 1/3."""
    if isinstance(value, tuple):
        return f"({', '.join(map(show, value))}{',' if len(value) == 1 else ''})"
    return str(value) if isinstance(value, numbers.Number) else repr(value)


def show_state(s: State) -> str:
    """A state with its sums."""
    sums = ((name, total) for name, total in vars(s).items() if isinstance(total, (numbers.Number, tuple)))
    return f"State({', '.join(f'{name}={show(total)}' for name, total in sums)})"


@attrs.frozen
class Law:
    """Something that holds for every separable task, or for every task that declares a certain fact."""

    name: str
    source: str
    """Where it is from: STreeD's number, or the contract of `streed.Task`."""
    says: str
    check: Callable[[Case], bool]
    """Draws what it needs, raises `Violation` where the law does not hold, and returns whether it was concerned."""
    unconcerned: str = "no data was drawn that the law is about"
    """Why the law says nothing about a task that it was never concerned with."""
    effort: float = 1
    """How many times as many data sets to try as of other laws."""
    max_rows: int | None = None
    """Most rows of a data set, where trees are enumerated."""
    needs_engine: bool = False
    """Whether it compiles."""
    after_all: bool = False
    """Whether it follows from the others, and is tried only on tasks that keep those."""


def law(name: str, source: str, *, sides: int = 0, **given: Any) -> Callable[[Callable[..., bool]], Law]:
    """The law that a function checks, which says its docstring; `sides`: it is given so many disjoint sets of rows."""

    def made(check: Callable[..., bool]) -> Law:
        @functools.wraps(check)
        def on_sides(case: Case) -> bool:
            found = case.sides(sides)
            return found is not None and check(case, found)

        return Law(name, source, check.__doc__ or "", on_sides if sides else check, **given)

    return made
