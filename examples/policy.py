"""From past treatments to a policy: teachers, the optimal tree, an honest estimate, and a capacity.

Run it with `python examples/policy.py`. With a folder of the Warfarin data (`--data FOLDER`, of files `train_*.csv` and
`test_*.csv`) it also shows how often optimal trees of depth 1 to 5 prescribe the right dose (STreeD, Table 6).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import streed
from streed.datasets.trials import bins, make_trial
from streed.estimators.teachers import teach
from streed.tasks import PolicyValue, TreatmentCosts
from streed.tasks.outcome_scores import policy_value


def main() -> None:
    """Prints policies for made-up patients, whose outcomes under both treatments are known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    options = parser.parse_args()
    from sklearn.linear_model import LinearRegression, LogisticRegression

    past, later = make_trial(600, 2, 0.75, seed=1), make_trial(2000, 2, 0.75, seed=2)
    columns, edges = bins(past.features, n_bins=5)
    later_columns, _ = bins(later.features, edges)
    models = {"regressor": LinearRegression(), "classifier": LogisticRegression()}
    lesson = teach(past.features, past.treatment, past.outcome, **models)
    later_lesson = teach(later.features, later.treatment, later.outcome, **models)
    known = later_lesson.row_data(later.treatment, later.outcome)
    print("method   estimated   held out (standard error)   truth")
    for method in ("dm", "ipw", "dr"):
        result = streed.solve(
            PolicyValue(method), columns, max_depth=2, **lesson.row_data(past.treatment, past.outcome)
        )
        assert result.tree is not None
        honest = policy_value(result.tree, later_columns, "dr", **known)
        truth = later.worth(result.tree.predict(later_columns))
        print(f"{method:6} {result.value:11.3f} {honest.value:11.3f} ({honest.standard_error:.3f}) {truth:20.3f}")
    everyone = [later.worth(np.full(2000, k)) for k in (0, 1)]
    print(f"everyone the same: {everyone[0]:.3f} and {everyone[1]:.3f}")

    few = slice(0, 120)
    used = TreatmentCosts({1: 1})
    for room in (120, 40, 10):
        result = streed.solve(
            PolicyValue("dm").subject_to(used <= room), columns[few], max_depth=1, predicted=lesson.predicted[few]
        )
        assert result.tree is not None
        treated = int((result.tree.predict(columns[few]) == 1).sum())
        print(f"room for {room:3}: {treated:3} treated, estimated {result.value:.3f}")
    if options.data is not None:
        warfarin(options.data)


PAPER = {1: 83.1, 2: 84.6, 3: 86.6, 4: 88.0, 5: 89.7}
"""STreeD, Table 6: by depth, how many held-out patients in percent are prescribed their right dose."""


def warfarin(folder: Path) -> None:
    """How often the held-out patients are prescribed their right dose, by depth, on average over files and methods."""
    for depth in range(1, 6):
        right = []
        for path in sorted(folder.glob("train_*.csv")):
            train = np.loadtxt(path)
            test = np.loadtxt(path.with_name(path.name.replace("train_", "test_")))
            seen = {"treatment": train[:, 1].astype(int), "outcome": train[:, 2], "propensity": train[:, 3]}
            for method in ("dm", "ipw", "dr"):
                task, X = PolicyValue(method), train[:, 11:].astype(int)
                tree = streed.solve(task, X, max_depth=depth, predicted=train[:, 4:7], **seen).tree
                assert tree is not None
                right.append((tree.predict(test[:, 11:].astype(int)) == test[:, 7]).mean())
        print(f"depth {depth}: {np.mean(right):.1%} right (paper: {PAPER[depth]}%)")


if __name__ == "__main__":
    main()
