"""Every task that ships finds its recorded value, on data that are made by rule and so are there in every clone."""

from __future__ import annotations

from typing import Any

import pytest

import streed
from streed import registry
from tests.golden.by_rule import DEPTH, VALUES, make_data
from tests.shipped import ARGUMENTS, DATA, WHOLE_WEIGHTS, examples

QUICK = ("accuracy", "balanced-accuracy", "f1", "lexicographic", "misclassifications", "sparse-accuracy", "splits")
"""Tasks for which nothing is compiled that the rest of the tests does not need."""


def _names() -> list[Any]:
    return [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in sorted(VALUES)]


def test_every_task_has_a_value_and_no_value_is_orphaned() -> None:
    assert set(VALUES) == set(registry.tasks()), "record the task's value in tests/golden/by_rule.py"
    assert set(ARGUMENTS) | set(DATA) | WHOLE_WEIGHTS | set(QUICK) <= set(VALUES)


def _check(name: str, **options: Any) -> None:
    result = streed.solve(examples(name)[0], make_data(name), max_depth=DEPTH, **options)
    assert result.status == "optimal"
    if isinstance(VALUES[name], set):
        assert {value for value, _ in result.front} == VALUES[name]
    elif isinstance(VALUES[name], tuple):
        assert result.value == VALUES[name]
    else:
        assert float(result.value) == pytest.approx(float(VALUES[name]), rel=1e-9)


@pytest.mark.parametrize("name", sorted(VALUES))
def test_the_search_in_python_finds_the_value(name: str) -> None:
    _check(name, search="general")


@pytest.mark.parametrize("name", _names())
def test_the_default_search_finds_the_value(name: str) -> None:
    _check(name)
