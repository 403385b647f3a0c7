"""A tree in other forms: scikit-learn, ONNX, Python and SQL source, Graphviz, JSON. All of them predict what it does.

JSON is lossless, follows a published schema with a version, and is read back by `from_json`.
"""

from streed.export.onnx import to_onnx
from streed.export.python import to_python
from streed.export.sklearn import codes, feature_names, to_sklearn
from streed.export.sql import to_sql
from streed.tree.storage import dump as to_json
from streed.tree.storage import load as from_json
from streed.tree.storage import schema
from streed.tree.text import dot as to_dot

__all__ = [
    "codes",
    "feature_names",
    "from_json",
    "schema",
    "to_dot",
    "to_json",
    "to_onnx",
    "to_python",
    "to_sklearn",
    "to_sql",
]
