"""The questions of a recipe as conditions on the raw table, in SQL and in Python."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from streed.binarize.raw import Kind
from streed.binarize.recipe import ColumnRecipe
from streed.data.moments import EPOCH, MICROSECOND
from streed.errors import InputError

LANGUAGES = ("python", "sql")


def conditions(recipes: Iterable[ColumnRecipe], language: str, names: Collection[str] | None = None) -> dict[str, str]:
    r"""For each binary output, or for those of `names`, the condition that holds where it is 1.

    Python's are about `row`, a mapping of the columns, where None and NaN are missing; dates may be texts by ISO 8601,
    dates or datetimes, durations timedeltas. SQL's quote names as the standard says. Raises InputError for another
    language.

    >>> from streed.binarize import make_recipe
    >>> recipe = make_recipe({"age": [22, 38, None], "sex": ["m", "f", "m"]})
    >>> conditions(recipe.columns, "sql")
    {'age<=30': '"age" <= 30', 'age=missing': '"age" IS NULL', 'sex=m': '"sex" = \'m\''}
    >>> conditions(recipe.columns, "python", ["sex=m"])
    {'sex=m': "row['sex'] == 'm'"}
    """
    if language not in LANGUAGES:
        raise InputError("language", f"{language!r}", f"use one of {', '.join(LANGUAGES)}")
    write = _sql if language == "sql" else _python
    found = {}
    for recipe in recipes:
        for name, relation, value in questions(recipe):
            if names is None or name in names:
                found[name] = write(recipe, relation, value)
    return found


def questions(recipe: ColumnRecipe) -> list[tuple[str, str, Any]]:
    """(output, relation, value) of each binary output.

    "<=" and a threshold, "in" and a tuple of categories, or "missing" and None.
    """
    if recipe.multiway:
        return []
    asked: list[tuple[str, Any]]
    if recipe.is_scale:
        asked = [("in", recipe.categories[: int(place) + 1]) for place in recipe.thresholds]
    elif recipe.kind is Kind.CATEGORY:
        asked = [("in", (category,)) for category in recipe.asked]
    else:
        asked = [("<=", threshold) for threshold in recipe.thresholds]
    if recipe.kind is Kind.BOOLEAN and recipe.categories:
        asked.append(("in", (1,)))
    if recipe.missing:
        asked.append(("missing", None))
    return [(output.name, *each) for output, each in zip(recipe.outputs, asked, strict=True)]


def sql_moment(column: str, threshold: int) -> tuple[str, str]:
    """(the column, the threshold) as texts that sort as moments do: of dates, timestamps, and texts by ISO 8601.

    Whatever an end of the microseconds is left out is a beginning of the rest, and sorts before it.
    """
    return f"REPLACE(CAST({column} AS VARCHAR(40)), 'T', ' ')", f"'{_full_moment(threshold)}'"


def sql_duration(threshold: int) -> str:
    """The interval of so many microseconds, as PostgreSQL and DuckDB write it; others, such as SQLite, refuse it."""
    return f"INTERVAL '{threshold} microseconds'"


def sql_number(value: float) -> str:
    """The number as SQL; with an exponent where databases would not read all digits of a decimal as a double."""
    written = repr(value)
    if isinstance(value, int):
        return written
    return f"{written}e0" if "e" not in written and len(written.strip("-").replace(".", "")) > 15 else written


def _full_moment(moment: int) -> str:
    return (EPOCH + moment * MICROSECOND).isoformat(" ", "microseconds")


def _sql(recipe: ColumnRecipe, relation: str, value: Any) -> str:
    column = '"' + _no_nul(recipe.name).replace('"', '""') + '"'
    if relation == "missing":
        return f"{column} IS NULL"
    if relation == "<=":
        if recipe.kind is Kind.DATE:
            return " <= ".join(sql_moment(column, value))
        if recipe.kind is Kind.DURATION:
            return f"{column} <= {sql_duration(value)}"
        return f"{column} <= {sql_number(value)}"
    written = [_sql_text(each) if isinstance(each, str) else repr(each) for each in value]
    return f"{column} = {written[0]}" if len(written) == 1 else f"{column} IN ({', '.join(written)})"


def _python(recipe: ColumnRecipe, relation: str, value: Any) -> str:
    column = f"row[{recipe.name!r}]"
    if relation == "missing":
        return f"{column} is None or {column} != {column}"
    if relation == "in":
        return f"{column} == {value[0]!r}" if len(value) == 1 else f"{column} in {value!r}"
    if recipe.kind is Kind.DATE:
        text = f"str({column}).replace('T', ' ')"
        return f"{column} is not None and {column} == {column} and {text} <= {_full_moment(value)!r}"
    if recipe.kind is Kind.DURATION:
        whole = f"({column}.days * 86400 + {column}.seconds) * 10**6 + {column}.microseconds"
        return f"{column} is not None and {column} == {column} and {whole} <= {value}"
    return f"{column} is not None and {column} <= {value!r}"


def _sql_text(text: str) -> str:
    return "'" + _no_nul(text).replace("'", "''") + "'"


def _no_nul(text: str) -> str:
    if "\0" in text:
        raise InputError("recipe", f"{text!r} has a NUL character, which SQL cannot hold", "rename it")
    return text
