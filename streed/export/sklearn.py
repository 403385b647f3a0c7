"""A tree as a scikit-learn estimator, for what works on those: plot_tree, export_text, SHAP.

It reads the answers to the tree's questions, 0 or 1 each (`codes`), named by `feature_names`. A branching
node with a child per category asks about one category after the other.
"""

from __future__ import annotations

import functools
import numbers
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from streed.data import Dataset
from streed.errors import InputError, MissingPackageError
from streed.exact import Array
from streed.tree import Branch, Leaf, Tree, holds, tree_of, walk

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

_LEAF, _NOTHING = -1, -2
"""How scikit-learn marks a node without children, and a leaf's column and threshold."""

_UNREACHED = 1e-9
"""What a leaf without rows weighs: SHAP divides by weights."""


def to_sklearn(model: Any, X: Any = None, y: Any = None, *, sample_weight: Any = None) -> Pipeline:
    """A fitted pipeline that reads raw tables and predicts what the tree of `model` (a result, an estimator) does.

    Its first step gives `codes(model, X)`; the last, `[-1]`, is a DecisionTreeRegressor where all leaves show measured
    numbers, else a DecisionTreeClassifier. Its probabilities are 1 for what a leaf predicts; with `X` and `y` (or a
    Dataset) they are the shares of the classes in the leaf. Raises InputError where a label's share is not the largest
    in its leaf (as under unequal costs or a limit: the estimator would predict another label) and for labels of
    different types, MissingPackageError without scikit-learn.
    """
    try:
        from sklearn.pipeline import Pipeline
        from sklearn.preprocessing import FunctionTransformer
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
        from sklearn.tree._tree import Tree as Compiled
    except ModuleNotFoundError:
        raise MissingPackageError("to_sklearn needs scikit-learn: pip install 'streed[sklearn]'") from None
    tree = tree_of(model, "model")
    built, shows = _binary(tree), tree.shows()
    is_number = (isinstance(shown, numbers.Real) and not isinstance(shown, bool) for shown in shows)
    is_regression = tree.shown is not None and all(is_number)
    classes = None if is_regression else _classes(tree, shows)
    values = np.array([[float(shown)] for shown in shows]) if classes is None else np.array(shows)[:, None] == classes
    sizes = np.array([leaf.rows for leaf in tree.leaves()])
    masses, values = sizes.astype(np.float64), values.astype(np.float64)
    if X is not None:
        sizes, masses, values = _shares(tree, X, y, sample_weight, values, classes)
    state = _state(built, sizes, np.maximum(masses, _UNREACHED), values, classifies=not is_regression)
    estimator: Any = (DecisionTreeRegressor if is_regression else DecisionTreeClassifier)(max_depth=state["max_depth"])
    estimator.n_features_in_ = estimator.max_features_ = len(feature_names(tree))
    estimator.n_outputs_ = 1
    if classes is not None:
        estimator.classes_, estimator.n_classes_ = classes, np.int64(len(classes))
    estimator.tree_ = Compiled(estimator.n_features_in_, np.array([values.shape[1]], dtype=np.intp), 1)
    estimator.tree_.__setstate__(state)
    return Pipeline([("questions", FunctionTransformer(functools.partial(codes, tree))), ("tree", estimator)])


def codes(model: Any, X: Any) -> Array:
    """(m, q) float32: the answers of rows to the tree's questions, 0 or 1, as `to_sklearn`'s estimator reads them.

    A tree without a question has one column of 0, which scikit-learn wants. `X` as `Tree.predict` takes it; raises
    InputError for missing columns and for values that the tree does not know.
    """
    tree = tree_of(model, "model")
    rows, asked = tree.read(X), _questions(tree)
    table = np.zeros((rows.n_rows, max(len(asked), 1)), dtype=np.float32)
    for place, (column, cut, code) in enumerate(asked):
        table[:, place] = rows.sides(Branch(column, (), 0, cut), np.arange(rows.n_rows)) == code
    return table


def feature_names(model: Any) -> list[str]:
    """The names of the estimator's columns: what holds of a row where they are 1."""
    tree = tree_of(model, "model")
    return [holds(tree.columns[column], code, cut) for column, cut, code in _questions(tree)] or ["none"]


def _questions(tree: Tree) -> list[tuple[int, Any, int]]:
    """(column, cut, number of the child) of every question, parents first."""
    asked = (node for node in walk(tree.root) if isinstance(node, Branch))
    return list(dict.fromkeys((node.column, node.cut, code) for node in asked for code in range(1, len(node.children))))


def _binary(tree: Tree) -> list[list[int]]:
    """[left, right, question] of every node, parents first; of c children, c - 1 nodes ask for the last child first."""
    places = {key: place for place, key in enumerate(_questions(tree))}
    made: list[list[int]] = []
    # (node, how many of its children are left, the parent's place, whether this is its right child)
    stack: list[tuple[Any, int, int, int]] = [(tree.root, 0, 0, 0)]
    while stack:
        node, several, parent, side = stack.pop()
        here = len(made)
        if here:
            made[parent][side] = here
        if isinstance(node, Leaf):
            made.append([_LEAF, _LEAF, _NOTHING])
            continue
        last = (several or len(node.children)) - 1
        made.append([0, 0, places[node.column, node.cut, last]])
        stack.append((node.children[last], 0, here, 1))
        stack.append((node.children[0], 0, here, 0) if last == 1 else (node, last, here, 0))
    return made


def _classes(tree: Tree, shows: Sequence[Any]) -> Array:
    """(K,) the classes of the estimator, sorted as scikit-learn wants them."""
    labels = list(tree.labels if tree.shown is None else dict.fromkeys(shows))
    kinds = {type(label) for label in labels}
    if len(kinds) > 1 or not kinds <= {bool, int, float, str}:
        found = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise InputError("tree", f"its labels are of the types {found}", "scikit-learn wants texts or numbers alone")
    return np.array(sorted(labels))


def _shares(tree: Tree, X: Any, y: Any, sample_weight: Any, values: Array, classes: Array | None) -> tuple[Array, ...]:
    """(leaves,) rows, (leaves,) their weight, (leaves, K) the share of every class; `values` where none is known."""
    at, n = tree.apply(X), len(values)
    if isinstance(X, Dataset):
        y, sample_weight = X.y, X.weights
    weights = np.ones(len(at)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    for name, each in (("y", y), ("sample_weight", weights)):
        if each is not None and len(each) != len(at):
            raise InputError(name, f"it has {len(each)} entries, but X has {len(at)} rows", "give one entry per row")
    sizes, masses = np.bincount(at, minlength=n), np.bincount(at, weights=weights, minlength=n)
    if classes is None or y is None:
        return sizes, masses, values
    targets = np.asarray(y)
    for unknown in targets[~np.isin(targets, classes)].tolist():
        raise InputError("y", f"{unknown!r} is no label of the tree", f"its labels are {classes.tolist()[:5]}")
    cells = at * len(classes) + np.searchsorted(classes, targets)
    counts = np.bincount(cells, weights=weights, minlength=values.size).reshape(values.shape)
    totals = counts.sum(axis=1, keepdims=True)
    shares: Array = np.divide(counts, totals, out=values.copy(), where=totals > 0)
    for leaf in np.flatnonzero(shares.argmax(axis=1) != values.argmax(axis=1)):
        found = f"leaf {leaf} predicts {classes[values[leaf].argmax()].item()!r}, which most of its rows are not"
        raise InputError("y", found, "leave out X and y: the probabilities are then 1 for what a leaf predicts")
    return sizes, masses, shares


def _state(built: list[list[int]], sizes: Array, masses: Array, values: Array, *, classifies: bool) -> dict[str, Any]:
    """What scikit-learn's compiled tree is set to: the nodes, and their values (nodes, 1, K)."""
    from sklearn.tree._tree import NODE_DTYPE

    nodes, shape = np.zeros(len(built), dtype=NODE_DTYPE), np.array(built)
    nodes["left_child"], nodes["right_child"], nodes["feature"] = shape.T
    ends = np.flatnonzero(shape[:, 0] == _LEAF)
    nodes["threshold"] = 0.5
    nodes["threshold"][ends] = _NOTHING
    nodes["n_node_samples"][ends], nodes["weighted_n_node_samples"][ends] = sizes, masses
    value, square = np.zeros((len(built), values.shape[1])), np.zeros(len(built))
    value[ends], square[ends] = values, (values**2).sum(axis=1)
    heights = np.zeros(len(built), dtype=np.int64)
    for place in np.flatnonzero(shape[:, 0] != _LEAF)[::-1].tolist():
        below = shape[place, :2]
        heights[place] = 1 + heights[below].max()
        weights = nodes["weighted_n_node_samples"][below]
        nodes["n_node_samples"][place] = nodes["n_node_samples"][below].sum()
        nodes["weighted_n_node_samples"][place] = weights.sum()
        shares = weights / weights.sum()
        value[place], square[place] = shares @ value[below], float(shares @ square[below])
    spread = (value * value).sum(axis=1)
    nodes["impurity"] = np.maximum(1 - spread if classifies else square - spread, 0.0)
    return {"max_depth": int(heights[0]), "node_count": len(built), "nodes": nodes, "values": value[:, None, :].copy()}
