"""How tasks compose: `A + B`, `w * A`, `A - B`, `A & B`, `A <= limit`, `subject_to(...)`, `minimize` and `maximize`.

Every composition is a task again, and what it declares follows by rule from what its parts declare. Of a score of
several sums minus a price of splits, as in `F1() - 0.01 * Splits()`, the number of nodes is one more sum.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.errors import NotSeparableError, StreedError, TaskError
from streed.exact import ONE, Array, Range
from streed.task.analysis.linear_form import adds
from streed.task.base import TOTAL, Composition, RowCostTask, Task, is_larger_better, name, objective
from streed.task.bounded_sums import Gap, Penalized, SumLimit, SumTask, row_sum
from streed.task.joint import Sum, Terms, combination
from streed.task.objective import Objective, check_summed, not_worsening, record_of
from streed.task.states import Limit, State


def minimize(task: Task) -> Task:
    """The task itself, which is minimised already; the word is for the reader of a composed objective.

    Raises TaskError for a task that is maximised.
    """
    if not isinstance(task, Task):
        raise TaskError(f"minimize takes a Task, not {name(task)}; write 0.01 * Splits() + Accuracy()")
    if task.larger_is_better:
        raise TaskError(f"{name(task)} is maximised, so minimize cannot be said of it; leave minimize out")
    return task


def maximize(task: Task) -> Task:
    """The task of the largest value of an additive task; one that is maximised already is itself.

    Raises TaskError for tasks whose values are not added up: order need not be preserved when it is turned round.
    """
    if not isinstance(task, Task):
        raise TaskError(f"maximize takes a Task, not {name(task)}")
    if task.larger_is_better:
        return as_costs(task)
    inner = objective(task)
    if not adds(inner):
        said = f"maximize takes tasks whose values are added up, and {name(inner)} has a combine, order or feasible"
        raise TaskError(f"{said} of its own; declare `maximize = True` instead")
    return _instead(task, Sum(_times(-ONE, inner.terms), True))


def as_costs(task: Task) -> Task:
    """The task; of gains that are added up, the same in costs, which searches are quickest with."""
    inner = objective(task)
    if not (inner.maximize and inner.order == TOTAL and inner.adds_values) or inner.overrides("feasible"):
        return task
    return _instead(task, Sum(((-ONE, inner),), True)) if is_larger_better(inner) else task


def _instead(task: Task, inner: Task) -> Task:
    """The inner task under the limits on leaves of the task."""
    return inner if objective(task) is task else attrs.evolve(record_of(task), parts=(inner,))


def gain_sign(task: Task) -> int:
    """1 if the task's values are gains, of which larger ones are better, -1 if they are minus gains, 0 if costs."""
    inner = objective(task)
    if isinstance(inner, Sum) and inner.is_gain:
        return 0 if inner.scores else -1
    return int(inner.larger_is_better and not inner.overrides("score"))


def add(a: Task, b: Task) -> Task:
    """a + b, both minimised or both maximised; raises TaskError for one of each, and where values are not added up."""
    a, b = _operand(a, "+"), _operand(b, "+")
    if _is_gain(a) and _is_gain(b):
        return Sum(_gains(a) + _gains(b), True)
    if _is_gain(a) or _is_gain(b):
        gain, cost = (_written(part) for part in ((a, b) if _is_gain(a) else (b, a)))
        found = f"{gain} is maximised and {cost} minimised, so their sum is neither"
        raise TaskError(f"{found}; write gain - cost, as in {gain} - {cost}, which is maximised")
    return combination(_costs(a, "+") + _costs(b, "+"))


def scale(weight: Any, task: Task) -> Task:
    """weight * task, the weight an exact number >= 0 (a float is the decimal it prints as)."""
    task = _operand(task, "*")
    factor = Fraction(Range().read("weight", weight))
    if factor < 0:
        said = f"a task's weight must not be negative, got {weight!r}: order would not be preserved (Def. 4.4)"
        raise TaskError(f"{said}; write streed.maximize(A) of what is to be large, and take a cost from it by -")
    if factor == 1:
        return task
    return Sum(_times(factor, _gains(task)), True) if _is_gain(task) else combination(_times(factor, _costs(task, "*")))


def subtract(a: Task, b: Task) -> Task:
    """a - b: what is maximised minus what is minimised, or a score such as F1 minus a price of splits."""
    takes = "takes a price such as 0.01 * Splits() from a task"
    a, b = _operand(a, "-", takes), _operand(b, "-", takes)
    if not _is_gain(a):
        return _penalize(a, b)
    if b.larger_is_better:
        raise TaskError(f"{name(a)} and {name(b)} are both maximised; add them by +, or write one without maximize")
    return Sum(_gains(a) + _costs(b, "-"), True)


def _penalize(task: Task, penalty: Task) -> Task:
    """task - penalty; raises TaskError unless that is a score of two sums minus a price of splits."""
    if not isinstance(task, SumTask):
        said = f"the operator - takes a price of splits from a score such as F1(), and {name(task)} is none of several"
        raise TaskError(f"{said} sums; what is minimised gets a price by +, as in Accuracy() + 3 * Splits()")
    if not isinstance(penalty, RowCostTask) or isinstance(penalty, Composition) or not penalty.any_label:
        raise TaskError(f"a price of splits such as 0.01 * Splits() is taken from a score; {name(penalty)} is none")
    if isinstance(task, Penalized):
        total = combination([(Fraction(1), task.penalty), (Fraction(1), penalty)])
        assert isinstance(total, RowCostTask)
        return Penalized(task.task, total)
    if any(task.shown(rank) != rank for rank in (Fraction(1, 4), Fraction(3, 4))):
        said = f"trees are compared by a power of the score of {name(task)}, from which no price can be taken exactly"
        raise TaskError(f"{said}; limit max_nodes instead")
    return Penalized(task, penalty)


def _operand(task: Any, operator: str, wanted: str = "joins tasks") -> Task:
    """The task, in costs; raises TaskError for what is no task, or has limits on its leaves, beside an operator."""
    if not isinstance(task, Task):
        raise TaskError(f"the operator {operator} {wanted}, and {task!r} is none")
    if task.without_limits is not task:
        raise TaskError(f"put subject_to last: the operator {operator} joins objectives, not constrained tasks")
    return as_costs(task)


def _is_gain(task: Task) -> bool:
    """Whether the task is maximised, and no score of several sums, which has operators of its own."""
    return task.larger_is_better and task.components is None


def _costs(task: Task, operator: str) -> Terms:
    """The terms of a task whose values are added up; raises NotSeparableError for any other."""
    if not adds(task):
        said = f"the operator {operator} adds values up, smaller better, and {name(task)} has a combine, order or"
        raise NotSeparableError(
            f"{said} feasible of its own: order would not be preserved (Def. 4.4); join it by & instead"
        )
    return task.terms


def _gains(task: Task) -> Terms:
    """The terms of what is maximised; raises TaskError for scores that are no constant minus costs."""
    if isinstance(task, Sum):
        return task.terms
    nothing, falls = State(0), False
    with contextlib.suppress(StreedError, ArithmeticError, TypeError):  # the score is tried on a few values
        base = task.score(0, nothing)
        falls = all(task.score(x, nothing) == base - x for x in (1, 7, Fraction(1, 3)))
    if not falls or not isinstance(task, Composition):
        said = f"{name(task)} is maximised and cannot be added to anything: its score is no constant minus its value"
        raise TaskError(f"{said}; write what is gained as a task that is not maximised, and streed.maximize(gain)")
    return task.terms


def _times(weight: Fraction, terms: Terms) -> Terms:
    return tuple((weight * factor, task) for factor, task in terms)


def _written(task: Task) -> str:
    """The task as one writes it, or its name where that is long."""
    if isinstance(task, Sum) and len(task.terms) == 1 and task.is_gain:
        part = task.parts[0]
        return _written(part) if part.larger_is_better else f"maximize({_written(part)})"
    text = repr(task)
    return text if len(text) <= 40 else name(task)


@final
@attrs.frozen
class Threshold:
    """A limit on the value of a task: no worse than `limit`."""

    task: Task
    limit: Any

    __bool__ = __and__ = __or__ = Limit.__bool__

    def achieved(self, data: Dataset, predicted: Array, nodes: int) -> Mapping[str, Any]:
        """What the value is, as `SumLimit.achieved`; for tasks of costs per row."""
        found = row_sum(self.task.bind(data), data, self.limit)
        assert found is not None
        column = predicted if found.costs.shape[1] > 1 else 0  # of which a task has one that cares for no label
        total = int(found.costs[np.arange(data.n_rows), column].sum()) + found.split * nodes
        said = {"value": float(found.unit * total), "limit": float(self.limit), "holds": found.holds(total)}
        return {"limit_on": name(self.task), "rates": {}, **said}


def at_most(task: Task, limit: Any) -> Threshold:
    """task <= limit, an exact number; raises NotSeparableError or TaskError where that is no limit on what is shown."""
    if objective(task) is not task:
        raise TaskError("put subject_to last: a limit is on the value of an objective, not of a constrained task")
    if task.order != TOTAL:
        raise TaskError(f"a limit is on one number, and the order of {name(task)} is {task.order}; limit its entries")
    if task.maximize or task.overrides("score"):
        said = f"the score of {name(task)} is not the value that is minimised, so <= would not limit what is shown"
        raise TaskError(f"{said}; limit a task whose value is meant")
    if not adds(task) and not task.worsening:
        raise not_worsening(task, "its combine is its own and it does not declare `worsening`")
    return Threshold(task, Range().read("limit", limit))


def constrain(task: Task, limits: Sequence[Limit | Threshold]) -> Task:
    """The task over the trees that meet `limits`; raises TaskError for anything that is neither kind of limit."""
    for limit in limits:
        if not isinstance(limit, (Limit, Threshold)):
            raise TaskError(f"subject_to takes limits such as MinSupport(5) or Splits() <= 3, not {limit!r}")
    if not limits:
        return task
    record = record_of(as_costs(task))
    thresholds = [limit for limit in limits if isinstance(limit, Threshold)]
    on_sums = tuple(limit for limit in limits if isinstance(limit, SumLimit))
    whole = record.parts[0]
    if thresholds and (record.is_front or (whole.order != TOTAL and whole.components is None)):
        raise TaskError(f"a limit on a value joins tasks of total order, and that of {name(task)} is {task.order}")
    if on_sums:
        check_summed(record, f"{on_sums[0]!r} limits a sum over the whole tree")
    return attrs.evolve(
        record,
        parts=record.parts + tuple(each.task for each in thresholds),
        most=record.most + tuple(each.limit for each in thresholds),
        leaf_limits=record.leaf_limits
        + tuple(limit for limit in limits if isinstance(limit, Limit) and not isinstance(limit, SumLimit)),
        sum_limits=record.sum_limits + on_sums,
    )


def join(a: Task, b: Task | Gap) -> Task:
    """a & b: both at once; raises TaskError for tasks that are not totally ordered, or without sums beside a gap."""
    _operand(a, "&")
    if not isinstance(b, Gap):
        return Objective(_parts(a) + _parts(b))
    record = record_of(a)
    check_summed(record, f"{b!r} is a gap between sums over the whole tree")
    return attrs.evolve(record, gaps=(*record.gaps, b))


def _parts(task: Task) -> tuple[Task, ...]:
    task = _operand(task, "&")
    if isinstance(task, Objective) and task.is_front and not (task.sum_limits or task.gaps):
        return task.parts
    if task.order != TOTAL:
        said = f"the operator & joins tasks of total order, and that of {name(task)} is {task.order}"
        raise TaskError(f"{said}; make each of its entries a task")
    return (task,)
