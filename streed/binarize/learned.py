"""Where a column is cut: what it holds, by description length, by one tree per column, or by an ensemble of trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from streed.data.column import places
from streed.data.ordered import OrderedValues, rank
from streed.data.reading import Values
from streed.errors import MissingPackageError
from streed.exact import Array


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
        if column.is_scale:
            assert column.order is not None
            numbers = places(column, column.order)
        else:
            numbers = np.asarray(column.values)
            if column.is_whole and np.abs(column.present).max(initial=0) < 2**53:
                numbers = np.where(column.missing, 0, numbers).astype(np.int64)
        return cls(column, *rank(numbers, column.gaps, column.kind, None, None, column.zone))

    @property
    def rows(self) -> Array:
        """(m,) the rows that have a value."""
        return np.flatnonzero(self.ranks < self.values.gap_rank)


_ESTIMATORS, _DEPTH = 40, 3


def tree_cuts(spread: Spread, teacher: Teacher, most: int) -> list[int]:
    """The cuts of a tree that predicts the labels from this column alone, grown best first to `most` branches."""
    module = _sklearn("tree")
    made_by = module.DecisionTreeRegressor if teacher.numeric else module.DecisionTreeClassifier
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
    module = _sklearn("ensemble")
    made_by = module.GradientBoostingRegressor if teacher.numeric else module.GradientBoostingClassifier
    if not spreads:
        return {}
    if not teacher.numeric and teacher.y.min() == teacher.y.max():
        return {j: [] for j in spreads}
    model = made_by(n_estimators=_ESTIMATORS, max_depth=_DEPTH, random_state=teacher.seed)
    columns = [np.where(each.ranks == each.values.gap_rank, -1.0, each.ranks) for each in spreads.values()]
    model.fit(np.column_stack([*columns, *extra]), teacher.y, sample_weight=teacher.weights)
    gains: dict[int, dict[int, float]] = {j: {} for j in spreads}
    order = list(spreads)
    for member in model.estimators_.ravel():
        tree = member.tree_
        for node in np.flatnonzero(tree.children_left >= 0).tolist():
            if tree.feature[node] < len(order):
                found = gains[order[tree.feature[node]]]
                cut = int(np.floor(tree.threshold[node]))
                found[cut] = found.get(cut, 0.0) + _gain(tree, node)
    kept = {}
    for j, found in gains.items():
        known = [
            cut for cut in found if 0 <= cut < len(spreads[j].values.cuts)
        ]  # those below -1 + 1/2 ask whether it is missing
        kept[j] = sorted(sorted(known, key=lambda cut: (-found[cut], cut))[:most])
    return kept


def _gain(tree: Any, node: int) -> float:
    left, right = tree.children_left[node], tree.children_right[node]
    weighted = tree.weighted_n_node_samples * tree.impurity
    return float(weighted[node] - weighted[left] - weighted[right])


def _sklearn(module: str) -> Any:
    import importlib

    try:
        return importlib.import_module(f"sklearn.{module}")
    except ImportError:
        raise MissingPackageError(
            "thresholds by 'tree' and 'guesses' need scikit-learn: pip install 'streed[sklearn]'"
        ) from None


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
    entropy: Array = -(shares * terms).sum(axis=1)
    return entropy
