"""Cuts that models of scikit-learn's make: one tree per column, or an ensemble of trees over all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from streed.binarize.cuts import Spread
from streed.errors import MissingPackageError

if TYPE_CHECKING:
    from streed.binarize.planning import Teacher
    from streed.exact import Array

_ESTIMATORS, _DEPTH = 40, 3


def tree_cuts(spread: Spread, teacher: Teacher, most: int) -> list[int]:
    """The cuts of a tree that predicts the labels from this column alone, grown best first to `most` branches."""
    module = _sklearn("tree")
    made_by = module.DecisionTreeRegressor if teacher.numeric else module.DecisionTreeClassifier
    model = made_by(max_leaf_nodes=most + 1, random_state=teacher.seed)
    weights = None if teacher.weights is None else teacher.weights[spread.rows]
    # Places instead of values: the model rounds to single precision, which would merge neighbours.
    model.fit(spread.codes[:, None], teacher.y[spread.rows], sample_weight=weights)
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
    columns = [_places(spread, len(teacher.y)) for spread in spreads.values()]
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
        known = [cut for cut in found if 0 <= cut < spreads[j].n_cuts]  # those below -1 + 1/2 ask whether it is missing
        kept[j] = sorted(sorted(known, key=lambda cut: (-found[cut], cut))[:most])
    return kept


def _places(spread: Spread, n: int) -> Array:
    """(n,) float64: each row's value as its place; -1 where it is missing."""
    places = np.full(n, -1.0)
    places[spread.rows] = spread.codes
    return places


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
