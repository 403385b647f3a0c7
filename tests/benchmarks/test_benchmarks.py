"""What the benchmarks do with their numbers; the numbers themselves are for a quiet machine."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.benchmarks import (
    accuracy,
    harness,
    stopping,
    versions,
    versions_solves,
)


def _machine(instructions: str = "avx512 with vpopcnt", restricted: bool = False) -> harness.Record:
    return {
        "cpu": "a processor",
        "instructions": instructions,
        "restricted": restricted,
        "cores": 2,
        "core": 1,
        "load": 0.5,
        "system": "Linux",
        "python": "3.11.7",
        "numba": "0.68.1",
        "numpy": "2.4.6",
        "streed": "0.1.0",
        "commit": "abc",
        "date": "2026-01-01",
    }


def _row(name: str, peer: list[float], ours: list[float], optimum: int = 3) -> harness.Record:
    return {
        "dataset": name,
        "rows": 10,
        "features": 4,
        "depth": 4,
        "optimum": 3,
        "optima": {"streed": 3, "its tree": 3, "pystreed": optimum},
        "agrees": optimum == 3,
        "peer_seconds": peer,
        "seconds": ours,
        "ratio": harness.median(peer) / harness.median(ours),
        "cpu_ratio": 30.0,
        "least_ratio": 25.0,
        "first_ratio": 20.0,
        "nodes": 7,
        "work_units": 8,
    }


def _accuracy(rows: list[harness.Record], machine: harness.Record | None = None) -> harness.Record:
    return {
        "benchmark": "accuracy",
        "machine": machine or _machine(),
        "peer": "1.4.0",
        "warm_up": {"seconds": 9.0, "compile": 8.0},
        "rows": rows,
    }


def test_table_is_markdown_with_numbers_to_the_right() -> None:
    lines = harness.table(["name", "value"], [["a", 1], ["long name", "22.5"]]).splitlines()
    assert lines == [
        "| name      | value |",
        "|-----------|------:|",
        "| a         |     1 |",
        "| long name |  22.5 |",
    ]


@pytest.mark.parametrize(("seconds", "times"), [(25, 1), (10, 2), (4.9, 3), (1, 3), (0.5, 4), (0.1, 20), (1e-3, 30)])
def test_quick_calls_are_repeated_more_often(seconds: float, times: int) -> None:
    assert harness.repeats(seconds) == times


def test_geometric_mean_of_ratios() -> None:
    assert harness.geometric_mean([2, 8]) == pytest.approx(4)


def test_times_are_kept_of_calls_that_count() -> None:
    times = harness.Times()
    answers = iter([0, 1, 2])
    assert [times.run(lambda: next(answers), lambda answer: answer > 0, first=k < 2) for k in range(3)] == [0, 1, 2]
    assert (len(times), len(times.wall), len(times.cpu), len(times.first)) == (2, 2, 2, 1)


def test_labels_stand_first_or_last(tmp_path: Path) -> None:
    for table, text in (("classification/a.csv", "1 0 0\n0 1 1\n"), ("sparse/a.txt", "0 0 1\n1 1 0\n")):
        path = tmp_path / table
        path.parent.mkdir()
        path.write_text(text)
        X, y = harness.read_data(tmp_path, path.parent.name, "a")
        assert X.tolist() == [[0, 0], [1, 1]]
        assert y.tolist() == [1, 0]
        assert X.dtype == y.dtype == np.int32


def test_absent_data_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        accuracy.main(["--no-peer", "--data", str(tmp_path / "nowhere")])
    assert stop.value.code == harness.UNUSABLE
    assert f"there is no folder {tmp_path / 'nowhere'}" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        harness.read_data(tmp_path, "sparse", "monk1")
    with pytest.raises(SystemExit):
        harness.known_optima(tmp_path, "sparse")


def test_numbers_are_written_where_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    harness.finish(argparse.Namespace(json=tmp_path / "out.json"), {"benchmark": "x", "rows": [1]}, "a table")
    assert json.loads((tmp_path / "out.json").read_text()) == {"benchmark": "x", "rows": [1]}
    assert capsys.readouterr().out == "a table\n"


def test_summary_has_mean_smallest_ratio_and_goals() -> None:
    text = accuracy.render(_accuracy([_row("one", [1, 2, 100], [0.1, 0.1, 9]), _row("two", [8], [0.1])]))
    assert "Geometric mean of the ratios 40.0 (goal: at least 50), smallest 20.0 (one) (goal: at least 8)" in text
    restricted = _accuracy([_row("one", [2], [0.1])], _machine("avx2", restricted=True))
    assert "goal" not in accuracy.render(restricted)


def test_different_optima_stand_out() -> None:
    assert "MISMATCH" in accuracy.render(_accuracy([_row("one", [1], [1], optimum=4)]))
    assert "MISMATCH" not in accuracy.render(_accuracy([_row("one", [1], [1])]))


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({}, None),
        ({"errors": 4}, "the tree costs 4 on the raw data, not 3"),
        ({"lower_bound": 3.5}, "the value is not between its bounds"),
        ({"gap": 0}, "status feasible with gap 0"),
        ({"best_reported": 2}, "a tree of 2 was reported while it ran, one of 3 returned"),
        ({"tree": None}, "there is no tree"),
    ],
)
def test_results_that_are_not_sound_are_named(changes: harness.Record, fault: str | None) -> None:
    sound = {"tree": {"n_branches": 1}, "errors": 3, "value": 3, "lower_bound": 1, "upper_bound": 3, "gap": 2}
    found = {**sound, "status": "feasible", "best_reported": 3, **changes}
    assert stopping.faults_of({}, found) == ([] if fault is None else [fault])


def test_a_child_that_fails_is_a_crash() -> None:
    with pytest.raises(harness.CrashError, match="exit code 2 before its report"):
        harness.run_job({"data": "nowhere", "table": "sparse", "dataset": "none", "limits": {}})


def test_two_versions_are_compared_by_their_least_times() -> None:
    def said(cpu: float, answer: str, first: float = 1.0) -> dict[str, Any]:
        solve = {"cpu": cpu, "wall": 2 * cpu, "answer": answer, "status": "optimal"}
        return {"first_cpu": first, "peak": 10**8, "solves": {"x": solve}}

    runs = {"old": [said(0.1, "3", 9.0), said(0.4, "3"), said(0.2, "3")]}  # the first of all compiles
    same = versions.row_of("F1", {**runs, "new": [said(0.5, "3"), said(0.3, "3"), said(0.21, "3")]})
    assert (same["ratio"], same["first"]["old"], same["later"]["old"]) == (pytest.approx(1.05), 9.0, 1.0)
    assert same["holds"]
    slow = versions.row_of("F1", {**runs, "new": [said(0.1, "3"), said(0.22, "3")]})
    wrong = versions.row_of("F1", {**runs, "new": [said(0.1, "4"), said(0.1, "3")]})
    assert (slow["holds"], slow["differs"], wrong["holds"], wrong["differs"]) == (False, [], False, ["x"])
    text = versions.render({"commits": {"old": "a", "new": "b"}, "rows": [slow, wrong]})
    assert "Slower: F1." in text
    assert "F1, x: {'old': ['3'], 'new': ['3', '4']}" in text


def test_versions_solve_what_both_have() -> None:
    assert tuple(versions_solves.FAMILIES) == versions.FAMILIES
    for name, solve in versions_solves.FAMILIES["small calls"](Path("nowhere")):
        found = versions_solves.measure(solve, 0.0)
        assert (found["status"], found["answer"]) == ("optimal", versions_solves.answer_of(solve())), name
