"""What a task declares so that searches may prune (STreeD, Appendix B): every bound must be one."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from streed.exact import exact_number
from streed.task import TOTAL
from streed.testing.cases import Violation, close, show
from streed.testing.laws.law import law

if TYPE_CHECKING:
    from streed.testing.cases import Case


@law("subtract is a bound", "STreeD, Appendix B", sides=2, unconcerned="subtract gives no bounds")
def _check_subtract(case: Case, sides: list[list[int]]) -> bool:
    """if combine(x, b) is better than a, then x is better than subtract(a, b)."""
    whole = sorted(sides[0] + sides[1])
    beside = case.reach_beside(sides[1], whole)
    concerned = False
    for a, b, x in itertools.product(case.reach(whole), beside, case.reach(sides[0])):
        u = case.task.subtract(a.value, b.value)
        if u is None:
            continue
        concerned = True
        total = case.task.combine(x.value, b.value)
        if case.beats(total, a.value) and not case.task.better(x.value, u) and not close(x.value, u):
            raise Violation(
                "subtract prunes a part that the optimum may need",
                ("a, to be beaten", str(a)),
                ("b, the sibling", str(b)),
                ("x", str(x)),
                ("combine(x, b)", f"{show(total)}, better than a"),
                ("subtract(a, b)", show(u)),
                ("expected", f"x better than subtract(a, b), but {show(x.value)} is not better than {show(u)}"),
            )
    return concerned


@law("lower bound is admissible", "STreeD, Eq. 47", unconcerned="lower_bound gives no bounds")
def _check_lower_bound(case: Case) -> bool:
    """no tree at a state is better than lower_bound of that state."""
    rows = case.rows()
    s = case.state(rows)
    bound = case.task.lower_bound(s)
    if bound is None:
        return False
    path = case.draw_path(rows)
    for value, tree in case.best_values(rows, path):
        if case.beats(value, bound):
            raise Violation(
                "a tree is better than the lower bound",
                ("s", case.state_text(rows)),
                ("lower_bound(s)", show(bound)),
                ("tree", f"{show(value)}, of {case.tree_text(tree)}{f' below columns {path}' if path else ''}"),
                ("expected", "no tree at s is better than lower_bound(s)"),
            )
    return True


@law("worst cost per row holds", "STreeD, Eq. 49", sides=2, unconcerned="worst_per_row gives no bounds")
def _check_worst_per_row(case: Case, sides: list[list[int]]) -> bool:
    """one row more makes the best leaf dearer by at most worst_per_row, and never cheaper."""
    worst = case.task.worst_per_row(case.data)
    if worst is None:
        return False
    rows, i = sides[0], sides[1][0]
    weight = 1 if case.data.weights is None else exact_number(case.data.weights[i].item())
    w = exact_number(worst[i].item() if hasattr(worst[i], "item") else worst[i])
    less, more = case.least_cost(rows), case.least_cost(sorted([*rows, i]))
    facts = (
        ("g*(s)", f"{show(less)}, the least cost of a leaf at s = {case.state_text(rows)}"),
        ("g*(s and row i)", f"{show(more)}, with row {i} as well"),
        ("w[i]", f"{show(w)}, and row {i} weighs {show(weight)}"),
    )
    if w < 0:
        raise Violation("a worst cost is negative", *facts)
    if more < less and not close(more, less):
        raise Violation("a leaf costs less with one row more", *facts, ("expected", "g*(s) <= g*(s and row i)"))
    most = less + w * weight
    if more > most and not close(more, most):
        raise Violation(
            "a row costs more than its worst",
            *facts,
            ("expected", f"g*(s and row i) <= g*(s) + w[i] * weight = {show(most)}"),
        )
    return True


@law("superadditive holds", "contract: superadditive", sides=2, unconcerned="superadditive is not declared")
def _check_superadditive(case: Case, sides: list[list[int]]) -> bool:
    """a state costs as a leaf at least what its parts cost as leaves together."""
    if not case.task.superadditive or case.task.order != TOTAL:
        return False
    whole = case.least_cost(sides[0] + sides[1])
    parts = [case.least_cost(side) for side in sides]
    together = case.task.combine(*parts)
    if case.beats(whole, together):
        raise Violation(
            "superadditive is declared, but a leaf costs less than its parts",
            ("first part", f"{show(parts[0])}, the least cost of a leaf at {case.state_text(sides[0])}"),
            ("second part", f"{show(parts[1])}, at {case.state_text(sides[1])}"),
            ("combined", show(together)),
            ("both in one leaf", show(whole)),
        )
    return True


LAWS = (
    _check_subtract,
    _check_lower_bound,
    _check_worst_per_row,
    _check_superadditive,
)
