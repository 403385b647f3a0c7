"""What the shell reads and writes beside files of text: Parquet, ONNX, standard input, completion."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from streed.data import Dataset
from streed.data.reading import read_column
from streed.datasets.reading import read_table
from streed.tree import Branch, Leaf, Tree
from tests.unit.shell import refused, run


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
        refused("solve", str(file), "--target", "c")


def test_an_onnx_model_is_written(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    out = tmp_path / "tree.onnx"
    run("export", str(save(tmp_path)), "--to", "onnx", "--out", str(out))
    session = runtime.InferenceSession(out, providers=["CPUExecutionProvider"])
    rows = np.array([["m"], ["f"]], dtype=object)
    assert session.run(["prediction"], {"sex": rows})[0].tolist() == ["yes", "no"]
    assert "--out" in refused("export", str(save(tmp_path)), "--to", "onnx")


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
