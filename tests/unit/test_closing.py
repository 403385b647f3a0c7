"""Costs too fine for 64 bits: the best tree by exact costs is found among those that rounding cannot tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, final

import attrs
import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.enumerate import closing
from streed.enumerate.closing import CLOSED, OPEN
from streed.enumerate.wide_shallow import WideRows
from streed.exact import Array
from streed.kernels.records import LEAF
from streed.reference import optimum
from streed.task import RowCostTask, Totals
from streed.tasks import InstanceCosts
from streed.tree.evaluation import evaluate
from streed.whole_costs import integer_costs


@final
@attrs.frozen(eq=False)
class FineCosts(RowCostTask):
    """Costs (n, K) as fractions, which columns of a data set would make floats of."""

    costs: Array
    split: Fraction

    def row_costs(self, data: Dataset) -> Array:
        return self.costs

    def labels(self, data: Dataset) -> Sequence[Any]:
        return range(self.costs.shape[1])

    def split_cost(self) -> Fraction:
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
    task = FineCosts(_fine(rng, n, int(rng.integers(2, 4)), kind), Fraction(int(rng.integers(0, 3)), 5 * 10**17))
    min_leaf = int(rng.integers(1, 3))
    result = streed.solve(task, data, max_depth=depth, min_leaf=min_leaf)
    found = optimum(task, data, max_depth=depth, min_leaf=min_leaf)
    assert found is not None
    assert result.tree is not None
    own = evaluate(result.tree, task, data)
    assert task.score(own, Totals(task, data)) == task.score(found[0], Totals(task, data))
    assert result.status == "optimal"
    assert result.stats["rounding"] == 0
    if depth <= 2:  # else rounded costs of equal rows may cancel, and the general route closes it
        assert result.stats["closed"] == CLOSED


def _spread(rng: np.random.Generator, n: int, labels: int) -> Any:
    """Costs (n, labels) of which some are lost in rounding as a whole, or nearly cancel in equal rows."""
    sizes = [Fraction(0), Fraction(1), Fraction(1, 3 * 10**18), Fraction(2, 10**25), Fraction(10**6)]
    costs = np.empty(n * labels, object)
    costs[:] = [sizes[int(k)] * int(j) for k, j in rng.integers(0, [len(sizes), 4], (n * labels, 2))]
    return costs.reshape(n, labels)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(25))
def test_rows_that_are_lost_in_rounding(depth: int, seed: int) -> None:
    rng = np.random.default_rng([depth, seed])
    n, columns = int(rng.integers(3, 24)), 5
    X = rng.integers(0, 2, (n, columns))
    X[:, 1] = X[:, 0] ^ (rng.random(n) < 0.15)
    X[:, 2] = rng.random(n) < 0.15
    data = Dataset.make(X)
    task = FineCosts(_spread(rng, n, int(rng.integers(2, 4))), Fraction(0))
    result = streed.solve(task, data, max_depth=depth)
    found = optimum(task, data, max_depth=depth)
    assert found is not None
    assert result.tree is not None
    assert evaluate(result.tree, task, data) == found[0]
    assert result.status == "optimal"


@pytest.mark.parametrize("seed", range(20))
def test_trees_of_depth_two_by_exact_costs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, columns, labels = int(rng.integers(1, 20)), int(rng.integers(1, 5)), int(rng.integers(2, 5))
    bits = rng.integers(0, 2, (n, columns)).astype(np.uint8)
    exact = _fine(rng, n, labels, seed % 3)
    min_leaf = int(rng.integers(1, 3))
    split = Fraction(int(rng.integers(0, 3)), 10**19)
    costs = integer_costs([(Fraction(1), exact)], split, None)
    if costs.wide is None:
        pytest.skip("the costs fit into 64 bits")
    rows = WideRows(bits, costs, costs.wide, min_leaf)
    places = np.unique(rows.member[: max(1, n // 2)])
    chosen = np.flatnonzero(np.isin(rows.member, places))

    def cost_of(columns: list[int], at: int, inside: Any) -> tuple[Fraction, int]:
        """What a subtree costs, and where the next one begins."""
        if columns[at] == LEAF:
            assert len(inside) >= min_leaf
            return min(sum(exact[inside, k], Fraction(0)) for k in range(labels)), at + 1
        below, at_next = cost_of(columns, at + 1, inside[bits[inside, columns[at]] == 0])
        above, end = cost_of(columns, at_next, inside[bits[inside, columns[at]] == 1])
        return below + above + split, end

    data = Dataset.make(bits[chosen])
    for depth in range(3):
        tree = rows.best(places, depth)
        best = optimum(FineCosts(exact[chosen], split), data, max_depth=depth, min_leaf=min_leaf)
        assert (tree is None) == (best is None)
        if tree is not None and best is not None:
            assert costs.wide.unit * tree.cost == best[0]
            assert cost_of(list(tree.columns), 0, chosen)[0] == best[0]


def test_policies_are_proved() -> None:
    rng = np.random.default_rng(3)
    n = 300
    X, treatment = rng.integers(0, 2, (n, 12)), rng.integers(0, 3, n)
    costs = rng.random((n, 3)) / (0.05 + rng.random((n, 1)))
    costs[np.arange(3) != treatment[:, None]] = 0
    for depth in (3, 4):
        result = streed.solve(InstanceCosts(), X, costs=-costs, max_depth=depth)
        assert result.status == "optimal"
        assert result.gap == 0
        assert result.stats["closed"] == CLOSED


def test_too_many_trees_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    X, costs = rng.integers(0, 2, (3_000, 14)), rng.random((3_000, 3))
    monkeypatch.setattr(closing, "_MOST_EFFORT", 10.0)
    result = streed.solve(InstanceCosts(), X, costs=costs, max_depth=4)
    assert result.status == "feasible"
    assert result.stats["stopped"] == "rounding"
    assert result.stats["open"] == OPEN
    assert result.gap > 0


@pytest.mark.parametrize("depth", [1, 2])
def test_costs_over_all_thresholds_are_closed(depth: int) -> None:
    """What is searched over thresholds by rounded costs is searched by questions where bounds are left apart."""
    rng = np.random.default_rng(depth)
    X, costs, weights = rng.normal(size=(200, 2)), rng.random((200, 3)), rng.choice([1e-9, 0.1, 0.3, 1e9], 200)
    X[::7, 0] = np.nan
    result = streed.solve(InstanceCosts(), X, costs=costs, sample_weight=weights, max_depth=depth, max_cuts="all")
    assert result.tree is not None
    assert (result.status, result.gap) == ("optimal", 0)
    chosen = costs[np.arange(200), result.tree.predict(X)]
    assert result.value == pytest.approx(float(chosen @ weights), rel=1e-12)
