"""Files: tables and trees read, checked, and predicted with; what somebody else wrote, and what contradicts itself."""

from __future__ import annotations

import csv
import datetime as dt
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest

import streed
from streed.data import Cut, Dataset
from streed.data.reading import read_column
from streed.data.strict_json import parse, rebuild
from streed.datasets import read_table
from streed.errors import InputError
from streed.estimators import Binarizer
from streed.registry import limits, notions, rates, tasks
from streed.tasks import Accuracy
from streed.tree import Branch, Leaf, Tree
from streed.tree.evaluation import check
from tests.unit import outcomes
from tests.unit.conftest import change_leaf, refused, run, run_json, saved, solve
from tests.unit.specimens import AGE, DAY, SIZE, colour_tree, stump


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
        (lambda d: change_leaf(d, cost={"fraction": "1/9"}), "cost of leaf 0"),
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
    data.write_text("age now,y\n1.5,0\n2.5,0\n7.5,1\n9.5,1\n", encoding="utf-8")
    run("solve", str(data), "--target", "y", "--max-depth", "1", "--out", saved)
    new.write_text("age now\n3\n8\n", encoding="utf-8")
    assert run("predict", saved, str(new)).stdout.split() == ["0", "1"]
    new.write_text('age now\n3\n\n""\nNA\n', encoding="utf-8")
    said = run("predict", saved, str(new))
    assert said.stdout.split() == ["0"] * 4
    assert said.stderr == (
        "warning: column 'age now' has a missing value in row 1 (counted from 0), which its data did not have; "
        "3 such values take the branch of more rows\n"
    )
    for text in ("size\n3\n", "age now\nold\n"):
        new.write_text(text, encoding="utf-8")
        assert "'age now'" in run("predict", saved, str(new), code=2).stderr


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
    rows = {"a": [1, None], "b": [0.5, float("nan")], "c": ["x", ""], "d": days, "e": [True, False]}
    pl.DataFrame(rows).write_parquet(path)
    table, target = read_table(str(path), "c")
    read = {name: read_column(column, name) for name, column in table.items()}
    assert [each.kind.value for each in read.values()] == ["number", "number", "category", "date", "boolean"]
    values = [[1, None], [0.5, None], ["x", ""], ["2020-01-02", None], [True, False]]
    assert [each.as_categories() for each in read.values()] == values
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


X, Y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "yes"]
LONG = "9" * 5_000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no JSON"),
        ("NaN", "NaN"),
        ('{"a": -Infinity}', "-Infinity"),
        ('{"a": 1, "a": 2}', "'a' is there twice"),
        ('{"b": {"a": 1, "a": 1}}', "'a' is there twice"),
        ("1e999", "not JSON compliant"),
        (LONG, "5000 digits"),
        ("[" * 300 + "]" * 300, "nested more than 200"),
        ("[" * 200_000, "nested|JSON"),
        ('"' + '\\"' * 2_000_000, "Unterminated"),  # took time by the square of its length
        ('{"\\ud800": 1}', "surrogates not allowed"),
        ("\ufeff{}", "BOM"),
    ],
)
def test_json_within_limits(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse(text, "tree", "write another")


@pytest.mark.parametrize("threshold", [0.1, 1e300, -5e-324, 2**60 + 1, 3, 3.0, -math.inf])
def test_thresholds_come_back_exactly(threshold: Any) -> None:
    found = Tree.from_json(stump(AGE, Cut(threshold, 0)).to_json()).root
    assert isinstance(found, Branch)
    assert found.cut == Cut(threshold, 0)
    assert type(found.cut.threshold) is type(threshold)


TABLE = pd.DataFrame({"size": pd.Categorical(["l", "s", None, "xl", "s", "l"], ["s", "m", "l", "xl"], ordered=True)})


def by_recipe() -> Tree:
    """Asks `size<=l`, and of those whether they are `size<=s`."""
    binarizer = Binarizer().fit(TABLE)
    data = binarizer.recipe_.dataset(binarizer.transform(TABLE), ["b", "a", "c", "c", "a", "b"])
    below = Branch(0, (Leaf(1, 2, 0), Leaf(0, 2, 0)), 4)
    return Tree.grown(Branch(1, (Leaf(2, 2, 0), below), 6), data)


def solved() -> Tree:
    return outcomes.tree_of(streed.solve(Accuracy(), X, Y, max_depth=2))


def colours() -> Tree:
    return colour_tree()[0]


def age() -> Tree:
    return stump(AGE, Cut(1, 0))


def day() -> Tree:
    return stump(DAY, Cut(1, 0))


def size() -> Tree:
    return stump(SIZE, Cut(1, 0))


def _nodes(**change: Any) -> Callable[[Any], Any]:
    return lambda d: d["nodes"][0].update(change)


def _columns(**change: Any) -> Callable[[Any], Any]:
    return lambda d: d["columns"][0].update(change)


CHANGES: list[tuple[Callable[[], Tree], Callable[[Any], Any], str]] = [
    (colours, lambda d: d.update(version=3), "version 3"),
    (colours, lambda d: d.update(format="other"), "$.format"),
    (colours, lambda d: d.pop("labels"), "labels"),
    (colours, lambda d: d["nodes"][1].update(cost="x"), "$.nodes[1]"),
    (colours, lambda d: d["nodes"][1].update(label=2), "nodes[1]: label 2 of 2"),
    (colours, lambda d: d["nodes"][1].update(label=-1), "$.nodes[1]"),
    (colours, _nodes(column=2), "nodes[0]: column 2"),
    (colours, _nodes(children=[1, 2]), "nodes[0]: 2 children"),
    (colours, _nodes(children=[1, 2, 9]), "nodes[0]: child 9"),
    (colours, _nodes(children=[1, 2, 2]), "nodes[2]: it has 2 parents"),
    (colours, lambda d: d["nodes"][2].update(children=[1, 4]), "nodes[2]: child 1 does not come after it"),
    (colours, lambda d: d["nodes"].append({"label": 0, "rows": 0, "cost": 0}), "nodes[6]: it has 0 parents"),
    (colours, lambda d: d["nodes"][1].update(shows=1), "some leaves"),
    (colours, lambda d: d["columns"].append(d["columns"][0]), "same index"),
    (colours, _columns(categories=[{"int": 1}]), "$.columns[0]"),
    (age, lambda d: d["nodes"][0].pop("threshold"), "nodes[0]"),
    (age, lambda d: d["nodes"][0].pop("gaps"), "nodes[0]"),
    (age, _nodes(gaps=2), "gaps"),
    (age, _nodes(threshold=None, gaps=0), "nodes[0]"),
    (age, _nodes(threshold={"fraction": "1/3"}), "threshold"),
    (age, _nodes(threshold=10**400), "threshold"),
    (age, lambda d: d["columns"][0].pop("scale"), "columns[0].categories"),
    (age, _columns(zone="UTC"), "columns[0].scale: 'date'"),
    (size, _columns(other=True), "columns[0].other"),
    (age, _columns(scale="text"), "scale"),
    (age, _columns(multiway=True), "columns[0].multiway"),
    (age, _columns(categories=[1]), "columns[0].categories"),
    (day, _nodes(threshold=1.5), "no threshold of the date column"),
    (day, _nodes(threshold=10**30), "no threshold of the date column"),
    (size, _nodes(threshold=3), "no threshold of the category column"),
    (size, _nodes(threshold=-1), "no threshold of the category column"),
    (size, _columns(categories=[]), "columns[0].categories"),
    (by_recipe, lambda d: d["recipe"]["columns"][0].update(thresholds=[0, 4]), "no threshold"),
    (by_recipe, lambda d: d["recipe"]["columns"][0].update(thresholds=[0, 1.5]), "no threshold"),
    (by_recipe, lambda d: d["recipe"]["columns"][0].update(thresholds=[2, 0]), "ascend"),
    (by_recipe, lambda d: d["recipe"]["columns"][0].update(multiway=True), "multiway"),
    (by_recipe, lambda d: d["recipe"]["columns"][0].update(other=True), "other"),
    (by_recipe, lambda d: d["recipe"]["columns"][0].update(thresholds=[0, 1]), "do not make the columns"),
    (solved, _nodes(children=[1.0, 2.0]), "nodes[0]"),
    (solved, _nodes(column=0.0), "nodes[0]"),
    (solved, _nodes(rows=10**30), "nodes[0]"),
    (solved, lambda d: d.update(n_columns=10**18), "n_columns"),
    (solved, lambda d: d.update(n_columns=0), "columns"),
    (solved, lambda d: d.update(version=[[1]]), "version"),
    (solved, lambda d: d.update(labels=["no", "no"]), "labels: two of them are equal"),
    (solved, lambda d: d.update(labels=[1, True]), "two of them"),
    (solved, _columns(categories=[1, 1.0]), "two of them"),
    (solved, lambda d: [c.update(name="x") for c in d["columns"]], "same name"),
    (solved, _columns(categories=list(range(3))), "columns[0].categories"),
    (solved, lambda d: d["claims"].update(value="1e30000000"), "claims"),
    (solved, lambda d: d["claims"].update(value={"fraction": f"{LONG}/7"}), "no fraction"),
    (solved, lambda d: d["claims"].update(value={"fraction": "9" * 400 + "/7"}), "too large"),
    (solved, lambda d: d["claims"].update(lower_bound=10**400), "too large"),
    (solved, lambda d: d["claims"].update(positive=10**400), "$.claims.positive"),
    (solved, lambda d: d["labels"].__setitem__(0, {"fraction": LONG}), "no fraction"),
    (solved, lambda d: d["labels"].__setitem__(0, {"float": "nan"}), "labels"),
    (solved, lambda d: next(n for n in d["nodes"] if "label" in n).update(cost={"fraction": "1/3\n"}), "no fraction"),
]
"""A tree, what is changed in its file, and what is said then."""


@pytest.mark.parametrize(("made", "change", "said"), CHANGES)
def test_a_changed_tree_is_refused(made: Callable[[], Tree], change: Callable[[Any], Any], said: str) -> None:
    document = json.loads(made().to_json())
    change(document)
    outcomes.refused("tree", said, call=lambda: Tree.from_json(json.dumps(document)))


def _made_by_streed() -> list[type]:
    entries = [*tasks().values(), *limits().values(), *notions().values(), *rates().values()]
    return [entry.made_by for entry in entries]


@pytest.mark.parametrize("made_by", _made_by_streed(), ids=lambda made_by: made_by.__name__)
def test_no_parameter_of_any_task_opens_a_file(made_by: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A class whose parameter may be a path says so, and then no description may hold a text there."""
    secret = tmp_path / "secret"
    secret.write_text("0 1\n1 0\n", encoding="utf-8")

    def opened(*arguments: Any, **named: Any) -> Any:
        raise AssertionError("a file was opened")

    monkeypatch.setattr("pathlib.Path.open", opened)
    monkeypatch.setattr("pathlib.Path.read_text", opened)
    monkeypatch.setattr("builtins.open", opened)
    for field in attrs.fields(made_by):
        described = {"class": made_by.__name__, "module": made_by.__module__, "parameters": {field.alias: str(secret)}}
        said = ""
        try:
            rebuild(described)
        except InputError as error:
            said = str(error)
        assert "a file was opened" not in said


DESCRIPTIONS: dict[str, tuple[Any, str]] = {
    "a fraction by an exponent": ({"fraction": "1e30000000"}, "no fraction"),
    "a fraction of 5,000 digits": ({"fraction": f"1/{LONG}"}, "no fraction"),
    "a fraction beyond floats": ({"fraction": "9" * 400}, "too large"),
    "a number beyond floats": ([10**400], "too large"),
    "a key that is a dict": ({"items": [[{"items": []}, 2]]}, "key"),
    "two equal keys": ({"items": [[1, 2], [True, 3]]}, "two keys"),
    "nothing": ({"class": 1}, "describes nothing"),
    "no module": ({"class": "Accuracy", "module": "streed.tasks.", "parameters": {}}, "no task"),
    "a module of bytes": ({"class": "Accuracy", "module": "streed.tasks.\0", "parameters": {}}, "no task"),
    "a package beside": ({"class": "Popen", "module": "streed.tasks.accuracy.os", "parameters": {}}, "no task"),
    "a constant of the data": (
        {"class": "RelativeRisk", "module": "streed.tasks.survival", "parameters": {"scale": 2}},
        "no parameter 'scale'",
    ),
    "a weight that is none": (
        {"class": "WeightedAccuracy", "module": "streed.tasks.accuracy", "parameters": {"class_weight": "a"}},
        "maps no labels",
    ),
    "a function that is none": (
        {"class": "MonotoneMetric", "module": "streed.tasks.metrics", "parameters": {"function": 1}},
        "give a function",
    ),
}


@pytest.mark.parametrize(("description", "said"), DESCRIPTIONS.values(), ids=DESCRIPTIONS)
def test_descriptions_that_no_task_has(description: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        rebuild(description)


def test_a_task_that_fails_on_what_a_file_claims_is_the_files_fault() -> None:
    document = json.loads(solved().to_json())
    document["claims"]["task"] = {
        "class": "Objective",
        "module": "streed.task.objective",
        "parameters": {"parts": ["Accuracy"]},
    }
    tree = Tree.from_json(json.dumps(document))
    with pytest.raises(InputError, match="cannot be evaluated as the tree describes it"):
        check(tree, Dataset.make(X, Y))
