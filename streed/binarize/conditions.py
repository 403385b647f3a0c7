"""The questions of a recipe as conditions on the raw table, in SQL and in Python."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from streed.binarize.recipe import ColumnRecipe
from streed.data.moments import moment_of
from streed.data.ordered import TIMES, Kind
from streed.errors import InputError

LANGUAGES = ("python", "sql")


def conditions(recipes: Iterable[ColumnRecipe], language: str, names: Collection[str] | None = None) -> dict[str, str]:
    r"""For each binary output, or for those of `names`, the condition that holds where it is 1.

    Python's are about `row`, a mapping of the columns, where None and NaN are missing; dates may be texts by ISO 8601,
    dates or datetimes (those of a zone are read by `datetime.datetime`), durations timedeltas. SQL's quote names as the
    standard says. Raises InputError for another language.

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


def sql_time(column: str, kind: Kind, threshold: int, zone: str | None) -> tuple[str, str]:
    """(the column, the threshold) of a date, clock time or duration, as SQL compares them.

    Dates and clock times without a zone are texts, which sort as they do: of dates, timestamps, times, and texts by ISO
    8601. (Whatever an end of the microseconds is left out is a beginning of the rest, and sorts before it.) Those of a
    zone are moments, whatever the zone of the session; they and intervals are written as PostgreSQL and DuckDB know
    them; others, such as SQLite, refuse them.
    """
    if kind is Kind.DURATION:
        return column, f"INTERVAL '{threshold} microseconds'"
    if zone is not None:
        return f"CAST({column} AS TIMESTAMP WITH TIME ZONE)", f"TIMESTAMP WITH TIME ZONE '{_full(threshold, zone)}'"
    text = f"CAST({column} AS VARCHAR(40))"
    if kind is Kind.TIME:
        return text, f"'{_full(threshold)[11:]}'"
    return f"REPLACE({text}, 'T', ' ')", f"'{_full(threshold)}'"


def sql_number(value: float) -> str:
    """The number as SQL; with an exponent where databases would not read all digits of a decimal as a double."""
    written = repr(value)
    if isinstance(value, int):
        return written
    return f"{written}e0" if "e" not in written and len(written.strip("-").replace(".", "")) > 15 else written


def _full(moment: int, zone: str | None = None) -> str:
    return moment_of(moment, zone).isoformat(" ", "microseconds")


def _sql(recipe: ColumnRecipe, relation: str, value: Any) -> str:
    column = '"' + _no_nul(recipe.name).replace('"', '""') + '"'
    if relation == "missing":
        return f"{column} IS NULL"
    if relation == "<=":
        sides = (
            sql_time(column, recipe.kind, value, recipe.zone) if recipe.kind in TIMES else (column, sql_number(value))
        )
        return " <= ".join(sides)
    written = [_sql_text(each) if isinstance(each, str) else repr(each) for each in value]
    return f"{column} = {written[0]}" if len(written) == 1 else f"{column} IN ({', '.join(written)})"


def _python(recipe: ColumnRecipe, relation: str, value: Any) -> str:
    column = f"row[{recipe.name!r}]"
    if relation == "missing":
        return f"{column} is None or {column} != {column}"
    if relation == "in":
        return f"{column} == {value[0]!r}" if len(value) == 1 else f"{column} in {value!r}"
    sides = column, repr(value)
    if recipe.kind is Kind.DURATION:
        sides = f"({column}.days * 86400 + {column}.seconds) * 10**6 + {column}.microseconds", str(value)
    elif recipe.kind is Kind.TIME:
        sides = f"str({column})", repr(_full(value)[11:])
    elif recipe.zone is not None:
        sides = f"datetime.fromisoformat(str({column}))", f"datetime.fromisoformat({_full(value, recipe.zone)!r})"
    elif recipe.kind is Kind.DATE:
        sides = f"str({column}).replace('T', ' ')", repr(_full(value))
    present = f"{column} is not None and " + (f"{column} == {column} and " if recipe.kind in TIMES else "")
    return present + " <= ".join(sides)


def _sql_text(text: str) -> str:
    return "'" + _no_nul(text).replace("'", "''") + "'"


def _no_nul(text: str) -> str:
    if "\0" in text:
        raise InputError("recipe", f"{text!r} has a NUL character, which SQL cannot hold", "rename it")
    return text
