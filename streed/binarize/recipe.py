"""Which questions to ask about each column of a table, fixed once, so that new rows are asked the same ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import attrs
import numpy as np

from streed.binarize.learned import Spread, Teacher, guesses, mdlp, tree_cuts
from streed.data import Dataset
from streed.data.column import (
    MOST_CATEGORIES,
    Column,
    column_of_categories,
    is_binary,
    names_of_rest,
    raw_columns,
)
from streed.data.ordered import Cut, Kind
from streed.data.reading import Values
from streed.data.table import as_table, listed_columns, read_input
from streed.errors import InputError
from streed.exact import Array, Range


@attrs.frozen
class ColumnRecipe:
    """The questions about one column of a raw table.

    A number, time or step of a scale `x` gives `x<=t` for each threshold t, a truth value its own column. A category
    gives `x=c` for each category c, or one question where there are but two; or the column stays as it is. A gap is a
    category of its own, `x=missing`, and every other question about it is answered no.
    """

    column: Column
    thresholds: tuple[int | float, ...] = ()
    """Ascending, on the column's scale."""
    one_hot: bool = True
    """Whether yes/no questions are made of the column."""
    note: str = ""
    """What was found, and what was left out and why."""

    @property
    def outputs(self) -> tuple[Column, ...]:
        """The columns that are made, in order; none where the column is left out."""
        return tuple(Column(name, (0, 1), False) for name, _ in self.questions) if self.one_hot else (self.column,)

    @property
    def questions(self) -> list[tuple[str, Cut | int]]:
        """The name of each yes/no question, and the cut whose first child it asks for, or the code."""
        column, name = self.column, self.column.name
        n, asked = len(column.known), list[tuple[str, Cut | int]]()
        for cut in (Cut(threshold, 1) for threshold in self.thresholds):
            asked.append((f"{name}<={column.written(cut)}", cut))
        if column.kind is Kind.BOOLEAN:
            asked = [(name, 1)]
        elif column.scale is None:
            first = 1 if n == len(column.categories) == 2 else 0
            asked = [(f"{name}={column.known[code]}", code) for code in range(first, n)]
        if column.has_gaps:
            last = column.categories[-1] if column.scale is None else names_of_rest(column.categories, False, True)[0]
            asked.append((f"{name}={last}", len(column.categories) - 1 if column.scale is None else Cut(None, 1)))
        return asked

    def codes(self, raw: Values, unseen: str) -> Array:
        """(n, k) uint8 of new values, for the k outputs.

        `unseen`, of values that the recipe was not made for: "error" raises InputError; else they are answered no, and
        "warn" says so once a column. Raises InputError for values of another kind.
        """
        column, questions = self.column, self.questions
        if not self.one_hot:
            return column.codes(raw, unseen)[:, None]
        made = np.zeros((len(raw.values), len(questions)), np.uint8)
        if column.scale is None:
            found = column.codes(raw, unseen, _NO)
            for at, (_, code) in enumerate(questions):
                made[:, at] = found == code
        elif questions:
            numbers = column.numbers(raw, unseen, "are answered no")
            for at, (_, cut) in enumerate(questions):
                assert isinstance(cut, Cut)
                made[:, at] = cut.sides(numbers.values, numbers.missing) ^ (cut.threshold is not None)
        return made


_NO = MOST_CATEGORIES - 1
"""The code of no category of a recipe."""


@attrs.frozen
class TableRecipe:
    """The recipes of a table's columns, in order."""

    columns: tuple[ColumnRecipe, ...]
    named: bool = True
    """Whether the table named its columns; else they are found by position."""
    unseen: str = "error"
    """What becomes of values that the recipe was not made for, unless `encode` is told otherwise: one of UNSEEN."""

    @property
    def outputs(self) -> tuple[Column, ...]:
        """Every column that is made."""
        return tuple(output for recipe in self.columns for output in recipe.outputs)

    @property
    def sources(self) -> tuple[int, ...]:
        """For each output, the place of the column that it is made of."""
        return tuple(j for j, recipe in enumerate(self.columns) for _ in recipe.outputs)

    def encode(self, X: Any, unseen: str | None = None, *, used: Collection[int] | None = None) -> Array:
        """(m, p) uint8: the codes of new rows by `outputs`; see `ColumnRecipe.codes`.

        A table's columns are found by name, further ones are ignored; an array must have them all. `unseen`: in place
        of the recipe's own. `used`: only these outputs are read, and a table need but have the columns that they are
        made of; the others are 0. Raises InputError for columns that are not there.
        """
        policy = self.unseen if unseen is None else unseen
        sources = self.sources
        wanted = set(range(len(self.columns))) if used is None else {sources[output] for output in used}
        n_rows, read = raw_columns(X, [each.column.name for each in self.columns], wanted, named=self.named)
        made = np.zeros((n_rows, len(sources)), dtype=np.uint8)
        end = 0
        for j, recipe in enumerate(self.columns):
            begin, end = end, end + len(recipe.outputs)
            if j in wanted and begin < end:
                made[:, begin:end] = recipe.codes(read(j), policy)
        return made

    def dataset(
        self, codes: Array, y: Any = None, *, sample_weight: Any = None, frequency: Any = None, **row_data: Any
    ) -> Dataset:
        """The rows of `codes`, which `encode` gave, with labels, weights and all else as by `Dataset.make`."""
        bare = Dataset.make(codes[:, :0], y, sample_weight=sample_weight, frequency=frequency, **row_data)
        if bare.n_rows < len(codes):
            codes = codes[np.flatnonzero(np.asarray(frequency))]
        names = tuple(output.name for output in self.outputs)
        coded = {j: output for j, output in enumerate(self.outputs) if not output.is_plain}
        multiway = tuple(j for j, output in coded.items() if output.multiway)
        return attrs.evolve(bare, X=codes, names=names, coded=coded, categorical=multiway, recipe=self)

    def report(self) -> list[dict[str, Any]]:
        """One entry per column: its name, kind, what was found, and the questions that were made of it."""
        names = ("column", "kind", "found", "questions")
        held = [(r.column.name, r.column.kind.value, r.note, [out.name for out in r.outputs]) for r in self.columns]
        return [dict(zip(names, each, strict=True)) for each in held]

    def to_text(self) -> str:
        """The report, a line per column."""
        width = max((len(recipe.column.name) for recipe in self.columns), default=0)
        return "\n".join(f"{recipe.column.name:<{width}}  {recipe.note}: {_listed(recipe)}" for recipe in self.columns)


def _listed(recipe: ColumnRecipe, most: int = 4) -> str:
    names = [output.name for output in recipe.outputs]
    if not recipe.one_hot:
        n, rest = len(recipe.column.categories), ", ".join(map(str, recipe.column.categories[:most]))
        return f"one child for each of {rest}{f', ... ({n})' if n > most else ''}"
    shown = [*names[: most - 1], "...", names[-1]] if len(names) > most else names
    return f"{len(names)} question{'s' if len(names) > 1 else ''}, {', '.join(shown)}" if names else "left out"


METHODS = ("quantiles", "midpoints", "mdlp", "tree", "guesses")
"""How thresholds are chosen; the last two fit models of scikit-learn's."""

LEARNED = ("mdlp", "tree", "guesses")
"""Those that need labels."""

CATEGORIES = ("one-hot", "multiway")


@attrs.frozen
class Settings:
    """What questions are wanted."""

    thresholds: str = "quantiles"
    """One of METHODS."""
    n_thresholds: int = attrs.field(default=8, validator=Range(1, whole=True))
    """At most so many a column; "midpoints" and "mdlp" take as many as there are."""
    categories: str = "one-hot"
    """One of CATEGORIES."""
    categorical: Sequence[Any] = ()
    """Names or positions of columns of numbers that are categories."""
    max_categories: int = attrs.field(default=32, validator=Range(1, MOST_CATEGORIES - 2, whole=True))
    """Of a column of more, the most frequent so many are asked about, and those of one row are not."""

    def __attrs_post_init__(self) -> None:
        for name, known in (("thresholds", METHODS), ("categories", CATEGORIES)):
            if getattr(self, name) not in known:
                raise InputError(name, f"{getattr(self, name)!r}", f"use one of {', '.join(known)}")


def make_recipe(
    X: Any, settings: Settings | None = None, teacher: Teacher | None = None, *, weights: Any = None
) -> TableRecipe:
    """The questions about the table X, whose rows weigh `weights` (n,), default 1; rows of weight 0 do not count.

    `teacher`: for thresholds by "mdlp", "tree" and "guesses". Raises InputError for settings that do not fit the data.
    """
    settings = Settings() if settings is None else settings
    table = as_table(read_input(X))
    held = None if weights is None else np.asarray(weights, dtype=np.float64)
    rows = None if held is None else held > 0
    if held is not None and rows is not None:
        held = held[rows]
        if teacher is not None:
            teacher = attrs.evolve(teacher, y=teacher.y[rows], weights=held)
    listed = listed_columns(settings.categorical, table.all_names, len(table.all_names))
    _check_teacher(settings, teacher)
    spreads: dict[int, Spread] = {}
    extra: list[Array] = []
    recipes: list[ColumnRecipe] = []
    for j, name in enumerate(table.all_names):
        raw = table.read(j) if rows is None else table.read(j).taken(rows)
        recipe = _plain(name, raw, j in listed, settings)
        if recipe is None:
            found = Spread.of(raw)
            if settings.thresholds == "guesses":
                spreads[j] = found
            recipe = _cut(name, found, _cuts(found, held, settings, teacher))
        elif settings.thresholds == "guesses" and recipe.one_hot:
            extra.append(recipe.codes(raw, "ignore"))
        recipes.append(recipe)
    if spreads:
        assert teacher is not None
        for j, cuts in guesses(spreads, extra, teacher, settings.n_thresholds).items():
            recipes[j] = _cut(table.all_names[j], spreads[j], cuts)
    return TableRecipe(tuple(recipes), table.names is not None)


def _left_out(name: str, kind: Kind, gaps: bool, note: str, zone: str | None = None) -> ColumnRecipe:
    """The recipe of a column of which nothing is asked but whether a value is missing, if any is."""
    if kind is Kind.CATEGORY:
        return ColumnRecipe(
            Column(name, tuple(names_of_rest((), True, gaps)), False, None, gaps, None, True), note=note
        )
    return ColumnRecipe(Column(name, (), False, Kind.NUMBER if kind is Kind.BOOLEAN else kind, gaps, zone), note=note)


def _plain(name: str, raw: Values, listed: bool, settings: Settings) -> ColumnRecipe | None:
    """The recipe of a column that needs no thresholds, or None."""
    gaps = int(raw.missing.sum())
    said = f", {gaps} missing" if gaps else ""
    if gaps == len(raw.missing):
        return _left_out(name, raw.kind, False, "all missing")
    binary = is_binary(raw)
    if not binary and (listed or (raw.kind is Kind.CATEGORY and not raw.is_scale)):
        return _category(name, raw, settings, said, listed)
    present = raw.present
    if len(set(present)) == 1 if isinstance(present, list) else (present == present[0]).all():
        return _left_out(name, raw.kind, gaps > 0, f"constant{said}", raw.zone)
    if not binary:
        return None
    categories = (0, 1, *names_of_rest((), False, gaps > 0))
    return ColumnRecipe(Column(name, categories, gaps > 0, None, gaps > 0), note=f"0 or 1{said}")


def _category(name: str, raw: Values, settings: Settings, said: str, listed: bool) -> ColumnRecipe:
    missing = raw.gaps is not None
    column, counts = column_of_categories(name, raw, settings.max_categories + 1 + missing, all_differ=listed)
    note = f"{len(counts)} {'texts' if raw.kind is Kind.CATEGORY else 'categories'}{said}"
    if len(counts) == 1:
        return _left_out(name, Kind.CATEGORY, missing, f"constant{said}")
    if column.other:
        note += f", of which the {len(column.known)} most frequent" if column.known else ", nearly all different"
    return ColumnRecipe(column, (), settings.categories == "one-hot" or not column.known, note)


def _check_teacher(settings: Settings, teacher: Teacher | None) -> None:
    method = settings.thresholds
    if method in LEARNED and teacher is None:
        raise InputError("y", f"thresholds by {method!r} are learned from labels, and there are none", "give y to fit")
    if method == "mdlp" and teacher is not None and teacher.numeric:
        raise InputError("thresholds", "'mdlp' is for classes, and y has measured numbers", "use 'tree' or 'guesses'")


def _cuts(found: Spread, weights: Array | None, settings: Settings, teacher: Teacher | None) -> list[int]:
    """The cuts of a column of numbers, times or steps of a scale; none by "guesses", which looks at all columns."""
    method, most = settings.thresholds, settings.n_thresholds
    if method == "quantiles":
        return found.values.fewer(found.ranks, weights, most).cuts.tolist()  # type: ignore[no-any-return]
    if method == "midpoints":
        return found.values.cuts.tolist()  # type: ignore[no-any-return]
    assert teacher is not None
    if method == "mdlp":
        counts, rows = np.zeros((len(found.values.values), int(teacher.y.max()) + 1)), found.rows
        np.add.at(counts, (found.ranks[rows], teacher.y[rows]), 1.0 if weights is None else weights[rows])
        return mdlp(counts)
    return tree_cuts(found, teacher, most) if method == "tree" else []


def _cut(name: str, found: Spread, cuts: Sequence[int]) -> ColumnRecipe:
    raw = found.column
    gaps = int(raw.missing.sum())
    what = "ordered categories" if raw.is_scale else f"{raw.kind}s"
    note = f"{len(found.values.values)} {what}{f', {gaps} missing' if gaps else ''}"
    if not cuts and not gaps:
        note += ", no cut tells the labels apart"
    if not cuts and raw.is_scale:
        return _left_out(name, Kind.CATEGORY, gaps > 0, note)
    thresholds = tuple(dict.fromkeys(found.values.threshold(cut) for cut in cuts))
    steps = raw.order or () if raw.is_scale else ()
    return ColumnRecipe(Column(name, steps, False, raw.kind, gaps > 0, raw.zone), thresholds, note=note)
