"""What is known of a task: declared by it, or derived by rule from what its parts declare (as cvxpy derives curvature).

`facts` is the one place where a driver asks what it may use; `explain` says the same to a person.
"""

from __future__ import annotations

import math
import numbers
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from streed.errors import InputError, StreedError
from streed.exact import Array
from streed.task.algebra import as_costs, worsens
from streed.task.analysis.linear_form import branching_context, row_cost_form
from streed.task.analysis.vector_form import vector_costs
from streed.task.base import TOTAL, Task, Value
from streed.task.constrained import objective
from streed.task.row_sums import quick_sums, state_of_first
from streed.task.states import State

if TYPE_CHECKING:
    from streed.data import Dataset

SIGNED, LABELS, TEST_COSTS = "signed", "labels", "test costs"
GENERATED, FRONTS, GENERAL = "generated", "fronts", "general"
"""Kernels, quickest first: costs per row of two labels, or of any number, or with prices of splits; compiled from the
task's own `leaf_cost`; fronts of values that are several costs per row; the task's methods called as they are."""


@attrs.frozen
class Facts:
    """What is known of a bound task on its data."""

    order: str
    """"total", "componentwise" or "partial"."""
    additive: bool
    """Whether values are added up, entry by entry if they are tuples."""
    row_costs: Task | None
    """The task as a cost per row and label, if it is one."""
    worsening: bool
    """Whether combining never gives a better value (STreeD, Def. A.2)."""
    superadditive: bool
    """Whether a state costs as a leaf at least what its parts cost together."""
    context: str
    """What branching costs depend on: "none", "constant", "split" or "path" (see `branching_context`)."""
    constrained: bool
    """Whether values can be infeasible."""
    supports: bool
    """Whether all limits on leaves are numbers of rows."""
    bounds: tuple[str, ...]
    """The bounds that are sound, by name."""
    kernel: str
    """The quickest kernel that can run the task."""
    drivers: tuple[str, ...]
    """The drivers that can search it."""


def facts(task: Task, data: Dataset) -> Facts:
    """What is known of the bound task on `data`."""
    inner = objective(task)
    form = row_cost_form(task, data)
    supports = all(limit.support is not None for limit in task.limits)
    superadditive = form is not None or task.superadditive
    context = branching_context(task, data.n_columns)
    worsening = worsens(task, data)
    bounds = _row_cost_bounds(worsening, context)
    kernel = SIGNED if len(task.labels(data)) == 2 else LABELS
    if task.reads_rows:
        bounds, kernel = _declared_bounds(task, data), GENERAL
    elif form is None:
        sums = quick_sums(task, data)
        whole = state_of_first(sums, data.n_rows, data)
        value = task.leaf_cost(whole, 0)
        bounds = _bounds(task, data, whole, value, worsening, context)
        kernel = GENERATED if can_generate(task, data, sums) else GENERAL
        if task.order != TOTAL and vector_costs(task, data) is not None:
            kernel = FRONTS
        if inner.priced(data) is not None and supports and not data.categorical:
            kernel = TEST_COSTS
    return Facts(
        order=task.order,
        additive=inner.adds_values,
        row_costs=form,
        worsening=worsening,
        superadditive=superadditive,
        context=context,
        constrained=inner.overrides("feasible"),
        supports=supports,
        bounds=tuple(bounds),
        kernel=kernel,
        drivers=_OF_TOTAL if task.order == TOTAL else _OF_PARTIAL,
    )


_OF_TOTAL = ("depth-first", "branches", "general")
_OF_PARTIAL = ("depth-first", "fronts", "general")
"""The drivers that take a task of a total or a partial order; the tests compare them with `streed.drivers`."""

_EXACT_FLOATS = 2**53
"""Sums of whole statistics below this are exact in float64, in which the engine may add them up."""

_METHODS = ("leaf_cost", "branching_cost", "combine", "feasible", "subtract", "lower_bound")


def can_generate(
    task: Task, data: Dataset, sums: dict[str, Array], costs: Callable[[], list[Value]] | None = None
) -> bool:
    """Whether kernels can be generated for the bound task: values are numbers, totally ordered by < or >.

    `sums` are its statistics, as `quick_sums` gives them; `costs` gives its `first_costs`, where they are kept.
    """
    own = objective(task)
    if own.reads_rows or own.order != TOTAL:
        return False
    if is_larger_better(own) is None:
        return False
    terms = [term.task for term in task.written_terms()]
    if not all(
        part.stands_alone and isinstance(getattr(type(part), name), types.FunctionType)
        for part in terms
        for name in _METHODS
    ):
        return False
    if any(values.dtype.kind in "iu" and _sizes(values) >= _EXACT_FLOATS for values in sums.values()):
        return False
    values = first_costs(task, sums, data) if costs is None else costs()
    if not all(isinstance(x, numbers.Real) for x in values):
        return False
    return own.adds_values or is_symmetric(own.combine, values)


def _sizes(values: Array) -> float:
    """The largest sum of sizes of an entry of a statistic, (n,) or (n, entries)."""
    return float(np.abs(values.astype(np.float64)).sum(axis=0).max(initial=0))


def first_states(sums: dict[str, Array], data: Dataset) -> list[State]:
    """A few states: of the first row, the first three, the first half of them, and all."""
    sizes = sorted({data.n_rows, (data.n_rows + 1) // 2, min(data.n_rows, 3), 1})
    return [state_of_first(sums, m, data) for m in sizes]


def first_costs(task: Task, sums: dict[str, Array], data: Dataset) -> list[Value]:
    """The costs of leaves at the `first_states` under every label."""
    labels = range(len(task.labels(data)))
    return [task.leaf_cost(s, k) for s in first_states(sums, data) for k in labels]


def is_symmetric(combine: Callable[[Value, Value], Value], values: Sequence[Value]) -> bool:
    """Whether the operator gives the same in either order, on all pairs of the values."""
    return all(
        math.isclose(combine(a, b), combine(b, a), rel_tol=1e-12)
        for i, a in enumerate(values)
        for b in values[:i]
        if a != b
    )


def is_larger_better(task: Task) -> bool | None:
    """Whether the task's `better` is >; False if it is <, None if it is neither, or cannot be told."""
    if not task.overrides("better"):
        return False
    made: list[_Comparison] = []
    for answer in (True, False):
        a, b = _Operand(made, answer), _Operand(made, answer)
        try:
            said: Any = type(task).better(task, a, b)
        except TypeError:
            return None
        # the comparison itself, or what became of it: as it goes, so goes the answer
        if len(made) != 1 or (said is not made[0] and said is not answer):
            return None
        larger = made.pop().greater is a
    return larger


@final
class _Operand:
    """Stands for a value in a comparison, which is noted, and answered as foreseen."""

    def __init__(self, made: list[_Comparison], answer: bool) -> None:
        self._made = made
        self._answer = answer

    def __lt__(self, other: object) -> Any:
        return self._noted(other)

    def __gt__(self, other: object) -> Any:
        return self._noted(self)

    def _noted(self, greater: object) -> _Comparison:
        self._made.append(_Comparison(greater, self._answer))
        return self._made[-1]


@attrs.frozen(eq=False)
class _Comparison:
    """Which of two operands is to be the greater one, and whether it is."""

    greater: object
    answer: bool

    def __bool__(self) -> bool:
        return self.answer


def explain(task: Task, data: Dataset | None = None) -> str:
    """What was derived about the task, one fact a line, part by part where it is a composition.

    What depends on the data set is told for `data`, or for a made-up one of two classes without row data. Raises
    InputError for row data that `data` lacks.
    """
    task = as_costs(task)
    lines = task.outline()
    try:
        shown = _example() if data is None else data
        known = facts(task.bind(shown), shown)
    except StreedError as error:
        return "\n".join([*lines, f"nothing can be derived without the data it asks for ({error})"])
    except KeyError as error:
        name = error.args[0] if error.args else None
        if not isinstance(name, str) or name in shown.row_data:
            raise
        if data is not None:
            raise InputError(
                name,
                f"{type(task).__name__} reads it as row data, and the data has none",
                f"give {name}= to Dataset.make",
            ) from error
        return "\n".join([*lines, f"nothing can be derived without the row data {name!r} that it reads; give data="])
    return "\n".join([*lines, "", *_sentences(known)])


EQUIVALENCE = "equivalent points: rows alike in every column share a leaf, whatever the tree"
SIMILARITY = "similarity: states of nearly the same rows have nearly the same value"
SUBTRACTION = "subtraction: what one child costs is not left for the other"
SUPERADDITIVITY = "superadditivity: a tree cannot cost less than its rows do in finer parts"
OWN_BOUND = "the task's own lower bound"
PURIFICATION = "purification: whatever is no leaf costs one branching node at least"


def _row_cost_bounds(worsening: bool, context: str) -> list[str]:
    found = [EQUIVALENCE, SIMILARITY, SUBTRACTION, SUPERADDITIVITY]
    return [*found, PURIFICATION] if worsening and context == "constant" else found


def _declared_bounds(task: Task, data: Dataset) -> list[str]:
    """Of a task whose states are more than sums, what can be told without one."""
    sound = {SIMILARITY: task.worst_per_row(data) is not None, SUPERADDITIVITY: task.superadditive}
    return [bound for bound, holds in sound.items() if holds]


def _bounds(task: Task, data: Dataset, whole: State, value: Value, worsening: bool, context: str) -> list[str]:
    """Each where the fact that makes it sound is declared."""
    known = task.lower_bound(whole) is not None
    sound = {
        SIMILARITY: task.worst_per_row(data) is not None,
        SUBTRACTION: task.subtract(value, value) is not None,
        SUPERADDITIVITY: task.superadditive,
        OWN_BOUND: known,
        PURIFICATION: task.order == TOTAL and context == "constant" and (worsening or known),
    }
    return [bound for bound, holds in sound.items() if holds]


_CONTEXTS = {
    "none": "a branching node costs nothing",
    "constant": "a branching node costs the same everywhere",
    "split": "a branching node's cost depends on its column or rows, not on the columns above",
    "path": "a branching node's cost may depend on the columns tested above: subproblems are kept apart by branch",
}

_KERNELS = {
    SIGNED: "costs per row of two labels; nothing is compiled for this task",
    LABELS: "costs per row and label; nothing is compiled for this task",
    TEST_COSTS: "costs per row and label, and prices of splits by the columns above; nothing is compiled for this task",
    GENERATED: "compiled from leaf_cost when first used",
    FRONTS: "a cost per row and label for each entry of the values; nothing is compiled for this task",
    GENERAL: "the task's methods as they are, in Python",
}


def _sentences(known: Facts) -> list[str]:
    operator = "the sum" if known.additive else "the task's own"
    total = known.order == TOTAL
    return [
        f"order      {known.order}: {'one optimum' if total else 'a front of nondominated values'}",
        f"combine    {operator}{'; never gives a better value (worsening, Def. A.2)' if known.worsening else ''}",
        f"leaves     {'a cost per row and label' if known.row_costs is not None else 'a cost of the sums over a leaf'}",
        f"branches   {_CONTEXTS[known.context]}",
        f"limits     {_limits(known)}",
        *(f"bound      {bound}" for bound in known.bounds),
        f"kernel     {known.kernel}: {_KERNELS[known.kernel]}",
        f"drivers    {', '.join(known.drivers)}",
    ]


def _limits(known: Facts) -> str:
    leaves = "on leaves by their rows, or none" if known.supports else "on leaves by their statistics"
    return f"{leaves}; and on the value" if known.constrained else leaves


def _example() -> Dataset:
    from streed.data import Dataset

    return Dataset.make([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
