"""A tree as SQL: a CASE expression over the columns of a table."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from streed.errors import InputError
from streed.export.conditions import Question, plan
from streed.tree import Tree


def to_sql(
    tree: Tree, table: str | None = None, name: str = "prediction", *, conditions: Mapping[str, str] | None = None
) -> str:
    """The CASE expression of what the tree predicts, or the query of all columns and this one if `table` is given.

    Names are quoted as the standard says; a value that the tree's data did not have gives NULL. Fractions become
    decimals. `conditions`: by the name of a binary column, an SQL condition that holds where the column is 1, such as
    {"age<=30": "age <= 30"}. Raises InputError for conditions of unknown columns, and for labels that have no literal.

    >>> import streed
    >>> from streed.tasks import Accuracy
    >>> tree = streed.solve(Accuracy(), {"sex": ["f", "m", "m"]}, ["no", "yes", "yes"], max_depth=1).tree
    >>> print(to_sql(tree, "people"))
    SELECT *, CASE
      WHEN "sex" = 'f' THEN 'no'
      WHEN "sex" = 'm' THEN 'yes'
    END AS "prediction"
    FROM "people"
    """
    nodes = plan(tree, conditions, "sql")
    lines: list[str] = []
    stack: list[tuple[str, int, int]] = [("", 0, 0)]
    while stack:
        said, place, level = stack.pop()
        indent = "  " * level
        if place < 0:
            lines.append(indent + said)
        elif not nodes.children[place]:
            lines.append(indent + said + _literal(nodes.shows[place]))
        else:
            lines.append(f"{indent}{said}CASE")
            question, below = nodes.questions[nodes.columns[place]], nodes.children[place]
            tried = [(f"{condition} THEN ", below[code], level + 1) for condition, code in _tried(question)]
            if question.text is not None:
                tried.append(("ELSE ", below[0], level + 1))
            stack.extend(reversed([*tried, ("END", -1, level)]))
    expression = "\n".join(lines)
    if table is None:
        return expression
    return f"SELECT *, {expression} AS {_quoted(name)}\nFROM {_quoted(table)}"


def _tried(question: Question) -> list[tuple[str, int]]:
    """(condition, the number of the child) in the order in which they are tried."""
    if question.text is not None:
        return [(f"WHEN {question.text}", 1)]
    column = _quoted(question.name)
    return [(f"WHEN {_condition(column, question.values[code])}", code) for code in question.order]


def _condition(column: str, values: tuple[Any, ...]) -> str:
    if None in values:
        known = tuple(value for value in values if value is not None)
        return f"({column} IS NULL OR {_condition(column, known)})" if known else f"{column} IS NULL"
    if len(values) == 1:
        return f"{column} = {_literal(values[0])}"
    return f"{column} IN ({', '.join(map(_literal, values))})"


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
