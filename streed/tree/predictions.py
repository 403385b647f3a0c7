"""What a tree predicts for rows of codes, and how large it is."""

from __future__ import annotations

import functools

import numpy as np

from streed.data import Dataset
from streed.exact import Array
from streed.tree.nodes import Branch, Leaf, Node, route, walk
from streed.tree.rows import sides_in


def predict_data(root: Node, data: Dataset) -> Array:
    """(n,) int64: the number of the label that the tree gives each row of the data that it was grown on."""
    labels = np.array([node.label for node in walk(root) if isinstance(node, Leaf)])
    predicted: Array = labels[route(root, functools.partial(sides_in, data), data.n_rows)]
    return predicted


def count_branches(root: Node) -> int:
    """The number of branching nodes."""
    return sum(isinstance(node, Branch) for node in walk(root))
