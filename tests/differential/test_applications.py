"""The engine gives the reference's optimum for costs, policies, regression and survival; more in `applications`."""

from __future__ import annotations

import pytest

from tests.differential.applications import FAMILIES, differences

SOME = list(FAMILIES)[:1]
"""The others are for the long run, as each compiles some; tests/golden has recorded optima of every kind."""

BY_ENGINE = [
    pytest.param(family, marks=pytest.mark.compiles if family in SOME else pytest.mark.slow) for family in FAMILIES
]


@pytest.mark.parametrize("family", BY_ENGINE)
def test_the_engine_agrees_with_the_reference(family: str) -> None:
    assert [found for number in range(6) if (found := differences(family, 1, number))] == []


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_the_engine_agrees_with_trying_every_tree(family: str) -> None:
    assert [found for number in range(3) if (found := differences(family, 2, number, every=True))] == []


@pytest.mark.parametrize("family", FAMILIES)
def test_the_general_route_agrees_with_the_reference(family: str) -> None:
    assert [found for number in range(2) if (found := differences(family, 3, number, "general"))] == []
