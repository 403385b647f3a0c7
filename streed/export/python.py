"""A tree as Python source: a function of a row, which needs no import of streed."""

from __future__ import annotations

import keyword
import math
import numbers
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from streed.errors import InputError
from streed.export.conditions import Question, plan
from streed.tree import Tree

_DEEPEST = 18
"""Levels of `if` in one function: Python's parser takes a hundred levels of indentation, readers far fewer."""


def to_python(
    tree: Tree, name: str = "predict", *, by_position: bool = False, conditions: Mapping[str, str] | None = None
) -> str:
    """The source of a function `name(row)` that gives what the tree predicts for a row.

    A row is a mapping from the table's column names to values, or a sequence of the values of the data's columns if
    `by_position`. The function raises ValueError for a value that the tree's data did not have. `conditions`: by the
    name of a binary column, a Python expression of `row` that holds where the column is 1, such as
    {"age<=30": "row['age'] <= 30"}. Raises InputError for a name that is none, for conditions of unknown columns, and
    for labels that have no literal.

    >>> import streed
    >>> from streed.tasks import Accuracy
    >>> tree = streed.solve(Accuracy(), {"sex": ["f", "m", "m"]}, ["no", "yes", "yes"], max_depth=1).tree
    >>> print(to_python(tree))
    def predict(row):
        if row['sex'] == 'f':
            return 'no'
        if row['sex'] == 'm':
            return 'yes'
        raise ValueError(f"unknown value {row['sex']!r} of column 'sex'")
    <BLANKLINE>
    """
    if not name.isidentifier() or keyword.iskeyword(name):
        raise InputError("name", f"{name!r} is no name of a function", "give letters, digits and underscores")
    nodes = plan(tree, conditions, None if by_position else "python")
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
            if not nodes.children[place]:
                lines.append("    " * level + f"return {_literal(nodes.shows[place])}")
            elif level > _DEEPEST:
                lines.append("    " * level + f"return _{name}_{place}(row)")
                waiting.append((f"_{name}_{place}", place))
            else:
                below = nodes.children[place]
                question = nodes.questions[nodes.columns[place]]
                stack.extend(reversed(_tried(question, below, level, by_position)))
        functions.append("\n".join(lines) + "\n")
    imports = "from fractions import Fraction\n\n\n" if any("Fraction(" in text for text in functions) else ""
    return imports + "\n\n".join(functions)


def _tried(question: Question, children: tuple[int, ...], level: int, by_position: bool) -> list[tuple[str, int, int]]:
    """(line, child or -1, the level of what is below the line) in the order of the lines."""
    if question.text is not None:
        return [(f"if {question.text}:", children[1], level + 1), ("", children[0], level)]
    value = f"row[{question.place if by_position else question.name!r}]"
    tried = [(f"if {_condition(value, question.values[code])}:", children[code], level + 1) for code in question.order]
    # Before Python 3.12 no f-string may have a backslash in its braces, which repr writes for control characters too.
    plain = not set(repr(question.name)[1:-1]) & set("\\{}\"'")
    said = f"unknown value {{{value}!r}} of column {question.name!r}"
    message = f'f"{said}"' if plain else repr(f"unknown value of column {question.name!r}")
    return [*tried, (f"raise ValueError({message})", -1, level + 1)]


def _condition(value: str, values: tuple[Any, ...]) -> str:
    if len(values) == 1:
        return f"{value} is None" if values[0] is None else f"{value} == {_literal(values[0])}"
    return f"{value} in ({', '.join(map(_literal, values))})"


def _literal(value: Any) -> str:
    """The value as Python source; raises InputError where it has none."""
    if value is None or isinstance(value, (bool, str)):
        return repr(value)
    if isinstance(value, Fraction):
        return f"Fraction({value.numerator}, {value.denominator})"
    if isinstance(value, numbers.Integral):
        return repr(int(value))
    if isinstance(value, float) and math.isfinite(value):
        return repr(float(value))
    raise InputError("tree", f"{value!r} of type {type(value).__name__} has no literal", "use texts or numbers")
