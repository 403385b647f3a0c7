"""`streed.solve` as a user meets it: the optimum of every shipped task within every limit, any labels and weights."""

from __future__ import annotations

import gc
import json
import pickle
import time
from decimal import Decimal
from fractions import Fraction
from typing import Any

import attrs
import numpy as np
import pandas as pd
import polars as pl
import pytest

from streed.data import Dataset
from streed.result import INTERVAL, LiveLine, Progress, Reporter, Result, line
from streed.solve import solve
from streed.task import RowCostTask
from streed.tasks import Accuracy, BalancedAccuracy, MinSupport, SparseAccuracy, Splits
from streed.tree import Tree
from tests.unit.outcomes import BOTH, CUBE, check, errors, task_of, tree_of
from tests.unit.specimens import XOR, xor_tree

TASKS: list[tuple[str, dict[str, Any], Any]] = [
    ("Accuracy()", {"max_depth": 0}, 2),
    ("Accuracy()", {"max_depth": 1}, 2),
    ("Accuracy()", {"max_depth": 2}, 0),
    ("Accuracy()", {"max_nodes": 1}, 2),
    ("Accuracy()", {"max_nodes": 2}, 0),
    ("Misclassifications()", {"max_depth": 1}, 2),
    ("3 * Misclassifications()", {"max_depth": 1}, 6),
    ("Splits()", {}, 0),
    ("Misclassifications() + Splits()", {}, 2),
    ("Misclassifications() + 0.5 * Splits()", {}, 1.0),
    ("minimize(Misclassifications() + 2.5 * Splits())", {}, 2.0),
    ("SparseAccuracy(0.05)", {}, 0.1),
    ("SparseAccuracy(0.125)", {}, 0.25),
    ("SparseAccuracy(0.2)", {"max_depth": 2}, 0.25),
    ("SparseAccuracy(0)", {"max_depth": 2}, 0.0),
    ("WeightedAccuracy({1: 5})", {"max_depth": 0}, 6),
    ("WeightedAccuracy({1: 5})", {"max_depth": 1}, 2),
    ("WeightedAccuracy({1: 0.5})", {"max_depth": 1}, 1.0),
    ("WeightedAccuracy({0: 0})", {}, 0),
    ("BalancedAccuracy()", {"max_depth": 0}, 0.5),
    ("BalancedAccuracy()", {"max_depth": 1}, 1 - 1 / 6),
    ("BalancedAccuracy()", {"max_depth": 2}, 1.0),
    ("AbsoluteError()", {"max_depth": 1}, 2),
    ("AbsoluteError()", {}, 0),
    ("F1()", {"max_depth": 1}, 2 / 3),
    ("FBeta(2)", {"max_depth": 1}, 10 / 12),
    ("Jaccard()", {"max_depth": 1}, 0.5),
    ("CohenKappa()", {"max_depth": 1}, 0.5),
    ("MatthewsCorrelation()", {}, 1.0),
    ("GMean()", {}, 1.0),
    ("Lexicographic()", {}, (0, 2)),
    ("Lexicographic()", {"max_depth": 0}, (2, 0)),
    ("Accuracy().subject_to(MinSupport(2))", {"max_depth": 2}, 0),
    ("Accuracy().subject_to(MinSupport(3))", {"max_depth": 2}, 2),
    ("SparseAccuracy(0.05).subject_to(MinSupport(3))", {}, 0.25),
    ("BalancedAccuracy().subject_to(MinSupport(3))", {}, 1 - 1 / 6),
]
"""A task, limits and the optimum of `BOTH`, by hand."""


@pytest.mark.parametrize(("source", "limits", "optimum"), TASKS)
def test_the_optimum_of_every_task(source: str, limits: dict[str, Any], optimum: Any) -> None:
    result = solve(task_of(source), CUBE, BOTH, **limits)
    assert result.value == optimum
    assert type(result.value) is type(result.lower_bound) is type(result.upper_bound) is type(optimum)
    check(result, Dataset.make(CUBE, BOTH), limits)


def test_a_task_of_ones_own() -> None:
    @attrs.frozen
    class Regret(RowCostTask):
        """A wrong 1 costs 3, a wrong 0 costs 1."""

        def row_costs(self, data: Dataset) -> np.ndarray[Any, Any]:
            return np.column_stack([data.class_numbers, 3 * (1 - data.class_numbers)])

    assert [solve(Regret(), CUBE, BOTH, max_depth=d).value for d in range(3)] == [2, 2, 0]
    noisy = [1, 0, 0, 0, 0, 0, 1, 1]
    assert [solve(Regret() + 0.25 * Splits(), CUBE, noisy, max_depth=d).value for d in range(4)] == [3.0, 3.0, 1.5, 1.0]


@pytest.mark.parametrize(("nodes", "optimum"), [(0, 6), (1, 6), (2, 3), (3, 0), (4, 0), (None, 0)])
def test_branching_nodes(nodes: int | None, optimum: int) -> None:
    y = [0, 1, 1, 0] * 3
    for depth in (None, 2, 3, 9):
        result = solve(Accuracy(), XOR * 3, y, max_depth=depth, max_nodes=nodes)
        assert result.value == optimum == errors(result, XOR * 3, y)
        assert tree_of(result).n_branches <= (3 if nodes is None else nodes)


@pytest.mark.parametrize(("least", "optimum"), [(1, 0), (2, 0), (3, 2), (4, 2), (5, 2), (8, 2)])
def test_rows_in_a_leaf(least: int, optimum: int) -> None:
    several: tuple[dict[str, Any], ...] = ({"max_depth": 2}, {"max_depth": 5}, {"max_nodes": 3}, {})
    for limits in several:
        for task in (Accuracy(), Accuracy().subject_to(MinSupport(least))):
            result = solve(task, CUBE, BOTH, min_leaf=least if task == Accuracy() else 1, **limits)
            assert result.value == optimum
            assert min(leaf.rows for leaf in tree_of(result).leaves()) >= least


@pytest.mark.parametrize("least", [9, 2**31, 2**59, 2**61, 2**70])
def test_no_tree_has_enough_rows_in_a_leaf(least: int) -> None:
    result = solve(Accuracy().subject_to(MinSupport(least)), CUBE, BOTH, max_depth=2)
    assert (result.status, result.value, result.tree, result.front) == ("infeasible", None, None, ())
    assert (result.lower_bound, result.upper_bound, result.gap) == (None, None, None)


LABELS: list[Any] = [
    [0, 1],
    [-1, 1],
    [1, 2],
    [0, 10**6],
    [-(2**70), 2**70],
    ["no", "yes"],
    [False, True],
    [0.0, 1.0],
    [Fraction(1, 3), Fraction(2, 3)],
    [(0, "a"), (0, "b")],
]


@pytest.mark.parametrize("pair", LABELS)
def test_any_labels(pair: Any) -> None:
    y = [pair[k] for k in [0, 1, 1, 0]]
    for task in (Accuracy(), SparseAccuracy(0.01), BalancedAccuracy()):
        predicted = tree_of(solve(task, XOR, y, max_depth=2)).predict(XOR)
        assert predicted.tolist() == y
        assert [type(label) for label in predicted.tolist()] == [type(label) for label in y]


@pytest.mark.parametrize(("X", "y", "shown"), [(CUBE, None, None), (CUBE, ["only"] * 8, "only"), ([[0]], [True], True)])
def test_no_labels_one_label_and_one_row(X: Any, y: Any, shown: Any) -> None:
    several: tuple[dict[str, Any], ...] = ({}, {"max_depth": 0}, {"max_depth": 4}, {"max_nodes": 2})
    for limits in several:
        result = solve(Accuracy(), X, y, **limits)
        assert (result.value, result.status, tree_of(result).shows()) == (0, "optimal", (shown,))


def test_the_label_of_a_tie_is_the_smallest() -> None:
    assert tree_of(solve(Accuracy(), CUBE, ["b", "a"] * 4, max_depth=0)).shows() == ("a",)


@pytest.mark.parametrize(
    ("weights", "optimum"),
    [
        ([1, 1, 1, 1, 1, 1, 3, 4], 6),
        ([0, 0, 0, 0, 1, 1, 1, 1], 2),
        ([2**40] * 8, 2**41),
        ([0.5] * 8, 1.0),
        ([0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.3, 0.4], 0.6),
        ([Decimal("0.1")] * 8, 0.2),
        ([Fraction(1, 4)] * 8, 0.5),
        ([True] * 8, 2),
        (np.full(8, 1.0), 2),
        (np.full(8, 2.0), 4.0),
        (pd.Series([3] * 8), 6),
        (pl.Series([0.125] * 8), 0.25),
    ],
)
def test_weights_are_exact(weights: Any, optimum: Any) -> None:
    result = solve(Accuracy(), CUBE, BOTH, sample_weight=weights, max_depth=0)
    assert (result.value, result.stats["exact"]) == (optimum, True)
    check(result, Dataset.make(CUBE, BOTH, sample_weight=weights), {"max_depth": 0})


def test_real_weights_are_the_decimals_that_they_print_as() -> None:
    weights = np.pi * np.arange(1, 9)
    result = solve(Accuracy(), CUBE, BOTH, sample_weight=weights, max_depth=0)
    assert result.value == pytest.approx(15 * np.pi, rel=1e-15)
    assert (result.status, result.gap, result.stats["exact"]) == ("optimal", 0, True)


def result(status: str, value: Any, lower: Any, upper: Any, task: Any = None, rounding: float = 0) -> Result:
    tree = None if status == "infeasible" else xor_tree()[0]
    front = () if tree is None else ((value, tree),)
    stats = {"nodes": 7, "search_seconds": 0.25, "rounding": rounding}
    return Result(value, tree, status, lower, upper, stats, task or Accuracy(), front)


def test_what_a_result_leaves_open() -> None:
    assert "optimal within 0.25, the rounding of real numbers" in str(result("optimal", 0.5, 0.5, 0.5, rounding=0.25))
    assert result("feasible", 7, 4, 7).gap == 3
    assert result("feasible", 7, float("-inf"), 7).gap == float("inf")
    assert result("feasible", Fraction(1, 2), Fraction(1, 2), 1, BalancedAccuracy()).gap == Fraction(1, 2)
    none = result("infeasible", None, None, None)
    assert (none.value, none.tree, none.gap, none.front) == (None, None, None, ())
    assert "infeasible" in str(none)
    assert none.summary()["tree"] is None


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
    monkeypatch.setattr("streed.result._is_terminal", lambda: True)
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


@pytest.mark.parametrize("task", ["Accuracy()", "F1()", "Accuracy() & SparseAccuracy(0.1)", "Lexicographic()"])
@pytest.mark.parametrize("search", ["depth-first", "general"])
def test_a_solve_leaves_nothing_to_the_collector(task: str, search: str, request: pytest.FixtureRequest) -> None:
    """What refers to itself is kept, with all that was searched, until Python looks for such rings."""
    request.addfinalizer(gc.enable)
    gc.disable()
    for _ in range(2):  # the first leaves what is made once
        gc.collect()
        solve(task_of(task), XOR, ["no", "yes", "yes", "no"], max_depth=2, search=search)
    assert gc.collect() == 0
