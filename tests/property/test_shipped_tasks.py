"""Every task that ships is separable, as far as the kit can tell, and what it declares holds whatever rows weigh.

A new task is tried without a line here. The recursion, by which tasks are judged, finds what trying every tree finds.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streed import registry
from streed.data import Dataset
from streed.reference import Evaluation, best_trees, every_tree, optimal_front, optimum
from streed.task import Task
from streed.task.bounded_sums import SumTask
from streed.tasks import (
    Accuracy,
    BalancedAccuracy,
    CostSensitive,
    Entropy,
    Gini,
    MinSupport,
    Misclassifications,
    PessimisticError,
    SparseAccuracy,
    Splits,
    WeightedAccuracy,
)
from streed.testing import LAWS, check_separable, datasets, find_violations
from streed.tree import Branch, Leaf
from streed.tree.evaluation import check_declarations
from tests import shipped
from tests.unusual_tasks import Discounted, ErrorsByClass, WorstLeaf

FEW, MORE = 3, 6
"""Data sets that every law is tried on, at first and where much is compiled; many more laws than data find a fault."""


SHIPPED = shipped.of_any_data(Task)

ROW_DATA: dict[str, st.SearchStrategy[Any]] = {}
"""What single rows have, by the names that tasks ask for."""

ENGINE_LAWS = tuple(law for law in LAWS if law.needs_engine)

ONE_KIND = datasets(weights=False, multiway=False, row_data=ROW_DATA, few_kinds=True)
"""Data for which the engine compiles the costs of a task once."""

OF_EACH_KIND = ("accuracy", "absolute-error")
"""Tasks by each of the ways that the engine has, beside gini, whose kernels are compiled for it."""

COMPOSED = {
    "a sum": Misclassifications() + 0.3 * Splits(),
    "under a limit": Accuracy().subject_to(MinSupport(2)),
    "weighted": WeightedAccuracy({0: 2, 1: 0}),
}


def _quick_first() -> list[Any]:
    """(task, data sets): some of each kind at once, every one where much is compiled; most scores in the long run."""
    quick = ("accuracy", "f1", "lexicographic", "splits", "squared-error")
    made = [pytest.param(SHIPPED[name], FEW, id=f"{name}-{FEW}") for name in quick]
    for e in SHIPPED.values():
        is_long = issubclass(e.made_by, SumTask) and e.name not in quick
        mark = pytest.mark.slow if is_long else pytest.mark.compiles
        made.append(pytest.param(e, MORE, marks=mark, id=f"{e.name}-{MORE}"))
    return made


@pytest.mark.parametrize(("entry", "examples"), _quick_first())
def test_every_task_that_ships_is_separable(entry: registry.Entry, examples: int) -> None:
    task = shipped.examples(entry.name)[0]
    if isinstance(task, SumTask):  # a score of two classes: there is no such thing on data of one or three
        assert check_separable(task, y=st.integers(0, 1), max_examples=examples, drivers=False).holds
        return
    report = check_separable(task, row_data=ROW_DATA, max_examples=examples, drivers=False)
    assert report["recursion equals enumeration"].examples > 0


def _with_engine() -> list[Any]:
    """The tasks whose costs the engine searches; those of which there is one like it here are for the long run."""
    entries = [entry for entry in SHIPPED.values() if not issubclass(entry.made_by, SumTask)]
    marks = dict.fromkeys(OF_EACH_KIND, ()) | {"gini": pytest.mark.compiles}
    return [pytest.param(e, marks=marks.get(e.name, pytest.mark.slow), id=e.name) for e in entries]


@pytest.mark.parametrize("entry", _with_engine())
def test_the_engine_agrees_on_every_task_that_ships(entry: registry.Entry) -> None:
    task = shipped.examples(entry.name)[0]
    engine = find_violations(task, ENGINE_LAWS, data=ONE_KIND, max_examples=20)
    assert engine.holds, engine
    assert engine["drivers equal recursion"].examples > 0 or "refuses it" in engine["drivers equal recursion"].note


@pytest.mark.parametrize("examples", [FEW, pytest.param(MORE, marks=pytest.mark.compiles)])
@pytest.mark.parametrize("name", COMPOSED)
def test_compositions_are_separable(name: str, examples: int) -> None:
    task = COMPOSED[name]
    y = st.integers(0, 1)
    if name == "weighted":  # it refuses data without its classes
        report = check_separable(task, data=_both_classes, max_examples=examples)
    else:
        report = check_separable(task, y=y, max_examples=examples)
    assert report["drivers equal recursion"].verdict == "holds"


def _both_classes(draw: Any) -> Any:
    more = draw(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), max_size=6))
    rows = [(0, 0), (0, 1), *more]
    return Dataset.make([[x] for x, _ in rows], [label for _, label in rows])


QUICK = ("cost-sensitive", "relative-risk")
"""One by prices, one by a kernel of its own; the rest is for the long run."""


def test_data_are_drawn_for_tasks_that_ship() -> None:
    assert set(shipped.DATA) <= set(registry.tasks())


NAMES = [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in sorted(shipped.DATA)]


@pytest.mark.parametrize("name", NAMES)
def test_every_application_is_separable(name: str) -> None:
    task, data = shipped.examples(name)[0], shipped.DATA[name]
    laws = tuple(law for law in LAWS if not law.needs_engine)
    report = find_violations(task, laws, data=data, max_examples=8 if name in QUICK else 20)
    assert report.holds, report
    assert report["recursion equals enumeration"].examples > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(shipped.DATA))
def test_the_engine_agrees_on_every_application(name: str) -> None:
    task, data = shipped.examples(name)[0], shipped.DATA[name]
    report = find_violations(task, ENGINE_LAWS, data=data, max_examples=20)
    assert report.holds, report
    assert report["drivers equal recursion"].examples > 0


KINDS = (
    (0.25, 1),
    (0.01, 0.5, 0.75, 1.25),
    (0, 0.3, 1),
    (0, 1e-9, 1),
    (1e6, 1e9, 2**40),
    (0, 0.1, 1, 50, 1e9),
    (1, 2, 3, 0),
    None,
)
"""Weights of the rows of one data set."""

SUMS = (Misclassifications() + 0.5 * Gini(), Gini() + 0.25 * Splits(), PessimisticError(0.001) + 0.5 * Entropy())

ELSEWHERE = ("policy-value", "lexicographic", "monotone-errors", "class-errors")
"""Tasks of past treatments, of whole weights, and whose labels or fronts depend on each other."""

DECLARING = [
    *(task for name, entry in registry.tasks().items() for task in shipped.examples(name)
      if name not in ELSEWHERE and not issubclass(entry.made_by, SumTask)),
    *SUMS,
]  # fmt: skip


def data_sets(task: Task) -> Iterator[Dataset]:
    """Small data that the task accepts."""
    rng = np.random.default_rng(zlib.crc32(repr(task).encode()))
    for number in range(16):
        n = int(rng.integers(2, 6))
        kind = None if isinstance(task, CostSensitive) else KINDS[number % len(KINDS)]
        weights = None if kind is None else rng.choice(np.array(kind, dtype=float), n)
        if weights is not None and not weights.any():
            weights[0] = 1
        y = rng.integers(0, 3, n)
        y[: min(n, 3)] = np.arange(3)[:n] if n >= 3 else 0
        yield Dataset.make(
            rng.integers(0, 2, (n, 2)),
            np.array([0, 1, 2, *y])[3:] if n >= 3 else y,
            sample_weight=weights,
            exposure=rng.integers(1, 4, n),
            event=np.maximum(
                rng.integers(0, 2, n), np.arange(n) == (0 if weights is None else int(np.argmax(weights)))
            ),
            features=rng.normal(size=(n, 1)),
            costs=rng.integers(-3, 6, (n, 3)),
            predicted=rng.integers(-3, 6, (n, 2)),
        )


@pytest.mark.parametrize("task", DECLARING, ids=repr)
def test_no_tree_refutes_what_shipped_tasks_declare(task: Task) -> None:
    for data in data_sets(task):
        if isinstance(task, CostSensitive) and data.n_classes < 3:
            continue
        bound = task.bind(data)
        for root in every_tree(bound, data, max_depth=1):
            check_declarations(bound, data, root)


def seeded() -> st.SearchStrategy[random.Random]:
    """Even draws: hypothesis prefers small numbers, and then nearly every optimal tree is a leaf."""
    return st.integers(0, 2**64 - 1).map(random.Random)


def data_set(draw: random.Random, most_rows: int = 8) -> Dataset:
    """A tiny data set; duplicate and contradictory rows are common among so few different ones."""
    n_classes = draw.choice((2, 2, 3, 4, 5))
    n_columns = draw.choice((1, 2, 3, 3, 3) if n_classes == 2 else (0, 1, 2, 2, 2))
    widths = [draw.choice((2, 2, 2, 3, 4)) for _ in range(n_columns)]
    n_rows = draw.choice((draw.randint(1, most_rows), most_rows, most_rows))
    X = [[draw.randrange(width) for width in widths] for _ in range(n_rows)]
    y = [draw.randrange(n_classes) if draw.random() < 0.2 else sum(row) % n_classes for row in X]
    weights: list[float] | None = None
    if draw.random() < 0.4:
        weights = [draw.choice((0, 1, 2, 5, 0.5, 0.1, 0.3, 1.25)) for _ in range(n_rows)]
        weights[0] = weights[0] or 1
    categorical = [column for column, width in enumerate(widths) if width > 2]
    array = np.array(X, dtype=np.uint8).reshape(n_rows, len(widths))
    return Dataset.make(array, y, sample_weight=weights, categorical=categorical)


def shipped_task(draw: random.Random, data: Dataset) -> Task:
    price = draw.choice((0, 0.01, 0.1, 0.25, 0.5, 1))
    weights = {label: draw.choice((0, 1, 3, 0.7)) for label in data.classes}
    tasks: tuple[Task, ...] = (
        Accuracy(),
        BalancedAccuracy(),
        Misclassifications() + price * Splits(),
        SparseAccuracy(price / 8),
        WeightedAccuracy(weights),
    )
    return draw.choice(tasks)


def supported(draw: random.Random, task: Task) -> Task:
    """The task, sometimes with a minimum support."""
    return task.subject_to(MinSupport(draw.randint(1, 3))) if draw.random() < 0.2 else task


@settings(max_examples=40, deadline=None)
@given(seeded())
def test_recursion_finds_what_trying_every_tree_finds(draw: random.Random) -> None:
    data = data_set(draw)
    unusual = (ErrorsByClass(), WorstLeaf(), Discounted())
    task = supported(draw, draw.choice(unusual) if draw.random() < 0.4 else shipped_task(draw, data))
    limits: dict[str, Any] = {
        "max_depth": draw.choice((None, None, 0, 1, 2, 2, 2, 3)),
        "max_nodes": draw.choice((2, 2, 3, 3) if data.n_columns > 2 else (None, None, 1, 2, 3, 3, 4)),
        "min_leaf": draw.choice((1, 1, 1, 1, 2, 3)),
    }
    front = optimal_front(task, data, **limits)
    expected = best_trees(task, data, **limits)
    assert sorted(value for value, _ in front) == sorted(value for value, _ in expected)

    evaluation = Evaluation(task, data)
    for value, tree in front:
        assert evaluation.cost(tree) == value
        assert evaluation.broken_limits(tree, **limits) == []


XOR = ([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])


def test_a_category_without_rows_is_an_empty_leaf_with_the_best_label_of_its_parent() -> None:
    X = [[0, 0], [1, 0], [2, 0], [2, 0], [0, 1], [1, 1], [1, 1]]
    y = [1, 1, 0, 0, 0, 1, 1]
    found = optimum(Accuracy(), Dataset.make(X, y, categorical=[0]), min_leaf=1)
    assert found is not None
    value, tree = found
    assert value == 0
    assert tree == Branch(0, (Branch(1, (Leaf(1, 1, 0), Leaf(0, 1, 0)), 2), Leaf(1, 3, 0), Leaf(0, 2, 0)), 7)
    right = [row for row in range(7) if X[row][1] == 1]
    subset = Dataset.make(X, y, categorical=[0]).subset(right)
    assert optimum(Accuracy(), subset) == (0, Branch(0, (Leaf(0, 1, 0), Leaf(1, 2, 0), Leaf(1, 0, 0)), 3))


def test_broken_limits_are_all_named() -> None:
    data = Dataset.make(*XOR)
    tree = Branch(0, (Leaf(0, 2, 0), Branch(1, (Leaf(0, 1, 0), Leaf(1, 1, 0)), 2)), 4)
    assert Evaluation(Accuracy(), data).broken_limits(tree, max_depth=2, max_nodes=2) == []
    task = Accuracy().subject_to(MinSupport(2))
    broken = Evaluation(task, data).broken_limits(tree, max_depth=1, max_nodes=1, min_leaf=3)
    assert broken == [
        "depth 2 is more than 1",
        "2 branching nodes are more than 1",
        "the leaf at (0,) has 2 rows, fewer than 3",
        "the leaf at (0, 1) has 1 rows, fewer than 3",
        "the leaf at (0, 1) breaks MinSupport(min_rows=2)",
        "the leaf at (0, 1) has 1 rows, fewer than 3",
        "the leaf at (0, 1) breaks MinSupport(min_rows=2)",
    ]
