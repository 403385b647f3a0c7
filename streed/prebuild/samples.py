"""Small solves of the tasks that come with the package and have a score of their own: a library has their kernels.

What is compiled for a task depends on its methods and on the form of the data: how many labels, whether sums are whole
or decimals, which columns there are. These are the forms that are met most; others are compiled when they are met.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from streed import tasks
from streed.exact import Array
from streed.solve import solve

_ROWS = 300


def solve_samples() -> None:
    """Solves each task on the forms of data that it is met with most, so that its kernels are made."""
    draw = np.random.default_rng(0)
    binary = draw.integers(0, 2, (_ROWS, 4))
    numbers = draw.normal(size=(_ROWS, 3))  # more thresholds than are asked one by one
    multiway = np.column_stack([binary, np.arange(_ROWS) % 3])
    classes = np.arange(_ROWS) % 2
    whole, cents, real = draw.integers(0, 40, _ROWS), np.round(draw.random(_ROWS), 2), draw.normal(size=_ROWS)
    for columns in (binary, numbers):
        for y in (whole, cents, real):
            _solve(tasks.SquaredError(), columns, y)
        _solve(tasks.SquaredError(0.01), columns, real)
        _solve(tasks.SquaredError(normalized=True), columns, real)  # as the estimator has it
        _solve(tasks.RelativeRisk(), columns, draw.exponential(size=_ROWS), event=classes)
        _solve(tasks.PoissonDeviance(), columns, whole, exposure=np.ones(_ROWS, int))
        for task in (tasks.Gini(), tasks.Entropy(), tasks.BrierScore()):
            _solve(task, columns, classes)
    for task in (tasks.Gini(), tasks.Entropy(), tasks.BrierScore()):
        _solve(task, binary, np.arange(_ROWS) % 3)
    _solve(tasks.SquaredError(), multiway, real, categorical=[4])
    _solve(tasks.Gini(), multiway, classes, categorical=[4])
    _solve(tasks.WorstLeaf(), binary, classes)


def _solve(task: Any, columns: Array, y: Array, **arguments: Any) -> None:
    solve(task, columns, y, max_depth=2, **arguments)
