"""One instance solved by the engine and by the reference: everything in which the two differ."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from streed.errors import StreedError
from streed.reference import Evaluation, optimum
from streed.task import Totals
from streed.tree import Branch, Tree

if TYPE_CHECKING:
    from streed.result import Result
    from tests.differential.instances import Instance

_TOLERANCE = 1e-9
"""Where weights are real numbers, values may differ by this part of 1 + |value|."""


Solver = Callable[..., "Result"]
"""`streed.solve`, or what stands in for it."""


def differences(instance: Instance, solve: Solver, **options: Any) -> list[str]:
    """What is wrong with the solver's answer, in words; empty if it is right.

    `options` go to `solve`. Values of exact tasks are compared exactly.
    """
    task, data = instance.task, instance.dataset()
    expected = optimum(task, data, **instance.limits)
    try:
        result = solve(task, instance.array(), instance.y, **instance.arguments(), **instance.limits, **options)
    except StreedError as error:
        return [f"solve raises {type(error).__name__}: {error}"]
    if expected is None:
        found = (result.status, result.value, result.tree)
        return [] if found == ("infeasible", None, None) else [f"no tree is feasible, but the engine has {found}"]
    if result.status != "optimal" or result.tree is None:
        return [f"status {result.status!r} with value {result.value}, the optimum is {expected[0]}"]
    return _of_result(instance, result, result.tree, expected[0])


def _of_result(instance: Instance, result: Result, tree: Tree, optimum: Any) -> list[str]:
    """What is wrong with an optimal result and its tree, given the optimal value."""
    task, data = instance.task, instance.dataset()
    wrong = []

    def score(value: Any) -> Any:
        return task.score(value, Totals(task, data))

    if not _shows(score, result.value, optimum, instance.exact):
        wrong.append(f"value {result.value!r}, the optimum is {score(optimum)}")
    for name, bound in (("lower_bound", result.lower_bound), ("upper_bound", result.upper_bound)):
        if bound != result.value:
            wrong.append(f"{name} {bound!r} differs from the value {result.value!r}")
    if result.gap != 0 and (instance.exact or not 0 <= result.gap <= 2 * result.stats.get("rounding", 0)):
        wrong.append(f"gap {result.gap!r} of an optimal result")
    evaluation = Evaluation(task, data)
    try:
        cost = evaluation.cost(tree.root)
        broken = evaluation.broken_limits(tree.root, **instance.limits)
    except StreedError as error:
        return [*wrong, f"the tree does not fit the data: {error}"]
    if cost != optimum if instance.exact else not math.isclose(cost, optimum, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE):
        wrong.append(f"the tree costs {cost}, the optimum is {optimum}")
    wrong.extend(broken)
    shape = evaluation.shape(tree.root)
    if shape != (tree.depth, tree.n_branches, tree.n_leaves):
        wrong.append(f"(depth, branches, leaves) are {shape}, the tree says {tree}")
    if list(np.asarray(tree.predict(instance.array())).tolist()) != evaluation.predictions(tree.root):
        wrong.append("predict disagrees with the tree's own leaves")
    return [*wrong, *_wrong_claims(evaluation, tree, instance.exact)]


def _wrong_claims(evaluation: Evaluation, tree: Tree, exact: bool) -> list[str]:
    """What the nodes say about themselves that is not so: rows, costs, and labels that are not the first best."""
    wrong = []
    above: dict[int, list[int]] = {}
    for node, rows, path in evaluation.visits(tree.root):
        if node.rows != len(rows):
            wrong.append(f"the node at {path} says {node.rows} rows, {len(rows)} reach it")
        if isinstance(node, Branch):
            above[len(path)] = rows
            continue
        costs = _leaf_costs(evaluation, rows or above[len(path) - 1])
        if exact and node.label != costs.index(min(costs)):
            wrong.append(f"the leaf at {path} has label {node.label} of the costs {costs}")
        cost = costs[node.label] if rows else 0
        if exact and tree.unit * node.cost != cost:
            wrong.append(f"the leaf at {path} says cost {node.cost} of {tree.unit}, it is {cost}")
    return wrong


def _leaf_costs(evaluation: Evaluation, rows: list[int]) -> list[Any]:
    """The cost of a leaf with these rows for every label."""
    s = evaluation.state(rows)
    return [evaluation.task.leaf_cost(s, k) for k in range(len(evaluation.labels))]


def _shows(score: Any, shown: Any, value: Any, exact: bool) -> bool:
    """Whether `shown` is the score of the exact value: itself, rounded once, or computed from the rounded value."""
    forms = (score(value), float(score(value)), score(float(value)))
    if exact:
        return any(shown == form for form in forms)
    return any(math.isclose(shown, form, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE) for form in forms)
