"""Small trees with their data, a strategy for random ones, and trees made at random over columns of every kind."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from streed.data import Column, Cut, Dataset, Kind
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
    """Column j splits off row j, on either side in turn, for a tree as deep as it has branches."""
    X = np.eye(levels + 1, levels, dtype=np.uint8) ^ np.arange(levels, dtype=np.uint8) % 2
    data = Dataset.make(X, np.arange(levels + 1) % 2)
    node: Node = Leaf(levels % 2, 1, 0)
    for j in reversed(range(levels)):
        leaf = Leaf(j % 2, 1, 0)
        node = Branch(j, (leaf, node) if j % 2 else (node, leaf), levels + 1 - j)
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


KINDS: dict[str, list[Any]] = {
    "flag": [0, 1],
    "truth": [False, True],
    "sex": ["f", "m"],
    "depart'ment": ["A", 'B "b"', "C", "D\\", "E"],
    "grade": [1, 2, 3],
    'odd "name" {x}': ["", "x"],
}


def make_table(n_rows: int, seed: int) -> dict[str, list[Any]]:
    """A column of every kind; every value occurs."""
    rng = np.random.default_rng(seed)
    table = {}
    for name, values in KINDS.items():
        places = np.concatenate([np.arange(len(values)), rng.integers(0, len(values), n_rows - len(values))])
        table[name] = [values[place] for place in rng.permutation(places)]
    return table


def make_data(n_rows: int = 60, seed: int = 0, labels: tuple[Any, ...] = ("no", "perhaps", "yes")) -> Dataset:
    rng = np.random.default_rng(seed)
    y = [labels[k] for k in rng.permutation([*range(len(labels)), *rng.integers(0, len(labels), n_rows - len(labels))])]
    return Dataset.make(make_table(n_rows, seed), y, categorical=["grade"])


def make_tree(data: Dataset, depth: int = 3, seed: int = 0, shown: tuple[Any, ...] | None = None) -> Tree:
    """A tree that splits at random; leaves show labels at random, or one of `shown` each."""
    rng = np.random.default_rng(seed)

    def grow(rows: Any, depth: int) -> Node:
        splits = [j for j in range(data.n_columns) if len(set(data.X[rows, j].tolist())) > 1]
        if not depth or not splits or rng.random() < 0.1:
            return Leaf(int(rng.integers(data.n_classes)), len(rows), 0)
        j = int(rng.choice(splits))
        width = len(data.column(j).categories)
        return Branch(j, tuple(grow(rows[data.X[rows, j] == code], depth - 1) for code in range(width)), len(rows))

    tree = Tree.grown(grow(np.arange(data.n_rows), depth), data)
    if shown is None:
        return tree
    chosen = tuple(shown[place] for place in rng.integers(0, len(shown), tree.n_leaves))
    return Tree.grown(tree.root, data, shown=chosen)


AGE = Column("age", (), False, Kind.NUMBER, True)
DAY = Column("day", (), False, Kind.DATE)
SIZE = Column("size", ("s", "m", "l"), False, Kind.CATEGORY, True)


def stump(column: Column, cut: Cut, place: int = 0) -> Tree:
    """A tree with one branch."""
    return Tree(Branch(place, (Leaf(0, 2, 0), Leaf(1, 2, 0)), 4, cut), {place: column}, 3, ("low", "high"))
