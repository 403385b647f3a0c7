"""Every exported form of a tree, run on raw tables that are hostile, and compared with the tree itself.

    python -m tests.differential.exports --tables 1000 --seed 1

Names and values have quotes, line breaks, signs of other scripts and words of SQL; there are gaps everywhere, values
that no tree has seen, dates of every form, and columns with a child per category. What a row should get is found by
walking the tree node by node and reading one value at a time. Where the tree has no answer, SQL must give NULL and
Python must refuse. Engines that are not installed are left out, and said to be.
"""

from __future__ import annotations

import argparse
import datetime as dt
import importlib.util
import pickle
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import numpy as np

from streed.binarize import Settings, TableRecipe, make_recipe
from streed.binarize.raw import read_column
from streed.data.moments import microseconds
from streed.export import codes, from_json, to_json, to_onnx, to_python, to_sklearn, to_sql, to_treelite
from streed.export.onnx import NO_DATE
from streed.tree import Branch, Leaf, Node, Tree

NAMES = ("age", "a b", 'say "no"', "it's", "größe", "名前", "x<=3", "select", "a\\b", "{row}", "line\nbreak", "%s", "é")
TEXTS = (
    "f",
    "m",
    "O'Brien",
    'say "hi"',
    "ü",
    "日本",
    "a b",
    "a\\n",
    "%",
    "{x}",
    "null",
    "None",
    "'; --",
    "1",
    "2.5",
    "",
)
LABELS: tuple[tuple[Any, ...], ...] = (
    ("no", "yes"),
    (0, 1, 2),
    ("l'un", '"2"', "日本"),
    (-1, 1),
    (False, True),
    (0.1, 2.5),
)
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

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [dict(zip(self.table, row, strict=True)) for row in zip(*self.table.values(), strict=True)]


def draw(rng: np.random.Generator) -> Case:
    """A table drawn at random, a tree grown on it without a search, and new rows with values that it has not seen."""
    n = int(rng.integers(12, 60))
    names = [str(name) for name in rng.permutation(NAMES)[: rng.integers(1, 6)]]
    makers = {name: _column(rng) for name in names}
    table = {name: [make() for _ in range(n)] for name, (_, make, _) in makers.items()}
    listed = [name for name in names if makers[name][0] == "BIGINT" and rng.random() < 0.3]
    settings = Settings(
        n_thresholds=int(rng.integers(1, 6)),
        categories=str(rng.choice(["one-hot", "multiway"])),
        categorical=listed,
        max_categories=int(rng.integers(2, 12)),
    )
    unseen = str(rng.choice(["error", "ignore"]))
    recipe = attrs.evolve(make_recipe(table, settings), unseen=unseen)
    labels = LABELS[rng.integers(len(LABELS))]
    y = [labels[k] for k in rng.integers(0, len(labels), n)]
    y[: len(labels)] = labels
    data = recipe.dataset(recipe.encode(table), y)
    tree = Tree.grown(_grow(data, np.arange(n), int(rng.choice([0, 2, 3, 3, 4])), rng), data)
    new = {
        name: [_changed(makers[name], rng) for _ in range(20)] + table[name][:10]
        for name in map(str, rng.permutation(names))
    }
    expected = [
        _walk(tree, recipe, row) for row in (dict(zip(new, r, strict=True)) for r in zip(*new.values(), strict=True))
    ]
    return Case(tree, new, expected, {name: made[0] for name, made in makers.items()})


def _column(rng: np.random.Generator) -> tuple[str, Callable[[], Any], Callable[[], Any]]:
    """(its type in a database, a function that draws a value, one that draws a value which may be new)."""
    gaps = float(rng.choice([0.0, 0.0, 0.2]))
    both: tuple[str, Callable[[], Any], Callable[[], Any]]
    kind = rng.choice(["text", "whole", "real", "truth", "date", "moment", "written", "duration"])

    def with_gaps(make: Callable[[], Any], share: float) -> Callable[[], Any]:
        return lambda: None if rng.random() < share else make()

    def first(k: int) -> dt.date:
        return dt.date(2020, 1, 1) + dt.timedelta(days=int(rng.integers(-k, k)))

    def moment(k: int) -> dt.datetime:
        later = dt.timedelta(seconds=int(rng.integers(-k, k)), microseconds=int(rng.integers(3)))
        return dt.datetime(2020, 1, 1) + later  # noqa: DTZ001 - dates without a zone

    if kind == "text":
        chosen = [str(text) for text in rng.permutation(TEXTS)[: rng.integers(2, 9)]]
        both = ("VARCHAR", lambda: chosen[rng.integers(len(chosen))], lambda: TEXTS[rng.integers(len(TEXTS))])
    elif kind == "whole":
        both = ("BIGINT", lambda: int(rng.integers(-5, 6)), lambda: int(rng.integers(-9, 10)))
    elif kind == "real":
        scale = float(rng.choice([1e-9, 1.0, 1e12]))
        pool = [float(x) for x in rng.normal(0, scale, 8)]
        # Neighbouring floats have no number between them.
        pool += [float(np.nextafter(pool[0], np.inf))]
        both = (
            "DOUBLE",
            lambda: pool[rng.integers(len(pool))],
            lambda: float(rng.choice([*pool, rng.normal(0, scale)])),
        )
    elif kind == "truth":
        both = ("BOOLEAN", lambda: bool(rng.random() < 0.5), lambda: bool(rng.random() < 0.5))
    elif kind == "date":
        both = ("DATE", lambda: first(9), lambda: first(20))
    elif kind == "moment":
        both = ("TIMESTAMP", lambda: moment(99), lambda: moment(200))
    elif kind == "duration":
        spans = [dt.timedelta(microseconds=int(x)) for x in rng.integers(-(10**12), 10**12, 6)]
        spans += [spans[0] + dt.timedelta(microseconds=1), dt.timedelta(days=int(rng.integers(-900, 900)))]
        spans_or_any = [*spans, dt.timedelta(seconds=float(rng.normal(0, 10**6)))]
        both = ("INTERVAL", lambda: spans[rng.integers(8)], lambda: spans_or_any[rng.integers(9)])
    else:
        form = str(rng.choice([" ", "T"]))
        both = ("VARCHAR", lambda: moment(99).isoformat(form), lambda: moment(200).isoformat(form))
    name, make, make_new = both
    return name, with_gaps(make, gaps), with_gaps(make_new, max(gaps, 0.1))


def _changed(made: tuple[str, Callable[[], Any], Callable[[], Any]], rng: np.random.Generator) -> Any:
    return made[2]() if rng.random() < 0.5 else made[1]()


def _grow(data: Any, rows: Any, depth: int, rng: np.random.Generator) -> Node:
    splits = [j for j in range(data.n_columns) if len(set(data.X[rows, j].tolist())) > 1]
    if not depth or not splits or rng.random() < 0.05:
        return Leaf(int(rng.integers(data.n_classes)), len(rows), 0)
    j = int(rng.choice(splits))
    width = len(data.column(j).categories) if data.column(j).multiway else 2
    children = tuple(_grow(data, rows[data.X[rows, j] == code], depth - 1, rng) for code in range(width))
    return Branch(j, children, len(rows))


def _walk(tree: Tree, recipe: TableRecipe, row: dict[str, Any]) -> Any:
    """What the row should get: one value read at each node that it passes."""
    from streed.errors import InputError

    node = tree.root
    while isinstance(node, Branch):
        place = recipe.sources[node.column]
        each = recipe.columns[place]
        raw = read_column([row[each.name]], each.name)
        try:
            codes = each.codes(raw, recipe.unseen)
        except InputError:
            return NO_ANSWER
        node = node.children[codes[0, node.column - recipe.sources.index(place)]]
    return tree.labels[node.label]


# -- the forms ---------------------------------------------------------------------------------------------------------


def as_json(case: Case) -> list[Any]:
    """Answers of the tree that was saved and read again."""
    return _answered(case, lambda table: from_json(to_json(case.tree)).predict(table).tolist())


def as_python(case: Case) -> list[Any]:
    """Answers of the Python source, to rows by name."""
    return _called(to_python(case.tree), case.rows)


def as_python_by_position(case: Case) -> list[Any]:
    """Answers of the Python source, to rows as sequences."""
    recipe = case.tree.recipe
    assert recipe is not None
    rows = [[row[column.name] for column in recipe.columns] for row in case.rows]
    return _called(to_python(case.tree, by_position=True), rows)


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


def as_treelite(case: Case) -> list[Any]:
    """Answers of treelite's own predictor to the codes of every row."""
    import treelite

    built, model = to_treelite(case.tree), to_sklearn(case.tree)
    classes = model[-1].classes_ if hasattr(model, "steps") else model.classes_

    def predict(table: Table) -> list[Any]:
        shares = treelite.gtil.predict(built, codes(case.tree, table).astype(np.float64))
        return classes[shares[:, 0].argmax(axis=1)].tolist()  # type: ignore[no-any-return]

    return _answered(case, predict)


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
            column = np.array([_text(value) for value in values], dtype=object)
        elif "int64" in node.type:
            column = np.array([NO_DATE if value is None else _moment(value) for value in values])
        else:
            column = np.array([np.nan if value is None else float(value) for value in values])
        given[node.name] = column[:, None]
    found = session.run(["prediction"], given)[0].tolist()
    texts = [node.name for node in session.get_inputs() if "string" in node.type]
    pairs = zip(case.rows, case.expected, strict=True)
    recipe = case.tree.recipe
    assert recipe is not None
    empty = {column.name for column in recipe.columns if "" in column.categories}
    skipped = [
        right == NO_ANSWER or any(row[name] == "" or (row[name] is None and name in empty) for name in texts)
        for row, right in pairs
    ]
    return [right if skip else said for said, right, skip in zip(found, case.expected, skipped, strict=True)]


FORMS: dict[str, tuple[Callable[[Case], list[Any] | None], tuple[str, ...]]] = {
    "json": (as_json, ()),
    "python": (as_python, ()),
    "python by position": (as_python_by_position, ()),
    "sqlite": (as_sqlite, ()),
    "duckdb": (as_duckdb, ("duckdb",)),
    "scikit-learn": (as_sklearn, ("sklearn", "pandas")),
    "treelite": (as_treelite, ("sklearn", "treelite")),
    "onnxruntime": (as_onnx, ("onnx", "onnxruntime")),
}
"""Each form, and the packages that it needs; None is its answer to a tree that it has no words for."""

CANNOT = "cannot hold the table"
"""In place of what differs."""


def available() -> list[str]:
    """The forms whose packages are installed."""
    return [name for name, (_, needs) in FORMS.items() if all(importlib.util.find_spec(need) for need in needs)]


def mismatches(case: Case, forms: list[str]) -> Iterator[tuple[str, str]]:
    """(form, what differs) of every form that does not answer as the tree does or fails, or with CANNOT."""
    from streed.errors import InputError

    for form in forms:
        try:
            found = FORMS[form][0](case)
        except InputError as refused:
            if form == "onnxruntime" and ("gap" in str(refused) or "types" in str(refused)):
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
    from streed.errors import InputError

    found: list[Any] = []
    for row, right in zip(case.rows, case.expected, strict=True):
        try:
            found += predict({name: [value] for name, value in row.items()})
        except InputError:
            # Values that this row does not pass may be the ones without an answer.
            found.append(right if case.tree.recipe is not None and case.tree.recipe.unseen == "error" else NO_ANSWER)
    return found


def _queried(connection: Any, case: Case, table: Table, types: dict[str, str]) -> list[Any]:
    columns = ", ".join('"' + name.replace('"', '""') + f'" {types.get(name, "")}' for name in table)
    connection.execute(f"CREATE TABLE people (place BIGINT, {columns})")
    rows = [(place, *row) for place, row in enumerate(zip(*table.values(), strict=True))]
    connection.executemany(f"INSERT INTO people VALUES ({', '.join('?' * (len(table) + 1))})", rows)
    found = connection.execute(f"{to_sql(case.tree, 'people')} ORDER BY place").fetchall()
    return [NO_ANSWER if row[-1] is None else row[-1] for row in found]


def _dated(value: Any) -> Any:
    return value.isoformat() if isinstance(value, dt.date) else str(value) if isinstance(value, dt.timedelta) else value


def _moment(value: Any) -> int:
    if isinstance(value, dt.timedelta):
        return value // dt.timedelta(microseconds=1)
    return microseconds(dt.datetime.fromisoformat(value) if isinstance(value, str) else value)


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def main(arguments: list[str] | None = None) -> int:
    """Prints how many tables each form was tried on and every mismatch; 1 if there is one."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    forms = available()
    counts, unable, rows, strict = Counter[str](), Counter[str](), 0, 0
    wrong = 0
    for number in range(given.tables):
        case = draw(np.random.default_rng([given.seed, number]))
        rows += len(case.expected)
        strict += case.expected.count(NO_ANSWER)
        counts.update(forms)
        for form, said in mismatches(case, forms):
            counts[form] -= 1
            if said == CANNOT:
                unable[form] += 1
                continue
            wrong += 1
            print(f"table {number}, {form}: {said}")
    for form in FORMS:
        told = f"{counts[form]} of {given.tables - unable[form]} tables"
        told += f"; {unable[form]} that it cannot hold" if unable[form] else ""
        print(f"{form:<20} {told if form in forms else 'not installed'}")
    print(f"{rows} rows, {strict} of them without an answer; {wrong} mismatches")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
