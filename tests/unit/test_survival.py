"""Nelson and Aalen's hazard, relative risks and survival functions, by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import streed
from streed.estimators import SurvivalTree
from streed.tasks import Accuracy, RelativeRisk, SquaredError
from streed.tasks.survival import nelson_aalen
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


def test_risks_and_losses_by_hand() -> None:
    """Left one event over twice the last hazard, right two events over the first two."""
    hazards = [13 / 12, 13 / 12, 7 / 12, 1 / 4]
    result = solved()
    left, right = result.tree.predict([[0], [1]])
    assert (left, right) == (pytest.approx(1 / (hazards[0] + hazards[1])), pytest.approx(2 / (hazards[2] + hazards[3])))
    losses = [
        h * risk - d * math.log(h * risk) - d
        for h, d, risk in zip(hazards, EVENTS, (left, left, right, right), strict=True)
    ]
    assert result.value == pytest.approx(sum(losses) / 4)


def test_what_is_refused() -> None:
    refused("y", "row 2", "-1", call=lambda: solved(times=[9, 8, -1, 1]))
    refused("event", "every row is censored", call=lambda: solved(events=[0, 0, 0, 0]))
    refused("event", "every row is censored", call=lambda: solved(sample_weight=[1, 0, 0, 0]))
    refused("event", "needs it", call=lambda: streed.solve(RelativeRisk(), X, TIMES))


def fields(first: str, second: str, kind: Any = int) -> Any:
    """Events and times as a structured array, in the order of the two names; that of times has "t" as its first."""
    columns = {first: EVENTS, second: TIMES} if not first.startswith("t") else {first: TIMES, second: EVENTS}
    types = [(name, kind if column is EVENTS else float) for name, column in columns.items()]
    return np.array(list(zip(*columns.values(), strict=True)), dtype=types)


BOTH = {
    "truth values first": fields("a", "b", bool),
    "truth values last": fields("t.os", "e.os", bool),
    "numbers, event first": fields("event", "time"),
    "numbers, time first": fields("time_in_days", "status"),
    "one name tells": fields("fstat", "lenfol"),
    "unsigned bytes": fields("cens", "duration", np.uint8),
    "pandas": pd.DataFrame({"duration": TIMES, "death": pd.Series(EVENTS, dtype="Int64")}),
    "polars": pl.DataFrame({"Event": EVENTS, "Time": TIMES}),
    "dict": {"time": TIMES, "event": EVENTS},
    "rows": [(bool(e), t) for e, t in zip(EVENTS, TIMES, strict=True)],
}


@pytest.mark.parametrize("y", BOTH.values(), ids=list(BOTH))
def test_events_and_times_in_one_are_told_apart(y: Any) -> None:
    value = solved().value
    assert streed.solve(RelativeRisk(), X, y, max_depth=1).value == value
    model = SurvivalTree(max_depth=1).fit(X, y)
    assert model.value_ == value
    assert model.score(X, y) == model.score(X, TIMES, event=EVENTS)
    assert SurvivalTree(max_depth=1).fit(X, y, frequency=[1, 1, 2, 1]).value_ != value
    assert model.size_path(X, y).task_values[-1] == pytest.approx(value)
    refused("y", call=lambda: streed.solve(SquaredError(), X, y))
    refused("y", "events and times", call=lambda: streed.solve(Accuracy(), X, y))


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([0.9, 1, 1, 0], "row 0 has 0.9"),
        ([1, 1.9, 1, 0], "row 1 has 1.9"),
        ([0, 2, 1, 1], "row 1 has 2; risks that compete"),
        (["yes", "no", "yes", "no"], "'yes'"),
        (["1", "0", "1", "1"], "'1'"),
        ([None, 1, 1, 1], "row 0"),
        (pd.Series([1, None, 0, 1], dtype="boolean"), "row 1"),
        ([1, 1, 1, math.nan], "row 3"),
    ],
)
def test_events_are_0_or_1(events: Any, said: str) -> None:
    refused("event", said, call=lambda: solved(events=events))
    refused("event", said, call=lambda: SurvivalTree().fit(X, TIMES, event=events))
    refused("event", said, call=lambda: nelson_aalen(TIMES, events))
