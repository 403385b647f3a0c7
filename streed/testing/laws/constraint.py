"""The constraint: anti-monotone (STreeD, Def. 4.5), by way of a worsening operator (Def. A.2, Prop. A.3)."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from streed.testing.cases import Reached, Violation, show
from streed.testing.laws.law import law

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streed.task import Value
    from streed.testing.cases import Case

_ALWAYS_FEASIBLE = "feasible accepts every value that was reached"


def _combined(case: Case, *, infeasible: bool) -> Iterator[tuple[Reached, Reached, str, Value]]:
    """Every value a (or those that are not feasible), a value c beside it, and the two combined, in words and so."""
    sides = case.sides(2)
    if sides is None:
        return
    combine = case.task.combine
    beside = case.reach_beside(sides[1], sorted(sides[0] + sides[1]))
    for a, c in itertools.product(case.reach(sides[0]), beside):
        if not (infeasible and case.task.feasible(a.value)):
            yield a, c, "combine(a, c)", combine(a.value, c.value)
            yield a, c, "combine(c, a)", combine(c.value, a.value)


@law("combine is worsening under a limit", "STreeD, Def. A.2 and Prop. A.3", unconcerned=_ALWAYS_FEASIBLE)
def _check_worsening(case: Case) -> bool:
    """where values are limited, a value that breaks the limit does not become a better one that keeps it."""
    concerned = False
    for a, c, words, whole in _combined(case, infeasible=True):
        concerned = True
        if case.task.feasible(whole) and case.beats(whole, a.value):
            raise Violation(
                "an infeasible value becomes better and feasible by being combined",
                ("a", f"{a}; not feasible"),
                ("c", str(c)),
                (words, f"{show(whole)}; feasible, and better than a"),
                ("expected", "combine makes no value better: what is limited must not be negative"),
            )
    return concerned


@law("worsening holds", "STreeD, Def. A.2", unconcerned="worsening is not declared")
def _check_declared_worsening(case: Case) -> bool:
    """where worsening is declared, no value becomes better by being combined."""
    if not getattr(case.task, "worsening", False):
        return False
    concerned = False
    for a, c, words, whole in _combined(case, infeasible=False):
        concerned = True
        if case.beats(whole, a.value):
            raise Violation(
                "worsening is declared, but a value becomes better by being combined",
                ("a", str(a)),
                ("c", str(c)),
                (words, f"{show(whole)}, better than a"),
            )
    return concerned


@law("constraint is anti-monotone", "STreeD, Def. 4.5", unconcerned=_ALWAYS_FEASIBLE)
def _check_anti_monotone(case: Case) -> bool:
    """if a subtree is infeasible, so is every tree that contains it."""
    concerned = False
    for a, c, words, whole in _combined(case, infeasible=True):
        concerned = True
        if case.task.feasible(whole):
            raise Violation(
                "an infeasible part belongs to a feasible whole",
                ("a", f"{a}; not feasible"),
                ("c", str(c)),
                (words, f"{show(whole)}; feasible"),
                ("expected", f"feasible({show(whole)}) is False, because a part of it is not feasible"),
            )
    return concerned


@law("limits are on states", "STreeD, Def. 4.5", unconcerned="the task has no limits")
def _check_limits(case: Case) -> bool:
    """a limit depends on the leaf's state alone, and its support says what it allows."""
    for limit in case.task.limits:
        rows = case.rows()
        answers: list[Any] = [limit.allows(case.state(rows)) for _ in range(2)]
        if answers[0] != answers[1]:
            raise Violation(
                f"{limit!r} gives two answers for one state",
                ("s", case.state_text(rows)),
                ("found", f"allows(s) is {answers[0]!r}, then {answers[1]!r}"),
            )
        if limit.support is not None and bool(answers[0]) != (len(rows) >= limit.support):
            raise Violation(
                f"{limit!r} says that it asks for {limit.support} rows, but allows says otherwise",
                ("s", case.state_text(rows)),
                ("found", f"allows(s) is {answers[0]!r}"),
                ("expected", f"{len(rows) >= limit.support}, because support is {limit.support}"),
            )
    return bool(case.task.limits)


LAWS = (
    _check_worsening,
    _check_declared_worsening,
    _check_anti_monotone,
    _check_limits,
)
