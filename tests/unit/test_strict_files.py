"""Files that somebody else wrote: limits of what is read, and nothing that a saved tree names is opened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import pytest

import streed
from streed.data import Dataset
from streed.data.strict_json import parse
from streed.errors import InputError
from streed.registry import limits, notions, rates, tasks
from streed.tasks import Accuracy, WeightedAccuracy
from streed.tree import Tree
from streed.tree.description import rebuild
from streed.tree.evaluation import check

X, Y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "yes"]
LONG = "9" * 5_000


def _document(task: Any = None) -> Any:
    result = streed.solve(Accuracy() if task is None else task, X, Y, max_depth=2)
    return json.loads(result.tree.to_json())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no JSON"),
        ("NaN", "NaN"),
        ('{"a": -Infinity}', "-Infinity"),
        ('{"a": 1, "a": 2}', "'a' is there twice"),
        ('{"b": {"a": 1, "a": 1}}', "'a' is there twice"),
        ("1e999", "too large"),
        ("-1e999", "too large"),
        ("1." + LONG, "too large"),
        (LONG, "5,000 digits"),
        ("[" * 300 + "]" * 300, "nested more than 200"),
        ("[" * 200_000, "nested|JSON"),
        ('"' + "x" * 100_001 + '"', "100,001 letters"),
        ('{"\\ud800": 1}', "half a character"),
        ("\ufeff{}", "BOM"),
        ("[" + "[]," * 400_001 + "[]]", "400,000 lists"),
    ],
)
def test_json_within_limits(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse(text, "tree", "write another")


def _nodes(change: dict[str, Any]) -> Any:
    return lambda d: d["nodes"][0].update(change)


CHANGES: dict[str, tuple[Any, str]] = {
    "children that are floats": (_nodes({"children": [1.0, 2.0]}), r"nodes\[0\]"),
    "a column that is a float": (_nodes({"column": 0.0}), r"nodes\[0\]"),
    "rows beyond counting": (_nodes({"rows": 10**30}), r"nodes\[0\]"),
    "columns beyond memory": (lambda d: d.update(n_columns=10**18), "n_columns"),
    "fewer columns than described": (lambda d: d.update(n_columns=0), "columns"),
    "a version that is a list": (lambda d: d.update(version=[[1]]), "version"),
    "equal labels": (lambda d: d.update(labels=[{"str": "no"}, {"str": "no"}]), "labels: two of them are equal"),
    "labels that Python takes for equal": (lambda d: d.update(labels=[{"int": 1}, {"bool": True}]), "two of them"),
    "equal categories": (lambda d: d["columns"][0].update(categories=[{"int": 1}, {"float": 1}]), "two of them"),
    "columns of one name": (lambda d: [c.update(name="x") for c in d["columns"]], "same name"),
    "three categories, two children": (
        lambda d: d["columns"][0].update(categories=[{"int": j} for j in range(3)]),
        r"columns\[0\]\.categories",
    ),
    "a fraction by an exponent": (lambda d: d["claims"].update(value="1e30000000"), "claims"),
    "a fraction without an end": (lambda d: d["claims"].update(value=f"{LONG}/7"), "no fraction"),
    "a fraction beyond floats": (lambda d: d["claims"].update(value="9" * 400 + "/7"), "too large"),
    "a whole number beyond floats": (lambda d: d["claims"].update(lower_bound=10**400), "too large"),
    "a label of 5,000 digits": (lambda d: d["labels"].__setitem__(0, {"fraction": LONG}), "no fraction"),
    "a label beyond floats": (lambda d: d["labels"].__setitem__(0, {"float": 10**400}), "too large"),
    "a leaf's cost with a line break": (
        lambda d: next(n for n in d["nodes"] if "label" in n).update(cost="1/3\n"),
        "no fraction",
    ),
}


@pytest.mark.parametrize(("change", "said"), CHANGES.values(), ids=CHANGES)
def test_a_changed_tree_is_refused(change: Any, said: str) -> None:
    document = _document()
    change(document)
    with pytest.raises(InputError, match=said):
        Tree.from_json(json.dumps(document))


# -- what a description may name ---------------------------------------------------------------------------------------


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
    document = _document(WeightedAccuracy({"no": 2}))
    document["claims"]["task"] = {
        "class": "Objective",
        "module": "streed.task.objective",
        "parameters": {"parts": ["Accuracy"]},
    }
    tree = Tree.from_json(json.dumps(document))
    with pytest.raises(InputError, match="cannot be evaluated as the tree describes it"):
        check(tree, Dataset.make(X, Y))
