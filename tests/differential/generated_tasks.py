"""Tasks of all kinds that kernels are generated for, each as a user would write it, and small random data for them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.exact import Array
from streed.task import Limit, State, Task
from streed.tasks import Misclassifications, Splits


def sum_of_squares(counts: Any) -> Any:
    total = 0.0
    for count in counts:
        total += count * count
    return total


@attrs.frozen
class ByClass(Task):
    """What most tasks below share: the rows of each class."""

    takes_weights: ClassVar[bool] = True

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"of": data.y[:, None] == np.arange(data.n_classes)}


@attrs.frozen
class Errors(ByClass):
    """Errors, where nothing else is said."""

    def leaf_cost(self, s: State, k: int) -> Any:
        return s.rows - s.of[k]


# -- leaves ------------------------------------------------------------------------------------------------------------


@final
@attrs.frozen
class Gini(ByClass):
    """The Gini impurity times the rows, with all bounds."""

    superadditive: ClassVar[bool] = True
    any_label: ClassVar[bool] = True

    def leaf_cost(self, s: State, k: int) -> Any:
        weight = sum(s.of)
        return weight - sum_of_squares(s.of) / weight

    def worst_per_row(self, data: Dataset) -> Array:
        return np.full(data.n_rows, 2.0)

    def lower_bound(self, s: State) -> Any:
        return 0.0


@final
@attrs.frozen
class RootErrors(Errors):
    """The square roots of errors: not additive over rows, no bounds."""

    def leaf_cost(self, s: State, k: int) -> Any:
        return math.sqrt(sum(s.of) - s.of[k]) + 0.3


@final
@attrs.frozen
class WholeErrors(Errors):
    """Errors, and one more unless the rows come in threes: whole, and with no use for bounds."""

    price: Any = 0

    def leaf_cost(self, s: State, k: int) -> Any:
        return 2 * (s.rows - s.of[k]) + (s.rows % 3 > 0)

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return self.price


@final
@attrs.frozen
class PaidErrors(Errors):
    """Errors, and a decimal price per branching node and per leaf."""

    price: Any

    def leaf_cost(self, s: State, k: int) -> Any:
        return s.rows - s.of[k] + float(self.price)

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return float(self.price)


@final
@attrs.frozen
class SquaredErrors(Task):
    """Regression: the squared deviations from the mean of every leaf, and a price per branching node."""

    superadditive: ClassVar[bool] = True
    any_label: ClassVar[bool] = True
    price: Any = 0.0

    def statistics(self, data: Dataset) -> dict[str, Array]:
        z = data.row_data["z"]
        return {"weight": np.ones(data.n_rows), "z": z, "square": z * z}

    def labels(self, data: Dataset) -> Sequence[Any]:
        return ("mean",)

    def leaf_cost(self, s: State, k: int) -> Any:
        return s.square - s.z * s.z / s.weight

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return self.price


@final
@attrs.frozen
class FreeSquaredErrors(Task):
    """As `SquaredErrors`, without branching costs; values are summed row by row, with floors."""

    superadditive: ClassVar[bool] = True

    def statistics(self, data: Dataset) -> dict[str, Array]:
        z = data.row_data["z"]
        return {"weight": np.ones(data.n_rows), "z": z, "square": z * z}

    def labels(self, data: Dataset) -> Sequence[Any]:
        return ("mean",)

    def leaf_cost(self, s: State, k: int) -> Any:
        return s.square - s.z * s.z / s.weight


@final
@attrs.frozen
class Outcome(Task):
    """Real gains of two treatments, the larger the better."""

    takes_weights: ClassVar[bool] = True

    maximize: ClassVar[bool] = True

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"gain": np.stack([data.row_data["z"], data.row_data["z"][::-1]], axis=1)}

    def labels(self, data: Dataset) -> Sequence[Any]:
        return ("leave", "treat")

    def leaf_cost(self, s: State, k: int) -> Any:
        return s.gain[k] if s.rows > 1 else s.gain[k] - 1.0

    def better(self, a: Any, b: Any) -> bool:
        return bool(a > b)


@final
@attrs.frozen
class CostMatrix(ByClass):
    """A two-dimensional parameter, read by label and class; a leaf costs something too."""

    costs: Any
    leaf: Any

    def leaf_cost(self, s: State, k: int) -> Any:
        total = self.leaf
        for j in range(len(s.of)):
            total += self.costs[k, j] * s.of[j]
        return total


# -- operators ---------------------------------------------------------------------------------------------------------


@final
@attrs.frozen
class WorstRate(Errors):
    """The error rate of the worst leaf, with all bounds."""

    worsening: ClassVar[bool] = True

    def leaf_cost(self, s: State, k: int) -> Any:
        return 1 - s.of[k] / sum(s.of)

    def combine(self, a: Any, b: Any) -> Any:
        return max(a, b)

    def subtract(self, a: Any, b: Any) -> Any:
        return a

    def lower_bound(self, s: State) -> Any:
        return 0.0


@final
@attrs.frozen
class WorstErrors(Errors):
    """The errors of the worst leaf, whole, without bounds; a split counts like a leaf of its rows' share."""

    share: int = 0

    def combine(self, a: Any, b: Any) -> Any:
        return max(a, b)

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return rows // self.share


@final
@attrs.frozen
class FewestHits(Errors):
    """The hits of the worst leaf, the more the better: (+) is the minimum."""

    maximize: ClassVar[bool] = True

    def leaf_cost(self, s: State, k: int) -> Any:
        return 2 * s.of[k] - s.rows

    def combine(self, a: Any, b: Any) -> Any:
        return min(a, b)

    def better(self, a: Any, b: Any) -> bool:
        return bool(a > b)


@final
@attrs.frozen
class Product(Errors):
    """Values are multiplied."""

    def leaf_cost(self, s: State, k: int) -> Any:
        return 2 - s.of[k] / sum(s.of)

    def combine(self, a: Any, b: Any) -> Any:
        return a * b

    def subtract(self, a: Any, b: Any) -> Any:
        return a / b

    def lower_bound(self, s: State) -> Any:
        return 1.0


@final
@attrs.frozen
class Length(Errors):
    """The length of the vector of errors."""

    def leaf_cost(self, s: State, k: int) -> Any:
        return float(sum(s.of) - s.of[k])

    def combine(self, a: Any, b: Any) -> Any:
        return math.sqrt(a * a + b * b)


# -- branching costs ---------------------------------------------------------------------------------------------------


@final
@attrs.frozen
class Discounted(Errors):
    """A column costs its price, or nothing if one of its group was tested above."""

    prices: Any
    groups: Any

    def leaf_cost(self, s: State, k: int) -> Any:
        return 2 * (s.rows - s.of[k])

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        price = self.prices[split]
        for column in path:
            if self.groups[column] == self.groups[split]:
                price = 0
        return price


@final
@attrs.frozen
class Deeper(Errors):
    """Real costs that grow with the depth and the rows."""

    price: Any

    def leaf_cost(self, s: State, k: int) -> Any:
        return (s.rows - s.of[k]) * 1.25

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return self.price * (1 + len(path)) + 0.01 * rows


@final
@attrs.frozen
class ByRows(Errors):
    """A split costs by the rows that it divides."""

    def leaf_cost(self, s: State, k: int) -> Any:
        return 3 * (s.rows - s.of[k]) + (s.rows > 5)

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return 1 + rows // 4


@final
@attrs.frozen
class ByColumn(Errors):
    """A column costs its price, which may be negative."""

    prices: Any

    def leaf_cost(self, s: State, k: int) -> Any:
        return 3 * (s.rows - s.of[k]) + (s.rows > 5)

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return self.prices[split]


# -- constraints -------------------------------------------------------------------------------------------------------


@final
@attrs.frozen
class AtLeast(Limit):
    """At least so many rows of a leaf are of class 0, or so much of it is."""

    least: Any
    share: Any = 0

    def allows(self, s: State) -> bool:
        return bool(s.of[0] >= self.least and s.of[0] >= self.share * s.rows)


@final
@attrs.frozen
class Capped(Errors):
    """Values above the cap are not feasible."""

    most: Any

    def leaf_cost(self, s: State, k: int) -> Any:
        return sum(s.of) - s.of[k] + s.rows % 3

    def feasible(self, value: Any) -> bool:
        return bool(value <= self.most)


@final
@attrs.frozen
class WithinCapacity(Errors):
    """Hits, the more the better, as long as there are not too many: the best label need not be a feasible one."""

    maximize: ClassVar[bool] = True
    most: Any

    def leaf_cost(self, s: State, k: int) -> Any:
        return s.of[k] if s.rows > 2 else 0

    def better(self, a: Any, b: Any) -> bool:
        return bool(a > b)

    def feasible(self, value: Any) -> bool:
        return bool(value <= self.most)


# -- kinds -------------------------------------------------------------------------------------------------------------


@attrs.frozen
class Kind:
    """How to make a task, and the data that it is tried on."""

    make: Callable[[random.Random, Dataset], Task]
    classes: tuple[int, ...] = (2, 3)
    """Numbers of classes; the first one is that of the suite."""
    categorical: bool = False
    """Whether the suite tries it on categorical columns; else on binary ones only."""
    exact: bool = False
    """Whether values are whole, and zero weights make sense."""


def _prices(draw: random.Random, data: Dataset, choices: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(draw.choice(choices) for _ in range(data.n_columns))


def _matrix(draw: random.Random, data: Dataset) -> Any:
    return np.array([[draw.randint(0, 4) for _ in range(data.n_classes)] for _ in range(data.n_classes)])


KINDS: dict[str, Kind] = {
    "gini": Kind(lambda _d, _: Gini()),
    "gini, many labels": Kind(lambda _d, _: Gini() + Splits(), classes=(14,)),
    "roots": Kind(lambda _d, _: RootErrors(), categorical=True),
    "whole": Kind(lambda draw, _: WholeErrors(draw.choice((0, 1, 2))), exact=True),
    "whole, many labels": Kind(lambda draw, _: WholeErrors(draw.choice((0, 1))), classes=(14,), exact=True),
    "whole, paid to split": Kind(lambda draw, _: WholeErrors(-draw.choice((1, 2))), classes=(3, 2), exact=True),
    "a price that is a fraction": Kind(lambda draw, _: WholeErrors(Fraction(draw.randint(0, 9), 7))),
    "a price that is a decimal": Kind(lambda draw, _: PaidErrors(Decimal(draw.randint(1, 90)) / 100)),
    "regression": Kind(lambda draw, _: SquaredErrors(draw.choice((0.0, 0.01, 0.3, 2.5))), categorical=True),
    "regression, splits for nothing": Kind(lambda _d, _: FreeSquaredErrors()),
    "outcome": Kind(lambda _d, _: Outcome()),
    "cost matrix": Kind(lambda draw, data: CostMatrix(_matrix(draw, data), 1), classes=(3, 2), exact=True),
    "worst rate": Kind(lambda _d, _: WorstRate(), categorical=True),
    "worst errors": Kind(lambda draw, _: WorstErrors(draw.choice((2, 3, 50))), exact=True),
    "fewest hits": Kind(lambda _d, _: FewestHits(), exact=True),
    "product": Kind(lambda _d, _: Product()),
    "length": Kind(lambda _d, _: Length()),
    "discounts": Kind(
        lambda draw, data: Discounted(_prices(draw, data, (1, 2, 3)), _prices(draw, data, (0, 1))),
        categorical=True,
        exact=True,
    ),
    "deeper": Kind(lambda draw, _: Deeper(draw.choice((0.1, 0.75)))),
    "by rows": Kind(lambda _d, _: ByRows(), exact=True),
    "by column": Kind(
        lambda draw, data: ByColumn(_prices(draw, data, (-1, 0, 1, 2))), classes=(3, 2), categorical=True, exact=True
    ),
    "by column, real": Kind(lambda draw, data: ByColumn(np.array(_prices(draw, data, (0.5, -0.25, 1.0, 2.0))))),
    "treated rows": Kind(
        lambda draw, _: WholeErrors(0).subject_to(AtLeast(draw.randint(0, 3), draw.choice((0.0, 0.25)))), exact=True
    ),
    "capped": Kind(lambda draw, _: Capped(draw.randint(1, 14))),
    "capacity": Kind(lambda draw, _: WithinCapacity(draw.randint(1, 14)), exact=True),
    "sum of two": Kind(
        lambda draw, data: draw.choice((0.25, 0.5)) * ByRows() + 2 * ByColumn(_prices(draw, data, (1, 2))),
    ),
    "sum with a path": Kind(
        lambda draw, data: Discounted(_prices(draw, data, (1, 2)), _prices(draw, data, (0, 1))) + 0.5 * Gini(),
        categorical=True,
    ),
    "sum with costs per row": Kind(lambda draw, _: Gini() + Misclassifications() + draw.choice((0.25, 0.5)) * Splits()),
}


# -- data --------------------------------------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class Case:
    """A task of a kind on a data set, within limits."""

    kind: str
    task: Task
    data: Dataset
    limits: dict[str, Any]

    def __str__(self) -> str:
        data = self.data
        weights = None if data.weights is None else data.weights.tolist()
        return (
            f"{self.kind}: {self.task!r}\nX = {data.X.tolist()}\ny = {data.y.tolist()}\nweights = {weights}\n"
            f"z = {data.row_data['z'].tolist()}\ncategorical = {data.categorical}\nlimits = {self.limits}"
        )


def make_case(kind: str, seed: Any, plain: bool = True) -> Case:
    """A case of the kind; the kernels of all `plain` ones have the same shape, so that they are compiled once."""
    chosen = KINDS[kind]
    draw = random.Random(f"{kind}/{seed}")
    n_classes = chosen.classes[0] if plain else draw.choice(chosen.classes)
    categorical = chosen.categorical if plain else draw.random() < 0.4
    n_rows = max(draw.choice((1, 2, 4, 7, 11, 16, 24)), max(n_classes, 3) if plain else 1)
    n_columns = draw.choice((1, 2, 3, 3, 4, 5))
    widths = [draw.choice((2, 3, 4)) if categorical and column % 2 == 0 else 2 for column in range(n_columns)]
    widths[0] = 3 if categorical else 2
    X = np.array([[draw.randrange(width) for width in widths] for _ in range(n_rows)], dtype=np.uint8)
    X[: len(X) // 3] = X[len(X) // 2 : len(X) // 2 + len(X) // 3]  # rows alike
    X[: widths[0], 0] = range(min(widths[0], n_rows))
    noise = draw.choice((0.1, 0.4, 1.0))
    y = [draw.randrange(n_classes) if draw.random() < noise else int(sum(row)) % n_classes for row in X.tolist()]
    if n_rows >= n_classes:
        y[:n_classes] = range(n_classes)
    whole = draw.random() < 0.2
    z = [float(draw.randint(-3, 3)) if whole else draw.gauss(0, 2) + float(row[0]) for row in X.tolist()]
    weights = None
    if draw.random() < 0.3 and (chosen.exact or not plain):
        weights = [draw.choice((0, 1, 1, 2, 3) if chosen.exact else (1, 1, 2, 3)) for _ in range(n_rows)]
        weights[0] = weights[0] or 1
    columns = [column for column, width in enumerate(widths) if width > 2]
    data = Dataset.make(X, [*y], sample_weight=weights, categorical=columns, z=np.array(z))
    limits = {
        "max_depth": draw.choice((None, 0, 1, 2, 2, 3, 3, 4)),
        "max_nodes": draw.choice((None, None, None, 1, 2, 3, 4)),
        "min_leaf": min(n_rows, draw.choice((1, 1, 1, 2, 3))),
    }
    return Case(kind, chosen.make(draw, data), data, limits)
