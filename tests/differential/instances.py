"""Small random instances of every kind that a user may pose, each determined by a seed and a number."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

import streed.tasks
from streed.data import Dataset
from streed.task import Task

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_LABELS: tuple[tuple[Any, ...], ...] = (
    (0, 1, 2, 3, 4),
    (-1, 1, 2, 7, 1_000_000),
    ("no", "yes", "maybe", "other", "x"),
    (1, 2, 3, 4, 5),
)

_WEIGHTS = ("integer", "huge", "decimal", "zero", "real")
# Costs divided by totals of weights need a common denominator, which solve refuses beyond 2**60 (see integer_costs).
_WEIGHTS_OF = {"sparse": ("integer", "huge", "decimal", "zero"), "balanced": ("integer", "decimal", "zero")}


@attrs.frozen(eq=False)
class Instance:
    """One call of `streed.solve`, and what is special about it."""

    name: str
    task_source: str
    X: list[list[int]]
    y: list[Any]
    sample_weight: list[float] | None
    categorical: list[int]
    max_depth: int | None
    max_nodes: int | None
    min_leaf: int
    exact: bool
    """False where weights are real numbers, so that the engine may round them."""
    features: frozenset[str]

    @property
    def task(self) -> Task:
        """The task, from its source."""
        task = eval(self.task_source, dict(vars(streed.tasks)))
        assert isinstance(task, Task)
        return task

    @property
    def limits(self) -> dict[str, Any]:
        """The limits on the tree, as keyword arguments of `solve` and of the reference."""
        return {"max_depth": self.max_depth, "max_nodes": self.max_nodes, "min_leaf": self.min_leaf}

    def array(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """X as an array (n, p) of uint8; p may be 0."""
        return np.array(self.X, dtype=np.uint8).reshape(len(self.X), -1 if any(self.X) else 0)

    def arguments(self) -> dict[str, Any]:
        """Row weights and categorical columns, as keyword arguments; those that are not used are left out."""
        extras: dict[str, Any] = {}
        if self.sample_weight is not None:
            extras["sample_weight"] = self.sample_weight
        if self.categorical:
            extras["categorical"] = self.categorical
        return extras

    def dataset(self) -> Dataset:
        """The data set that the reference judges by."""
        return Dataset.make(self.array(), self.y, **self.arguments())

    def snippet(self, **options: Any) -> str:
        """A Python program that solves this instance by the engine and by the reference and prints both answers."""
        keywords = "".join(f", {name}={value!r}" for name, value in {**self.limits, **options}.items())
        limits = "".join(f", {name}={value!r}" for name, value in self.limits.items())
        extras = "".join(f", {name}={value!r}" for name, value in self.arguments().items())
        return "\n".join(
            [
                f"# instance {self.name}",
                "import numpy as np",
                "import streed",
                "from streed.reference import cost_of_tree, optimum",
                "from streed.tasks import *",
                f"X = np.array({self.X!r}, dtype=np.uint8).reshape({len(self.X)}, {len(self.X[0])})",
                f"y = {self.y!r}",
                f"task = {self.task_source}",
                f"data = streed.Dataset.make(X, y{extras})",
                f"print('reference', optimum(task, data{limits}))",
                f"result = streed.solve(task, X, y{keywords}{extras})",
                "print('engine', result.status, result.value, result.lower_bound, result.upper_bound)",
                "if result.tree is not None:",
                "    print(result.tree, cost_of_tree(task, data, result.tree.root), sep='\\n')",
            ]
        )


def make_instance(seed: int, number: int) -> Instance:
    """Instance `number` of the sequence that belongs to `seed`: in turn plain, large or of any kind."""
    draw = random.Random(f"{seed}/{number}")
    kind = draw.random()
    name = f"{seed}/{number}"
    if kind < 0.35:
        return _plain(draw, name)
    if kind < 0.45:
        return _large(draw, name)
    return _mixed(draw, name)


def _plain(draw: random.Random, name: str) -> Instance:
    """Two classes, binary columns, accuracy, a depth limit and nothing else: the engine's fastest path."""
    n_rows, n_columns = draw.randint(2, 64), draw.randint(1, 8)
    X = [[draw.randint(0, 1) for _ in range(n_columns)] for _ in range(n_rows)]
    y = _labels(draw, X, 2)
    return Instance(
        name=name,
        task_source="Accuracy()",
        X=X,
        y=y,
        sample_weight=None,
        categorical=[],
        max_depth=draw.randint(1, 5),
        max_nodes=None,
        min_leaf=1,
        exact=True,
        features=frozenset({"plain"}),
    )


def _large(draw: random.Random, name: str) -> Instance:
    """More rows and columns, within what the reference still solves quickly."""
    max_depth = draw.choice((1, 2, 2, 3, 3, 4))
    n_rows = draw.randint(40, 200)
    n_columns = draw.randint(6, 12 if max_depth < 4 else 9)
    rates = [draw.choice((0.1, 0.3, 0.5)) for _ in range(n_columns)]
    X = [[int(draw.random() < rate) for rate in rates] for _ in range(n_rows)]
    y = _labels(draw, X, draw.choice((2, 2, 2, 3, 5)))
    features = {"large"}
    task_source = "Accuracy()"
    if draw.random() < 0.3:
        features.add("sparse")
        task_source = f"SparseAccuracy({draw.choice(('0.01', '0.005', '0.02'))})"
    weights = None
    if draw.random() < 0.2:
        weights, _ = _weights(draw, n_rows, ("integer", "huge", "zero"), features)
    max_nodes = None
    if n_columns < 9 and draw.random() < 0.2:
        features.add("max_nodes")
        max_nodes = draw.randint(1, 6)
    return Instance(
        name=name,
        task_source=task_source,
        X=X,
        y=y,
        sample_weight=weights,
        categorical=[],
        max_depth=max_depth,
        max_nodes=max_nodes,
        min_leaf=draw.choice((1, 1, 5)),
        exact=True,
        features=frozenset(features | _observed(X, y)),
    )


def _mixed(draw: random.Random, name: str) -> Instance:
    """Any mixture of columns, classes, weights, limits and tasks."""
    n_rows = draw.choice((draw.randint(1, 24), draw.randint(8, 24), draw.randint(16, 48)))
    features = {"mixed"}
    columns, categorical = _columns(draw, n_rows, features)
    X = [[column[row] for column in columns] for row in range(n_rows)]
    if n_rows > 2 and draw.random() < 0.3:
        for _ in range(draw.randint(1, n_rows // 2)):
            X[draw.randrange(n_rows)] = list(X[draw.randrange(n_rows)])
    y = _labels(draw, X, draw.choice((1, *(2, 3, 4, 5) * 3, 2, 2, 3)))
    task_source = _task(draw, y, features)
    weights, exact = None, True
    if draw.random() < 0.6:
        kinds = next((kinds for task, kinds in _WEIGHTS_OF.items() if task in features), _WEIGHTS)
        weights, exact = _weights(draw, n_rows, kinds, features)
    max_depth = draw.choice((None, None, None, 0, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5))
    max_nodes = draw.choice((*(None,) * 8, 0, 1, 2, 3, 4, 5, 6, 7))
    if categorical and max_nodes is not None:
        max_nodes = min(max_nodes, 5)
    min_leaf = min(n_rows, draw.choice((1, 1, 1, 1, 1, 2, 3, 5)))
    features |= {"max_depth None"} if max_depth is None else {f"max_depth {max_depth}"}
    features |= {"max_nodes"} if max_nodes is not None else set()
    features |= {"min_leaf"} if min_leaf > 1 else set()
    return Instance(
        name=name,
        task_source=task_source,
        X=X,
        y=y,
        sample_weight=weights,
        categorical=categorical,
        max_depth=max_depth,
        max_nodes=max_nodes,
        min_leaf=min_leaf,
        exact=exact,
        features=frozenset(features | _observed(X, y)),
    )


def _columns(draw: random.Random, n_rows: int, features: set[str]) -> tuple[list[list[int]], list[int]]:
    """Columns of codes, and which of them are categorical."""
    columns: list[list[int]] = []
    for _ in range(draw.choice((draw.randint(0, 6), draw.randint(3, 7), draw.randint(3, 7)))):
        shape = draw.random()
        if shape < 0.08:
            features.add("constant column")
            columns.append([draw.randint(0, 1)] * n_rows)
        elif columns and shape < 0.16:
            features.add("duplicate column")
            columns.append(list(draw.choice(columns)))
        elif columns and shape < 0.24:
            features.add("complementary column")
            columns.append([1 - code for code in draw.choice(columns)])
        else:
            rate = draw.choice((0.2, 0.5, 0.5, 0.8))
            columns.append([int(draw.random() < rate) for _ in range(n_rows)])
    categorical: list[int] = []
    if draw.random() < 0.3:
        features.add("multiway")
        for _ in range(draw.randint(1, 2)):
            width = draw.randint(2, 4)
            position = draw.randint(0, len(columns))
            columns.insert(position, [draw.randrange(width) for _ in range(n_rows)])
            categorical = [column + (column >= position) for column in categorical] + [position]
    return columns, sorted(categorical)


def _labels(draw: random.Random, X: list[list[int]], n_classes: int) -> list[Any]:
    """Labels for the rows: noise, or a rule of two columns (a parity or a threshold) with some noise."""
    names = draw.choice(_LABELS)
    rules: tuple[Callable[[list[int]], int], ...] = (
        lambda row: sum(row[:3]) % n_classes,
        lambda row: min(sum(row), n_classes - 1),
        lambda row: sum(code << place for place, code in enumerate(row)) % n_classes,
    )
    rule = draw.choice(rules)
    noise = draw.choice((0.05, 0.2, 1.0))
    numbers = [draw.randrange(n_classes) if draw.random() < noise else rule(row) for row in X]
    return [names[number] for number in numbers]


def _weights(draw: random.Random, n_rows: int, kinds: Sequence[str], features: set[str]) -> tuple[list[float], bool]:
    """Row weights of one of the kinds, and whether they are exact decimals."""
    kind = draw.choice(kinds)
    features.add(f"{kind} weights")
    makers: dict[str, Callable[[], float]] = {
        "integer": lambda: draw.randint(1, 9),
        "huge": lambda: draw.randint(1, 9) * draw.choice((1, 10_000, 40_000, 3_000_000_000)),
        "decimal": lambda: draw.randint(1, 99) / 10,
        "zero": lambda: draw.choice((0, 0, 1, 2, 5)),
        "real": lambda: draw.random() * 10,
    }
    weights = [makers[kind]() for _ in range(n_rows)]
    if not any(weights):
        weights[0] = 1
    return weights, kind != "real"


def _task(draw: random.Random, y: list[Any], features: set[str]) -> str:
    """The source of a task that fits the labels."""
    kind = draw.choice(("accuracy", "splits", "sparse", "sparse", "class weights", "balanced"))
    features.add(kind)
    if kind == "accuracy":
        source = "Accuracy()"
    elif kind == "splits":
        source = f"Misclassifications() + {draw.choice(('0', '0.3', '0.5', '1', '1.5', '2'))} * Splits()"
    elif kind == "sparse":
        source = f"SparseAccuracy({draw.choice(('0', '0.001', '0.005', '0.01', '0.015', '0.025', '0.05', '0.125'))})"
    elif kind == "class weights":
        chosen = sorted(set(y))[: draw.randint(1, 3)]
        source = f"WeightedAccuracy({ {label: draw.choice((0, 1, 2, 5, 0.5, 0.25, 1.2)) for label in chosen} })"
    else:
        source = "BalancedAccuracy()"
    if draw.random() < 0.2:
        features.add("MinSupport")
        source = f"({source}).subject_to(MinSupport({draw.randint(1, 5)}))"
    return source


def _observed(X: list[list[int]], y: list[Any]) -> set[str]:
    """What the rows turn out to hold."""
    observed = {f"{len(set(y))} classes"}
    rows = list(map(tuple, X))
    if len(set(rows)) < len(rows):
        observed.add("duplicate rows")
    if len(set(rows)) < len(set(zip(rows, y, strict=True))):
        observed.add("contradictory rows")
    return observed
