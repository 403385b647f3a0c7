"""A tree as Python source: a function of a row, which needs no import of streed."""

from __future__ import annotations

import keyword
import math
import numbers
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from streed.data.moments import clock_text, date_text
from streed.data.ordered import Kind
from streed.errors import InputError
from streed.export.questions import ABOVE, AT_MOST, GAP, HOLDS, ONE_OF, Case, Question, plan
from streed.tree.models import tree_of

_DEEPEST = 18
"""Levels of `if` in one function: Python's parser takes a hundred levels of indentation, readers far fewer."""

_MOMENT = '''def _{name}_moment(value, aware):
    """A date, datetime or text by ISO 8601 as a datetime, which has a zone if `aware`; None of a gap."""
    if value is None or value != value:
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
'''

_CLOCK = '''def _{name}_clock(value):
    """A clock time or a text by ISO 8601 as a time; None of a gap."""
    return datetime.time.fromisoformat(value) if isinstance(value, str) else value if value == value else None
'''

_TEXT = '''def _{name}_text(value):
    """The value as the tree's categories are written; None of a gap."""
    if value is None or value != value:
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else str(value)
'''


def to_python(
    model: Any, name: str = "predict", *, by_position: bool = False, conditions: Mapping[str, str] | None = None
) -> str:
    """The source of a function `name(row)` that gives what the tree predicts for a row of the raw table.

    `model`: a tree, a result or a fitted estimator. A row is a mapping from the table's column names to values (x0, x1,
    ... where it had none), or a sequence of the values of its columns if `by_position`; None and NaN are gaps. The
    function raises ValueError for a value that the tree has no answer to. `conditions`: by the name of a binary column,
    a Python expression of `row` that holds where the column is 1, such as {"age<=30": "row['age'] <= 30"}. Raises
    InputError for a name that is none, for conditions of unknown columns, and for labels that have no literal.

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
    if not name.isidentifier() or keyword.iskeyword(name):
        raise InputError("name", f"{name!r} is no name of a function", "give letters, digits and underscores")
    nodes = plan(tree_of(model), conditions)
    functions: list[str] = []
    waiting = [(name, 0)]
    for title, root in waiting:
        lines = [f"def {title}(row):"]
        stack: list[tuple[str, int, int]] = [("", root, 1)]
        while stack:
            said, place, level = stack.pop()
            if said:
                lines.append("    " * (level - 1) + said)
            if place < 0:
                continue
            question = nodes.questions[place]
            if question is None:
                lines.append("    " * level + f"return {_literal(nodes.shows[place])}")
            elif level > _DEEPEST:
                lines.append("    " * level + f"return _{name}_{place}(row)")
                waiting.append((f"_{name}_{place}", place))
            else:
                stack.extend(reversed(_tried(question, nodes.children[place], level, name, by_position)))
        functions.append("\n".join(lines) + "\n")
    used = "\n".join(functions)
    imports = []
    for helper, source in (("moment", _MOMENT), ("clock", _CLOCK), ("text", _TEXT)):
        if f"_{name}_{helper}(" in used:
            functions.insert(0, source.format(name=name))
    if "datetime." in used:
        imports.append("import datetime")
    if "Fraction(" in used:
        imports.append("from fractions import Fraction")
    return ("\n".join(imports) + "\n\n\n" if imports else "") + "\n\n".join(functions)


def _tried(
    question: Question, children: tuple[int, ...], level: int, name: str, by_position: bool
) -> list[tuple[str, int, int]]:
    """(line, child or -1, the level of what is below the line) in the order of the lines."""
    value = f"row[{question.place if by_position else question.name!r}]"
    tried = [
        (f"if {_condition(value, question, case, name)}:", children[case.child], level + 1) for case in question.order
    ]
    if question.otherwise is not None:
        return [*tried, ("", children[question.otherwise], level)]
    # Before Python 3.12 no f-string may have a backslash in its braces, which repr writes for control characters too.
    plain = not set(repr(question.name)[1:-1]) & set("\\{}\"'")
    said = f"unknown value {{{value}!r}} of column {question.name!r}"
    message = f'f"{said}"' if plain else repr(f"unknown value of column {question.name!r}")
    return [*tried, (f"raise ValueError({message})", -1, level + 1)]


def _condition(value: str, question: Question, case: Case, name: str) -> str:
    if case.relation == HOLDS:
        return str(case.values[0])
    if case.relation == GAP:
        return f"{value} is None or {value} != {value}"
    if case.relation == ONE_OF:
        return _one_of(_as_text(value, question, name), case.values)
    if case.relation in (AT_MOST, ABOVE):
        threshold = case.values[0]
        if question.kind is Kind.DATE:
            value = f"_{name}_moment({value}, {question.zone is not None})"
            limit = f"datetime.datetime.fromisoformat({date_text(threshold, question.zone)!r})"
            return f"{value} is not None and {value} {case.relation} {limit}"
        if question.kind is Kind.TIME:
            limit = f"datetime.time.fromisoformat({clock_text(threshold)!r})"
            return f"_{name}_clock({value}) is not None and _{name}_clock({value}) {case.relation} {limit}"
        if question.kind is Kind.DURATION:
            limit = f"datetime.timedelta(microseconds={threshold})"
            return f"{value} is not None and {value} == {value} and {value} {case.relation} {limit}"
        return f"{value} is not None and {value} {case.relation} {_threshold(threshold)}"
    return f"{value} is not None and {value} == {value}"


def _threshold(threshold: int | float) -> str:
    """The threshold as Python source; infinity has no literal."""
    return f"float({str(threshold)!r})" if isinstance(threshold, float) and math.isinf(threshold) else repr(threshold)


def _as_text(value: str, question: Question, name: str) -> str:
    """The value to be compared with categories: as a text, where these may be what other things are written as."""
    if question.kind is not Kind.CATEGORY:
        return value
    texts = [each for case in question.cases if case.relation == ONE_OF for each in case.values]
    written = any(isinstance(each, str) and _may_be_other(each) for each in texts)
    return f"_{name}_text({value})" if written else value


def _may_be_other(text: str) -> bool:
    """Whether something else than a text may be written so: a number, a truth value, a date."""
    return text[:1].isdigit() or text[:1] in "+-.(" or text in ("True", "False", "inf", "nan", "None")


def _one_of(value: str, values: tuple[Any, ...]) -> str:
    if len(values) == 1:
        return f"{value} == {_literal(values[0])}"
    return f"{value} in ({', '.join(map(_literal, values))})"


def _literal(value: Any) -> str:
    """The value as Python source; raises InputError where it has none."""
    if isinstance(value, str):
        return repr(str(value))
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, Fraction):
        return f"Fraction({value.numerator}, {value.denominator})"
    if isinstance(value, numbers.Integral):
        return repr(int(value))
    if isinstance(value, float) and math.isfinite(value):
        return repr(float(value))
    raise InputError("tree", f"{value!r} of type {type(value).__name__} has no literal", "use texts or numbers")
