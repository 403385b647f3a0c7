"""What all estimators share: from a raw table to a proven tree, paths of trees, and what a fitted tree tells.

The trees that are optimal for some cost per node lie on the lower convex hull of the least loss by size. A solve for
the cost at which two of them are equal finds one between them, or says that there is none: h hull points take 2 h
solves at most, and none is missed (M. Eisner, D. Severance: Mathematical Techniques for Efficient Record Segmentation
in Large Shared Databases, JACM 23, 1976).
"""

from __future__ import annotations

import abc
import dataclasses
import itertools
import time
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Bunch, estimator_html_repr
from sklearn.utils.validation import check_is_fitted

import streed
from streed.data import Dataset, most_cuts
from streed.errors import InputError, members
from streed.estimators import reading
from streed.exact import Array, Range
from streed.plot import tree_svg
from streed.result import Result
from streed.solve import LEAST_TIME, check_stops
from streed.task import Task
from streed.task.analysis.extent import OVER_ALL
from streed.tree import Branch, Tree
from streed.tree.nodes import visits, visits_in

_PASSED = ("max_depth", "max_nodes", "min_leaf", "search", "memory_limit", "threads")
"""Parameters that are handed on to `streed.solve` as they are."""


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class OptimalTree(BaseEstimator, abc.ABC):  # type: ignore[misc]
    """A tree that `streed.solve` grows and proves, on a table that is read as there.

    `max_depth`, `max_nodes` (branching nodes; None: any), `min_leaf`: the trees that are considered. `cost_complexity`:
    what a branching node costs, in the units that each class states. `limits`: for `Task.subject_to`, such as
    `[MinSupport(5)]` or `["min-support(5)"]`. `search`, `time_limit`, `memory_limit`, `threads`: as for `streed.solve`.
    `cuts`: which thresholds of numbers and dates are tried: "all" of them, at most so many of each column (a whole
    number), at quantiles, or "auto": all where the search is expected to end soon or a time limit ends it, else as many
    as will, see `streed.task.analysis.extent`. Texts have a child for each value; for other questions put a `Binarizer`
    before it into a pipeline.

    `time_limit` holds for all that a call does, a path and what is learned of the past with it, but
    not for compiling. Ctrl-C raises KeyboardInterrupt; the best tree so far is kept, as at the end of the time.

    Fitted: `tree_` (a `streed.Tree`), `result_` (a `streed.Result`), `value_`, `optimal_`, `lower_bound_`,
    `upper_bound_`, `gap_`; `feature_importances_`, `n_features_in_`, `feature_names_in_`;
    `searched_over_`, a text that says among which splits the tree is best, such as "all 22,599 thresholds";
    `bound_over_all_thresholds_`: where only some thresholds were tried, and a bound is known, no tree over all of them
    is worth more than this (or less, of costs), else None.
    """

    max_depth: int | None = 3
    max_nodes: int | None = None
    min_leaf: int = 1
    cost_complexity: Any = 0
    limits: Any = ()
    search: Any = "depth-first"
    cuts: Any = "auto"
    time_limit: float | None = None
    memory_limit: int | None = None
    threads: int = 1

    @abc.abstractmethod
    def _objective(self, cost_complexity: Any) -> Task:
        """The task, with a branching node at that cost, before limits."""

    @abc.abstractmethod
    def _statistics(self, data: Dataset) -> Array:
        """(n, m) float64: what is added up over the rows of a node, for `_impurity` and the predictions."""

    @abc.abstractmethod
    def _impurity(self, sums: Array) -> Array:
        """(nodes,) what the rows of each node cost if it were a leaf, of their summed statistics (nodes, m)."""

    def _further_limits(self, data: Dataset) -> list[Any]:
        """Limits beside those of the parameter; none unless overridden."""
        return []

    def _features(self, X: Any, *, fitting: bool) -> Any:
        """The columns of X that the tree may ask about, when it is fitted or afterwards; all unless overridden."""
        return X

    def _predictions(self, tree: Tree) -> Array:
        """(leaves,) what `predict` gives for each leaf; float64 unless overridden."""
        return np.array(tree.shows(), dtype=np.float64)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, frequency: Any = None) -> Self:
        """Grows and proves the tree; X (n, m) an array or table, y (n,) labels or numbers, sample_weight (n,) >= 0.

        `frequency`: (n,) whole numbers >= 0, how many equal rows each row stands for; 0 leaves a row out.
        """
        self._grow(X, y, sample_weight, {reading.FREQUENCY: frequency})
        return self

    def _grow(self, X: Any, y: Any, sample_weight: Any, row_data: Mapping[str, Any]) -> None:
        """Reads, solves, and keeps the outcome, of what `fit` was given; `row_data` may hold frequencies."""
        reading.forget(self)
        data = self._prepare(*self._present(X, y, sample_weight, row_data))
        result = self._solve(data)
        self._accept(result, data)
        if _is_interrupted(result):
            raise KeyboardInterrupt  # which ends searches over parameters, too; what was found is kept

    def _present(self, X: Any, y: Any, sample_weight: Any, row_data: Mapping[str, Any]) -> Any:
        """What `fit` was given without rows of frequency 0; every call begins so, and its time counts from here."""
        self._began = time.perf_counter()
        check_stops(self.time_limit, self.memory_limit, self.threads)
        return reading.present_rows(reading.readable(X), y, sample_weight, row_data)

    @abc.abstractmethod
    def _prepare(self, X: Any, y: Any, sample_weight: Any, row_data: Mapping[str, Any]) -> Dataset:
        """The rows to solve on, of what `present_rows` left of what `fit` was given, checked and coded."""

    def _make_data(self, X: Any, y: Any, weights: Array | None, row_data: Mapping[str, Any]) -> Dataset:
        """The coded rows of positive weight."""
        given = {name: values for name, values in row_data.items() if values is not None}
        if weights is not None:
            # A row that weighs nothing would still count where rows are counted, as for `min_leaf`.
            rows = np.flatnonzero(weights > 0)
            X, weights = reading.take_rows(X, rows), weights[rows]
            y = None if y is None else reading.take_rows(y, rows)
            given = {name: reading.take_rows(values, rows) for name, values in given.items()}
            if (np.floor(weights) == weights).all() and weights.max() < 2**53:
                weights = weights.astype(np.int64)  # so that their sums are exact
        labels = y.tolist() if isinstance(y, np.ndarray) else y
        return Dataset.make(X, labels, sample_weight=weights, max_cuts=most_cuts(self.cuts, "cuts"), **given)

    def _left(self) -> float | None:
        """The seconds that are left of the limit of time; None where there is none."""
        limit = self.time_limit
        return None if limit is None else max(float(limit) - (time.perf_counter() - self._began), LEAST_TIME)

    def _solve(self, data: Dataset, **other: Any) -> Result:
        """The outcome for the estimator's parameters, some of them `other`; raises InputError if there is no tree."""
        price = other.pop("cost_complexity", self.cost_complexity)
        Range(0, meaning="what a branching node costs").read("cost_complexity", price)
        objective = self._objective(price)
        limits = [*map(reading.limit_of, members(self.limits)), *self._further_limits(data)]
        orders = {**{name: getattr(self, name) for name in _PASSED}, "time_limit": self._left(), **other}
        result = streed.solve(objective.subject_to(*limits) if limits else objective, data, **orders)
        self._began += result.stats["seconds_compile"]
        if result.tree is None:
            if _is_interrupted(result):
                raise KeyboardInterrupt
            if result.status == "infeasible":
                raise InputError("limits", "no tree of that size is allowed", "allow more, or a larger tree")
            raise InputError("time_limit", "the search stopped before it found a tree", "allow more time or memory")
        return result

    def _accept(self, result: Result, data: Dataset) -> None:
        """Keeps the outcome of a solve on `data`."""
        assert result.tree is not None
        self.result_, self.tree_ = result, result.tree
        self.optimal_, self.gap_ = result.status == "optimal", result.gap
        ends = [result.value, result.lower_bound, result.upper_bound, result.stats.get(OVER_ALL)]
        if self._objective(0).larger_is_better and not result.task.larger_is_better:
            # Nodes that cost something were added to a gain, which turned it into a loss.
            ends = [None if ends[place] is None else -ends[place] for place in (0, 2, 1, 3)]
        self.value_, self.lower_bound_, self.upper_bound_, self.bound_over_all_thresholds_ = ends
        self.searched_over_ = result.stats["searched_over"]
        weights = np.ones(data.n_rows) if data.weights is None else data.weights
        self._shown = self._predictions(self.tree_)
        self._weigh_nodes(self.tree_, data, self._statistics(data) * weights[:, None])

    def _weigh_nodes(self, tree: Tree, data: Dataset, statistics: Array) -> None:
        """Keeps which nodes are leaves, the sums of these, and how much each column's questions lower the impurity."""
        found = visits_in(tree.root, data)
        asked = np.array([visit.node.column if isinstance(visit.node, Branch) else -1 for visit in found])
        # a node without rows is as its parent
        seen = (visit.rows if len(visit.rows) else found[visit.parent].rows for visit in found)
        sums = np.array([statistics[rows].sum(axis=0) for rows in seen])
        self._leaves = np.flatnonzero(asked < 0)
        self._leaf_sums = sums[self._leaves]
        worth = self._impurity(sums)
        gains = worth.copy()
        for visit, cost in zip(found[1:], worth[1:].tolist(), strict=True):
            gains[visit.parent] -= cost if len(visit.rows) else 0
        # Rounding, or a constraint, may make a split look worse than none.
        shares: Array = np.bincount(asked[asked >= 0], np.maximum(gains[asked >= 0], 0.0), self.n_features_in_)
        self.feature_importances_ = shares / (shares.sum() or 1)

    def training_data(self, X: Any, y: Any = None, *row_data: Any, **more: Any) -> Dataset:
        """The data that `fit` solves on when it is given the same arguments: what `streed.proof.prove` is about."""
        other, given = clone(self), []
        other._grow = lambda *rows: given.append(rows)
        other.fit(X, y, *row_data, **more)
        return other._prepare(*other._present(*given[0]))  # type: ignore[no-any-return]

    def cost_complexity_path(self, X: Any, y: Any, sample_weight: Any = None, **row_data: Any) -> Bunch:
        """The optimal trees for every cost of a branching node, from 0 up; arguments as for `fit`.

        `trees[i]` is optimal for costs from `cost_complexities[i]` to the next one; it has `n_nodes[i]` branching
        nodes, and without their cost it is worth `task_values[i]`. Costs are in the units of `cost_complexity`.
        """
        steps, found = self._path(complexity_path, X, y, sample_weight, row_data)
        costs = ((b.loss - a.loss) / (a.n_nodes - b.n_nodes) for a, b in itertools.pairwise(steps))
        return Bunch(cost_complexities=np.array([0.0, *map(float, costs)]), **found)

    def size_path(self, X: Any, y: Any, sample_weight: Any = None, **row_data: Any) -> Bunch:
        """The optimal tree for every number of branching nodes up to the best; arguments as for `fit`.

        `trees[k]` has at most k of them, and is worth `task_values[k]`; nodes cost nothing here.
        """
        return self._path(lambda solve: size_path(solve, self.max_nodes), X, y, sample_weight, row_data)[1]

    def _path(self, steps_of: Any, X: Any, y: Any, sample_weight: Any, row_data: Any) -> tuple[list[Step], Bunch]:
        other = clone(self)
        data = other._prepare(*other._present(X, y, sample_weight, row_data))
        steps = steps_of(lambda **given: other._solve(data, **given))
        sign = -1 if other._objective(0).larger_is_better else 1
        return steps, Bunch(
            task_values=np.array([sign * float(step.loss) for step in steps]),
            n_nodes=np.array([step.n_nodes for step in steps]),
            trees=[step.result.tree for step in steps],
        )

    def predict(self, X: Any) -> Array:
        """(m,) what each row's leaf says: a label, a number, a treatment, a risk relative to that of all rows."""
        leaves = self._leaf_numbers(X)
        return self._shown[leaves]

    def apply(self, X: Any) -> Array:
        """(m,) int64: the node that is each row's leaf; nodes are numbered parents first, children left to right."""
        leaves = self._leaf_numbers(X)
        return self._leaves[leaves]

    def decision_path(self, X: Any) -> csr_matrix:
        """(m, nodes) sparse 0/1: the nodes that each row passes, numbered as by `apply`."""
        X = self._encoded(X)
        rows = self.tree_.read(X)
        met = [visit.rows for visit in visits(self.tree_.root, rows.sides, rows.n_rows)]
        ends, shape = np.cumsum([0, *map(len, met)]), (rows.n_rows, len(met))
        return csc_matrix((np.ones(ends[-1], np.int64), np.concatenate(met), ends), shape=shape).tocsr()

    def get_depth(self) -> int:
        """The largest number of questions that a row is asked."""
        check_is_fitted(self)
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """The number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    def to_text(self) -> str:
        """The tree in words, its questions in the caller's units."""
        check_is_fitted(self)
        return self.tree_.to_text()

    export_text = to_text

    def plot_tree(self, **options: Any) -> Any:
        """The tree as SVG text, which notebooks show, by `streed.plot.tree_svg` with its options."""
        check_is_fitted(self)
        return tree_svg(self.tree_, **options)

    def _leaf_numbers(self, X: Any) -> Array:
        """(m,) the leaves of raw rows, numbered left to right."""
        rows = self._encoded(X)  # which refuses an estimator that is not fitted
        return self.tree_.apply(rows)

    def _encoded(self, X: Any) -> Any:
        """Raw rows, checked, as the tree takes them."""
        check_is_fitted(self)
        return reading.checked_table(self, self._features(reading.readable(X), fitting=False), reset=False)

    @property
    def _html_repr(self) -> Any:
        return lambda: estimator_html_repr(self) + (self.result_._repr_html_() if hasattr(self, "tree_") else "")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "tree_")  # columns and classes are known before a search that may find no tree

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        tags.input_tags.sparse = True
        return tags

    def _checked(self, X: Any, sample_weight: Any) -> tuple[Any, Array | None]:
        X = reading.checked_table(self, self._features(X, fitting=True), reset=True)
        return X, reading.checked_weights(sample_weight, len(X))


_CLOSE = 1e-9
"""Relative: losses of floats that are closer are taken as equal."""

_DIGITS = 10**9
"""Costs per node are rounded to fractions with a denominator up to this, lest exact numbers grow."""


class Step(NamedTuple):
    """A tree of a path."""

    n_nodes: int
    loss: Fraction
    """What it costs in the task's units, nodes apart; minus its value where the task is maximised."""
    result: Result


def complexity_path(solve: Callable[..., Result]) -> list[Step]:
    """The trees that are optimal for some cost per node, the largest (cost 0) first; `solve` takes parameters."""
    hull, large = [_step(solve(max_nodes=0, cost_complexity=0))], _step(solve(cost_complexity=0))
    waiting = [large] if large.n_nodes > 0 else []
    while waiting:
        first, last = hull[-1], waiting[-1]
        cost = (first.loss - last.loss) / (last.n_nodes - first.n_nodes)
        if cost <= _tolerance(first, last):  # more nodes, and no better
            waiting.pop()
            continue
        rounded = cost.limit_denominator(_DIGITS)
        found = _step(solve(cost_complexity=rounded), rounded)
        gained = first.loss + rounded * first.n_nodes - (found.loss + rounded * found.n_nodes)
        if gained > _tolerance(first, last) and first.n_nodes < found.n_nodes < last.n_nodes:
            waiting.append(found)
        else:
            hull.append(waiting.pop())
    return hull[::-1]


def size_path(solve: Callable[..., Result], most: int | None = None) -> list[Step]:
    """The best tree of at most k nodes for k = 0, 1, ..., until more nodes are no better, or there are `most`."""
    best = _step(solve(cost_complexity=0))
    steps: list[Step] = []
    for budget in itertools.count():
        steps.append(step := _step(solve(max_nodes=budget, cost_complexity=0)))
        if abs(step.loss - best.loss) <= _tolerance(step, best) or budget in (most, best.n_nodes):
            break
    return steps


def _is_interrupted(result: Result) -> bool:
    """Whether Ctrl-C ended the solve."""
    return bool(result.stats["stopped"] == "interrupt")


def _step(result: Result, cost: Fraction = Fraction(0)) -> Step:
    """The tree of a solve with that cost per node; raises InputError where it is not proved, or has no one number."""
    if _is_interrupted(result):
        raise KeyboardInterrupt
    if result.status != "optimal":
        raise InputError("time_limit", "a solve of the path stopped early", "allow more time, or smaller trees")
    if not isinstance(result.value, (int, float, Fraction)):
        raise InputError("task", "its values are tuples, which no cost of nodes trades off", "give one of one number")
    assert result.tree is not None
    nodes = result.tree.n_branches
    # What is shown is rounded; a rate of errors is found again as the fraction that it is.
    value = Fraction(result.value).limit_denominator(_DIGITS * 1000)
    # A maximised task that nodes are added to is the loss that it makes of itself, and minimised.
    return Step(nodes, (-value if result.task.larger_is_better else value) - cost * nodes, result)


def _tolerance(a: Step, b: Step) -> float:
    return _CLOSE * max(abs(float(a.loss)), abs(float(b.loss)))
