"""Tasks of all kinds that kernels are generated for, each as a user would write it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.exact import Array
from streed.task import Limit, State, Task


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
        return {"of": data.class_numbers[:, None] == np.arange(data.n_classes)}


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
