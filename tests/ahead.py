"""Compiles what most tests need before any of them runs, by several processes at once.

Otherwise each of pytest's workers meets the same functions at the same time, and compiles them once more. What is found
in the cache costs next to nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

_DATA = """
import numpy as np, streed
from streed.tasks import *
draw = np.random.default_rng(0)
X, y = draw.integers(0, 2, (60, 7)), draw.integers(0, 2, 60)
three = y + X[:, 0]
"""

_FIRST = ("streed.solve(Accuracy(), X, y, max_depth=4)",)
"""The search itself, which what comes then finds in the cache; it has a second process of its own."""

_WIDE = """
[streed.solve(InstanceCosts(), X, costs=draw.integers(0, k, (60, 3)), max_depth=3) for k in (10**6, 10**12)]
streed.solve(Accuracy(), X, y, sample_weight=np.where(y, 10**9, 1), max_depth=3)
"""

_THEN = (
    "streed.solve(Accuracy().subject_to(DemographicParity() <= 0.01), X, y, max_depth=3, sensitive_features=X[:, 0])",
    "streed.solve(SparseAccuracy(0.01), X, y); streed.solve(Accuracy(), X, draw.integers(0, 3, 60), max_depth=4)",
    _WIDE,
    "streed.solve(SparseAccuracy(0.01), X, three)",
    "streed.solve(Gini(), X, y, max_depth=4); streed.solve(SquaredError(), X, draw.random(60), max_depth=4)",
)
"""Limits, any depth, wide numbers, several labels, generated kernels: longest first."""


def compile_ahead() -> None:
    """Runs the solves; one that fails is said, and left to the tests."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for codes in (_FIRST, _THEN):
            list(pool.map(_solve, codes))


def _solve(code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _DATA + code], cwd=ROOT, check=False, capture_output=True, text=True, timeout=600
    )
    if done.returncode:
        sys.stderr.write(f"compiling ahead failed: {code}\n{done.stderr}")
