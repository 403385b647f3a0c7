"""Whether a task is separable (STreeD, Thm 4.6): Markovian costs, order preservation, an anti-monotone constraint.

What a state costs depends on the state and the action alone (Prop. 4.3): such laws ask one question twice, each time
after another one. A state is the sums of the statistics over its rows (Def. 4.1): constants of the whole data set, such
as a median, belong into `bind`. A worsening operator makes limits anti-monotone (Def. A.2, Prop. A.3).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

from streed.exact import close
from streed.task import COMPONENTWISE, PARTIAL, TOTAL, Task, Value
from streed.testing.cases import Case, Reached, Violation, distinct, law, show, show_state

Question = tuple[str, Callable[[], Any]]
"""Something to ask a task, in words and as a call."""


def _leaf(case: Case) -> Question:
    rows, k = case.rows(), case.draw_label()
    return f"leaf_cost({show_state(case.state(rows))}, {k})", lambda: case.task.leaf_cost(case.state(rows), k)


def _branching(case: Case) -> Question:
    columns = range(max(case.data.n_columns, 1))
    rows = case.draw(st.integers(1, case.data.n_rows))
    path = tuple(sorted(case.draw(st.sets(st.sampled_from(columns)))))
    split = case.draw(st.sampled_from(columns))
    words = f"branching_cost(rows={rows}, path={path}, split={split})"
    return words, lambda: case.task.branching_cost(rows, path, split)


def _operator(case: Case) -> Question:
    a, b = (case.leaf_cost(case.rows(), case.draw_label()) for _ in range(2))
    name, arguments = case.draw(
        st.sampled_from([("combine", (a, b)), ("better", (a, b)), ("subtract", (a, b)), ("feasible", (a,))])
    )
    return f"{name}({', '.join(map(show, arguments))})", lambda: getattr(case.task, name)(*arguments)


def _among(case: Case, make: Callable[[Case], Question], question: Question) -> bool:
    """The question is asked after others, itself among them."""
    pool = [question, make(case), _leaf(case)]
    first, second = (case.draw(st.sampled_from(pool)) for _ in range(2))
    return _ask_twice(question, first, second)


def _ask_twice(question: Question, first: Question, second: Question) -> bool:
    asked, ask = question
    answers = []
    for before in (first, second):
        before[1]()
        answers.append(ask())
    one, other = answers
    if one == other or (one != one and other != other):
        return True
    facts = [("asked", asked), (f"after {first[0]}", show(one)), (f"after {second[0]}", show(other))]
    facts += [("expected", "the same answer, whatever was asked before")]
    raise Violation("the same question has two answers", *facts)


@law("leaf cost is Markovian", "STreeD, Prop. 4.3")
def _check_leaf_cost(case: Case) -> bool:
    """leaf_cost(s, k) depends on the sums in s and on k alone, not on other leaves or on what was asked before."""
    return _among(case, _leaf, _leaf(case))


@law("leaf cost ignores depth", "STreeD, Prop. 4.3")
def _check_depth(case: Case) -> bool:
    """leaf_cost(s, k) is the same wherever the leaf stands; only branching_cost may depend on the path."""
    return _ask_twice(_leaf(case), _branching(case), _branching(case))


@law("branching cost is Markovian", "STreeD, Prop. 4.3", unconcerned="branching costs nothing")
def _check_branching_cost(case: Case) -> bool:
    """branching_cost depends on its three arguments alone."""
    question = _branching(case)
    return question[1]() is not None and _among(case, _branching, question)


@law("operators are functions", "STreeD, Def. 4.1")
def _check_operators(case: Case) -> bool:
    """combine, better, subtract and feasible depend on their arguments alone."""
    return _among(case, _operator, _operator(case))


@law("statistics are additive", "STreeD, Def. 4.1 (t) and Def. B.2")
def _check_additive(case: Case) -> bool:
    """a row contributes to a sum what it contributes in every subtree: a statistic of a row depends on that row."""
    whole = case.task.statistics(case.data)
    sides = case.sides(2)
    for rows in [case.root_rows] if sides is None else sides:
        apart = case.task.statistics(case.data.subset(rows))
        if set(apart) != set(whole):
            told = [("all rows", ", ".join(whole)), (case.rows_text(rows), ", ".join(apart))]
            raise Violation("the statistics have other names on some of the rows", *told)
        for name, values in whole.items():
            among, alone = np.asarray(values), np.asarray(apart[name])
            if among.shape[1:] != alone.shape[1:]:
                told = [("all rows", str(among.shape)), (case.rows_text(rows), str(alone.shape))]
                raise Violation(f"the statistic {name!r} has another width on some of the rows", *told)
            for place, row in enumerate(rows):
                one, other = _plain(among[row]), _plain(alone[place])
                if not close(one, other):
                    told = [("among all rows", show(one)), (f"among {case.rows_text(rows)}", show(other))]
                    told += [("expected", "the same; compute what needs the whole data set in bind(data)")]
                    raise Violation(f"the statistic {name!r} of row {row} depends on the other rows", *told)
    return True


def _plain(entry: Any) -> Any:
    return tuple(np.ravel(entry).tolist()) if np.ndim(entry) else np.asarray(entry).item()


_MOST_VALUES = 24  # of which all triples are tried
_MOST_SIDES = 10  # values of one state of which all pairs are tried, each with as many beside it


def _values(case: Case) -> list[Reached]:
    """Values of different states, no two equal: of trees that are drawn, and of leaves of up to three rows."""
    drawn = [reached for rows in (case.rows(), case.rows(), [0], case.root_rows) for reached in case.reach(rows)]
    small = (rows for size in (1, 2, 3) for rows in itertools.combinations(case.root_rows[:8], size))
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
            told = [*_named(a, b), ("found", "better(a, b) and better(b, a)")]
            raise Violation("each of two values is better than the other", *told)
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
            told = [*_named(a, b), found, ("expected", "better(a, b) if no entry of a is larger and one is smaller")]
            raise Violation('better is not the declared order "componentwise"', *told)
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
        if better and not case.task.better(left, right) and not case.ties(left, right):
            told = [*facts, ("expected", f"{known}, so {form.format('b')} is not better than {form.format('a')}")]
            raise Violation("combining turns the order round", *told)
        if not better and not case.ties(left, right):
            told = [*facts, ("expected", f"{known}, so neither is better when combined with c")]
            raise Violation("values that are equally good combine to values that are not", *told)
        if feasible(right) and not feasible(left):
            told = [*facts, ("found", f"{known}; {form.format('b')} is feasible, {form.format('a')} is not")]
            raise Violation("the better part makes the whole infeasible", *told)


_GROUPED = (
    "equally good values, because searches combine children and branching costs in groups; where only the order of the "
    'tree is right, declare order = "partial", of which `better` says what dominates'
)


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
            told = [
                *_named(a, b, c),
                ("combine(combine(a, b), c)", show(left)),
                ("combine(a, combine(b, c))", show(right)),
            ]
            raise Violation("combine depends on how values are grouped", *told, ("expected", _GROUPED))
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
            told = [*_named(a, b), ("combine(a, b)", show(left)), ("combine(b, a)", show(right))]
            headline = "combine depends on the order of the children, and subtract cannot tell which is which"
            raise Violation(headline, *told)
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
    if not case.task.worsening:
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
