"""Problems that are answered wrongly, made smaller."""

from __future__ import annotations

import time
from collections.abc import Iterator

import attrs
import numpy as np

from tests.differential.volume.problem import Problem
from tests.differential.volume.runner import judged

SECONDS = 20.0
"""Longest time to make a problem smaller."""


def smaller(problem: Problem, seconds: float = SECONDS) -> Problem:
    """A part of the problem that is answered wrongly in the same way, as far as there is time to look for it."""
    deadline = time.monotonic() + seconds
    kind = judged(problem).outcome
    found = True
    while found and time.monotonic() < deadline:
        found = False
        for candidate in _parts(problem):
            if time.monotonic() > deadline:
                break
            try:
                verdict = judged(candidate)
            except Exception:  # noqa: BLE001 - a part that no judge can judge is none
                continue
            if verdict.wrong and verdict.outcome == kind:
                problem, found = candidate, True
                break
    return problem


def _parts(problem: Problem) -> Iterator[Problem]:
    """Problems with less in them, the smallest first."""
    n, p = problem.X.shape
    size = n // 2
    while size >= 1:
        for first in range(0, n, size):
            if size < n:
                yield problem.without_rows(range(first, min(first + size, n)))
        size //= 2
    for column in range(p if p <= 8 else 0):
        if p > 1 and column not in problem.categorical:
            moved = tuple(other - (other > column) for other in problem.categorical)
            yield attrs.evolve(problem, X=np.delete(problem.X, column, axis=1), categorical=moved)
    if p > 8:
        yield attrs.evolve(problem, X=np.ascontiguousarray(problem.X[:, : p // 2]))
    if problem.frequency is not None:
        yield attrs.evolve(problem, frequency=None)
    if problem.sample_weight is not None:
        yield attrs.evolve(problem, sample_weight=None)
    for name, plain in (("threads", 1), ("search", "depth-first")):
        if problem.options.get(name, plain) != plain:
            yield attrs.evolve(problem, options={**problem.options, name: plain})
