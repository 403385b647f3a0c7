"""What is known of a problem apart from the engine, and everything in which an answer differs from it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs

from streed.tree import Leaf, Node
from tests.differential.volume.problem import Asked, Part, Problem

if TYPE_CHECKING:
    import streed

TINY = 1e-9
"""Where numbers are rounded, values may differ by this part of the scale."""

_LAST_DIGITS = 1e-15
"""Bounds and values are shown rounded once."""

Visits = list[Part | Asked]


def as_shown(value: Any) -> Any:
    """An exact value as a user sees it."""
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return value


@attrs.frozen(eq=False)
class Truth:
    """The optimum of a problem, and what any tree of it is worth."""

    optimum: Any
    """None where no tree is feasible."""
    worth: Callable[[Visits], Any] | None = None
    """What a tree is worth, by its nodes and their rows; comparable with the optimum."""
    of_tree: Callable[[Node], Any] | None = attrs.field(default=None, kw_only=True)
    """The same by its root, in place of `worth`."""
    shown: Callable[[Any], Any] = as_shown
    """From an optimum or a worth to the value that a user sees."""
    exact: bool = True
    """Whether all of this is exact; else it is good to TINY of the scale."""
    scale: float = 1.0
    """The magnitude of the numbers that are summed, in units of the value."""
    feasible: Callable[[Visits], bool] = attrs.field(default=lambda _: True)
    """Whether a tree keeps the limits on its value."""


@attrs.frozen
class Verdict:
    """What came of one problem."""

    outcome: str
    """"optimal", "rounded" (optimal, and said to be rounded), "bounds apart" (by rounding alone), "infeasible", or what
    was refused or raised."""
    wrong: tuple[str, ...] = ()
    """What is wrong, in words."""


def compare(problem: Problem, truth: Truth, result: streed.Result) -> Verdict:
    """The verdict on an answer."""
    if truth.optimum is None:
        right = result.status == "infeasible"
        return Verdict("infeasible", () if right else (f"no tree is feasible, but {result!r}",))
    best = truth.shown(truth.optimum)
    # bounds that meet but for what rounding leaves unproved
    apart = result.status == "feasible" and result.stats.get("stopped") == "rounding"
    if result.tree is None or not (apart or result.status == "optimal"):
        return Verdict(result.status, (f"status {result.status!r}, the optimum is {best!r}",))
    rounded = apart or result.stats.get("exact") is False or bool(result.stats.get("rounding"))
    root = result.tree.root
    visits = list(problem.visits(root))
    worth = truth.of_tree(root) if truth.of_tree is not None else truth.worth(visits) if truth.worth else None
    value = result.value[0] if isinstance(result.value, tuple) else problem.scaling.undone(result.value)
    lower, upper = map(problem.scaling.undone, (result.lower_bound, result.upper_bound))
    lower, upper = (value if bound is None else bound for bound in (lower, upper))
    if any(problem.scaling):
        truth = attrs.evolve(truth, exact=False)
    wrong = _broken(problem, result, visits)
    if truth.exact:
        if value != truth.shown(worth) and not (isinstance(value, float) and value == float(truth.shown(worth))):
            wrong.append(f"value {value!r}, the tree is worth {truth.shown(worth)!r}")
        if not rounded and worth != truth.optimum:
            wrong.append(f"the tree is worth {as_shown(worth)!r}, the optimum is {as_shown(truth.optimum)!r}")
        if not rounded and not {result.lower_bound, result.upper_bound} <= {result.value, None}:
            wrong.append(f"bounds {result.lower_bound!r} and {result.upper_bound!r} of the value {result.value!r}")
    else:
        slack = TINY * max(truth.scale, abs(float(best)))
        # bounds that rounding leaves apart say how much better a tree there may be
        said = slack + abs(float(upper) - float(lower))
        for name, found in (("the tree is worth", truth.shown(worth)), ("value", value)):
            if not abs(float(found) - float(best)) <= said:
                wrong.append(f"{name} {found!r}, the optimum is {best!r}, within {said:g}")
        if not abs(float(truth.shown(worth)) - float(value)) <= slack:
            wrong.append(f"value {value!r}, the tree is worth {truth.shown(worth)!r}, within {slack:g}")
    slack = _LAST_DIGITS * abs(float(best)) + (0 if truth.exact else TINY * truth.scale)
    if not float(lower) - slack <= float(best) <= float(upper) + slack:
        wrong.append(f"bounds {result.lower_bound!r} and {result.upper_bound!r}, the optimum is {best!r}")
    if result.status == "optimal" and float(lower) == 0 != float(value):
        wrong.append(f"optimal, and no bound but 0 on {result.value!r}")
    if not truth.feasible(visits):
        wrong.append("the tree breaks a limit")
    return Verdict("bounds apart" if apart else "rounded" if rounded else "optimal", tuple(wrong))


def _broken(problem: Problem, result: streed.Result, visits: Visits) -> list[str]:
    """The limits on the tree that it does not keep, and what its nodes say that is not so."""
    assert result.tree is not None
    wrong = []
    limits, tree = problem.limits, result.tree
    asked = [visit for visit in visits if isinstance(visit, Asked)]
    depth = max((len(visit.path) + 1 for visit in asked), default=0)
    if (depth, len(asked)) != (tree.depth, tree.n_branches):
        wrong.append(f"depth {depth} and {len(asked)} branches, the tree says {tree.depth} and {tree.n_branches}")
    for name, found in (("max_depth", depth), ("max_nodes", len(asked))):
        if limits.get(name) is not None and found > limits[name]:
            wrong.append(f"{name} {limits[name]}, and the tree has {found}")
    copies = problem.copies
    for visit in visits:
        size = sum(copy for copy, inside in zip(copies, visit.rows.tolist(), strict=True) if inside)
        if isinstance(visit, Part) and size < limits.get("min_leaf", 1):
            wrong.append(f"a leaf has {size} rows")
    leaves = [leaf for leaf in tree.leaves() if isinstance(leaf, Leaf)]
    if sum(leaf.rows for leaf in leaves) != sum(copies):
        wrong.append(f"the leaves say {sum(leaf.rows for leaf in leaves)} rows, there are {sum(copies)}")
    return wrong
