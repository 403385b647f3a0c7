"""A tree as an ONNX model, through scikit-learn and skl2onnx."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streed.errors import MissingPackageError
from streed.export.sklearn import to_sklearn
from streed.tree import Tree

if TYPE_CHECKING:
    from onnx import ModelProto


def to_onnx(tree: Tree, X: Any = None, y: Any = None, *, sample_weight: Any = None) -> ModelProto:
    """The model: its input `X` is (m, p) float32 as `codes` makes it, its first output what the tree predicts.

    Arguments and errors as of `to_sklearn`; MissingPackageError without skl2onnx. Numbers are predicted in single
    precision.
    """
    try:
        from skl2onnx import convert_sklearn
        from skl2onnx.common.data_types import FloatTensorType
    except ModuleNotFoundError:
        raise MissingPackageError('to_onnx needs skl2onnx: pip install "streed[onnx]"') from None
    estimator = to_sklearn(tree, X, y, sample_weight=sample_weight)
    inputs = [("X", FloatTensorType([None, tree.n_columns]))]
    model: ModelProto = convert_sklearn(
        estimator, "streed", inputs, options={"zipmap": False} if hasattr(estimator, "classes_") else None
    )
    return model
