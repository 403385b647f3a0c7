"""`streed solve` on an ordinary CSV file: numbers, texts, gaps and dates, from the file to predictions for new rows."""

from __future__ import annotations

import csv
import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from streed.cli.app import app
from streed.datasets.reading import read_table
from streed.export import to_python, to_sql
from streed.tree import Tree


def write(path: Path, n: int = 120) -> Path:
    """Passengers of a ship, of whom women, and children, were saved."""
    rng = np.random.default_rng(1)
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["name", "survived", "class", "sex", "age", "fare", "cabin", "port", "boarded"])
        for i in range(n):
            sex, age = str(rng.choice(["female", "male"])), round(float(rng.uniform(1, 70)), 1)
            cabin = f"C{rng.integers(500)}" if rng.random() < 0.3 else ""
            known = "" if rng.random() < 0.2 else age
            fare, port = round(float(rng.lognormal(3, 1)), 2), rng.choice(["S", "C", "Q", ""], p=[0.6, 0.2, 0.15, 0.05])
            saved = int(sex == "female" or age <= 12)
            rows.writerow(
                [f"n{i}", saved, rng.integers(1, 4), sex, known, fare, cabin, port, f"1912-04-{1 + i % 9:02}"]
            )
    return path


def run(*arguments: str) -> tuple[str, str]:
    result = CliRunner().invoke(app, list(arguments), prog_name="streed")
    assert result.exit_code == 0, (result.output, result.exception)
    return result.stdout, result.stderr


@pytest.mark.parametrize("options", [(), ("--cuts", "4")], ids=["default", "cuts"])
def test_solve_verify_predict(tmp_path: Path, options: tuple[str, ...]) -> None:
    data, saved = str(write(tmp_path / "ship.csv")), str(tmp_path / "tree.json")
    arguments = ("solve", data, "--target", "survived", "--max-depth", "3", "--out", saved, "--json", *options)
    stdout, told = run(*arguments)
    answer = json.loads(stdout)
    assert answer["status"] == "optimal"
    assert answer["value"] <= 4
    assert "age (" in told
    assert "boarded (" in told
    assert "sex" not in told  # texts are no numbers to cut
    assert "MISMATCH" not in run("verify", saved, data)[0]
    predicted = list(map(int, run("predict", saved, data)[0].split()))
    with Path(data).open(encoding="utf-8") as file:
        truth = [int(row["survived"]) for row in csv.DictReader(file)]
    assert sum(p != t for p, t in zip(predicted, truth, strict=True)) == answer["value"]
    text = Path(saved).read_text(encoding="utf-8")
    assert Tree.from_json(text).to_json(indent=1) + "\n" == text


@pytest.mark.parametrize("options", [(), ("--cuts", "4")], ids=["default", "cuts"])
def test_the_tree_as_source_reads_the_raw_file(tmp_path: Path, options: tuple[str, ...]) -> None:
    data, saved = str(write(tmp_path / "ship.csv", 300)), tmp_path / "tree.json"
    run("solve", data, "--target", "survived", "--max-depth", "3", "--out", str(saved), *options)
    expected = list(map(int, run("predict", str(saved), data)[0].split()))
    tree = Tree.from_json(saved.read_text(encoding="utf-8"))
    table, _ = read_table(data)
    rows = [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]
    namespace: dict[str, Any] = {}
    exec(to_python(tree), namespace)
    assert [namespace["predict"](row) for row in rows] == expected
    base = sqlite3.connect(":memory:")
    base.execute(f"CREATE TABLE ship ({', '.join(map(repr, table))})")
    base.executemany(f"INSERT INTO ship VALUES ({', '.join('?' * len(table))})", [tuple(row.values()) for row in rows])
    assert [row[-1] for row in base.execute(to_sql(tree, "ship"))] == expected
    base.close()


def test_reports_and_fronts_read_raw_files_too(tmp_path: Path) -> None:
    data, out = str(write(tmp_path / "ship.csv")), tmp_path / "report.html"
    run("report", data, "--target", "survived", "--max-depth", "2", "--out", str(out), "--cuts", "9")
    assert "age &lt;=" in out.read_text(encoding="utf-8")
    _, told = run("front", data, "--target", "survived", "--max-depth", "1", "--cuts", "3")
    assert "at most 3 thresholds of each of" in told


def test_a_question_in_the_units_of_the_file(tmp_path: Path) -> None:
    data = str(write(tmp_path / "ship.csv"))
    shown, _ = run("solve", data, "--target", "survived", "--max-depth", "2")
    assert "sex = male?" in shown
    assert "age <=" in shown


def test_predictions_refuse_what_the_tree_does_not_know(tmp_path: Path) -> None:
    data, saved, new = tmp_path / "a.csv", str(tmp_path / "tree.json"), tmp_path / "new.csv"
    data.write_text("age,y\n1.5,0\n2.5,0\n7.5,1\n9.5,1\n", encoding="utf-8")
    run("solve", str(data), "--target", "y", "--max-depth", "1", "--out", saved)
    new.write_text("age\n3\n8\n", encoding="utf-8")
    assert run("predict", saved, str(new))[0].split() == ["0", "1"]
    new.write_text("age\n3\n\nNA\n", encoding="utf-8")
    shown, told = run("predict", saved, str(new))
    assert shown.split() == ["0", "0"]
    assert told == (
        "warning: column 'age' has a missing value in row 1 (counted from 0), which its data did not have; "
        "1 such values take the branch of more rows\n"
    )
    for text in ("size\n3\n", "age\nold\n"):
        new.write_text(text, encoding="utf-8")
        result = CliRunner().invoke(app, ["predict", saved, str(new)], prog_name="streed")
        assert result.exit_code == 2
        assert "'age'" in result.stderr
