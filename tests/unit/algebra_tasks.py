"""Tasks of every kind that compositions are tried on, and small data for them."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np
from hypothesis import strategies as st

from streed.data import Dataset
from streed.reference import Evaluation, every_tree
from streed.task import COMPONENTWISE, State, Task
from streed.tasks import (
    Misclassifications,
    Splits,
)
from streed.tree import Leaf, Node

if TYPE_CHECKING:
    from streed.exact import Array


@final
@attrs.frozen
class Spread(Task):
    """The sum over leaves of (positives * negatives), whatever the label; shows the share of positives."""

    any_label: ClassVar[bool] = True
    worsening: ClassVar[bool] = True
    superadditive: ClassVar[bool] = True

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"positive": data.class_numbers, "negative": 1 - data.class_numbers}

    def labels(self, data: Dataset) -> tuple[str]:
        return ("share",)

    def leaf_cost(self, s: State, k: int) -> Any:
        return s.positive * s.negative

    def leaf_label(self, s: State, k: int) -> Any:
        return Fraction(s.positive, s.positive + s.negative)

    def lower_bound(self, s: State) -> Any:
        return 0

    def worst_per_row(self, data: Dataset) -> Array:
        return np.full(data.n_rows, float(data.n_rows))


@final
@attrs.frozen
class WorstLeaf(Task):
    """The most errors in one leaf."""

    worsening: ClassVar[bool] = True

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return Misclassifications().statistics(data)

    def leaf_cost(self, s: State, k: int) -> Any:
        return s.cost[k]

    def combine(self, a: Any, b: Any) -> Any:
        return max(a, b)


@final
@attrs.frozen
class Gain(Task):
    """1 for every row with the label 1 whose class is 1, -1 for other rows with the label 1, and 0.5 for a split."""

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"gain": 2 * data.class_numbers - 1}

    def leaf_cost(self, s: State, k: int) -> Any:
        return s.gain * k

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return -0.5


@final
@attrs.frozen
class Pairs(Task):
    order: ClassVar[str] = COMPONENTWISE

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"y": data.class_numbers}

    def leaf_cost(self, s: State, k: int) -> Any:
        return (s.y, s.rows)


X = [[0, 0], [0, 1], [1, 0], [1, 1], [0, 1], [1, 1], [0, 0]]


Y = [0, 1, 1, 0, 1, 1, 1]


def some_data() -> Dataset:
    return Dataset.make(X, Y)


@st.composite
def data_sets(draw: st.DrawFn) -> Dataset:
    n = draw(st.integers(2, 7))
    bits = st.lists(st.integers(0, 1), min_size=2, max_size=2)
    rows = draw(st.lists(bits, min_size=n, max_size=n))
    y = [0, 1, *draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))]
    weights = draw(st.none() | st.lists(st.sampled_from((0.5, 1, 2)), min_size=n, max_size=n))
    return Dataset.make(rows, y, sample_weight=weights)


def values(task: Task, data: Dataset) -> list[Any]:
    """The task's value of every tree of depth two."""
    evaluation = Evaluation(task, data)
    trees = every_tree(Splits(), data, max_depth=2)
    return [evaluation.cost(unlabelled(tree) if len(evaluation.labels) == 1 else tree) for tree in trees]


def unlabelled(node: Node) -> Node:
    """The tree with the one label of tasks that do not care."""
    if isinstance(node, Leaf):
        return attrs.evolve(node, label=0)
    return attrs.evolve(node, children=tuple(map(unlabelled, node.children)))


def most(task: Any, limit: Any) -> Any:
    """task <= limit; mypy takes attrs classes to be ordered."""
    return task <= limit


@final
@attrs.frozen
class Largest(Task):
    """The largest number of rows in a leaf, larger being better."""

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {}

    def leaf_cost(self, s: State, k: int) -> Any:
        return s.rows

    def combine(self, a: Any, b: Any) -> Any:
        return max(a, b)

    def better(self, a: Any, b: Any) -> bool:
        return bool(a > b)
