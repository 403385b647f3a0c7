"""Raw numbers with ties and gaps under tasks of all kinds: the solver against every tree, or against the recursion.

Every other problem is taken by the search over thresholds, however few there are. Trees are also sent the raw rows one
by one, by rules that are written here once more, and must come back from a file as they were.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, final
from unittest import mock

import attrs
import numpy as np

import streed
from streed.data import Dataset
from streed.errors import InputError
from streed.exact import Array
from streed.ordered import search as by_thresholds
from streed.reference import best_trees
from streed.task import State, Task
from streed.tasks import (
    F1,
    Accuracy,
    BalancedAccuracy,
    CostSensitive,
    DemographicParity,
    Entropy,
    Gini,
    InstanceCosts,
    MinSupport,
    MisclassificationCosts,
    Misclassifications,
    Splits,
    SquaredError,
)
from streed.tasks.cost_tables import CostTable, TestCost
from streed.tree import Branch, Leaf, Tree
from tests.differential.volume.judge import judge as judge_answer

NAN, INF = math.nan, math.inf

_MOST_WORK = 3_000
"""Trees of depth two, about, that are enumerated; instances of more are judged by the recursion."""


@final
@attrs.frozen
class OwnMajority(Task):
    """A user's errors of the majority, of which kernels are generated, with what a row costs at worst."""

    any_label: ClassVar[bool] = True

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"of": (data.class_numbers[:, None] == np.arange(data.n_classes)).astype(np.int64)}

    def leaf_cost(self, s: State, k: int) -> Any:
        return sum(s.of) - max(s.of)

    def worst_per_row(self, data: Dataset) -> Array:
        return np.ones(data.n_rows)


@attrs.frozen(eq=False)
class Instance:
    """One call of `streed.solve`."""

    kind: str
    task: Task
    table: dict[str, list[Any]]
    y: list[Any]
    arguments: dict[str, Any]
    limits: dict[str, Any]
    search: str

    def data(self) -> Dataset:
        """The data that the reference judges by."""
        return Dataset.make(self.table, self.y, **self.arguments)


Draw = random.Random


def _matrix(draw: Draw, k: int) -> CostTable:
    return CostTable(tuple(tuple(0 if i == j else draw.choice((1, 2, 5)) for j in range(k)) for i in range(k)))


def _tested(draw: Draw, k: int) -> CostTable:
    price = draw.choice((0.02, 0.1, 0.5))
    return CostTable(
        _matrix(draw, k).matrix, (TestCost("n0", price, price / 2, "g"), TestCost("n1", price, price, "g"))
    )


TASKS: dict[str, Callable[[Draw, int], Task]] = {
    "errors": lambda draw, k: Misclassifications(),
    "accuracy": lambda draw, k: Accuracy(),
    "price": lambda draw, k: Misclassifications() + draw.choice((0.3, 0.5, 1)) * Splits(),
    "support": lambda draw, k: Misclassifications().subject_to(MinSupport(draw.randint(2, 3))),
    "costs": lambda draw, k: MisclassificationCosts(_matrix(draw, k)),
    "tests": lambda draw, k: CostSensitive(_tested(draw, k)),
    "instance costs": lambda draw, k: InstanceCosts(),
    "balanced": lambda draw, k: BalancedAccuracy(),
    "squared error": lambda draw, k: SquaredError(),
    "F1": lambda draw, k: F1(),
    "parity": lambda draw, k: Misclassifications().subject_to(DemographicParity() <= draw.choice((0, 0.1, 0.3))),
    "own majority": lambda draw, k: OwnMajority(),
    "gini": lambda draw, k: Gini(),
    "entropy": lambda draw, k: Entropy(),
    "own price": lambda draw, k: OwnMajority() + draw.choice((0.3, 0.5, 1)) * Splits(),
}

_PRICED = ("price", "own price")

_TWO_LABELS = ("F1", "parity")
_UNWEIGHTED = ("tests",)
_SEARCHES = ("depth-first", "depth-first", "branches", "auto", "general")


def make_instance(seed: int, number: int) -> Instance:
    """The instance that belongs to these numbers."""
    draw = random.Random(f"{seed}/{number}")
    kind = list(TASKS)[number % len(TASKS)]
    depth = draw.choice((1, 2, 2, 3))
    n = draw.randint(3, 14 if depth < 3 else 10)
    labels = 2 if kind in _TWO_LABELS else draw.randint(2, min(5, n))
    table: dict[str, list[Any]] = {f"n{j}": _column(draw, n, depth) for j in range(draw.randint(1, 2))}
    if draw.random() < 0.3:
        table["flag"] = [draw.randint(0, 1) for _ in range(n)]
    if draw.random() < 0.15:
        table["city"] = [draw.choice("abc") for _ in range(n)]
    table.setdefault("n1", [0, *(draw.randint(0, 1) for _ in range(n - 1))])
    y: list[Any] = [*range(labels), *(draw.randrange(labels) for _ in range(n - labels))]
    draw.shuffle(y)
    if kind == "squared error":
        y = [draw.choice((0.5, 1.0, 2.5, -1.0, 3.0)) for _ in y]
    arguments: dict[str, Any] = {}
    if kind not in _UNWEIGHTED and draw.random() < 0.3:
        arguments["sample_weight"] = [draw.choice((1, 1, 2, 0.5)) for _ in y]
    if draw.random() < 0.2:
        arguments["frequency"] = [draw.choice((1, 1, 2, 3)) for _ in y]
    if draw.random() < 0.15:
        arguments["max_cuts"] = draw.randint(1, 3)
    if kind == "instance costs":
        arguments["costs"] = [[draw.randint(0, 4) for _ in range(labels)] for _ in y]
    if kind == "parity":
        arguments["sensitive_features"] = ["a", "b", *(draw.choice("ab") for _ in y[2:])]
    limits: dict[str, Any] = {
        "max_depth": depth,
        "max_nodes": draw.choice((None, None, None, 1, 2, 3)),
        "min_leaf": draw.choice((1, 1, 1, 2, 3)),
    }
    if kind in _PRICED and draw.random() < 0.5:
        limits["max_depth"] = None
    search = draw.choice(_SEARCHES)
    if search == "branches" and kind in ("F1", "parity"):
        search = "depth-first"
    return Instance(kind, TASKS[kind](draw, labels), table, y, arguments, limits, search)


def _column(draw: Draw, n: int, depth: int) -> list[Any]:
    """Numbers with ties, of one of the kinds that are hard to tell apart, with gaps in some of them."""
    pools: tuple[Sequence[Any], ...] = (
        [0.5, 1.5, 2.5, 7.0],
        [1, 2, 3, 10, 11],
        [0.0, -0.0, 5e-324, -5e-324],
        [1.0, math.nextafter(1, 2), math.nextafter(1, 0), 2.0],
        [INF, -INF, 0.0, 1e308, -1e308],
        [2**53, 2**53 + 1, 2**53 + 2, 5],
        [0.1, 0.2, 0.30000000000000004, 0.3],
        [float(np.float32(0.1)), 0.1, float(np.float32(0.3)), 0.3],
    )
    pool = draw.choice(pools)[: draw.randint(2, 5 if depth < 3 else 4)]
    gaps = draw.choice((0.0, 0.0, 0.0, 0.2, 0.5))
    column = [None if draw.random() < gaps else draw.choice(pool) for _ in range(n)]
    if draw.random() < 0.3 and not any(isinstance(value, int) for value in column):
        return [NAN if value is None else value for value in column]
    return column


def judge(instance: Instance) -> list[str]:
    """What is wrong with it in words."""
    task, data, limits = instance.task, instance.data(), instance.limits
    try:
        result = streed.solve(task, instance.table, instance.y, **instance.arguments, **limits, search=instance.search)
    except InputError as error:
        return [] if error.argument in ("min_leaf", "sensitive_features") else [str(error)]
    little = _is_little(task, data, limits["max_depth"])
    values = [value for value, _ in best_trees(task, data, **limits)] if little else None
    verdict = judge_answer(result, task, data, limits, values=values)
    return [*verdict.wrong, *(_wrong_with(result.tree, instance) if result.tree is not None else [])]


def _is_little(task: Task, data: Dataset, depth: int | None) -> bool:
    """Whether all trees can be tried."""
    splits, labels = data.n_questions, len(task.bind(data).labels(data))
    trees = splits * labels**2 if depth == 1 else splits**3 * labels**4 / 4
    return depth is not None and depth <= 2 and trees <= _MOST_WORK


def _wrong_with(tree: Tree, instance: Instance) -> list[str]:
    """What is wrong with the tree as a function of raw rows, and with its file."""
    wrong = []
    names = list(instance.table)
    rows = [dict(zip(names, values, strict=True)) for values in zip(*instance.table.values(), strict=True)]
    expected = [tree.shows()[leaf_of(tree, row)] for row in rows]
    for what, X in (("table", instance.table), ("data", instance.data())):
        if what == "data" and instance.data().n_rows < len(rows):
            continue
        found = tree.predict(X).tolist()
        if found != expected:
            wrong.append(f"predicts {found} on the {what}, and {expected} row by row")
    again = Tree.from_json(tree.to_json())
    if again != tree or again.predict(instance.table).tolist() != expected:
        wrong.append("comes back from its file as another tree")
    return wrong


def leaf_of(tree: Tree, row: dict[str, Any]) -> int:
    """The number of the leaf of a raw row, by the rules that the documentation tells."""
    number, node = 0, tree.root
    while isinstance(node, Branch):
        column, value = tree.columns[node.column], row[tree.columns[node.column].name]
        if node.cut is None:
            child = column.categories.index(value)
        elif value is None or value != value:
            child = node.cut.gaps
        else:
            child = 0 if node.cut.threshold is None else int(not value <= node.cut.threshold)
        number += sum(_count(each) for each in node.children[:child])
        node = node.children[child]
    return number


def _count(node: Branch | Leaf) -> int:
    return sum(map(_count, node.children)) if isinstance(node, Branch) else 1


def wrong(seed: int, number: int) -> list[str]:
    """What is wrong with the answer to one instance."""
    with mock.patch.object(by_thresholds, "FEW", -1 if number // len(TASKS) % 2 == 0 else by_thresholds.FEW):
        return judge(make_instance(seed, number))
