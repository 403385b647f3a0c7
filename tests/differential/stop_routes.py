"""The routes that a solve may take, each with a task and data drawn for it, and where it can be stopped."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from streed.task import State, Task
from streed.tasks import (
    F1,
    AbsoluteError,
    Accuracy,
    BalancedAccuracy,
    ClassErrors,
    DemographicParity,
    Entropy,
    EqualizedOdds,
    Gini,
    GMean,
    InstanceCosts,
    MatthewsCorrelation,
    QuantileError,
    Recall,
    SparseAccuracy,
    Splits,
    SquaredError,
    WorstLeaf,
)
from tests.differential.generated_tasks import ByRows, SquaredErrors, WorstErrors
from tests.searches import NATIVE as NATIVE_DRIVERS

SMALL: dict[str, Any] = {"rows": (12, 40), "columns": (3, 5), "depths": (2, 3, 4), "stopping": ("looks",)}


@attrs.frozen(eq=False)
class Route:
    """Instances that are searched in one way."""

    task: Callable[[random.Random], Task]
    stopping: tuple[str, ...]
    """Ways to stop, see `stopping`."""
    rows: tuple[int, int] = (60, 200)
    columns: tuple[int, int] = (6, 10)
    depths: tuple[int | None, ...] = (4, 4, 5)
    real: bool = False
    """Whether y is a real number."""
    search: str = "depth-first"
    threads: int = 1
    bounded: bool = True
    """Whether there must be a bound, whenever the solve is stopped."""
    more: Callable[[random.Random, int], dict[str, Any]] = lambda draw, n: {}
    """Further arguments of the solve."""


NATIVE = ("begin", "store", "store", "room")


SCALAR = ("begin", "store", "room", "questions", "interrupt")


def _sensitive(draw: random.Random, n: int) -> dict[str, Any]:
    return {"sensitive_features": [draw.choice("ab") for _ in range(n - 2)] + ["a", "b"]}


def _costs(draw: random.Random, n: int) -> dict[str, Any]:
    return {"costs": np.array([[draw.randint(0, 30) for _ in range(3)] for _ in range(n)])}


def _weights(draw: random.Random, n: int) -> dict[str, Any]:
    return {"sample_weight": [draw.randint(1, 199) for _ in range(n)]}


def _groups_and_weights(draw: random.Random, n: int) -> dict[str, Any]:
    return {**_sensitive(draw, n), **_weights(draw, n)}


def _nodes(draw: random.Random, n: int) -> dict[str, Any]:
    return {"max_nodes": draw.randint(2, 6)}


def _z(draw: random.Random, n: int) -> dict[str, Any]:
    return {"z": np.array([draw.gauss(0, 2) for _ in range(n)])}


@attrs.frozen
class Alone(Task):
    """A task that declares nothing: a root of the errors."""

    def statistics(self, data: Any) -> dict[str, Any]:
        return {"n": np.eye(data.n_classes, dtype=np.int64)[data.class_numbers]}

    def leaf_cost(self, s: State, k: int) -> Any:
        return (sum(s.n) - s.n[k]) ** 0.5


def _by_driver(search: str) -> dict[str, Route]:
    """The routes that every native driver is tried on, by name."""
    sparse: dict[str, Any] = {"depths": (None,), "rows": (40, 90), "search": search}
    routes = {
        "accuracy": Route(lambda _: Accuracy(), NATIVE, search=search),
        "accuracy, two threads": Route(lambda _: Accuracy(), NATIVE, search=search, threads=2),
        "costs": Route(lambda _: InstanceCosts(), NATIVE, search=search, more=_costs),
        "sparse, any depth": Route(lambda draw: SparseAccuracy(draw.choice((0.01, 0.03))), NATIVE, **sparse),
        "sparse, two threads": Route(lambda _: SparseAccuracy(0.02), NATIVE, **sparse, threads=2),
        "entropy": Route(lambda _: Entropy(), NATIVE, depths=(4,), search=search, bounded=False),
        "general, absolute error": Route(lambda _: AbsoluteError(), search=search, real=True, **SMALL),
        "F1": Route(lambda _: F1(), SCALAR, depths=(2, 4), search=search),
    }
    return {f"{name}, {search}": route for name, route in routes.items()}


ROUTES: dict[str, Route] = {
    **{name: route for search in NATIVE_DRIVERS for name, route in _by_driver(search).items()},
    "accuracy, few nodes": Route(lambda _: Accuracy(), NATIVE, more=_nodes),
    "accuracy, weights": Route(lambda _: Accuracy(), NATIVE, more=_weights),
    "balanced accuracy": Route(lambda _: BalancedAccuracy(), NATIVE),
    "sparse, auto": Route(lambda _: SparseAccuracy(0.02), NATIVE, depths=(None, 4), rows=(40, 90), search="auto"),
    "squared error": Route(lambda _: SquaredError(), NATIVE, real=True),
    "gini": Route(lambda _: Gini(), NATIVE, depths=(4,), bounded=False),
    "user, by rows": Route(lambda _: ByRows(), NATIVE, depths=(4,), bounded=False),
    "user, largest": Route(lambda _: WorstErrors(2), NATIVE, depths=(4,), bounded=False),
    "user, regression": Route(lambda _: SquaredErrors(0.3), NATIVE, depths=(4,), bounded=False, more=_z),
    "general, accuracy": Route(lambda _: Accuracy(), search="general", **SMALL),
    "general, sparse": Route(lambda _: SparseAccuracy(0.02), search="general", **SMALL),
    "general, quantile": Route(lambda _: QuantileError(0.3), search="general", real=True, **SMALL),
    "general, gini": Route(lambda _: Gini(), search="general", **SMALL),
    "general, squared error": Route(lambda _: SquaredError(), search="general", real=True, **SMALL),
    "general, worst leaf": Route(lambda _: WorstLeaf(), search="general", **SMALL),
    "general, nothing declared": Route(lambda _: Alone(), search="general", bounded=False, **SMALL),
    "general, F1": Route(lambda _: F1(), search="general", **{**SMALL, "rows": (12, 24), "depths": (1, 2)}),
    "F1, weights": Route(lambda _: F1(), SCALAR, depths=(2,), more=_weights),
    "F1, two threads": Route(lambda _: F1(), SCALAR, depths=(2,), threads=2),
    "F1 and a price": Route(lambda _: F1() - 0.01 * Splits(), SCALAR, depths=(2, 4)),
    "geometric mean": Route(lambda _: GMean(), SCALAR, depths=(2, 4)),
    "correlation": Route(lambda _: MatthewsCorrelation(), SCALAR, depths=(2,)),
    "parity": Route(
        lambda draw: Accuracy().subject_to(DemographicParity() <= draw.choice((0.05, 0.2))),
        SCALAR,
        depths=(2, 4),
        more=_sensitive,
    ),
    "parity, weights": Route(
        lambda draw: Accuracy().subject_to(DemographicParity() <= draw.choice((0.05, 0.2))),
        SCALAR,
        depths=(2,),
        more=_groups_and_weights,
    ),
    "odds and F1": Route(
        lambda _: F1().subject_to(EqualizedOdds() <= 0.3), SCALAR, rows=(60, 90), depths=(2,), more=_sensitive
    ),
    "recall": Route(lambda draw: Accuracy().subject_to(Recall() >= draw.choice((0.6, 0.9))), SCALAR, depths=(2, 4)),
    "front": Route(lambda _: ClassErrors(), ("begin", "asks", "asks"), depths=(2, 3, 4)),
    "front of F1": Route(lambda _: F1(), ("begin", "asks", "asks"), depths=(2, 3, 4), search="fronts"),
    "front of costs and splits": Route(lambda _: Accuracy() & Splits(), ("begin", "asks", "asks"), depths=(2, 3, 4)),
    "general front": Route(lambda _: ClassErrors(), search="general", **{**SMALL, "rows": (12, 24), "depths": (1, 2)}),
    "general front of gini": Route(lambda _: Accuracy() & Gini(), **{**SMALL, "rows": (12, 24), "depths": (1, 2)}),
    "general front of parity": Route(
        lambda _: Accuracy() & DemographicParity(),
        search="general",
        more=_sensitive,
        **{**SMALL, "rows": (12, 20), "depths": (1, 2)},
    ),
    "trade-off": Route(
        lambda _: Accuracy() & DemographicParity(), SCALAR, rows=(30, 60), depths=(1, 2), more=_sensitive
    ),
    "trade-off of F1": Route(
        lambda _: F1() & DemographicParity(), SCALAR, rows=(30, 50), depths=(1, 2), more=_sensitive
    ),
}


@attrs.frozen(eq=False)
class Posed:
    """A solve, and when to stop it."""

    route: Route
    task: Task
    X: Any
    y: Any
    arguments: dict[str, Any]
    way: str
    moment: int
    """After so many looks; the room for nodes."""
    search: int
    """Which of the searches, the workspaces or the questions of a solve is stopped."""


def make_posed(name: str, seed: int) -> Posed:
    """The stopped solve of a route that belongs to the seed."""
    route = ROUTES[name]
    draw = random.Random(f"{name}/{seed}")
    n, p = draw.randint(*route.rows), draw.randint(*route.columns)
    X = np.array([[draw.randint(0, 1) for _ in range(p)] for _ in range(n)])

    X[: n // 3] = X[n // 3 : 2 * (n // 3)]
    y: Any = [int((row[0] and row[1]) ^ (draw.random() < 0.25)) for row in X.tolist()]
    y[0], y[1] = 0, 1
    if route.real:
        y = [label + draw.choice((0, 0.5, 1, 2.25)) for label in y]
    arguments = {
        "max_depth": draw.choice(route.depths),
        "min_leaf": draw.choice((1, 1, 3)),
        "search": route.search,
        "threads": route.threads,
        **route.more(draw, n),
    }
    moment = int(draw.choice((0, 0, 1, 2, 5, 10, 20, 50, 100, 300)) * draw.uniform(0.5, 1.5))
    way = draw.choice(route.stopping)
    chosen = 0 if route.stopping == NATIVE else draw.choice((0, 0, 1, 2, 4, 8))
    return Posed(route, route.task(draw), X, y, arguments, way, moment, chosen)
