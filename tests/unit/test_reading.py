"""Tables from files and from a database: delimiters, types, rows that a database groups, and what is refused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import streed
from streed import datasets
from streed.datasets import read_table
from streed.tasks import F1, Accuracy, DemographicParity, InstanceCosts, Splits, SquaredError
from tests.processes import ended
from tests.unit.outcomes import refused


@pytest.fixture
def write(tmp_path: Path) -> Any:
    """A function that writes a text (or bytes) into a file and gives its path."""

    def make(content: str | bytes) -> Path:
        path = tmp_path / "data.csv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return make


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", " ", ", ", "   "])
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
        "import sys; from streed.data import Dataset; from streed.datasets import read_table;"
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


def test_berkeley_totals() -> None:
    bundled = datasets.load("berkeley")
    assert bundled.sensitive == ("gender",)
    counts = Counter(zip(bundled.table["gender"], bundled.table["admitted"], strict=True))
    assert counts == {("male", "yes"): 1198, ("male", "no"): 1493, ("female", "yes"): 557, ("female", "no"): 1278}
    cells = Counter(zip(*bundled.table.values(), strict=True))
    assert (len(cells), cells["male", "A", "no"], cells["female", "C", "no"]) == (24, 313, 391)


duckdb = pytest.importorskip("duckdb", reason="needs DuckDB (the extra `scale`)")

N = 3000
RNG = np.random.default_rng(171)
FEATURES = [f"x{j}" for j in range(5)]
QUOTED = 'my "number"; --'
BITS = RNG.integers(0, 2, (N, 5))
ROWS: dict[str, Any] = {
    **{name: BITS[:, j] for j, name in enumerate(FEATURES)},
    "y": BITS[:, 0] ^ (RNG.random(N) < 0.2),
    "g": RNG.integers(0, 3, N),
    "t": np.round(3.0 * BITS[:, 1] + RNG.normal(size=N), 2),
    QUOTED: np.round(RNG.normal(size=N), 1),
    "colour": RNG.choice(["red", "it's", ""], N),
    "w": RNG.choice([0.5, 1.0, 2.25], N),
    "copies": RNG.integers(0, 4, N),
    "a": np.round(RNG.random(N), 3),
    "b": np.round(RNG.random(N), 3),
    "day": np.datetime64("2020-01-01") + RNG.integers(0, 30, N),
}
FAIR = Accuracy().subject_to(DemographicParity() <= 0.02)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rows as a Parquet file, and beside it as a CSV file."""
    folder = tmp_path_factory.mktemp("it's rows")
    columns = {name: values.astype("datetime64[us]") if name == "day" else values for name, values in ROWS.items()}
    frame = pytest.importorskip("pandas", reason="needs pandas, to write the files").DataFrame(columns)
    connection = duckdb.connect()
    connection.register("frame", frame)
    for name in ("rows.parquet", "rows.csv"):
        connection.execute(f"COPY frame TO '{str(folder / name).replace(chr(39), chr(39) * 2)}'")
    connection.close()
    return folder / "rows.parquet"


def table(*names: str) -> dict[str, Any]:
    return {name: ROWS[name] for name in names}


CASES: dict[str, tuple[streed.Task, dict[str, Any], dict[str, Any]]] = {
    "accuracy": (Accuracy(), {"target": "y"}, {"max_depth": 3}),
    "support": (Accuracy(), {"target": "y"}, {"max_depth": 3, "min_leaf": 300}),
    "f1": (F1(), {"target": "y"}, {"max_depth": 3}),
    "parity": (FAIR, {"target": "y", "sensitive_features": "g"}, {"max_depth": 2}),
    "weights": (Accuracy(), {"target": "y", "sample_weight": "w"}, {"max_depth": 3}),
    "copies": (Accuracy(), {"target": "y", "frequency": "copies"}, {"max_depth": 3, "min_leaf": 400}),
    "squared error": (SquaredError(), {"target": "t"}, {"max_depth": 2, "min_leaf": 200}),
    "whole targets": (SquaredError(), {"target": "g"}, {"max_depth": 2}),
    "shares": (SquaredError(normalized=True, cost_complexity=0.001), {"target": "t"}, {"max_depth": 3}),
    "copied targets": (SquaredError(), {"target": "t", "frequency": "copies"}, {"max_depth": 2}),
    "costs": (InstanceCosts(), {"costs": ["a", "b"]}, {"max_depth": 3, "min_leaf": 300}),
    "priced costs": (InstanceCosts() + 2 * Splits(), {"costs": ["a", "b"]}, {"max_depth": 3}),
}


@pytest.mark.parametrize("name", CASES)
def test_the_optimum_is_that_of_the_raw_rows(name: str, file: Path) -> None:
    task, roles, limits = CASES[name]
    given: dict[str, Any] = {
        argument: table(*each) if isinstance(each, list) else ROWS[each] for argument, each in roles.items()
    }
    plain = streed.solve(task, table(*FEATURES), given.pop("target", None), **given, **limits)
    roles = {**roles, "moments": isinstance(task, SquaredError)}
    by_types = streed.Dataset.from_parquet(file, features=FEATURES, **roles)
    by_text = streed.Dataset.from_csv(file.with_suffix(".csv"), features=FEATURES, threads=1, **roles)
    for read in (by_types, by_text):
        assert read.size == (ROWS["copies"].sum() if "frequency" in roles else N)
        assert read.n_rows <= N
        if isinstance(task, SquaredError):
            assert read.n_rows == 32
        found = streed.solve(task, read, **limits)
        assert (found.status, plain.status) == ("optimal", "optimal")
        assert found.value == pytest.approx(plain.value, rel=1e-12)
        shown = [np.asarray(each.tree.predict(table(*FEATURES))) for each in (found, plain) if each.tree is not None]
        if shown[0].dtype.kind == "f":
            assert shown[0] == pytest.approx(shown[1], rel=1e-12)
        else:
            assert (shown[0] == shown[1]).all()
        assert found.tree.root.rows == read.size


def test_numbers_and_dates_are_read_as_they_are(file: Path) -> None:
    features = [QUOTED, "day", "colour", "x0"]
    data = streed.Dataset.from_parquet(file, target="y", features=features, max_cuts=6)
    assert [data.names[j] for j in data.ordered] == [QUOTED, "day"]
    assert all(len(each.cuts) <= 6 for each in data.ordered.values())
    found = streed.solve(Accuracy(), data, max_depth=3)
    assert int((found.tree.predict(table(*features)) != ROWS["y"]).sum()) == found.value


def test_sums_are_refused_where_a_task_reads_rows(file: Path) -> None:
    data = streed.Dataset.from_parquet(file, target="t", features=FEATURES, moments=True)
    part, units = data.subset(np.arange(data.n_rows) % 2 == 1), SquaredError().bind(data)
    for name, each in units.statistics(data).items():
        assert np.allclose(units.statistics(part)[name], each[1::2], rtol=1e-9)
    refused("y", "added it up", call=lambda: streed.solve(Accuracy(), data, max_depth=1))


def test_hostile_input_is_refused_by_name(file: Path, tmp_path: Path) -> None:
    def read(**given: Any) -> Any:
        return lambda: streed.Dataset.from_parquet(file, **given)

    connection = duckdb.connect()

    def ask(sql: Any, **given: Any) -> Any:
        return lambda: streed.Dataset.from_query(connection, sql, **{"target": "y", **given})

    refused("path", "no file", call=lambda: streed.Dataset.from_parquet(tmp_path / "none.parquet"))
    refused("target", "no column 'z'", "x0", call=read(target="z"))
    refused("features", "no column 'x0\"", call=read(target="y", features=['x0"']))
    refused("features", "twice", call=read(target="y", features=["x0", "x0"]))
    refused("target", "feature, too", call=read(target="x0", features=FEATURES))
    refused("costs", "it is 3", call=read(costs=3))
    refused("memory_limit", "whole number", call=read(target="y", memory_limit=-1))
    refused("max_cuts", "whole number", call=read(target="y", max_cuts=0))
    refused("most_rows", "different rows", call=read(target="y", features=FEATURES, most_rows=10))
    refused("moments", "no weights", call=read(target="t", features=FEATURES, moments=True, sample_weight="w"))
    refused("frequency", "whole", call=read(target="y", features=FEATURES, frequency="w"))
    refused("target", "TIMESTAMP", call=read(target="day", features=FEATURES, moments=True))
    refused("sql", "nowhere", call=ask("SELECT * FROM nowhere"))
    refused("sql", "Parser Error", call=ask("DROP TABLE x"))
    refused("sql", "no rows", call=ask("SELECT 1 AS x, 1 AS y WHERE false"))
    refused("sql", "''", call=ask(""))
    refused("features", "INTEGER[]", call=ask("SELECT [1] AS x, 1 AS y"))
    refused("target", "NULL in 1 rows", call=ask("SELECT 1 AS x, NULL::INT AS y"))
    refused("target", "decimals", call=ask("SELECT 1 AS x, pi() AS y", moments=True))
    refused("target", "decimals", call=ask("SELECT 1 AS x, 'nan'::DOUBLE AS y", moments=True))
    refused("connection", "DuckDB", call=lambda: streed.Dataset.from_query(object(), "SELECT 1", target="y"))


def test_the_shell_asks_by_query(file: Path, tmp_path: Path) -> None:
    from click.testing import CliRunner

    from streed.cli.app import app

    out = tmp_path / "tree.json"
    query = f"SELECT {', '.join(FEATURES)}, y FROM data WHERE g < 2"
    asked = ["solve", str(file), "--query", query, "--target", "y", "--max-depth", "2", "--out", str(out)]
    done = CliRunner().invoke(app, asked, prog_name="streed")
    assert done.exit_code == 0, done.output
    kept = ROWS["g"] < 2
    tree = streed.Tree.from_json(out.read_text())
    plain = streed.solve(Accuracy(), BITS[kept], ROWS["y"][kept], max_depth=2)
    assert tree.claims.value == plain.value
    refusedly = CliRunner().invoke(
        app, ["solve", "monks-1", "--query", "SELECT 1", "--target", "y"], prog_name="streed"
    )
    assert refusedly.exit_code == 2
    assert "no Parquet or CSV file" in refusedly.output
