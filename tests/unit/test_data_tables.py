"""Data sets of tables of every library, and the questions that are made of raw columns."""

from __future__ import annotations

import datetime as dt
import functools
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sparse
from hypothesis import given
from hypothesis import strategies as st

from streed.binarize import METHODS, Teacher, make_recipe, mdlp
from streed.data import Column, Cut, Dataset, Kind, OrderedValues
from streed.data.ordered import between
from streed.data.questions import TableRecipe
from streed.data.reading import read_column
from streed.data.single_values import date_text, microseconds
from tests.unit.outcomes import refused

XOR = [[0, 0], [0, 1], [1, 0], [1, 1]]


COLUMNS: dict[str, list[Any]] = {
    "flag": [True, False, True, True],
    "bit": [0, 1, 1, 0],
    "real": [0.0, 1.0, 1.0, 0.0],
    "pair": ["3", "3", "9", "3"],
    "text": ["b", "a", "b", "a"],
    "three": ["z", "x", "y", "x"],
    "same": ["q", "q", "q", "q"],
    "ones": [1, 1, 1, 1],
}
CODED = (
    Column("flag", (False, True), False),
    Column("bit", (0, 1), False),
    Column("real", (0, 1), False),
    Column("pair", ("3", "9"), False),
    Column("text", ("a", "b"), False),
    Column("three", ("x", "y", "z"), True),
    Column("same", ("q",), False),
    Column("ones", (0, 1), False),
)
CODES = [[1, 0, 0, 0, 1, 2, 0, 1], [0, 1, 1, 0, 0, 0, 0, 1], [1, 1, 1, 1, 1, 1, 0, 1], [1, 0, 0, 0, 0, 0, 0, 1]]


@pytest.mark.parametrize("kind", [dict, pd.DataFrame, pl.DataFrame])
def test_table_columns(kind: Any) -> None:
    data = Dataset.make(kind(COLUMNS), None)
    assert data.columns == CODED
    assert data.X.tolist() == CODES
    assert data.X.flags.c_contiguous
    assert repr(data.columns) == repr(CODED)  # True is not 1


def test_questions_about_gaps_and_thresholds_between_neighbours() -> None:
    values = OrderedValues(np.array([1.0, 2.0]), Kind.NUMBER, True, np.array([0]))
    assert values.questions().tolist() == [[0, 1], [0, 0], [-2, 1]]
    assert np.float32(between(1.0, 1 + 2.0**-23)) < np.float32(1 + 2.0**-23)


def test_declared_order_of_categories_is_kept() -> None:
    values = ["low", "high", "mid", "low"]
    order = ["low", "never", "mid", "high"]
    wanted = Column("c", ("low", "mid", "high"), True)
    tables = [
        pd.DataFrame({"c": pd.Categorical(values, categories=order)}),
        pl.DataFrame({"c": pl.Series(values, dtype=pl.Enum(order))}),
    ]
    for table in tables:
        data = Dataset.make(table, None)
        assert data.column(0) == wanted
        assert data.X[:, 0].tolist() == [0, 2, 1, 0]


ORDERED: dict[str, tuple[Kind, list[Any], tuple[Any, ...]]] = {
    "dates": (Kind.DATE, [dt.date(2020, 1, day) for day in (1, 3, 2)], ("2020-01-01", "2020-01-02", "2020-01-03")),
    "dates as texts": (
        Kind.DATE,
        ["2020-01-01", "2020-01-03T12:00", "2020-01-02"],
        ("2020-01-01", "2020-01-02", "2020-01-03T12:00:00"),
    ),
    "times": (Kind.TIME, [dt.time(hour) for hour in (1, 20, 3)], ("01:00:00", "03:00:00", "20:00:00")),
    "times as texts": (Kind.TIME, ["01:00:00", "20:00:00", "03:00:00.5"], ("01:00:00", "03:00:00.500000", "20:00:00")),
    "durations": (Kind.DURATION, list(map(dt.timedelta, (0, 2, 1))), ("0:00:00", "1 day, 0:00:00", "2 days, 0:00:00")),
    "decimals": (Kind.NUMBER, [Decimal("0.1"), Decimal("0.3"), Decimal("0.2")], (0.1, 0.2, 0.3)),
    "fractions": (Kind.NUMBER, [Fraction(0), Fraction(3, 2), Fraction(1)], (0, 1, 1.5)),
    "truth and numbers": (Kind.NUMBER, [False, 2.5, True], (0, 1, 2.5)),
}


@pytest.mark.parametrize(("scale", "values", "categories"), ORDERED.values(), ids=ORDERED)
@pytest.mark.parametrize("make", [list, pd.Series, lambda x: np.array(x, dtype=object)])
def test_what_stands_in_an_order_is_ordered_unless_listed(
    scale: Kind, values: list[Any], categories: tuple[Any, ...], make: Any
) -> None:
    for gap in ([], [None]):
        data = Dataset.make({"c": make([*values, *gap])})
        assert data.columns == (Column("c", (), False, scale, bool(gap)),)
        assert data.X[:, 0].tolist() == [0, 2, 1, *([3] if gap else [])]
        listed = Dataset.make({"c": make([*values, *gap])}, None, categorical=True)
        assert listed.column(0).categories == (*categories, *(["missing"] if gap else []))
        assert listed.X[:, 0].tolist() == [0, 2, 1, *([3] if gap else [])]


@pytest.mark.parametrize(
    "table",
    [
        {"ok": [0, 1], "bad": ["a", None]},
        {"ok": [0, 1], "bad": [1, float("nan")]},
        {"ok": [0, 1], "bad": [True, None]},
        {"ok": [0, 1], "bad": np.array(["2020-01-01", "NaT"], dtype="datetime64[D]")},
        pd.DataFrame({"ok": [0, 1], "bad": ["a", None]}),
        pd.DataFrame({"ok": [0, 1], "bad": [0.0, np.nan]}),
        pd.DataFrame({"ok": [0, 1], "bad": pd.array([1, None], dtype="Int64")}),
        pd.DataFrame({"ok": [0, 1], "bad": pd.array([True, None], dtype="boolean")}),
        pd.DataFrame({"ok": [0, 1], "bad": pd.Categorical(["a", None])}),
        pd.DataFrame({"ok": [0, 1], "bad": pd.Series([1, pd.NA], dtype=object)}),
        pd.DataFrame({"ok": [0, 1], "bad": pd.to_datetime(["2020-01-01", None])}),
        pl.DataFrame({"ok": [0, 1], "bad": ["a", None]}),
        pl.DataFrame({"ok": [0, 1], "bad": [0.0, float("nan")]}),
        pl.DataFrame({"ok": [0, 1], "bad": [0, None]}),
        pl.DataFrame({"ok": [0, 1], "bad": pl.Series(["a", None], dtype=pl.Categorical)}),
    ],
)
def test_missing_values_are_gaps_of_ordered_columns_and_a_category_in_others(table: Any) -> None:
    for listed in (None, True):
        data = Dataset.make(table, None, categorical=listed)
        assert data.columns[1].has_gaps
        assert data.X.tolist() == [[0, 0], [1, 1]]
        if listed or table["bad"][0] == "a":
            assert data.columns[1].categories[1:] == ("missing",)
        else:
            assert [data.ordered[1].cut(*each) for each in data.ordered[1].questions().tolist()] == [Cut(None, 1)]


def test_a_mask_means_missing() -> None:
    numbers = np.ma.masked_array([[0, 5], [1, 7], [1, 9]], mask=np.array([[0, 0], [0, 1], [0, 0]], bool))
    for X in (numbers, numbers.astype(float), numbers.tolist(), list(numbers), {"x0": [0, 1, 1], "x1": numbers[:, 1]}):
        data = Dataset.make(X)
        assert data.X.tolist() == [[0, 0], [1, 2], [1, 1]]
        assert data.columns[1].has_gaps
    texts = np.ma.masked_array(np.array([["a"], ["b"], ["a"]]), mask=np.array([[0], [0], [1]], bool))
    assert Dataset.make(texts).column(0).categories == ("a", "b", "missing")
    hidden = Dataset.make(
        {"a": np.ma.masked_array([0.5, 1, 2], mask=True), "b": np.ma.masked_array(["x"] * 3, mask=True)}
    )
    assert hidden.n_questions == 0
    assert Dataset.make(np.ma.masked_array([[0, 1], [1, 0]], mask=False)).X.tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_sparse_matrices_are_read_as_dense_ones(form: str) -> None:
    rng = np.random.default_rng(0)
    bits = (rng.random((30, 5)) < 0.2).astype(int)
    reals = np.where(rng.random((30, 5)) < 0.3, rng.normal(size=(30, 5)).round(1), 0)
    for dense in (bits, bits.astype(bool), bits.astype(float), bits * 3, reals, np.where(bits, np.nan, reals)):
        expected = Dataset.make(dense)
        for made in (sparse.csr_matrix, sparse.csr_array):
            found = Dataset.make(made(dense).asformat(form))
            assert found.columns == expected.columns
            assert repr(found.columns) == repr(expected.columns)
            assert (found.X == expected.X).all()
    twice = sparse.coo_matrix(([1, 1, 1], ([0, 0, 1], [0, 0, 1])), shape=(3, 2))
    assert Dataset.make(twice).ordered[0].values.tolist() == [0, 2]
    assert twice.nnz == 3
    part = Dataset.make(sparse.csr_matrix(reals), frequency=[0, 2] * 15)
    assert (part.X == Dataset.make(reals, frequency=[0, 2] * 15).X).all()


@pytest.mark.parametrize(
    "X",
    [
        np.array(XOR, dtype=np.uint8),
        np.array(XOR, dtype=np.int64),
        np.asfortranarray(XOR, dtype=np.float64),
        np.array(XOR, dtype=bool),
        np.array([["a", 1], ["b", 2], ["c", 1], ["a", 2]], dtype=object),
        XOR,
        COLUMNS,
        pd.DataFrame(COLUMNS, index=[7, 7, 1, 0]),
        pd.DataFrame(COLUMNS).astype({"three": "category"}),
        pl.DataFrame(COLUMNS),
    ],
)
def test_the_callers_objects_stay_as_they_were(X: Any) -> None:
    y, weights, costs = np.array([5, 3, 5, 3]), np.array([1.0, 2.0, 0.0, 1.0]), np.arange(8.0).reshape(4, 2)
    before = [pickle.dumps(thing) for thing in (X, y, weights, costs)]
    data = Dataset.make(X, y, sample_weight=weights, categorical=True, costs=costs)
    for ours in (data.X, data.class_numbers, data.weights, data.row_data["costs"]):
        ours[...] = 1
    assert [pickle.dumps(thing) for thing in (X, y, weights, costs)] == before


LABELS = st.one_of(
    st.lists(st.integers(), min_size=1, max_size=30),
    st.lists(st.integers(-3, 3), min_size=1, max_size=30),
    st.lists(st.integers(-(2**40), 2**40).map(float), min_size=1, max_size=30),
    st.lists(st.booleans(), min_size=1, max_size=30),
    st.lists(st.text(max_size=3), min_size=1, max_size=30),
)


@given(LABELS)
def test_categories_round_trip(values: Any) -> None:
    table = {"c": values}
    data = Dataset.make(table, None, categorical=True)
    column = data.column(0)
    assert [column.categories[code] for code in data.X[:, 0].tolist()] == values
    assert list(column.categories) == sorted(column.categories)
    assert column.multiway == (len(set(values)) > 2)


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
    recipe = make_recipe({"port": port}, categories="multiway", max_categories=3)
    (column,) = recipe.outputs
    assert column.categories == ("C", "S", "other", "missing")  # of the three most frequent, one is of a single row
    assert recipe.encode({"port": ["Z", None, "S", "C"]})[:, 0].tolist() == [2, 3, 1, 0]
    clash = make_recipe({"port": port}, categories="multiway")
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
        places = [j for j, source in enumerate(recipe.sources) if recipe.columns[source].name == column]
        assert not codes[0, places].any()
    refused("X", "'age'", "number", call=lambda: recipe.encode({**fine, "age": ["old"]}))
    refused("X", "'sex'", call=lambda: recipe.encode({"age": [1.0], "old": [0]}))
    refused("X", "2 columns, not 3", call=lambda: recipe.encode(np.zeros((1, 2))))


@pytest.mark.parametrize("method", METHODS)
def test_a_step_is_found_by_every_method(method: str) -> None:
    x = np.linspace(0, 1, 64)[:, None]
    teacher = Teacher((x[:, 0] > 0.7).astype(int), False)
    recipe = make_recipe(x, thresholds=method, n_thresholds=3, teacher=teacher)
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
    refused("thresholds", "'guess'", call=lambda: make_recipe(TABLE, thresholds="guess"))
    refused("n_thresholds", "0", call=lambda: make_recipe(TABLE, n_thresholds=0))


SIZES = ["s", "m", "l", "xl"]
SEEN = ["l", "s", None, "xl", "s", "l"]


def steps(values: list[Any], order: list[Any]) -> pd.Series:
    return pd.Series(pd.Categorical(values, categories=order, ordered=True))


def frame(values: list[Any] = SEEN, order: list[Any] = SIZES) -> pd.DataFrame:
    return pd.DataFrame({"size": steps(values, order)})


def asked(X: Any) -> list[str]:
    return [output.name for output in make_recipe(X).outputs]


def test_thresholds_in_the_declared_order() -> None:
    recipe = make_recipe(frame())
    assert asked(frame()) == ["size<=s", "size<=l", "size=missing"]
    assert recipe.encode(frame()).tolist() == [[0, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 0], [1, 1, 0], [0, 1, 0]]
    # Steps that no row had have their place; texts of a plain column are read as steps.
    assert recipe.encode({"size": ["m", "l", "xl"]}).tolist() == [[0, 1, 0], [0, 1, 0], [0, 0, 0]]
    refused("X", "'size'", "'huge'", call=lambda: recipe.encode({"size": ["m", "huge"]}))
    assert recipe.encode({"size": ["huge"]}, "ignore").tolist() == [[0, 0, 0]]
    assert recipe.to_text() == "size  3 ordered categories, 1 missing: 3 questions, size<=s, size<=l, size=missing"


def test_texts_of_numbers_are_told() -> None:
    for wrong, texts in (("1,234", [*map(str, range(40)), "1,234"]), ("0/11", [f"{day}/11" for day in range(40)])):
        with pytest.warns(UserWarning, match=f"'age' has texts, most of them numbers, .* left out.*'{wrong}' is none"):
            Dataset.make({"age": texts})


def test_every_library_that_knows_an_order() -> None:
    for size in (steps(SEEN, SIZES), steps(SEEN, SIZES).array):
        assert make_recipe({"size": size}) == make_recipe(frame())
    assert asked(frame().convert_dtypes()) == asked(frame())
