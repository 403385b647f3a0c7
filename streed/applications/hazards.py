"""The baseline of survival times: Nelson and Aalen's cumulative hazard, and what relative risks make of it."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from streed.errors import InputError
from streed.exact import Array


@attrs.frozen(eq=False)
class CumulativeHazard:
    """A step function: 0 before the first of `times`, then `values` from each of them on."""

    times: Array
    """(m,) float64, ascending: when events happened."""
    values: Array
    """(m,) float64, ascending."""

    def at(self, times: Any) -> Array:
        """The hazard accumulated until each of the times, in the shape of `times`."""
        places = np.searchsorted(self.times, np.asarray(times, dtype=np.float64), side="right")
        found: Array = np.concatenate([[0.0], self.values])[places]
        return found


def nelson_aalen(times: Any, events: Any, weights: Any = None) -> CumulativeHazard:
    """The sum, over the times at which events happened, of the events there over the rows still at risk.

    times (n,) >= 0; events (n,): 1 if the event was observed, 0 if the row was censored then; weights (n,) >= 0.
    Raises InputError for negative times, and where no event was observed.
    """
    t = np.asarray(times, dtype=np.float64)
    d = np.asarray(events, dtype=np.float64)
    w = np.ones(len(t)) if weights is None else np.asarray(weights, dtype=np.float64)
    if (t < 0).any():
        row = int(np.argmax(t < 0))
        raise InputError("y", f"row {row} has the time {t[row]}", "give times >= 0")
    if not (d * w > 0).any():
        raise InputError("event", "every row is censored", "give rows whose event was observed")
    order = np.argsort(t, kind="stable")
    sorted_times, died, weighed = t[order], (d * w)[order], w[order]
    at_risk = weighed[::-1].cumsum()[::-1]
    first = np.flatnonzero(np.concatenate([[True], sorted_times[1:] > sorted_times[:-1]]))
    deaths = np.add.reduceat(died, first)
    seen = deaths > 0
    return CumulativeHazard(sorted_times[first][seen], (deaths[seen] / at_risk[first][seen]).cumsum())


def survival_functions(risks: Any, baseline: CumulativeHazard, times: Any) -> Array:
    """(m, q) the probability that each row lives beyond each time: exp(-risk * baseline hazard).

    risks (m,) as a tree of `RelativeRisk` predicts them, times (q,).
    """
    hazards = np.asarray(risks, dtype=np.float64)[:, None] * baseline.at(times)[None, :]
    survival: Array = np.exp(-hazards)
    return survival
