"""Every run of the tests is the same one."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st


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
