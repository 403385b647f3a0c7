"""Questions of raw columns: where they are cut, what becomes of categories, steps, gaps, dates, what is refused."""

from __future__ import annotations

import datetime as dt
import functools
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streed.binarize import METHODS, Settings, Teacher, make_recipe, mdlp
from streed.data import Kind
from streed.data.questions import TableRecipe
from streed.data.reading import read_column
from streed.data.single_values import date_text, microseconds
from streed.errors import InputError
from streed.estimators import Binarizer
from streed.tree import Branch, Leaf, Tree
from tests.unit.refusal import refused

MOMENTS = dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1)  # noqa: DTZ001 - dates without a zone
DAYS = [dt.date(1912, 4, day) for day in (1, 2, 4, 8, 2, 1)]

TABLE: dict[str, list[Any]] = {
    "age": [22.0, 38.0, None, 35.0, 54.0, 2.0],
    "class": [1, 3, 3, 2, 1, 3],
    "sex": ["m", "f", "f", "m", "m", "f"],
    "port": ["S", "C", None, "Q", "S", "S"],
    "alone": [True, False, True, True, False, False],
    "boarded": DAYS,
    "same": ["x"] * 6,
}


def names(recipe: TableRecipe) -> list[str]:
    return [output.name for output in recipe.outputs]


def test_every_kind_of_column() -> None:
    recipe = make_recipe(TABLE)
    assert names(recipe) == [
        *("age<=12", "age<=28", "age<=36", "age<=46", "age=missing"),
        *("class<=1", "class<=2"),
        *("sex=m", "port=C", "port=Q", "port=S", "port=missing", "alone"),
        *("boarded<=1912-04-01", "boarded<=1912-04-03", "boarded<=1912-04-06"),
    ]
    codes = recipe.encode(TABLE)
    assert codes.dtype == np.uint8
    assert codes.flags.c_contiguous
    assert codes[0].tolist() == [0, 1, 1, 1, 0, 1, 1, 1, 0, 0, 1, 0, 1, 1, 1, 1]
    assert codes[2].tolist() == [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1]
    assert recipe.sources == (0, 0, 0, 0, 0, 1, 1, 2, 3, 3, 3, 3, 4, 5, 5, 5)


def test_every_library_gives_the_same_questions() -> None:
    expected = make_recipe(TABLE)
    frames = [pd.DataFrame(TABLE), pl.DataFrame(TABLE), pd.DataFrame(TABLE).convert_dtypes()]
    frames.append(frames[0].assign(sex=frames[0]["sex"].astype("category"), boarded=pd.to_datetime(TABLE["boarded"])))
    for frame in frames:
        before = frame.clone() if isinstance(frame, pl.DataFrame) else frame.copy(deep=True)
        assert make_recipe(frame) == expected
        assert (expected.encode(frame) == expected.encode(TABLE)).all()
        assert frame.equals(before)


def test_multiway_columns_have_children_for_gaps_and_the_rest() -> None:
    port = ["S"] * 5 + ["C"] * 3 + ["Q", "X", None, "missing"]
    recipe = make_recipe({"port": port}, Settings(categories="multiway", max_categories=3))
    (column,) = recipe.outputs
    assert column.categories == ("C", "S", "other", "missing")  # of the three most frequent, one is of a single row
    assert recipe.encode({"port": ["Z", None, "S", "C"]})[:, 0].tolist() == [2, 3, 1, 0]
    clash = make_recipe({"port": port}, Settings(categories="multiway"))
    assert clash.outputs[0].categories == ("C", "Q", "S", "X", "missing", "(missing)")


def test_values_never_seen() -> None:
    recipe = make_recipe({"sex": ["m", "f", "x"], "age": [1.5, 2.5, 3.5], "old": [0, 1, 0]})
    fine = {"sex": ["m"], "age": [9.0], "old": [1]}
    for column, value in (("sex", "q"), ("sex", None), ("age", None), ("old", 2)):
        new = {**fine, column: [value]}
        refused("X", f"'{column}'", "row 0", call=functools.partial(recipe.encode, new))
        with pytest.warns(UserWarning, match=f"'{column}'.*answered no"):
            codes = recipe.encode(new, "warn")
        assert (codes == recipe.encode(new, "ignore")).all()
        places = [j for j, source in enumerate(recipe.sources) if recipe.columns[source].column.name == column]
        assert not codes[0, places].any()
    refused("X", "'age'", "number", call=lambda: recipe.encode({**fine, "age": ["old"]}))
    refused("X", "'sex'", call=lambda: recipe.encode({"age": [1.0], "old": [0]}))
    refused("X", "2 columns, not 3", call=lambda: recipe.encode(np.zeros((1, 2))))


@pytest.mark.parametrize("method", METHODS)
def test_a_step_is_found_by_every_method(method: str) -> None:
    x = np.linspace(0, 1, 64)[:, None]
    recipe = make_recipe(x, Settings(method, n_thresholds=3), Teacher((x[:, 0] > 0.7).astype(int), False))
    found = np.array(recipe.columns[0].thresholds)
    gap = 1 / 63
    assert np.abs(found - 0.7).min() <= (0.1 if method == "quantiles" else gap)
    if method == "mdlp":
        assert len(found) == 1
    if method == "midpoints":
        assert len(found) == 63


def test_mdlp_takes_what_pays_for_itself() -> None:
    # 32 rows, a clean cut in the middle: the gain is 1 bit, log2(31) + log2(7) - 2 = 5.76 bits are needed of 32.
    clean = np.zeros((32, 2))
    clean[:16, 0], clean[16:, 1] = 1, 1
    assert mdlp(clean) == [15]
    # 4 rows: log2(3) + 0.81 = 2.39 bits are needed of 4, and 1 bit a row is gained; of 2 rows, there is log2(1) + 0.81.
    assert mdlp(clean[[0, 1, 30, 31]]) == [1]
    mixed = np.tile([[1.0, 0.0], [0.0, 1.0]], (16, 1))
    assert mdlp(mixed) == []


@given(st.datetimes(MOMENTS[0], MOMENTS[1]))
def test_dates_are_written_and_read(moment: dt.datetime) -> None:
    (value,) = np.asarray(read_column([moment], "x").values).tolist()
    assert microseconds(dt.datetime.fromisoformat(date_text(value))) == value
    assert np.asarray(read_column([moment.isoformat()], "x").values).tolist() == [value]


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ([1, None, 2.5], Kind.NUMBER),
        ([True, None], Kind.BOOLEAN),
        (["2020-01-31", None], Kind.DATE),
        (["2020-01-31T12:30:00+02:00"], Kind.DATE),
        (["2020-13-31"], Kind.CATEGORY),
        (["2020-01-31", "soon"], Kind.CATEGORY),
        ([1, "a", {"b": 2}], Kind.CATEGORY),
        ([None, float("nan"), pd.NA, pd.NaT], Kind.NUMBER),
        (np.array(["2020-01-31", "NaT"], dtype="datetime64[D]"), Kind.DATE),
    ],
)
def test_what_a_column_holds(column: Any, kind: Kind) -> None:
    assert read_column(column, "x").kind is kind


def test_refuses_what_no_tree_can_ask_about() -> None:
    refused("X", "x has the type complex", call=lambda: read_column(np.array([1j]), "x"))
    refused("X", "x holds complex", call=lambda: read_column([1j], "x"))
    refused("X", "'x'", "below 2**63", call=lambda: make_recipe({"x": [dt.timedelta.max]}))
    refused("thresholds", "'guess'", call=lambda: Settings("guess"))
    refused("n_thresholds", "0", call=lambda: Settings(n_thresholds=0))


SIZES = ["s", "m", "l", "xl"]
SEEN = ["l", "s", None, "xl", "s", "l"]


def steps(values: list[Any], order: list[Any]) -> pd.Series:
    return pd.Series(pd.Categorical(values, categories=order, ordered=True))


def frame(values: list[Any] = SEEN, order: list[Any] = SIZES) -> pd.DataFrame:
    return pd.DataFrame({"size": steps(values, order)})


def asked(X: Any, settings: Settings | None = None) -> list[str]:
    return [output.name for output in make_recipe(X, settings).outputs]


def test_thresholds_in_the_declared_order() -> None:
    recipe = make_recipe(frame())
    assert asked(frame()) == ["size<=s", "size<=l", "size=missing"]
    assert recipe.encode(frame()).tolist() == [[0, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 0], [1, 1, 0], [0, 1, 0]]
    # Steps that no row had have their place; texts of a plain column are read as steps.
    assert recipe.encode({"size": ["m", "l", "xl"]}).tolist() == [[0, 1, 0], [0, 1, 0], [0, 0, 0]]
    refused("X", "'size'", "'huge'", call=lambda: recipe.encode({"size": ["m", "huge"]}))
    assert recipe.encode({"size": ["huge"]}, "ignore").tolist() == [[0, 0, 0]]
    assert recipe.to_text() == "size  3 ordered categories, 1 missing: 3 questions, size<=s, size<=l, size=missing"


def test_every_library_that_knows_an_order() -> None:
    assert make_recipe({"size": steps(SEEN, SIZES)}) == make_recipe(frame())
    assert asked(frame().convert_dtypes()) == asked(frame())


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
