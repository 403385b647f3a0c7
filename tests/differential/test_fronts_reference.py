"""Fronts, trade-offs and limits are those of the reference, on a few instances of every kind."""

from __future__ import annotations

import pytest

from tests.differential.fuzz_fronts import KINDS, judge, make_posed


@pytest.mark.parametrize("kind", KINDS)
def test_a_few_instances_of_every_kind(kind: str) -> None:
    for seed in range(2 if kind == "two notions" else 4):
        _, wrong = judge(make_posed(seed, kind))
        assert not wrong, f"make_posed({seed}, {kind!r}): {'; '.join(wrong)}"


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_instances_of_every_kind(kind: str) -> None:
    for seed in range(100, 200):
        _, wrong = judge(make_posed(seed, kind))
        assert not wrong, f"make_posed({seed}, {kind!r}): {'; '.join(wrong)}"
