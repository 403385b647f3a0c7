"""Four objectives of one's own, each a class of a few lines: `python examples/user_tasks.py`."""

import math

import attrs
import numpy as np

import streed
from streed.datasets import load
from streed.tasks import Splits


@attrs.frozen
class Errors(streed.Task):
    """The wrong rows of all leaves."""

    def statistics(self, data):
        return {"counts": data.class_numbers[:, None] == np.arange(data.n_classes)}

    def leaf_cost(self, s, k):
        return s.weight - s.counts[k]


class MostErrors(Errors):
    """The wrong rows of the worst leaf: values are combined by max, not added."""

    worsening = True

    def combine(self, a, b):
        return max(a, b)

    def subtract(self, a, b):
        return a if b < a else -1


class Odds(Errors):
    """The rows of every leaf times the odds of an error: a few bad leaves are worse than many that err a little."""

    def leaf_cost(self, s, k):
        return s.weight * (s.weight - s.counts[k]) / s.counts[k] if s.counts[k] > 0 else math.inf


class PaidTests(Errors):
    """An error costs 1, a look at a column 1 % of its rows, and nothing where it was looked at above."""

    def branching_cost(self, rows, path, split):
        return 0.0 if split in path else 0.01 * rows


TASKS = {
    "two splits": Errors().subject_to(Splits() <= 2),
    "worst leaf": MostErrors(),
    "odds": Odds() + 2 * Splits(),
    "paid": PaidTests(),
}

if __name__ == "__main__":
    for name, task in TASKS.items():
        print(name, round(float(streed.solve(task, load("monks-1").dataset(), max_depth=2).value), 4))
