"""The first step of an exported pipeline: raw rows as the answers that its tree reads. It needs scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from streed.exact import Array
from streed.export.sklearn import codes, feature_names
from streed.tree import Tree


class QuestionsOfTree(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The answers of raw rows to the questions of a tree (a `streed.Tree`), 0 or 1 each. There is nothing to fit."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def fit(self, X: Any, y: Any = None) -> QuestionsOfTree:
        """Nothing: the questions are the tree's."""
        return self

    def transform(self, X: Any) -> Array:
        """(m, q) float32: rows as `streed.export.codes` makes them."""
        return codes(self.tree, X)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """(q,) the names of the questions."""
        return np.array(feature_names(self.tree), dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags
