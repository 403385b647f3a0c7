"""Some problems of every family, and what happens to a wrong answer."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import streed
from tests.differential.volume import __main__ as command
from tests.differential.volume.kinds import KINDS
from tests.differential.volume.problem import Problem, to_text
from tests.differential.volume.runner import OTHERS, Drawn, judged, verdict_on
from tests.differential.volume.smaller import smaller

QUICK = {"scores": 40, "fairness": 30, "hostile": 24, "proofs": 6, "claims": 60, "exports": 12}
"""How many are tried of the families that compile little; of the others only where much is compiled."""
LONG = {"costs": 30, "discounts": 3, "policies": 4, "regression": 4, "fronts": 56, "stops": 44, "thresholds": 12}
LONG |= {"near_optimal": 12, "user-tasks": 4}
COUNTS = QUICK | LONG


def _marked(family: str, quick: Any = (), long: Any = pytest.mark.compiles) -> Any:
    return pytest.param(family, marks=quick if family in QUICK else long)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("family", [_marked(family) for family in (*KINDS, *OTHERS)])
def test_problems_of_every_family_are_answered_rightly(family: str) -> None:
    verdicts = [(n, verdict_on(Drawn(family, 7, n)).wrong) for n in range(COUNTS.get(family, 8))]
    assert [(number, wrong) for number, wrong in verdicts if wrong] == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("family", [*KINDS, *OTHERS])
def test_many_more_are(family: str) -> None:
    wrong = [(n, verdict.wrong) for n in range(400) if (verdict := verdict_on(Drawn(family, 8, n))).wrong]
    assert wrong == []


@pytest.mark.parametrize("path", sorted(command.CASES.glob("*.json")), ids=lambda path: path.stem)
def test_cases_that_once_failed(path: Any) -> None:
    assert judged(Problem.from_plain(json.loads(path.read_text(encoding="utf-8")))).wrong == ()


def test_a_problem_is_written_down_and_read() -> None:
    for family in KINDS:
        problem = Drawn(family, 1, 2).problem()
        again = Problem.from_plain(json.loads(to_text(problem.to_plain())))
        assert again.to_plain() == problem.to_plain()
        assert again.X.tolist() == problem.X.tolist()


def test_it_tells_what_is_wrong_and_makes_it_small(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    solve = streed.solve
    assert command.main(["--family", "costs", "--count", "4", "--seed", "4"]) == 0
    X = np.random.default_rng(0).integers(0, 2, (12, 3)).astype(np.uint8)
    problem = Problem("Misclassifications()", X, X[:, 1].tolist(), limits={"max_depth": 1, "min_leaf": 1})
    assert not judged(problem).wrong
    monkeypatch.setattr(streed, "solve", lambda *given, **named: solve(*given, **{**named, "max_depth": 0}))
    little = smaller(problem)
    assert (little.n_rows, little.X.shape[1]) == (2, 1)
    monkeypatch.setattr(command, "smaller", lambda problem: little)
    assert command.main(["--family", "costs", "--count", "6", "--seed", "4", "--save", str(tmp_path)]) == 1
    assert '"task": "' in capsys.readouterr().out
    assert Problem.from_plain(json.loads(next(tmp_path.iterdir()).read_text(encoding="utf-8"))).n_rows == 2
