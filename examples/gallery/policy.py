"""Policy: which dose of Warfarin to start with, learned from doses that were given.

Data: International Warfarin Pharmacogenetics Consortium (2009), PharmGKB, CC BY-SA 4.0; `policy/*.csv` of the
benchmarks.
"""

from __future__ import annotations

import numpy as np

import streed
from examples.gallery.case import Options, read_numbers, read_options
from streed import plot
from streed.tasks import PolicyValue

DOSES = ("low", "medium", "high")


def run(options: Options) -> list[streed.Result]:
    """The optimal policies of depth 1 to 3 by the doubly robust estimate."""
    train = read_numbers(options.find("policy/train_rf_dt_0.06_0_0.csv"))
    test = read_numbers(options.find("policy/test_rf_dt_0.06_0_0.csv"))
    X = train[:, 11:].astype(int)
    past = {
        "treatment": train[:, 1].astype(int),
        "outcome": train[:, 2],
        "propensity": train[:, 3],
        "predicted": np.ascontiguousarray(train[:, 4:7]),
    }
    results = []
    for depth in (1, 2, 3):
        result = streed.solve(PolicyValue("dr"), X, max_depth=depth, **past)
        assert result.tree is not None
        right = (result.tree.predict(test[:, 11:].astype(int)) == test[:, 7]).mean()
        print(f"depth {depth}: estimated value {result.value:.3f}, {right:.1%} of the held-out doses right")
        results.append(result)
    options.save("policy-tree.svg", plot.tree_svg(results[2], X, title="Dose by patient: 0 low, 1 medium, 2 high"))
    return results


if __name__ == "__main__":
    run(read_options(__doc__))
