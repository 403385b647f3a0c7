"""Files that somebody else wrote: limits of what is read, and nothing that a saved tree names is opened."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs
import pytest

import streed
from streed.data import Dataset
from streed.data.strict_json import MOST_DIGITS, parse
from streed.data.text_file import read_text
from streed.errors import InputError
from streed.exact import exact_number, read_decimal, real_number
from streed.registry import limits, notions, rates, tasks
from streed.tasks import Accuracy, CostSensitive, MisclassificationCosts, WeightedAccuracy
from streed.tasks.cost_tables import CostTable, TestCost
from streed.tree import Tree
from streed.tree.description import FILE, describe, rebuild
from streed.tree.verification import check
from tests.unit.refusal import refused

X, Y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "yes"]
LONG = "9" * 5_000


def _document(task: Any = None) -> Any:
    result = streed.solve(Accuracy() if task is None else task, X, Y, max_depth=2)
    assert result.tree is not None
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


def test_json_that_is_read() -> None:
    digits = "9" * MOST_DIGITS
    assert parse(f'{{"a": [1, 1.5, true, null, "\\ud83d\\ude00", {digits}]}}', "tree", "") == {
        "a": [1, 1.5, True, None, "\U0001f600", int(digits)]
    }


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
        "not multiway",
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


RECIPE = {
    "name": "x0",
    "kind": "number",
    "thresholds": [1],
    "categories": [],
    "multiway": False,
    "missing": False,
    "other": False,
    "usual": {"none": True},
    "note": "",
}

RECIPES: dict[str, tuple[dict[str, Any], str]] = {
    "thresholds of texts": ({"kind": "category"}, "no place among"),
    "categories of numbers": ({"categories": [{"int": 1}]}, "does not have"),
    "children of numbers": ({"multiway": True}, "does not have"),
    "children of nothing": ({"kind": "category", "thresholds": [], "multiway": True}, "no category"),
    "thresholds that fall": ({"thresholds": [2, 1]}, "ascend"),
    "thresholds beyond floats": ({"thresholds": [10**400]}, "too large"),
    "a date after all": ({"kind": "date", "thresholds": [10**30]}, "no date"),
    "half a microsecond": ({"kind": "date", "thresholds": [0.5]}, "no date"),
    "a boolean of texts": ({"kind": "boolean", "thresholds": [], "categories": [{"str": "a"}]}, "0 and 1"),
    "one question twice": (
        {"kind": "category", "thresholds": [], "categories": [{"int": 1}, {"str": "1"}, {"int": 2}]},
        "same",
    ),
}


@pytest.mark.parametrize(("change", "said"), RECIPES.values(), ids=RECIPES)
def test_recipes_that_no_reading_makes(change: dict[str, Any], said: str) -> None:
    document = _document()
    document.update(columns=[], nodes=[{"label": 0, "rows": 4, "cost": 1}], n_columns=1)
    document["recipe"] = {"named": True, "unseen": "warn", "columns": [RECIPE]}
    assert Tree.from_json(json.dumps(document)).recipe is not None
    document["recipe"]["columns"] = [RECIPE | change]
    with pytest.raises(InputError, match=said):
        Tree.from_json(json.dumps(document))
    document.update(n_columns=2, recipe=document["recipe"] | {"columns": [RECIPE, RECIPE]})
    with pytest.raises(InputError, match="same column"):
        Tree.from_json(json.dumps(document))


def test_no_deeper_tree_is_written_or_read() -> None:
    node: Any = streed.tree.Leaf(0, 1, 0)
    for _ in range(2_001):
        node = streed.tree.Branch(0, (streed.tree.Leaf(0, 0, 0), node), 1)
    tree = Tree.grown(node, Dataset.make(X, Y))
    refused("tree", "2001 levels", call=tree.to_json)
    assert isinstance(node.children[1], streed.tree.Branch)
    tree = attrs.evolve(tree, root=node.children[1])
    document = json.loads(tree.to_json())
    assert Tree.from_json(json.dumps(document)).depth == 2_000
    last = next(place for place, each in reversed(list(enumerate(document["nodes"]))) if "label" in each)
    document["nodes"][last] = {"column": 0, "children": [last + 1, last + 2], "rows": 1}
    document["nodes"] += [{"label": 0, "rows": 1, "cost": 0}] * 2
    with pytest.raises(InputError, match="2,000 levels deep"):
        Tree.from_json(json.dumps(document))


LABELS = {"digits": 10**5_000, "letters": "x" * 200_000, "half": "\ud800", "fraction": Fraction(1, 10**5_000)}


@pytest.mark.parametrize("label", LABELS.values(), ids=LABELS)
def test_labels_that_no_file_holds_are_not_written(label: Any) -> None:
    tree = streed.solve(Accuracy(), X, Y, max_depth=2).tree
    assert tree is not None
    refused("labels", call=attrs.evolve(tree, labels=("no", label)).to_json)
    assert len(attrs.evolve(tree, labels=("no", label)).to_text().splitlines()) == 5


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


def test_costs_of_a_file_stay_a_parameter_of_people(tmp_path: Path) -> None:
    path = tmp_path / "costs.txt"
    path.write_text("0 1\n5 0\nname cost discounted group first last\nx0 1 0.5 x 0 0\n", encoding="utf-8")
    task = CostSensitive(str(path))
    assert task.costs.tests == (TestCost("x0", 1, Fraction(1, 2), None, (0,)),)
    assert {f.alias for f in attrs.fields(CostSensitive) if f.metadata.get(FILE)} == {"costs"}
    described = describe(task)
    described["parameters"]["costs"] = str(path)
    with pytest.raises(InputError, match="no file to be opened"):
        rebuild(described)


def test_trees_of_cost_tables_are_verified() -> None:
    """Their parameters are a table of costs, which was refused as no class of streed's."""
    table = CostTable.of([[0, 2.5], [5, 0]], [TestCost("x0", 1, 0.5, "g")], classes=[0, 1])
    data = Dataset.make(X, [0, 1, 1, 1])
    for task in (CostSensitive(table), MisclassificationCosts(table)):
        tree = streed.solve(task, data, max_depth=2).tree
        assert tree is not None
        assert all(each.holds for each in check(Tree.from_json(tree.to_json()), data))


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
        "class": "Negated",
        "module": "streed.task.algebra.directions",
        "parameters": {"task": "Accuracy"},
    }
    tree = Tree.from_json(json.dumps(document))
    with pytest.raises(InputError, match="cannot be evaluated as the tree describes it"):
        check(tree, Dataset.make(X, Y))


def test_bounds_that_are_missing_do_not_hold() -> None:
    document = _document()
    document["claims"].update(status="feasible", upper_bound=None)
    found = {each.what: each.holds for each in check(Tree.from_json(json.dumps(document)), Dataset.make(X, Y))}
    assert found["lower bound"] is False


# -- files of costs and of text ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0 1e-30000000\n1 0\n", "4,000 digits"),
        (f"0 {LONG}\n1 0\n", "it is inf|4,000"),
        ("0 1\n1 0\nhead\na 1e-30000000 0 x 0 0\n", "line 4"),
        ("0 1\n1 0\nhead\na 1 0 x 0 1000000000000000000\n", "columns 0 to"),
        ("0 1\n1 0\nhead\na 1 0 x 0 " + LONG + "\n", "write name"),
        ("0 1\n1 0\nhead\na 1 0 x -5 0\n", "columns -5"),
    ],
)
def test_costs_within_limits(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "costs.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        CostTable.read(path)


def test_files_that_are_no_text(tmp_path: Path) -> None:
    latin, marked = tmp_path / "latin", tmp_path / "marked"
    latin.write_bytes("café".encode("latin-1"))
    marked.write_bytes(b"\xef\xbb\xbfab")
    refused("costs", "not UTF-8", call=lambda: CostTable.read(latin))
    refused("costs", "directory", call=lambda: CostTable.read(tmp_path))
    refused("costs", "no file", call=lambda: CostTable.read(tmp_path / "none"))
    refused("data", "device", call=lambda: read_text("/dev/zero", "data", 10))
    refused("data", "no path", call=lambda: read_text("a\0b", "data", 10))
    refused("data", "cannot be read", call=lambda: read_text("x" * 5_000, "data", 10))
    refused("data", "more than 1 bytes", call=lambda: read_text(marked, "data", 1))
    assert read_text(marked, "data", 5) == "ab"


def test_decimals_that_cannot_be_written_out() -> None:
    from decimal import Decimal

    assert read_decimal("-1.5e-3") == Fraction(-3, 2000)
    for text in ("1e30000000", "1e-30000000", LONG, "1/3", "", "nan", "0x1", "1_0"):
        refused("lam", "digits", call=lambda text=text: read_decimal(text, "lam"))  # type: ignore[misc]
    refused("lam", "digits", call=lambda: exact_number(Decimal("1e-30000000"), "lam"))
    refused("lam", "too large", call=lambda: real_number(10**400, "lam"))
