from __future__ import annotations

import json
import pickle
import time
from fractions import Fraction
from typing import Any

import pytest

from streed.progress import INTERVAL, LiveLine, Progress, Reporter, line
from streed.result import Result
from streed.solve import solve
from streed.tasks import Accuracy, BalancedAccuracy, SparseAccuracy
from streed.tree import Tree
from tests.unit.specimens import XOR, xor_tree


def result(status: str, value: Any, lower: Any, upper: Any, task: Any = None, rounding: float = 0) -> Result:
    tree = None if status == "infeasible" else xor_tree()[0]
    front = () if tree is None else ((value, tree),)
    stats = {"nodes": 7, "search_seconds": 0.25, "rounding": rounding}
    return Result(value, tree, status, lower, upper, stats, task or Accuracy(), front)


def test_an_optimal_result_says_what_rounding_leaves_open() -> None:
    found = result("optimal", 0.5, 0.5, 0.5, rounding=0.25)
    assert "optimal within 0.25, the rounding of real numbers" in str(found)


def test_the_gap_of_a_solve_that_stopped() -> None:
    assert result("feasible", 7, 4, 7).gap == 3
    assert result("feasible", 7, float("-inf"), 7).gap == float("inf")
    assert result("feasible", Fraction(1, 2), Fraction(1, 2), 1, BalancedAccuracy()).gap == Fraction(1, 2)


def test_infeasible() -> None:
    found = result("infeasible", None, None, None)
    assert (found.value, found.tree, found.gap, found.front) == (None, None, None, ())
    assert "infeasible" in str(found)
    assert found.summary()["tree"] is None


def test_summary_is_json() -> None:
    found = result("feasible", Fraction(1, 3), float("-inf"), 1.5)
    summary = json.loads(json.dumps(found.summary(), allow_nan=False))
    assert summary == {
        "task": {"class": "Accuracy", "module": "streed.tasks.accuracy", "parameters": {}},
        "status": "feasible",
        "value": "1/3",
        "lower_bound": "-Infinity",
        "upper_bound": 1.5,
        "gap": "Infinity",
        "unit": "misclassified rows",
        "tree": {"n_branches": 3, "n_leaves": 4, "depth": 2},
        "stats": {"nodes": 7, "search_seconds": 0.25, "rounding": 0},
    }


def test_text() -> None:
    lines = str(result("feasible", 7, 4, 7)).splitlines()
    assert lines[:5] == [
        "status  feasible",
        "value   7  misclassified rows",
        "bounds  4 to 7, gap 3",
        "tree    3 branching nodes, 4 leaves, depth 2",
        "",
    ]
    assert lines[5:] == str(xor_tree()[0]).splitlines()
    assert repr(result("optimal", 7, 7, 7)) == "<Result: optimal, value 7, bounds 7 to 7>"


def at(elapsed: float, incumbent: Any = 7, lower: Any = 4) -> Progress:
    return Progress(incumbent, lower, 3, 1234567, elapsed, "searching")


def test_a_callable_is_told_what_is_due_and_the_end() -> None:
    told: list[Progress] = []
    with Reporter(told.append) as report:
        assert report.due()
        report.tell(at(1))
        assert not report.due()
        time.sleep(INTERVAL + 0.02)
        assert report.due()
        report.finish(at(2))
        report.finish(at(2))
    assert [p.elapsed for p in told] == [1, 2]


def test_the_live_line_waits_and_goes(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("streed.progress._is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "120")
    live = LiveLine()
    with Reporter(live) as report:
        report.tell(at(0.01))
        assert capsys.readouterr() == ("", "")
        report.tell(at(62))
        shown = capsys.readouterr()
        assert shown.out == ""
        assert line(at(62)) in shown.err
    assert not capsys.readouterr().err.strip()


def test_a_solves_own_result() -> None:
    found = solve(SparseAccuracy(0.1), XOR * 3, ["no", "yes", "yes", "no"] * 3, max_depth=2)
    assert (found.value, found.status, found.gap) == (0.3, "optimal", 0)
    json.dumps(found.summary(), allow_nan=False)
    claims = Tree.from_json(found.tree.to_json()).claims
    assert (claims.value, claims.lower_bound, claims.upper_bound, claims.n_rows) == (0.3, 0.3, 0.3, 12)
    assert (claims.status, claims.max_depth, claims.max_nodes, claims.min_leaf) == ("optimal", 2, None, 1)
    again = pickle.loads(pickle.dumps(found))
    assert (again.value, again.tree) == (found.value, found.tree)
