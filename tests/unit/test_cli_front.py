"""`streed front`: the front printed, saved and drawn, and what it refuses."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from streed.cli.app import app

ERRORS = ("front", "tic-tac-toe", "--max-depth", "2")
FAIR = ("front", "berkeley", "--target", "admitted", "--task", "accuracy", "--max-depth", "2", "--sensitive", "gender")


def run(*words: str, code: int = 0) -> Any:
    done = CliRunner().invoke(app, words)
    assert done.exit_code == code, done.output
    return done


def test_errors_by_class_are_printed_and_saved(tmp_path: Path) -> None:
    table, document = tmp_path / "front.csv", tmp_path / "front.json"
    text = run(*ERRORS, "--out", str(table)).stdout.splitlines()
    rows = list(csv.reader(table.read_text(encoding="utf-8").splitlines()))
    assert rows[0][:2] == ["errors on negative", "errors on positive"]
    assert text[0] == f"status  optimal: {len(rows) - 1} nondominated points"
    assert text[1] == "over    27 questions"
    assert [line.split() for line in text[3:]] == rows[1:]
    run(*ERRORS, "--out", str(document))
    saved = json.loads(document.read_text(encoding="utf-8"))
    assert len(saved["trees"]) == len(saved["points"]) == len(rows) - 1


def test_error_against_disparity() -> None:
    found = json.loads(run(*FAIR, "--against", "demographic-parity", "--json").stdout)
    assert found["quantities"] == ["objective", "demographic-parity", "branches", "depth"]
    assert found["status"] == "optimal"
    gaps = [point["demographic-parity"] for point in found["points"]]
    assert gaps == sorted(gaps, reverse=True)


def test_a_plot(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    run(*ERRORS, "--task", "f1", "--plot", str(tmp_path / "front.svg"))
    assert "<svg" in (tmp_path / "front.svg").read_text(encoding="utf-8")


def test_refused_input() -> None:
    assert "--against" in run("front", "tic-tac-toe", "--task", "accuracy", code=2).output
    assert (
        "--sensitive"
        in run("front", "tic-tac-toe", "--task", "accuracy", "--against", "equal-opportunity", code=2).output
    )
    assert ".csv" in run(*ERRORS, "--out", "front.txt", code=2).output
