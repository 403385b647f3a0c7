"""A tree as SQL: a CASE expression over the columns of a table."""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from streed.binarize.conditions import sql_number, sql_time
from streed.data.ordered import TIMES
from streed.errors import InputError
from streed.export.questions import ABOVE, AT_MOST, GAP, HOLDS, ONE_OF, Case, Question, plan
from streed.tree.models import tree_of


def to_sql(
    model: Any, table: str | None = None, name: str = "prediction", *, conditions: Mapping[str, str] | None = None
) -> str:
    """The CASE expression of what the tree predicts, or the query of all columns and this one if `table` is given.

    `model`: a tree, a result or a fitted estimator; the columns are those of the raw table (x0, x1, ... where it named
    none), NULL is a gap, dates may be dates, timestamps or texts by ISO 8601, and durations are intervals. Names are
    quoted as the standard says; a value that the tree has no answer to gives NULL. Fractions become decimals.
    `conditions`: by the name of a binary column, an SQL condition that holds where the column is 1, such as {"age<=30":
    "age <= 30"}. Raises InputError for conditions of unknown columns, and for labels that have no literal.

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
    nodes = plan(tree_of(model), conditions)
    lines: list[str] = []
    stack: list[tuple[str, int, int]] = [("", 0, 0)]
    while stack:
        said, place, level = stack.pop()
        indent = "  " * level
        question = None if place < 0 else nodes.questions[place]
        if place < 0:
            lines.append(indent + said)
        elif question is None:
            lines.append(indent + said + _literal(nodes.shows[place]))
        else:
            lines.append(f"{indent}{said}CASE")
            below = nodes.children[place]
            tried = [
                (f"WHEN {_condition(question, case)} THEN ", below[case.child], level + 1) for case in question.order
            ]
            if question.otherwise is not None:
                tried.append(("ELSE ", below[question.otherwise], level + 1))
            stack.extend(reversed([*tried, ("END", -1, level)]))
    expression = "\n".join(lines)
    if table is None:
        return expression
    return f"SELECT *, {expression} AS {_quoted(name)}\nFROM {_quoted(table)}"


def _condition(question: Question, case: Case) -> str:
    if case.relation == HOLDS:
        return str(case.values[0])
    column = _quoted(question.name)
    if case.relation == ONE_OF:
        if len(case.values) == 1:
            return f"{column} = {_literal(case.values[0])}"
        return f"{column} IN ({', '.join(map(_literal, case.values))})"
    if case.relation in (AT_MOST, ABOVE):
        if question.kind in TIMES:
            value, limit = sql_time(column, question.kind, case.values[0], question.zone)
            return f"{value} {case.relation} {limit}"
        return f"{column} {_bound(case.relation, case.values[0])}"
    return f"{column} IS NULL" if case.relation == GAP else f"{column} IS NOT NULL"


def _bound(relation: str, threshold: int | float) -> str:
    """The relation with the threshold; infinity has no literal, but the largest number beside it."""
    if isinstance(threshold, float) and math.isinf(threshold):
        # Up to minus infinity is below all finite numbers, above it all that is not.
        return f"{'<' if relation == AT_MOST else '>='} {sql_number(math.copysign(sys.float_info.max, threshold))}"
    return f"{relation} {threshold if isinstance(threshold, int) else sql_number(threshold)}"


def _quoted(name: str) -> str:
    """The name as SQL has it; raises InputError for one that no database takes."""
    if "\0" in name:
        raise InputError("tree", f"the name {name!r} has a NUL character, which SQL cannot hold", "rename the column")
    return '"' + name.replace('"', '""') + '"'


def _literal(value: Any) -> str:
    """The value as SQL; raises InputError where it has no literal."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str) and "\0" not in value:
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, (float, Fraction)) and math.isfinite(value):
        return repr(float(value))
    raise InputError("tree", f"{value!r} of type {type(value).__name__} has no SQL literal", "use texts or numbers")
