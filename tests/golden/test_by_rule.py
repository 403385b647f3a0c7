"""Every task that ships finds its recorded value on data made by rule, which every clone has; and published optima.

The data are every sixth case of the first of the MONK's problems (72 rows, 17 binary columns). The values are those of
the best tree of depth two at most, found by the reference's recursion over all trees.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import streed
from streed import registry
from streed.data import Dataset
from streed.datasets import load
from streed.tasks import SparseAccuracy
from tests.shipped import ARGUMENTS, DATA, WHOLE_WEIGHTS, examples


def make_data(name: str) -> Dataset:
    """The data for a task, with the labels and the row data that it asks for."""
    bundled = load("monks-1")
    a1, a2, _, a4, a5, _ = (np.array(bundled.table[f"a{i}"])[::6] for i in range(1, 7))
    number = a1 * a2 + a5
    holds = np.array(bundled.table["class"])[::6]
    three = np.stack([number % 5, a4, a5], axis=1)
    given: dict[str, dict[str, Any]] = {
        "absolute-error": {"y": number},
        "cost-sensitive": {"y": a1 * a2 % 3},
        "instance-costs": {"costs": np.stack([number % 5, a4 + a5, a2 * a4 % 4], axis=1)},
        "linear-leaves": {"y": number, "features": a5[:, None]},
        "misclassification-costs": {"y": a1 * a2 % 3},
        "poisson-deviance": {"y": number, "exposure": a4},
        "policy-value": {
            "treatment": (a2 + a5) % 3,
            "outcome": number % 5,
            "propensity": np.where(a4 == 1, 0.5, 0.25),
            "predicted": three,
        },
        "quantile-error": {"y": number},
        "relative-risk": {"y": number, "event": holds},
        "squared-error": {"y": number},
        "treatment-costs": {"predicted": three[:, :2]},
    }
    row_data = {"y": holds, **given.get(name, {})}
    return Dataset.make(bundled.dataset().X[::6], row_data.pop("y"), **row_data)


VALUES: dict[str, Any] = {
    "absolute-error": 92,
    "accuracy": 16,
    "balanced-accuracy": Fraction(7, 9),
    "bayesian-tree": 39.15674467741784,
    "brier-score": Fraction(22, 72),
    "class-errors": {(0, 16), (6, 14), (8, 12), (12, 8), (18, 6), (24, 4), (30, 2), (36, 0)},
    "cohen-kappa": Fraction(5, 9),
    "cost-sensitive": 48,
    "entropy": 46.03910001730773,
    "f1": Fraction(56, 76),
    "fbeta": Fraction(180, 216),
    "gini": 22,
    "gmean": (20 / 36) ** 0.5,
    "instance-costs": 106,
    "jaccard": Fraction(28, 48),
    "lexicographic": (16, 3),
    "linear-leaves": Fraction(950, 7),
    "matthews-correlation": 20 * 36 / (20 * 36 * 36 * 52) ** 0.5,
    "mehta-mdl": 65.76026414529848,
    "minimum-error": 18.417376775271514,
    "misclassification-costs": 48,
    "misclassifications": 16,
    "monotone-errors": 16,
    "monotone-metric": -16,
    "pessimistic-error": 22.31461992903416,
    "poisson-deviance": 62.89953074590554,
    "policy-value": Fraction(109, 36),
    "quantile-error": 34,
    "quinlan-mdl": 63.498127749051214,
    "relative-risk": 0.32111755221700305,
    "sparse-accuracy": Fraction(11, 40),
    "splits": 0,
    "squared-error": 194,
    "treatment-costs": 72,
    "weighted-accuracy": 16,
    "worst-leaf": Fraction(1, 3),
}
"""By task, with the first of its example arguments in `tests.shipped`; of the errors in every class, the front.

The scores of two classes are their formulas at the best point of that front.
"""


QUICK = ("accuracy", "balanced-accuracy", "f1", "lexicographic", "misclassifications", "sparse-accuracy", "splits")
"""Tasks for which nothing is compiled that the rest of the tests does not need."""


def test_every_task_has_a_value_and_no_value_is_orphaned() -> None:
    assert set(VALUES) == set(registry.tasks()), "record the task's value in tests/golden/test_by_rule.py"
    assert set(ARGUMENTS) | set(DATA) | WHOLE_WEIGHTS | set(QUICK) <= set(VALUES)


def _check(name: str, **options: Any) -> None:
    result = streed.solve(examples(name)[0], make_data(name), max_depth=2, **options)
    assert result.status == "optimal"
    if isinstance(VALUES[name], set):
        assert {value for value, _ in result.front} == VALUES[name]
    elif isinstance(VALUES[name], tuple):
        assert result.value == VALUES[name]
    else:
        assert float(result.value) == pytest.approx(float(VALUES[name]), rel=1e-9)


@pytest.mark.parametrize("name", sorted(VALUES))
def test_the_search_in_python_finds_the_value(name: str) -> None:
    _check(name, search="general")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in sorted(VALUES)]
)
def test_the_default_search_finds_the_value(name: str) -> None:
    _check(name)


TABLE_2 = [
    # name, encoding, lambda, value, accuracy, splits; `f`: a column for every value but the first, `o`: a multiway one
    ("monks-1", "", "0.01", "0.940", "1.000", 6),
    ("monks-1", "o", "0.01", "0.900", "1.000", 10),
    ("tic-tac-toe", "f", "0.005", "0.850", "0.945", 19),
    pytest.param("tic-tac-toe", "o", "0.005", "0.773", "0.858", 17, marks=pytest.mark.compiles),
    ("balance-scale", "f", "0.005", "0.673", "0.723", 10),
    ("balance-scale", "o", "0.005", "0.713", "0.763", 10),
]
"""Of Branches (ICML 2025), on all cases of a rule: 1 - error rate - lambda * splits.

Of the MONK's problems the paper takes a sample of the cases; for the first one a tree without errors is best, so that
the value is the same for all cases.
"""


def _encoded(name: str, encoding: str) -> Dataset:
    bundled = load(name)
    if encoding != "f":
        return bundled.dataset(one_hot=not encoding)
    columns = {
        f"{attribute}={value}": [int(each == value) for each in values]
        for attribute, values in bundled.table.items()
        if attribute != bundled.target
        for value in sorted(set(values))[1:]
    }
    return Dataset.make(columns, bundled.table[bundled.target])


@pytest.mark.parametrize(("name", "encoding", "lam", "value", "accuracy", "splits"), TABLE_2)
def test_table_2_of_branches(name: str, encoding: str, lam: str, value: str, accuracy: str, splits: int) -> None:
    """The paper's depth limit is 20; it prints three digits, cut off or rounded."""
    data = _encoded(name, encoding)
    result = streed.solve(SparseAccuracy(float(lam)), data, max_depth=20)
    assert result.status == "optimal"
    assert result.tree.n_branches == splits
    errors = Fraction(result.value) - Fraction(lam) * splits
    assert float(1 - errors) == pytest.approx(float(accuracy), abs=1e-3)
    assert 1 - float(result.value) == pytest.approx(float(value), abs=1e-3)
