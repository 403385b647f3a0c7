"""Survival times, some of them censored: leaves that differ in their risk, relative to the hazard of all rows.

    minimise (1 / n) * sum over rows i of  L_i theta - d_i log(L_i theta) - d_i

where t_i = y_i is a row's time, d_i = `event` whether its event was observed then (1) or not (0, censored), L_i is
Nelson and Aalen's cumulative hazard of all rows until t_i, and theta is the risk of the leaf of i, by maximum
likelihood the events D of the leaf over the hazards H of its rows. So a leaf costs - sum of d_i log L_i - D log(D /
H): half its deviance. A leaf without events has theta = 0, the limit of D / H, and costs 0, the limit of that: the
same in the search, in the score, and in what it predicts (survival for certain). Separable: a sum over leaves
(STreeD, Eq. 4). Superadditive: parts may have the risk of the whole. References: M. LeBlanc, J. Crowley: Relative
Risk Trees for Censored Survival Data, Biometrics 48, 1992; T. Huisman, J. van der Linden, E. Demirovic: Optimal
Survival Trees, AAAI 2024.

>>> import streed
>>> from streed.tasks import RelativeRisk
>>> result = streed.solve(RelativeRisk(), [[0], [0], [1], [1]], [9, 8, 2, 1], event=[0, 1, 1, 1], max_depth=1)
>>> round(result.value, 6), [round(risk, 3) for risk in result.tree.predict([[0], [1]]).tolist()]
(0.216875, [0.462, 2.4])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from streed.applications.hazards import CumulativeHazard, nelson_aalen
from streed.data.given import row_numbers
from streed.errors import InputError
from streed.exact import Array
from streed.task import State, Task, bound
from streed.tasks.poisson import half_deviance, half_deviance_of_rows, saturated_terms

if TYPE_CHECKING:
    from streed.data import Dataset


def baseline_hazard(data: Dataset) -> CumulativeHazard:
    """The cumulative hazard of all rows; raises InputError for negative times, and events that are not 0 or 1."""
    events = row_numbers(data, "event", "RelativeRisk")
    if not np.isin(events, (0, 1)).all():
        row = int(np.argmin(np.isin(events, (0, 1))))
        raise InputError("event", f"row {row} has {events[row]}", "give 1 for an observed event, 0 for a censored time")
    return nelson_aalen(data.targets, events, data.weights)


@final
@attrs.frozen
class RelativeRisk(Task):
    """The (weighted) mean of half the deviance of proportional hazards; leaves predict their relative risk."""

    superadditive: ClassVar[bool] = True
    worsening: ClassVar[bool] = True
    any_label: ClassVar[bool] = True

    scale: float = bound(1.0)
    """What costs are multiplied by: one over the weight of all rows."""
    hazard: Any = bound(None)

    def bind(self, data: Dataset) -> Task:
        total = float(data.n_rows if data.weights is None else data.weights.sum())
        return attrs.evolve(self, scale=1 / total, hazard=baseline_hazard(data))

    def statistics(self, data: Dataset) -> dict[str, Array]:
        events = row_numbers(data, "event", "RelativeRisk")
        hazards = self.hazard.at(data.targets)
        return {"events": events.astype(np.int64), "hazard": hazards, "saturated": saturated_terms(events, hazards)}

    def labels(self, data: Dataset) -> Sequence[Any]:
        return ("relative risk",)

    def leaf_cost(self, s: State, k: int) -> Any:
        return half_deviance(s.saturated, s.events, s.hazard) * self.scale

    def exact_cost(self, data: Dataset, rows: Array, k: int) -> Any:
        events = row_numbers(data, "event", "RelativeRisk")[rows]
        weights = None if data.weights is None else data.weights[rows]
        return half_deviance_of_rows(events, self.hazard.at(data.targets[rows]), weights) * self.scale

    def lower_bound(self, s: State) -> Any:
        return 0.0

    def leaf_label(self, s: State, k: int) -> Any:
        return float(s.events / s.hazard) if s.events > 0 else 0.0
