"""The judges of the volume runs: they agree with the reference, tell what is wrong, and keep what they found small."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from typing import Any

import attrs
import numpy as np
import pytest

import streed
from streed.reference import optimal_front
from streed.task import Totals
from tests.differential.volume import __main__ as command
from tests.differential.volume.problem import Problem, to_text
from tests.differential.volume.reachable import Coding, Reachable
from tests.differential.volume.runner import FAMILIES, Drawn, family_of, judged
from tests.differential.volume.smaller import smaller

MOST_ROWS = 14


def small_problems(family: str, count: int) -> list[Problem]:
    """Those without weights that the reference solves quickly."""
    drawn = (Drawn(family, 5, number).problem() for number in range(10 * count))
    found = [
        problem
        for problem in drawn
        if problem.n_rows <= MOST_ROWS and problem.sample_weight is None and problem.frequency is None
    ]
    assert len(found) >= count
    return found[:count]


@pytest.mark.parametrize("family", ["costs", "scores", "fairness", "discounts", "policies", "regression"])
def test_judges_agree_with_the_reference(family: str) -> None:
    module = family_of(family)
    judged_so_far = 0
    for problem in small_problems(family, 12):
        task = eval(problem.task, dict(module.NAMES))
        data = streed.Dataset.make(problem.X, problem.y, categorical=problem.categorical, **problem.row_data)
        try:
            front = optimal_front(task, data, **problem.limits)
        except streed.InputError:  # a group without rows of a class, say
            continue
        truth = module.judge(problem)
        scores = [float(task.score(value, Totals(task, data))) for value, _ in front]
        if not scores:
            assert truth.optimum is None
            continue
        best = max(scores) if task.larger_is_better else min(scores)
        assert float(truth.shown(truth.optimum)) == pytest.approx(best, rel=1e-9, abs=1e-9)
        judged_so_far += 1
    assert judged_so_far > 3


def test_all_vectors_of_a_stump() -> None:
    sums = np.array([[[0, 0], [1, 0]], [[0, 0], [0, 1]]])
    found = Reachable(np.array([[0], [1]], np.uint8), np.array([1, 1]), sums, counted=True).vectors(1)
    assert sorted(map(tuple, found.tolist())) == [
        (0, 0, 0), (0, 0, 1), (0, 1, 1), (1, 0, 1), (1, 1, 0), (1, 1, 1),
    ]  # fmt: skip


@pytest.mark.parametrize("largest", [(3, 5, 0), (2**40, 2**70, 9)])
def test_vectors_are_numbers_and_back(largest: tuple[int, ...]) -> None:
    draw = random.Random(0)
    vectors = np.array([[draw.randint(0, most) for most in largest] for _ in range(20)], object)
    coding = Coding(largest)
    assert coding.decode(coding.encode(vectors)).tolist() == vectors.tolist()


def test_a_problem_is_written_down_and_read() -> None:
    for family in FAMILIES:
        problem = Drawn(family, 1, 2).problem()
        again = Problem.from_plain(json.loads(to_text(problem.to_plain())))
        assert again.to_plain() == problem.to_plain()
        assert again.X.tolist() == problem.X.tolist()


def test_repeated_rows_are_as_many_as_their_frequency_says() -> None:
    problem = Problem("costs", "Accuracy()", np.array([[0], [1]], np.uint8), [0, 1], frequency=[2, 3])
    assert problem.repeated().X.tolist() == [[0], [0], [1], [1], [1]]
    truth = family_of("costs").judge(attrs.evolve(problem, limits={"max_depth": 1, "min_leaf": 3}))
    assert truth.optimum == 2


class Wrong:
    """`streed.solve` that is never allowed to split."""

    def __call__(self, *arguments: Any, **named: Any) -> streed.Result:
        return self.solve(*arguments, **{**named, "max_depth": 0})

    def __init__(self) -> None:
        self.solve = streed.solve


def test_it_tells_what_is_wrong_and_makes_it_small(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (12, 3)).astype(np.uint8)
    problem = Problem("costs", "Misclassifications()", X, X[:, 1].tolist(), limits={"max_depth": 1, "min_leaf": 1})
    assert not judged(problem).wrong
    monkeypatch.setattr(streed, "solve", Wrong())
    assert judged(problem).wrong
    little = smaller(problem, 600)
    assert (little.n_rows, little.X.shape[1]) == (2, 1)
    assert command.main(["--family", "costs", "--count", "6", "--shown", "1"]) == 1
    assert '"family": "costs"' in capsys.readouterr().out


def test_the_table_counts_what_came_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--family", "costs", "--count", "4", "--seed", "4"]) == 0
    line = capsys.readouterr().out.splitlines()[-1].split()
    assert line[:3] == ["costs", "4", "0"]


def test_costs_are_exact() -> None:
    problem = Problem(
        "costs",
        "InstanceCosts() + 0.25 * Splits()",
        np.array([[0], [1]], np.uint8),
        [0, 1],
        [1e-9, 1e9],
        row_data={"costs": [[0.1, 3], [5, 2**40]]},
        limits={"max_depth": 1, "min_leaf": 1},
    )
    exact = Fraction(1, 10) * Fraction(1, 10**9) + 5 * 10**9
    assert family_of("costs").judge(problem).optimum == exact
