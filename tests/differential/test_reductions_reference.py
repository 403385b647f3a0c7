"""Scores and fairness limits give the reference's optimum, exactly, on small random instances of every kind."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.differential.reduced import KINDS, SEARCHES, judge, make_reduced

BLOCK = 25


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("first", range(0, 150, BLOCK))
def test_reductions_agree_with_reference(kind: str, first: int) -> None:
    seen: Counter[str] = Counter()
    search = SEARCHES[first // BLOCK % len(SEARCHES)]
    for seed in range(first, first + BLOCK):
        outcome, wrong = judge(make_reduced(seed, kind), search)
        assert not wrong, f"make_reduced({seed}, {kind!r}), search={search!r}: {'; '.join(wrong)}"
        seen[outcome] += 1
    assert seen["bounded"] + seen["listed"] > BLOCK / 3
