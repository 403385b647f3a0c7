"""Ctrl-C while a front is searched: the points so far, each a real tree's, and bounds on what may be missing.

The interrupt comes at a certain step of the search, not at a time, so that nothing here races the clock.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import streed
from streed.cli.app import app
from streed.enumerate.vector_trees import Trees
from streed.progress import Progress
from streed.reductions import lagrangian
from streed.tasks import Accuracy, ClassErrors, DemographicParity
from tests.unit.test_tradeoffs import SEX, X, Y


def interrupting(function: Callable[..., Any], call: int) -> Callable[..., Any]:
    """The function, which at this call of it is interrupted."""
    calls = 0

    def interrupted(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == call:
            raise KeyboardInterrupt
        return function(*arguments, **named)

    return interrupted


def holds(missing: Any, value: tuple[Any, ...]) -> bool:
    """Whether a value lies in all the half-planes."""
    return all(
        sum(w * x for w, x in zip(each["weights"], value, strict=True)) >= each["bound"] - 1e-9 for each in missing
    )


def test_an_interrupted_front_has_points_and_bounds() -> None:
    rng = np.random.default_rng(0)
    many, labels = rng.integers(0, 2, (2_000, 60)), rng.integers(0, 2, 2_000)

    def interrupt(progress: Progress) -> None:
        if progress.phase != "done":
            raise KeyboardInterrupt

    # it would take hours
    result = streed.solve(ClassErrors(), many, labels, max_depth=7, progress=interrupt)
    assert (result.status, result.stats["stopped"]) == ("feasible", "interrupt")
    assert len(result.front) >= 2
    for value, tree in result.front:
        predicted = tree.predict(many)
        assert value == (((predicted == 1) & (labels == 0)).sum(), ((predicted == 0) & (labels == 1)).sum())
        assert holds(result.stats["missing"], value)


@pytest.mark.parametrize("call", [1, 3, 6])
def test_an_interrupted_trade_off_says_where_the_rest_is(call: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def solved() -> streed.Result:
        return streed.solve(Accuracy() & DemographicParity(), X, Y, max_depth=2, sensitive_features=SEX)

    monkeypatch.setattr(lagrangian, "_FEW_COLUMNS", (0, 0, 0, 0))  # so few columns would be enumerated at once
    whole = {value for value, _ in solved().front}
    monkeypatch.setattr(Trees, "cheapest", interrupting(Trees.cheapest, call))
    result = solved()
    assert result.stats["stopped"] == "interrupt"
    missing = result.stats["missing"]
    for errors, gap in whole - {value for value, _ in result.front}:
        assert missing["gap_below"] is None or gap < missing["gap_below"]
        assert missing["score_bound"] is None or errors >= missing["score_bound"]
    for (errors, _), tree in result.front:
        assert errors == (tree.predict(X) != Y).sum()


def test_the_command_prints_what_it_has_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    # the search looks at its memory at once, and then every now and then
    monkeypatch.setattr("streed.problem.process_memory.resident", interrupting(lambda: 1_000_000, 2))
    words = ("front", "tic-tac-toe", "--max-depth", "7", "--memory-limit", "8GB", "--json")
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 3, done.output
    found = json.loads(done.stdout)
    assert found["status"] == "feasible"
    assert len(found["points"]) >= 2
    for point in found["points"]:
        value = point["errors on negative"], point["errors on positive"]
        assert holds(found["missing"], value)
