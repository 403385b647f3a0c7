"""What errors and tests cost: a matrix of misclassification costs and a price list of tests, exact numbers.

A test makes one original feature known. Columns that were made of the same feature are known together, so further
questions about them are free; tests of one group share work (one blood sample, say), so after the first of them the
others cost their discounted price.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from streed.data.reading import read_values
from streed.data.rows import named_labels
from streed.data.strict_json import read_text
from streed.data.table import named_columns
from streed.errors import InputError, shown
from streed.exact import Array, Range, exact_integers, exact_number, read_decimal

Exact = int | Fraction

MOST_KNOWN = 16
"""Tables of which what was worked out is kept."""

NO_TEST = -1
"""In place of a test's number: columns that cost nothing."""

_MOST_BYTES = 1 << 24  # of a file of costs

_MOST_COLUMNS = 10_000_000

_ALONE = "x"  # in files, the group of tests that are in none


def _exact(value: Any) -> Exact:
    return Range().read("costs", value)  # type: ignore[no-any-return]


def _price(test: Any, attribute: Any, value: Any) -> None:
    Range(0, meaning=f"the price ({attribute.name}) of test {test.name!r}").read("costs", value)


def _named_columns(columns: Any) -> tuple[int | str, ...] | None:
    if columns is None:
        return None
    listed = (columns,) if isinstance(columns, (int, str)) else columns
    made = tuple(listed) if isinstance(listed, Iterable) and not isinstance(listed, Mapping) else (None,)
    if not all(isinstance(column, (int, np.integer, str)) for column in made):
        raise InputError("costs", f"a test is of the columns {columns!r}", "give names or positions of columns")
    return made


@attrs.frozen
class TestCost:
    """The price of making one original feature known."""

    __test__ = False
    """It is no test case of pytest's."""

    name: str
    cost: Exact = attrs.field(converter=_exact, validator=_price)
    discounted: Exact = attrs.field(converter=_exact, validator=_price)
    """What it costs once another test of its group was made; the cost itself, unless given."""
    group: str | None = None
    columns: tuple[int | str, ...] | None = attrs.field(default=None, converter=_named_columns)
    """The columns made of the feature, by name or position; None: those called `name`, or `name` with =, <, > or [
    behind it, as `colour=red`."""

    @discounted.default
    def _undiscounted(self) -> Exact:
        return self.cost

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.name, str) or not isinstance(self.group, (str, type(None))):
            found = f"a test is named {self.name!r}, of the group {self.group!r}"
            raise InputError("costs", found, "give the name of a feature as text, and a group as text or None")
        if self.discounted > self.cost:
            found = f"test {self.name!r} costs {self.cost}, and {self.discounted} with its discount"
            raise InputError("costs", found, "give a discounted price that is not above the full one")


def _matrix(matrix: Any) -> tuple[tuple[Exact, ...], ...]:
    if isinstance(matrix, (str, bytes, Mapping)) or not np.iterable(matrix):
        raise InputError("costs", f"{matrix!r} is no matrix", "give a nested list or a square array of costs")
    if hasattr(matrix, "toarray"):
        raise InputError("costs", f"it is a sparse {type(matrix).__name__}", "give it as toarray()")
    listed = [row.tolist() if isinstance(row, np.ndarray) else row for row in matrix]
    rows = [row if isinstance(row, (list, tuple)) else [row] for row in listed]
    rows = [[int(cost) if isinstance(cost, (bool, np.bool_)) else cost for cost in row] for row in rows]
    advice = "or add a constant to row {} of the matrix, which changes no tree's rank"
    limits = [Range(0, meaning=advice.format(j)) for j in range(len(rows))]
    return tuple(tuple(limit.read("costs", cost) for cost in row) for limit, row in zip(limits, rows, strict=True))


def _named_rows(matrix: Any) -> tuple[Any, tuple[Any, ...] | None]:
    """The rows of costs, and which labels they are of, by index, first column or dict of dicts; else None."""
    if isinstance(matrix, Mapping) and matrix and all(isinstance(row, Mapping) for row in matrix.values()):
        rows = {name: dict(row) for name, row in matrix.items()}
        names: list[Any] = list(rows)
    else:
        if isinstance(matrix, Mapping) and any(hasattr(getattr(x, "index", None), "tolist") for x in matrix.values()):
            remedy = "give a DataFrame, with a row for each class, or a dict of dicts, costs[class][label]"
            raise InputError("costs", "a dict of series may hold rows or columns", remedy)
        named = named_columns(matrix, "costs")
        if not named:
            return matrix, None
        columns = {name: np.asarray(read_values(x, "costs", "it")).tolist() for name, x in named.items()}
        names, size = list(columns), len(next(iter(columns.values())))
        counted, has_index = list(range(size)), hasattr(matrix, "index")
        index = matrix.index.tolist() if has_index else counted
        if names == index == counted:
            return [[column[j] for column in columns.values()] for j in range(size)], None
        if index == counted and not (has_index and set(names) == set(counted)):
            if len(names) == size + 1:
                index = columns.pop(names.pop(0))
            elif len(names) == size:
                if not _are_sorted(names):
                    found = f"its columns are {shown(names)}, and its rows have no names"
                    raise InputError("costs", found, "name the rows, too: by an index or a first column")
                index = names
        rows = {label: {name: column[j] for name, column in columns.items()} for j, label in enumerate(index)}
    for label, row in rows.items():
        if len(row) != len(rows) or set(row) != set(rows):
            found = f"rows are of {shown(rows)}, and that of {label!r} has costs of {shown(row)}"
            raise InputError("costs", found, "name the same labels in rows and columns, each once")
    return [[row[name] for name in names] for row in map(rows.__getitem__, names)], tuple(names)


def _are_sorted(names: Sequence[Any]) -> bool:
    """Whether names stand as labels do, numbers that are written as texts among them."""
    read = [int(name) if isinstance(name, str) and name.isdecimal() else name for name in names]
    try:
        return read == sorted(read)
    except TypeError:
        return False


def _tests(tests: Any) -> tuple[TestCost, ...]:
    listed = tuple(tests) if isinstance(tests, Iterable) else (tests,)
    if not all(isinstance(test, TestCost) for test in listed):
        raise InputError("costs", f"the tests are {tests!r}", "give a list of TestCost")
    names: set[str] = set()
    for test in listed:
        if test.name in names:
            raise InputError("costs", f"two tests are named {test.name!r}", "give each feature one price")
        names.add(test.name)
    return listed


def unlike(classes: Iterable[Any]) -> set[Any]:
    """The distinct classes; none where they are no labels."""
    try:
        return set(classes)
    except TypeError:
        return set()


@attrs.frozen(cache_hash=True)
class CostTable:
    """matrix[j][k], the cost of giving a row of class j the label k, and the prices of tests.

    Classes are in sorted order, or as `classes` lists them, by name or by its text. Make one with `of` or `read`.
    """

    matrix: tuple[tuple[Exact, ...], ...] = attrs.field(converter=_matrix)
    tests: tuple[TestCost, ...] = attrs.field(default=(), converter=_tests)
    classes: tuple[Any, ...] | None = None
    is_named: bool = False
    """Whether the matrix named the classes itself, which then are the labels that there are, and no others."""

    def __attrs_post_init__(self) -> None:
        exact, classes = self.matrix, self.classes
        if not exact or any(len(row) != len(exact) for row in exact):
            shape = f"{len(exact)} rows of {', '.join(map(str, sorted({len(row) for row in exact})))} entries"
            raise InputError("costs", f"the matrix has {shape}", "give one row and one column per class")
        if classes is not None and (not isinstance(classes, tuple) or len(unlike(classes)) != len(exact)):
            raise InputError("costs", f"there are {len(exact)} rows for the classes {classes!r}", "give one each")

    @classmethod
    def of(cls, matrix: Any, tests: Iterable[TestCost] = (), classes: Sequence[Any] | None = None) -> CostTable:
        """The table of a square matrix of costs >= 0; floats are read as the decimals they print as.

        An array or nested list is in the order of `classes`; a table (pandas, polars, pyarrow, a dict of columns) is
        taken by the names of its columns and rows, a dict of dicts as `costs[class][label]`. Raises InputError for a
        matrix that is not square, has NaN or negative entries, or names other labels in rows than in columns, and for
        tests of equal name.
        """
        rows, named = _named_rows(matrix)
        if named is None:
            return cls(rows, tuple(tests), None if classes is None else tuple(classes))
        if classes is not None:
            raise InputError("classes", "the costs name them", "leave it out, or give an array of costs")
        return cls(rows, tuple(tests), named, is_named=True)

    @classmethod
    def read(cls, path: Any, classes: Sequence[Any] | None = None) -> CostTable:
        """The table of a text file: K rows of K costs, a line of headings, then a line per feature.

        A feature's line has its name, the test's cost, its discounted cost, its group ("x": none), the first and the
        last of its columns, counted from 0; blanks, commas or semicolons separate. The classes are 0 to K - 1 unless
        given. Raises InputError that names the line at fault, or says why the file cannot be read.
        """
        lines = read_text(Path(path), "costs", _MOST_BYTES).splitlines()
        rows: list[list[Any]] = []
        tests: list[TestCost] = []
        seen_heading = False
        for number, line in enumerate(lines, 1):
            fields = [field for field in re.split(r"[\s,;]+", line.strip()) if field]
            if not fields:
                continue
            numbers = None if seen_heading else _numbers(fields)
            if numbers is not None:
                rows.append(numbers)
            elif not seen_heading:
                seen_heading = True
            else:
                tests.append(_test_of(fields, f"{path}, line {number}"))
        return cls.of(rows, tests, range(len(rows)) if classes is None else classes)

    @functools.lru_cache(maxsize=MOST_KNOWN)  # noqa: B019 - a table is solved with many times
    def for_labels(self, labels: tuple[Any, ...]) -> CostTable:
        """The same with its classes as these labels, in their order if the matrix named them; InputError if not."""
        if self.classes is None:
            if len(labels) != len(self.matrix):
                found = f"the matrix is for {len(self.matrix)} classes, and y has {len(labels)}"
                raise InputError("costs", found, "give one row and column per class, or name the rows by classes=")
            return attrs.evolve(self, classes=labels)
        classes = named_labels(self.classes, labels)
        absent = [label for label in labels if label not in classes]
        if absent:
            found = f"the label {absent[0]!r} is not among the classes {self.classes!r}"
            raise InputError("costs", found, "add it, or rename")
        strange = [name for name in classes if name not in labels] if self.is_named else []
        if strange:
            raise InputError("costs", f"it names {strange[0]!r}, which is no label", f"the labels are {shown(labels)}")
        if not self.is_named:
            return attrs.evolve(self, classes=classes)
        order = [classes.index(label) for label in labels]
        return attrs.evolve(self, matrix=[[self.matrix[j][k] for k in order] for j in order], classes=labels)

    def feature_of(self, names: Mapping[int, str], n_columns: int, *, every: bool = True) -> list[int]:
        """For each of n_columns columns, of these names, the number of the test that makes it known, or NO_TEST.

        Raises InputError for columns of two tests and those that are not there (but for names, unless `every`).
        """
        place_of = {name: j for j, name in names.items()}
        owner = [NO_TEST] * n_columns
        for number, test in enumerate(self.tests):
            for j in _places(test, place_of, n_columns, every):
                if owner[j] != NO_TEST:
                    other = self.tests[owner[j]].name
                    found = f"column {names.get(j, j)!r} belongs to the tests {other!r} and {test.name!r}"
                    raise InputError("costs", found, "give every column to one feature")
                owner[j] = number
        return owner

    def group_of(self) -> list[int]:
        """For each test the number of its group; tests without one are alone in theirs."""
        known: dict[str, int] = {}
        n, tests = len(self.tests), enumerate(self.tests)
        return [n + at if test.group is None else known.setdefault(test.group, at) for at, test in tests]

    def prices(self, owner: Sequence[int]) -> tuple[Array, Array, Any]:
        """Eq. 9, m(F, f), of columns of these tests: (full, given, unit), whole numbers of a unit, int64.

        full[f] is what asking column f costs where nothing was asked above, given[g, f] where g was, which cannot make
        it dearer: m(F, f) is the least of them. Raises InputError for prices of too many digits.
        """
        tests, owners = [TestCost("", 0), *self.tests], np.array(owner, np.int64) - NO_TEST
        asked = [tests[test] for test in owners]
        prices = tuple(test.cost for test in asked), tuple(test.discounted for test in asked)
        (full, discounted), unit = whole_numbers(prices)
        groups = np.array([NO_TEST, *self.group_of()])[owners]
        given = np.where((groups[:, None] == groups) & (groups != NO_TEST), discounted, full)
        given[owners[:, None] == owners] = 0
        return full, given, unit

    def all_tests(self) -> Exact:
        """The cost of all tests at full price."""
        return exact_number(sum(Fraction(test.cost) for test in self.tests))


@functools.lru_cache(maxsize=MOST_KNOWN)
def whole_numbers(table: tuple[tuple[Any, ...], ...]) -> tuple[Array, Any]:
    """(the numbers as whole multiples, int64, of their unit, the unit); raises InputError where they do not fit."""
    whole, unit = exact_integers(np.array(table, object), "costs")
    if whole.dtype == object:
        raise InputError("costs", "they have too many digits beside one another", "round them to fewer digits")
    return whole, int(unit) if unit.denominator == 1 else unit


def _numbers(fields: list[str]) -> list[Any] | None:
    """The decimals that are written, or NaN and infinities, for whoever refuses them; None where one is no number."""
    try:
        floats = list(map(float, fields))
    except ValueError:
        return None
    return [read_decimal(x, "costs") if math.isfinite(y) else y for x, y in zip(fields, floats, strict=True)]


def _test_of(fields: list[str], place: str) -> TestCost:
    try:
        name, cost, discounted, group, first, last = fields
        ends = int(first), int(last)
        prices = read_decimal(cost, "costs"), read_decimal(discounted, "costs")
    except ValueError:
        remedy = "write name, test cost, discounted cost, group, first and last column"
        raise InputError("costs", f"{place}: {' '.join(fields)[:200]!r}", remedy) from None
    if not 0 <= ends[0] <= ends[1] < _MOST_COLUMNS:
        raise InputError("costs", f"{place}: columns {ends[0]} to {ends[1]}", "give the first column before the last")
    return TestCost(name, *prices, None if group == _ALONE else group, tuple(range(ends[0], ends[1] + 1)))


def _places(test: TestCost, place_of: Mapping[str, int], n_columns: int, every: bool) -> list[int]:
    if test.columns is None:
        made_of = re.compile(re.escape(test.name) + r"\s*([=<>\[].*)?", re.DOTALL)
        found = [j for name, j in place_of.items() if made_of.fullmatch(name)]
        if every and not found:
            known = ", ".join(map(repr, list(place_of)[:8]))
            absent = f"there is no column of the feature {test.name!r}"
            raise InputError("costs", absent, f"the columns are {known} ...")
        return found
    places = []
    for column in test.columns:
        if isinstance(column, str) and not every and column not in place_of:
            continue
        j = place_of.get(column, NO_TEST) if isinstance(column, str) else int(column)
        if not 0 <= j < n_columns:
            absent = f"the test {test.name!r} is of column {column!r}, which is not there"
            raise InputError("costs", absent, f"name a column, or give a place from 0 to {n_columns - 1}")
        places.append(j)
    return places
