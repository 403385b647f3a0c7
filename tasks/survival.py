"""Events: how many happen over an exposure, and times until they do.

PoissonDeviance: leaves predict the rate at which events happen, over a time or a number at risk of each row.

    minimise 2 * sum over rows i of  y_i log(y_i / (e_i r)) - (y_i - e_i r)

where y_i >= 0 counts the events of a row, e_i > 0 is its `exposure` (row data; 1 if there is none) and r the rate of
its leaf, by maximum likelihood all events Y of the leaf over all exposures E. So a leaf costs 2 * (sum of y_i log(y_i /
e_i) - Y log(Y / E)), of three sums (Breiman et al.: Classification and Regression Trees, 1984; T. Therneau, E.
Atkinson: An Introduction to Recursive Partitioning Using the RPART Routines, Section 8).

RelativeRisk: survival times, some censored; leaves differ in their risk, relative to the hazard of all rows.

    minimise (1 / n) * sum over rows i of  L_i theta - d_i log(L_i theta) - d_i

where t_i = y_i is a row's time, d_i = `event` whether its event was observed then (1) or not (0, censored; a y of two
fields, event and time, holds both), L_i is Nelson and Aalen's cumulative hazard of all rows until t_i, and theta the
risk of the leaf, by maximum likelihood its events over the hazards of its rows: half the deviance of events over
exposures L_i. A leaf without events has theta = 0 and costs 0, the limits (M. LeBlanc, J. Crowley: Relative Risk Trees
for Censored Survival Data, Biometrics 48, 1992; T. Huisman, J. van der Linden, E. Demirovic: Optimal Survival Trees,
AAAI 2024).

Separable: sums over leaves (STreeD, Eq. 4). Superadditive: parts may have the rate of the whole.

>>> import streed
>>> from streed.tasks import PoissonDeviance, RelativeRisk
>>> result = streed.solve(PoissonDeviance(), [[0], [0], [1], [1]], [0, 2, 3, 3], exposure=[1, 1, 1, 1], max_depth=1)
>>> round(result.value, 6), result.tree.predict([[0], [1]]).tolist()
(2.772589, [1.0, 3.0])
>>> result = streed.solve(RelativeRisk(), [[0], [0], [1], [1]], [9, 8, 2, 1], event=[0, 1, 1, 1], max_depth=1)
>>> round(result.value, 6), [round(risk, 3) for risk in result.tree.predict([[0], [1]]).tolist()]
(0.216875, [0.462, 2.4])
"""

from __future__ import annotations

import abc
import math
from collections.abc import Sequence
from typing import Any, ClassVar, final

import attrs
import numpy as np

from streed.data import Dataset, row_column, row_numbers
from streed.data.rows import Outcome, read_events
from streed.errors import InputError
from streed.exact import Array, Range
from streed.task import State, Task, bound
from streed.task.states import kept_by_data

_LAST_DIGITS = 2.0**-51  # what the roundings of a quotient and a product leave of nothing
_LEAST = 2.0**-1000  # of what floats hold to nearly all their digits, with those of its parts


def half_deviance_of_rows(events: Array, exposures: Array, weights: Array | None) -> float:
    """Half the deviance of rows (n,) from the rate of all of them, to the last digits of a float.

    It is the sum of m h(y / m - 1), m = e r, h(d) = (1 + d) log(1 + d) - d >= 0: nothing cancels, as in the three sums.
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


@attrs.frozen
class EventRates(Task):
    """A multiple of the (weighted) Poisson deviance of leaves that predict their rate of events by exposure."""

    superadditive: ClassVar[bool] = True
    worsening: ClassVar[bool] = True
    any_label: ClassVar[bool] = True

    scale: float = bound(2.0)
    """What half the deviance is multiplied by."""

    @abc.abstractmethod
    def events(self, data: Dataset) -> tuple[Array, Array]:
        """(events, exposures) of the rows."""

    def statistics(self, data: Dataset) -> dict[str, Array]:
        events, exposures = self.events(data)
        happened = (events > 0) & (exposures > 0)
        rates = np.where(happened, events, 1.0) / np.where(happened, exposures, 1.0)
        saturated = np.where(happened, events * np.log(rates), 0.0)
        return {"events": events, "exposure": exposures, "saturated": saturated}

    def labels(self, data: Dataset) -> Sequence[Any]:
        return ("rate",)

    def leaf_cost(self, s: State, k: int) -> Any:
        """2 (sum of y log(y / e) - Y log(Y / E)), or a part of that; 0 where nothing happened."""
        if s.events <= 0 or s.exposure <= 0:
            return 0.0
        # Rounding may leave a little less than nothing.
        return max(s.saturated - s.events * math.log(s.events / s.exposure), 0.0) * self.scale

    def exact_cost(self, data: Dataset, rows: Array, k: int) -> Any:
        events, exposures = self.events(data)
        weights = None if data.weights is None else data.weights[rows]
        return half_deviance_of_rows(events[rows], exposures[rows], weights) * self.scale

    def lower_bound(self, s: State) -> Any:
        return 0.0

    def leaf_label(self, s: State, k: int) -> Any:
        return float(s.events / s.exposure) if s.events > 0 and s.exposure > 0 else 0.0


@final
@attrs.frozen
class PoissonDeviance(EventRates):
    """The (weighted) Poisson deviance of leaves that predict their rate of events."""

    value_unit: ClassVar[str] = "Poisson deviance"

    def bind(self, data: Dataset) -> Task:
        weights = 1 if data.weights is None else data.weights
        with np.errstate(all="ignore"):
            events, *others = (float(np.abs(each * weights).sum()) for each in self.statistics(data).values())
        if data.targets.any() and not _LEAST < min(events, others[0]) <= max(events, *others) < math.inf:
            remedy = "measure y, exposure or weights in another unit"
            raise InputError("y", "its events or their rates are beyond the range of floats", remedy)
        return self

    def events(self, data: Dataset) -> tuple[Array, Array]:
        events = Range(0, meaning="how many events there were").read_rows("y", data.targets)
        if "exposure" not in data.row_data:
            return events, np.ones(data.n_rows, np.int64)
        return events, Range(above=0).read_rows("exposure", row_numbers(data, "exposure", "PoissonDeviance"))


@final
@attrs.frozen(eq=False)
class CumulativeHazard:
    """A step function: 0 before the first of `times`, then `values` from each of them on."""

    times: Array
    """(m,) float64, ascending: when events happened."""
    values: Array
    """(m,) float64, ascending."""

    def at(self, times: Any) -> Array:
        """The hazard accumulated until each of the times, in the shape of `times`; they are finite numbers >= 0."""
        asked = as_times(times, "times")
        return np.asarray(np.concatenate([[0.0], self.values])[np.searchsorted(self.times, asked, side="right")])


def as_times(times: Any, argument: str) -> Array:
    """The times as float64; raises InputError unless they are finite numbers >= 0."""
    remedy = "give finite numbers >= 0"
    try:
        given = np.asarray(times)
        objects = given.flat if given.dtype.kind == "O" else ()
        if given.size and (given.dtype.kind in "bcSUmM" or any(isinstance(x, (str, bool)) for x in objects)):
            raise TypeError
        asked = np.ma.filled(np.ma.asarray(times, np.float64), math.nan)
    except (TypeError, ValueError, OverflowError):
        raise InputError(argument, f"{times!r:.200} holds what is no number", remedy) from None
    wrong = ~(np.isfinite(asked) & (asked >= 0))
    if wrong.any():
        at = "" if asked.ndim == 0 else f"row {int(np.argmax(wrong.ravel()))} has "
        raise InputError(argument, f"{at}the time {asked[wrong][0]}", remedy)
    return asked


def nelson_aalen(times: Any, events: Any, weights: Any = None) -> CumulativeHazard:
    """The sum, over the times at which events happened, of the events there over the rows still at risk.

    times (n,) >= 0; events (n,): 1 if the event was observed, 0 if the row was censored then; weights (n,) >= 0.
    Raises InputError for negative times, events that are not 0 or 1, and where no event was observed.
    """
    t, d = as_times(times, "y"), read_events(events)
    w = np.ones(len(t)) if weights is None else np.asarray(weights, dtype=np.float64)
    if not (d * w > 0).any():
        raise InputError("event", "every row is censored", "give rows whose event was observed")
    order = np.argsort(t, kind="stable")
    sorted_times, died, weighed = t[order], (d * w)[order], w[order]
    at_risk = weighed[::-1].cumsum()[::-1]
    first = np.flatnonzero(np.concatenate([[True], sorted_times[1:] > sorted_times[:-1]]))
    deaths = np.add.reduceat(died, first)
    seen = deaths > 0
    return CumulativeHazard(sorted_times[first][seen], (deaths[seen] / at_risk[first][seen]).cumsum())


def cumulative_hazards(risks: Any, baseline: CumulativeHazard, times: Any) -> Array:
    """(m, q) the cumulative hazard of each row until each time: its risk times that of the baseline.

    risks (m,) as a tree of `RelativeRisk` predicts them; times (q,), or one number. Raises InputError for others.
    """
    hazards = np.atleast_1d(baseline.at(times))
    if hazards.ndim > 1:
        raise InputError("times", f"they have {hazards.ndim} dimensions", "give a list of times, or one")
    return np.asarray(np.asarray(risks, dtype=np.float64)[:, None] * hazards)


def survival_functions(risks: Any, baseline: CumulativeHazard, times: Any) -> Array:
    """(m, q) the probability that each row lives beyond each time; arguments are those of `cumulative_hazards`."""
    return np.asarray(np.exp(-cumulative_hazards(risks, baseline, times)))


@kept_by_data
def outcome(data: Dataset) -> Outcome:
    """(events int64, times) of the rows, of y and `event`, or of a y that holds both."""
    if isinstance(data.classes[0], Outcome):
        if "event" in data.row_data:
            raise InputError("event", "y holds the events already", "give one of the two")
        events, times = (np.array(column)[data.class_numbers] for column in zip(*data.classes, strict=True))
        return Outcome(read_events(events), times)
    return Outcome(read_events(row_column(data, "event", "RelativeRisk")), data.targets)


@kept_by_data
def _exposures(data: Dataset, hazard: CumulativeHazard) -> tuple[Array, Array]:
    events, times = outcome(data)
    return events, hazard.at(times)


@final
@attrs.frozen
class RelativeRisk(EventRates):
    """The (weighted) mean of half the deviance of proportional hazards; leaves predict their relative risk."""

    value_unit: ClassVar[str] = "mean of half the deviance"

    hazard: Any = bound(None)

    def bind(self, data: Dataset) -> Task:
        total = float(data.n_rows if data.weights is None else data.weights.sum())
        events, times = outcome(data)
        return attrs.evolve(self, scale=1 / total, hazard=nelson_aalen(times, events, data.weights))

    def events(self, data: Dataset) -> tuple[Array, Array]:
        return _exposures(data, self.hazard)
