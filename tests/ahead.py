"""Compiles what most tests need before any of them runs, by several processes at once.

Otherwise the first test that needs a kernel takes many seconds, and the other workers wait for it. What is found in the
cache costs next to nothing.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

from tests.processes import ended

_DATA = """
import numpy as np, streed
from streed.tasks import *
draw = np.random.default_rng(0)
X, y = draw.integers(0, 2, (60, 7)), draw.integers(0, 2, 60)
three = y + X[:, 0]
"""

_CODES = (
    """
[streed.solve(task, X, y, max_depth=4) for task in (Accuracy(), Gini(), Gini() + Splits())]
streed.solve(SquaredError(), X, draw.random(60), max_depth=4)
streed.solve(SparseAccuracy(0.01), X, y)
streed.solve(SparseAccuracy(0.01), X, three)
streed.solve(Accuracy(), X, draw.integers(0, 3, 60), max_depth=4)
""",
    """
streed.solve(Accuracy().subject_to(DemographicParity() <= 0.01), X, y, max_depth=3, sensitive_features=X[:, 0])
[streed.solve(InstanceCosts(), X, costs=draw.integers(0, k, (60, 3)), max_depth=3) for k in (10**6, 10**12)]
streed.solve(Accuracy(), X, y, sample_weight=np.where(y, 10**9, 1), max_depth=3)
""",
    """
reals = draw.random((300, 2))
[streed.solve(Misclassifications() + Splits(), reals, (reals > 0.5).all(axis=1), max_depth=k) for k in (3, 4)]
""",
)
"""One process for searches of nodes, one of about the same length for fronts and wide numbers, one for thresholds."""


def compile_ahead() -> None:
    """Runs the solves; one that fails is said, and left to the tests."""
    with ThreadPoolExecutor(len(_CODES)) as pool:
        list(pool.map(_solve, _CODES))


def _solve(code: str) -> None:
    done = ended("-c", _DATA + code)
    if done.returncode:
        sys.stderr.write(f"compiling ahead failed: {code}\n{done.stderr}")
