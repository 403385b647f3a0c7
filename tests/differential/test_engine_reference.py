"""The engine gives the reference's optimum, exactly, on small random instances of every kind."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import streed
from tests.differential.comparison import differences
from tests.differential.instances import make_instance

BLOCK = 25


@pytest.mark.parametrize("first", range(0, 400, BLOCK))
def test_engine_agrees_with_reference(first: int) -> None:
    for number in range(first, first + BLOCK):
        instance = make_instance(2023, number)
        wrong = differences(instance, streed.solve)
        assert not wrong, "\n".join([*wrong, instance.snippet()])


def test_two_threads_agree_with_reference() -> None:
    for number in range(60):
        instance = make_instance(2024, number)
        wrong = differences(instance, streed.solve, threads=2)
        assert not wrong, "\n".join([*wrong, instance.snippet(threads=2)])


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32), number=st.integers(0, 2**32))
def test_engine_agrees_with_reference_wherever_hypothesis_looks(seed: int, number: int) -> None:
    instance = make_instance(seed, number)
    wrong = differences(instance, streed.solve)
    assert not wrong, "\n".join([*wrong, instance.snippet()])
