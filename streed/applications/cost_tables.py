"""What errors and tests cost: a matrix of misclassification costs and a price list of tests, exact numbers.

A test makes one original feature known. Columns that were made of the same feature are known together, so further
questions about them are free; tests of one group share work (one blood sample, say), so after the first of them the
others cost their discounted price.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from streed.data.text_file import read_text
from streed.errors import InputError
from streed.exact import Range, exact_number, read_decimal

Exact = int | Fraction

_MOST_KNOWN = 16
"""What is worked out once for a table is kept for so many keys."""

NO_TEST = -1
"""In place of a test's number: columns that cost nothing."""

_MOST_BYTES = 1 << 24
"""Of a file of costs."""

_MOST_COLUMNS = 10_000_000

_ALONE = "x"
"""In files, the group of tests that are in none."""


def _is_name(test: Any, attribute: Any, value: Any) -> None:
    if not isinstance(value, str):
        raise InputError("costs", f"a test is named {value!r}", "give the name of a feature as text")


def _is_group(test: Any, attribute: Any, value: Any) -> None:
    if not (value is None or isinstance(value, str)):
        raise InputError("costs", f"test {test.name!r} has the group {value!r}", "give a text, or None")


def _exact(value: Any) -> Exact:
    return Range().read("costs", value)  # type: ignore[no-any-return]


def _price(test: Any, attribute: Any, value: Any) -> None:
    Range(0, meaning=f"the price ({attribute.name}) of test {test.name!r}").read("costs", value)


def _named_columns(columns: Any) -> tuple[int | str, ...] | None:
    if columns is None:
        return None
    listed = (columns,) if isinstance(columns, (int, str)) else columns
    known = isinstance(listed, Iterable) and not isinstance(listed, Mapping)
    made = tuple(listed) if known else ()
    if not known or not all(isinstance(column, (int, np.integer, str)) for column in made):
        raise InputError("costs", f"a test is of the columns {columns!r}", "give names or positions of columns")
    return made


@attrs.frozen
class TestCost:
    """The price of making one original feature known."""

    __test__ = False
    """It is no test case of pytest's."""

    name: str = attrs.field(validator=_is_name)
    cost: Exact = attrs.field(converter=_exact, validator=_price)
    discounted: Exact = attrs.field(converter=_exact, validator=_price)
    """What it costs once another test of its group was made; the cost itself, unless given."""
    group: str | None = attrs.field(default=None, validator=_is_group)
    columns: tuple[int | str, ...] | None = attrs.field(default=None, converter=_named_columns)
    """The columns made of the feature, by name or position; None: those called `name`, or `name` with =, <, > or [
    behind it, as `colour=red`."""

    @discounted.default
    def _undiscounted(self) -> Exact:
        return self.cost

    def __attrs_post_init__(self) -> None:
        if self.discounted > self.cost:
            found = f"test {self.name!r} costs {self.cost}, and {self.discounted} with its discount"
            raise InputError("costs", found, "give a discounted price that is not above the full one")


def _matrix(matrix: Any) -> tuple[tuple[Exact, ...], ...]:
    if isinstance(matrix, (str, bytes, Mapping)) or not isinstance(matrix, Iterable):
        raise InputError("costs", f"{matrix!r} is no matrix", "give a nested list or a square array of costs")
    rows = [row if isinstance(row, (list, tuple, np.ndarray)) and np.ndim(row) else [row] for row in matrix]
    advice = "or add a constant to row {} of the matrix, which changes no tree's rank"
    limits = [Range(0, meaning=advice.format(j)) for j in range(len(rows))]
    return tuple(
        tuple(limit.read("costs", _number_of(cost)) for cost in row) for limit, row in zip(limits, rows, strict=True)
    )


def _number_of(cost: Any) -> Any:
    """The cost; 0 or 1 for truth values, of which matrices of comparisons are."""
    return int(cost) if isinstance(cost, (bool, np.bool_)) else cost


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


def _unlike(classes: Iterable[Any]) -> set[Any]:
    """The distinct classes; none where they are no labels."""
    try:
        return set(classes)
    except TypeError:
        return set()


@attrs.frozen
class CostTable:
    """matrix[j][k], the cost of giving a row of class j the label k, and the prices of tests.

    Classes are in sorted order, or as `classes` lists them. Make one with `of` or `read`.
    """

    matrix: tuple[tuple[Exact, ...], ...] = attrs.field(converter=_matrix)
    tests: tuple[TestCost, ...] = attrs.field(default=(), converter=_tests)
    classes: tuple[Any, ...] | None = None

    def __attrs_post_init__(self) -> None:
        exact, classes = self.matrix, self.classes
        if not exact or any(len(row) != len(exact) for row in exact):
            shape = f"{len(exact)} rows of {', '.join(map(str, sorted({len(row) for row in exact})))} entries"
            raise InputError("costs", f"the matrix has {shape}", "give one row and one column per class")
        if classes is not None and (not isinstance(classes, tuple) or len(_unlike(classes)) != len(exact)):
            raise InputError("costs", f"there are {len(exact)} rows for the classes {classes!r}", "give one each")

    @classmethod
    def of(cls, matrix: Any, tests: Iterable[TestCost] = (), classes: Sequence[Any] | None = None) -> CostTable:
        """The table of a square array or nested list of costs >= 0; floats are read as the decimals they print as.

        Raises InputError for a matrix that is not square, has NaN or negative entries, and for tests of equal name.
        """
        return cls(matrix, tuple(tests), None if classes is None else tuple(classes))

    @classmethod
    def read(cls, path: Any, classes: Sequence[Any] | None = None) -> CostTable:
        """The table of a text file: K rows of K costs, a line of headings, then a line per feature.

        A feature's line has its name, the test's cost, its discounted cost, its group ("x": none), the first and the
        last of its columns, counted from 0; blanks, commas or semicolons separate. The classes are 0 to K - 1 unless
        given. Raises InputError that names the line at fault, or says why the file cannot be read.
        """
        lines = read_text(Path(path), "costs", _MOST_BYTES).splitlines()
        matrix: list[list[str]] = []
        tests: list[TestCost] = []
        seen_heading = False
        for number, line in enumerate(lines, 1):
            fields = [field for field in re.split(r"[\s,;]+", line.strip()) if field]
            if not fields:
                continue
            if not seen_heading and all(map(_is_number, fields)):
                matrix.append(fields)
            elif not seen_heading:
                seen_heading = True
            else:
                tests.append(_test_of(fields, f"{path}, line {number}"))
        rows = [[_number(field) for field in row] for row in matrix]
        return cls.of(rows, tests, range(len(rows)) if classes is None else classes)

    def feature_of(self, names: Mapping[int, str], n_columns: int, *, every: bool = True) -> list[int]:
        """For each of n_columns columns the number of the test that makes it known, or NO_TEST; `names`: those known.

        Raises InputError for columns of two tests, for places beyond n_columns and, unless `every` is False, for
        names of columns that are not there.
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

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """What `make` gives, worked out once for the table and the key: a table is solved with many times."""
        found = self._known.get(key)
        if found is None:
            found = make()
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = found
        return found

    @functools.cached_property
    def _known(self) -> dict[Any, Any]:
        return {}

    def group_of(self) -> list[int]:
        """For each test the number of its group; tests without one are alone in theirs."""
        known: dict[str, int] = {}
        return [
            len(self.tests) + number if test.group is None else known.setdefault(test.group, number)
            for number, test in enumerate(self.tests)
        ]

    def price(self, path: Iterable[int], split: int, owner: Sequence[int]) -> Exact:
        """m(F, f) of STreeD, Eq. 9: what asking column `split` costs a row where `path` was asked above.

        `owner` is `feature_of` of the columns.
        """
        test = owner[split]
        if test == NO_TEST:
            return 0
        made = {owner[j] for j in path} - {NO_TEST}
        if test in made:
            return 0
        groups = self.group_of()
        known = any(groups[other] == groups[test] for other in made)
        return self.tests[test].discounted if known else self.tests[test].cost

    def all_tests(self) -> Exact:
        """The cost of all tests at full price."""
        return exact_number(sum(Fraction(test.cost) for test in self.tests))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _number(text: str) -> Fraction | float:
    """The decimal that is written, or NaN or infinity, for whoever refuses them."""
    return read_decimal(text, "costs") if math.isfinite(float(text)) else float(text)


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
    columns = tuple(range(ends[0], ends[1] + 1))
    return TestCost(name, *prices, None if group == _ALONE else group, columns)


def _places(test: TestCost, place_of: Mapping[str, int], n_columns: int, every: bool) -> list[int]:
    if test.columns is None:
        made_of = re.compile(re.escape(test.name) + r"\s*([=<>\[].*)?", re.DOTALL)
        found = [j for name, j in place_of.items() if made_of.fullmatch(name)]
        if every and not found:
            known = ", ".join(map(repr, list(place_of)[:8]))
            raise InputError(
                "costs", f"there is no column of the feature {test.name!r}", f"the columns are {known} ..."
            )
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
