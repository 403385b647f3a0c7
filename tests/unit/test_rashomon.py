"""Near-optimal trees: drawn, counted beyond 2**63, by other quantities and the shell; what stops or refuses counts."""

from __future__ import annotations

import collections
import json
import pickle
from typing import Any

import numpy as np
import pytest

import streed
from streed.datasets import load
from streed.errors import InputError
from streed.task.algebra import at_most
from streed.tasks import (
    F1,
    Accuracy,
    ClassErrors,
    DemographicParity,
    Entropy,
    Lexicographic,
    MatthewsCorrelation,
    Misclassifications,
    SparseAccuracy,
    Splits,
    SquaredError,
)
from streed.tree.nodes import used_columns
from tests.unit.conftest import run
from tests.unit.outcomes import refused

pytestmark = pytest.mark.compiles


def made(n: int = 24, p: int = 3, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, p))
    y = (X[:, 0] & X[:, 1]) ^ (rng.random(n) < 0.2)
    return X, y.astype(int), rng.integers(0, 2, n)


def value_of(tree: streed.Tree) -> Any:
    return tree.claims.value


PRICED = Misclassifications() + Splits()


def test_every_tree_is_drawn_equally_often() -> None:
    X, y, _ = made()
    trees = streed.rashomon(PRICED, X, y, max_depth=2, slack=2)
    drawn = collections.Counter(tree.to_json() for tree in trees.sample(1800, rng=7))
    assert len(drawn) == trees.count == 18
    # the 0.999 quantile of chi-square with 17 degrees of freedom
    assert sum((count - 100) ** 2 / 100 for count in drawn.values()) < 40.8


def test_counts_beyond_64_bits_are_exact() -> None:
    """Every column parts every node of so many rows, and no error is too many: counted by a formula."""

    def trees(depth: int, columns: int) -> int:
        return 2 if depth == 0 else 2 + columns * trees(depth - 1, columns - 1) ** 2

    X, y, _ = made(500, 13)
    found = streed.rashomon(PRICED, X, y, max_depth=4, budget=10**6, columns="all")
    assert found.count == trees(4, 13) > 2**64
    assert sum(found.histogram.values()) == found.count
    assert value_of(found[found.count - 1]) == max(found.histogram)
    # of a single class nothing costs but splits, here more than 2**63 units of the weights
    weights = np.random.default_rng(0).random(6)
    found = streed.rashomon(SparseAccuracy(0.05), X[:6, :1], [0] * 6, max_depth=1, slack=1, sample_weight=weights)
    assert (found.count, found.optimum) == (2, 0)


def test_other_quantities_are_counted_along() -> None:
    X, y, groups = made()
    trees = streed.rashomon(PRICED, X, y, max_depth=2, slack=3, sensitive_features=groups)
    gaps: collections.Counter[Any] = collections.Counter()
    for tree in trees:
        predicted = tree.predict(X)
        gap = abs(predicted[groups == 0].mean() - predicted[groups == 1].mean())
        gaps[value_of(tree), round(gap, 9), tree.n_branches] += 1
    found = trees.histogram_of(DemographicParity(), Splits())
    assert {(value, round(float(gap), 9), splits): count for (value, gap, splits), count in found.items()} == gaps
    best = trees.best(by=DemographicParity())
    least, value = min((gap, value) for value, gap, _ in gaps)
    assert (round(float(best.quantity), 9), best.value) == (least, value)
    assert best.ties == sum(count for (v, gap, _), count in gaps.items() if (v, gap) == (value, least))
    within = trees.within(DemographicParity() <= 0.2)
    assert within.count == sum(count for (_, gap, _), count in gaps.items() if gap <= 0.2 + 1e-9)
    few = sum(count for (_, _, splits), count in gaps.items() if splits <= 1)
    assert trees.within(at_most(Splits(), 1)).count == few


def test_columns_that_may_be_left_out() -> None:
    X, y, _ = made(p=4)
    trees = streed.rashomon(PRICED, {name: X[:, j] for j, name in enumerate("abcd")}, y, max_depth=2, slack=2)
    used = [used_columns(tree.root) for tree in trees]
    for j, (name, importance) in enumerate(trees.importance().items()):
        assert name == "abcd"[j]
        assert importance.share == sum(j in columns for columns in used) / len(used)
        without = trees.without(name)
        assert without.count == sum(j not in columns for columns in used)
        assert trees.needed(name) == (without.count == 0)
        assert importance.best_without == without.optimum
    refused("column", "no column 'e'", call=lambda: trees.without("e"))


def test_shares_of_labels_are_those_of_the_trees() -> None:
    X, y, _ = made()
    for task in (Entropy(), PRICED):
        trees = streed.rashomon(task, X, y, max_depth=2, slack=2)
        assert np.allclose(trees.predict_proba(X)[:, 1], np.mean([tree.predict(X) for tree in trees], axis=0))
    assert trees.predict_proba(X, samples=10, rng=0).shape == (24, 2)
    assert trees.distinct_predictions() == len({tuple(tree.predict(X)) for tree in trees})
    means = streed.rashomon(SquaredError(), X, y, max_depth=2, n_best=9)
    refused("task", "no class of y", call=means.predict_proba)


def test_the_tree_of_fewest_columns() -> None:
    for seed in range(3):
        X, y, _ = made(40, 5, seed)
        trees = streed.rashomon(PRICED, X, y, max_depth=3, slack=seed)
        fewest = trees.fewest_columns()
        assert len(fewest.columns) == min(len(used_columns(tree.root)) for tree in trees)
        assert fewest.columns == tuple(f"x{j}" for j in sorted(used_columns(fewest.tree.root)))
    parity = streed.rashomon(Misclassifications(), X[:, :3], X[:, 0] ^ X[:, 1], max_depth=2, slack=0)
    assert parity.fewest_columns().columns == ("x0", "x1")


def test_limits_of_time_and_memory_stop_a_count() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (300, 40)), rng.integers(0, 2, 300)
    for limit in ({"time_limit": 0.2}, {"memory_limit": 1}):
        trees = streed.rashomon(PRICED, X, y, max_depth=6, budget=150, **limit)
        assert (trees.status, trees.stopped) == ("stopped", next(iter(limit)).partition("_")[0])
        assert (trees.count, list(trees)) == (None, [])


def test_no_depth_limit_with_a_price() -> None:
    X, y, _ = made(12, 3)
    free = streed.rashomon(PRICED, X, y, slack=3)
    assert free.histogram == streed.rashomon(PRICED, X, y, max_depth=11, slack=3).histogram
    refused("max_depth", "trees have no end", call=lambda: streed.rashomon(Accuracy(), X, y))


@pytest.mark.parametrize(
    ("task", "options", "message"),
    [
        (ClassErrors(), {}, "front"),
        (Accuracy() & DemographicParity(), {}, "front"),
        (Entropy(), {"max_nodes": 2}, "limit the depth"),
        (Accuracy(), {"n_best": 0}, ">= 1"),
        (MatthewsCorrelation(), {}, "no fraction of sums"),
        (Lexicographic(), {}, "its score, is no one number"),
        (F1(), {"labels": "best"}, "depends on the other leaves"),
        (Accuracy(), {"labels": "most"}, "use one of"),
        (Accuracy(), {"columns": "some"}, "use one of"),
        (Accuracy(), {"trivial": 1}, "True or False"),
        (Accuracy(), {"epsilon": 0.1, "slack": 1}, "give one of them"),
        (Accuracy(), {"epsilon": -1}, ">= 0"),
        (Accuracy(), {"budget": True}, "give a finite number"),
        (Accuracy(), {"min_leaf": 100}, "lower it"),
    ],
)
def test_what_is_not_counted_says_why(task: Any, options: dict[str, Any], message: str) -> None:
    X, y, groups = made()
    with pytest.raises(InputError, match=message):
        streed.rashomon(task, X, y, max_depth=2, sensitive_features=groups, **options)


def test_questions_about_no_trees_and_no_quantities() -> None:
    X, y, _ = made()
    none = streed.rashomon(PRICED, X, y, max_depth=2, budget=-1)
    assert (none.count, none.optimum, none.histogram, list(none)) == (0, None, {}, [])
    refused("k", "no trees", call=lambda: none.sample(1))
    trees = streed.rashomon(SparseAccuracy(0.01), X, y, max_depth=2)
    refused("by", "no quantity", call=lambda: trees.best(by="sex"))
    refused("limit", "limits no sum", call=lambda: trees.within(3))
    with pytest.raises(IndexError):
        trees[sum(trees.histogram.values())]
    assert trees[-1] == trees[sum(trees.histogram.values()) - 1]


def test_trees_are_saved_and_sets_are_not() -> None:
    X, y, _ = made()
    trees = streed.rashomon(PRICED, X, y, max_depth=3, slack=2)
    assert streed.Tree.from_json(trees[1].to_json()) == trees[1]
    with pytest.raises(TypeError, match="save its trees"):
        pickle.dumps(trees)


def test_frequencies_beside_several_categories_stand_for_equal_rows() -> None:
    X, y, copies = np.array([[2], [1], [0], [1], [1]]), np.array([0, 0, 0, 1, 1]), [1, 3, 1, 1, 3]
    asked: dict[str, Any] = {"max_depth": 2, "slack": 2, "categorical": [0]}
    found = streed.rashomon(PRICED, X, y, frequency=copies, **asked)
    each = streed.rashomon(PRICED, X.repeat(copies, axis=0), y.repeat(copies), **asked)
    assert (found.optimum, found.count) == (each.optimum, each.count)
    assert found.optimum == streed.solve(PRICED, X, y, frequency=copies, max_depth=2, categorical=[0]).value


ASKED = ("rashomon", "monks-1", "--task", "sparse-accuracy", "--lam", "0.01", "--max-depth", "4", "--epsilon", "0.2")
ADMITTED = ("rashomon", "berkeley", "--target", "admitted", "--task", "sparse-accuracy", "--lam", "0.01")
NEAR = (*ADMITTED, "--max-depth", "3", "--sensitive", "gender")


def test_the_shell_counts_the_set() -> None:
    trees = streed.rashomon(SparseAccuracy(0.01), load("monks-1").dataset(), max_depth=4, epsilon=0.2)
    found = json.loads(run(*ASKED, "--json").stdout)
    assert found["count"] == trees.count
    assert found["histogram"] == [{"value": value, "trees": count} for value, count in trees.histogram.items()]
    text = run(*ASKED, "--importance").stdout
    assert f"trees    {trees.count:,}" in text
    assert "100.0%  a5=1  (needed)" in text


def test_the_shell_leaves_columns_out_and_chooses_by_a_quantity() -> None:
    text = run(*ASKED, "--without", "a5=1", code=4).stdout
    assert "so these columns are needed" in text
    found = json.loads(run(*NEAR, "--best-by", "demographic-parity", "--json").stdout)
    assert (found["best_by"]["name"], found["best_by"]["ties"]) == ("demographic-parity", 2)
    assert round(found["best_by"]["quantity"], 4) == 0.4422


def test_exit_codes_of_the_shell() -> None:
    run("rashomon", "monks-1", "--task", "matthews-correlation", "--max-depth", "2", code=2)
    run("rashomon", "monks-1", "--max-depth", "2", "--budget", "-1", code=4)
    stopped = run("rashomon", "monks-1", "--max-depth", "6", "--slack", "100", "--time-limit", "0.05", code=3)
    assert "trees    time" in stopped.stdout
