"""Admissions at Berkeley, 1973, by department: the best trees that admit men and women at ever more alike rates.

Run it with `python examples/fair_admissions.py`.
"""

from __future__ import annotations

import numpy as np

import streed
from streed.datasets import load, one_hot
from streed.tasks import Accuracy, DemographicParity, EqualOpportunity, PredictiveEquality
from streed.tasks.rates import measure, shares

NOTIONS = (DemographicParity(), EqualOpportunity(), PredictiveEquality())


def main() -> None:
    """Prints accuracy, the gap by every notion, the groups' rates and the tree, without a limit and for two limits."""
    table = load("berkeley").table
    admitted, gender = table["admitted"], table["gender"]
    columns = one_hot({"department": table["department"]})
    data = streed.Dataset.make(columns, admitted, sensitive_features=gender)
    for title, task in (
        ("without a limit", Accuracy()),
        ("demographic parity <= 0.2", Accuracy().subject_to(DemographicParity() <= 0.2)),
        ("demographic parity <= 0.01", Accuracy().subject_to(DemographicParity() <= 0.01)),
    ):
        result = streed.solve(task, data, max_depth=3)
        assert result.status == "optimal"
        assert result.tree is not None
        predicted = result.tree.predict(data)
        numbers = np.searchsorted(data.classes, predicted)
        print(f"{title}: accuracy {(predicted == np.array(admitted)).mean():.4f}, proved optimal")
        for notion in NOTIONS:
            counts = notion.counts(data, numbers)
            for kind, by_group in shares(counts).items():
                groups = ", ".join(f"{group} {rate:.4f}" for group, rate in by_group.items())
                print(f"  {type(notion).__name__:20} gap {float(measure('gap', counts, kind)):.4f}  ({groups})")
        print(f"\n{result.tree.to_text()}\n")


if __name__ == "__main__":
    main()
