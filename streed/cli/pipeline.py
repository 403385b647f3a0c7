"""A saved tree as a scikit-learn pipeline that reads tables as the shell reads files. It needs scikit-learn."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline

from streed.cli.preparation import asked_columns
from streed.datasets.reading import plain_table
from streed.exact import Array
from streed.export import codes, to_sklearn
from streed.tree import Tree


class QuestionsOfFile(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The answers of a table's rows to the questions of a tree that `streed solve` saved.

    `tree`: a `streed.Tree`. There is nothing to fit.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def fit(self, X: Any, y: Any = None) -> QuestionsOfFile:
        """Nothing: the questions are the tree's."""
        return self

    def transform(self, X: Any) -> Array:
        """(m, p) float32: rows as `streed.export.codes` makes them, of a pandas or polars table, or a dict."""
        return codes(self.tree, asked_columns(self.tree, plain_table(X)))

    def __sklearn_is_fitted__(self) -> bool:
        return True


def to_pipeline(tree: Tree) -> Pipeline:
    """A fitted pipeline that predicts for tables what `streed predict` does for files."""
    exported = to_sklearn(tree)
    if isinstance(exported, Pipeline):
        return exported
    return Pipeline([("questions", QuestionsOfFile(tree)), ("tree", exported)])
