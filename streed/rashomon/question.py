"""What is asked of near-optimal trees: the task as sums over rows and nodes or as a cost of leaves, and the options."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.errors import InputError, check_choice
from streed.exact import exact_number, readable
from streed.problem import Problem
from streed.solving import rows_needed
from streed.task import Task, Totals, Value
from streed.task.algebra import Threshold
from streed.task.analysis.facts import vector_costs
from streed.task.analysis.linear_form import adds, price_of_splits, row_cost_form
from streed.task.base import objective, scoring
from streed.task.bounded_sums import Gap, LinearFraction, RowSum, SumLimit, row_sum, values_of
from streed.task.objective import record_of

LABELS = ("all", "best")
COLUMNS = ("distinct", "all")


@final
@attrs.frozen(eq=False)
class Question:
    """A task on its data, taken apart, and which trees are counted."""

    task: Task
    data: Dataset
    bound: Task
    """The task, bound to the data."""
    max_depth: int | None
    min_leaf: int
    """Rows that a leaf needs, by the caller and the limits of the task."""
    labels: str
    trivial: bool
    columns: str
    sums: tuple[RowSum, ...]
    """Those of which the objective's score is a function; none where leaves have to be asked one by one."""
    fraction: LinearFraction | None
    """The score as a fraction of affine functions of the sums' worth, if it is one of several."""
    limits: tuple[RowSum, ...]
    """Further sums, that must be in their intervals."""
    split: Fraction | int
    """What a branching node costs, where leaves are asked one by one."""
    max_nodes: int | None = None

    @classmethod
    def of(
        cls,
        task: Task,
        data: Dataset,
        shape: tuple[int | None, int | None, int],
        labels: str,
        trivial: bool,
        columns: str,
    ) -> Question:
        """The question about trees of a shape (`tree_limits`).

        Raises InputError for a task whose trees cannot be counted exactly, and says why.
        """
        check_choice("labels", labels, LABELS)
        check_choice("columns", columns, COLUMNS)
        bound, (max_depth, max_nodes, min_leaf) = task.bind(data), shape
        inner = objective(bound)
        if not trivial and bound.overrides("leaf_label"):
            raise InputError("trivial", "leaves of this task show no labels, by which splits are trivial", "use True")
        needed = rows_needed(bound, min_leaf, data)
        made = functools.partial(
            cls, task, data, bound, max_depth, needed, labels, trivial, columns, max_nodes=max_nodes
        )
        record = record_of(bound)
        first = record.parts[0]
        several = first.components is not None or record.intervals or record.most
        if record.gaps or (inner.order != "total" and not several):
            raise _refused(task, "it has a front and no one optimum", "limit the other quantities by subject_to")
        if several and labels == "best":
            raise InputError("labels", "which label is best depends on the other leaves here", "use labels='all'")
        if several and any(limit.support is None for limit in bound.limits):
            raise _refused(task, "limits on leaves other than their number of rows do not go with several sums", "")
        limits = record.intervals
        limits += tuple(_row_sum(part, data, limit) for part, limit in record.limited)
        if first.components is not None:
            sums, fraction = _fraction(task, first, data)
            return made(sums, fraction, limits, 0)
        form_of_rows = row_cost_form(first if limits else bound, data)
        if form_of_rows is not None:
            return made((_row_sum(form_of_rows, data),), None, limits, 0)
        if limits:
            raise _refused(task, "its leaves cost no sum over their rows, which limits on sums need", "")
        if max_nodes is not None:
            why = f"the leaves of {type(task).__name__} cost no sum over rows, beside which nodes could be counted"
            raise InputError("max_nodes", why, "limit the depth instead")
        return made((), None, (), _split_of(task, inner))

    @property
    def depth(self) -> int:
        """No tree is deeper."""
        return min(each for each in (self.data.n_rows - 1, self.max_depth, self.max_nodes) if each is not None)

    @property
    def most_branches(self) -> int:
        """No tree has more branching nodes, were their number not limited."""
        return Problem(self.data, self.bound, self.max_depth, None, self.min_leaf).most_branches

    @property
    def n_labels(self) -> int:
        """How many labels a leaf may have."""
        return len(self.bound.labels(self.data))

    @functools.cached_property
    def totals(self) -> Totals:
        """The state of all rows."""
        return Totals(self.task, self.data)

    def value(self, totals: Sequence[int]) -> Value:
        """The value, as the task has it, of a tree whose sums have these totals."""
        worth = values_of(self.sums, totals)
        return worth[0] if len(self.sums) == 1 else worth

    def rank(self, value: Value) -> Any:
        """What is compared, an exact number: the score of a value."""
        if self.fraction is not None:
            return self.fraction.at(value)
        score = self._score(value)
        if isinstance(score, tuple):
            raise _refused(self.task, f"{score!r}, its score, is no one number", "")
        return exact_number(score)

    def shown(self, value: Value) -> Any:
        """The score of a value, as users see it."""
        return readable(self._score(value))

    def _score(self, value: Value) -> Any:
        alone = self.fraction is not None or not self.limits
        return scoring(self.task, self.bound).score(value if alone else (value,), self.totals)


def _refused(task: Task, why: str, remedy: str) -> InputError:
    return InputError(
        "task", f"near-optimal trees of {type(objective(task)).__name__} cannot be counted: {why}",
        remedy or "use a task whose values are exact sums, such as SparseAccuracy",
    )  # fmt: skip


def _row_sum(task: Task, data: Dataset, most: Any = None) -> RowSum:
    """The sum that is the value of a bound task; raises InputError where it is none."""
    found = row_sum(task, data, most)
    if found is None:
        raise _refused(task, "its leaves cost no sum over their rows", "")
    return found


def _fraction(task: Task, rated: Any, data: Dataset) -> tuple[tuple[RowSum, ...], LinearFraction]:
    """The sums of a task of several, and its score as a fraction of them."""
    fraction = None if rated.price is not None else rated.fraction(Totals(rated, data))
    if fraction is None:
        remedy = "use F1, FBeta, Jaccard, CohenKappa or a task of costs per row"
        raise _refused(task, "its score is no fraction of sums, so that no linear budget holds them", remedy)
    found = vector_costs(rated, data)
    if found is None:
        raise _refused(task, "its sums are no exact integers", "round the weights to a few decimals")
    return found, fraction


def _split_of(task: Task, inner: Task) -> Fraction | int:
    """What a branching node costs; raises InputError for tasks whose values are no exact sums over leaves and nodes."""
    if not adds(inner):
        raise _refused(task, "its values are not added up", "")
    price = price_of_splits(inner)
    if price is None:
        raise _refused(task, "what its splits cost depends on the node", "use one price for all splits")
    return exact_number(price)


def exact_leaf(task: Task, cost: Any) -> Any:
    """The cost of a leaf as an exact number; a float is the binary fraction that it is, lest sums be rounded."""
    if isinstance(cost, (int, Fraction, np.integer)):
        return exact_number(cost)
    if isinstance(cost, (float, np.floating)) and math.isfinite(cost):
        return Fraction(float(cost))
    raise _refused(task, f"a leaf of it costs {cost!r}, which is no finite number", "")


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
    if isinstance(given, Gap):
        ratios = given.ratios(data)
        sums = tuple(attrs.evolve(signed, least=None, most=None) for signed, _ in ratios)
        return Quantity(_fitting(sums, question), tuple(size for _, size in ratios))
    if isinstance(given, Task):
        if given.larger_is_better or given.overrides("score"):
            raise InputError("by", f"{given!r} shows a score that is not its sum", "give the task whose sum is meant")
        return Quantity(_fitting((_row_sum(given.bind(data), data),), question), None)
    raise InputError("by", f"{given!r} is no quantity", "give a task such as Splits(), or DemographicParity()")


def limited_sums(limit: Any, question: Question) -> tuple[RowSum, ...]:
    """The sums that a limit keeps in intervals: `DemographicParity() <= 0.1` or `Splits() <= 3`."""
    if isinstance(limit, SumLimit):
        return _fitting(limit.bounded_sums(question.data), question)
    if isinstance(limit, Threshold):
        return _fitting((_row_sum(limit.task.bind(question.data), question.data, limit.limit),), question)
    remedy = "write Splits() <= 3 or DemographicParity() <= 0.1"
    raise InputError("limit", f"{limit!r} limits no sum over the whole tree", remedy)


def _fitting(sums: tuple[RowSum, ...], question: Question) -> tuple[RowSum, ...]:
    """The sums, for the labels of the question; raises InputError if they are about others, or keys hold no sums."""
    if not question.sums:  # leaves are asked one by one
        found = f"leaves of {type(question.task).__name__} cost no sum over rows, beside which others could be counted"
        raise InputError("task", found, "use a task of costs per row")
    for each in sums:
        own, asked = each.costs.shape[1], question.n_labels
        if own != asked:
            raise InputError("by", f"it is about {own} labels, and leaves have {asked}", "give one of the same")
    return sums
