"""A search and the prices of its rows on one processor: whose turn it is, and how the search goes on."""

from __future__ import annotations

import time
from typing import Any

import attrs
import numpy as np
import pytest

import streed
from streed import tasks
from streed.bnb import turns
from streed.bnb.turns import Turns
from streed.drivers.branches import Branches
from streed.drivers.depth_first import DepthFirst
from streed.kernels.records import INFINITE


@attrs.define
class Beside:
    promises: bool = True
    epoch: int = 0
    waited: float = 0.0

    def wait(self, seconds: float) -> None:
        self.waited += seconds


@attrs.define
class Space:
    engine: dict[str, int]


def turns_of(beside: Beside, monkeypatch: pytest.MonkeyPatch, processors: int = 1) -> tuple[dict[str, int], Turns]:
    monkeypatch.setattr(turns, "processors", lambda: processors)
    engine = {"visits": 10, "pause": INFINITE, "best_first": 0}
    found = Turns(Space(engine), beside)  # type: ignore[arg-type]
    found.begin()
    return engine, found


def test_a_search_rests_as_long_as_it_ran_while_prices_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_TURN", 0.01)
    beside = Beside()
    engine, found = turns_of(beside, monkeypatch)
    assert not found.take()
    found.ask()
    assert engine["pause"] == INFINITE
    time.sleep(0.02)
    found.ask()
    assert engine["pause"] == 0
    assert found.take()
    assert (engine["pause"], beside.waited) == (INFINITE, 0.01)
    time.sleep(0.02)
    beside.promises = False
    found.ask()
    assert engine["pause"] == INFINITE


def test_nobody_rests_with_a_processor_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_TURN", 0.0)
    beside = Beside()
    engine, found = turns_of(beside, monkeypatch, processors=2)
    found.ask()
    assert engine["pause"] == INFINITE
    engine["pause"] = 0
    assert found.take()
    assert beside.waited == 0


@pytest.mark.parametrize("best_first", [0, 1])
def test_new_prices_are_followed_best_first_for_some_visits(best_first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    beside = Beside(promises=False)
    engine, found = turns_of(beside, monkeypatch)
    engine["best_first"] = best_first
    found.begin()
    beside.epoch = 1
    found.ask()
    assert engine["pause"] == 0
    assert found.take()
    assert engine["best_first"] == 1
    until = engine["pause"]
    assert 10 < until < INFINITE
    engine["visits"] = 20
    found.ask()
    assert engine["pause"] == until
    engine["visits"] = until + 1
    assert found.take()
    assert (engine["best_first"], engine["pause"]) == (best_first, INFINITE)


def test_a_search_that_has_ended_is_asked_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, found = turns_of(Beside(epoch=1), monkeypatch)
    found.ask()
    assert engine["pause"] == 0
    found.end()
    found.ask()
    assert engine["pause"] == INFINITE
    assert not found.take()


@pytest.mark.parametrize("driver", [DepthFirst, Branches])
def test_pauses_change_no_answer(driver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often a search pauses, and whichever order it goes on in."""
    begin, take = Turns.begin, Turns.take
    pauses = 0

    def begin_briefly(self: Turns) -> None:
        begin(self)
        self._engine["pause"] = 5

    def take_often(self: Turns) -> bool:
        nonlocal pauses
        has_paused = take(self)
        pauses += has_paused
        if has_paused and self._has_begun and pauses < 300:
            self._engine["pause"] = self._engine["visits"] + 20
            self._engine["best_first"] = pauses % 3 == 0
        return has_paused

    monkeypatch.setattr(Turns, "begin", begin_briefly)
    monkeypatch.setattr(Turns, "take", take_often)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 2, (200, 16))
        y = (((X[:, 0] & X[:, 1]) | X[:, 2]) ^ (rng.random(200) < 0.25)).astype(int)
        plain = streed.solve(tasks.SparseAccuracy(0.01), X, y, search=driver(row_prices=False))
        before = pauses
        result = streed.solve(tasks.SparseAccuracy(0.01), X, y, search=driver())
        assert (result.status, result.value) == ("optimal", plain.value)
        assert pauses - before > 20
        pauses = 0
