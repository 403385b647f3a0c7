"""A tree as source: a Python function of a row, which needs no import of streed, or an SQL expression.

Both are written from one plan of questions; a dialect says how values, conditions and branches are spelled.
"""

from __future__ import annotations

import keyword
import math
import numbers
import sys
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

import attrs

from streed.data.ordered import TIMES, Kind
from streed.data.single_values import clock_text, date_text, moment_of
from streed.errors import InputError, brief, check_kind
from streed.export.questions import ABOVE, AT_MOST, GAP, HOLDS, ONE_OF, Case, Question, plan
from streed.tree import Tree, told, tree_of


def to_python(
    model: Any, name: str = "predict", *, by_position: bool = False, conditions: Mapping[str, str] | None = None
) -> str:
    """The source of a function `name(row)` that gives what the tree predicts for a row of the raw table.

    `model`: a tree, a result or a fitted estimator. A row is a mapping from the table's column names to values (x0, x1,
    ... where it had none), or a sequence of the values of its columns if `by_position`. Values may be texts, as
    `csv.DictReader` reads them, but of durations. None, NaN and the empty text are gaps (the empty text is none where
    it is a category). The function raises ValueError for a value that it cannot read, or that the tree has no answer
    to. `conditions`: by the name of a binary column, a Python expression of `row` that holds where the column is 1,
    such as {"age<=30": "row['age'] <= 30"}. Raises InputError for a name that is none, for conditions of unknown
    columns, and for labels that have no literal.

    >>> import streed
    >>> from streed.tasks import Accuracy
    >>> tree = streed.solve(Accuracy(), {"sex": ["f", "m", "m"]}, ["no", "yes", "yes"], max_depth=1).tree
    >>> print(to_python(tree))
    def predict(row):
        if row['sex'] == 'f':
            return 'no'
        return 'yes'
    <BLANKLINE>
    """
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise InputError("name", f"{brief(name)} is no name of a function", "give letters, digits and underscores")
    dialect = _Python(name, by_position)
    made = [(name, _source(tree_of(model, "model"), conditions, dialect)), *reversed(dialect.functions)]
    functions = ["\n".join([f"def {title}(row):", *_indented(lines, "    ")]) + "\n" for title, lines in made]
    text = "\n".join(functions)
    functions[:0] = [source.format(name=name) for what, source in _HELPERS.items() if f"_{name}_{what}(" in text]
    text = "\n\n".join(functions)
    imports = [said for used, said in _IMPORTS.items() if used in text]
    return "\n".join([*imports, "", "", text] if imports else [text])


def to_sql(
    model: Any, table: str | None = None, name: str = "prediction", *, conditions: Mapping[str, str] | None = None
) -> str:
    """The CASE expression of what the tree predicts, or the query of all columns and this one if `table` is given.

    DuckDB, SQLite and PostgreSQL read it. `model`: a tree, a result or a fitted estimator; the columns are those of the
    raw table (x0, x1, ... where it named none), NULL is a gap, dates may be dates, timestamps or texts by ISO 8601, and
    durations are intervals. Names are quoted as the standard says; a value that the tree has no answer to gives NULL.
    Fractions become decimals. `conditions`: by the name of a binary column, an SQL condition that holds where the
    column is 1, such as {"age<=30": "age <= 30"}. Raises InputError for conditions of unknown columns, and for labels
    that have no literal.

    >>> import streed
    >>> from streed.tasks import Accuracy
    >>> tree = streed.solve(Accuracy(), {"sex": ["f", "m", "m"]}, ["no", "yes", "yes"], max_depth=1).tree
    >>> print(to_sql(tree, "people"))
    SELECT *, CASE
      WHEN "sex" = 'f' THEN 'no'
      ELSE 'yes'
    END AS "prediction"
    FROM "people"
    """
    for argument, given in (("table", "" if table is None else table), ("name", name)):
        check_kind(argument, given, str)
    expression = "\n".join(_source(tree_of(model, "model"), conditions, _Sql()))
    if table is None:
        return expression
    return f"SELECT *, {expression} AS {_quoted(name)}\nFROM {_quoted(table)}"


def _source(tree: Tree, given: Mapping[str, str] | None, dialect: _Python | _Sql) -> list[str]:
    """The lines of the root, made from the leaves up."""
    questions, made = plan(tree, given), dict[int, list[str]]()
    for seen in reversed(told(tree)):
        if not seen.children:
            made[seen.place] = [dialect.leaf + dialect.literal(seen.shows)]
            continue
        question, below = questions[seen.place], [made[child] for child in seen.children]
        cases = [(dialect.condition(question, case), below[case.child]) for case in question.order]
        rest = None if question.otherwise is None else below[question.otherwise]
        made[seen.place] = dialect.branch(seen.place, question, cases, rest)
    return made[0]


def _indented(lines: list[str], by: str) -> list[str]:
    return [by + line for line in lines]


_Cases = list[tuple[str, list[str]]]
"""The condition of each case, and the lines of its child."""


class _Dialect:
    """How values are spelled."""

    leaf: ClassVar[str] = ""

    def word(self, value: Any) -> str:
        """A text, a truth value, a fraction or None as source."""
        raise NotImplementedError

    def literal(self, value: Any) -> str:
        """The value as source; raises InputError where it has none."""
        if value is None or isinstance(value, (bool, str, Fraction)):
            return self.word(value)
        if isinstance(value, numbers.Integral) or (isinstance(value, float) and math.isfinite(value)):
            return repr(float(value) if isinstance(value, float) else int(value))
        raise InputError("tree", f"{value!r} of type {type(value).__name__} has no literal", "use texts or numbers")

    def one_of(self, column: str, values: tuple[Any, ...], equal: str, among: str) -> str:
        """The condition that a column is one of the values."""
        written = [self.literal(value) for value in values]
        return f"{column} {equal} {written[0]}" if len(written) == 1 else f"{column} {among} ({', '.join(written)})"


class _Sql(_Dialect):
    """CASE expressions, in the words that DuckDB, SQLite and PostgreSQL share."""

    def word(self, value: Any) -> str:
        if isinstance(value, str):
            return _quoted(value, "'")
        return repr(float(value)) if isinstance(value, Fraction) else str(value).upper().replace("NONE", "NULL")

    def branch(self, place: int, question: Question, cases: _Cases, rest: list[str] | None) -> list[str]:
        parts = [(f"WHEN {condition} THEN ", below) for condition, below in cases]
        parts += [] if rest is None else [("ELSE ", rest)]
        lines = (line for said, (first, *more) in parts for line in _indented([said + first, *more], "  "))
        return ["CASE", *lines, "END"]

    def condition(self, question: Question, case: Case) -> str:
        column = _quoted(question.column.name)
        if case.relation == HOLDS:
            return str(case.values[0])
        if case.relation == ONE_OF:
            if question.column.kind is Kind.BOOLEAN and all(isinstance(value, int) for value in case.values):
                column = f"CAST({column} AS INTEGER)"  # PostgreSQL compares no truth value with a number
            return self.one_of(column, case.values, "=", "IN")
        if case.relation not in (AT_MOST, ABOVE):
            return f"{column} IS {'' if case.relation == GAP else 'NOT '}NULL"
        limit, relation = case.values[0], case.relation
        if question.column.kind in TIMES:
            column, written = _sql_time(column, question.column.kind, limit, question.column.zone)
        elif isinstance(limit, float) and math.isinf(limit):
            # Up to minus infinity is below all finite numbers, above it all that is not.
            relation = "<" if relation == AT_MOST else ">="
            written = _sql_number(math.copysign(sys.float_info.max, limit))
        else:
            written = _sql_number(limit)
        return f"{column} {relation} {written}"


@attrs.define
class _Python(_Dialect):
    """Functions of a row; the levels that are too deep for one are left to others."""

    name: str
    by_position: bool
    functions: list[tuple[str, list[str]]] = attrs.field(init=False, factory=list)
    """The name and the lines of those for deeper levels, the deepest first."""
    leaf: ClassVar[str] = "return "

    def word(self, value: Any) -> str:
        if isinstance(value, Fraction):
            return f"Fraction({value.numerator}, {value.denominator})"
        return repr(str(value) if isinstance(value, str) else value)

    def branch(self, place: int, question: Question, cases: _Cases, rest: list[str] | None) -> list[str]:
        lines = [line for said, below in cases for line in (f"if {said}:", *_indented(below, "    "))]
        if rest is None:
            # Before Python 3.12 no f-string may have a backslash in its braces, which repr writes for control
            # characters too.
            plain = not set(repr(question.column.name)[1:-1]) & set("\\{}\"'")
            told = f'f"unknown value {{{self._value(question)}!r}} of column {question.column.name!r}"'
            rest = [f"raise ValueError({told if plain else repr(f'unknown value of column {question.column.name!r}')})"]
        lines += rest
        if place == 0 or all(not line.startswith("    " * _DEEPEST) for line in lines):
            return lines
        self.functions.append((f"_{self.name}_{place}", lines))
        return [f"return _{self.name}_{place}(row)"]

    def _value(self, question: Question) -> str:
        return f"row[{question.place if self.by_position else question.column.name!r}]"

    def condition(self, question: Question, case: Case) -> str:
        value = self._value(question)
        if case.relation == HOLDS:
            return str(case.values[0])
        if case.relation == ONE_OF:
            return self.one_of(self._read(question, case, value), case.values, "==", "in")
        if case.relation in (AT_MOST, ABOVE):
            return self._compared(question, case, value)
        gap = f"_{self.name}_gap({value})"
        if "" in question.texts:
            gap = f"({value} is None or {value} != {value})"
        return gap if case.relation == GAP else f"not {gap}"

    def _compared(self, question: Question, case: Case, value: str) -> str:
        limit = case.values[0]
        if question.column.kind is Kind.DATE:
            read = f"_{self.name}_moment({value}, {question.column.zone is not None})"
            written = f"datetime.datetime.fromisoformat({date_text(limit, question.column.zone)!r})"
        elif question.column.kind is Kind.TIME:
            read, written = f"_{self.name}_clock({value})", f"datetime.time.fromisoformat({clock_text(limit)!r})"
        elif question.column.kind is Kind.DURATION:
            read, written = f"_{self.name}_span({value})", f"datetime.timedelta(microseconds={limit})"
        else:
            written = f"float({str(limit)!r})" if isinstance(limit, float) and math.isinf(limit) else repr(limit)
            return f"_{self.name}_number({value}) {case.relation} {written}"
        return f"{read} is not None and {read} {case.relation} {written}"

    def _read(self, question: Question, case: Case, value: str) -> str:
        """The value to be compared with categories: as a number, or as a text where other things may be written so."""
        if all(isinstance(each, numbers.Real) for each in case.values):
            return f"_{self.name}_number({value})"
        other = any(each[:1].isdigit() or each[:1] in "+-.(" or each in _OTHERS for each in question.texts if each)
        return f"_{self.name}_text({value})" if other and question.column.kind is Kind.CATEGORY else value


_DEEPEST = 18
"""Levels of `if` in one function: Python's parser takes a hundred levels of indentation, readers far fewer."""

_OTHERS = ("True", "False", "inf", "nan", "None")

_IMPORTS = {"datetime.": "import datetime", "Fraction(": "from fractions import Fraction"}

_HELPERS = {
    "gap": '''def _{name}_gap(value):
    """Whether the value is a gap: None, NaN or the empty text."""
    return value is None or value == "" or value != value
''',
    "number": '''def _{name}_number(value):
    """The value as a number, also of a text; NaN of a gap."""
    if value is None or value == "":
        return float("nan")
    if not isinstance(value, str):
        return value
    if value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    try:
        return int(value)
    except ValueError:
        return float(value)
''',
    "text": '''def _{name}_text(value):
    """The value as the tree's categories are written; None of a gap."""
    if value is None or value != value:
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else str(value)
''',
    "moment": '''def _{name}_moment(value, aware):
    """A date, datetime or text by ISO 8601 as a datetime, which has a zone if `aware`; None of a gap."""
    if value is None or value == "" or value != value:
        return None
    if isinstance(value, str):
        value = datetime.datetime.fromisoformat(value)
    elif hasattr(value, "start_time"):
        value = value.start_time.to_pydatetime()
    elif not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day)
    if (value.tzinfo is not None) != aware:
        raise ValueError(str(value) + (" has no zone" if aware else " has a zone"))
    return value
''',
    "clock": '''def _{name}_clock(value):
    """A clock time or a text by ISO 8601 as a time; None of a gap."""
    if value is None or value == "" or value != value:
        return None
    return datetime.time.fromisoformat(value) if isinstance(value, str) else value
''',
    "span": '''def _{name}_span(value):
    """A timedelta; None of a gap."""
    if value is None or value == "" or value != value:
        return None
    if isinstance(value, str):
        raise ValueError("give a datetime.timedelta, not the text " + repr(value))
    return value
''',
}
"""What reads the values of a row, by name, for those functions that need it."""


def _quoted(text: str, mark: str = '"') -> str:
    """A name, or a text, as SQL has it; raises InputError for one that no database takes."""
    if "\0" in text:
        raise InputError("tree", f"{text!r} has a NUL character, which SQL cannot hold", "rename it")
    return mark + text.replace(mark, 2 * mark) + mark


def _sql_time(column: str, kind: Kind, threshold: int, zone: str | None) -> tuple[str, str]:
    """(the column, the threshold) of a date, clock time or duration, as SQL compares them.

    Those without a zone are texts, which sort as they do: an end of the microseconds that is left out is a beginning of
    the rest, and sorts before it. Others are moments and intervals as PostgreSQL and DuckDB know them.
    """
    if kind is Kind.DURATION:
        return column, f"INTERVAL '{threshold} microseconds'"
    if zone is not None:
        return f"CAST({column} AS TIMESTAMP WITH TIME ZONE)", f"TIMESTAMP WITH TIME ZONE '{_full(threshold, zone)}'"
    text = f"CAST({column} AS VARCHAR(40))"
    if kind is Kind.TIME:
        return text, f"'{_full(threshold)[11:]}'"
    return f"REPLACE({text}, 'T', ' ')", f"'{_full(threshold)}'"


def _sql_number(value: float) -> str:
    """The number as SQL; with an exponent where databases would not read all digits of a decimal as a double."""
    written = repr(value)
    if isinstance(value, int):
        return written
    return f"{written}e0" if "e" not in written and len(written.strip("-").replace(".", "")) > 15 else written


def _full(moment: int, zone: str | None = None) -> str:
    return moment_of(moment, zone).isoformat(" ", "microseconds")
