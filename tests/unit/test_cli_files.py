"""Tables and trees from file to file: read by types, solved, saved, checked, predicted with, exported, refused."""

from __future__ import annotations

import csv
import datetime as dt
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streed.data import Dataset
from streed.data.reading import read_column
from streed.datasets.reading import read_table
from streed.tree import Branch, Leaf, Tree
from tests.unit.conftest import change_leaf, refused, run, run_json, saved, solve


def test_predict_needs_no_target(play: str, tmp_path: Path) -> None:
    tree, out = str(tmp_path / "tree.json"), tmp_path / "answers.csv"
    solve(play, "--target", "play", "--weights", "times", "--out", tree)
    new = tmp_path / "new.csv"
    new.write_text("humidity,windy,outlook\n70,1,overcast\n80,1,rain\n70,0,rain\n", encoding="utf-8")
    assert run("predict", tree, str(new)).stdout.split() == ["yes", "no", "yes"]
    assert run_json("predict", tree, str(new)) == {"predictions": ["yes", "no", "yes"]}
    run("predict", tree, str(new), "--out", str(out))
    assert out.read_text(encoding="utf-8") == "prediction\nyes\nno\nyes\n"
    new.write_text("humidity,windy\n70,1\n", encoding="utf-8")
    assert "outlook" in refused("predict", tree, str(new))


def test_verify_checks_every_number(play: str, tmp_path: Path) -> None:
    path, document = saved(play, tmp_path)
    answer = run_json("verify", str(path), play)
    assert answer["holds"] is True
    whats = [check["what"] for check in answer["checks"]]
    assert whats[:2] == ["rows of the data", "labels"]
    leaves = sum("label" in node for node in document["nodes"])
    assert sum(what.startswith("cost of leaf") for what in whats) == leaves
    assert sum(what.startswith("rows of") for what in whats) == len(document["nodes"]) + 1
    text = run("verify", str(path), play).stdout
    assert text == f"all {len(whats)} claims hold\n"
    assert "MISMATCH" not in text


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (lambda d: d["claims"].update(n_rows=8), "rows of the data"),
        (lambda d: d["claims"].update(value=0.5), "value"),
        (lambda d: d["claims"].update(lower_bound=0), "gap of an optimal tree"),
        (lambda d: d["claims"].update(upper_bound=9), "upper bound (the value)"),
        (lambda d: d["claims"].update(max_depth=1), "depth"),
        (lambda d: d["claims"].update(max_nodes=0), "branching nodes"),
        (lambda d: d["claims"].update(min_leaf=7), "fewest rows in a leaf"),
        (lambda d: d["claims"]["task"]["parameters"].update(lam=0.02), "value"),
        (lambda d: d["labels"].reverse(), "labels"),
        (lambda d: d["nodes"][0].update(rows=6), "rows of node 0"),
        (lambda d: change_leaf(d, rows=1000), "rows of leaf 0"),
        (lambda d: change_leaf(d, cost=1), "cost of leaf 0"),
        (lambda d: change_leaf(d, cost="1/9"), "cost of leaf 0"),
    ],
)
def test_verify_finds_what_does_not_hold(play: str, tmp_path: Path, change: Any, wrong: str) -> None:
    path, document = saved(play, tmp_path)
    change(document)
    path.write_text(json.dumps(document), encoding="utf-8")
    answer = run_json("verify", str(path), play, code=1)
    assert answer["holds"] is False
    assert any(check["what"].startswith(wrong) for check in answer["checks"] if not check["holds"])
    assert "MISMATCH" in run("verify", str(path), play, code=1).stdout


@pytest.mark.parametrize("text", ["", "{}", "not json"])
def test_a_broken_tree_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "tree.json"
    path.write_text(text, encoding="utf-8")
    assert "tree: " in refused("predict", str(path), "monks-1")
    assert "tree: " in refused("verify", str(path), "monks-1")
    assert "there is no file" in refused("verify", str(tmp_path / "none.json"), "monks-1")


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


@pytest.mark.parametrize(
    "options", [pytest.param((), marks=pytest.mark.compiles), ("--cuts", "4")], ids=["default", "cuts"]
)
def test_solve_verify_predict(tmp_path: Path, options: tuple[str, ...]) -> None:
    data, saved = str(write(tmp_path / "ship.csv")), str(tmp_path / "tree.json")
    arguments = ("solve", data, "--target", "survived", "--max-depth", "3", "--out", saved, "--json", *options)
    said = run(*arguments)
    answer, told = json.loads(said.stdout), said.stderr
    assert answer["status"] == "optimal"
    assert answer["value"] <= 4
    assert "age (" in told
    assert "boarded (" in told
    assert "sex" not in told  # texts are no numbers to cut
    assert "MISMATCH" not in run("verify", saved, data).stdout
    predicted = list(map(int, run("predict", saved, data).stdout.split()))
    with Path(data).open(encoding="utf-8") as file:
        truth = [int(row["survived"]) for row in csv.DictReader(file)]
    assert sum(p != t for p, t in zip(predicted, truth, strict=True)) == answer["value"]
    text = Path(saved).read_text(encoding="utf-8")
    assert Tree.from_json(text).to_json(indent=1) + "\n" == text


def test_predictions_refuse_what_the_tree_does_not_know(tmp_path: Path) -> None:
    data, saved, new = tmp_path / "a.csv", str(tmp_path / "tree.json"), tmp_path / "new.csv"
    data.write_text("age,y\n1.5,0\n2.5,0\n7.5,1\n9.5,1\n", encoding="utf-8")
    run("solve", str(data), "--target", "y", "--max-depth", "1", "--out", saved)
    new.write_text("age\n3\n8\n", encoding="utf-8")
    assert run("predict", saved, str(new)).stdout.split() == ["0", "1"]
    new.write_text("age\n3\n\nNA\n", encoding="utf-8")
    said = run("predict", saved, str(new))
    assert said.stdout.split() == ["0", "0"]
    assert said.stderr == (
        "warning: column 'age' has a missing value in row 1 (counted from 0), which its data did not have; "
        "1 such values take the branch of more rows\n"
    )
    for text in ("size\n3\n", "age\nold\n"):
        new.write_text(text, encoding="utf-8")
        assert "'age'" in run("predict", saved, str(new), code=2).stderr


def sexes(folder: Path) -> Path:
    """A tree that asks whether sex is m."""
    data = Dataset.make({"sex": ["f", "m", "m"]}, ["no", "yes", "yes"])
    path = folder / "tree.json"
    path.write_text(Tree.grown(Branch(0, (Leaf(0, 1, 0), Leaf(1, 2, 0)), 3), data).to_json(), encoding="utf-8")
    return path


def test_a_parquet_file_is_read_by_its_types(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
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
    run("export", str(sexes(tmp_path)), "--to", "onnx", "--out", str(out))
    session = runtime.InferenceSession(out, providers=["CPUExecutionProvider"])
    rows = np.array([["m"], ["f"]], dtype=object)
    assert session.run(["prediction"], {"sex": rows})[0].tolist() == ["yes", "no"]
    assert "--out" in refused("export", str(sexes(tmp_path)), "--to", "onnx")
