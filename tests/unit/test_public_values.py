"""Values that public reports found wrong: whatever the unit, the origin, the price or the route, they are exact."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, final

import attrs
import numpy as np
import pandas as pd
import polars as pl
import pytest

import streed
from streed.data import Dataset
from streed.errors import TaskError
from streed.estimators import OptimalTreeClassifier, OptimalTreeRegressor, PolicyTree, SurvivalTree
from streed.exact import Array
from streed.task import GeneralTask, State, Task
from streed.task.algebra import at_most
from streed.tasks import (
    F1,
    AbsoluteError,
    Accuracy,
    BalancedAccuracy,
    BrierScore,
    CostSensitive,
    DemographicParity,
    Entropy,
    Gini,
    InstanceCosts,
    LinearLeaves,
    PoissonDeviance,
    PolicyValue,
    QuantileError,
    RelativeRisk,
    Splits,
    SquaredError,
    predict_linear,
)
from streed.tasks.cost_tables import CostTable, TestCost
from tests.unit.outcomes import refused


def test_twelve_countries() -> None:
    """Targets of trillions, of which the sums of squares are beyond what floats hold to the last digit."""
    y = np.array([25.4, 17.9, 4.2, 4.1, 3.4, 3.1, 2.8, 2.1, 2.0, 1.9, 1.7, 1.6])
    X = np.array([[333], [1412], [125], [84], [1417], [67], [68], [39], [144], [215], [52], [26]])
    for unit in (1.0, 1e9, 1e12, 1e-12, 1e-15, 1e-150):
        tree = OptimalTreeRegressor(max_depth=1, cuts="all").fit(X, y * unit)
        assert (tree.get_n_leaves(), tree.optimal_) == (2, True)
        assert tree.score(X, y * unit) == pytest.approx(1 - 0.406, abs=1e-3)
    for unit in (1e160, 1e-170):
        beyond = functools.partial(streed.solve, SquaredError(), X, y * unit, max_depth=1)
        refused("y", "beyond the range of floats", call=beyond)
    for unit, risk in ((1e-200, 1e200), (1e200, 1e-200), (1e306, 1)):
        rates = functools.partial(streed.solve, PoissonDeviance(), X, y * unit, exposure=y * risk, max_depth=1)
        refused("y", "their rates are beyond", call=rates)
    tiny = np.full(12, 5e-324)
    refused("sample_weight", "below", call=lambda: streed.solve(SquaredError(), X, y, sample_weight=tiny))


_RNG = np.random.default_rng(7)
_CODES, _POINTS = _RNG.integers(0, 2, (40, 5)), _RNG.normal(size=(40, 2)).round(2)
_TARGETS, _COUNTS = _RNG.normal(0, 3, 40).round(2), _RNG.integers(0, 5, 40)
_KINDS, _EVENTS = _RNG.integers(0, 3, 40), (_RNG.random(40) < 0.6).astype(int)
_EACH, _GIVEN = _RNG.normal(0, 3, (40, 3)).round(2), np.array([0.25, 0.5, 0.25])
_WEIGHTS = _RNG.uniform(0.1, 2, 40).round(3)
_UNITS = [
    *((a, 0, 1) for a in (1, 1e-150, 1e150)),
    (1, 0, 1e-200),
    (1, 0, 1e200),
    (1e-9, 1e3, 1),
    (1e100, 1e104, 1e-90),
]


def _priced(a: Fraction, c: Fraction) -> Task:
    return SquaredError(3 * a * a * c)


@attrs.frozen
class _Own(Task):
    """A user's squared errors, with nothing said of them."""

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"n": np.ones(data.n_rows), "sum": data.targets, "square": data.targets**2}

    def labels(self, data: Dataset) -> Sequence[Any]:
        return ("mean",)

    def leaf_cost(self, s: State, k: int) -> Any:
        return s.square - s.sum * (s.sum / s.n) if s.n else 0.0


def _costs(a: Fraction, c: Fraction) -> Task:
    return CostSensitive([[0, 3 * a, a], [2 * a, 0, 5 * a], [4 * a, a / 2, 0]]) + Fraction(1, 2) * a * c * Splits()


_PAST = {"treatment": _KINDS, "propensity": _GIVEN[_KINDS]}
_SCALED: dict[str, tuple[Any, str, dict[str, Any]]] = {
    "squared": (SquaredError(), "y+", {}),
    "squared, a price": (_priced, "y+", {}),
    "squared, normalized": (SquaredError(0.02, normalized=True), "y+", {}),
    "squared, a user's": (_Own(), "y", {}),
    "absolute": (AbsoluteError(), "y+", {}),
    "quantile": (QuantileError(0.3), "y+", {}),
    "linear": (LinearLeaves(), "y+", {"features": _EACH[:, :2]}),
    "linear, ridge": (LinearLeaves(0.5), "y+", {"features": _EACH[:, :2]}),
    "Poisson": (PoissonDeviance(), "counts", {}),
    "survival": (RelativeRisk(), "times", {"event": _EVENTS}),
    "costs of classes": (_costs, "classes", {}),
    "costs of rows": (InstanceCosts(), "", {"costs": _EACH}),
    "policy, direct": (PolicyValue("dm"), "", {**_PAST, "predicted": _EACH}),
    "policy, robust": (PolicyValue("dr"), "", {**_PAST, "predicted": _EACH, "outcome": _TARGETS}),
    "policy, inverse": (PolicyValue("ipw"), "", {**_PAST, "outcome": _TARGETS}),
    "Gini": (Gini(), "classes", {}),
    "entropy": (Entropy(), "classes", {}),
    "Brier": (BrierScore(), "classes", {}),
    "accuracy": (Accuracy(), "classes", {}),
    "balanced": (BalancedAccuracy(), "classes", {}),
}
_KERNELS_OF_THEIR_OWN = (
    *("linear", "linear, ridge", "Gini", "entropy", "Brier"),
    *("squared", "squared, a price", "squared, normalized", "squared, a user's"),
)


@pytest.mark.parametrize("X", [_CODES, _POINTS], ids=["columns", "thresholds"])
@pytest.mark.parametrize(
    "name", [pytest.param(x, marks=pytest.mark.compiles if x in _KERNELS_OF_THEIR_OWN else ()) for x in _SCALED]
)
def test_the_tree_does_not_depend_on_units(name: str, X: Array) -> None:
    """y -> a y + b, costs times a, and weights times c."""
    task, kind, rows = _SCALED[name]
    first: list[int] = []
    for a, b, c in _UNITS:
        given = {k: v * a if k in ("costs", "predicted", "outcome") else v for k, v in rows.items()}
        y = {"": None, "classes": _KINDS, "counts": _COUNTS * a, "times": (_POINTS[:, 0] ** 2).round(2) * a}
        asked = task(*map(Fraction, (a, c))) if callable(task) else task
        targets = y.get(kind, a * _TARGETS + (b if kind == "y+" else 0))
        weighed = None if isinstance(task, _Own) else _WEIGHTS * c
        result = streed.solve(asked, X, targets, max_depth=2, max_cuts="all", sample_weight=weighed, **given)
        first = first or result.tree.apply(X).tolist()
        assert result.tree.apply(X).tolist() == first
        assert len(set(first)) > 2
        assert result.status == "optimal"
        assert result.gap == 0


def test_squared_errors_are_the_trees_own() -> None:
    rng = np.random.default_rng(5)
    for targets in (rng.normal(size=60), np.round(rng.normal(size=60) * 1e3, 1), rng.normal(size=60) + 1e9):
        data = Dataset.make(rng.integers(0, 2, (60, 5)), targets)
        result = streed.solve(SquaredError(), data, max_depth=3)
        leaves = result.tree.apply(data)
        exact: Any = Fraction(0)
        for leaf in set(leaves.tolist()):
            mine = [Fraction(repr(x)) for x in targets[leaves == leaf].tolist()]
            mean = sum(mine) / len(mine)
            exact += sum((x - mean) ** 2 for x in mine)
        assert result.value == float(exact)
        assert (result.status, result.lower_bound) == ("optimal", result.value)
        assert result.stats["rounding"] < 1e-9 * result.value


PRICES = (TestCost("first", 2, 1, "blood", 0), TestCost("second", 3, 2.5, "blood", 1))


@pytest.mark.compiles
@pytest.mark.parametrize("price", [Fraction(1, 3), 0.5, Fraction(1, 7)], ids=str)
def test_a_price_of_splits_beside_prices_of_tests_is_exact(price: Any) -> None:
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 2, (32, 4))
    labels = (rows[:, 0] ^ (rows[:, 1] & rows[:, 2])) ^ (rng.random(32) < 0.1)
    task = CostSensitive(CostTable.of([[0, 9], [7, 0]], PRICES)) + price * Splits()
    found = streed.solve(task, rows, labels, max_depth=3)
    exact = streed.solve(task, rows, labels, max_depth=3, search="general")
    assert (found.status, found.stats["exact"]) == ("optimal", True)
    assert found.lower_bound == found.value == found.upper_bound == exact.value


@pytest.mark.compiles
@pytest.mark.parametrize("search", ["depth-first", "general"])
@pytest.mark.parametrize("task", [BalancedAccuracy() & Splits(), Accuracy() & DemographicParity()], ids=str)
def test_fronts_come_best_first_from_every_search(task: Task, search: str) -> None:
    X = _CODES[:, :3]
    found = streed.solve(task, X, X[:, 0] | _EVENTS, max_depth=2, search=search, sensitive_features=_EVENTS)
    values = [value for value, _ in found.front]
    assert values == sorted(values, reverse=task.larger_is_better)
    assert len(values) > 1
    assert found.front[0] == (found.value, found.tree)


@pytest.mark.parametrize("far", [1e12, 1e30])
def test_a_target_far_from_all_others(far: float) -> None:
    """What rounding leaves of sums of its square is beyond what others cost."""
    y = np.append(np.random.default_rng(3).lognormal(0, 3, 19), far)
    X = np.arange(20)[:, None] % 19 + 100 * (y == far)[:, None]
    for columns in (X, (np.unique(X)[:-1] < X).astype(int)):
        found = streed.solve(SquaredError(), columns, y, max_depth=1)
        assert found.status == "optimal"
        assert found.value == pytest.approx(((y[:-1] - y[:-1].mean()) ** 2).sum())
    y, z = np.array([1e9, 2e9, 3e9, 1e-9, 3e-9, 1e300]), np.arange(6.0)
    X, w = (y < 1)[:, None], (y < far).astype(int)
    assert streed.solve(SquaredError(), X, y, max_depth=1, sample_weight=w).tree.predict(X)[3:5].tolist() == [2e-9] * 2
    linear: Any = streed.solve(LinearLeaves(), X[:5], y[:5], max_depth=1, features=z[:5])
    assert predict_linear(linear.tree, X, z)[3:5].tolist() == pytest.approx([1e-9, 3e-9], rel=1e-9, abs=0)


@final
@attrs.frozen
class _Medians(GeneralTask):
    """A user's absolute errors, whose leaves show what numpy says."""

    def labels(self, data: Dataset) -> Sequence[Any]:
        return ("median",)

    def rows_cost(self, data: Dataset, rows: Array, k: int) -> Any:
        return float(np.abs(data.y[rows] - np.median(data.y[rows])).sum())

    def leaf_label(self, s: State, k: int) -> Any:
        return np.median(s.data.y[s.members])


@pytest.mark.parametrize("kind", [Decimal, Fraction])
def test_exact_numbers_are_targets_of_every_front_end(kind: Any) -> None:
    targets = [kind(str(target)) for target in _TARGETS]
    for task in (SquaredError(), AbsoluteError(), _Medians()):
        exact, real = (streed.solve(task, _CODES, y, max_depth=2) for y in (targets, _TARGETS))
        assert (exact.value, exact.tree.to_text()) == (real.value, real.tree.to_text())
    shown = exact.tree.predict(_CODES)
    assert shown.dtype == np.float64
    leaves = exact.tree.apply(_CODES)
    assert shown.tolist() == [np.median(_TARGETS[leaves == leaf]) for leaf in leaves]
    data = Dataset.make(_CODES, targets)
    assert ((data.y[:, None] == np.array(data.classes, object)).argmax(1) == data.class_numbers).all()


@pytest.mark.parametrize("y", [[1, 2, 2, 1], [0.5, 1.5, 2.5, 0.5], [10, 20, 10, 30]], ids=str)
def test_class_numbers_are_no_values_however_they_are_asked(y: Any) -> None:
    data = Dataset.make([[0]] * 4, y)
    numbers = np.arange(data.n_classes)
    for ask in (
        lambda: np.isin(data.y, numbers),
        lambda: [value == k for value in data.y for k in range(data.n_classes)],
        lambda: [k == value for value in data.y.tolist() for k in numbers],
        lambda: data.y == "yes",
    ):
        with pytest.raises(TaskError, match="with class numbers, such as"):
            ask()
    assert np.isin(data.y, data.classes).all()
    assert [list(data.classes).index(value) for value in data.y] == data.class_numbers.tolist()
    assert (sum(data.y), sorted(data.y), max(data.y)) == (sum(y), sorted(y), max(y))


@pytest.mark.parametrize("far", [10**25, 2**63 + 10**6, Decimal(10) ** 20], ids=str)
def test_numbers_that_floats_do_not_tell_apart_are_no_targets(far: Any) -> None:
    y = [far + count for count in _COUNTS.tolist()]
    for each in [y, pl.Series(y, dtype=pl.Int128)] if isinstance(far, int) else [y]:
        for call in (functools.partial(streed.solve, SquaredError()), OptimalTreeRegressor("absolute-error").fit):
            refused("y", "subtract a common number", call=functools.partial(call, _CODES, each))
    whole = [far * count for count in _COUNTS.tolist()]
    found, plain = (OptimalTreeRegressor(max_depth=1).fit(_CODES, each) for each in (whole, _COUNTS))
    assert found.apply(_CODES).tolist() == plain.apply(_CODES).tolist()


def test_times_are_no_numbers_of_a_unit_that_nobody_named() -> None:
    past: dict[str, Any] = {"treatment": _EVENTS, "propensity": np.full(40, 0.5)}
    spans = pd.to_timedelta(_TARGETS, unit="s")
    for y in (spans, pd.Timestamp("2026-01-01") + spans):
        for call in (functools.partial(streed.solve, SquaredError()), OptimalTreeRegressor().fit, SurvivalTree().fit):
            refused("y", "no number", call=functools.partial(call, _CODES, y))
        refused("y", "numbers", call=functools.partial(PolicyTree("ipw").fit, _CODES, y, **past))
        solved = functools.partial(streed.solve, PolicyValue("ipw"), _CODES, outcome=y, **past)
        refused("outcome", "numbers", call=solved)
    days = np.array(["2020-01-01T01", "2020-01-02"], "M8[ns]")[_EVENTS]  # of which numpy makes whole numbers
    assert OptimalTreeClassifier(max_depth=5).fit(_CODES, days).score(_CODES, days.astype("M8[us]").tolist()) > 0.6


@pytest.mark.compiles
@pytest.mark.parametrize("search", ["depth-first", "general"])
def test_what_is_optimal_has_bounds_that_are_equal(search: str) -> None:
    few = at_most(Splits(), 2)
    for task in (Accuracy().subject_to(few), BalancedAccuracy().subject_to(few), F1()):
        found = streed.solve(task, _CODES, _EVENTS, max_depth=2, search=search)
        assert (found.status, found.gap) == ("optimal", 0)
        assert found.lower_bound == found.value == found.upper_bound


@final
@attrs.frozen
class _Spread(_Own):
    """Roots, which no fractions are, or gains that floats count in steps above 1."""

    maximize: bool = False  # type: ignore[misc]

    def leaf_cost(self, s: State, k: int) -> Any:
        return s.sum * (s.sum / s.n) if self.maximize else math.sqrt(max(s.square * s.n - s.sum * s.sum, 0))


@pytest.mark.compiles
@pytest.mark.parametrize("unit", [1.0, 1e10, 1e100])
def test_real_values_of_any_size_are_optimal_where_bounds_meet(unit: float) -> None:
    for task in (_Spread(), _Spread(maximize=True)):
        found, plain = (streed.solve(task, _CODES, _TARGETS * a, max_depth=2) for a in (unit, 1))
        assert (found.status, found.gap) == ("optimal", 0)
        assert found.tree.apply(_CODES).tolist() == plain.tree.apply(_CODES).tolist()


@final
@attrs.frozen
class _Counted(Task):
    """Errors of rows whatever they weigh, and of what they weigh at a price of the rows that are asked."""

    price: float = 0
    by_weight: bool = True

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"of": data.class_numbers[:, None] == np.arange(data.n_classes)}

    def leaf_cost(self, s: State, k: int) -> Any:
        return (s.weight if self.by_weight else s.rows) - s.of[k]

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return self.price * rows


def test_a_task_that_counts_rows_without_their_weights_says_so() -> None:
    solve = functools.partial(streed.solve, X=_CODES, y=_EVENTS, max_depth=1, search="general")
    solve(_Counted(), sample_weight=_WEIGHTS)
    blind: list[tuple[Task, str]] = [
        (_Counted(by_weight=False), "reads s.rows"),
        (_Counted(0.5), "branching_cost reads"),
    ]
    for task, said in [*blind, (_Medians(), "does not use data.weights")]:
        solve(task)
        solve(task, frequency=_COUNTS + 1)
        with pytest.warns(UserWarning, match=said):
            solve(task, sample_weight=_WEIGHTS)
    solve(_Medians(), y=np.ones(40), sample_weight=_WEIGHTS)  # nothing has no weight
