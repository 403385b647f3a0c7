"""Poisson deviance: leaves predict the rate at which events happen, over a time or a number at risk of each row.

    minimise 2 * sum over rows i of  y_i log(y_i / (e_i r)) - (y_i - e_i r)

where y_i >= 0 counts the events of a row, e_i > 0 is its `exposure` (row data; 1 if there is none) and r the rate of
its leaf, by maximum likelihood all events Y of the leaf over all exposures E. There sum y_i = sum e_i r, so a leaf
costs 2 * (sum of y_i log(y_i / e_i) - Y log(Y / E)): a function of three sums. Separable: a sum over leaves (STreeD,
Eq. 4). Superadditive: parts may have the rate of the whole. Reference: Breiman et al.: Classification and Regression
Trees, 1984; T. Therneau, E. Atkinson: An Introduction to Recursive Partitioning Using the RPART Routines, Section 8.

>>> import streed
>>> from streed.tasks import PoissonDeviance
>>> result = streed.solve(PoissonDeviance(), [[0], [0], [1], [1]], [0, 2, 3, 3], exposure=[1, 1, 1, 1], max_depth=1)
>>> round(result.value, 6), result.tree.predict([[0], [1]]).tolist()
(2.772589, [1.0, 3.0])
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from streed.data.given import row_numbers
from streed.exact import Array, Range
from streed.logarithms import log_ratio
from streed.task import State, Task

if TYPE_CHECKING:
    from streed.data import Dataset


_LAST_DIGITS = 2.0**-51
"""What the roundings of a quotient and a product leave of nothing."""


def half_deviance(saturated: Any, events: Any, exposure: Any) -> Any:
    """saturated - Y log(Y / E), where `saturated` is the sum of y log(y / e); 0 where nothing happened."""
    if events <= 0 or exposure <= 0:
        return 0.0
    # Rounding may leave a little less than nothing.
    return max(saturated - events * log_ratio(events, exposure), 0.0)


def saturated_terms(events: Array, exposures: Array) -> Array:
    """(n,) y log(y / e), and 0 where y is 0."""
    happened = (events > 0) & (exposures > 0)
    rates = np.where(happened, events, 1.0) / np.where(happened, exposures, 1.0)
    terms: Array = np.where(happened, events * np.log(rates), 0.0)
    return terms


def half_deviance_of_rows(events: Array, exposures: Array, weights: Array | None) -> float:
    """Half the deviance of rows (n,) from the rate of all of them together, to the last digits of a float.

    It is the sum of m h(y / m - 1) with m = e r and h(d) = (1 + d) log(1 + d) - d, none of which is below zero, so
    nothing cancels, as it does in the three sums where one row outweighs all others.
    """
    each = np.ones(len(events)) if weights is None else np.asarray(weights, np.float64)
    happened, exposed = math.fsum(each * events), math.fsum(each * exposures)
    if happened <= 0 or exposed <= 0:
        return 0.0
    fitted = exposures * (happened / exposed)
    counted = fitted > 0
    d = (events[counted] - fitted[counted]) / fitted[counted]
    d[np.abs(d) <= _LAST_DIGITS] = 0.0
    near = np.abs(d) < 1e-3
    far = np.where(near | (d <= -1), 0.0, d)
    loss = np.where(d <= -1, 1.0, (1 + far) * np.log1p(far) - far)
    # h by its series, where 1 + d and its logarithm cancel
    series = d * d * (1 / 2 - d * (1 / 6 - d * (1 / 12 - d * (1 / 20 - d * (1 / 30 - d / 42)))))
    return math.fsum(each[counted] * fitted[counted] * np.where(near, series, loss))


@final
@attrs.frozen
class PoissonDeviance(Task):
    """The (weighted) Poisson deviance of leaves that predict their rate of events."""

    superadditive: ClassVar[bool] = True
    worsening: ClassVar[bool] = True
    any_label: ClassVar[bool] = True

    def statistics(self, data: Dataset) -> dict[str, Array]:
        events = data.targets
        Range(0, meaning="how many events there were").read_rows("y", events)
        exposures = np.ones(data.n_rows, np.int64)
        if "exposure" in data.row_data:
            exposures = Range(above=0).read_rows("exposure", row_numbers(data, "exposure", "PoissonDeviance"))
        return {"events": events, "exposure": exposures, "saturated": saturated_terms(events, exposures)}

    def labels(self, data: Dataset) -> Sequence[Any]:
        return ("rate",)

    def leaf_cost(self, s: State, k: int) -> Any:
        return 2.0 * half_deviance(s.saturated, s.events, s.exposure)

    def exact_cost(self, data: Dataset, rows: Array, k: int) -> Any:
        exposures = np.ones(len(rows))
        if "exposure" in data.row_data:
            exposures = row_numbers(data, "exposure", "PoissonDeviance")[rows]
        return 2.0 * half_deviance_of_rows(
            data.targets[rows], exposures, None if data.weights is None else data.weights[rows]
        )

    def lower_bound(self, s: State) -> Any:
        return 0.0

    def leaf_label(self, s: State, k: int) -> Any:
        return float(s.events / s.exposure) if s.exposure > 0 else 0.0
