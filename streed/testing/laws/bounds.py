"""What a task declares: bounds by which searches prune (STreeD, Appendix B), prices, and which way its score goes."""

from __future__ import annotations

import itertools
import numbers

from hypothesis import strategies as st

from streed.exact import exact_number
from streed.reference import Evaluation
from streed.task import TOTAL, Totals
from streed.task.base import objective
from streed.testing.cases import Case, Violation, close, law, show


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
            told = [("a, to be beaten", str(a)), ("b, the sibling", str(b)), ("x", str(x))]
            told += [("combine(x, b)", f"{show(total)}, better than a"), ("subtract(a, b)", show(u))]
            told += [("expected", f"x better than subtract(a, b), but {show(x.value)} is not better than {show(u)}")]
            raise Violation("subtract prunes a part that the optimum may need", *told)
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
            told = [("s", case.state_text(rows)), ("lower_bound(s)", show(bound))]
            told += [("tree", f"{show(value)}, of {case.tree_text(tree)}{f' below columns {path}' if path else ''}")]
            told += [("expected", "no tree at s is better than lower_bound(s)")]
            raise Violation("a tree is better than the lower bound", *told)
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
        told = [*facts, ("expected", f"g*(s and row i) <= g*(s) + w[i] * weight = {show(most)}")]
        raise Violation("a row costs more than its worst", *told)
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
        told = [("first part", f"{show(parts[0])}, the least cost of a leaf at {case.state_text(sides[0])}")]
        told += [("second part", f"{show(parts[1])}, at {case.state_text(sides[1])}"), ("combined", show(together))]
        told += [("both in one leaf", show(whole))]
        raise Violation("superadditive is declared, but a leaf costs less than its parts", *told)
    return True


_MOST_VALUES = 10


@law("any label costs the same", "contract: any_label", unconcerned="any_label is not declared")
def _check_any_label(case: Case) -> bool:
    """where any_label is declared, leaf_cost is the same for every label."""
    if not case.task.any_label:
        return False
    rows = case.rows()
    first, *others = (case.leaf_cost(rows, k) for k in range(len(case.labels)))
    for k, other in enumerate(others, start=1):
        if not close(first, other):
            told = [("s", case.state_text(rows)), ("leaf_cost(s, 0)", show(first)), (f"leaf_cost(s, {k})", show(other))]
            raise Violation("any_label is declared, but leaves cost more with one label than with another", *told)
    return True


@law("prices are the costs", "contract: priced", unconcerned="the task is not priced")
def _check_priced(case: Case) -> bool:
    """leaves cost what those of priced(data).costs do, branching nodes what its prices say."""
    task = objective(case.task)
    priced = task.priced(case.data)
    if priced is None:
        return False
    rows = case.rows()
    own = Evaluation(priced.costs, case.data).state(rows)
    for k in range(len(case.labels)):
        cost, said = case.leaf_cost(rows, k), priced.costs.leaf_cost(own, k)
        if not close(cost, said):
            told = [("s", case.state_text(rows)), (f"leaf_cost(s, {k})", show(cost))]
            told += [("by priced(data).costs", show(said))]
            raise Violation("a leaf does not cost what `priced` says", *told)
    for split in range(case.data.n_columns):
        path = tuple(sorted(case.draw(st.sets(st.integers(0, case.data.n_columns - 1)))))
        price = min([int(priced.full[split]), *(int(priced.given[column, split]) for column in path)])
        cost, said = task.branching_cost(len(rows), path, split) or 0, len(rows) * price * priced.unit
        if not close(cost, said):
            told = [(f"branching_cost({len(rows)}, {path}, {split})", show(cost)), ("by priced(data)", show(said))]
            raise Violation("a branching node does not cost what `priced` says", *told)
    return True


@law("score keeps the order", "contract: score", unconcerned="of a front, the score chooses freely")
def _check_score(case: Case) -> bool:
    """of two values the better one has no worse score: no smaller one if larger is better, else no larger one."""
    if case.task.order != TOTAL:
        return False
    totals = Totals(case.given, case.data)
    scored = [(each, case.given.score(each.value, totals)) for each in case.reach_all(case.everything, _MOST_VALUES)]
    if not all(isinstance(shown, numbers.Real) for _, shown in scored):
        return False
    for (a, shown), (b, other) in itertools.permutations(scored, 2):
        better = shown > other if case.given.larger_is_better else shown < other
        if case.task.better(b.value, a.value) and better and not close(shown, other):
            aim = "a larger score is better" if case.given.larger_is_better else "a smaller score is better"
            told = [("a", str(a)), ("b", str(b)), ("score(a)", show(shown)), ("score(b)", show(other))]
            told += [("found", f"better(b, a), and {aim}")]
            raise Violation("the better value has the worse score", *told)
    return bool(scored)
