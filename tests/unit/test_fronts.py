"""Native fronts: keys of several components, units against plain search, and what a stopped front knows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import streed
from streed.errors import InputError, NotSeparableError
from streed.tasks import F1, ClassErrors, MonotoneMetric
from tests.unit.refusal import refused
from tests.unusual_tasks import ByOwnDominance, WorstOfEach

RNG = np.random.default_rng(11)
X = RNG.integers(0, 2, (30, 4))
Y = (X[:, 0] & X[:, 1]) ^ (RNG.random(30) < 0.25)
Y3 = RNG.integers(0, 3, 30)


def test_every_point_has_a_tree_that_is_worth_it() -> None:
    result = streed.solve(ClassErrors(), X, Y, max_depth=3)
    for value, tree in result.front:
        predicted = tree.predict(X)
        assert value == ((predicted & ~Y).sum(), (~predicted & Y).sum())
        assert sum(leaf.rows for leaf in tree.leaves()) == 30


def _worst(*errors_and_sizes: int) -> float:
    half = len(errors_and_sizes) // 2
    return -max(e / n for e, n in zip(errors_and_sizes[:half], errors_and_sizes[half:], strict=True))


def test_what_the_engine_cannot_take_goes_the_general_way() -> None:
    for task in (WorstOfEach(), ByOwnDominance()):
        assert streed.solve(task, X, Y, max_depth=1).stats["route"] == "general"
    wide = streed.solve(ClassErrors(), X, Y, sample_weight=[2**50 + row for row in range(30)], max_depth=1)
    assert (wide.stats["route"], wide.status) == ("general", "optimal")


def test_a_stopped_front_has_points_and_bounds() -> None:
    rng = np.random.default_rng(0)
    many, labels = rng.integers(0, 2, (1500, 60)), rng.integers(0, 2, 1500)
    perfect = streed.solve(ClassErrors(), many[:200], labels[:200], max_depth=6, time_limit=60)
    assert (perfect.status, perfect.front[0][0], len(perfect.front)) == ("optimal", (0, 0), 1)
    result = streed.solve(ClassErrors(), many, labels, max_depth=6, time_limit=1.5)
    assert (result.status, result.stats["stopped"]) == ("feasible", "time")
    assert len(result.front) >= 2
    points = [value for value, _ in result.front]
    assert not any(a != b and a[0] <= b[0] and a[1] <= b[1] for a, b in itertools.permutations(points, 2))
    for value, tree in result.front[:5]:
        predicted = tree.predict(many)
        assert value == (((predicted == 1) & (labels == 0)).sum(), ((predicted == 0) & (labels == 1)).sum())
    lower = streed.solve(ClassErrors(), many, labels, max_depth=3)
    assert min(map(sum, points)) < min(sum(value) for value, _ in lower.front)  # by the lookahead, at depth six
    for bound in result.stats["missing"]:
        assert (
            min(sum(w * x for w, x in zip(bound["weights"], value, strict=True)) for value in points) >= bound["bound"]
        )


def test_refused_input() -> None:
    refused("y", "same label", call=lambda: streed.solve(ClassErrors(), X, [1] * 30))
    refused("y", "7 classes", "6 at most", call=lambda: streed.solve(ClassErrors(), X, np.arange(30) % 7))
    refused("y", "3 classes", call=lambda: streed.solve(F1(), X, Y3))
    with pytest.raises(NotSeparableError, match="class 1"):
        streed.solve(MonotoneMetric(lambda *v: v[1]), X, Y3, max_depth=1)
    with pytest.raises(InputError):
        streed.solve(MonotoneMetric(_worst), X, np.arange(30) % 7, max_depth=1)
