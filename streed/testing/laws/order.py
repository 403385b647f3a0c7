"""The comparison and the combining operator: a strict order, and order preservation (STreeD, Def. 4.4).

And the constraint: anti-monotone (Def. 4.5), by way of a worsening operator (Def. A.2, Prop. A.3).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from streed.task import COMPONENTWISE, PARTIAL, TOTAL, Task, Value
from streed.testing.cases import Case, Reached, Violation, close, distinct, law, show

_MOST_VALUES = 24  # of which all triples are tried
_MOST_SIDES = 10  # values of one state of which all pairs are tried, each with as many beside it


def _values(case: Case) -> list[Reached]:
    """Values of different states, no two equal: of trees that are drawn, and of leaves of up to three rows."""
    drawn = [reached for rows in (case.rows(), case.rows(), [0], case.everything) for reached in case.reach(rows)]
    small = (rows for size in (1, 2, 3) for rows in itertools.combinations(case.everything[:8], size))
    return distinct(itertools.chain(drawn, itertools.chain.from_iterable(map(case.leaves_at, small))), _MOST_VALUES)


def _named(*values: Reached) -> list[tuple[str, str]]:
    return [(name, str(value)) for name, value in zip("abc", values, strict=False)]


@law("better is a strict order", "STreeD, Def. 4.1 (>)")
def _check_strict(case: Case) -> bool:
    """nothing is better than itself, no two values are better than each other, and better is transitive."""
    found = _values(case)
    better = {(x, y): bool(case.task.better(x.value, y.value)) for x in found for y in found}
    for a in found:
        if better[a, a]:
            raise Violation("a value is better than itself", *_named(a), ("found", "better(a, a)"))
    for a, b in itertools.combinations(found, 2):
        if better[a, b] and better[b, a]:
            raise Violation(
                "each of two values is better than the other", *_named(a, b), ("found", "better(a, b) and better(b, a)")
            )
    for a, b, c in itertools.permutations(found, 3):
        if better[a, b] and better[b, c] and not better[a, c]:
            told = [*_named(a, b, c), ("found", "better(a, b) and better(b, c), but not better(a, c)")]
            raise Violation("better is not transitive", *told)
        if case.task.order != TOTAL or not better[a, c]:
            continue
        if not (better[a, b] or better[b, a] or better[b, c] or better[c, b]):
            told = [*_named(a, b, c), ("found", "neither of a and b is better, nor of b and c, but better(a, c)")]
            raise Violation("the order is declared total, but being equally good is not transitive", *told)
    return True


@law("better is the declared order", "contract: order", unconcerned="the order is another one")
def _check_agreement(case: Case) -> bool:
    """values of the componentwise order are compared entry by entry."""
    if case.task.order != COMPONENTWISE:
        return False
    for a, b in itertools.permutations(_values(case), 2):
        better = bool(case.task.better(a.value, b.value))
        found = ("found", f"better(a, b) is {better}")
        if better != Task.better(case.task, a.value, b.value):
            expected = "better(a, b) if no entry of a is larger and one is smaller"
            raise Violation(
                'better is not the declared order "componentwise"', *_named(a, b), found, ("expected", expected)
            )
    return True


@law("combine preserves order", "STreeD, Def. 4.4", sides=2)
def _check_preservation(case: Case, sides: list[list[int]]) -> bool:
    """if a is better than b at the same state, then a combined with c is no worse than b combined with c."""
    task = case.task
    concerned = False
    beside = case.reach_beside(sides[1], sorted(sides[0] + sides[1]))
    beside = distinct([*beside, *case.reach_all(sides[1], _MOST_SIDES)], _MOST_SIDES)
    ours = distinct([*case.reach(sides[0]), *case.reach_all(sides[0], _MOST_SIDES)], _MOST_SIDES)
    for a, b in itertools.permutations(ours, 2):
        better = bool(task.better(a.value, b.value))
        tied = task.order == TOTAL and not better and not task.better(b.value, a.value)
        if close(a.value, b.value) or not (better or tied) or not (task.feasible(a.value) and task.feasible(b.value)):
            continue
        concerned = True
        for c in beside:
            _compare_combined(case, a, b, c, better=better)
    return concerned


def _compare_combined(case: Case, a: Reached, b: Reached, c: Reached, *, better: bool) -> None:
    """Raises Violation if a, better than b or as good, loses when both are combined with c."""
    combine, feasible = case.task.combine, case.task.feasible
    known = "better(a, b)" if better else "neither of a and b is better"
    for form, left, right in (
        ("combine({}, c)", combine(a.value, c.value), combine(b.value, c.value)),
        ("combine(c, {})", combine(c.value, a.value), combine(c.value, b.value)),
    ):
        facts = (*_named(a, b, c), (form.format("a"), show(left)), (form.format("b"), show(right)))
        if better and not case.at_least(left, right):
            told = [*facts, ("expected", f"{known}, so {form.format('b')} is not better than {form.format('a')}")]
            raise Violation("combining turns the order round", *told)
        if not better and not case.ties(left, right):
            told = [*facts, ("expected", f"{known}, so neither is better when combined with c")]
            raise Violation("values that are equally good combine to values that are not", *told)
        if feasible(right) and not feasible(left):
            told = [*facts, ("found", f"{known}; {form.format('b')} is feasible, {form.format('a')} is not")]
            raise Violation("the better part makes the whole infeasible", *told)


@law("combine is associative", "contract: combine", sides=3, unconcerned="partial orders combine as the tree has them")
def _check_associative(case: Case, sides: list[list[int]]) -> bool:
    """combine(combine(a, b), c) and combine(a, combine(b, c)) are equally good."""
    if case.task.order == PARTIAL:
        return False  # such values are combined as the tree has them, in no other grouping
    combine = case.task.combine
    beside = case.reach_beside(sides[2], sorted(sides[0] + sides[1]))
    for a, b, c in itertools.product(case.reach(sides[0]), case.reach(sides[1]), beside):
        left = combine(combine(a.value, b.value), c.value)
        right = combine(a.value, combine(b.value, c.value))
        if not case.ties(left, right):
            raise Violation(
                "combine depends on how values are grouped",
                *_named(a, b, c),
                ("combine(combine(a, b), c)", show(left)),
                ("combine(a, combine(b, c))", show(right)),
                (
                    "expected",
                    (
                        "equally good values, because searches combine children and branching costs in groups; where "
                        'only the order of the tree is right, declare order = "partial" and say `dominates`'
                    ),
                ),
            )
    return True


@law("combine is commutative", "contract: subtract", sides=2, unconcerned="subtract gives no bounds")
def _check_commutative(case: Case, sides: list[list[int]]) -> bool:
    """where subtract gives bounds, combine(a, b) and combine(b, a) are equally good."""
    concerned = False
    for a, b in itertools.product(case.reach(sides[0]), case.reach(sides[1])):
        if case.task.subtract(a.value, b.value) is None:
            continue
        concerned = True
        left, right = case.task.combine(a.value, b.value), case.task.combine(b.value, a.value)
        if not case.ties(left, right):
            raise Violation(
                "combine depends on the order of the children, and subtract cannot tell which is which",
                *_named(a, b),
                ("combine(a, b)", show(left)),
                ("combine(b, a)", show(right)),
            )
    return concerned


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
    combined = list(_combined(case, infeasible=True))
    for a, c, words, whole in combined:
        if case.task.feasible(whole) and case.beats(whole, a.value):
            told = [("a", f"{a}; not feasible"), ("c", str(c)), (words, f"{show(whole)}; feasible, and better than a")]
            told += [("expected", "combine makes no value better: what is limited must not be negative")]
            raise Violation("an infeasible value becomes better and feasible by being combined", *told)
    return bool(combined)


@law("worsening holds", "STreeD, Def. A.2", unconcerned="worsening is not declared")
def _check_declared_worsening(case: Case) -> bool:
    """where worsening is declared, no value becomes better by being combined."""
    if not getattr(case.task, "worsening", False):
        return False
    combined = list(_combined(case, infeasible=False))
    for a, c, words, whole in combined:
        if case.beats(whole, a.value):
            told = [("a", str(a)), ("c", str(c)), (words, f"{show(whole)}, better than a")]
            raise Violation("worsening is declared, but a value becomes better by being combined", *told)
    return bool(combined)


@law("constraint is anti-monotone", "STreeD, Def. 4.5", unconcerned=_ALWAYS_FEASIBLE)
def _check_anti_monotone(case: Case) -> bool:
    """if a subtree is infeasible, so is every tree that contains it."""
    combined = list(_combined(case, infeasible=True))
    for a, c, words, whole in combined:
        if case.task.feasible(whole):
            told = [("a", f"{a}; not feasible"), ("c", str(c)), (words, f"{show(whole)}; feasible")]
            told += [("expected", f"feasible({show(whole)}) is False, because a part of it is not feasible")]
            raise Violation("an infeasible part belongs to a feasible whole", *told)
    return bool(combined)


@law("limits are on states", "STreeD, Def. 4.5", unconcerned="the task has no limits")
def _check_limits(case: Case) -> bool:
    """a limit depends on the leaf's state alone, and its support says what it allows."""
    for limit in case.task.limits:
        rows = case.rows()
        answers: list[Any] = [limit.allows(case.state(rows)) for _ in range(2)]
        if answers[0] != answers[1]:
            told = [("s", case.state_text(rows)), ("found", f"allows(s) is {answers[0]!r}, then {answers[1]!r}")]
            raise Violation(f"{limit!r} gives two answers for one state", *told)
        if limit.support is not None and bool(answers[0]) != (len(rows) >= limit.support):
            told = [("s", case.state_text(rows)), ("found", f"allows(s) is {answers[0]!r}")]
            told += [("expected", f"{len(rows) >= limit.support}, because support is {limit.support}")]
            raise Violation(f"{limit!r} says that it asks for {limit.support} rows, but allows says otherwise", *told)
    return bool(case.task.limits)
