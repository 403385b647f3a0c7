"""Steps of a scale, such as pandas' ordered categories: thresholds in their order, in recipes, files and every form."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from streed.binarize import Settings, make_recipe
from streed.errors import InputError
from streed.estimators import Binarizer
from streed.tree import Branch, Leaf, Tree
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


def grown(unseen: str) -> Tree:
    """Asks `size<=l`, and of those whether they are `size<=s`."""
    binarizer = Binarizer(unseen=unseen).fit(frame())
    data = binarizer.recipe_.dataset(binarizer.transform(frame()), ["b", "a", "c", "c", "a", "b"])
    below = Branch(0, (Leaf(1, 2, 0), Leaf(0, 2, 0)), 4)
    return Tree.grown(Branch(1, (Leaf(2, 2, 0), below), 6), data)


BROKEN: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda d: d["recipe"]["columns"][0].update(thresholds=[0, 4]), "no threshold"),
    (lambda d: d["recipe"]["columns"][0].update(thresholds=[0, 1.5]), "no threshold"),
    (lambda d: d["recipe"]["columns"][0].update(thresholds=[2, 0]), "ascend"),
    (lambda d: d["recipe"]["columns"][0]["column"].update(multiway=True), "multiway"),
    (lambda d: d["recipe"]["columns"][0]["column"].update(other=True), "other"),
    (lambda d: d["recipe"]["columns"][0].update(thresholds=[0, 1]), "do not make the columns"),
]


@pytest.mark.parametrize(("change", "said"), BROKEN)
def test_broken_files(change: Callable[[dict[str, Any]], Any], said: str) -> None:
    document = json.loads(grown("ignore").to_json())
    change(document)
    with pytest.raises(InputError, match=said):
        Tree.from_json(json.dumps(document))
