"""Raw numbers with ties and gaps under tasks of all kinds: the solver against every tree, or against the recursion.

`python -m tests.differential.ordered --count 1000 --seed 0` prints what is wrong, and how many instances there were of
each kind and by which route they were solved; with `--thresholds` the search over thresholds takes all that it can,
however few they are. Trees are also sent the raw rows one by one, by rules that are written here once more, and must
come back from a file as they were.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import random
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, final

import attrs
import numpy as np

import streed
from streed.data import Dataset
from streed.errors import InputError
from streed.exact import Array
from streed.export import to_onnx, to_python, to_sklearn, to_sql
from streed.export.onnx import onnx_inputs
from streed.ordered import choice
from streed.reference import best_trees, optimal_front
from streed.task import RowCostTask, State, Task, Totals
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
from streed.tree.evaluation import inspect

NAN, INF = math.nan, math.inf

_ROUNDED = 1e-12
"""How far rounding may take the scores that are compared."""

_MOST_WORK = 3_000
"""Trees of depth two, about, that are enumerated; instances of more are judged by the recursion."""


@final
@attrs.frozen
class OwnErrors(RowCostTask):
    """A user's costs: an error costs one, and one more for every class that it is off by."""

    def row_costs(self, data: Dataset) -> Array:
        off = np.abs(data.class_numbers[:, None] - np.arange(len(data.class_labels)))
        costs: Array = off + (off > 0)
        return costs


@final
@attrs.frozen
class OwnGini(Task):
    """A user's impurity, of which kernels are generated, in whole numbers: twice the pairs of rows that differ."""

    takes_weights: ClassVar[bool] = False
    any_label: ClassVar[bool] = True

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"of": (data.class_numbers[:, None] == np.arange(data.n_classes)).astype(np.int64)}

    def leaf_cost(self, s: State, k: int) -> Any:
        same = 0
        for count in s.of:
            same += count * count
        return s.rows * s.rows - same


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


@final
@attrs.frozen
class OwnUpperHalf(RowCostTask):
    """A user's errors, twice as dear where the first column, which the task reads itself, is beyond its median code."""

    def row_costs(self, data: Dataset) -> Array:
        wrong = (data.class_numbers[:, None] != np.arange(len(data.class_labels))).astype(np.int64)
        costs: Array = wrong * (1 + (data.X[:, 0] > np.median(data.X[:, 0])))[:, None]
        return costs


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
    "own errors": lambda draw, k: OwnErrors(),
    "own gini": lambda draw, k: OwnGini(),
    "own majority": lambda draw, k: OwnMajority(),
    "gini": lambda draw, k: Gini(),
    "entropy": lambda draw, k: Entropy(),
    "own columns": lambda draw, k: OwnUpperHalf(),
    "own price": lambda draw, k: OwnMajority() + draw.choice((0.3, 0.5, 1)) * Splits(),
}

_PRICED = ("price", "own price")

_TWO_LABELS = ("F1", "parity")
_UNWEIGHTED = ("own gini", "tests")
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


def judge(instance: Instance) -> tuple[str, list[str]]:
    """(what came of it, what is wrong with it in words)."""
    task, data, limits = instance.task, instance.data(), instance.limits
    if instance.kind == "own gini" and data.frequency is not None:
        data = data.expanded()
    try:
        result = streed.solve(task, instance.table, instance.y, **instance.arguments, **limits, search=instance.search)
    except InputError as error:
        return f"refused {error.argument}", [] if error.argument in ("min_leaf", "sensitive_features") else [str(error)]
    judged, found = _optimum(task, data, limits)
    totals = Totals(task, data)
    scores = [task.score(value, totals) for value in found]
    if not scores:
        return "infeasible", [] if result.status == "infeasible" else [f"no tree is feasible, but {result!r}"]
    best = (max if task.larger_is_better else min)(scores)
    if result.tree is None or result.status != "optimal":
        return "unsolved", [f"status {result.status}, the optimum is {best}"]
    tree, wrong = result.tree, []
    for name, value in (("value", result.value), ("lower", result.lower_bound), ("upper", result.upper_bound)):
        # fronts of the general route come without bounds on the score
        if not (value is None and instance.search == "general") and not _near(value, best):
            # a bound of costs that methods round lies beyond the optimum by what they say
            if name == "lower" and -_ROUNDED <= best - value <= float(result.stats.get("rounding", 0)) + _ROUNDED:
                continue
            wrong.append(f"{name} {value!r}, the optimum is {best!r}")
    seen = inspect(tree, task, data)
    if not _near(task.score(seen.value, totals), best):
        wrong.append(f"the tree's score is {task.score(seen.value, totals)!r}, the optimum is {best!r}")
    if not task.bind(data).feasible(seen.value) or seen.broken:
        wrong.append("the tree breaks a limit")
    if min(rows for rows in seen.leaf_rows if rows) < limits["min_leaf"]:
        wrong.append("a leaf is too small")
    if tree.depth > (limits["max_depth"] or tree.depth) or tree.n_branches > (limits["max_nodes"] or tree.n_branches):
        wrong.append("the tree is too large")
    route = "thresholds" if result.stats.get("route") == "thresholds" else "otherwise"
    return f"{judged}, {route}", wrong + _wrong_with(tree, instance)


def _optimum(task: Task, data: Dataset, limits: dict[str, Any]) -> tuple[str, list[Any]]:
    """(how it was judged, the nondominated values)."""
    splits, labels = data.n_questions, len(task.bind(data).labels(data))
    depth = limits["max_depth"]
    trees = splits * labels**2 if depth == 1 else splits**3 * labels**4 / 4
    if depth is not None and depth <= 2 and trees <= _MOST_WORK:
        return "enumerated", [value for value, _ in best_trees(task, data, **limits)]
    return "recursion", [value for value, _ in optimal_front(task, data, **limits)]


def _near(a: Any, b: Any) -> bool:
    return abs(float(a) - float(b)) <= 1e-9 * max(1.0, abs(float(b)))


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
    for name, run in EXPORTS.items():
        try:
            found = run(tree, instance.table, rows)
        except InputError as refused:
            if not may_refuse(refused):
                raise
            continue
        if found != expected:
            wrong.append(f"{name} predicts {found}, the tree {expected}")
    return wrong


def _by_python(tree: Tree, table: dict[str, list[Any]], rows: list[dict[str, Any]]) -> list[Any]:
    made: dict[str, Any] = {}
    exec(to_python(tree), made)
    return [made["predict"](row) for row in rows]


def _by_sql(tree: Tree, table: dict[str, list[Any]], rows: list[dict[str, Any]]) -> list[Any]:
    names = ", ".join(f'"{name}"' for name in table)
    with contextlib.closing(sqlite3.connect(":memory:")) as base:
        base.execute(f"CREATE TABLE t ({names})")
        marks = ", ".join("?" for _ in table)
        base.executemany(f"INSERT INTO t VALUES ({marks})", [tuple(row.values()) for row in rows])
        return [found for (found,) in base.execute(f"SELECT {to_sql(tree)} FROM t ORDER BY rowid")]


def _by_sklearn(tree: Tree, table: dict[str, list[Any]], rows: list[dict[str, Any]]) -> list[Any]:
    return list(to_sklearn(tree).predict(table).tolist())


def _by_onnx(tree: Tree, table: dict[str, list[Any]], rows: list[dict[str, Any]]) -> list[Any]:
    import onnxruntime

    if any(isinstance(value, float) and math.isinf(value) for column in table.values() for value in column):
        return [tree.shows()[leaf_of(tree, row)] for row in rows]  # `onnx_inputs` takes finite numbers only
    session = onnxruntime.InferenceSession(to_onnx(tree).SerializeToString())
    # a tree that is one leaf has to know how many rows there are, and asks for nothing else
    inputs = onnx_inputs(tree, table) if tree.n_branches else {"X": np.zeros((len(rows), tree.n_columns))}
    return list(session.run(["prediction"], inputs)[0].tolist())


EXPORTS = {"python": _by_python, "sql": _by_sql, "scikit-learn": _by_sklearn, "onnx": _by_onnx}


def may_refuse(refused: InputError) -> bool:
    """Whether a form has a reason not to hold the tree: numbers beyond its precision."""
    return "2**53" in str(refused)


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


def wrong_in(seed: int, number: int) -> list[str]:
    """What is wrong with the answer to one instance."""
    return judge(make_instance(seed, number))[1]


def main(arguments: list[str] | None = None) -> int:
    """1 if an instance is answered wrongly, else 0."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.differential.ordered",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--count", type=int, default=1000, metavar="N", help="(default: 1000)")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="the number of the first (default: 0)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="(default: 0)")
    parser.add_argument("--thresholds", action="store_true", help="by the search over thresholds, however few they are")
    options = parser.parse_args(arguments)
    if options.thresholds:
        choice.FEW = -1
    seen: Counter[tuple[str, str]] = Counter()
    failed = 0
    for number in range(options.first, options.first + options.count):
        instance = make_instance(options.seed, number)
        try:
            outcome, wrong = judge(instance)
        except Exception as error:  # noqa: BLE001 - reported with what it was
            outcome, wrong = "raised", [f"{type(error).__name__}: {error}"]
        seen[instance.kind, outcome] += 1
        if wrong:
            failed += 1
            print(f"{options.seed}/{number} ({instance.kind}, {instance.search}): {'; '.join(wrong)}", flush=True)
    for (kind, outcome), count in sorted(seen.items()):
        print(f"{kind:15} {outcome:24} {count}")
    print(f"{sum(seen.values())} instances of seed {options.seed}: {failed} wrong")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
