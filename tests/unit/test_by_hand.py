"""What a small fault would change, by hand or by another formula: weights, gaps, steps, empty leaves, rates."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn import metrics

import streed
from streed.binarize import make_recipe, mdlp
from streed.cli.app import app
from streed.data import Dataset
from streed.estimators import FairTreeClassifier, PolicyTree, fairness_margin
from streed.estimators.fair import difference
from streed.estimators.regressor import concordance
from streed.export import onnx_inputs, to_python, to_sklearn, to_sql
from streed.task import Totals
from streed.tasks import (
    F1,
    Accuracy,
    BalancedAccuracy,
    CohenKappa,
    CostSensitive,
    DemographicParity,
    FBeta,
    GMean,
    InstanceCosts,
    Jaccard,
    MatthewsCorrelation,
    Misclassifications,
    QuantileError,
    Splits,
    SquaredError,
    TreatmentEquality,
)
from streed.tasks.cost_tables import CostTable, TestCost
from streed.tree import Branch, Leaf, walk
from streed.tree.evaluation import check
from tests.unit.outcomes import BOTH, CUBE, tree_of

SCORES: list[tuple[Any, Any]] = [
    (F1(), metrics.f1_score),
    (FBeta(2), lambda y, p: metrics.fbeta_score(y, p, beta=2)),
    (Jaccard(), metrics.jaccard_score),
    (CohenKappa(), metrics.cohen_kappa_score),
    (MatthewsCorrelation(), lambda y, p: max(0.0, metrics.matthews_corrcoef(y, p))),
    (GMean(), lambda y, p: math.sqrt(math.prod(metrics.recall_score(y, p, average=None)))),
]


@pytest.mark.parametrize(("task", "formula"), SCORES, ids=[type(task).__name__ for task, _ in SCORES])
def test_scores_are_those_of_scikit_learn(task: Any, formula: Any) -> None:
    y = [1] * 4 + [0] * 7
    totals = Totals(task, Dataset.make(np.zeros((11, 1), int), y))
    for fn, fp in itertools.product(range(4), range(7)):
        predicted = [0] * fn + [1] * (4 - fn + fp) + [0] * (7 - fp)
        assert float(task.shown(task.rank((fn, fp), totals))) == pytest.approx(formula(y, predicted))


RNG = np.random.default_rng(3)
X = RNG.integers(0, 2, (60, 3))
GROUPS: Any = RNG.permutation(np.arange(60) % 2)
Y: Any = ((X[:, 0] + X[:, 1] + (RNG.random(60) < 0.4)) >= 2).astype(int)


def stumps() -> list[Any]:
    """The predictions of all trees of depth one."""
    pairs = itertools.product(range(3), itertools.product((0, 1), repeat=2))
    return [np.where(X[:, j] == 1, a, b) for j, (a, b) in pairs]


def rates(predicted: Any) -> list[Fraction]:
    return [Fraction(int(predicted[g == GROUPS].sum()), int((g == GROUPS).sum())) for g in (0, 1)]


def test_a_limit_between_two_counts_is_that_of_the_larger_one() -> None:
    free = tree_of(streed.solve(Accuracy(), X, Y, max_depth=1)).predict(X)
    limit = min(rates(free)) + Fraction(1, 60)
    task = Accuracy().subject_to(DemographicParity().lowest >= limit)
    found = streed.solve(task, X, Y, max_depth=1, sensitive_features=GROUPS)
    assert found.value == min((each != Y).sum() for each in stumps() if min(rates(each)) >= limit) > (free != Y).sum()


@pytest.mark.parametrize(("low", "high"), [(0.4, 2), (0, 0.6)])
def test_both_ends_of_a_balance_of_errors(low: float, high: float) -> None:
    """The best stump has 1 and 3 false negatives for 6 and 4 false positives of the groups, the next one 3 and 2."""

    def keeps(predicted: Any) -> bool:
        wrong = [[int(((predicted == 1 - k) & (k == Y) & (g == GROUPS)).sum()) for k in (1, 0)] for g in (0, 1)]
        return all(low * fp <= fn <= high * fp for fn, fp in wrong)

    task = Accuracy().subject_to(TreatmentEquality(low, high))
    found = streed.solve(task, X, Y, max_depth=1, sensitive_features=GROUPS)
    assert found.value == min((each != Y).sum() for each in stumps() if keeps(each))
    assert any((each != Y).sum() < found.value for each in stumps())


def test_what_groups_weigh_is_told_in_the_weights_own_unit() -> None:
    weights = RNG.integers(1, 4, 60) * 6
    task = Accuracy().subject_to(DemographicParity() <= 0.9)
    (told,) = streed.solve(task, X, Y, max_depth=1, sensitive_features=GROUPS, sample_weight=weights).stats["limits"]
    assert [size for _, size in told["counts"]["all"].values()] == [weights[g == GROUPS].sum() for g in (0, 1)]


@attrs.frozen
class Hits(streed.Task):
    """Rows that are labelled right; as costs they are superadditive, as gains they are not."""

    superadditive = True
    worsening = True

    def statistics(self, data: Dataset) -> Any:
        return {"n": (data.class_numbers[:, None] == np.arange(data.n_classes)).astype(np.int64)}

    def leaf_cost(self, s: Any, k: int) -> Any:
        return s.n[k]


@pytest.mark.compiles
@pytest.mark.parametrize("search", ["depth-first", "general"])
def test_weights_prices_and_signs_of_sums(search: str) -> None:
    def value(task: streed.Task) -> Any:
        return streed.solve(task, CUBE, BOTH, max_depth=2, search=search).value

    priced = BalancedAccuracy() - Fraction(1, 8) * Splits()
    assert value(2 * priced) == 2 * value(priced) == 2 - Fraction(1, 2)
    assert value(F1() - Fraction(1, 8) * Splits()) == pytest.approx(0.75)
    assert value(streed.maximize(Hits())) == 8
    assert not streed.maximize(Hits()).superadditive
    tests = CostSensitive(CostTable.of([[0, 10], [30, 0]], [TestCost("x0", 2), TestCost("x1", 1)]))
    assert value(3 * tests) == 3 * value(tests) == 3 * (8 * 1 + 4 * 2)


def test_quantiles_of_many_targets_are_the_best_constants() -> None:
    y = RNG.permutation(np.arange(900, dtype=float))[:301]
    off, found = y[:, None] - y, streed.solve(QuantileError(0.3), np.zeros((301, 1), int), y, max_depth=0)
    assert found.value == pytest.approx(np.where(off > 0, 0.3 * off, -0.7 * off).sum(axis=0).min())
    sums = (QuantileError(0.3) + Splits()).statistics(streed.Dataset.make(y[:, None], y))  # none for each target
    assert [each.shape[1] for each in sums.values()] == [1]


def test_copies_and_weights_multiply_and_leaves_claim_their_rows() -> None:
    given: dict[str, Any] = {"frequency": [2, 30, 4], "sample_weight": [3, 1, 2]}
    rows, y = [[0, 1], [1, 0], [1, 1]], [0, 1, 0]
    assert streed.solve(Misclassifications(), rows, y, max_depth=0, **given).value == 2 * 3 + 4 * 2
    tree: Any = tree_of(streed.solve(Misclassifications(), rows, y, max_depth=1, frequency=given["frequency"]))
    for least, holds in ((6, True), (7, False)):
        claimed = attrs.evolve(tree, claims=attrs.evolve(tree.claims, min_leaf=least))
        assert all(each.holds for each in check(claimed, Dataset.make(rows, y, frequency=[2, 30, 4]))) == holds
    for frequency, value in (([3, 3], 0), ([3, 1], 1)):
        found = streed.solve(Misclassifications(), [[0], [1]], [0, 1], max_depth=1, min_leaf=2, frequency=frequency)
        assert found.value == value


@pytest.mark.compiles
@pytest.mark.parametrize("search", ["depth-first", "general"])
def test_empty_leaves_show_what_the_rows_above_them_would(search: str) -> None:
    """Of the rows of x0 = 0, none has the third category."""
    rows, new = [[0, 0], [0, 1], [1, 0], [1, 1], [1, 2]], [[0, 2]]
    found = streed.solve(SquaredError(), rows, [1.0, 5.0, 2.0, 6.0, 9.0], categorical=[1], max_depth=2, search=search)
    assert (found.value, tree_of(found).predict(new).tolist()) == (0, [3.0])
    costs = [[900, 1e-17], [10, 200 / 3], [1 / 9, 100], [1e5, 4 / 7], [0, 100]]
    labels = streed.solve(InstanceCosts(), rows, costs=costs, categorical=[1], max_depth=2, search=search)
    assert tree_of(labels).predict(new).tolist() == [1]


@pytest.mark.compiles
def test_gaps_thresholds_and_steps_of_new_rows() -> None:
    values = [*map(float, range(300)), math.nan]
    missing = streed.solve(Accuracy(), {"x": values}, [0] * 300 + [1], max_depth=1)
    assert (missing.value, tree_of(missing).predict({"x": [299.0, None]}).tolist()) == (0, [0, 1])
    tree = tree_of(streed.solve(Accuracy(), {"x": [0.5, 2.0, 3.0, 7.0]}, [0, 0, 1, 1], max_depth=1))
    assert tree.predict({"x": np.array([2, 3, -9])}).tolist() == [0, 1, 0]
    assert tree.predict(Dataset.make({"x": [3, 7, 7]}, categorical=["x"])).tolist() == [1, 1, 1]
    sizes = pd.Categorical(["s", "m", "l", "xl"], ["s", "m", "l", "xl"], ordered=True)
    scale = tree_of(streed.solve(Accuracy(), pd.DataFrame({"size": sizes}), [0, 0, 1, 1], max_depth=1))
    with pytest.warns(UserWarning, match="huge"):
        assert scale.predict({"size": ["huge", "s"]}).tolist() == [1, 0]
    assert Dataset.make([[0], [1]], np.array([False, False])).classes == (False,)


def test_cuts_by_weight_and_by_description_length() -> None:
    recipe = make_recipe({"x": [1.0, 2.0, 3.0, 4.0]}, n_thresholds=1, weights=[9, 1, 1, 1])
    assert recipe.columns[0].thresholds == (1,)
    for counts in np.random.default_rng(0).integers(0, 9, (200, 2, 3)).astype(float) + 1e-9:
        sides = [part / part.sum() for part in (counts.sum(axis=0), *counts)]
        h, a, b = (-(shares * np.log2(shares)).sum() for shares in sides)
        n, (left, right) = counts.sum(), counts.sum(axis=1)
        needed = (np.log2(max(n - 1, 1)) + np.log2(3.0**3 - 2) - 3 * (h - a - b)) / n
        assert mdlp(counts) == ([0] if h - (left * a + right * b) / n > needed else [])


def test_equal_risks_count_half_and_margins_are_those_of_small_groups() -> None:
    assert fairness_margin([50, 9, 20], 0.9) == fairness_margin([9, 20], 0.9)
    assert concordance(*map(np.array, ([1, 2, 3], [1, 1, 1], [2.0, 2.0, 1.0]))) == pytest.approx(2.5 / 3)


def test_gaps_of_dates_and_quoted_names_of_exports() -> None:
    days = np.array(["2020-01-01", "2020-01-05", "NaT"], "datetime64[D]")
    tree = tree_of(streed.solve(Accuracy(), {"day": days}, [0, 1, 1], max_depth=1))
    assert onnx_inputs(tree, {"day": [None]})["day"].tolist() == [[-(2**63)]]
    named = tree_of(streed.solve(Accuracy(), {'say "no"': [0, 1]}, [0, 1], max_depth=1))
    assert '"say ""no"""' in to_sql(named)
    near = streed.solve(Accuracy(), [[0.1234567890123456], [0.1234567890123458]], [0, 1], max_depth=1)
    assert "0.1234567890123457e0" in to_sql(near)  # of a shorter form, databases would not read all digits
    numbers = to_sklearn(streed.solve(SquaredError(), [[0], [0], [1]], [1.0, 1.0, 4.0], max_depth=1))
    assert numbers[-1].tree_.impurity.tolist() == pytest.approx([2, 0, 0])
    texts = streed.solve(Accuracy(), {"c": ["1", "2", "3", "x"]}, list("abcd"), max_depth=1)
    assert to_sklearn(texts).predict(pd.DataFrame({"c": ["x", "3", "2", "1"]})).tolist() == list("dcba")
    exec(to_python(texts), made := dict[str, Any]())
    assert made["predict"]({"c": 3.0}) == "c"


@pytest.mark.compiles
def test_margins_capacities_and_intervals() -> None:
    """Newcombe (1998), method 10, example a: 56 of 70 less 48 of 80."""
    apart, (low, high) = difference((56, 70), (48, 80), 0.95)
    assert (apart, low, high) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)
    few = FairTreeClassifier("equalized-odds", limit=0.9, confidence=0.9, max_depth=1)
    few.fit(X, Y, sensitive_features=GROUPS)
    sizes: Any = [[((k == Y) & (g == GROUPS)).sum() for g in (0, 1)] for k in (0, 1)]
    assert few.limit_ == pytest.approx(0.9 - max(fairness_margin(each, 0.9) for each in sizes))
    policy = PolicyTree("dm", capacity=0.5, max_depth=3).fit(CUBE[:5], [[0, 1]] * 5)
    assert (policy.predict(CUBE[:5]) == 1).sum() == 2


@pytest.mark.compiles
def test_random_numbers_and_trees_by_number_are_all_there() -> None:
    leaves = streed.rashomon(Misclassifications(), [[0]] * 3, [0, 1, 2], max_depth=0, slack=9)
    assert {str(tree) for tree in leaves.sample(99, np.random.default_rng(0))} == set(map(str, leaves))
    trees = streed.rashomon(Misclassifications(), CUBE, BOTH, max_depth=2, slack=2, trivial=False)
    assert trees.count == len({str(tree) for tree in trees}) > 20
    nodes = [node for tree in trees for node in walk(tree.root) if isinstance(node, Branch)]
    labels = [[child.label if isinstance(child, Leaf) else None for child in node.children] for node in nodes]
    assert not {(0, 0), (1, 1)} & set(map(tuple, labels))


def test_depth_frequency_and_memory_are_what_was_said(tmp_path: Path) -> None:
    parity = [sum(row) % 2 for row in CUBE]
    assert streed.solve(Accuracy(), CUBE, parity, max_depth=2, search="general").value == 4
    table = tmp_path / "table.csv"
    table.write_text("a,n,y\n0,3,no\n1,5,yes\n", encoding="utf-8")
    words = ("solve", str(table), "--target", "y", "--frequency", "n", "--max-depth", "0", "--json")
    assert json.loads(CliRunner().invoke(app, words).stdout)["value"] == 3
