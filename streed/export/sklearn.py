"""A tree as a scikit-learn estimator, for what works on those: plot_tree, export_text, SHAP, skl2onnx.

The estimator reads codes (`codes`): 0/1 of binary columns, the number of the category of others, and of ordered columns
the value itself in single precision, moved where it has to be to stay on its side of every threshold. A branching node
with a child per category becomes a few binary ones on its codes, `department <= 2.5` and so on. Of a tree that carries
the recipe of its questions, it is the last step of a pipeline that reads raw tables.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from streed.data import Cut, Dataset
from streed.errors import InputError, MissingPackageError
from streed.exact import Array
from streed.export.questions import plan
from streed.export.single_precision import as_double, single_precision
from streed.tree import Tree
from streed.tree.models import tree_of
from streed.tree.rows import TreeRows

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

_LEAF, _NOTHING = -1, -2
"""How scikit-learn marks a node without children, and a leaf's column and threshold."""

_NO_COLUMN = "none"
"""The name of the only column, all 0, where the tree's data had no column."""

_UNREACHED = 1e-9
"""What a leaf without rows weighs: SHAP divides by weights."""


def to_sklearn(
    model: Any, X: Any = None, y: Any = None, *, sample_weight: Any = None
) -> DecisionTreeClassifier | DecisionTreeRegressor | Pipeline:
    """A fitted estimator that predicts what the tree of `model` does: a tree, a result or a fitted estimator.

    It reads `codes(model, X)`. Of a tree with a recipe it is a pipeline of `QuestionsOfTree` and that estimator, which
    reads raw tables. The estimator is a regressor where all leaves show measured numbers, else a classifier. Without
    rows its probabilities are 1 for what a leaf predicts; with `X` and `y` (or a Dataset) they are the shares of the
    classes in the leaf. Raises InputError where a label's share is not the largest in its leaf (as under unequal costs
    or a limit: the estimator would predict another label) and for labels of different types, MissingPackageError
    without scikit-learn.
    """
    try:
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
        from sklearn.tree._tree import Tree as Compiled
    except ModuleNotFoundError:
        raise MissingPackageError("to_sklearn needs scikit-learn: pip install 'streed[sklearn]'") from None
    tree = tree_of(model)
    nodes = plan(tree)
    leaves = [place for place, below in enumerate(nodes.children) if not below]
    shows = [nodes.shows[place] for place in leaves]
    is_regression = tree.shown is not None and all(_is_number(shown) for shown in shows)
    classes = None if is_regression else _classes(tree, shows)
    at, targets, weights = _rows(tree, X, y, sample_weight)
    sizes = np.array([nodes.rows[place] for place in leaves]) if at is None else np.bincount(at, minlength=len(leaves))
    if at is None or weights is None:
        masses: Array = sizes.astype(np.float64)
    else:
        masses = np.bincount(at, weights=weights, minlength=len(leaves))
    masses = np.maximum(masses, _UNREACHED)
    values = _leaf_values(shows, classes)
    if classes is not None and at is not None and targets is not None:
        values = _shares(values, classes, at, targets, np.ones(len(at)) if weights is None else weights)
    built, places = unrolled(nodes.children, nodes.columns, leaves, nodes.cuts)
    state = _state(built, sizes, masses, values, is_classifier=not is_regression)
    cuts = [nodes.cuts[place] for place in places]
    state["nodes"]["missing_go_to_left"] = [cut is not None and cut.gaps == 0 for cut in cuts]
    estimator: Any = (DecisionTreeRegressor if is_regression else DecisionTreeClassifier)(max_depth=state["max_depth"])
    width = len(feature_names(tree))
    estimator.n_features_in_ = width
    estimator.n_outputs_ = 1
    estimator.max_features_ = width
    n_classes = 1 if classes is None else len(classes)
    if classes is not None:
        estimator.classes_ = classes
        estimator.n_classes_ = np.int64(n_classes)
    estimator.tree_ = Compiled(width, np.array([n_classes], dtype=np.intp), 1)
    estimator.tree_.__setstate__(state)
    return estimator if tree.recipe is None else _pipeline(tree, estimator)


def to_pipeline(model: Any) -> Pipeline:
    """The estimator of `to_sklearn` behind a step that reads raw tables, whether or not the tree has a recipe."""
    tree = tree_of(model)
    exported = to_sklearn(tree)
    return exported if tree.recipe is not None else _pipeline(tree, exported)


def _pipeline(tree: Tree, estimator: Any) -> Pipeline:
    from sklearn.pipeline import Pipeline

    from streed.export.steps import QuestionsOfTree

    return Pipeline([("questions", QuestionsOfTree(tree)), ("tree", estimator)])


def codes(model: Any, X: Any) -> Array:
    """(m, p) float32: rows as `to_sklearn`'s estimator reads them; columns that the tree does not ask about are 0.

    Gaps of ordered columns are NaN. Where the tree's data had no column there is one, which scikit-learn wants. `X` as
    `Tree.predict` takes it; raises InputError for missing columns, values that the tree does not know, and thresholds
    that single precision does not tell apart.
    """
    tree = tree_of(model)
    rows = TreeRows.of(X, tree.columns, tree.n_columns, tree.recipe)
    thresholds = tree.thresholds()
    table = np.zeros((rows.n_rows, max(tree.n_columns, 1)), dtype=np.float32)
    for j, column in tree.columns.items():
        if j in thresholds:
            table[:, j] = single_precision(rows.numbers(j), thresholds[j], column.name)
        else:
            table[:, j] = rows.codes(j)
    return table


def feature_names(model: Any) -> list[str]:
    """The names of the estimator's columns, as far as the tree knows them; x0, x1, ... elsewhere."""
    tree = tree_of(model)
    if tree.n_columns == 0:
        return [_NO_COLUMN]
    if tree.recipe is not None:
        return [output.name for output in tree.recipe.outputs]
    return [tree.columns[j].name if j in tree.columns else f"x{j}" for j in range(tree.n_columns)]


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _classes(tree: Tree, shows: Sequence[Any]) -> Array:
    """(K,) the classes of the estimator, sorted as scikit-learn wants them."""
    labels = list(tree.labels if tree.shown is None else dict.fromkeys(shows))
    kinds = {type(label) for label in labels}
    if len(kinds) > 1 or not kinds <= {bool, int, float, str}:
        found = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise InputError("tree", f"its labels are of the types {found}", "scikit-learn wants texts or numbers alone")
    return np.array(sorted(labels))


def _leaf_values(shows: Sequence[Any], classes: Array | None) -> Array:
    """(leaves, K): 1 for the class that a leaf shows; (leaves, 1) its number for a regressor."""
    if classes is None:
        return np.array([[float(shown)] for shown in shows])
    values: Array = (np.array(shows)[:, None] == classes).astype(np.float64)
    return values


def _rows(tree: Tree, X: Any, y: Any, sample_weight: Any) -> tuple[Array | None, list[Any] | None, Array | None]:
    """(the leaf of every row, its label, its weight), as far as they are given."""
    if X is None:
        return None, None, None
    at = tree.apply(X)
    if isinstance(X, Dataset):
        return at, X.y.tolist(), X.weights
    targets = None if y is None else (y.tolist() if hasattr(y, "tolist") else list(y))
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    for name, given in (("y", targets), ("sample_weight", weights)):
        if given is not None and len(given) != len(at):
            raise InputError(name, f"it has {len(given)} entries, but X has {len(at)} rows", "give one entry per row")
    return at, targets, weights


def _shares(values: Array, classes: Array, at: Array, targets: list[Any], weights: Array) -> Array:
    """(leaves, K) the share of every class among a leaf's rows; `values` for a leaf without rows."""
    known = {label: k for k, label in enumerate(classes.tolist())}
    unknown = next((target for target in targets if target not in known), None)
    if unknown is not None:
        raise InputError("y", f"{unknown!r} is no label of the tree", f"its labels are {classes.tolist()[:5]}")
    numbered = np.array([known[target] for target in targets])
    cells = at * len(classes) + numbered
    counts = np.bincount(cells, weights=weights, minlength=values.size).reshape(values.shape)
    totals = counts.sum(axis=1, keepdims=True)
    shares: Array = np.divide(counts, totals, out=values.copy(), where=totals > 0)
    differ = np.flatnonzero(shares.argmax(axis=1) != values.argmax(axis=1))
    if len(differ):
        leaf = int(differ[0])
        raise InputError(
            "y",
            f"leaf {leaf} predicts {classes[values[leaf].argmax()].item()!r}, which most of its rows are not",
            "leave out X and y: the probabilities are then 1 for what a leaf predicts",
        )
    return shares


def unrolled(
    children: Sequence[tuple[int, ...]],
    columns: Sequence[int],
    leaves: Sequence[int],
    cuts: Sequence[Cut | None] | None = None,
) -> tuple[list[tuple[int, int, int, float, int]], list[int]]:
    """Binary nodes as (left, right, column, threshold, leaf number), parents first and left before right; their places.

    A place is that of the node which a binary one was made of. `cuts`: those of nodes on ordered columns, whose
    thresholds are kept (infinity for the question whether a value is missing). Of other nodes, the children are a range
    of codes; it is halved until one child is left, so that c children lie at most log2(c), rounded up, levels deeper.
    """
    numbers_of = {place: number for number, place in enumerate(leaves)}
    built: list[tuple[int, int, int, float, int]] = []
    places: list[int] = []
    # (node, or the first and the last of its children; the built parent; whether this is its right child)
    stack: list[tuple[int, int, int, int, bool]] = [(0, 0, -1, -1, False)]
    while stack:
        place, first, last, parent, is_right = stack.pop()
        here = len(built)
        places.append(place)
        if parent >= 0:
            left, right, *rest = built[parent]
            built[parent] = (left, here, *rest) if is_right else (here, right, *rest)  # type: ignore[assignment]
        if last < 0:
            first, last = 0, len(children[place]) - 1
        if not children[place]:
            built.append((_LEAF, _LEAF, _NOTHING, float(_NOTHING), numbers_of[place]))
            continue
        middle = (first + last) // 2
        cut = None if cuts is None else cuts[place]
        threshold = middle + 0.5 if cut is None else as_double(cut.threshold)
        built.append((_LEAF, _LEAF, columns[place], threshold, -1))
        for low, high, right_hand in ((middle + 1, last, True), (first, middle, False)):
            if low == high:
                stack.append((children[place][low], 0, -1, here, right_hand))
            else:
                stack.append((place, low, high, here, right_hand))
    return built, places


def _state(
    built: Sequence[tuple[int, int, int, float, int]],
    sizes: Array,
    masses: Array,
    values: Array,
    *,
    is_classifier: bool,
) -> dict[str, Any]:
    """What scikit-learn's compiled tree is set to: the nodes, and their values (nodes, 1, K)."""
    from sklearn.tree._tree import NODE_DTYPE

    nodes = np.zeros(len(built), dtype=NODE_DTYPE)
    value, square = np.zeros((len(built), values.shape[1])), np.zeros(len(built))
    depths = np.zeros(len(built), dtype=np.int64)
    for place, (left, right, column, threshold, _) in enumerate(built):
        nodes["left_child"][place], nodes["right_child"][place] = left, right
        nodes["feature"][place], nodes["threshold"][place] = column, threshold
        for child in (left, right):
            if child > 0:
                depths[child] = depths[place] + 1
    for place in range(len(built) - 1, -1, -1):
        left, right, _, _, leaf = built[place]
        if leaf >= 0:
            nodes["n_node_samples"][place] = sizes[leaf]
            nodes["weighted_n_node_samples"][place] = masses[leaf]
            value[place], square[place] = values[leaf], float(values[leaf] @ values[leaf])
            continue
        below = [left, right]
        weights = nodes["weighted_n_node_samples"][below]
        nodes["n_node_samples"][place] = nodes["n_node_samples"][below].sum()
        nodes["weighted_n_node_samples"][place] = weights.sum()
        shares = weights / weights.sum()
        value[place], square[place] = shares @ value[below], float(shares @ square[below])
    spread = (value * value).sum(axis=1)
    nodes["impurity"] = np.maximum(1 - spread if is_classifier else square - spread, 0.0)
    return {
        "max_depth": int(depths.max()),
        "node_count": len(built),
        "nodes": nodes,
        "values": value[:, None, :].copy(),
    }
