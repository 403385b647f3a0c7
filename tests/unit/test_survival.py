"""Nelson and Aalen's hazard, relative risks and survival functions, by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import streed
from streed.applications.hazards import nelson_aalen, survival_functions
from streed.tasks import PoissonDeviance, RelativeRisk
from tests.unit.refusal import refused

X = [[0], [0], [1], [1]]
TIMES = [9, 8, 2, 1]
EVENTS = [0, 1, 1, 1]


def solved(times: Any = TIMES, events: Any = EVENTS, **more: Any) -> streed.Result:
    return streed.solve(RelativeRisk(), X, times, event=events, max_depth=1, **more)


def test_cumulative_hazard() -> None:
    """Events at 1, 2 and 8 with 4, 3 and 2 rows at risk."""
    hazard = nelson_aalen(TIMES, EVENTS)
    assert hazard.times.tolist() == [1, 2, 8]
    assert hazard.values == pytest.approx([1 / 4, 1 / 4 + 1 / 3, 1 / 4 + 1 / 3 + 1 / 2])
    assert hazard.at([0.5, 1, 1.5, 100]) == pytest.approx([0, 1 / 4, 1 / 4, 13 / 12])


def test_ties_and_weights() -> None:
    """Rows that leave at a time are at risk there; a weight counts as so many rows."""
    tied = nelson_aalen([1, 1, 1, 2], [1, 1, 0, 1])
    assert tied.values == pytest.approx([2 / 4, 2 / 4 + 1])
    weighed, repeated = nelson_aalen([1, 2], [1, 1], [3, 1]), nelson_aalen([1, 1, 1, 2], [1, 1, 1, 1])
    assert weighed.values == pytest.approx(repeated.values)


def test_risks_and_losses_by_hand() -> None:
    """Left one event over twice the last hazard, right two events over the first two."""
    hazards = [13 / 12, 13 / 12, 7 / 12, 1 / 4]
    result = solved()
    assert result.tree is not None
    left, right = result.tree.predict([[0], [1]])
    assert (left, right) == (pytest.approx(1 / (hazards[0] + hazards[1])), pytest.approx(2 / (hazards[2] + hazards[3])))
    losses = [
        h * risk - d * math.log(h * risk) - d
        for h, d, risk in zip(hazards, EVENTS, (left, left, right, right), strict=True)
    ]
    assert result.value == pytest.approx(sum(losses) / 4)


@pytest.mark.compiles
def test_a_leaf_without_events_costs_nothing_and_survives() -> None:
    result = solved(events=[0, 0, 1, 1])
    assert result.tree is not None
    risks = result.tree.predict([[0], [1]])
    assert risks[0] == 0
    hazard = nelson_aalen(TIMES, [0, 0, 1, 1])
    survival = survival_functions(risks, hazard, [0, 1, 2])
    assert survival[0].tolist() == [1, 1, 1]
    assert survival[1] == pytest.approx(np.exp(-risks[1] * np.array([0, 1 / 4, 7 / 12])))
    one_leaf = streed.solve(RelativeRisk(), X[2:], TIMES[2:], event=[1, 1], max_depth=0).value
    assert result.value < one_leaf


def test_row_weights_are_so_many_rows() -> None:
    weighed = solved(sample_weight=[2, 1, 1, 3])
    rows = [0, 0, 1, 2, 3, 3, 3]
    repeated = streed.solve(
        RelativeRisk(),
        [X[row] for row in rows],
        [TIMES[row] for row in rows],
        event=[EVENTS[row] for row in rows],
        max_depth=1,
    )
    assert weighed.value == pytest.approx(repeated.value)


def test_it_is_half_a_poisson_deviance_with_hazards_for_exposures() -> None:
    hazards = nelson_aalen(TIMES, EVENTS).at(TIMES)
    deviance = streed.solve(PoissonDeviance(), X, EVENTS, exposure=hazards, max_depth=1).value
    assert solved().value == pytest.approx(deviance / 2 / 4)


def test_what_is_refused() -> None:
    refused("y", "row 2", "-1", call=lambda: solved(times=[9, 8, -1, 1]))
    refused("event", "every row is censored", call=lambda: solved(events=[0, 0, 0, 0]))
    refused("event", "every row is censored", call=lambda: solved(sample_weight=[1, 0, 0, 0]))
    refused("event", "row 1 has 2", call=lambda: solved(events=[0, 2, 1, 1]))
    refused("event", "needs it", call=lambda: streed.solve(RelativeRisk(), X, TIMES))
