"""Further quantities of trees that are counted along: tasks of costs per row, and gaps between groups."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, final

import attrs

from streed.errors import InputError
from streed.rashomon.question import Question, RowSum, interval_sums, row_sum
from streed.task import Task
from streed.task.algebra import Threshold
from streed.task.bounded_sums import Gap, SumLimit, integer_weights


@final
@attrs.frozen(eq=False)
class Quantity:
    """A number that every tree has: a sum, or the largest |sum| / size of some."""

    sums: tuple[RowSum, ...]
    sizes: tuple[int, ...] | None
    """What the sums are divided by, of a gap; None of a single sum that is the number."""

    def of(self, totals: Sequence[int]) -> Fraction | int:
        """The exact number of a tree whose sums have these totals."""
        if self.sizes is None:
            return self.sums[0].unit * totals[0]
        return max(Fraction(abs(total), size) for total, size in zip(totals, self.sizes, strict=True))


def quantity(given: Any, question: Question) -> Quantity:
    """What is meant by a task of costs per row, such as Splits(), or a gap, such as DemographicParity().

    Raises InputError for anything else.
    """
    data = question.data
    check_sums(question)
    if isinstance(given, Gap):
        weights, unit = integer_weights(data)
        each = 1 if weights is None else weights[:, None]
        ratios = given.ratios(data)
        sums = tuple(RowSum(ratio.costs * each, unit=unit) for ratio in ratios)
        return Quantity(_fitting(sums, question), tuple(ratio.size for ratio in ratios))
    if isinstance(given, Task):
        if given.larger_is_better or given.overrides("score"):
            raise InputError("by", f"{given!r} shows a score that is not its sum", "give the task whose sum is meant")
        return Quantity(_fitting((row_sum(given.bind(data), data),), question), None)
    raise InputError("by", f"{given!r} is no quantity", "give a task such as Splits(), or DemographicParity()")


def limited_sums(limit: Any, question: Question) -> tuple[RowSum, ...]:
    """The sums that a limit keeps in intervals: `DemographicParity() <= 0.1` or `Splits() <= 3`."""
    check_sums(question)
    if isinstance(limit, SumLimit):
        return _fitting(interval_sums(limit.bounded_sums(question.data), question.data), question)
    if isinstance(limit, Threshold):
        return _fitting((row_sum(limit.task.bind(question.data), question.data, most=limit.limit),), question)
    raise InputError(
        "limit", f"{limit!r} limits no sum over the whole tree", "write Splits() <= 3 or DemographicParity() <= 0.1"
    )


def check_sums(question: Question) -> None:
    """Raises InputError where keys hold no sums, as leaves are asked one by one."""
    if not question.sums:
        raise InputError(
            "task",
            f"the leaves of {type(question.task).__name__} cost no sum over rows, beside which others could be counted",
            "use a task of costs per row",
        )


def _fitting(sums: tuple[RowSum, ...], question: Question) -> tuple[RowSum, ...]:
    """The sums, for the labels of the question; raises InputError if they are about others."""
    shape = (question.data.n_rows, question.n_labels)
    for each in sums:
        if each.costs.shape != shape:
            raise InputError(
                "by", f"it is about {each.costs.shape[1]} labels, and leaves have {shape[1]}", "give one of the same"
            )
    return sums
