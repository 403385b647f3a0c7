"""Regression: the tree of least squared error, or of another loss; and survival times, some of them censored.

>>> from streed.estimators import OptimalTreeRegressor
>>> model = OptimalTreeRegressor(max_depth=1).fit([[1.5], [2.0], [7.0], [8.5]], [1.0, 3.0, 10.0, 10.0])
>>> model.predict([[0.0], [9.0]]).tolist(), round(model.score([[1.5], [2.0], [7.0], [8.5]], [1.0, 3.0, 10.0, 10.0]), 3)
([2.0, 10.0], 0.97)

>>> from streed.estimators import SurvivalTree
>>> model = SurvivalTree(max_depth=1).fit([[60.0], [50.0], [80.0], [75.0]], [9, 8, 2, 1], event=[0, 1, 1, 1])
>>> model.predict([[55.0], [78.0]]).round(3).tolist(), model.score([[55.0], [78.0]], [8, 2])
([0.462, 2.4], 1.0)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from streed.data import Dataset, row_column
from streed.data.rows import read_events, read_row_data, split_outcome, weigh_copies
from streed.errors import InputError
from streed.estimators.base import OptimalTree
from streed.estimators.reading import FREQUENCY, checked_column, checked_weights, signs_of, with_splits
from streed.exact import Array
from streed.task import Task
from streed.tasks import RelativeRisk, SquaredError
from streed.tasks.survival import as_times, cumulative_hazards, nelson_aalen, survival_functions


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class OptimalTreeRegressor(RegressorMixin, OptimalTree):  # type: ignore[misc]
    """The optimal regression tree for a task; see `OptimalTree` for what all estimators share.

    `task`: a task of `streed.tasks` or of one's own whose leaves show numbers, or its name, such as "absolute-error";
    None is the squared error as a share of that of the mean, so that `value_` is 1 - R^2 of the training rows plus the
    cost of the nodes. `cost_complexity`: what a branching node costs: a share of the same where `task` is None, else in
    the task's own units. `monotonic_cst` is as in scikit-learn, and refused but for zeros: what a leaf in order shows
    depends on the other leaves, and such trees are not searched here.
    """

    task: Any = dataclasses.field(default=None, kw_only=False)
    monotonic_cst: Any = None

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2 of the rows, by weight."""
        predicted = self.predict(X)
        targets = checked_column(y, len(predicted), numeric=True)
        return float(r2_score(targets, predicted, sample_weight=checked_weights(sample_weight, len(predicted))))

    def _prepare(self, X: Any, y: Any, sample_weight: Any, row_data: Mapping[str, Any]) -> Dataset:
        X, weights = self._checked(X, sample_weight)
        if signs_of(self).any():
            found = "regression trees in order are not searched: what a leaf shows would depend on the other leaves"
            remedy = "leave it out, or classify levels of y: OptimalTreeClassifier(monotonic_cst=...)"
            raise InputError("monotonic_cst", found, remedy)
        return self._make_data(X, checked_column(y, len(X), numeric=True), weights, row_data)

    def _objective(self, cost_complexity: Any) -> Task:
        if self.task is None:
            return SquaredError(cost_complexity=cost_complexity, normalized=True)
        return with_splits(self.task, cost_complexity)

    def _statistics(self, data: Dataset) -> Array:
        targets = data.targets.astype(np.float64)
        center = np.average(targets, weights=data.weights)  # sums of squares of large numbers would cancel
        return np.column_stack([np.ones(data.n_rows), targets - center, (targets - center) ** 2])

    def _impurity(self, sums: Array) -> Array:
        """The squared error of the mean."""
        return np.maximum(sums[:, 2] - sums[:, 1] * (sums[:, 1] / np.maximum(sums[:, 0], 1e-300)), 0.0)


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class SurvivalTree(OptimalTree):
    """The tree of relative risks of largest likelihood; see `OptimalTree` for what all estimators share.

    `task`: None is `RelativeRisk()`. `cost_complexity`: what a branching node costs, in mean log-likelihood per row.

    Fitted: `baseline_` (the cumulative hazard of all rows), and what `OptimalTree` says.
    """

    task: Any = dataclasses.field(default=None, kw_only=False)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, event: Any = None, *, frequency: Any = None) -> Self:
        """Grows and proves the tree.

        `y`: times (n,) >= 0, with `event` (n,) 1 where the event was observed and 0 where the row was censored (None:
        all observed); or both, as a structured array, a table or a dict of two fields, or rows of a truth value and a
        time: truth values are the events, else names such as "event", "status", "time" and "duration" tell.
        """
        self._grow(X, y, sample_weight, {"event": event, FREQUENCY: frequency})
        return self

    def predict_survival_function(self, X: Any, times: Any) -> Array:
        """(m, q) the probability that each row lives beyond each of the q times, numbers >= 0; or beyond one."""
        return survival_functions(self.predict(X), self.baseline_, times)

    def predict_cumulative_hazard_function(self, X: Any, times: Any) -> Array:
        """(m, q) the cumulative hazard of each row until each of the q times, numbers >= 0; or until one."""
        return cumulative_hazards(self.predict(X), self.baseline_, times)

    def score(self, X: Any, y: Any, event: Any = None) -> float:
        """Harrell's concordance: the share of comparable pairs of which the riskier died first, ties counting half."""
        risks = self.predict(X)
        return concordance(*_outcome(*_columns(y, event), len(risks)), risks)

    def _present(self, X: Any, y: Any, sample_weight: Any, row_data: Mapping[str, Any]) -> Any:
        times, event = _columns(y, row_data.get("event"))
        return super()._present(X, times, sample_weight, {**row_data, "event": event})

    def _prepare(self, X: Any, y: Any, sample_weight: Any, row_data: Mapping[str, Any]) -> Dataset:
        X, weights = self._checked(X, sample_weight)
        times, events = _outcome(y, row_data.get("event"), len(X))
        copies = row_data.get(FREQUENCY)
        self.baseline_ = nelson_aalen(times, events, weigh_copies(weights, copies))
        return self._make_data(X, times, weights, {"event": events, FREQUENCY: copies})

    def _objective(self, cost_complexity: Any) -> Task:
        return with_splits(RelativeRisk() if self.task is None else self.task, cost_complexity)

    def _statistics(self, data: Dataset) -> Array:
        events = data.row_data["event"].astype(np.float64)
        hazards = self.baseline_.at(data.targets)
        return np.column_stack([events, hazards, events * np.log(np.where(events > 0, hazards, 1.0))])

    def _impurity(self, sums: Array) -> Array:
        """Half the deviance: - sum of d log L - D log(D / H)."""
        died = np.maximum(sums[:, 0], 1e-300)
        return np.where(sums[:, 0] > 0, -sums[:, 2] - died * np.log(died / np.maximum(sums[:, 1], 1e-300)), 0.0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = tags.target_tags.positive_only = True
        return tags


def concordance(times: Array, events: Array, risks: Array) -> float:
    """Harrell's C: of the pairs of which one was seen to die before the other, how often its risk was larger.

    times, events, risks: (n,). Who is censored at the time of a death lived longer; of one time, none can be compared.
    """
    order = np.lexsort((events == 0, times))
    times, events, risks = times[order], events[order], risks[order]
    agreeing, compared = 0.0, 0
    died = np.flatnonzero(events == 1)
    behind = np.searchsorted(times[died], times[died], side="right") - 1  # the last who died at that time
    for row, last in zip(died.tolist(), died[behind].tolist(), strict=True):
        later = risks[last + 1 :]
        agreeing += float((risks[row] > later).sum() + 0.5 * (risks[row] == later).sum())
        compared += len(later)
    if compared == 0:
        raise InputError("y", "no two rows can be compared: nobody died before another's time", "give more rows")
    return agreeing / compared


def _columns(y: Any, event: Any) -> tuple[Any, Any]:
    """(times, events or None), of a y that is times or holds both."""
    both = None if y is None else split_outcome(y)
    if both is not None and event is not None:
        raise InputError("event", "y holds the events already", "give one of the two")
    return (y, event) if both is None else (both.time, both.event)


def _outcome(times: Any, event: Any, n_rows: int) -> tuple[Array, Array]:
    """(times float64 or int64, events 0/1 int64), each (n,)."""
    column = checked_column(times, n_rows, numeric=True)
    as_times(column, "y")
    if event is None:
        return column, np.ones(n_rows, np.int64)
    return column, read_events(row_column(read_row_data({"event": event}, n_rows), "event", "SurvivalTree"))
