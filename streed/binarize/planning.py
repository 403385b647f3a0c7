"""Which questions to ask about each column of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import attrs
import numpy as np

from streed.binarize.cuts import Spread, quantiles, spread
from streed.binarize.mdlp import mdlp
from streed.binarize.raw import Kind, RawColumn, read_column
from streed.binarize.recipe import ColumnRecipe, TableRecipe
from streed.data.binary import binary_codes
from streed.data.column import MOST_CATEGORIES, shown
from streed.data.table import read_input
from streed.errors import InputError
from streed.exact import Range

if TYPE_CHECKING:
    from streed.exact import Array

METHODS = ("quantiles", "midpoints", "mdlp", "tree", "guesses")
"""How thresholds are chosen; the last two fit models of scikit-learn's."""

LEARNED = ("mdlp", "tree", "guesses")
"""Those that need labels."""

CATEGORIES = ("one-hot", "multiway")

_FEW, _DIFFERENT = 10, 0.5
"""More texts than these, of which more than this share of the rows differ, name rows, not categories."""


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


class Chooser(Protocol):
    """Chooses cuts with the help of labels."""

    def __call__(self, spreads: dict[int, Spread], most: int) -> dict[int, list[int]]:
        """The cuts of every column, by its place."""
        ...


@attrs.frozen(eq=False)
class Teacher:
    """What supervised thresholds are learned from."""

    y: Array
    """(n,): class numbers, or numbers."""
    numeric: bool
    weights: Array | None = None
    seed: int = 0


def make_recipe(
    X: Any, settings: Settings | None = None, teacher: Teacher | None = None, *, weights: Any = None
) -> TableRecipe:
    """The questions about the table X, whose rows weigh `weights` (n,), default 1; rows of weight 0 do not count.

    `teacher`: for thresholds by "mdlp", "tree" and "guesses". Raises InputError for settings that do not fit the data.
    """
    settings = Settings() if settings is None else settings
    source = read_input(X)
    held = None if weights is None else np.asarray(weights, dtype=np.float64)
    if isinstance(source, np.ndarray):
        names = tuple(f"x{j}" for j in range(source.shape[1]))
        if binary_codes(source) is not None and not settings.categorical:
            return TableRecipe(tuple(_boolean(name, source[:, j]) for j, name in enumerate(names)), named=False)
        raws = [read_column(source[:, j], name) for j, name in enumerate(names)]
        named = False
    else:
        named = source.names is not None
        names = tuple(f"x{j}" for j in range(len(source.columns))) if source.names is None else source.names
        raws = [read_column(column, name) for column, name in zip(source.columns, names, strict=True)]
    if held is not None:
        raws = [attrs.evolve(raw, values=raw.values[held > 0], missing=raw.missing[held > 0]) for raw in raws]
        if teacher is not None:
            teacher = attrs.evolve(teacher, y=teacher.y[held > 0], weights=held[held > 0])
        held = held[held > 0]
    listed = _places(settings.categorical, names)
    spreads: dict[int, Spread] = {}
    recipes: list[ColumnRecipe | None] = []
    for j, (name, raw) in enumerate(zip(names, raws, strict=True)):
        recipe = _plain(name, raw, j in listed, settings)
        if recipe is None:
            spreads[j] = spread(raw, held)
        recipes.append(recipe)
    cuts = _cuts(spreads, settings, teacher, raws, recipes)
    for j, found in spreads.items():
        recipes[j] = _cut(names[j], found, cuts[j])
    return TableRecipe(tuple(recipe for recipe in recipes if recipe is not None), named)


def _boolean(name: str, values: Array) -> ColumnRecipe:
    constant = len(values) == 0 or bool((values == values[0]).all())
    if constant:
        return ColumnRecipe(name, Kind.BOOLEAN, note="constant")
    return ColumnRecipe(name, Kind.BOOLEAN, categories=(0, 1), note="0 or 1")


def _plain(name: str, raw: RawColumn, listed: bool, settings: Settings) -> ColumnRecipe | None:
    """The recipe of a column that needs no thresholds, or None."""
    gaps = int(raw.missing.sum())
    said = f", {gaps} missing" if gaps else ""
    if gaps == len(raw.missing):
        return ColumnRecipe(name, raw.kind, note="all missing")
    if raw.steps and not listed:
        return (
            None
            if len(set(raw.present)) > 1
            else ColumnRecipe(name, raw.kind, missing=gaps > 0, note=f"constant{said}")
        )
    if raw.kind is Kind.CATEGORY or (listed and raw.kind is not Kind.BOOLEAN):
        return _category(name, raw, settings, said)
    present = raw.present
    lowest, highest = present.min(), present.max()
    if raw.kind is Kind.BOOLEAN or (raw.kind is Kind.NUMBER and np.isin(present, (0, 1)).all()):
        if lowest == highest:
            return ColumnRecipe(name, Kind.BOOLEAN, missing=gaps > 0, note=f"constant{said}")
        return ColumnRecipe(name, Kind.BOOLEAN, categories=(0, 1), missing=gaps > 0, note=f"0 or 1{said}")
    if lowest == highest:
        return ColumnRecipe(name, raw.kind, missing=gaps > 0, note=f"constant{said}")
    return None


def _category(name: str, raw: RawColumn, settings: Settings, said: str) -> ColumnRecipe:
    values = [value for value in raw.as_categories() if value is not None]
    counts: dict[Any, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    note = f"{len(counts)} {'texts' if raw.kind is Kind.CATEGORY else 'categories'}{said}"
    missing = bool(raw.missing.any())
    if len(counts) == 1:
        return ColumnRecipe(name, Kind.CATEGORY, missing=missing, note=f"constant{said}")
    asked, other = sorted(counts), False
    if len(counts) > max(_FEW, _DIFFERENT * len(values)):
        asked = []
        note += ", nearly all different"
    elif len(counts) > settings.max_categories:
        other = True
        frequent = sorted(counts, key=lambda value: (-counts[value], value))[: settings.max_categories]
        asked = sorted(value for value in frequent if counts[value] > 1)
        note += f", of which the {len(asked)} most frequent"
    if not asked:
        return ColumnRecipe(name, Kind.CATEGORY, missing=missing, note=note)
    usual = max(asked, key=lambda value: counts[value])
    multiway = settings.categories == "multiway"
    return ColumnRecipe(name, Kind.CATEGORY, (), tuple(asked), multiway, missing, other, usual, note)


def _cuts(
    spreads: dict[int, Spread],
    settings: Settings,
    teacher: Teacher | None,
    raws: Sequence[RawColumn],
    recipes: Sequence[ColumnRecipe | None],
) -> dict[int, list[int]]:
    """The cuts of each column of numbers, dates, durations or steps of a scale."""
    method, most = settings.thresholds, settings.n_thresholds
    if method == "quantiles":
        return {j: quantiles(found, most) for j, found in spreads.items()}
    if method == "midpoints":
        return {j: list(range(found.n_cuts)) for j, found in spreads.items()}
    if teacher is None:
        raise InputError("y", f"thresholds by {method!r} are learned from labels, and there are none", "give y to fit")
    if method == "mdlp":
        if teacher.numeric:
            raise InputError(
                "thresholds", "'mdlp' is for classes, and y has measured numbers", "use 'tree' or 'guesses'"
            )
        return {j: mdlp(_class_weights(found, teacher)) for j, found in spreads.items()}
    from streed.binarize.learned import guesses, tree_cuts

    if method == "tree":
        return {j: tree_cuts(found, teacher, most) for j, found in spreads.items()}
    extra = [
        recipe.codes(raw, "ignore")
        for recipe, raw in zip(recipes, raws, strict=True)
        if recipe is not None and not recipe.multiway
    ]
    return guesses(spreads, extra, teacher, most)


def _class_weights(found: Spread, teacher: Teacher) -> Array:
    """(m, K) the weight of each class at each value."""
    n_classes = int(teacher.y.max()) + 1
    counts = np.zeros((len(found.values), n_classes))
    weights = 1.0 if teacher.weights is None else teacher.weights[found.rows]
    np.add.at(counts, (found.codes, teacher.y[found.rows]), weights)
    return counts


def _cut(name: str, found: Spread, cuts: Sequence[int]) -> ColumnRecipe:
    raw = found.column
    gaps = int(raw.missing.sum())
    what = "ordered categories" if raw.steps else f"{raw.kind}s"
    note = f"{len(found.values)} {what}{f', {gaps} missing' if gaps else ''}"
    if not cuts and not gaps:
        note += ", no cut tells the labels apart"
    thresholds = tuple(dict.fromkeys(found.threshold(cut) for cut in cuts))
    return ColumnRecipe(name, raw.kind, thresholds, raw.steps if cuts else (), missing=gaps > 0, note=note)


def _places(listed: Sequence[Any], names: Sequence[str]) -> set[int]:
    if isinstance(listed, (str, bytes)):
        raise InputError("categorical", f"it is the text {listed!r}", "give a list of column names or positions")
    by_name = {name: j for j, name in enumerate(names)}
    places = set()
    for item in listed:
        place = by_name.get(item, -1) if isinstance(item, str) else int(item)
        if not 0 <= place < len(names):
            raise InputError("categorical", f"there is no column {item!r}", f"the columns are {shown(names)}")
        places.add(place)
    return places
