"""Small data made by rule, of the MONK's problems, for every task that ships, and the best values of trees for them.

The rows are every sixth case of the first problem (72 rows, 17 binary columns). The values are those of the best tree
of depth two at most, found by the reference's recursion over all trees; those that papers print are in
`test_published.py`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from streed.data import Dataset
from streed.datasets import load

DEPTH = 2


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
