"""Trees made at random, without a search, over columns of every kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from streed.data import Dataset
from streed.tree import Branch, Leaf, Node, Tree

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


def make_chain(data: Dataset, levels: int) -> Tree:
    """A tree that asks about the plain columns over and over, so deep that nothing may recurse."""
    node: Node = Leaf(0, 1, 0)
    for level in range(levels):
        node = Branch(level % data.n_columns, (Leaf((level + 1) % data.n_classes, 1, 0), node), 2 + level)
    return Tree.grown(node, data)
