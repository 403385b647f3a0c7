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

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from streed.data.given import row_numbers
from streed.errors import InputError
from streed.exact import Array
from streed.logarithms import log_ratio
from streed.task import State, Task

if TYPE_CHECKING:
    from streed.data import Dataset


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


@final
@attrs.frozen
class PoissonDeviance(Task):
    """The (weighted) Poisson deviance of leaves that predict their rate of events."""

    superadditive: ClassVar[bool] = True
    worsening: ClassVar[bool] = True
    any_label: ClassVar[bool] = True

    def statistics(self, data: Dataset) -> dict[str, Array]:
        events = data.targets
        if events.min() < 0:
            row = int(np.argmin(events))
            raise InputError("y", f"row {row} counts {events[row]} events", "give numbers >= 0")
        exposures = np.ones(data.n_rows, np.int64)
        if "exposure" in data.row_data:
            exposures = row_numbers(data, "exposure", "PoissonDeviance")
            if exposures.min() <= 0:
                row = int(np.argmin(exposures))
                raise InputError("exposure", f"row {row} has {exposures[row]}", "give numbers > 0")
        return {"events": events, "exposure": exposures, "saturated": saturated_terms(events, exposures)}

    def labels(self, data: Dataset) -> Sequence[Any]:
        return ("rate",)

    def leaf_cost(self, s: State, k: int) -> Any:
        return 2.0 * half_deviance(s.saturated, s.events, s.exposure)

    def lower_bound(self, s: State) -> Any:
        return 0.0

    def leaf_label(self, s: State, k: int) -> Any:
        return float(s.events / s.exposure) if s.exposure > 0 else 0.0
