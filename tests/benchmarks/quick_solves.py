"""Small solves, many times each: a process that `tests.benchmarks.quick` starts with the streed that is to be timed.

Prints, as JSON, whether anything was compiled here and for each solve its processor seconds and its answer.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import streed
from streed.tasks import F1, Accuracy, ClassErrors, CostSensitive, DemographicParity, Gini, SquaredError
from streed.tasks.cost_tables import CostTable, TestCost

OWN = "one's own accuracy"
"""What the last solves are of, tasks that a user wrote: their scores are compiled, whatever is prebuilt."""


class LinearAccuracy(streed.Task):
    """Errors as a user writes them: linear in the sums."""

    def statistics(self, data):  # type: ignore[no-untyped-def]
        return {"counts": data.y[:, None] == np.arange(data.n_classes)}

    def leaf_cost(self, s, k):  # type: ignore[no-untyped-def]
        return s.rows - s.counts[k]


class CompiledAccuracy(streed.Task):
    """Errors of the majority class, which is no linear function; with the facts that a careful user declares."""

    superadditive = True

    def statistics(self, data):  # type: ignore[no-untyped-def]
        return {"counts": data.y[:, None] == np.arange(data.n_classes)}

    def leaf_cost(self, s, k):  # type: ignore[no-untyped-def]
        return s.rows - max(s.counts)

    def worst_per_row(self, data):  # type: ignore[no-untyped-def]
        return np.ones(data.n_rows)

    def lower_bound(self, s):  # type: ignore[no-untyped-def]
        return 0


def make_solves() -> dict[str, Callable[[], Any]]:
    """The solves by name, of 150 rows and 12 columns, as of a fold or a subgroup."""
    draw = np.random.default_rng(0)
    X = draw.integers(0, 2, (150, 12)).astype(np.uint8)
    y = ((X[:, 0] & X[:, 1]) ^ X[:, 2] ^ (draw.random(150) < 0.2)).astype(int)
    target, groups = np.round(draw.normal(size=150), 2), X[:, 4]
    classes = np.where(draw.random(150) < 0.2, draw.integers(0, 3, 150), X[:, 0] + X[:, 1])
    fair = Accuracy().subject_to(DemographicParity() <= 0.01)
    tests = tuple(TestCost(f"t{j}", 3, 1, "g", tuple(range(j, j + 4))) for j in (0, 4, 8))
    priced = CostSensitive(CostTable([[0, 9, 9], [9, 0, 9], [9, 9, 0]], tests))
    return {
        "accuracy, depth 3": lambda: streed.solve(Accuracy(), X, y, max_depth=3),
        "three classes, depth 3": lambda: streed.solve(Accuracy(), X, classes, max_depth=3),
        "F1, depth 3": lambda: streed.solve(F1(), X, y, max_depth=3),
        "parity, depth 2": lambda: streed.solve(fair, X, y, max_depth=2, sensitive_features=groups),
        "parity, depth 3": lambda: streed.solve(fair, X, y, max_depth=3, sensitive_features=groups),
        "front of errors, depth 2": lambda: streed.solve(ClassErrors(), X, y, max_depth=2),
        "regression, cents, depth 2": lambda: streed.solve(SquaredError(), X, target, max_depth=2),
        "regression, decimals, depth 2": lambda: streed.solve(SquaredError(), X, target / 3, max_depth=2),
        "gini, depth 3": lambda: streed.solve(Gini(), X, y, max_depth=3),
        "costs with tests, depth 3": lambda: streed.solve(priced, X, classes, max_depth=3),
        f"{OWN}, linear, depth 3": lambda: streed.solve(LinearAccuracy(), X, y, max_depth=3),
        f"{OWN}, depth 3": lambda: streed.solve(CompiledAccuracy(), X, y, max_depth=3),
    }


def main(turns: int) -> dict[str, Any]:
    """What the process says: every solve, in turns."""
    solves = make_solves()
    answers: dict[str, Any] = {}
    compiled = False
    for name, solve in solves.items():
        solve()
        answers[name] = solve()
        compiled |= not name.startswith(OWN) and "numba" in sys.modules
    times: dict[str, list[float]] = {name: [] for name in solves}
    gc.collect()
    gc.disable()
    for _ in range(turns):
        for name, solve in solves.items():
            for _ in range(5):  # the first one finds the processor's caches full of the last one's data
                begin = time.process_time()
                solve()
                times[name].append(time.process_time() - begin)
    found = {name: {"seconds": times[name], "answer": repr(answers[name].value)} for name in solves}
    return {"compiled": compiled, "solves": found}


if __name__ == "__main__":
    json.dump(main(int(sys.argv[1])), sys.stdout)
