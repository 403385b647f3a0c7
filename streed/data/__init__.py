"""Dataset: rows of codes and ranks, class numbers, weights and names, validated and cast once and never changed.

A `table` is taken apart into columns, `reading` reads one, `column` codes its values, `ordered` ranks those that are
cut, `rows` checks what stands beside the rows.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import attrs
import numpy as np

from streed.data import rows as beside
from streed.data import table as tables
from streed.data.column import Column, code_columns
from streed.data.database import MOMENTS, MOST_ROWS, file_query, own_connection, read_query
from streed.data.ordered import Cut, Kind, OrderedValues, proportions
from streed.data.single_values import is_number
from streed.errors import InputError
from streed.exact import Array, Range, exact_integers, exact_number, floats

__all__ = ["Column", "Cut", "Dataset", "Kind", "OrderedValues"]

ALL, AUTO = "all", "auto"
"""In place of the most thresholds of each ordered column."""


@attrs.frozen(eq=False, repr=False)
class Dataset:
    """Rows with codes, class numbers and weights; make one with `Dataset.make`."""

    X: Array
    """(n, p), C-contiguous: 0/1 of binary columns, 0..c-1 of categorical ones, ranks of ordered ones. Its type is
    uint8, and int32 where there are ordered columns."""
    class_numbers: Array
    """(n,) int64: the place of each row's label in `classes`."""
    classes: tuple[Any, ...]
    """The caller's labels, sorted, as plain Python objects; (None,) where there are no labels."""
    weights: Array | None
    """(n,) int64 or float64: what each row adds to a sum, its sample weight times its frequency; None: 1 of each."""
    row_data: Mapping[str, Array]
    """Further data by name, each with one entry per row."""
    categorical: tuple[int, ...]
    """The multiway columns."""
    _names: tuple[str, ...] | None = None
    _coded: Mapping[int, Column] = attrs.field(factory=dict)
    """Only the columns that are not plain 0/1: a wide 0/1 array costs nothing per column."""
    _pair: tuple[Any, Any] = (0, 1)
    """What 0 and 1 are in the caller's terms, for the plain columns."""
    sample_weight: Array | None = None
    """(n,) int64 or float64: what one copy of each row weighs; None where every one weighs 1."""
    frequency: Array | None = None
    """(n,) int64 >= 1: how many equal rows each row stands for; None where each stands for itself."""
    ordered: Mapping[int, OrderedValues] = attrs.field(factory=dict)
    """The values of each ordered column, by its number."""
    recipe: Any = None
    """How the columns were made of a raw table, a `TableRecipe`; None where they are the table's own."""
    max_cuts: int | str = AUTO
    """How many thresholds each ordered column has at most; ALL: every one; AUTO: every one, of which a search takes as
    many as it is expected to finish with (`streed.task.analysis.extent`)."""

    @classmethod
    def make(
        cls,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        frequency: Any = None,
        categorical: bool | Sequence[str | int] | None = None,
        max_cuts: int | str | None = None,
        names: Sequence[str] | None = None,
        **row_data: Any,
    ) -> Dataset:
        """The data, validated and cast; the caller's objects are only read.

        `X`: an array (n, p), masked or not, a sparse matrix, nested lists, a table of pandas, polars, pyarrow or any
        other library that narwhals knows, or a dict of columns. Numbers other than 0/1, dates, clock times, durations
        and pandas' ordered categories make ordered columns, texts and categories multiway ones, of two values binary
        ones. What is missing (None, NaN, NaT, masked) goes to either side of a threshold, and is a category of its own.
        Of more than 256 categories the most frequent have a child each, and the others share one; texts that nearly all
        differ (in more than half of the rows, and 10) share one alone. `categorical`: the columns, by names or
        positions, that are to have one child per value, or True for every one of more than two values. `max_cuts`: at
        most so many thresholds in each ordered column, at quantiles of the rows; "all"; or "auto", the default (None):
        all that a search is expected to finish with, see `streed.task.analysis.extent`. `y`: n labels that can be
        sorted, or None. `row_data`: arrays, an entry per row. `frequency`: n whole numbers >= 0, how many equal rows
        each row stands for; rows of frequency 0 are left out. Raises InputError that names the argument, and the column
        where there is one.
        """
        if isinstance(X, Dataset):
            given = [y, sample_weight, frequency, categorical, max_cuts, names, *row_data.values()]
            if any(extra is not None for extra in given):
                found = "it is a Dataset, given together with further arguments"
                raise InputError("X", found, "put them into Dataset.make instead")
            return X
        most = most_cuts(max_cuts)
        source = tables.read_input(X)
        n, p = source.shape
        if n == 0:
            raise InputError("X", "it has no rows", "give at least one row")
        weights, copies = beside.read_weights(sample_weight, n), beside.read_frequency(frequency, n)
        read = beside.read_row_data(row_data, n) if row_data else {}
        if copies is not None and not copies.all():
            kept = np.flatnonzero(copies)
            source, y = source.taken(kept), tables.take_values(y, kept, n, "y", "labels")
            weights = None if weights is None else weights[kept]
            read = {name: array[kept] for name, array in read.items()}
            n, copies = len(kept), beside.some_copies(copies[kept])
        named = tables.column_names(source, names)
        listed = tables.listed_columns(categorical, named, p)
        held = beside.weigh_copies(weights, copies)
        codes, coded, ordered = code_columns(source, named, listed)
        numbers, classes = (np.zeros(n, np.int64), (None,)) if y is None else beside.code_labels(y, n)
        array = source.array
        pair = (False, True) if array is not None and array.dtype.kind == "b" else (0, 1)
        multiway = tuple(j for j, column in coded.items() if column.multiway)
        more: dict[str, Any] = {"sample_weight": weights, "frequency": copies, "max_cuts": most, "ordered": ordered}
        made = cls(codes, numbers, classes, held, read, multiway, named, coded, pair, **more)
        return made.cut(most) if isinstance(most, int) else made

    @classmethod
    def from_query(
        cls,
        connection: Any,
        sql: str,
        *,
        target: str | None = None,
        features: Sequence[str] | None = None,
        sample_weight: str | None = None,
        frequency: str | None = None,
        moments: bool = False,
        categorical: bool | Sequence[str] | None = None,
        max_cuts: int | str | None = None,
        most_rows: int = MOST_ROWS,
        **row_data: str | Sequence[str],
    ) -> Dataset:
        """The rows of a query on a DuckDB connection, equal ones as one with a frequency; all columns by name.

        `features`: None is every column that is named for nothing else. `row_data`: a column, or a list of columns for
        a table, by the name that the task asks for (`sensitive_features="sex"`). `moments`: the database adds up y and
        its squares over rows of equal features, which is all that `SquaredError` reads; only that takes such data.
        At most `most_rows` different rows are read, in the order of their values. Raises InputError for columns that
        are not there or not usable, and with the database's words for a query that fails.
        """
        named = {"target": target, "sample_weight": sample_weight, "frequency": frequency, **row_data}
        asked: dict[str, Any] = {"categorical": categorical, "max_cuts": most_cuts(max_cuts), "moments": moments}
        return read_query(connection, sql, features, named, most_rows=most_rows, **asked)

    @classmethod
    def from_parquet(
        cls, path: Any, *, memory_limit: int | None = None, threads: int | None = None, **given: Any
    ) -> Dataset:
        """The rows of a Parquet file, of several by a pattern such as "part-*.parquet", or of a list of them.

        The database takes at most `memory_limit` bytes and so many `threads` (None: as it likes), and spills to disk
        what does not fit. The other arguments are those of `from_query`.
        """
        with own_connection(memory_limit, threads) as connection:
            return cls.from_query(connection, file_query(path, "read_parquet"), **given)

    @classmethod
    def from_csv(
        cls, path: Any, *, memory_limit: int | None = None, threads: int | None = None, **given: Any
    ) -> Dataset:
        """The rows of a CSV file, whose types DuckDB finds out; the arguments are those of `from_parquet`."""
        with own_connection(memory_limit, threads) as connection:
            return cls.from_query(connection, file_query(path, "read_csv"), **given)

    @property
    def n_rows(self) -> int:
        """How many rows are kept, however many equal ones each of them stands for."""
        return len(self.X)

    @functools.cached_property
    def size(self) -> int:
        """How many rows the data stand for: the sum of the frequencies, `n_rows` where there are none."""
        return self.n_rows if self.frequency is None else int(self.frequency.sum())

    @property
    def counts(self) -> Array:
        """(n,) int64: how many equal rows each row stands for."""
        return np.ones(self.n_rows, np.int64) if self.frequency is None else self.frequency

    def count(self, rows: Array) -> int:
        """How many rows the rows given by number stand for."""
        return len(rows) if self.frequency is None else int(self.frequency[rows].sum())

    @functools.cached_property
    def exact_weights(self) -> Array | None:
        """(n,) `weights`, exactly: as objects where a product of a real weight and a frequency may be no float."""
        if self.sample_weight is None or self.frequency is None or self.sample_weight.dtype.kind != "f":
            return self.weights
        whole, unit = exact_integers(self.sample_weight, "sample_weight")
        return np.asarray(whole.astype(object) * self.frequency * unit)

    @property
    def n_columns(self) -> int:
        return int(self.X.shape[1])

    @functools.cached_property
    def category_counts(self) -> Array:
        """(p,) int64: the number of categories of each categorical column, 0 for binary ones."""
        counts: Array = np.zeros(self.n_columns, np.int64)
        for j in self.categorical:
            counts[j] = len(self.column(j).categories)
        return counts

    @property
    def most_children(self) -> int:
        """No branching node has more children."""
        return max([2, *(len(self.column(j).categories) for j in self.categorical)])

    @property
    def n_questions(self) -> int:
        """How many questions a branching node may ask: one of each binary and categorical column, all of ordered ones.

        Every threshold is a question, with gaps on either side where there are any, and whether a value is missing.
        """
        return self.n_columns - len(self.ordered) + sum(each.n_questions for each in self.ordered.values())

    @property
    def is_cut(self) -> bool:
        """Whether there are thresholds of numbers that are no questions, see `max_cuts` of `make`."""
        return any(len(each.cuts) < len(each.values) - 1 for each in self.ordered.values())

    @property
    def extent(self) -> str:
        """Among which splits a tree for the data is best, such as "all 22,599 thresholds" or "160 questions"."""
        n, kind = self.n_questions, "threshold" if self.ordered and not self.is_cut else "question"
        return f"{'all ' if kind == 'threshold' else ''}{n:,} {kind}{'' if n == 1 else 's'}"

    def cut(self, most: int) -> Dataset:
        """The rows with at most so many thresholds of each ordered column, at quantiles of the rows by weight."""
        weights = proportions(self.weights)
        cut = {j: values.fewer(self.X[:, j], weights, most) for j, values in self.ordered.items()}
        return attrs.evolve(self, ordered=cut, max_cuts=most)

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names; x0, x1, ... where the caller gave none."""
        return tuple(f"x{j}" for j in range(self.n_columns)) if self._names is None else self._names

    @property
    def columns(self) -> tuple[Column, ...]:
        """Every column, in order."""
        return tuple(self.column(j) for j in range(self.n_columns))

    def column(self, j: int) -> Column:
        """Column j, 0 <= j < n_columns."""
        coded = self._coded.get(j)
        if coded is not None:
            return coded
        return Column(f"x{j}" if self._names is None else self._names[j], self._pair, False)

    @functools.cached_property
    def class_labels(self) -> tuple[Any, ...]:
        """The classes, for a task whose labels they are; raises InputError where y holds measured numbers, or sums."""
        if MOMENTS in self.row_data:
            raise InputError("y", "the database added it up", "read the data without moments=True")
        beside.check_classes(self.classes)
        return self.classes

    @functools.cached_property
    def y(self) -> Array:
        """(n,) the caller's own values: int64 or float64 where they are numbers, objects where they are texts.

        It can only be read. `==` refuses what could be meant for `class_numbers`, see `OwnValues`. Raises InputError
        where there are none.
        """
        if self.classes == (None,):
            raise InputError("y", "there is none", "give one label or target per row")
        return beside.own_values(self.classes, self.class_numbers)

    @functools.cached_property
    def targets(self) -> Array:
        """(n,) y as numbers, int64 or float64; raises InputError where its labels are none."""
        return beside.read_targets(self.classes)[self.class_numbers]

    def rows_of_classes(self, table: Any) -> Array:
        """(n, ...) the row of a table (K, ...) that each row's class has."""
        found: Array = np.asarray(table).take(self.class_numbers, axis=0)
        return found

    def class_totals(self) -> list[int | Fraction]:
        """The weight of each class's rows, exactly: a float weight is the decimal it prints as."""
        if self.exact_weights is None:
            return np.bincount(self.class_numbers, minlength=self.n_classes).tolist()  # type: ignore[no-any-return]
        whole, unit = exact_integers(self.exact_weights, "sample_weight")
        return [exact_number(unit * sum(whole[self.class_numbers == k].tolist())) for k in range(self.n_classes)]

    def subset(self, rows: Any) -> Dataset:
        """The rows given as numbers or as a mask (n,), in that order, with the same columns and classes."""
        chosen = np.asarray(rows)
        held = {name: getattr(self, name) for name in ("class_numbers", "weights", "sample_weight", "frequency")}
        taken = {name: array[chosen] for name, array in held.items() if array is not None}
        row_data = {name: array[chosen] for name, array in self.row_data.items()}
        return attrs.evolve(self, X=np.ascontiguousarray(self.X[chosen]), row_data=row_data, **taken)

    def recoded(self, codes: Array, columns: Mapping[int, Column], names: tuple[str, ...]) -> Dataset:
        """The rows with other columns, none of them ordered, of these codes (n, p); those that are not here are 0/1."""
        coded = {j: column for j, column in columns.items() if not column.is_plain}
        multiway = tuple(j for j, column in coded.items() if column.multiway)
        changed: dict[str, Any] = {"X": codes, "names": names, "coded": coded, "categorical": multiway}
        return attrs.evolve(self, pair=(0, 1), ordered={}, **changed)

    def expanded(self) -> Dataset:
        """The data with every row as often as its frequency says, in place of frequencies."""
        if self.frequency is None:
            return self
        several = self.subset(np.repeat(np.arange(self.n_rows), self.frequency))
        return attrs.evolve(several, weights=several.sample_weight, frequency=None)

    def __repr__(self) -> str:
        return f"Dataset({self.n_rows} rows, {self.n_columns} columns, {self.n_classes} classes)"


def most_cuts(max_cuts: Any, argument: str = "max_cuts") -> int | str:
    """What an argument says of thresholds: the most of each ordered column, ALL or AUTO, which is None too."""
    if max_cuts is None or (isinstance(max_cuts, str) and max_cuts in (ALL, AUTO)):
        return max_cuts or AUTO
    return Range(1, whole=True, meaning=f'"{ALL}" or "{AUTO}"').read(argument, max_cuts)  # type: ignore[no-any-return]


def row_array(data: Dataset | Mapping[str, Array], name: str, asked_by: str) -> Array:
    """The row data of that name, (n,) or (n, m), as given; raises InputError where there is none."""
    row_data = data if isinstance(data, Mapping) else data.row_data
    if name not in row_data:
        known = ", ".join(row_data) or "none"
        raise InputError(name, f"{asked_by} needs it, and the row data are: {known}", f"give {name}=, or --row-data")
    return row_data[name]


def row_column(data: Dataset | Mapping[str, Array], name: str, asked_by: str) -> Array:
    """(n,) the row data of that name, one column in whatever form; raises InputError for several."""
    values = row_array(data, name, asked_by)
    names = values.dtype.names
    if names is not None and len(names) == 1:
        values = values[names[0]]
    elif values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.dtype.names is not None or values.ndim != 1:
        found = f"columns {', '.join(names)}" if names else f"shape {values.shape}"
        raise InputError(name, f"it has the {found}", "give one entry per row")
    return values


def row_numbers(data: Dataset | Mapping[str, Array], name: str, asked_by: str) -> Array:
    """(n,) finite numbers, int64 or float64; raises InputError for anything else."""
    return _finite(row_column(data, name, asked_by), name)


def row_matrix(data: Dataset | Mapping[str, Array], name: str, asked_by: str) -> tuple[Array, tuple[Any, ...] | None]:
    """(n, m) finite numbers and the names of the columns, of a table; None where they have no names."""
    values = row_array(data, name, asked_by)
    if values.dtype.names is not None:
        columns = [_finite(values[field], name, f"column {field!r}: ") for field in values.dtype.names]
        # a field's title is the name as the caller wrote it: not all are texts
        fields: Any = values.dtype.fields
        names = [fields[name][2] if len(fields[name]) > 2 else name for name in values.dtype.names]
        return np.stack(columns, axis=1), tuple(names)
    if values.ndim != 2 or not values.shape[1]:
        raise InputError(name, f"it has the shape {values.shape}", "give a table or an array with a row per row of X")
    return _finite(values, name), None


def _finite(values: Array, name: str, where: str = "") -> Array:
    if values.dtype.kind in "bui":
        return values.astype(np.int64)
    strange = values.dtype.kind == "O" and not all(is_number(type(value)) for value in values.flat)
    if strange or values.dtype.kind in "SUcmM":  # numpy would read "1" as 1, 1j as 0, and times in a unit of its own
        raise InputError(name, f"{where}not all entries are numbers", "give finite numbers")
    return Range().read_rows(name, floats(values, name))
