"""Steps of a scale, such as pandas' ordered categories: thresholds in their order, in recipes, files and every form."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from streed.binarize import METHODS, Settings, make_recipe
from streed.binarize.conditions import conditions
from streed.binarize.planning import Teacher
from streed.cli.app import app
from streed.errors import InputError
from streed.estimators import Binarizer
from streed.plot import tree_svg
from streed.report import make_report
from streed.tree import Branch, Leaf, Tree
from tests.differential.export_forms import FORMS, NO_ANSWER, Case, available
from tests.unit.refusal import refused

SIZES = ["s", "m", "l", "xl"]
SEEN = ["l", "s", None, "xl", "s", "l"]


def steps(values: list[Any], order: list[Any]) -> pd.Series:
    return pd.Series(pd.Categorical(values, categories=order, ordered=True))


def frame(values: list[Any] = SEEN, order: list[Any] = SIZES) -> pd.DataFrame:
    return pd.DataFrame({"size": steps(values, order)})


def names(X: Any, settings: Settings | None = None) -> list[str]:
    return [output.name for output in make_recipe(X, settings).outputs]


def test_thresholds_in_the_declared_order() -> None:
    recipe = make_recipe(frame())
    assert names(frame()) == ["size<=s", "size<=l", "size=missing"]
    assert recipe.encode(frame()).tolist() == [[0, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 0], [1, 1, 0], [0, 1, 0]]
    # Steps that no row had have their place; texts of a plain column are read as steps.
    assert recipe.encode({"size": ["m", "l", "xl"]}).tolist() == [[0, 1, 0], [0, 1, 0], [0, 0, 0]]
    refused("X", "'size'", "'huge'", call=lambda: recipe.encode({"size": ["m", "huge"]}))
    assert recipe.encode({"size": ["huge"]}, "ignore").tolist() == [[0, 0, 0]]
    assert recipe.to_text() == "size  3 ordered categories, 1 missing: 3 questions, size<=s, size<=l, size=missing"


def test_every_library_that_knows_an_order() -> None:
    assert make_recipe({"size": steps(SEEN, SIZES)}) == make_recipe(frame())
    assert names(frame().convert_dtypes()) == names(frame())


def test_an_order_that_is_not_declared_is_none() -> None:
    loose = pd.DataFrame({"size": pd.Categorical(SEEN, categories=SIZES)})
    assert names(loose) == ["size=s", "size=l", "size=xl", "size=missing"]
    assert names(frame(), Settings(categorical=["size"])) == names(loose)
    assert names(frame(), Settings(categories="multiway")) == names(frame())


def test_numbers_and_dates_in_their_own_order_are_such() -> None:
    assert names(frame([1, 5, 9], [1, 5, 9])) == ["size<=3", "size<=7"]
    assert names(frame([1, 5, 9], [9, 1, 5])) == ["size<=9", "size<=1"]
    assert make_recipe(frame([1, 5, 9], [9, 1, 5])).encode({"size": [9.0, 1.0, 5.0]}).tolist() == [
        [1, 1],
        [0, 1],
        [0, 0],
    ]
    days = ["2020-01-01", "2020-03-01"]
    assert names(frame(days, days)) == ["size<=2020-01-31"]
    assert names(frame(days, days[::-1])) == ["size<=2020-03-01"]


def test_constant_steps_and_steps_written_alike() -> None:
    assert names(frame(["m", "m"])) == []
    assert names(frame([None, "m"])) == ["size=missing"]
    refused("X", "'size'", "written alike", call=lambda: make_recipe(frame(["1", 1], ["1", 1])))


def test_as_many_thresholds_as_numbers_would_have() -> None:
    order = [f"step {j}" for j in range(20)]
    rng = np.random.default_rng(0)
    places = rng.integers(20, size=200)
    weights = rng.integers(1, 5, size=200)
    labels = (places > 7).astype(int)
    for method in METHODS:
        teacher, settings = Teacher(labels, numeric=False), Settings(method, n_thresholds=3)
        made = make_recipe(frame([order[j] for j in places], order), settings, teacher, weights=weights).columns[0]
        as_numbers = make_recipe({"size": places}, settings, teacher, weights=weights).columns[0]
        assert made.thresholds == as_numbers.thresholds, method
        assert made.categories == tuple(order)


def test_conditions() -> None:
    columns = make_recipe(frame()).columns
    assert conditions(columns, "sql") == {
        "size<=s": "\"size\" = 's'",
        "size<=l": "\"size\" IN ('s', 'm', 'l')",
        "size=missing": '"size" IS NULL',
    }
    assert conditions(columns, "python", ["size<=l"]) == {"size<=l": "row['size'] in ('s', 'm', 'l')"}


def grown(unseen: str) -> Tree:
    """Asks `size<=l`, and of those whether they are `size<=s`."""
    binarizer = Binarizer(unseen=unseen).fit(frame())
    data = binarizer.recipe_.dataset(binarizer.transform(frame()), ["b", "a", "c", "c", "a", "b"])
    below = Branch(0, (Leaf(1, 2, 0), Leaf(0, 2, 0)), 4)
    return Tree.grown(Branch(1, (Leaf(2, 2, 0), below), 6), data)


@pytest.mark.parametrize("form", list(FORMS))
@pytest.mark.parametrize("unseen", ["error", "ignore"])
def test_every_form(form: str, unseen: str) -> None:
    if form not in available():
        pytest.skip(f"{form}: not installed")
    values = ["s", "m", "l", "xl", None, "huge"]
    strange = NO_ANSWER if unseen == "error" else "c"
    case = Case(grown(unseen), {"size": values}, ["a", "b", "b", "c", "c", strange], {"size": "VARCHAR"})
    found = FORMS[form].answers(case)
    assert found == case.expected


def test_text_and_pictures() -> None:
    tree = grown("ignore")
    assert tree.to_text().splitlines()[0] == "size<=l?"
    assert 'label="size<=s?"' in tree.to_dot()
    assert "size&lt;=l?" in tree_svg(tree)
    table = frame()
    assert "size&lt;=l" in make_report(tree, table, ["b", "a", "c", "c", "a", "b"])


def test_the_file_is_checked() -> None:
    tree = grown("ignore")
    document = json.loads(tree.to_json())
    assert document["recipe"]["columns"][0]["thresholds"] == [0, 2]
    again = Tree.from_json(tree.to_json())
    assert again == tree
    assert again.predict(frame(["s", "m", "xl"])).tolist() == ["a", "b", "c"]


BROKEN: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda d: d["recipe"]["columns"][0].update(thresholds=[0, 4]), "no place"),
    (lambda d: d["recipe"]["columns"][0].update(thresholds=[0, 1.5]), "no place"),
    (lambda d: d["recipe"]["columns"][0].update(thresholds=[2, 0]), "ascend"),
    (lambda d: d["recipe"]["columns"][0].update(multiway=True), "ordered categories"),
    (lambda d: d["recipe"]["columns"][0].update(other=True), "ordered categories"),
    (lambda d: d["recipe"]["columns"][0].update(thresholds=[0, 1]), "do not make the columns"),
]


@pytest.mark.parametrize(("change", "said"), BROKEN)
def test_broken_files(change: Callable[[dict[str, Any]], Any], said: str) -> None:
    document = json.loads(grown("ignore").to_json())
    change(document)
    with pytest.raises(InputError, match=said):
        Tree.from_json(json.dumps(document))


def test_the_shell_reads_texts_as_steps(tmp_path: Path) -> None:
    tree = tmp_path / "tree.json"
    tree.write_text(grown("ignore").to_json(), encoding="utf-8")
    rows = tmp_path / "rows.csv"
    rows.write_text("size\ns\nm\nxl\n", encoding="utf-8")
    made = CliRunner().invoke(app, ["predict", str(tree), str(rows)], prog_name="streed")
    assert made.stdout.split() == ["a", "b", "c"]
