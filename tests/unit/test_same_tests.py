"""Every run of the tests is the same one."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers

import streed
from streed.testing import LAWS, find_violations
from tests.property.broken_tasks import Counted


def test_settings_of_every_test_draw_alike() -> None:
    usual = hypothesis.settings()
    assert usual.derandomize
    assert hypothesis.settings(max_examples=3).derandomize
    assert usual.database is None
    assert usual.deadline is None


def drawn() -> list[Any]:
    found = []

    @hypothesis.settings(max_examples=200)
    @hypothesis.given(st.lists(st.integers()), st.floats(), st.text())
    def draws(numbers: list[int], real: float, text: str) -> None:
        found.append((numbers, repr(real), text))

    draws()
    return found


def test_draws_depend_on_nothing_that_other_tests_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = drawn()
    mine = f"NUMBERS = {list(range(10**6, 10**6 + 900))}\nTEXTS = 'mine', 'yours'\n"
    (tmp_path / "constants_of_mine.py").write_text(mine)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("constants_of_mine")
    try:
        assert drawn() == before
    finally:
        del sys.modules["constants_of_mine"]


def drawn_by_the_kit(**options: Any) -> list[Any]:
    found = []

    def data(draw: Any) -> streed.Dataset:
        found.append(draw(st.lists(st.integers(), min_size=5)))
        return streed.Dataset.make([[0], [1], [1]], [0, 1, draw(st.integers(0, 1))])

    find_violations(Counted, LAWS[:1], data=data, max_examples=60, **options)
    return found


def test_the_kit_draws_the_same_whatever_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    before = drawn_by_the_kit()
    mine = type(providers.GLOBAL_CONSTANTS)()
    for number in range(10**6, 10**6 + 900):
        mine.integers.add(number)
    monkeypatch.setattr(providers, "_get_local_constants", lambda: mine)
    providers.CONSTANTS_CACHE.cache.clear()
    assert drawn_by_the_kit() == before
    assert drawn_by_the_kit(seed=1) != before
    assert providers._get_local_constants() is mine
