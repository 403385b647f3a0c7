"""Rows grouped where they lie: DuckDB reads files or a query, and rows that agree in all that a task reads are one.

So 10**8 rows of 10**5 kinds are solved as 10**5 with frequencies. Targets whose moments are asked for need not agree:
the database sums them and their squares, in whole numbers of a decimal unit, so that no sum depends on the order.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from streed.errors import InputError, check_known, listed, members
from streed.exact import Array, Range

if TYPE_CHECKING:
    from streed.data import Dataset


MOMENTS = "moments"
"""The row data of the sums of y and of its squares."""

MOST_ROWS = 20_000_000
"""Of more different rows, reading them as they are takes no more memory."""

_DIGITS = 6  # decimals that summed numbers may have

_LARGEST_SUM = 2**60

_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_NUMBERS = (*_WHOLE, *(f"U{each}" for each in _WHOLE), "FLOAT", "DOUBLE", "DECIMAL")
"""The types of numbers; behind the last one comes its width."""

_TYPES = (*_NUMBERS, "BOOLEAN", "DATE", "TIMESTAMP", "VARCHAR", "ENUM", "INTERVAL")


@contextlib.contextmanager
def own_connection(memory_limit: int | None, threads: int | None) -> Iterator[Any]:
    """A database in memory, which may spill to a folder that is gone afterwards."""
    duckdb = _duckdb()
    with tempfile.TemporaryDirectory(prefix="streed-") as folder:
        connection = duckdb.connect()
        try:
            connection.execute("SET temp_directory = ?", [folder])
            connection.execute("SET preserve_insertion_order = false")
            for name, value, most, unit in (("memory_limit", memory_limit, 2**60, "B"), ("threads", threads, 1024, "")):
                if Range(1, most, whole=True, optional=True).read(name, value) is not None:
                    connection.execute(f"SET {name} = '{value}{unit}'")
            yield connection
        finally:
            connection.close()


def _duckdb() -> Any:
    try:
        import duckdb
    except ImportError:
        raise InputError("duckdb", "it is not installed", 'pip install "streed[scale]"') from None
    return duckdb


def file_query(path: Any, reader: str) -> str:
    """The rows of a file, of several by a pattern, or of a list of them, as SQL; raises InputError for no file."""
    paths = [path] if isinstance(path, (str, Path)) else listed("path", path, "give a file, or a list of files")
    if not paths:
        raise InputError("path", "it is empty", "give a file")
    for each in map(str, paths):
        if not any(sign in each for sign in "*?[:") and not Path(each).is_file():
            raise InputError("path", f"there is no file {each!r}", "check the path")
    written = ", ".join("'" + str(each).replace("'", "''") + "'" for each in paths)
    return f"SELECT * FROM {reader}([{written}])"


def read_query(
    connection: Any,
    sql: str,
    features: Any,
    named: Mapping[str, Any],
    *,
    categorical: Any,
    max_cuts: int | str,
    moments: bool,
    most_rows: int,
) -> Dataset:
    """The data set of a query's rows, grouped; arguments, and those `named` that name columns, as `from_query` has."""
    if not hasattr(connection, "execute") or not hasattr(connection, "register"):
        raise InputError("connection", f"{type(connection).__name__} is no DuckDB connection", "use duckdb.connect()")
    if not isinstance(sql, str) or not sql.strip():
        raise InputError("sql", f"{sql!r}", "give a query as text")
    source = f"({sql.strip().rstrip(';')}) AS streed_rows"
    types = {row[0]: row[1] for row in _run(connection, f"DESCRIBE SELECT * FROM {source}").fetchall()}
    roles = Roles.of(tuple(types), features, named)
    used = [("features", name) for name in roles.features] + roles.named
    for argument, name in used:
        if types[name].partition("(")[0].partition(" ")[0] not in _TYPES or types[name].endswith("]"):
            found = f"column {name!r} has the type {types[name]}"
            raise InputError(argument, found, "give numbers, truth values, texts, dates or durations: cast it in SQL")
    return _Reader(connection, source, types, roles, moments, most_rows).read(categorical, max_cuts)


def quoted(name: str) -> str:
    """A column's name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def _run(connection: Any, sql: str) -> Any:
    """The result of a query; raises InputError with the database's own words."""
    duckdb = _duckdb()
    try:
        return connection.execute(sql)
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except duckdb.Error as error:
        said = str(error).strip().splitlines()[0][:300]
        if isinstance(error, duckdb.OutOfMemoryException):
            remedy = "give a larger memory_limit, or fewer features"
            raise InputError("memory_limit", f"it is too small ({said})", remedy) from None
        raise InputError("sql", f"the database says: {said}", "check the query and its columns") from None


@attrs.frozen(eq=False)
class _Reader:
    """One reading: its query and what becomes of the columns that it gives."""

    connection: Any
    source: str
    types: Mapping[str, str]
    roles: Roles
    moments: bool
    most_rows: int

    def read(self, categorical: Any, max_cuts: int | str) -> Dataset:
        """The data set; raises InputError for rows that cannot be read."""
        from streed.data import Dataset

        roles, copied = self.roles, self.roles.columns.get("frequency")
        if self.moments and ("target" not in roles.columns or "sample_weight" in roles.columns):
            found = "the sums have no weights" if "target" in roles.columns else "there is no target"
            raise InputError("moments", found, "name a target and no sample_weight, or leave moments out")
        self._check_complete()
        listed = set(roles.features) if categorical is True else set(members(categorical))
        left = ("frequency", "target") if self.moments else ("frequency",)
        read = [*roles.features, *(column for argument, column in roles.named if argument not in left)]
        keys = list(map(quoted, read))
        copies = "count(*)" if copied is None else f"sum({quoted(copied)})"
        added, unit = self._moments() if self.moments else ([], 1)
        chosen = ", ".join(f"{each} AS c{at}" for at, each in enumerate([*keys, f"CAST({copies} AS BIGINT)", *added]))
        where = "" if copied is None else f" WHERE {quoted(copied)} > 0"
        columns = self._fetch(chosen, f"{where} GROUP BY ALL ORDER BY ALL LIMIT {self.most_rows + 1}")
        frequency = np.asarray(columns[len(keys)])
        if not len(frequency) or not frequency.sum():
            raise InputError("sql", "there are no rows", "give at least one row")
        if len(frequency) > self.most_rows:
            found = f"there are more than {self.most_rows:,} different rows"
            raise InputError("most_rows", found, "round numbers in the query, name fewer features, or raise it")
        of = dict(zip(read, columns, strict=False))
        table, given = {name: of[name] for name in roles.features}, roles.given(of) | {"frequency": frequency}
        if self.moments:
            sums, squares = map(np.asarray, columns[len(keys) + 1 :])
            if float(np.abs(squares.astype(np.float64)).sum()) >= _LARGEST_SUM:
                remedy = "subtract its mean in the query, or scale it"
                raise InputError("target", "the sum of its squares is beyond 2**60", remedy)
            given |= {"y": None, MOMENTS: {"sum": sums, "square": squares, "unit": np.full(len(sums), unit)}}
        X: Any = table or np.zeros((len(frequency), 0), np.uint8)
        given["categorical"] = [name for name in roles.features if name in listed] or None
        data = Dataset.make(X, max_cuts=max_cuts, **given)
        # sums have all rows in them already: none is to be multiplied by how many there are
        return attrs.evolve(data, weights=None, frequency=data.counts) if self.moments else data

    def _fetch(self, chosen: str, rest: str = "") -> list[Array]:
        return list(_run(self.connection, f"SELECT {chosen} FROM {self.source}{rest}").fetchnumpy().values())

    def _check_complete(self) -> None:
        """Raises InputError for rows without a target, a weight or row data, and for frequencies that are none."""
        named, frequency = self.roles.named, self.roles.columns.get("frequency")
        is_number = frequency is None or self.types[frequency].startswith(_NUMBERS)
        broken = "count(*) FILTER (false)"
        if frequency is not None and is_number:
            copies = quoted(frequency)
            broken = f"count(*) FILTER (WHERE {copies} < 0 OR {copies} <> floor({copies}))"
        missing = [f"count(*) - count({quoted(name)})" for _, name in named]
        asked = ", ".join(f"{each} AS c{at}" for at, each in enumerate([*missing, broken]))
        *gaps, wrong = [int(each[0]) for each in self._fetch(asked)]
        for (argument, name), count in zip(named, gaps, strict=True):
            if count:
                remedy = "leave these rows out of the query"
                raise InputError(argument, f"column {name!r} is NULL in {count:,} rows", remedy)
        if wrong or not is_number:
            raise InputError("frequency", "not all are whole numbers >= 0", "give numbers of rows")

    def _moments(self) -> tuple[list[str], int]:
        """(the SQL of the sums of the target and of its squares in whole units, how many units make 1)."""
        columns = self.roles.columns
        name, frequency = columns["target"], columns.get("frequency")
        unit = self._unit(name)
        copies = "" if frequency is None else f" * CAST({quoted(frequency)} AS HUGEINT)"
        whole = f"CAST(round({quoted(name)} * {unit}) AS HUGEINT)"
        return [f"CAST(sum({each}{copies}) AS BIGINT)" for each in (whole, f"{whole} * {whole}")], unit

    def _unit(self, name: str) -> int:
        """How many units make 1, a power of ten, so that all numbers of a column are whole numbers of it."""
        column = quoted(name)
        if not self.types[name].startswith(_NUMBERS):
            raise InputError("target", f"column {name!r} has the type {self.types[name]}", "give numbers")
        tried: list[int] = [10**digits for digits in range(_DIGITS + 1)]
        real = f"{column}::DOUBLE"
        sound = [f"isfinite({real}) AND round({real} * {unit}) / {unit} = {real}" for unit in tried]
        asked = ", ".join(f"bool_and({each}) AS c{at}" for at, each in enumerate(sound))
        known = [unit for unit, holds in zip(tried, self._fetch(asked), strict=True) if holds[0]]
        if known:
            return known[0]
        remedy = "round it in the query: sums of other numbers depend on the order of the rows"
        raise InputError("target", f"column {name!r} has numbers of more than {_DIGITS} decimals", remedy)


_SINGLE = ("target", "sample_weight", "frequency")


@final
@attrs.frozen
class Roles:
    """Which column is what."""

    features: tuple[str, ...]
    columns: Mapping[str, Any]
    """A column, or the columns of a table, by what it is: "target", "sample_weight", "frequency" or named row data."""
    categorical: tuple[str, ...] = ()
    """The features that are called categorical."""

    @property
    def named(self) -> list[tuple[str, str]]:
        """(argument, column) of every column but the features."""
        return [(argument, column) for argument, given in self.columns.items() for column in members(given)]

    def given(self, of: Mapping[str, Any]) -> dict[str, Any]:
        """What `Dataset.make` is given beside the features, of columns by name."""
        columns = self.columns.items()
        found = {name: of.get(x) if isinstance(x, str) else {each: of[each] for each in x} for name, x in columns}
        return {"y": found.pop("target", None), **found}

    @classmethod
    def of(cls, known: Sequence[str], features: Any, named: Mapping[str, Any]) -> Roles:
        """The roles of the columns `known`; raises InputError for columns that are not there, or are named twice."""
        roles = cls((), {name: _columns(name, given) for name, given in named.items() if given is not None})
        for argument in _SINGLE:
            if not isinstance(found := roles.columns.get(argument, ""), str):
                raise InputError(argument, f"it is {found!r}", "give the name of a column")
        taken = [column for _, column in roles.named]
        if features is None:
            chosen = tuple(name for name in known if name not in taken)
        else:
            chosen = tuple(members(_columns("features", features)))
        for argument, name in [*(("features", name) for name in chosen), *roles.named]:
            check_known(argument, [name], known, "column")
        if len(set(chosen)) < len(chosen):
            raise InputError("features", "a column is named twice", "name every column once")
        for argument, name in roles.named:
            if argument in _SINGLE and name in chosen:
                raise InputError(argument, f"{name!r} is a feature, too", "leave it out of features")
        return attrs.evolve(roles, features=chosen)


def _columns(argument: str, given: Any) -> str | tuple[str, ...]:
    if isinstance(given, str):
        return given
    if isinstance(given, Sequence) and given and all(isinstance(name, str) for name in given):
        return tuple(given)
    raise InputError(argument, f"it is {given!r}", "give the name of a column, or a list of names")
