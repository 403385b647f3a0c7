"""The tasks of costs, policies, times and further regressions are separable, as far as the kit can tell."""

from __future__ import annotations

from typing import Any

import pytest

from streed import registry
from streed.testing import LAWS, find_violations
from tests.shipped import DATA, examples

QUICK = ("cost-sensitive", "relative-risk")
"""One by prices, one by a kernel of its own; the rest is for the long run."""


def _cases() -> list[Any]:
    return [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in sorted(DATA)]


def test_data_are_drawn_for_tasks_that_ship() -> None:
    assert set(DATA) <= set(registry.tasks())


@pytest.mark.parametrize("name", _cases())
def test_every_application_is_separable(name: str) -> None:
    task, data = examples(name)[0], DATA[name]
    laws = tuple(law for law in LAWS if not law.needs_engine)
    report = find_violations(task, laws, data=data, max_examples=8 if name in QUICK else 20)
    assert report.holds, report
    assert report["recursion equals enumeration"].examples > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(DATA))
def test_the_engine_agrees_on_every_application(name: str) -> None:
    task, data = examples(name)[0], DATA[name]
    report = find_violations(task, tuple(law for law in LAWS if law.needs_engine), data=data, max_examples=20)
    assert report.holds, report
    assert report["drivers equal recursion"].examples > 0
