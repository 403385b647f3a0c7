"""Rows that a database groups: the optima of the raw rows, and errors for what cannot be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import streed
from streed.tasks import F1, Accuracy, DemographicParity, InstanceCosts, Splits, SquaredError
from tests.unit.refusal import refused

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
        assert plain.tree is not None
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
