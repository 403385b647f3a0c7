"""A column: its name and kind, its values in the order of their codes, and how values become codes.

Numbers, times and steps of a scale are ordered: every threshold is a question (`ordered`). Others have a child per
category, in declared or sorted order. A gap is a category of its own, the last one; of more values than a column may
have categories, the most frequent have a child each and the others share one. A value that the data did not have goes
with those others, or takes the branch of the most frequent value; in a column of 0 and 1 it is answered no.
"""

from __future__ import annotations

import itertools
import re
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from streed.data.ordered import Cut, Kind, OrderedValues, distinct_numbers, threshold_text
from streed.data.reading import Values, read_column
from streed.data.table import Table, binary_codes, read_input
from streed.errors import InputError, brief, shown
from streed.exact import Array

MOST_CATEGORIES = 256
"""Codes are bytes."""

NUMBER = re.compile(r"[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?|[+-]?inf(inity)?", re.IGNORECASE)
"""A number as files have them; more zeros before it make a name."""

_NOTATION = re.compile(rf"{NUMBER.pattern}|(?=[^0-9]*[0-9])[\W\d_]*", re.IGNORECASE)
"""A number, or digits and signs: numbers and dates as people write them."""

_FEW, _DIFFERENT = 10, 0.5
"""More texts than these, of which more than this share of the rows differ, name rows, not categories."""


@attrs.frozen
class Column:
    """A column as the caller named it."""

    name: str
    categories: tuple[Any, ...]
    """The values in code order, then what `other` and gaps are called. A binary column has two, left and right; one
    that is constant and neither 0 nor 1 has one. An ordered column of categories has them in their order, any other
    ordered one has none."""
    multiway: bool
    """Whether a split has one child per category; a binary column has two children."""
    scale: Kind | None = None
    """Of an ordered column, what its values are: a split is at a threshold, and has two children."""
    has_gaps: bool = False
    """Whether rows had no value when it was first read; a column of categories has a child for them."""
    zone: str | None = None
    """Of dates that have one."""
    other: bool = False
    """Whether values that have no child of their own share one."""
    usual: int = attrs.field(default=0, eq=False, repr=False)
    """The code of values that the data did not have, of a column that is not ordered."""
    one_hot: bool = False
    """Whether yes/no questions are made of it, see `questions`; of a raw table's columns."""
    thresholds: tuple[int | float, ...] = ()
    """Those that are asked about, ascending, on the column's scale."""
    note: str = attrs.field(default="", eq=False)
    """What was found in it, and what was left out and why."""

    @property
    def kind(self) -> Kind:
        """What the column holds."""
        return self.scale or (Kind.BOOLEAN if self.known == (0, 1) and not self.other else Kind.CATEGORY)

    @property
    def is_plain(self) -> bool:
        """Whether the values are their own codes: a column of 0/1 or False/True."""
        return not self.multiway and self.kind is Kind.BOOLEAN

    @property
    def known(self) -> tuple[Any, ...]:
        """The categories that are values."""
        gaps = self.has_gaps and self.scale is None
        return self.categories[: len(self.categories) - gaps - self.other]

    def written(self, cut: Cut) -> str:
        """The threshold of a cut of this ordered column as text; raises ValueError where the cut has none."""
        if cut.threshold is None or self.scale is None:
            raise ValueError(f"no threshold of column {self.name!r}")
        return threshold_text(cut.threshold, self.scale, self.categories, self.zone)

    @property
    def questions(self) -> list[tuple[str, Cut | int]]:
        """The name of each yes/no question, and the cut whose first child it asks for, or the code.

        A number, time or step of a scale `x` gives `x<=t` for each threshold t, a truth value its own column. A
        category gives `x=c` for each category c, or one question where there are but two. A gap is a category of its
        own, `x=missing`, and every other question about it is answered no.
        """
        name, n, asked = self.name, len(self.known), list[tuple[str, Cut | int]]()
        for cut in (Cut(threshold, 1) for threshold in self.thresholds):
            asked.append((f"{name}<={self.written(cut)}", cut))
        if self.kind is Kind.BOOLEAN:
            asked = [(name, 1)]
        elif self.scale is None:
            first = 1 if n == len(self.categories) == 2 else 0
            asked = [(f"{name}={self.known[code]}", code) for code in range(first, n)]
        if self.has_gaps:
            last = self.categories[-1] if self.scale is None else names_of_rest(self.categories, False, True)[0]
            asked.append((f"{name}={last}", len(self.categories) - 1 if self.scale is None else Cut(None, 1)))
        return asked

    @property
    def outputs(self) -> tuple[Column, ...]:
        """The columns that are made of it, in order: its questions, none where it is left out, or itself."""
        return tuple(Column(name, (0, 1), False) for name, _ in self.questions) if self.one_hot else (self,)

    def answers(self, raw: Values, unseen: str) -> Array:
        """(m, k) uint8 of new values, for the k outputs; `unseen` and errors as of `codes`."""
        questions = self.questions if self.one_hot else []
        made = np.zeros((len(raw.values), len(questions)), np.uint8)
        if self.scale is None:
            found = self.codes(raw, unseen)
            if not self.one_hot:
                return found[:, None]
            for at, (_, code) in enumerate(questions):
                made[:, at] = found == code
        elif questions:
            numbers = self.numbers(raw, unseen)
            for at, (_, cut) in enumerate(questions):
                assert isinstance(cut, Cut)
                made[:, at] = cut.sides(np.asarray(numbers.values), numbers.missing) ^ (cut.threshold is not None)
        return made

    def codes(self, read: Values, unseen: str) -> Array:
        """(m,) uint8: the codes of new values; `unseen` as in `_unseen_values`. Raises InputError for another kind."""
        if self.kind is Kind.BOOLEAN:
            numbers = numbers_like(self.name, Kind.NUMBER, read)
            found = np.where(numbers == 1, 1, np.where(numbers == 0, 0, -1))
        else:
            found = places(read, self.known)
        missing = read.missing
        strange = (found < 0) & ~missing
        named = not self.one_hot and not self.is_plain
        way = f"take the branch of {self.categories[self.usual]!r}" if named else "are answered no"
        _unseen_values(self.name, read, strange & (not self.other) | missing & (not self.has_gaps), unseen, way)
        usual = self.usual if self.other or not self.one_hot else MOST_CATEGORIES - 1  # which no category has
        gap = len(self.categories) - 1 if self.has_gaps else usual
        return np.where(missing, gap, np.where(strange, usual, found)).astype(np.uint8)

    def numbers(self, read: Values, unseen: str) -> Values:
        """The values of new rows in this ordered column; a step that the scale does not have is above all others."""
        assert self.scale is not None
        way = "are answered no" if self.one_hot else "take the branch of more rows"
        missing = read.missing
        if not self.has_gaps:
            _unseen_values(self.name, read, missing, unseen, way)
        if self.scale is not Kind.CATEGORY:
            return Values(self.scale, numbers_like(self.name, self.scale, read, self.zone), missing)
        found = places(read, self.categories)
        strange = (found < 0) & ~missing
        _unseen_values(self.name, read, strange, unseen, "are answered no")
        return Values(self.scale, np.where(strange, len(self.categories), found), missing)


def code_columns(
    source: Table, names: tuple[str, ...] | None, listed: Collection[int]
) -> tuple[Array, dict[int, Column], dict[int, OrderedValues]]:
    """(codes (n, p), the columns but for those of an array that are plain 0/1, the values of ordered ones).

    Codes are uint8, and int32 where a column is ordered. `listed`: the numbers of the columns that the caller calls
    categorical.
    """
    plain = np.zeros(source.shape[1], bool)
    if (array := source.array) is not None:
        binary = binary_codes(array)
        if binary is not None:
            return binary, {}, {}
        plain = ((array == 0) | (array == 1)).all(axis=0)
    table = attrs.evolve(source, names=names)
    coded, ordered = dict[int, Column](), dict[int, OrderedValues]()
    codes: Array = np.zeros(source.shape, np.int32)
    for j, name in enumerate(table.all_names):
        if plain[j]:
            codes[:, j] = table.columns[j]
            continue
        read = table.read(j)
        scale = None if j in listed else _scale_of(read)
        if scale is None:
            coded[j], _ = column_of_categories(name, read, MOST_CATEGORIES, all_differ=j in listed)
            codes[:, j] = coded[j].codes(read, "error")
            continue
        categories = read.order or () if scale is Kind.CATEGORY else ()
        ordered[j], codes[:, j] = ranked(read, scale)
        coded[j] = Column(name, categories, False, scale, read.gaps is not None, read.zone)
    return codes if ordered else codes.astype(np.uint8), coded, ordered


def ranked(read: Values, scale: Kind) -> tuple[OrderedValues, Array]:
    """The values on a scale, and every row's rank, (n,) int32."""
    numbers = places(read, read.order or ()) if scale is Kind.CATEGORY else np.asarray(read.values)
    numbers = numbers.astype(np.int64) if numbers.dtype.kind == "b" else numbers
    present = numbers if read.gaps is None else numbers[~read.gaps]
    if present.dtype.kind == "f":
        present = present.astype(np.float64) + 0.0  # 0.0 for -0.0
    values, codes = distinct_numbers(present)
    ranks = codes.astype(np.int32)
    if read.gaps is not None:
        ranks = np.full(len(numbers), len(values), np.int32)
        ranks[~read.gaps] = codes
    return OrderedValues(values, scale, read.gaps is not None, np.arange(max(len(values) - 1, 0)), read.zone), ranks


def _scale_of(read: Values) -> Kind | None:
    """The scale of a column that is ordered: times, steps of a scale, numbers that are not 0 and 1 alone, gaps among
    these.
    """
    if read.kind is Kind.CATEGORY:
        steps = read.is_scale and read.order is not None and (len(read.order) > 2 or read.gaps is not None)
        return Kind.CATEGORY if steps else None
    if read.kind not in (Kind.NUMBER, Kind.BOOLEAN):
        return read.kind
    return None if read.gaps is None and is_binary(read) else Kind.NUMBER


def is_binary(read: Values) -> bool:
    """Whether all values are truth values, or 0 and 1."""
    if read.kind is Kind.BOOLEAN:
        return True
    values = read.present
    return bool(read.kind is Kind.NUMBER and ((values == 0) | (values == 1)).all())


def column_of_categories(
    name: str, read: Values, most: int, *, all_differ: bool = False
) -> tuple[Column, Mapping[Any, int]]:
    """A column of at most so many categories, those of gaps and of other values among them, and the rows of each value.

    None has a category of its own where nearly all differ, unless `all_differ` says that they may. Of more than `most`,
    the most frequent have that more than one row has.
    """
    gaps = read.gaps is not None
    if not gaps and is_binary(read):
        return Column(name, (False, True) if read.kind is Kind.BOOLEAN else (0, 1), False), {}
    values = [value for value in read.as_categories() if value is not None]
    counts = Counter(values)
    if infinite := {float("inf"), -float("inf")} & counts.keys():
        row = next(i for i, value in enumerate(read.as_categories()) if value in infinite)
        raise InputError("X", f"column {name!r} has an infinite value in row {row}", "use finite numbers")
    place = {value: at for at, value in enumerate(read.order or ())}
    asked, other = sorted(counts, key=place.__getitem__ if place else None), False
    left_out = not all_differ and read.order is None and len(counts) > max(_FEW, _DIFFERENT * len(values))
    if not all_differ and len(counts) > _FEW:
        _warn_of_numbers(name, counts, left_out)
    if left_out:
        asked, other = [], True
    elif len(counts) + gaps > most:
        other = True
        kept = set(sorted(asked, key=lambda value: -counts[value])[: most - 1 - gaps])
        asked = [value for value in asked if value in kept and counts[value] > 1]
    usual = len(asked) if other else max(range(len(asked)), key=lambda at: counts[asked[at]], default=0)
    categories = (*asked, *names_of_rest(asked, other, gaps))
    return Column(name, categories, len(categories) > 2, None, gaps, None, other, usual), counts


def _warn_of_numbers(name: str, texts: Iterable[Any], left_out: bool) -> None:
    """Warns of texts of which most are numbers, where some are none; where the column is left out, of any notation."""
    seen = [_is_number(text, _NOTATION if left_out else NUMBER) for text in itertools.islice(texts, 100)]
    if 2 * sum(seen) > len(seen):
        wrong = next(itertools.filterfalse(_is_number, texts), None)
        if left_out or wrong is not None:
            said = "left out, as nearly all differ" if left_out else "categories"
            why = "give them as numbers" if wrong is None else f"{brief(wrong)} is none: write 1234.5, or 2024-12-31"
            warnings.warn(f"column {name!r} has texts, most of them numbers, which are {said}; {why}", stacklevel=2)


def _is_number(text: Any, pattern: re.Pattern[str] = NUMBER) -> bool:
    return isinstance(text, str) and pattern.fullmatch(text) is not None


def names_of_rest(categories: Sequence[Any], other: bool, gaps: bool) -> list[str]:
    """What the children of other values and of gaps are called; in brackets where a category is called so."""
    rest = [name for name, wanted in (("other", other), ("missing", gaps)) if wanted]
    return [f"({name})" if name in categories else name for name in rest]


def places(read: Values, categories: Sequence[Any]) -> Array:
    """(m,) int64: the place of each value among the categories; -1 of gaps and of others."""
    values, known = read.as_categories(), {category: place for place, category in enumerate(categories)}
    if any(isinstance(category, str) for category in categories):
        values = [value if value is None else str(value) for value in values]
    return np.fromiter((-1 if value is None else known.get(value, -1) for value in values), np.int64, len(values))


def numbers_like(name: str, kind: Kind, read: Values, zone: str | None = None) -> Array:
    """(m,) the numbers of new values in such a column, any where missing; raises InputError for another kind."""
    if read.missing.all():
        return np.zeros(len(read.values))
    truth = (Kind.NUMBER, Kind.BOOLEAN)
    if not (kind is read.kind or (kind in truth and read.kind in truth)):
        found = f"column {name!r} has values such as {read.example()!r}, and held {_NAMES[kind]} before"
        raise InputError("X", found, "give the same kind of values")
    if kind is Kind.DATE and (zone is None) != (read.zone is None):
        has, held = ("a zone", "none") if zone is None else ("no zone", zone)
        found = f"column {name!r} has dates such as {read.example()} of {has}, and held dates of {held} before"
        raise InputError("X", found, "give dates as the data had them")
    assert isinstance(read.values, np.ndarray)
    return read.values.astype(np.int64) if read.values.dtype.kind == "b" else read.values


_NAMES = {kind: f"{kind.value}s" for kind in Kind} | {Kind.BOOLEAN: "truth values", Kind.CATEGORY: "texts"}

UNSEEN = ("error", "warn", "ignore")


def _unseen_values(name: str, read: Values, rows: Array, unseen: str, way: str) -> None:
    """Raises InputError, or warns `way`, where some rows (m,) bool have a value that the data did not have."""
    if unseen == "ignore" or not rows.any():
        return
    row = int(np.argmax(rows))
    value = read.as_categories()[row]
    what = "a missing value" if value is None else f"the value {value!r}"
    found = f"column {name!r} has {what} in row {row} (counted from 0), which its data did not have"
    if unseen == "error":
        remedy = "fill it in or leave the row out, or let unseen values be answered no: unseen='ignore'"
        raise InputError("X", found, remedy)
    warnings.warn(f"{found}; {int(rows.sum())} such values {way}", UserWarning, stacklevel=2)


def distinct(
    values: Array | list[Any], argument: str, what: str, by: Callable[[Any], Any] | None = None
) -> tuple[tuple[Any, ...], Array]:
    """The sorted distinct values of a column as plain objects, and the number of each row's, (n,) int64.

    `by`: what objects are sorted by. Raises InputError where they cannot be.
    """
    if isinstance(values, np.ndarray):
        if values.dtype.kind in "buif":
            numbers, codes = distinct_numbers(values)
            return tuple(numbers.tolist()), codes
        values = values.tolist()
    try:
        found = tuple(sorted(dict.fromkeys(values), key=by))
    except TypeError:
        kinds = ", ".join(sorted({type(v).__name__ for v in values}))
        told = f"{what} has values that cannot be sorted together (types: {kinds})"
        raise InputError(argument, told, "use one type of values") from None
    place = {value: code for code, value in enumerate(found)}
    return found, np.fromiter((place[value] for value in values), dtype=np.int64, count=len(values))


def raw_columns(X: Any, names: Sequence[str], used: Collection[int]) -> tuple[int, Callable[[int], Values]]:
    """(how many rows a table has, a function that reads one of its columns of these names).

    `used`: the numbers of the columns that must be there, which are found by name in a table that has names. Raises
    InputError for columns that are not there.
    """
    source = read_input(X)
    if source.names is None:
        if len(source.columns) != len(names):
            found = f"it has {len(source.columns)} columns, not {len(names)}"
            raise InputError("X", found, "give the columns of the first data, in that order")
        place_of = {j: j for j in used}
    else:
        by_name = {name: i for i, name in enumerate(source.names)}
        absent = [names[j] for j in sorted(used) if names[j] not in by_name]
        if absent:
            found = f"it has no column named {shown(absent)}"
            raise InputError("X", found, f"its columns are {shown(source.names)}; rename them")
        place_of = {j: by_name[names[j]] for j in used}

    return len(source), lambda j: read_column(source.columns[place_of[j]], f"column {names[j]!r}")
