"""One call of `streed.solve` as plain data, to be written down and solved again; what all families draw alike."""

from __future__ import annotations

import decimal
import json
import random
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import attrs
import numpy as np

import streed
from streed.data import Dataset
from streed.exact import Array
from streed.task import Task
from tests.shipped import CHOSEN

MANY = 40
"""Of more rows, the reference gets each kind once."""


class Scaling(NamedTuple):
    """The powers of ten that numbers are multiplied by when a problem is solved, not when it is judged."""

    targets: int = 0
    shift: int = 0
    """What is added to the targets before."""
    costs: int = 0
    """Of rows: costs, outcomes and predictions."""
    weights: int = 0
    value: int = 0
    """Of what the value is multiplied by then."""

    def given(self, problem: Problem) -> dict[str, Any]:
        """What is scaled of the problem, by the names of its fields; the numbers are exactly those decimals, or
        ArithmeticError is raised."""
        scaled = {name: each for name, each in problem.row_data.items() if self.costs and name in _COSTS}
        return {
            "y": _times(problem.y, self.targets, self.shift) if self.targets or self.shift else problem.y,
            "sample_weight": _times(problem.weights, self.weights) if self.weights else problem.sample_weight,
            "row_data": {**problem.row_data, **{name: _times(each, self.costs) for name, each in scaled.items()}},
        }

    def undone(self, value: Any) -> Any:
        """A value, or a bound on it, as it is without the scaling."""
        return value if not self.value or value is None else float(decimal.Decimal(repr(value)).scaleb(-self.value))


_COSTS = ("costs", "outcome", "predicted")


def _times(values: Any, power: int, shift: int = 0) -> Any:
    """The values plus the shift times the power of ten, as floats that print as exactly that."""
    if isinstance(values, list):
        return [_times(each, power, shift) for each in values]
    exact = (decimal.Decimal(repr(values)) + shift).scaleb(power)
    if decimal.Decimal(repr(float(exact))) != exact:
        raise ArithmeticError(f"{exact} is no float")
    return float(exact)


@attrs.frozen(eq=False)
class Problem:
    """A task, data, limits on the tree, and how to search."""

    task: str
    """The source of the task, in the names of `kinds.NAMES`."""
    X: Array
    """(n, p) uint8 codes."""
    y: list[Any] | None
    sample_weight: list[Any] | None = None
    frequency: list[int] | None = None
    """How many equal rows each row stands for."""
    categorical: tuple[int, ...] = ()
    row_data: Mapping[str, Any] = attrs.field(factory=dict)
    """By name, lists with an entry per row."""
    limits: Mapping[str, Any] = attrs.field(factory=dict)
    """max_depth, max_nodes, min_leaf."""
    options: Mapping[str, Any] = attrs.field(factory=dict)
    """search and threads."""
    scaling: Scaling = attrs.field(factory=Scaling)

    @property
    def n_rows(self) -> int:
        return len(self.X)

    @property
    def copies(self) -> list[int]:
        """(n,) how many equal rows each row stands for, 1 where nothing is said."""
        return [1] * self.n_rows if self.frequency is None else self.frequency

    @property
    def weights(self) -> list[Any]:
        """(n,) what a copy of each row weighs, 1 where nothing is said."""
        return [1] * self.n_rows if self.sample_weight is None else self.sample_weight

    def solve(self, task: Task) -> streed.Result:
        """What `streed.solve` answers."""
        scaled = self.scaling.given(self)
        y, row_data = scaled.pop("y"), scaled.pop("row_data")
        given = {**scaled, "frequency": self.frequency, "categorical": self.categorical}
        used: dict[str, Any] = {name: value for name, value in given.items() if value}
        return streed.solve(task, self.X, y, **used, **row_data, **self.limits, **self.options)

    def data(self) -> Dataset:
        """What the reference judges by: rows written out, or of many rows those alike put together."""
        plain = self.merged() if self.n_rows > MANY else self.repeated()
        beside = {"sample_weight": plain.sample_weight, "frequency": plain.frequency, **plain.row_data}
        return Dataset.make(plain.X, plain.y, categorical=plain.categorical, **beside)

    def merged(self) -> Self:
        """The same with every kind of rows once, as often as there are."""
        kinds: dict[str, int] = {}
        beside = [self.X.tolist(), self.weights, *self.row_data.values(), *([] if self.y is None else [self.y])]
        of_row = [kinds.setdefault(repr(row), len(kinds)) for row in zip(*beside, strict=True)]
        counts = np.bincount(of_row, weights=self.copies).astype(int)
        return self.subset(np.unique(of_row, return_index=True)[1], counts.tolist())

    def repeated(self) -> Self:
        """The same with every row as often as `frequency` says, and no frequency."""
        return self if self.frequency is None else self.subset(np.repeat(np.arange(self.n_rows), self.frequency), None)

    def subset(self, rows: Array, frequency: list[int] | None) -> Self:
        """The problem on these rows (m,) by number, in this order."""
        chosen = rows.tolist()

        def picked(values: Any) -> Any:
            return None if values is None else [values[row] for row in chosen]

        return attrs.evolve(
            self,
            X=self.X[rows],
            y=picked(self.y),
            sample_weight=picked(self.sample_weight),
            frequency=frequency,
            row_data={name: picked(values) for name, values in self.row_data.items()},
        )

    def without_rows(self, dropped: range) -> Self:
        """The problem without these rows."""
        kept = np.array([row for row in range(self.n_rows) if row not in dropped], np.int64)
        return self.subset(kept, None if self.frequency is None else [self.frequency[row] for row in kept.tolist()])

    def to_plain(self) -> dict[str, Any]:
        """The problem in JSON's types; `from_plain` reads it."""
        plain = {**attrs.asdict(self, recurse=False), "X": ["".join(map(str, row)) for row in self.X.tolist()]}
        plain["categorical"] = list(self.categorical)
        plain["scaling"] = [*self.scaling] if any(self.scaling) else []
        return {name: value for name, value in plain.items() if value not in (None, {}, [])}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """The problem that `to_plain` wrote."""
        codes = [list(map(int, row)) for row in plain["X"]]
        X = np.array(codes, np.uint8).reshape(len(codes), -1)
        given = {"categorical": tuple(plain.get("categorical", ())), "scaling": Scaling(*plain.get("scaling", ()))}
        return cls(**{"y": None, **plain, "X": X, **given})


def to_text(plain: Mapping[str, Any]) -> str:
    """JSON with a line for every name."""
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in plain.items()]
    return "{\n" + ",\n".join(lines) + "\n}"


Draw = random.Random

EDGES = (31, 32, 33, 63, 64, 65, 127, 128, 129)
"""Numbers of rows around the widths of words and lanes."""
LARGE = (32_766, 32_767, 32_768, 32_769, 65_535, 65_536, 65_537, 70_001)
"""Numbers of rows around the ranges of 16 bits."""

SEARCHES = CHOSEN


class Size(NamedTuple):
    """How large a problem is, and the depth that it is solved and judged to."""

    kind: str
    rows: int
    columns: int
    depth: int | None

    def no_deeper(self, depth: int) -> Size:
        """The same within a depth."""
        return self._replace(depth=depth if self.depth is None else min(self.depth, depth))


def draw_size(draw: Draw, least_rows: int = 1, most_columns: int = 6, large: bool = True) -> Size:
    """Mostly small; at the edges of words, with many columns, and rarely with many rows."""
    chosen = draw.random()
    if chosen < 0.006 and large:
        return Size("large", draw.choice(LARGE), draw.randint(1, 4), draw.choice((1, 2, 2)))
    if chosen < 0.04:
        wide = draw.choice((20, 40, 100, 299, 300))
        return Size("wide", max(draw.choice((8, 20, 33, 64)), least_rows), wide, 2 if wide <= 20 else 1)
    columns = draw.randint(1, most_columns)
    if chosen < 0.2:
        return Size("edge", draw.choice(EDGES), columns, draw.choice((1, 2, 2, 3 if columns <= 4 else 2)))
    depth = draw.choice((None if columns <= 3 else 2, 0, 1, 2, 2, 3 if columns <= 4 else 2))
    return Size("small", draw.randint(least_rows, 20), columns, depth)


def draw_columns(draw: Draw, rng: np.random.Generator, size: Size) -> tuple[Array, tuple[int, ...]]:
    """(n, p) uint8 codes, and which columns are categorical; some columns are constant, equal or complementary."""
    n, p = size.rows, size.columns
    rate = draw.choice((0.5, 0.5, 0.5, 0.2, 0.8, 0.05))
    X: Array = (rng.random((n, p)) < rate).astype(np.uint8)
    for column in range(1, min(p, 4)):
        chosen = draw.random()
        if chosen < 0.05:
            X[:, column] = X[:, column - 1] ^ draw.randint(0, 1)
        elif chosen < 0.08:
            X[:, column] = draw.randint(0, 1)
    if draw.random() < 0.3 and n > 3:
        X[: n // 3] = X[n // 2 : n // 2 + n // 3]
    categorical: tuple[int, ...] = ()
    if draw.random() < 0.15:
        place = draw.randrange(p)
        X[:, place] = rng.integers(0, draw.randint(2, 4), n)
        categorical = (place,)
    return X, categorical


def draw_labels(draw: Draw, rng: np.random.Generator, X: Array, n_classes: int) -> list[int]:
    """(n,) class numbers: a rule of the first columns, with noise; every class occurs, of as many as there are rows."""
    n_classes = min(n_classes, len(X))
    rule = X[:, : draw.randint(1, 3)].astype(np.int64).sum(axis=1) % n_classes
    noise = rng.random(len(X)) < draw.choice((0.05, 0.25, 0.5, 1.0))
    labels = np.where(noise, rng.integers(0, n_classes, len(X)), rule)
    labels[rng.permutation(len(X))[:n_classes]] = np.arange(n_classes)
    return [int(k) for k in labels]


WEIGHTS = ("ones", "small", "many", "decimal", "zero", "huge", "spread", "real")

MODERATE = ("ones", "small", "small", "many", "many", "many", "decimal", "zero", "huge", "spread", "real")
"""For tasks that multiply weights by totals of weights, and refuse those that are too fine or too large for that."""


def draw_weights(draw: Draw, rng: np.random.Generator, size: Size, kinds: tuple[str, ...] = WEIGHTS) -> Any:
    """None in half of all cases; else (n,) weights of one of the kinds, of which the first row's is positive."""
    if draw.random() < 0.45:
        return None
    if size.kind == "large":  # few different rows, which the judge puts together
        return rng.integers(1, 30, size.rows).tolist()
    n, kind = size.rows, draw.choice(kinds)
    weights: Any
    if kind == "ones":
        weights = [1] * n
    elif kind == "small":
        weights = rng.integers(1, 4, n).tolist()
    elif kind == "many":
        weights = rng.integers(1, 200, n).tolist()
    elif kind == "decimal":
        weights = [round(weight / 10, 1) for weight in rng.integers(1, 100, n).tolist()]
    elif kind == "zero":
        weights = rng.choice([0, 0, 1, 2, 5], n).tolist()
    elif kind == "huge":
        factor = draw.choice((10_000, 2**31, 2**40))
        weights = [
            w * f for w, f in zip(rng.integers(1, 10, n).tolist(), rng.choice([1, factor], n).tolist(), strict=True)
        ]
    elif kind == "spread":
        weights = rng.choice([1e-9, 1e-4, 0.1, 0.3, 1.0, 1e9], n).tolist()
    else:
        weights = (rng.random(n) * 10 + 1e-3).tolist()
    weights[0] = weights[0] or 1
    return weights


def draw_frequency(draw: Draw, rng: np.random.Generator, size: Size) -> list[int] | None:
    """None mostly; else (n,) how many equal rows each stands for."""
    if size.kind == "large" or draw.random() < 0.8:
        return None
    most = draw.choice((2, 5, 40)) if size.rows < 40 else 3
    return [int(copies) for copies in rng.integers(1, most + 1, size.rows)]


def draw_limits(draw: Draw, size: Size, nodes: bool = True) -> dict[str, Any]:
    """The limits on the tree; `nodes`: whether their number may be limited."""
    few = size.kind in ("small", "edge") and nodes and size.columns <= 5
    return {
        "max_depth": size.depth,
        "max_nodes": draw.choice((None, None, None, None, 0, 1, 2, 3, 4)) if few else None,
        "min_leaf": min(size.rows, draw.choice((1, 1, 1, 1, 2, 3, 5))),
    }


def draw_options(draw: Draw) -> dict[str, Any]:
    """The driver and the number of threads."""
    return {"search": draw.choice(SEARCHES), "threads": draw.choice((1, 1, 1, 2))}


def draw_number(draw: Draw) -> int | float:
    """A whole number or a decimal from 0 to 9."""
    return draw.choice((draw.randint(0, 9), round(draw.uniform(0, 9), draw.randint(1, 3))))


_POWERS = (-140, -100, -30, -12, -3, 3, 12, 30, 100, 140)

_MOST_POWER = 285
"""Values stay within what floats hold to all their digits."""

_DEGREES: dict[str, tuple[int | None, int | None, int | None]] = {
    "SquaredError": (2, None, 1),
    "AbsoluteError": (1, None, 1),
    "QuantileError": (1, None, 1),
    "PoissonDeviance": (1, None, 1),
    "RelativeRisk": (0, None, 0),
    "InstanceCosts": (None, 1, 1),
    "PolicyValue": (None, 1, 0),
    **dict.fromkeys(("Accuracy", "Misclassifications", "WeightedAccuracy", "MisclassificationCosts"), (None, None, 1)),
    **dict.fromkeys(("SparseAccuracy", "BalancedAccuracy"), (None, None, 0)),
}
"""By which power of the unit of targets, of costs and of weights values grow; None where there is no such unit."""

_SHIFTED = ("SquaredError", "AbsoluteError", "QuantileError")


def draw_scaling(draw: Draw, problem: Problem) -> Scaling:
    """In a third of all cases, other units and another origin; the value of every tree changes by the same factor.

    A price of nodes or a limit would be one in other units, and numbers of all digits would become others.
    """
    name, _, given = problem.task.lstrip("(").partition("(")
    degrees = _DEGREES.get(name)
    fixed = "Splits" in given or "TreatmentCosts" in given or (name == "SquaredError" and not given.startswith("0)"))
    if "normalized" in given:
        degrees, fixed = (0, None, 0), False
    if degrees is None or fixed or draw.random() > 0.35:
        return Scaling()
    targets, costs, weights = (0 if degree is None else draw.choice((0, *_POWERS)) for degree in degrees)
    value = sum(power * (degree or 0) for power, degree in zip((targets, costs, weights), degrees, strict=True))
    found = Scaling(targets, draw.choice((0, 0, 7, -1_000, 10**6)) if name in _SHIFTED else 0, costs, weights, value)
    try:
        found.given(problem)
    except ArithmeticError:
        return Scaling()
    return found if abs(value) <= _MOST_POWER else Scaling()
