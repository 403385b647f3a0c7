"""A tree in other forms: scikit-learn, ONNX, Python, SQL, Graphviz, JSON. All predict what it does.

Each takes a tree, a result or a fitted estimator, and asks about the columns of the raw table. JSON is lossless,
follows a published schema with a version, and is read back by `from_json`.
"""

from __future__ import annotations

from typing import Any

from streed.export.onnx import onnx_inputs, to_onnx
from streed.export.sklearn import codes, feature_names, to_sklearn
from streed.export.source import to_python, to_sql
from streed.tree import tree_of
from streed.tree.storage import load as from_json
from streed.tree.storage import schema

__all__ = [
    "codes", "feature_names", "from_json", "onnx_inputs", "schema", "to_dot", "to_json", "to_onnx", "to_python",
    "to_sklearn", "to_sql",
]  # fmt: skip


def to_json(model: Any, indent: int | None = None) -> str:
    """The tree, its claims and its recipe as JSON, as `Tree.to_json` says; of a tree, result or fitted estimator."""
    return tree_of(model, "model").to_json(indent=indent)


def to_dot(model: Any) -> str:
    """The tree in Graphviz's language; of a tree, result or fitted estimator."""
    return tree_of(model, "model").to_dot()
