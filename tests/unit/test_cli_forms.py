"""What the shell reads and writes beside files of text: Parquet, ONNX, standard input, completion."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from streed.cli.app import app
from streed.cli.options import SEARCHES
from streed.data import Dataset
from streed.data.reading import read_column
from streed.datasets.reading import read_table
from streed.drivers import drivers
from streed.tree import Branch, Leaf, Tree
from streed.tree.text import size_text


def run(*arguments: str, given: str | None = None) -> Any:
    return CliRunner().invoke(app, list(arguments), input=given, prog_name="streed")


def save(folder: Path) -> Path:
    """A tree that asks whether sex is m."""
    data = Dataset.make({"sex": ["f", "m", "m"]}, ["no", "yes", "yes"])
    path = folder / "tree.json"
    path.write_text(Tree.grown(Branch(0, (Leaf(0, 1, 0), Leaf(1, 2, 0)), 3), data).to_json(), encoding="utf-8")
    return path


def test_a_parquet_file_is_read_by_its_types(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
    import datetime as dt

    path = tmp_path / "rows.parquet"
    days = [dt.date(2020, 1, 2), None]
    pl.DataFrame(
        {"a": [1, None], "b": [0.5, float("nan")], "c": ["x", ""], "d": days, "e": [True, False]}
    ).write_parquet(path)
    table, target = read_table(str(path), "c")
    read = {name: read_column(column, name) for name, column in table.items()}
    assert [each.kind.value for each in read.values()] == ["number", "number", "category", "date", "boolean"]
    assert [each.as_categories() for each in read.values()] == [
        *([1, None], [0.5, None], ["x", ""], ["2020-01-02", None], [True, False])
    ]
    assert target == "c"
    path.write_bytes(b"no table")
    for file in (path, tmp_path / "absent.parquet"):
        result = run("solve", str(file), "--target", "c")
        assert result.exit_code == 2
        assert result.stderr.count("\n") == 1


def test_one_is_not_several(tmp_path: Path) -> None:
    told = run("solve", "-", "--target", "y", "--max-depth", "1", given="a,y\n1,u\n1,v\n").stdout
    assert told.startswith("data    -: 2 rows, 1 column, 2 classes\n")
    told = run("solve", "-", "--target", "y", "--max-depth", "1", given="a,b,y\n1,0,u\n").stdout
    assert told.startswith("data    -: 1 row, 2 columns, 1 class\n")


def test_parquet_rows_are_predicted(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
    path = tmp_path / "rows.parquet"
    pl.DataFrame({"sex": ["m", "f"]}).write_parquet(path)
    assert run("predict", str(save(tmp_path)), str(path)).stdout.split() == ["yes", "no"]


def test_standard_input_is_taken_for_either(tmp_path: Path) -> None:
    tree, rows = save(tmp_path), tmp_path / "rows.csv"
    rows.write_text("sex\nm\nf\n", encoding="utf-8")
    assert run("predict", str(tree), "-", given="sex\nm\nf\n").stdout.split() == ["yes", "no"]
    assert run("predict", "-", str(rows), given=tree.read_text(encoding="utf-8")).stdout.split() == ["yes", "no"]
    assert "WHEN" in run("export", "-", "--to", "sql", given=tree.read_text(encoding="utf-8")).stdout


def test_an_onnx_model_is_written(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    out = tmp_path / "tree.onnx"
    assert run("export", str(save(tmp_path)), "--to", "onnx", "--out", str(out)).exit_code == 0
    session = runtime.InferenceSession(out, providers=["CPUExecutionProvider"])
    rows = np.array([["m"], ["f"]], dtype=object)
    assert session.run(["prediction"], {"sex": rows})[0].tolist() == ["yes", "no"]
    refused = run("export", str(save(tmp_path)), "--to", "onnx")
    assert refused.exit_code == 2
    assert "--out" in refused.stderr


def test_the_searches_that_the_help_lists_are_all() -> None:
    assert set(SEARCHES) == set(drivers())
    assert all(name in run("solve", "--help").stdout for name in SEARCHES)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_written_for_each_shell(shell: str) -> None:
    code = "from streed.cli.app import main; main()"
    made = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "_STREED_COMPLETE": f"{shell}_source"},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    if shell != "bash" or "bash" not in made.stderr.lower():  # click asks bash for its version
        assert "_STREED_COMPLETE" in made.stdout, made.stderr


def test_one_node_is_not_several() -> None:
    data = Dataset.make({"sex": ["f", "m"]}, ["no", "yes"])
    assert (
        size_text(Tree.grown(Branch(0, (Leaf(0, 1, 0), Leaf(1, 1, 0)), 2), data))
        == "1 branching node, 2 leaves, depth 1"
    )
    assert size_text(Tree.grown(Leaf(0, 2, 1), data)) == "0 branching nodes, 1 leaf, depth 0"


def test_a_pipeline_reads_tables_as_the_shell_reads_files(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    lines = [f"{'' if age % 7 == 0 else age},{'AB'[age % 2]},2020-01-{age % 28 + 1:02}" for age in range(18, 70)]
    table = tmp_path / "people.csv"
    kinds = [f"{line},{'yes' if age > 40 else 'no'}" for age, line in zip(range(18, 70), lines, strict=True)]
    table.write_text("\n".join(["age,room,since,old", *kinds]) + "\n", encoding="utf-8")
    tree, out = tmp_path / "tree.json", tmp_path / "tree.pkl"
    assert run("solve", str(table), "--target", "old", "--max-depth", "2", "--out", str(tree)).exit_code == 0
    assert run("export", str(tree), "--to", "sklearn", "--out", str(out)).exit_code == 0
    predicted = run("predict", str(tree), str(table)).output.split()
    assert pickle.loads(out.read_bytes()).predict(pandas.read_csv(table)).tolist() == predicted


@pytest.mark.parametrize(
    ("table", "said"),
    [("a,y\n3,0\n5,1\n7,1\n", "a (3 values)"), ("a,b,y\n3,9,0\n5,8,1\n7,4,1\n", "a (3 values), b (3 values)")],
)
def test_what_is_tried_of_columns_is_said(table: str, said: str) -> None:
    done = CliRunner().invoke(app, ["solve", "-", "--target", "y", "--max-depth", "1"], input=table)
    assert f"all thresholds of {said}" in done.stderr
