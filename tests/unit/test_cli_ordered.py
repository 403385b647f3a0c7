"""The shell on numbers and dates as they are: solve, predict, verify, export of trees with thresholds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from streed.cli.app import app
from streed.tree import Tree

TABLE = """age,day,city,flag,y
20.5,2020-01-01,a,0,no
31,2020-02-01,b,1,yes
,2020-03-01,a,0,no
45,,c,1,yes
52.25,2021-01-01,a,1,yes
33,2021-05-01,b,0,no
"""
LABELS = ["no", "yes", "no", "yes", "yes", "no"]


def run(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(app, list(arguments), prog_name="streed")
    assert result.exit_code == code, (result.output, result.exception)
    return result


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "table.csv"
    path.write_text(TABLE, encoding="utf-8")
    return str(path)


def test_every_threshold_of_numbers_and_dates(table: str, tmp_path: Path) -> None:
    out = str(tmp_path / "tree.json")
    said = run("solve", table, "--target", "y", "--cuts", "all", "--max-depth", "2", "--out", out)
    assert said.stderr.splitlines()[0] == "all thresholds of age (5 values), day (5 values)"
    saved = json.loads(Path(out).read_text(encoding="utf-8"))
    assert saved["claims"]["roles"]["target"] == "y"
    assert run("predict", out, table).stdout.split() == LABELS
    assert "not ok" not in run("verify", out, table).stdout


def test_as_many_thresholds_as_are_soon_searched(table: str, tmp_path: Path) -> None:
    said = run("solve", table, "--target", "y", "--cuts", "auto", "--max-depth", "2")
    assert said.stderr.splitlines()[0] == "all thresholds of age (5 values), day (5 values)"
    assert "over    all 20 thresholds" in said.stdout
    # depth five over 600 values ends later than over 60 questions
    path = tmp_path / "many.csv"
    path.write_text("x,y\n" + "".join(f"{each},{each // 200 % 2}\n" for each in range(600)), encoding="utf-8")
    many = run("solve", str(path), "--target", "y", "--cuts", "auto", "--max-depth", "5", "--out", str(tmp_path / "t"))
    assert many.stderr.splitlines()[0] == "at most 60 thresholds of each of x (600 values)"
    assert "over    60 questions" in many.stdout
    assert "not ok" not in run("verify", str(tmp_path / "t"), str(path)).stdout


@pytest.mark.parametrize("column", ["age", "day"])
def test_trees_on_one_column(column: str, table: str, tmp_path: Path) -> None:
    rows = [
        dict(zip(TABLE.splitlines()[0].split(","), line.split(","), strict=True)) for line in TABLE.splitlines()[1:]
    ]
    path = tmp_path / "narrow.csv"
    path.write_text("\n".join([f"{column},y", *(f"{row[column]},{row['y']}" for row in rows)]) + "\n", encoding="utf-8")
    out = str(tmp_path / "tree.json")
    run("solve", str(path), "--target", "y", "--cuts", "all", "--max-depth", "3", "--out", out)
    assert run("predict", out, str(path)).stdout.split() == LABELS
    run("verify", out, str(path))
    made: dict[str, Any] = {}
    exec(run("export", out, "--to", "python").stdout, made)
    values = [None if not row[column] else float(row[column]) if column == "age" else row[column] for row in rows]
    assert [made["predict"]({column: value}) for value in values] == LABELS
    tree = Tree.from_json(Path(out).read_text(encoding="utf-8"))
    assert all(each.scale is not None for each in tree.columns.values())
    assert column in run("export", out, "--to", "sql").stdout
