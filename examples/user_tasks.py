"""Ten objectives of one's own, each a class of a few lines, solved on a dozen rows.

Run it with `python examples/user_tasks.py`.
"""

from __future__ import annotations

import math
from typing import Any

import attrs
import numpy as np

import streed
from streed.tasks import Misclassifications, Splits


@attrs.frozen
class MostErrors(streed.Task):
    """The most errors in one leaf: values are combined by max, not added."""

    worsening = True

    def statistics(self, data):
        return {"counts": data.class_numbers[:, None] == np.arange(data.n_classes)}

    def leaf_cost(self, s, k):
        return s.weight - s.counts[k]

    def combine(self, a, b):
        return max(a, b)

    def subtract(self, a, b):
        return a if b < a else -1


@attrs.frozen
class PaidTests(streed.Task):
    """An error costs 4, a look at a column its price per row, and nothing where it was looked at above."""

    prices: tuple[float, ...] = (1, 0.5, 0.25)
    shared: int = 1
    """With this column known, every other column costs half."""

    def statistics(self, data):
        return {"counts": data.class_numbers[:, None] == np.arange(data.n_classes)}

    def leaf_cost(self, s, k):
        return 4 * (s.weight - s.counts[k])

    def branching_cost(self, rows, path, split):
        if split in path:
            return 0.0
        return rows * self.prices[split] * (0.5 if self.shared in path else 1.0)


@attrs.frozen
class Outcome(streed.Task):
    """The mean outcome of those treated as the leaf says, regress and compare: a real-valued statistic, maximised."""

    maximize = True

    def statistics(self, data):
        return {"expected": np.stack([data.row_data["untreated"], data.row_data["treated"]], axis=1)}

    def labels(self, data):
        return ("leave", "treat")

    def leaf_cost(self, s, k):
        return s.expected[k]

    def score(self, value, totals):
        return value / totals.weight


@attrs.frozen
class EnoughTreated(streed.Limit):
    """At least so many rows of a leaf were treated in the past."""

    least: int

    def allows(self, s):
        return s.was_treated >= self.least


@attrs.frozen
class WatchedOutcome(streed.Task):
    """The outcome of treated rows."""

    def statistics(self, data):
        return {"was_treated": data.row_data["was_treated"], "gain": data.row_data["treated"]}

    def labels(self, data):
        return ("leave", "treat")

    def leaf_cost(self, s, k):
        return -s.gain * k


@attrs.frozen
class PoissonDeviance(streed.Task):
    """How badly each leaf's rate of events explains its events, over real-valued times of exposure."""

    any_label = True

    def statistics(self, data):
        return {"events": data.row_data["events"], "exposure": data.row_data["exposure"]}

    def labels(self, data):
        return ("rate",)

    def leaf_cost(self, s, k):
        return 0.0 if s.events == 0 else -2 * s.events * math.log(s.events / s.exposure)

    def leaf_label(self, s, k):
        return s.events / s.exposure


@attrs.frozen
class SquareRootGini(streed.Task):
    """The rows of every leaf times the square root of its Gini impurity."""

    def statistics(self, data):
        return {"counts": data.class_numbers[:, None] == np.arange(data.n_classes)}

    def leaf_cost(self, s, k):
        if s.counts[k] < max(s.counts):
            return math.inf
        pure = 0.0
        for count in s.counts:
            pure += (count / s.weight) ** 2 if s.weight > 0 else 0.0
        return s.weight * math.sqrt(max(1 - pure, 0.0))


@attrs.frozen
class Odds(streed.Task):
    """The rows of every leaf times the odds of an error: a few bad leaves are worse than many that err a little."""

    def statistics(self, data):
        return {"counts": data.class_numbers[:, None] == np.arange(data.n_classes)}

    def leaf_cost(self, s, k):
        return s.weight * (s.weight - s.counts[k]) / s.counts[k] if s.counts[k] > 0 else math.inf


@attrs.frozen
class ErrorsOrCare(streed.Task):
    """Errors, or a smaller cost for each row that a leaf leaves to an expert; a question costs 1 % of its rows."""

    expert: float = 0.3

    def statistics(self, data):
        return {"counts": data.class_numbers[:, None] == np.arange(data.n_classes)}

    def labels(self, data):
        return (*data.classes, "ask an expert")

    def leaf_cost(self, s, k):
        return self.expert * s.weight if k == len(s.counts) else s.weight - s.counts[k]

    def branching_cost(self, rows, path, split):
        return 0.01 * rows


@attrs.frozen
class ErrorsByGroup(streed.Task):
    """The errors in each of two groups, as a front: no weighing of one against the other."""

    order = "componentwise"

    def statistics(self, data):
        wrong = data.class_numbers[:, None] != np.arange(data.n_classes)
        member = data.row_data["group"][:, None].astype(bool)
        return {"first": wrong & ~member, "second": wrong & member}

    def leaf_cost(self, s, k):
        return (s.first[k], s.second[k])


@attrs.frozen
class Treated(streed.Task):
    """How many rows are treated; a limit on it is a capacity."""

    worsening = True

    def statistics(self, data):
        return {}

    def labels(self, data):
        return ("leave", "treat")

    def leaf_cost(self, s, k):
        return s.weight * k


OBJECTIVES: dict[str, streed.Task] = {
    "most errors in a leaf": MostErrors(),
    "errors and paid tests": PaidTests(),
    "mean outcome": Outcome(),
    "outcome where watched": WatchedOutcome().subject_to(EnoughTreated(2)),
    "Poisson deviance": PoissonDeviance() + 0.5 * Splits(),
    "square root of Gini": SquareRootGini(),
    "odds of an error": Odds() + 0.1 * Splits(),
    "errors or care": ErrorsOrCare(),
    "errors by group": ErrorsByGroup(),
    "outcome within capacity": Outcome().subject_to(Treated() <= 4),
    "errors in two splits": Misclassifications().subject_to(Splits() <= 2),
}


def patients() -> streed.Dataset:
    """Twelve patients with three answers each."""
    X = [[int(bit) for bit in f"{row % 8:03b}"] for row in range(12)]
    return streed.Dataset.make(
        X,
        [0, 0, 1, 1, 0, 1, 1, 0, 0, 1, 1, 1],
        treated=[3.5, 1.0, 2.5, 0.5, 4.0, 1.5, 2.0, 3.0, 2.5, 0.0, 3.5, 1.0],
        untreated=[1.0, 2.0, 1.5, 2.5, 1.0, 3.0, 0.5, 1.0, 2.0, 2.5, 1.0, 0.5],
        was_treated=[1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 0, 1],
        events=[2, 0, 1, 3, 0, 1, 0, 2, 1, 0, 2, 4],
        exposure=[1.5, 0.5, 2.0, 1.0, 3.5, 0.5, 1.0, 2.5, 2.0, 1.0, 1.5, 1.0],
        group=[0, 1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0],
    )


def best(task: streed.Task, data: streed.Dataset, max_depth: int = 2) -> list[Any]:
    """What every nondominated tree is worth, best first."""
    result = streed.solve(task, data, max_depth=max_depth)
    return sorted((value for value, _ in result.front), reverse=task.larger_is_better)


def main() -> None:
    """Prints the best value of every objective, or its front."""
    data = patients()
    for name, task in OBJECTIVES.items():
        shown = [value if isinstance(value, tuple) else round(float(value), 4) for value in best(task, data)]
        print(f"{name:24} {' '.join(map(str, shown if isinstance(shown[0], tuple) else shown[:1]))}")


if __name__ == "__main__":
    main()
