"""Instances of generated tasks: what kinds there are, and data drawn for each."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import attrs
import numpy as np

from streed.data import Dataset
from streed.task import Task
from streed.tasks import Misclassifications, Splits
from tests.differential.generated_tasks import (
    AtLeast,
    ByColumn,
    ByRows,
    Capped,
    CostMatrix,
    Deeper,
    Discounted,
    FewestHits,
    FreeSquaredErrors,
    Gini,
    Length,
    Outcome,
    PaidErrors,
    Product,
    RootErrors,
    SquaredErrors,
    WholeErrors,
    WithinCapacity,
    WorstErrors,
    WorstRate,
)


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
