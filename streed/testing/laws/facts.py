"""What a task declares of its costs: that labels do not matter, prices, and which way its score goes."""

from __future__ import annotations

import itertools
import numbers
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from streed.reference import Evaluation
from streed.task import TOTAL, Totals
from streed.task.constrained import objective
from streed.testing.cases import Violation, close, show
from streed.testing.laws.law import law

if TYPE_CHECKING:
    from streed.testing.cases import Case

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
            raise Violation(
                "any_label is declared, but leaves cost more with one label than with another",
                ("s", case.state_text(rows)),
                ("leaf_cost(s, 0)", show(first)),
                (f"leaf_cost(s, {k})", show(other)),
            )
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
            raise Violation(
                "a leaf does not cost what `priced` says",
                ("s", case.state_text(rows)),
                (f"leaf_cost(s, {k})", show(cost)),
                ("by priced(data).costs", show(said)),
            )
    for split in range(case.data.n_columns):
        path = tuple(sorted(case.draw(st.sets(st.integers(0, case.data.n_columns - 1)))))
        price = min([int(priced.full[split]), *(int(priced.given[column, split]) for column in path)])
        cost, said = task.branching_cost(len(rows), path, split) or 0, len(rows) * price * priced.unit
        if not close(cost, said):
            raise Violation(
                "a branching node does not cost what `priced` says",
                (f"branching_cost({len(rows)}, {path}, {split})", show(cost)),
                ("by priced(data)", show(said)),
            )
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
            raise Violation(
                "the better value has the worse score",
                ("a", str(a)),
                ("b", str(b)),
                ("score(a)", show(shown)),
                ("score(b)", show(other)),
                ("found", f"better(b, a), and {aim}"),
            )
    return bool(scored)


LAWS = (
    _check_any_label,
    _check_priced,
    _check_score,
)
