"""Which questions to ask about each column of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from streed.binarize.learned import Spread, Teacher, guesses, mdlp, tree_cuts
from streed.binarize.recipe import ColumnRecipe, TableRecipe
from streed.data.column import MOST_CATEGORIES, choose_categories, is_binary
from streed.data.ordered import Kind
from streed.data.reading import Values
from streed.data.table import as_table, binary_codes, listed_columns, read_input
from streed.errors import InputError
from streed.exact import Range

if TYPE_CHECKING:
    from streed.exact import Array

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
    constant = len(values) == 0 or bool((values == values[0]).all())
    if constant:
        return ColumnRecipe(name, Kind.BOOLEAN, note="constant")
    return ColumnRecipe(name, Kind.BOOLEAN, categories=(0, 1), note="0 or 1")


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
        return mdlp(_class_weights(found, teacher))
    return tree_cuts(found, teacher, most) if method == "tree" else []


def _class_weights(found: Spread, teacher: Teacher) -> Array:
    """(m, K) the weight of each class at each value."""
    n_classes = int(teacher.y.max()) + 1
    counts = np.zeros((len(found.values.values), n_classes))
    weights = 1.0 if teacher.weights is None else teacher.weights[found.rows]
    np.add.at(counts, (found.ranks[found.rows], teacher.y[found.rows]), weights)
    return counts


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
