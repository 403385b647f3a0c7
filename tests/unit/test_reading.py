"""Reading tables: delimiters, headers, types, targets, what is refused, and the counts of the bundled data."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from streed import datasets
from streed.datasets.reading import read_table
from tests.processes import ended
from tests.unit.refusal import refused


@pytest.fixture
def write(tmp_path: Path) -> Any:
    """A function that writes a text (or bytes) into a file and gives its path."""

    def make(content: str | bytes) -> Path:
        path = tmp_path / "data.csv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return make


@pytest.mark.parametrize("delimiter", [",", ";", "\t", " ", ", ", "   "])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_delimiters(write: Any, delimiter: str, end: str) -> None:
    path = write(end.join(delimiter.join(row) for row in (["a", "b", "y"], ["1", "u", "0"], ["2", "v", "1"])) + end)
    assert read_table(path, "y") == ({"a": [1, 2], "b": ["u", "v"], "y": [0, 1]}, "y")
    assert read_table(str(path)) == ({"a": [1, 2], "b": ["u", "v"], "y": [0, 1]}, None)


def test_quotes_blank_lines_and_byte_order_mark(write: Any) -> None:
    table, _ = read_table(write('\ufeff"a, or b",c\n\n"x ""y""",1\n   \n"two\nlines",2\n\n'))
    assert table == {"a, or b": ['x "y"', "two\nlines"], "c": [1, 2]}


@pytest.mark.parametrize(
    ("text", "header", "expected"),
    [
        ("0,1\n1,0\n", None, {"x0": [0, 1], "x1": [1, 0]}),
        ("a,1\nb,0\n", None, {"a": ["b"], "1": [0]}),
        ("a,1\nb,0\n", False, {"x0": ["a", "b"], "x1": [1, 0]}),
        ("0,1\n1,0\n", True, {"0": [1], "1": [0]}),
        ("1,,0\n1,?,0\n", None, {"x0": [1, 1], "x1": [None, None], "x2": [0, 0]}),
        (",a\n7,1\n", None, {"x0": [7], "a": [1]}),
        ("-1.5e3,inf\n.5,2\n", None, {"x0": [-1500.0, 0.5], "x1": [float("inf"), 2.0]}),
    ],
)
def test_header(write: Any, text: str, header: bool | None, expected: dict[str, list[Any]]) -> None:
    assert read_table(write(text), header=header)[0] == expected


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "-2", "+3"], [1, -2, 3]),
        (["1", "2.5"], [1.0, 2.5]),
        (["1", "x"], ["1", "x"]),
        (["007", "12"], ["007", "12"]),
        (["1_000", "2"], ["1_000", "2"]),
        (["٣", "2"], ["٣", "2"]),
        (["True", "False"], ["True", "False"]),
        (["1", "NA", "3"], [1, None, 3]),
        (["a", "nan"], ["a", None]),
        ([str(2**70), "0"], [2**70, 0]),
    ],
)
def test_types(write: Any, cells: list[str], expected: list[Any]) -> None:
    found = read_table(write("name,other\n" + "".join(f"{cell},q\n" for cell in cells)))[0]["name"]
    assert found == expected
    assert [type(value) for value in found] == [type(value) for value in expected]


@pytest.mark.parametrize(
    ("target", "expected"), [("b", "b"), ("-1", "c"), (-1, "c"), ("0", "a"), (0, "a"), ("2", "c"), (None, None)]
)
def test_target(write: Any, target: str | int | None, expected: str | None) -> None:
    assert read_table(write("a,b,c\n1,2,3\n"), target)[1] == expected


@pytest.mark.parametrize("target", ["d", "3", "-4", 3, "1.0", "", "٣"])
def test_refuses_unknown_targets(write: Any, target: str | int) -> None:
    path = write("a,b,c\n1,2,3\n")
    refused("target", repr(str(target)), "a, b, c", call=lambda: read_table(path, target))


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("a,b\n1,2\n3\n", "line 3"),
        ("a,b\n\n1,2\n3,4,5\n", "line 4"),
        ('a,b\n"x\ny",2\n3\n', "line 4"),
        ("1 2\n3 4\n5 6 7\n", "line 3"),
        ("a,a\n1,2\n", "'a'"),
        ("a,b\n", "no rows"),
        ("", "empty"),
        ("\n \n", "empty"),
        (b"\xff\xfe\x00", "UTF-8"),
    ],
)
def test_refuses_files(write: Any, content: str | bytes, found: str) -> None:
    path = write(content)
    refused("data", found, call=lambda: read_table(path))


def test_refuses_missing_files_and_folders(tmp_path: Path) -> None:
    refused("data", "nowhere.csv", "berkeley", call=lambda: read_table(tmp_path / "nowhere.csv"))
    refused("data", "cannot be read", call=lambda: read_table(tmp_path))


def test_bundled_data_by_name() -> None:
    table, target = read_table("berkeley")
    assert table == datasets.load("berkeley").table
    assert target == "admitted"
    assert read_table("berkeley", "gender")[1] == "gender"
    assert read_table("monks-1", "-1")[1] == "class"
    refused("target", "'sex'", "gender", call=lambda: read_table("berkeley", "sex"))


def test_reading_needs_no_table_library(write: Any) -> None:
    path = write("a,b,y\n1,u,0\n0,v,1\n0,w,1\n")
    code = (
        "import sys; from streed.data import Dataset; from streed.datasets.reading import read_table;"
        f"t, y = read_table({str(path)!r}, 'y'); labels = t.pop(y); d = Dataset.make(t, labels);"
        "print(d.n_rows, sorted({'numba', 'pandas', 'polars', 'narwhals', 'sklearn'} & set(sys.modules)))"
    )
    done = ended("-c", code)
    assert done.stdout.split(maxsplit=1) == ["3", "[]\n"]


SIZES = {
    "balance-scale": (625, 4, {"B": 49, "L": 288, "R": 288}),
    "berkeley": (4526, 2, {"no": 2771, "yes": 1755}),
    "monks-1": (432, 6, {0: 216, 1: 216}),
    "monks-2": (432, 6, {0: 290, 1: 142}),
    "monks-3": (432, 6, {0: 204, 1: 228}),
    "tic-tac-toe": (958, 9, {"negative": 332, "positive": 626}),
}
"""Rows, attributes and class counts, as published (UCI; for Berkeley the sums of the table)."""


def rows_of(table: dict[str, list[Any]]) -> list[tuple[Any, ...]]:
    return list(zip(*table.values(), strict=True))


def test_names() -> None:
    assert datasets.names() == tuple(SIZES)
    refused("name", "'iris'", "berkeley", call=lambda: datasets.load("iris"))


@pytest.mark.parametrize("name", SIZES)
def test_published_sizes_and_class_counts(name: str) -> None:
    bundled = datasets.load(name)
    rows, attributes, classes = SIZES[name]
    assert bundled.name == name
    assert len(bundled.description) > 20
    assert len(bundled.source) > 20
    for one_hot in (False, True):
        data = bundled.dataset(one_hot=one_hot)
        assert data.n_rows == rows
        assert dict(zip(data.classes, data.class_totals(), strict=True)) == classes
        assert data.n_columns == attributes or one_hot


def test_each_load_is_its_own() -> None:
    datasets.load("berkeley").table["gender"][0] = "changed"
    assert datasets.load("berkeley").table["gender"][0] == "male"


# -- the published rules and tables ------------------------------------------------------------------------------------


def test_berkeley_totals() -> None:
    bundled = datasets.load("berkeley")
    assert bundled.sensitive == ("gender",)
    counts = Counter(zip(bundled.table["gender"], bundled.table["admitted"], strict=True))
    assert counts == {("male", "yes"): 1198, ("male", "no"): 1493, ("female", "yes"): 557, ("female", "no"): 1278}
    cells = Counter(rows_of(bundled.table))
    assert cells["male", "A", "no"] == 313
    assert cells["female", "A", "yes"] == 89
    assert cells["female", "C", "no"] == 391
    assert cells["male", "F", "yes"] == 22
    assert len(cells) == 24
