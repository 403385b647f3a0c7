"""Scores and fairness limits give the reference's optimum, exactly, on small random instances of every kind."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.differential.reduced import KINDS, judge, make_reduced
from tests.searches import NATIVE

pytestmark = pytest.mark.compiles

BLOCK = 25

FIRSTS = [pytest.param(first, marks=pytest.mark.slow if first >= 75 else ()) for first in range(0, 150, BLOCK)]
"""Later blocks are more of the same, and meet kinds of problems whose kernels take a minute to compile."""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("first", FIRSTS)
def test_reductions_agree_with_reference(kind: str, first: int) -> None:
    seen: Counter[str] = Counter()
    search = NATIVE[first // BLOCK % len(NATIVE)]
    for seed in range(first, first + BLOCK):
        outcome, wrong = judge(make_reduced(seed, kind), search)
        assert not wrong, f"make_reduced({seed}, {kind!r}), search={search!r}: {'; '.join(wrong)}"
        seen[outcome] += 1
    assert seen["bounded"] + seen["listed"] > BLOCK / 3
