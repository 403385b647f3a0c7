"""What a tree predicts for rows of codes, and how large it is."""

from __future__ import annotations

import numpy as np

from streed.tree.nodes import Array, Branch, Leaf, Node, route, walk


def predict_rows(root: Node, codes: Array) -> Array:
    """(n,) int64: the number of the label that the tree gives each row of `codes` (n, p)."""
    labels = np.array([node.label for node in walk(root) if isinstance(node, Leaf)])
    predicted: Array = labels[route(root, lambda column: codes[:, column], len(codes))]
    return predicted


def count_branches(root: Node) -> int:
    """The number of branching nodes."""
    return sum(isinstance(node, Branch) for node in walk(root))
