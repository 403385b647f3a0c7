"""From tables as they are, numbers, texts, dates and gaps, to the yes/no questions that trees ask.

Thresholds are chosen by quantiles, by description length, by one tree per column, or by an ensemble of trees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from streed.data import Column, Kind, OrderedValues
from streed.data.column import MOST_CATEGORIES, column_of_categories, is_binary, names_of_rest, ranked
from streed.data.ordered import proportions
from streed.data.questions import TableRecipe
from streed.data.reading import Values
from streed.data.table import listed_columns, read_input
from streed.errors import InputError, check_choice
from streed.exact import Array, Range

METHODS = ("quantiles", "midpoints", "mdlp", "tree", "guesses")
"""How thresholds are chosen; the last two fit models of scikit-learn's."""

LEARNED = ("mdlp", "tree", "guesses")
"""Those that need labels."""

CATEGORIES = ("one-hot", "multiway")


@attrs.frozen(eq=False)
class Teacher:
    """What supervised thresholds are learned from."""

    y: Array
    """(n,): class numbers, or numbers."""
    numeric: bool
    weights: Array | None = None
    seed: int = 0


@attrs.frozen(eq=False)
class Spread:
    """A column of numbers, times or steps of a scale, and its distinct values; cut i lies behind value i."""

    column: Values
    values: OrderedValues
    ranks: Array
    """(n,) the place of each row's value, behind the last where it is missing."""

    @classmethod
    def of(cls, column: Values) -> Spread:
        """The distinct values; whole numbers are cut at whole numbers."""
        read = column
        if column.is_whole and np.abs(column.present).max(initial=0) < 2**53:
            read = attrs.evolve(column, values=np.where(column.missing, 0, column.values).astype(np.int64))
        return cls(column, *ranked(read, column.kind))

    @property
    def rows(self) -> Array:
        """(m,) the rows that have a value."""
        return np.flatnonzero(self.ranks < self.values.gap_rank)


def make_recipe(
    X: Any,
    *,
    thresholds: str = "quantiles",
    n_thresholds: int = 8,
    categories: str = "one-hot",
    categorical: Any = (),
    max_categories: int = 32,
    teacher: Teacher | None = None,
    weights: Any = None,
) -> TableRecipe:
    """The questions about the table X, whose rows weigh `weights` (n,), default 1; rows of weight 0 do not count.

    The others are those of `streed.Binarizer`; `teacher`: for thresholds by "mdlp", "tree" and "guesses". Raises
    InputError for what does not fit the data.
    """
    for argument, given, known in (("thresholds", thresholds, METHODS), ("categories", categories, CATEGORIES)):
        check_choice(argument, given, known)
    Range(1, whole=True).read("n_thresholds", n_thresholds)
    Range(1, MOST_CATEGORIES - 2, whole=True).read("max_categories", max_categories)
    if thresholds in LEARNED and teacher is None:
        found = f"thresholds by {thresholds!r} are learned from labels, and there are none"
        raise InputError("y", found, "give y to fit")
    if thresholds == "mdlp" and teacher is not None and teacher.numeric:
        raise InputError("thresholds", "'mdlp' is for classes, and y has measured numbers", "use 'tree' or 'guesses'")
    table, rows = read_input(X), None
    if weights is not None:
        weights = np.asarray(weights, dtype=np.float64)
        rows = np.flatnonzero(weights > 0)
        weights = weights[rows]
        teacher = None if teacher is None else attrs.evolve(teacher, y=teacher.y[rows], weights=weights)
    guessed = thresholds == "guesses"
    listed = listed_columns(categorical, table.all_names, len(table.all_names))
    spreads: dict[int, Spread] = {}
    extra, recipes = list[Array](), list[Column]()
    for j, name in enumerate(table.all_names):
        raw = table.read(j) if rows is None else table.read(j).taken(rows)
        recipe = _plain(name, raw, j in listed, max_categories, one_hot=categories == "one-hot")
        if recipe is None:
            spreads[j] = Spread.of(raw)
            recipe = _cut(name, spreads[j], _cuts(spreads[j], weights, thresholds, n_thresholds, teacher))
        elif guessed and recipe.one_hot:
            extra.append(recipe.answers(raw, "ignore"))
        recipes.append(recipe)
    if spreads and guessed:
        assert teacher is not None
        for j, cuts in guesses(spreads, extra, teacher, n_thresholds).items():
            recipes[j] = _cut(table.all_names[j], spreads[j], cuts)
    return TableRecipe(tuple(recipes))


def _left_out(name: str, raw: Values, note: str, *, gaps: bool = False) -> Column:
    """The recipe of a column of which nothing is asked but whether a value is missing, if any is."""
    if raw.kind is Kind.CATEGORY:
        rest = tuple(names_of_rest((), True, gaps))
        return Column(name, rest, False, None, gaps, None, other=True, one_hot=True, note=note)
    scale = Kind.NUMBER if raw.kind is Kind.BOOLEAN else raw.kind
    return Column(name, (), False, scale, gaps, raw.zone, one_hot=True, note=note)


def _plain(name: str, raw: Values, listed: bool, most: int, *, one_hot: bool) -> Column | None:
    """The recipe of a column that needs no thresholds, or None; of at most so many categories."""
    gaps = int(raw.missing.sum())
    said = f", {gaps} missing" if gaps else ""
    if gaps == len(raw.missing):
        return _left_out(name, raw, "all missing")
    binary, present = is_binary(raw), raw.present
    if not binary and (listed or (raw.kind is Kind.CATEGORY and not raw.is_scale)):
        column, counts = column_of_categories(name, raw, most + 1 + (gaps > 0), all_differ=listed)
        if len(counts) == 1:
            return _left_out(name, attrs.evolve(raw, kind=Kind.CATEGORY), f"constant{said}", gaps=gaps > 0)
        note = f"{len(counts)} {'texts' if raw.kind is Kind.CATEGORY else 'categories'}{said}"
        if column.other:
            note += f", of which the {len(column.known)} most frequent" if column.known else ", nearly all different"
        return attrs.evolve(column, one_hot=one_hot or not column.known, note=note)
    if len(set(present)) == 1 if isinstance(present, list) else (present == present[0]).all():
        return _left_out(name, raw, f"constant{said}", gaps=gaps > 0)
    if not binary:
        return None
    categories = (0, 1, *names_of_rest((), False, gaps > 0))
    return Column(name, categories, gaps > 0, None, gaps > 0, one_hot=True, note=f"0 or 1{said}")


def _cuts(found: Spread, weights: Array | None, method: str, most: int, teacher: Teacher | None) -> list[int]:
    """The cuts of a column of numbers, times or steps of a scale; none by "guesses", which looks at all columns."""
    if method == "quantiles":
        return found.values.fewer(found.ranks, proportions(weights), most).cuts.tolist()  # type: ignore[no-any-return]
    if method == "midpoints":
        return found.values.cuts.tolist()  # type: ignore[no-any-return]
    assert teacher is not None
    if method == "mdlp":
        counts, rows = np.zeros((len(found.values.values), int(teacher.y.max()) + 1)), found.rows
        np.add.at(counts, (found.ranks[rows], teacher.y[rows]), 1.0 if weights is None else weights[rows])
        return mdlp(counts)
    return tree_cuts(found, teacher, most) if method == "tree" else []


def _cut(name: str, found: Spread, cuts: Sequence[int]) -> Column:
    raw = found.column
    gaps = int(raw.missing.sum())
    what = "ordered categories" if raw.is_scale else f"{raw.kind}s"
    note = f"{len(found.values.values)} {what}{f', {gaps} missing' if gaps else ''}"
    if not cuts and not gaps:
        note += ", no cut tells the labels apart"
    if not cuts and raw.is_scale:
        return _left_out(name, raw, note, gaps=gaps > 0)
    thresholds = tuple(dict.fromkeys(found.values.threshold(cut) for cut in cuts))
    steps = raw.order or () if raw.is_scale else ()
    told: dict[str, Any] = {"one_hot": True, "thresholds": thresholds, "note": note}
    return Column(name, steps, False, raw.kind, gaps > 0, raw.zone, **told)


_ESTIMATORS, _DEPTH = 40, 3


def tree_cuts(spread: Spread, teacher: Teacher, most: int) -> list[int]:
    """The cuts of a tree that predicts the labels from this column alone, grown best first to `most` branches."""
    from sklearn import tree

    made_by = tree.DecisionTreeRegressor if teacher.numeric else tree.DecisionTreeClassifier
    model = made_by(max_leaf_nodes=most + 1, random_state=teacher.seed)
    weights = None if teacher.weights is None else teacher.weights[spread.rows]
    # Places instead of values: the model rounds to single precision, which would merge neighbours.
    model.fit(spread.ranks[spread.rows, None], teacher.y[spread.rows], sample_weight=weights)
    asked = model.tree_.threshold[model.tree_.children_left >= 0]
    return sorted({int(place) for place in np.floor(asked)})


def guesses(spreads: Mapping[int, Spread], extra: Sequence[Array], teacher: Teacher, most: int) -> dict[int, list[int]]:
    """The cuts that a boosted ensemble of trees makes, for each column those of the largest gain, `most` at most.

    `extra`: 0/1 arrays (n, k) of the other columns, which the ensemble sees too. Reference: H. McTavish et al.: Fast
    Sparse Decision Tree Optimization via Reference Ensembles, AAAI 2022, Section 4.1.
    """
    from sklearn import ensemble

    made_by = ensemble.GradientBoostingRegressor if teacher.numeric else ensemble.GradientBoostingClassifier
    if not teacher.numeric and teacher.y.min() == teacher.y.max():
        return {j: [] for j in spreads}
    model = made_by(n_estimators=_ESTIMATORS, max_depth=_DEPTH, random_state=teacher.seed)
    columns = [np.where(each.ranks == each.values.gap_rank, -1.0, each.ranks) for each in spreads.values()]
    model.fit(np.column_stack([*columns, *extra]), teacher.y, sample_weight=teacher.weights)
    gains: list[Counter[int]] = [Counter() for _ in spreads]
    for tree in (member.tree_ for member in model.estimators_.ravel()):
        weighted = tree.weighted_n_node_samples * tree.impurity
        won = weighted - weighted[tree.children_left] - weighted[tree.children_right]
        for node in np.flatnonzero((tree.children_left >= 0) & (tree.feature < len(gains))).tolist():
            gains[tree.feature[node]][int(np.floor(tree.threshold[node]))] += won[node]
    kept = {}
    for (j, spread), found in zip(spreads.items(), gains, strict=True):
        asked = [cut for cut in found if 0 <= cut < len(spread.values.cuts)]  # those below ask whether it is missing
        kept[j] = sorted(sorted(asked, key=lambda cut: (-found[cut], cut))[:most])
    return kept


def mdlp(counts: Array) -> list[int]:
    """The cuts, ascending, of a column with m distinct values and K classes that pay for their own description.

    A cut of a set of N rows is accepted if its information gain is above (log2(N - 1) + delta) / N, where delta =
    log2(3^k - 2) - (k H(S) - k1 H(S1) - k2 H(S2)), k is the number of classes in a set and H its entropy; both sides
    are then cut in turn. Reference: U. Fayyad, K. Irani: Multi-Interval Discretization of Continuous-Valued Attributes
    for Classification Learning, IJCAI 1993, Section 3.

    `counts`: (m, K) float64, the weight of each class at each value. Cut i lies between values i and i + 1.
    """
    below = np.vstack([np.zeros((1, counts.shape[1])), np.cumsum(counts, axis=0)])
    cuts, stack = [], [(0, len(counts))]
    while stack:
        first, last = stack.pop()
        cut = _best_cut(below[first : last + 1] - below[first])
        if cut is None:
            continue
        cuts.append(first + cut - 1)
        stack += [(first, first + cut), (first + cut, last)]
    return sorted(cuts)


def _best_cut(below: Array) -> int | None:
    """How many values lie below the best cut, or None if it is not accepted; `below`: (m + 1, K), 0 first."""
    if len(below) <= 2:
        return None
    whole, left = below[-1], below[1:-1]
    right = whole - left
    n, n_left, n_right = whole.sum(), left.sum(axis=1), right.sum(axis=1)
    entropy, at_left, at_right = _entropy(whole[None, :])[0], _entropy(left), _entropy(right)
    gains = entropy - (n_left * at_left + n_right * at_right) / n
    best = int(np.argmax(gains))
    k, k_left, k_right = (int((part > 0).sum()) for part in (whole, left[best], right[best]))
    delta = np.log2(3.0**k - 2) - (k * entropy - k_left * at_left[best] - k_right * at_right[best])
    needed = (np.log2(max(n - 1, 1)) + delta) / n
    return best + 1 if gains[best] > needed else None


def _entropy(counts: Array) -> Array:
    """(m,) in bits, of class weights (m, K)."""
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)
    terms = np.zeros_like(shares)
    np.log2(shares, out=terms, where=shares > 0)
    return np.asarray(-(shares * terms).sum(axis=1))
