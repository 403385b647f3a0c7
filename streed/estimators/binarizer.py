"""Binarizer: raw tables as 0/1 columns, in scikit-learn's form.

>>> from streed.estimators import Binarizer
>>> table = [[22, "m"], [38, "f"], [26, "f"], [None, "m"], [54, None]]
>>> binarizer = Binarizer(n_thresholds=2).fit(table)
>>> binarizer.get_feature_names_out().tolist()
['x0<=24', 'x0<=46', 'x0=missing', 'x1=f', 'x1=m', 'x1=missing']
>>> binarizer.transform([[30, "m"]]).tolist()
[[0, 1, 0, 0, 1, 0]]
"""

from __future__ import annotations

import dataclasses
from typing import Any

import attrs
import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from streed.binarize import LEARNED, Teacher, make_recipe
from streed.data.column import UNSEEN
from streed.errors import check_choice
from streed.estimators.reading import checked_column, checked_table, checked_weights, forget, readable
from streed.exact import Array


@dataclasses.dataclass(eq=False, repr=False)
class Binarizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Makes yes/no questions of numbers, texts, dates, truth values and gaps.

    `thresholds`: how numbers and dates are cut, by "quantiles" (the default: `n_thresholds` cuts between neighbouring
    values that share the rows out evenly), all "midpoints", "mdlp" (Fayyad and Irani), a "tree" for each column, or the
    "guesses" of a boosted ensemble of trees; the last three need y. `categories`: "one-hot", a question for each
    category, or "multiway", a column with a child for each. `categorical`: names or positions of columns of numbers
    that are categories. Ordered categories, as pandas has them, are cut as numbers are, unless `categorical` names
    them. Of a column with more than `max_categories`, only the most frequent are asked about; one whose texts nearly
    all differ is left out. A missing value is a category of its own and is answered no elsewhere.
    `unseen`: what to do with a category or a gap where the fitted data had none: "warn" (once a column, and answer no),
    "ignore" (answer no) or "error". `target_type`: whether y holds "classes" or "numbers"; "auto" looks.

    Fitted: `recipe_` (what is made of each column), `n_features_in_`, `feature_names_in_`.
    """

    thresholds: str = "quantiles"
    n_thresholds: int = 8
    _: dataclasses.KW_ONLY
    categories: str = "one-hot"
    categorical: Any = ()
    max_categories: int = 32
    unseen: str = "warn"
    target_type: str = "auto"
    random_state: int = 0

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Binarizer:
        """Decides on the questions about X, an array (n, m) or a table; rows of weight 0 do not count."""
        for name, known in (("unseen", UNSEEN), ("target_type", ("auto", "classes", "numbers"))):
            check_choice(name, getattr(self, name), known)
        names = ("thresholds", "n_thresholds", "categories", "categorical", "max_categories")
        asked = {name: getattr(self, name) for name in names}
        forget(self)
        X = checked_table(self, readable(X), reset=True)
        weights = checked_weights(sample_weight, len(X))
        teacher = None
        if y is not None and self.thresholds in LEARNED:
            auto = self.target_type == "auto" and type_of_target(y) == "continuous"
            column = checked_column(y, len(X), numeric=(numeric := auto or self.target_type == "numbers"))
            column = column if numeric else np.unique(column, return_inverse=True)[1]
            teacher = Teacher(column, numeric, seed=self.random_state)
        self.recipe_ = attrs.evolve(make_recipe(X, teacher=teacher, weights=weights, **asked), unseen=self.unseen)
        return self

    def transform(self, X: Any) -> Array:
        """(n, p) uint8: the answers, or the codes of categories in multiway columns."""
        check_is_fitted(self)
        return self.recipe_.encode(checked_table(self, readable(X), reset=False), self.unseen)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """(p,) the names of the columns that `transform` gives, such as `age<=30` and `sex=male`."""
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        pairs = zip(self.recipe_.columns, names, strict=True)
        renamed = (attrs.evolve(column, name=str(name)) for column, name in pairs)
        return np.array([output.name for column in renamed for output in column.outputs], dtype=object)

    def report(self) -> str:
        """What was found in each column and made of it, a line each; `recipe_.report()` has it as data."""
        check_is_fitted(self)
        return self.recipe_.to_text()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "recipe_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags
