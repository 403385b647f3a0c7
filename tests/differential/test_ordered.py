"""Raw numbers under tasks of all kinds, against every tree and against the recursion; see `ordered`."""

from __future__ import annotations

import pytest

from tests.differential.ordered import TASKS, make_instance, wrong_in

pytestmark = pytest.mark.compiles

LONG = ("own gini", "own price", "entropy")
"""Kinds whose kernels are compiled as those of others here, which are enough for a change."""

KINDS = [pytest.param(kind, marks=pytest.mark.slow if name in LONG else (), id=name) for kind, name in enumerate(TASKS)]


@pytest.mark.parametrize("kind", KINDS)
def test_raw_numbers(kind: int) -> None:
    for number in range(kind, kind + 12 * len(TASKS), len(TASKS)):
        assert wrong_in(7, number) == []


def test_instances_have_ordered_columns_and_gaps() -> None:
    data = [make_instance(7, number).data() for number in range(40)]
    assert sum(bool(each.ordered) for each in data) > 30
    assert any(values.has_gaps for each in data for values in each.ordered.values())
