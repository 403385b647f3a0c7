"""The forms that a tree is exported to, each run on raw rows: what it answers, row by row.

`FORMS` names them. Where a tree has no answer, a form says NO_ANSWER.
"""

from __future__ import annotations

import csv
import datetime as dt
import importlib.util
import io
import pickle
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs
import numpy as np

from streed.data.single_values import microseconds
from streed.errors import InputError
from streed.export import from_json, to_json, to_onnx, to_python, to_sklearn, to_sql
from streed.export.onnx import NO_DATE
from streed.tree import Tree

NO_ANSWER = "no answer"

Table = dict[str, list[Any]]


@attrs.frozen(eq=False)
class Case:
    """A tree, the raw rows to send down it, and what each of them should get."""

    tree: Tree
    table: Table
    expected: list[Any]
    types: dict[str, str]
    """What a database calls the type of each column."""
    of_texts: list[Any] | None = None
    """What Python source should give to the rows: the empty text is a gap where it is no category."""

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [dict(zip(self.table, row, strict=True)) for row in zip(*self.table.values(), strict=True)]


def as_json(case: Case) -> list[Any]:
    """Answers of the tree that was saved and read again."""
    return _answered(case, lambda table: from_json(to_json(case.tree)).predict(table).tolist())


def as_python(case: Case) -> list[Any]:
    """Answers of the Python source, to rows by name."""
    return _as_texts(case, _called(to_python(case.tree), case.rows))


def as_python_by_position(case: Case) -> list[Any]:
    """Answers of the Python source, to rows as sequences."""
    recipe = case.tree.recipe
    rows = [[row[each.name] for each in recipe.columns] for row in case.rows]
    return _as_texts(case, _called(to_python(case.tree, by_position=True), rows))


def as_python_of_csv(case: Case) -> list[Any] | None:
    """Answers of the Python source to rows as csv.DictReader reads them; None for durations, which are refused there.

    Rows with a gap in a column that has the empty text as a category, which nothing tells apart, are not compared.
    """
    written = io.StringIO()
    if "INTERVAL" in case.types.values():
        return None
    file = csv.DictWriter(written, list(case.table))
    file.writeheader()
    file.writerows([{name: _dated(value) for name, value in row.items()} for row in case.rows])
    found = _called(to_python(case.tree), list(csv.DictReader(io.StringIO(written.getvalue(), newline=""))))
    both = [each.name for each in case.tree.recipe.columns if "" in each.known]
    pairs = zip(_as_texts(case, found), case.expected, case.rows, strict=True)
    return [right if any(row[name] is None for name in both) else said for said, right, row in pairs]


def as_sqlite(case: Case) -> list[Any] | None:
    """Answers of SQL in sqlite, whose dates are texts; None where the tree asks about durations, as it has none."""
    if "INTERVAL '" in to_sql(case.tree):
        return None
    connection = sqlite3.connect(":memory:")
    held = {name: [_dated(value) for value in values] for name, values in case.table.items()}
    try:
        found = _queried(connection, case, held, {})
    finally:
        connection.close()
    if any(isinstance(label, bool) for label in case.tree.labels):
        found = [value if value == NO_ANSWER else bool(value) for value in found]
    return found


def as_duckdb(case: Case) -> list[Any]:
    """Answers of SQL in duckdb, whose columns have types."""
    import duckdb

    with duckdb.connect(":memory:") as connection:
        found = _queried(connection, case, case.table, case.types)
    return [float(value) if isinstance(case.tree.labels[0], float) and value != NO_ANSWER else value for value in found]


def as_sklearn(case: Case) -> list[Any]:
    """Answers of scikit-learn's pipeline, after a pickle."""
    import pandas as pd

    pipeline = pickle.loads(pickle.dumps(to_sklearn(case.tree)))
    return _answered(case, lambda table: pipeline.predict(pd.DataFrame(table, dtype=object)).tolist())


def as_onnx(case: Case) -> list[Any]:
    """Answers of the ONNX graph in onnxruntime.

    It gives some answer to every row, and takes empty texts for gaps: rows without an answer, and those with an empty
    text in a column that the tree asks about, or with a gap where empty texts are a category, are not compared.
    """
    import onnxruntime

    model = to_onnx(case.tree).SerializeToString()
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    given = {}
    for node in session.get_inputs():
        if node.name == "X" and "X" not in case.table:  # a leaf alone
            given["X"] = np.zeros((len(case.expected), node.shape[1]))
            continue
        values = case.table[node.name]
        if "string" in node.type:
            column = np.array(["" if value is None else str(value) for value in values], dtype=object)
        elif "int64" in node.type:
            column = np.array([NO_DATE if value is None else _moment(value) for value in values])
        else:
            column = np.array([np.nan if value is None else float(value) for value in values])
        given[node.name] = column[:, None]
    found = session.run(["prediction"], given)[0].tolist()
    texts = [node.name for node in session.get_inputs() if "string" in node.type]
    pairs = zip(case.rows, case.expected, strict=True)
    recipe = case.tree.recipe
    empty = {each.name for each in recipe.columns if "" in each.known}
    skipped = [
        right == NO_ANSWER or any(row[name] == "" or (row[name] is None and name in empty) for name in texts)
        for row, right in pairs
    ]
    return [right if skip else said for said, right, skip in zip(found, case.expected, skipped, strict=True)]


@attrs.frozen
class Form:
    """A way to run a tree outside streed."""

    answers: Callable[[Case], list[Any] | None]
    """Answers to the rows of a case; None if the form has no words for the tree."""
    needs: tuple[str, ...] = ()
    """The packages to import; what runs the form is the last."""


FORMS = {
    "JSON": Form(as_json),
    "Python": Form(as_python),
    "Python, rows by position": Form(as_python_by_position),
    "Python, rows of csv.DictReader": Form(as_python_of_csv),
    "SQL": Form(as_sqlite),
    "SQL, typed columns": Form(as_duckdb, ("duckdb",)),
    "scikit-learn, pickled": Form(as_sklearn, ("pandas", "sklearn")),
    "ONNX": Form(as_onnx, ("onnx", "onnxruntime")),
}
"""Each form by what it is called."""

CANNOT = "cannot hold the table"
"""In place of what differs."""


def available() -> list[str]:
    """The forms whose packages are installed."""
    return [name for name, form in FORMS.items() if all(importlib.util.find_spec(need) for need in form.needs)]


def mismatches(case: Case, forms: Mapping[str, Form]) -> Iterator[tuple[str, str]]:
    """(form, what differs) of every form that does not answer as the tree does or fails, or with CANNOT."""
    for form, runs in forms.items():
        try:
            found = runs.answers(case)
        except InputError as refused:
            if form == "ONNX" and any(said in str(refused) for said in ("gap", "types", "2**53")):
                yield form, CANNOT  # what ONNX cannot hold is said, not guessed
                continue
            yield form, f"refused: {refused}"
            continue
        if found is None:
            yield form, CANNOT
            continue
        wrong = [
            at for at, (a, b) in enumerate(zip(found, case.expected, strict=True)) if a != b or type(a) is not type(b)
        ]
        if wrong:
            at = wrong[0]
            yield form, f"row {case.rows[at]!r} gets {found[at]!r}, not {case.expected[at]!r}; {len(wrong)} rows differ"


def _as_texts(case: Case, found: list[Any]) -> list[Any]:
    """The answers that the rows should get, where `found` are those that Python source should give."""
    wanted = case.expected if case.of_texts is None else case.of_texts
    triples = zip(found, wanted, case.expected, strict=True)
    return [
        right if (said, type(said)) == (want, type(want)) else ("wrong", said, want) for said, want, right in triples
    ]


def _called(source: str, rows: list[Any]) -> list[Any]:
    namespace: dict[str, Any] = {}
    exec(compile(source, "exported.py", "exec"), namespace)
    found = []
    for row in rows:
        try:
            found.append(namespace["predict"](row))
        except ValueError:
            found.append(NO_ANSWER)
    return found


def _answered(case: Case, predict: Callable[[Table], list[Any]]) -> list[Any]:
    """Answers to the rows that the tree can read whole: one value without an answer refuses all rows of a table."""
    found: list[Any] = []
    for row, right in zip(case.rows, case.expected, strict=True):
        try:
            found += predict({name: [value] for name, value in row.items()})
        except InputError:
            # Values that this row does not pass may be the ones without an answer.
            found.append(right if case.tree.recipe is not None and case.tree.recipe.unseen == "error" else NO_ANSWER)
    return found


def _queried(connection: Any, case: Case, table: Table, types: dict[str, str], mark: str = "?") -> list[Any]:
    columns = ", ".join('"' + name.replace('"', '""') + f'" {types.get(name, "")}' for name in table)
    connection.execute(f"CREATE TABLE people (place BIGINT, {columns})")
    rows = [(place, *row) for place, row in enumerate(zip(*table.values(), strict=True))]
    connection.executemany(f"INSERT INTO people VALUES ({', '.join([mark] * (len(table) + 1))})", rows)
    found = connection.execute(f"{to_sql(case.tree, 'people')} ORDER BY place").fetchall()
    return [NO_ANSWER if row[-1] is None else row[-1] for row in found]


def _dated(value: Any) -> Any:
    return value.isoformat() if isinstance(value, dt.date) else str(value) if isinstance(value, dt.timedelta) else value


def _moment(value: Any) -> int:
    if isinstance(value, dt.timedelta):
        return value // dt.timedelta(microseconds=1)
    return microseconds(dt.datetime.fromisoformat(value) if isinstance(value, str) else value)
