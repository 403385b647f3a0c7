"""Many rows: from Parquet through a database, and from arrays in memory; seconds, memory, and the same optima.

Rows are drawn from 100,000 kinds over 20 or 50 yes/no columns, with noisy labels, groups and targets of two decimals;
a kind is a hash of its number, so the rows are the same in every run. They are written in chunks of 10**7 by DuckDB.
Every case is a process of its own: reading, loading kernels, solving and checking the tree, in wall seconds without
those of compiling, and the most memory that it held. A case from arrays reads the same files into an array first, which
is timed apart.

The exit code is 1 if an optimum differs between the two, or a bar is missed: 10**7 rows of 20 columns from Parquet at
depth three in 5 s and 600 MB, and, with `--large`, 10**8 in 60 s and 2 GB.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks import harness

KINDS = 100_000
CHUNK = 10_000_000
LARGE = 100_000_000
MOST_IN_ARRAYS = 1_000_000
"""Of more rows, only accuracy is solved from an array."""

BARS = {(10_000_000, 20): (5.0, 600), (LARGE, 20): (60.0, 2000)}
"""Seconds and megabytes for accuracy at depth three from Parquet, by rows and columns."""

TASKS = {
    "accuracy, depth 3": ("Accuracy", 3),
    "accuracy, depth 4": ("Accuracy", 4),
    "F1, depth 3": ("F1", 3),
    "parity, depth 3": ("parity", 3),
    "squared error, depth 3": ("SquaredError", 3),
}


def main(arguments: list[str] | None = None) -> int:
    """1 if an optimum differs or a bar is missed, else 0."""
    parser = harness.parser("scale", __doc__, data=False)
    parser.add_argument("--rows", type=float, nargs="+", default=[1e5, 1e6, 1e7], help="(default: 1e5 1e6 1e7)")
    parser.add_argument("--columns", type=int, nargs="+", default=[20, 50], help="(default: 20 50)")
    parser.add_argument("--large", action="store_true", help="also 10**8 rows of 20 columns, about 1 GB on disk")
    parser.add_argument("--folder", type=Path, help="where rows are written, and left (default: a temporary folder)")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.set_defaults(all_cores=True)
    options = parser.parse_args(arguments)
    if options.case is not None:
        print(json.dumps(run_case(json.loads(options.case))))
        return harness.FINE
    record: harness.Record = {"benchmark": "scale", "machine": harness.start(options), "rows": []}
    sizes = [(int(rows), columns) for columns in options.columns for rows in options.rows]
    if options.large:
        sizes.append((LARGE, 20))
    with tempfile.TemporaryDirectory() as own:
        for rows, columns in sizes:
            folder = (options.folder or Path(own)) / f"{rows}x{columns}"
            if not folder.is_dir():
                harness.note(f"writing {rows:,} rows of {columns} columns")
                write_rows(folder, rows, columns)
            for name in TASKS:
                if rows == LARGE and name != "accuracy, depth 3":
                    continue
                record["rows"].append(measure(folder, name, rows, columns))
                if options.json is not None:  # a long run that is stopped leaves what it has
                    options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    harness.finish(options, record, render(record))
    return harness.FINE if all(row["holds"] for row in record["rows"]) else harness.MISSED


def write_rows(folder: Path, rows: int, columns: int) -> None:
    """Writes the rows as Parquet files of a chunk each."""
    import duckdb

    folder.mkdir(parents=True)
    with duckdb.connect() as connection:
        connection.execute("SET preserve_insertion_order = false")
        shares = [150 + 700 * (j * 7 % columns) // columns for j in range(columns)]
        bits = [
            f"CAST((hash(i * 64 + {j}) >> 17) % 1000 < {share} AS TINYINT) AS x{j}" for j, share in enumerate(shares)
        ]
        connection.execute(f"CREATE TABLE kinds AS SELECT i AS id, {', '.join(bits)} FROM range({KINDS}) t(i)")
        features = ", ".join(f"x{j}" for j in range(columns))
        planted = "(x0 & x1) | (xor(x2, x3) & x4)"
        label = f"CASE WHEN hash(r * 3 + 1) % 100 < 10 THEN hash(r * 5 + 1) % 2 ELSE {planted} END"
        target = "CAST(3 * y + (CAST(hash(r * 3 + 2) % 401 AS INT) - 200) / 100.0 AS DECIMAL(6, 2))"
        for number, begin in enumerate(range(0, rows, CHUNK)):
            drawn = f"SELECT range AS r, hash(range) % {KINDS} AS id FROM range({begin}, {min(rows, begin + CHUNK)})"
            labelled = f"SELECT *, CAST({label} AS TINYINT) AS y FROM ({drawn}) JOIN kinds USING (id)"
            group = "CAST((x0 + hash(r * 7) % 2) AS TINYINT) AS g"
            query = f"SELECT {features}, y, {group}, {target} AS t FROM ({labelled})"
            path = str(folder / f"part-{number}.parquet").replace("'", "''")
            connection.execute(f"COPY ({query}) TO '{path}' (COMPRESSION zstd)")


def measure(folder: Path, name: str, rows: int, columns: int) -> harness.Record:
    """The row of a task and a size: from Parquet, and from arrays where these are not too large."""
    row: harness.Record = {"task": name, "rows": rows, "columns": columns}
    feeds = ["parquet"]
    if rows <= MOST_IN_ARRAYS or (name == "accuracy, depth 3" and rows <= CHUNK):
        feeds.append("arrays")
    for feed in feeds:
        harness.note(f"{name}, {rows:,} x {columns}, {feed}")
        asked = {"folder": str(folder), "task": name, "columns": columns, "feed": feed}
        command = [sys.executable, "-m", "tests.benchmarks.scale", "--case", json.dumps(asked)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=3600)
        if done.returncode:
            harness.fail(done.stderr.strip().splitlines()[-1])
        row[feed] = json.loads(done.stdout.splitlines()[-1])
    values = {row[feed]["value"] for feed in feeds}
    row["agrees"] = len(values) == 1 or max(values) - min(values) <= 1e-9 * max(values)
    seconds, megabytes = BARS.get((rows, columns), (None, None)) if name == "accuracy, depth 3" else (None, None)
    found = row["parquet"]
    row["bar"] = seconds is not None
    row["within"] = seconds is None or (
        found["read"] + found["solve"] < seconds and found["peak"] / harness.MEGABYTE < megabytes
    )
    row["holds"] = row["agrees"] and row["within"] and all(row[feed]["status"] == "optimal" for feed in feeds)
    return row


def run_case(asked: dict[str, Any]) -> harness.Record:
    """What one process measures."""
    import streed
    from streed.tasks import F1, Accuracy, DemographicParity, SquaredError

    known: dict[str, streed.Task] = {
        "Accuracy": Accuracy(),
        "F1": F1(),
        "parity": Accuracy().subject_to(DemographicParity() <= 0.01),
        "SquaredError": SquaredError(),
    }
    kind, depth = TASKS[asked["task"]]
    task, target = known[kind], "t" if kind == "SquaredError" else "y"
    features = [f"x{j}" for j in range(asked["columns"])]
    files = sorted(Path(asked["folder"]).glob("*.parquet"))
    groups: dict[str, Any] = {"sensitive_features": "g"} if kind == "parity" else {}
    begin = time.perf_counter()
    if asked["feed"] == "parquet":
        data: Any = streed.Dataset.from_parquet(files, target=target, features=features, task=task, **groups)
        read = time.perf_counter()
        result = streed.solve(task, data, max_depth=depth)
        distinct = data.n_rows
    else:
        X, y, given = _arrays(files, features, target, groups)
        read = time.perf_counter()
        result = streed.solve(task, X, y, max_depth=depth, **given)
        distinct = len(X)
    return {
        "read": read - begin,
        "solve": time.perf_counter() - read - result.stats["seconds_compile"],
        "compile": result.stats["seconds_compile"],
        "peak": harness.peak_bytes(),
        "rows": distinct,
        "value": float(result.value),
        "status": result.status,
    }


def _arrays(files: list[Path], features: list[str], target: str, groups: dict[str, str]) -> tuple[Any, Any, Any]:
    """The features (n, p) uint8, the target and the row data, column by column."""
    import duckdb

    listed = ", ".join(f"'{file}'" for file in files)
    with duckdb.connect() as connection:

        def column(name: str) -> Any:
            return connection.execute(f"SELECT {name} FROM read_parquet([{listed}])").fetchnumpy()[name]

        first = column(features[0])
        X = np.empty((len(first), len(features)), np.uint8)
        for j, name in enumerate(features):
            X[:, j] = column(name)
        return X, column(target), {argument: column(name) for argument, name in groups.items()}


def render(record: harness.Record) -> str:
    """The table."""
    heads = ["task", "rows", "columns", "different", "read s", "solve s", "peak MB"]
    heads += ["array: read s", "solve s", "peak MB", "same optimum", "bar"]
    lines = []
    for row in record["rows"]:
        found, plain = row["parquet"], row.get("arrays")
        cells = [row["task"], f"{row['rows']:,}", row["columns"], f"{found['rows']:,}"]
        cells += [f"{found['read']:.2f}", f"{found['solve']:.2f}", harness.megabytes(found["peak"])]
        if plain is None:
            cells += ["-", "-", "-", "-"]
        else:
            cells += [f"{plain['read']:.2f}", f"{plain['solve']:.2f}", harness.megabytes(plain["peak"])]
            cells.append(harness.verdict(row["agrees"]))
        lines.append([*cells, harness.verdict(row["within"]) if row["bar"] else ""])
    return harness.table(heads, lines)


if __name__ == "__main__":
    sys.exit(main())
