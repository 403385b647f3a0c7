"""Values are exact: of weights and frequencies, of sums that are rounded once, and bounds whatever was rounded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, final

import attrs
import numpy as np
import pandas as pd
import polars as pl
import pytest

import streed
from streed.data import Dataset
from streed.drivers.closing import NEAR_OPTIMAL
from streed.estimators import PolicyTree
from streed.exact import Array, exact_integers
from streed.reference import optimum
from streed.task import RowCostTask, State, Task, Totals
from streed.task.algebra import at_most
from streed.tasks import Gini, InstanceCosts, Misclassifications, Splits
from streed.testing import find_violations
from streed.testing.laws import LAWS
from streed.tree import Tree
from streed.tree.evaluation import check, inspect

pytestmark = pytest.mark.compiles


@final
@attrs.frozen
class Severity(Task):
    """Costs of what the losses add up to; nothing where they are nothing."""

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"y": data.row_data["losses"]}

    def labels(self, data: Dataset) -> tuple[str, ...]:
        return ("mean",)

    def leaf_cost(self, s: State, k: int) -> Any:
        return 0.0 if s.y <= 0 else math.sqrt(s.y * s.rows)


@pytest.mark.parametrize("kind", ["decimals", "reals", "signed", "wide"])
@pytest.mark.parametrize("seed", range(10))
def test_sums_that_should_be_zero_are(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(60, 200))
    X = rng.integers(0, 2, (n, 8))
    losses = np.where(rng.random(n) < 0.9, 0, rng.gamma(2, 50, n))
    if kind == "decimals":
        losses = np.round(losses, 2)
    elif kind == "signed":
        losses = np.round(losses, 1) * np.sign(rng.random(n) - 0.3)
    elif kind == "wide":
        losses = losses * rng.choice([1e-6, 1.0, 1e6], n)
    native = streed.solve(Severity(), X, losses=losses, max_depth=2)
    general = streed.solve(Severity(), X, losses=losses, max_depth=2, search="general")
    found = optimum(Severity(), Dataset.make(X, losses=losses), max_depth=2)
    best = float(found[0])
    assert native.value == pytest.approx(best, rel=1e-12)
    assert general.value == pytest.approx(best, rel=1e-12)
    for result in (native, general):
        assert result.status == "optimal"
        assert result.lower_bound <= best * (1 + 1e-15)


def test_decimals_of_any_length_are_exact() -> None:
    values = np.array([123456789.123456789, 1e-9, 1e15 + 0.5, -0.1])
    whole, unit = exact_integers(values)
    assert [Fraction(x) * unit for x in whole.tolist()] == [Fraction(repr(x)) for x in values.tolist()]
    assert exact_integers(np.array([0.1, 1e-12]))[1] == Fraction(1, 10**12)


def test_whole_costs_of_any_size() -> None:
    costs = [[2**59, 0, 2**59 - 1], [0, 2**59, 5], [7, 2**59, 0], [2**59, 3, 1]]
    X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    result = streed.solve(InstanceCosts(), X, costs=np.array(costs, np.int64), max_depth=1)
    best = min(
        sum(min(sum(costs[r][k] for r in part) for k in range(3)) for part in parts)
        for parts in ([[0, 1, 2, 3]], [[0, 1], [2, 3]], [[0, 2], [1, 3]])
    )
    assert result.value == float(best)
    assert result.lower_bound <= best
    both = streed.solve(InstanceCosts(), [[0], [1]] * 2, costs=[[2**57, -(2**57)], [-(2**57), 2**57]] * 2, max_depth=1)
    assert both.value == -4 * 2**57


@final
@attrs.frozen(eq=False)
class FineCosts(RowCostTask):
    """Costs (n, K) as fractions, which columns of a data set would make floats of."""

    costs: Array
    split: float

    def row_costs(self, data: Dataset) -> Array:
        return self.costs

    def labels(self, data: Dataset) -> Sequence[Any]:
        return range(self.costs.shape[1])

    def split_cost(self) -> float:
        return self.split


def _fine(rng: np.random.Generator, n: int, labels: int, kind: int) -> Any:
    """Costs (n, labels) of which most trees have nearly equal sums: they differ in what rounding takes away."""
    coarse = rng.integers(0, 3, (n, labels))
    if kind == 0:  # one low part
        fine = [Fraction(int(k), 10**18) for k in rng.integers(0, 1000, n * labels)]
    elif kind == 1:  # many parts, of very different sizes
        powers = rng.choice([10, 25, 60, 140], n * labels).tolist()
        fine = [Fraction(int(k), 10**power) for k, power in zip(rng.integers(-9, 10, n * labels), powers, strict=True)]
    else:  # thirds and sevenths beside binary fractions
        fine = [Fraction(int(k), 3 * 7 * 2**61) for k in rng.integers(0, 99, n * labels)]
    costs = np.empty(n * labels, object)
    costs[:] = [Fraction(int(k)) + each for k, each in zip(coarse.ravel(), fine, strict=True)]
    return costs.reshape(n, labels)


@pytest.mark.parametrize("kind", range(3))
@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(6))
def test_the_best_of_nearly_equal_trees(kind: int, depth: int, seed: int) -> None:
    rng = np.random.default_rng([kind, depth, seed])
    n, columns = int(rng.integers(6, 30)), int(rng.integers(3, 6 if depth < 4 else 5))
    X = rng.integers(0, 2, (n, columns))
    data = Dataset.make(X)
    task = FineCosts(_fine(rng, n, int(rng.integers(2, 4)), kind), int(rng.integers(0, 3)) * 2e-18)
    min_leaf = int(rng.integers(1, 3))
    result = streed.solve(task, data, max_depth=depth, min_leaf=min_leaf)
    found = optimum(task, data, max_depth=depth, min_leaf=min_leaf)
    assert result.tree is not None
    seen = inspect(result.tree, task, data)
    assert task.score(seen.value, Totals(task, data)) == task.score(found[0], Totals(task, data))
    assert tuple(leaf.cost for leaf in result.tree.leaves()) == seen.leaf_costs
    assert result.status == "optimal"
    assert result.stats["rounding"] == 0
    if depth <= 2:  # else rounded costs of equal rows may cancel, and the general route closes it
        assert result.stats["closed"] == NEAR_OPTIMAL


def test_a_front_has_values_that_no_optimum_would_pay() -> None:
    front = streed.solve(Misclassifications() & 10**18 * Splits(), [[0], [1]], [0, 1], max_depth=1).front
    assert [value for value, _ in front] == [(0, 10**18), (1, 0)]


@attrs.frozen
class Scaled(Task):
    """Costs per row and label times two floats, whose product is rounded."""

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"cost": data.row_data["cost"]}

    def leaf_cost(self, s: State, k: int) -> Any:
        return s.cost[k] * 0.37 * 1.1


@pytest.mark.parametrize("seed", [7, 34])
def test_methods_may_round_what_was_added_exactly(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = Dataset.make(rng.integers(0, 2, (11, 3)), [*range(3)] * 3 + [0, 1], cost=rng.random((11, 3)))
    result = streed.solve(Scaled(), data, max_depth=2)
    assert result.value == pytest.approx(float(optimum(Scaled(), data, max_depth=2)[0]), rel=1e-14)


@pytest.mark.parametrize("depth", [1, 2])
def test_costs_over_all_thresholds_are_closed(depth: int) -> None:
    """What is searched over thresholds by rounded costs is searched by questions where bounds are left apart."""
    rng = np.random.default_rng(depth)
    X, costs, weights = rng.normal(size=(200, 2)), rng.random((200, 3)), rng.choice([1e-9, 0.1, 0.3, 1e9], 200)
    X[::7, 0] = np.nan
    result = streed.solve(InstanceCosts(), X, costs=costs, sample_weight=weights, max_depth=depth, max_cuts="all")
    assert (result.status, result.gap) == ("optimal", 0)
    chosen = costs[np.arange(200), result.tree.predict(X)]
    assert result.value == pytest.approx(float(chosen @ weights), rel=1e-12)


X = [[0, 1], [1, 0], [1, 1]]


@pytest.mark.parametrize(
    ("table", "labels"),
    [
        (np.array([[0, 1], [2, 2], [1, 1]]), [1, 2, 3]),
        (pd.DataFrame({"a": ["x", None, "z"], "b": [0, 1, 1]}), pd.Series(["a", None, "c"])),
        (pl.DataFrame({"a": ["x", None, "z"], "b": [0, 1, 1]}), pl.Series([1, None, 3])),
        ({"a": ["x", "y", "z"], "b": [0, 1, 1]}, ("a", "b", "c")),
    ],
)
def test_a_row_of_frequency_0_is_as_absent(table: Any, labels: Any) -> None:
    data = streed.Dataset.make(table, labels, frequency=[2, 0, 3], sample_weight=[0.1, 9, 0.3], z=[5, 6, 7])
    assert (data.n_rows, data.size, len(data.classes)) == (2, 5, 2)
    assert all(not column.multiway for column in data.columns)
    assert data.exact_weights.tolist() == [Fraction(1, 5), Fraction(9, 10)]
    assert data.weights.tolist() == [0.2, 0.9]
    assert data.class_totals() == [Fraction(1, 5), Fraction(9, 10)]
    assert data.row_data["z"].tolist() == [5, 7]
    copies = data.expanded()
    assert copies.weights.tolist() == [0.1, 0.1, 0.3, 0.3, 0.3]
    assert copies.frequency is None


def test_a_tree_claims_and_shows_all_rows() -> None:
    y, frequency = [0, 1, 0], [2, 30, 4]
    result = streed.solve(Misclassifications(), X, y, frequency=frequency, max_depth=1, min_leaf=5)
    assert result.value == 0
    assert [leaf.rows for leaf in result.tree.leaves()] == [30, 6]
    saved = Tree.from_json(result.tree.to_json())
    data = streed.Dataset.make(X, y, frequency=frequency)
    assert saved.claims.n_rows == 36
    assert all(each.holds for each in check(saved, data))
    assert not all(each.holds for each in check(saved, streed.Dataset.make(X, y)))
    assert inspect(saved, Misclassifications(), data).value == result.value


WEIGHTS = tuple(law for law in LAWS if law.name.endswith("are copies"))


@attrs.frozen
class Errors(streed.Task):
    """Misclassified weight, linear in the sums."""

    def statistics(self, data: Any) -> Any:
        return {"counts": data.class_numbers[:, None] == np.arange(data.n_classes)}

    def leaf_cost(self, s: Any, k: int) -> Any:
        return s.weight - s.counts[k]


@attrs.frozen
class ByWeight(Errors):
    """The root of the error rate of the worst leaf, by weight; numpy takes no fractions."""

    def leaf_cost(self, s: Any, k: int) -> Any:
        return np.sqrt((s.weight - s.counts[k]) / s.weight) if s.weight > 0 else 0.0

    def combine(self, a: Any, b: Any) -> Any:
        return max(a, b)


@attrs.frozen
class ByRows(ByWeight):
    """The same by rows, which weights are not."""

    def leaf_cost(self, s: Any, k: int) -> Any:
        return (s.rows - s.counts[k]) / s.rows


THREE, y = [[0], [0], [1]], ["no", "yes", "yes"]


@pytest.mark.parametrize("driver", ["depth-first", "general"])
def test_a_state_knows_what_its_rows_weigh(driver: str) -> None:
    found = streed.solve(ByWeight(), THREE, y, sample_weight=[3, 1, 0.5], max_depth=1, search=driver)
    assert found.value == streed.improve(found, ByWeight(), THREE, y, sample_weight=[3, 1, 0.5]).value == 0.5
    assert streed.solve(Errors(), THREE, y, sample_weight=[3, 1, 0.5], max_depth=1, search=driver).value == 1
    both = Errors() + 0.5 * Splits()
    assert streed.solve(both, THREE, y, sample_weight=[3, 0, 0.5], max_depth=1, search=driver).value == 0.5


def test_totals_may_fill_the_room_of_whole_numbers() -> None:
    rows, cost = np.arange(60)[:, None] % 2, 7 * 2**60 // 600
    costs = np.where(rows == [0, 1], 0, cost)
    front = streed.solve(InstanceCosts() & Splits(), rows, costs=costs, max_depth=1).front
    assert sorted(solution[0] for solution in front) == [(0, 1), (30 * cost, 0)]
    assert PolicyTree(max_depth=1, parity=0).fit(rows, -costs, sensitive_features=rows).value_ == -cost / 2


@attrs.frozen
class Mean(Errors):
    """Errors as a share of the rows that are there, each once: it forgets that they may stand for several."""

    n: int = streed.task.bound(1)

    def bind(self, data: Any) -> Any:
        return attrs.evolve(self, n=data.n_rows)

    def leaf_cost(self, s: Any, k: int) -> Any:
        return (s.weight - s.counts[k]) / self.n


def test_limits_on_floats_are_on_the_numbers_that_they_stand_for() -> None:
    rows, y = [[0]] * 3 + [[1]] * 7, [1, 0, 0, 1, 1, 0, 0, 0, 0, 0]
    limited = Gini().subject_to(at_most(Mean(), 0.3))  # which as floats is less than 0.1 + 0.2
    assert streed.solve(limited, rows, y, max_depth=1).value == pytest.approx(4 / 3 + 20 / 7)


def test_the_laws_tell_who_counts_rows_in_place_of_weights_or_frequencies() -> None:
    found = find_violations(ByRows(), WEIGHTS, max_examples=60)
    assert found.violated == ("weights are copies",)
    assert "does not count rows by weight" in found.explanation()
    assert find_violations(ByWeight(), WEIGHTS, max_examples=60).holds
    assert "frequencies are copies" in find_violations(Mean(), WEIGHTS, max_examples=60).violated
