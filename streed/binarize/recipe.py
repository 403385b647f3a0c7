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
    choose_categories,
    is_binary,
    names_of_rest,
    numbers_like,
    places,
    raw_columns,
    unseen_values,
)
from streed.data.ordered import Kind, at_most, threshold_text
from streed.data.reading import Values
from streed.data.table import as_table, binary_codes, listed_columns, read_input
from streed.errors import InputError
from streed.exact import Array, Range


@attrs.frozen
class ColumnRecipe:
    """The questions about one column.

    A number, date or duration `x` gives `x<=t` for each threshold t, a truth value its own column. A category gives
    `x=c` for each category c, or one question where there are but two, or a multiway column with a child for each.
    Categories that are steps of a scale give `x<=c` for each of some of them.
    `missing`: an absent value is a category of its own, `x=missing`, and every other question about it is answered no.
    `other`: the values that have no question of their own; in a multiway column they share a child.
    """

    name: str
    kind: Kind
    thresholds: tuple[int | float, ...] = ()
    """Ascending; microseconds of dates (since 1970) and of durations; of steps, their places in `categories`."""
    categories: tuple[Any, ...] = ()
    """Where there are thresholds, every step of the scale in its order."""
    multiway: bool = False
    missing: bool = False
    other: bool = False
    usual: Any = None
    """The most frequent category: where a multiway column sends values that it was not made for."""
    note: str = ""
    """What was found, and what was left out and why."""
    zone: str | None = None
    """Of dates that have one."""

    @property
    def outputs(self) -> tuple[Column, ...]:
        """The columns that are made, in order; none where the column is left out."""
        if self.multiway:
            return (Column(self.name, self._children, multiway=len(self._children) > 2),)
        return tuple(Column(name, (0, 1), multiway=False) for name, _, _ in self._asked)

    @property
    def questions(self) -> list[tuple[str, Any]]:
        """(relation, value) of each binary output: "<=" and a threshold, "in" and categories, or "missing" and None."""
        return [] if self.multiway else [(relation, value) for _, relation, value in self._asked]

    @property
    def _asked(self) -> list[tuple[str, str, Any]]:
        """The name of each binary output, and what `questions` has of it."""
        asked: list[tuple[str, str, Any]] = []
        for threshold in self.thresholds:
            name = f"{self.name}<={threshold_text(threshold, self.kind, self.categories, self.zone)}"
            steps = ("in", self.categories[: int(threshold) + 1])
            asked.append((name, *(steps if self.is_scale else ("<=", threshold))))
        if self.kind is Kind.CATEGORY and not self.is_scale:
            asked = [(f"{self.name}={category}", "in", (category,)) for category in self.asked]
        if self.kind is Kind.BOOLEAN and self.categories:
            asked.append((self.name, "in", (1,)))
        return [*asked, (f"{self.name}={self._children[-1]}", "missing", None)] if self.missing else asked

    @property
    def is_plain(self) -> bool:
        """Whether the column is 0/1, or every category of it is asked about, and nothing was missing or left out."""
        return bool(self.categories) and not (self.thresholds or self.missing or self.other)

    @property
    def is_scale(self) -> bool:
        """Whether the categories are steps of a scale, and the questions thresholds of it."""
        return self.kind is Kind.CATEGORY and bool(self.thresholds)

    def codes(self, raw: Values, unseen: str) -> Array:
        """(n, k) uint8 of new values, for the k outputs.

        `unseen`, of values that the recipe was not made for: "error" raises InputError; else they are answered no, and
        "warn" says so once a column. Raises InputError for values of another kind.
        """
        if self.multiway:
            usual = self.categories.index(self.usual) if self.usual in self.categories else 0
            usual = len(self.categories) if self.other else usual
            column = Column(self.name, self._children, True, None, self.missing, None, self.other, usual)
            return column.codes(raw, unseen)[:, None]
        missing, asked = raw.missing, self._asked
        if not asked:
            return np.zeros((len(missing), 0), dtype=np.uint8)
        is_number = self.kind is not Kind.CATEGORY
        held = numbers_like(self.name, self.kind, raw, self.zone) if is_number else places(raw, self.categories)
        if missing.any() and not self.missing:
            unseen_values(self.name, raw, missing, unseen, "are answered no")
        if self.categories and not self.other:
            strange = ~missing & ~np.isin(held, (0, 1)) if is_number else ~missing & (held < 0)
            if strange.any():
                unseen_values(self.name, raw, strange, unseen, "are answered no")
        made = np.zeros((len(missing), len(asked)), np.uint8)
        for at, (_, relation, value) in enumerate(asked):
            in_places = () if relation != "in" else [self.categories.index(each) for each in value]
            yes = at_most(held, value) if relation == "<=" else np.isin(held, in_places)
            made[:, at] = missing if relation == "missing" else yes & ~missing
        return made

    @property
    def asked(self) -> tuple[Any, ...]:
        """The categories with a question of their own, of a column that is not multiway."""
        complete = len(self.categories) == 2 and not (self.missing or self.other)
        return self.categories[1:] if complete else self.categories

    @property
    def _children(self) -> tuple[Any, ...]:
        """The categories, and what the others and gaps are called."""
        return (*self.categories, *names_of_rest(self.categories, self.other, self.missing))


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
        n_rows, read = raw_columns(X, [recipe.name for recipe in self.columns], wanted, named=self.named)
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
        found = [(each.name, each.kind.value, each.note, [out.name for out in each.outputs]) for each in self.columns]
        return [dict(zip(("column", "kind", "found", "questions"), each, strict=True)) for each in found]

    def to_text(self) -> str:
        """The report, a line per column."""
        width = max((len(recipe.name) for recipe in self.columns), default=0)
        return "\n".join(f"{recipe.name:<{width}}  {recipe.note}: {_listed(recipe)}" for recipe in self.columns)


def _listed(recipe: ColumnRecipe, most: int = 4) -> str:
    outputs = recipe.outputs
    if not outputs:
        return "left out"
    if recipe.multiway:
        (output,) = outputs
        n, rest = len(output.categories), ", ".join(map(str, output.categories[:most]))
        return f"one child for each of {rest}{f', ... ({n})' if n > most else ''}"
    names = [output.name for output in outputs]
    if len(names) > most:
        names = [*names[: most - 1], "...", names[-1]]
    return f"{len(outputs)} question{'s' if len(outputs) > 1 else ''}, {', '.join(names)}"


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
    source = read_input(X)
    if isinstance(source, np.ndarray) and binary_codes(source) is not None and not settings.categorical:
        return TableRecipe(tuple(_boolean(f"x{j}", source[:, j]) for j in range(source.shape[1])), named=False)
    table = as_table(source)
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
        elif settings.thresholds == "guesses" and not recipe.multiway:
            extra.append(recipe.codes(raw, "ignore"))
        recipes.append(recipe)
    if spreads:
        assert teacher is not None
        for j, cuts in guesses(spreads, extra, teacher, settings.n_thresholds).items():
            recipes[j] = _cut(recipes[j].name, spreads[j], cuts)
    return TableRecipe(tuple(recipes), table.names is not None)


def _boolean(name: str, values: Array) -> ColumnRecipe:
    constant = bool((values == values[0]).all()) if len(values) else True
    categories, note = ((), "constant") if constant else ((0, 1), "0 or 1")
    return ColumnRecipe(name, Kind.BOOLEAN, categories=categories, note=note)


def _plain(name: str, raw: Values, listed: bool, settings: Settings) -> ColumnRecipe | None:
    """The recipe of a column that needs no thresholds, or None."""
    gaps = int(raw.missing.sum())
    said = f", {gaps} missing" if gaps else ""
    kind, zone = raw.kind, raw.zone
    if gaps == len(raw.missing):
        return ColumnRecipe(name, kind, note="all missing")
    if is_binary(raw):
        kind = Kind.BOOLEAN
    elif listed or (kind is Kind.CATEGORY and not raw.is_scale):
        return _category(name, raw, settings, said, listed)
    present = raw.present
    if len(set(present)) == 1 if isinstance(present, list) else (present == present[0]).all():
        return ColumnRecipe(name, kind, missing=gaps > 0, note=f"constant{said}", zone=zone)
    if kind is Kind.BOOLEAN:
        return ColumnRecipe(name, kind, categories=(0, 1), missing=gaps > 0, note=f"0 or 1{said}")
    return None


def _category(name: str, raw: Values, settings: Settings, said: str, listed: bool) -> ColumnRecipe:
    missing = raw.gaps is not None
    found = choose_categories(name, raw, settings.max_categories + 1 + missing, all_differ=listed)
    asked, counts = found.asked, found.counts
    note = f"{len(counts)} {'texts' if raw.kind is Kind.CATEGORY else 'categories'}{said}"
    if len(counts) == 1:
        return ColumnRecipe(name, Kind.CATEGORY, missing=missing, note=f"constant{said}")
    if found.other:
        note += f", of which the {len(asked)} most frequent" if len(asked) else ", nearly all different"
    if not asked:
        return ColumnRecipe(name, Kind.CATEGORY, missing=missing, note=note)
    multiway = settings.categories == "multiway"
    usual = asked[found.usual]
    return ColumnRecipe(name, Kind.CATEGORY, (), asked, multiway, missing, found.other, usual, note)


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
    thresholds = tuple(dict.fromkeys(found.values.threshold(cut) for cut in cuts))
    steps = raw.order or () if raw.is_scale and cuts else ()
    return ColumnRecipe(name, raw.kind, thresholds, steps, missing=gaps > 0, note=note, zone=raw.zone)
