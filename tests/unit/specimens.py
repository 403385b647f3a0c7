"""Small trees with their data, and a strategy for random ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from streed.data import Dataset
from streed.tree import Branch, Leaf, Node, Tree

XOR = [[0, 0], [0, 1], [1, 0], [1, 1]]


def xor_tree() -> tuple[Tree, Dataset]:
    data = Dataset.make({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}, ["no", "yes", "yes", "no"])
    left = Branch(1, (Leaf(0, 1, 0), Leaf(1, 1, 0)), 2)
    right = Branch(1, (Leaf(1, 1, 0), Leaf(0, 1, 0)), 2)
    return Tree.grown(Branch(0, (left, right), 4), data), data


def colour_tree() -> tuple[Tree, Dataset]:
    table = {
        "colour": ["red", "green", "blue", "red", "green"],
        "size": ["small", "large", "large", "large", "small"],
        "noise": [0, 1, 0, 1, 0],
    }
    data = Dataset.make(table, [1, 2, 2, 1, 1])
    size = Branch(1, (Leaf(1, 1, 0), Leaf(0, 1, 0)), 2)
    return Tree.grown(Branch(0, (Leaf(1, 1, 0), size, Leaf(0, 2, 0)), 5), data), data


def chain(levels: int) -> tuple[Tree, Dataset]:
    """Column j splits off row j, for a tree as deep as it has branches."""
    X = np.eye(levels + 1, levels, dtype=np.uint8)
    data = Dataset.make(X, np.arange(levels + 1) % 2)
    node: Node = Leaf(levels % 2, 1, 0)
    for j in reversed(range(levels)):
        node = Branch(j, (node, Leaf(j % 2, 1, 0)), levels + 1 - j)
    return Tree.grown(node, data), data


@st.composite
def trees(draw: st.DrawFn) -> tuple[Tree, Dataset]:
    """A random tree over random rows of two binary columns, one of three categories and one of two texts."""
    n = draw(st.integers(1, 40))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    table = {
        "a": [*rng.integers(0, 2, n).tolist(), 0, 1],
        "b": [*rng.integers(0, 2, n).tolist(), 0, 1],
        "c": [*rng.choice(["x", "y", "z"], n).tolist(), "y", "z"],
        "d": [*rng.choice(["u", "v"], n).tolist(), "u", "v"],
    }
    data = Dataset.make(table, rng.integers(0, 3, n + 2), sample_weight=draw(st.sampled_from([None, [0.5] * (n + 2)])))

    def grow(rows: list[int], depth: int) -> Node:
        j = int(rng.integers(0, 6))
        if depth == 0 or j > 3:
            return Leaf(int(rng.integers(0, data.n_classes)), len(rows), 0)
        codes = data.X[:, j]
        width = len(data.column(j).categories) if data.column(j).multiway else 2
        return Branch(j, tuple(grow([i for i in rows if codes[i] == c], depth - 1) for c in range(width)), len(rows))

    return Tree.grown(grow(list(range(n + 2)), draw(st.integers(0, 5))), data), data


def sample(rows: int = 50, columns: int = 5) -> tuple[Any, Any]:
    draw = np.random.default_rng(4)
    X = draw.integers(0, 2, (rows, columns))
    return X, (X[:, 0] & X[:, 1]) ^ (draw.random(rows) < 0.2)


def labels() -> tuple[Any, Any]:
    X, y = sample()
    return X, y.astype(int)
