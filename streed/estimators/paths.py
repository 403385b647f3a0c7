"""Optimal trees of every size, and for every cost of a branching node, by few solves.

The trees that are optimal for some cost per node lie on the lower convex hull of the least loss by size. A solve for
the cost at which two of them are equal finds one between them, or says that there is none: h hull points take 2 h
solves at most, and none is missed (M. Eisner, D. Severance: Mathematical Techniques for Efficient Record Segmentation
in Large Shared Databases, JACM 23, 1976).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction

import attrs

from streed.errors import InputError
from streed.result import Result

Solve = Callable[..., Result]
"""Solves with other values of some parameters, such as `max_nodes=3`."""

_CLOSE = 1e-9
"""Relative: losses of floats that are closer are taken as equal."""

_DIGITS = 10**9
"""Costs per node are rounded to fractions with a denominator up to this, lest exact numbers grow."""


@attrs.frozen(eq=False)
class Step:
    """A tree of a path."""

    n_nodes: int
    loss: Fraction
    """What it costs in the task's units, nodes apart; minus its value where the task is maximised."""
    result: Result
    from_cost: Fraction = Fraction(0)
    """The least cost per node for which it is optimal."""


def complexity_path(solve: Solve) -> list[Step]:
    """The trees that are optimal for some cost per node, the largest (cost 0) first."""
    small = _step(solve(max_nodes=0, cost_complexity=0))
    large = _step(solve(cost_complexity=0))
    hull = [small]
    waiting = [large] if large.n_nodes > 0 else []
    while waiting:
        first, last = hull[-1], waiting[-1]
        cost = (first.loss - last.loss) / (last.n_nodes - first.n_nodes)
        if cost <= _tolerance(first, last):  # more nodes, and no better
            waiting.pop()
            continue
        rounded = cost.limit_denominator(_DIGITS)
        found = _step(solve(cost_complexity=rounded), rounded)
        gained = first.loss + rounded * first.n_nodes - (found.loss + rounded * found.n_nodes)
        if gained > _tolerance(first, last) and first.n_nodes < found.n_nodes < last.n_nodes:
            waiting.append(found)
        else:
            hull.append(waiting.pop())
    for at, (small, large) in enumerate(itertools.pairwise(hull)):
        hull[at] = attrs.evolve(small, from_cost=(small.loss - large.loss) / (large.n_nodes - small.n_nodes))
    return hull[::-1]


def size_path(solve: Solve, most: int | None = None) -> list[Step]:
    """The best tree of at most k nodes for k = 0, 1, ..., until more nodes are no better, or there are `most`."""
    best = _step(solve(cost_complexity=0))
    steps: list[Step] = []
    for budget in itertools.count():
        steps.append(step := _step(solve(max_nodes=budget, cost_complexity=0)))
        if abs(step.loss - best.loss) <= _tolerance(step, best) or budget in (most, best.n_nodes):
            break
    return steps


def is_interrupted(result: Result) -> bool:
    """Whether Ctrl-C ended the solve."""
    return bool(result.stats["stopped"] == "interrupt")


def _step(result: Result, cost: Fraction = Fraction(0)) -> Step:
    """The tree of a solve with that cost per node; raises InputError where it is not proved, or has no one number."""
    if is_interrupted(result):
        raise KeyboardInterrupt
    if result.status != "optimal":
        raise InputError("time_limit", "a solve of the path stopped early", "allow more time, or smaller trees")
    if not isinstance(result.value, (int, float, Fraction)):
        raise InputError("task", "its values are tuples, which no cost of nodes trades off", "give one of one number")
    assert result.tree is not None
    nodes = result.tree.n_branches
    # What is shown is rounded; a rate of errors is found again as the fraction that it is.
    value = Fraction(result.value).limit_denominator(_DIGITS * 1000)
    # A maximised task that nodes are added to is the loss that it makes of itself, and minimised.
    return Step(nodes, (-value if result.task.larger_is_better else value) - cost * nodes, result)


def _tolerance(a: Step, b: Step) -> float:
    return _CLOSE * max(abs(float(a.loss)), abs(float(b.loss)))
