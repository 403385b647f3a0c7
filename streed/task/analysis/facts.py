"""What is known of a task: declared by it, or derived by rule from what its parts declare (as cvxpy derives curvature).

`explain` says it to a person. What a method depends on is read off its compiled code: what that never names cannot
matter. A task, limit or notion that tells two classes apart, as F1 or recall does, says so by a field `positive`, None
if nobody chose, and a method `positive_class(data)`; it is `one_sided` if the other class would be another question.
"""

from __future__ import annotations

import dis
import functools
import itertools
import math
import numbers
import types
import warnings
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, ClassVar, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.errors import InputError, StreedError, check_known
from streed.exact import LARGEST_TOTAL, ONE, Array
from streed.task.algebra import as_costs
from streed.task.analysis.linear_form import price_of_splits, row_cost_form
from streed.task.base import COMPONENTWISE, TOTAL, Task, Value, is_larger_better, objective, parts_of
from streed.task.bounded_sums import RowSum, row_sum, worsens
from streed.task.joint import Entry, Joint, Sum, WeightedSum, with_tests
from streed.task.objective import record_of
from streed.task.states import Fields, Limit, OwnLimit, State, quick_sums, state_of

_EXACT_FLOATS = 2**53
"""Sums of whole statistics below this are exact in float64, in which the engine may add them up."""

_METHODS = ("leaf_cost", "branching_cost", "combine", "feasible", "subtract", "lower_bound")


@final
@attrs.frozen
class Watched(Task):
    """Costs nothing, and has the statistics of a limit."""

    worsening: ClassVar[bool] = True
    any_label: ClassVar[bool] = True

    limit: Limit

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return self.limit.statistics(data)

    def leaf_cost(self, s: State, k: int) -> Any:
        return 0


def written_terms(task: Task) -> tuple[tuple[Fraction, Task, str], ...]:
    """Weights, tasks whose costs add up to those of the first part, and the prefix of the names of their statistics.

    Then, of weight 0, limits with statistics. A term that cares for no label (`any_label`) is asked for label 0.
    """
    record = record_of(task)
    first = record.parts[0]
    if isinstance(first, Joint):
        terms = [(weight, part, first.prefix(i)) for i, (weight, part) in enumerate(first.terms)]
    else:
        terms = [(ONE, first, "")]
    own = (limit for limit in record.limits if isinstance(limit, OwnLimit))
    return (*terms, *((Fraction(0), Watched(limit.limit), limit.prefix) for limit in own))


def can_generate(
    task: Task, data: Dataset, sums: dict[str, Array] | None = None, costs: Callable[[], list[Value]] | None = None
) -> bool:
    """Whether kernels can be generated for the bound task: values are numbers, totally ordered by < or >.

    `sums`: its `quick_sums`, and `costs` gives its `first_costs`, where they are kept.
    """
    own, written = objective(task), written_terms(task)
    if own.reads_rows or own.order != TOTAL or is_larger_better(own) is None or not any(w for w, *_ in written):
        return False
    terms = [term for _, term, _ in written]
    members = [getattr(type(part), name) for part in terms for name in _METHODS]
    if not all(part.stands_alone for part in terms) or not all(isinstance(x, types.FunctionType) for x in members):
        return False
    sums = quick_sums(task, data) if sums is None else sums
    sizes = (np.abs(x.astype(np.float64)).sum(axis=0).max(initial=0) for x in sums.values() if x.dtype.kind in "iu")
    if any(size >= _EXACT_FLOATS for size in sizes):
        return False
    values = first_costs(task, sums, data) if costs is None else costs()
    if not all(issubclass(x, numbers.Real) for x in set(map(type, values))):
        return False
    pairs = itertools.combinations(dict.fromkeys(values), 2)
    return own.adds_values or all(math.isclose(own.combine(a, b), own.combine(b, a), rel_tol=1e-12) for a, b in pairs)


def first_states(sums: dict[str, Array], data: Dataset) -> list[State]:
    """A few states: of the first row, the first three, the first half of them, and all."""
    sizes = sorted({data.n_rows, (data.n_rows + 1) // 2, min(data.n_rows, 3), 1})
    return [state_of(sums, slice(m), data) for m in sizes]


def first_costs(task: Task, sums: dict[str, Array], data: Dataset) -> list[Value]:
    """The costs of leaves at the `first_states` under every label."""
    labels = range(len(task.labels(data)))
    return [task.leaf_cost(s, k) for s in first_states(sums, data) for k in labels]


def vector_costs(given: Task, data: Dataset) -> tuple[RowSum, ...] | None:
    """The components of the bound task's values, where they are sums of whole costs in the componentwise order.

    None where that cannot be shown, or a cost is beyond 2**60.
    """
    task = objective(given)
    record = record_of(task)
    added = task.order == COMPONENTWISE and task.adds_values and not task.overrides("better")
    if task.reads_rows or not added or any(limit.support is None for limit in given.limits):
        return None
    if any(part.overrides("feasible") for part in record.parts):
        return None
    try:
        known = task.statistics(data)
        width = len(task.leaf_cost(state_of(quick_sums(task, data, known), slice(None), data), 0))
        caps = [None] * width if record.is_plain else record.caps
        found = [row_sum(Entry((task,), place), data, caps[place], lambda: known) for place in range(width)]
    except (StreedError, TypeError):
        return None
    fit = [each for each in found if each is not None and each.costs.dtype != object and each.split < LARGEST_TOTAL]
    return tuple(fit) if len(fit) == width else None


def explain(task: Task, data: Dataset | None = None) -> str:
    """What was derived about the task, one fact a line, part by part where it is a composition.

    What depends on the data set is told for `data`, or for a made-up one of two classes without row data. Raises
    InputError for row data that `data` lacks, and TaskError for what cannot be bound to it.
    """
    if not isinstance(data, Dataset | None):
        raise InputError("data", f"it is a {type(data).__name__}", "give a Dataset, as Dataset.make(X, y) makes it")
    task = as_costs(task)
    lines = _outline(task)
    try:
        shown = Dataset.make([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]) if data is None else data
        told = _sentences(task.bind(shown), shown)
    except StreedError as error:
        if data is not None:
            raise
        return "\n".join([*lines, f"nothing can be derived without the data it asks for ({error})"])
    except KeyError as error:
        name = error.args[0] if error.args else None
        if not isinstance(name, str) or name in shown.row_data:
            raise
        if data is not None:
            found = f"{type(task).__name__} reads it as row data, and the data has none"
            raise InputError(name, found, f"give {name}= to Dataset.make") from error
        return "\n".join([*lines, f"nothing can be derived without the row data {name!r} that it reads; give data="])
    return "\n".join([*lines, "", *told])


def _outline(task: Task) -> list[str]:
    """The name of the task, and below it those of its parts, indented."""
    record = record_of(task)
    first = record.parts[0]
    if record.is_front:
        lines = ["front of", *(line for part in record.parts for line in _indented(_outline(part)))]
    elif isinstance(first, Sum) and first.is_gain:
        written = [(weight if (weight, part) in first.scores else -weight, part) for weight, part in first.terms]
        alone = len(written) == 1 and written[0][0] == 1
        lines = ["maximum of" if alone else "maximum of the sum of", *_weighted(written)]
    elif isinstance(first, (Sum, WeightedSum)):
        lines = ["sum of", *_weighted(first.terms)]
    else:
        lines = [repr(first)]
    if record.limited:
        lines.append("subject to")
    for part, most in record.limited:
        *above, last = _outline(part)
        lines += _indented([*above, f"{last} <= {most}"])
    lines += [f"  with {limit!r} over the tree" for limit in record.sum_limits]
    lines += [f"  and {gap!r}" for gap in record.gaps]
    return lines + [f"  with {limit!r} in every leaf" for limit in record.limits]


def _weighted(terms: Sequence[tuple[object, Task]]) -> list[str]:
    """The outlines of weighted tasks, indented."""
    found = []
    for weight, task in terms:
        first, *rest = _outline(task)
        found += _indented([first if weight == 1 else f"{weight} * {first}", *rest])
    return found


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for line in lines]


_CONTEXTS = {
    "none": "a branching node costs nothing",
    "constant": "a branching node costs the same everywhere",
    "split": "a branching node's cost depends on its column or rows, not on the columns above",
    "path": "a branching node's cost may depend on the columns tested above: subproblems are kept apart by branch",
}

_OF_ROWS = "nothing is compiled for this task"


def _sentences(task: Task, data: Dataset) -> list[str]:
    """What is known of the bound task on its data."""
    inner, total, price = objective(task), task.order == TOTAL, price_of_splits(task)
    by_path = any(reads(part, "path") for part in parts_of(inner) if part.stands_alone)
    context = ("path" if by_path else "split") if price is None else "none" if price == 0 else "constant"
    by_rows = row_cost_form(task, data) is not None
    sums = None if by_rows or task.reads_rows else quick_sums(task, data)
    operator = "the sum" if inner.adds_values else "the task's own"
    worsening = "; never gives a better value (worsening, Def. A.2)" if worsens(task, data) else ""
    supports = all(limit.support is not None for limit in task.limits)
    limits = "on leaves by their rows, or none" if supports else "on leaves by their statistics"
    return [
        f"order      {task.order}: {'one optimum' if total else 'a front of nondominated values'}",
        f"combine    {operator}{worsening}",
        f"leaves     {'a cost per row and label' if by_rows else 'a cost of the sums over a leaf'}",
        f"branches   {_CONTEXTS[context]}",
        f"limits     {limits}{'; and on the value' if inner.overrides('feasible') else ''}",
        *(f"bound      {bound}" for bound in _bounds(task, data, sums, by_rows, context)),
        f"kernel     {_kernel(task, data, sums, by_rows and len(task.labels(data)) == 2)}",
        f"drivers    depth-first, {'branches' if total else 'fronts'}, general",
    ]


def _bounds(task: Task, data: Dataset, sums: dict[str, Array] | None, by_rows: bool, context: str) -> list[str]:
    """The bounds that are sound, each where the fact that makes it so is declared or derived."""
    bound = subtracts = False
    if sums is not None:
        whole = state_of(sums, slice(data.n_rows), data)
        value = task.leaf_cost(whole, 0)
        bound, subtracts = task.lower_bound(whole) is not None, task.subtract(value, value) is not None
    pays = context == "constant" and task.order == TOTAL and not task.reads_rows
    sound = {
        "equivalent points: rows alike in every column share a leaf, whatever the tree": by_rows,
        "similarity: states of nearly the same rows have nearly the same value": by_rows
        or task.worst_per_row(data) is not None,
        "subtraction: what one child costs is not left for the other": by_rows or subtracts,
        "superadditivity: a tree cannot cost less than its rows do in finer parts": by_rows or task.superadditive,
        "the task's own lower bound": bound,
        "purification: whatever is no leaf costs one branching node at least": pays and (bound or worsens(task, data)),
    }
    return [name for name, holds in sound.items() if holds]


def _kernel(task: Task, data: Dataset, sums: dict[str, Array] | None, two_labels: bool) -> str:
    """The quickest kernel that can run the task."""
    if task.reads_rows:
        return _GENERAL
    if sums is None:
        kind = "signed: costs per row of two labels" if two_labels else "labels: costs per row and label"
        return f"{kind}; {_OF_ROWS}"
    supports = all(limit.support is not None for limit in task.limits)
    if with_tests(objective(task), data) is not None and supports and not data.categorical:
        return f"test costs: costs per row and label, and prices of splits by the columns above; {_OF_ROWS}"
    if task.order != TOTAL and vector_costs(task, data) is not None:
        return f"fronts: a cost per row and label for each entry of the values; {_OF_ROWS}"
    return "generated: compiled from leaf_cost when first used" if can_generate(task, data, sums) else _GENERAL


_GENERAL = "general: the task's methods as they are, in Python"


_SEES_ALL = frozenset({"locals", "vars", "eval", "exec", "dir"})
"""Functions that see arguments without naming them."""


_PLACES = {"rows": 1, "path": 2, "split": 3}


def reads(task: Task, argument: str) -> bool:
    """Whether the task's branching cost may depend on its `rows`, `path` or `split`; True where that is not known."""
    function = type(task).branching_cost
    if not isinstance(function, types.FunctionType) or hasattr(function, "__wrapped__"):
        return True
    return _loads(function.__code__, _PLACES[argument])


@functools.lru_cache(maxsize=1024)
def _loads(code: types.CodeType, place: int) -> bool:
    """Whether the code of a method of three arguments may load the one at that place (0 is `self`)."""
    if code.co_argcount != 4 or code.co_kwonlyargcount or code.co_flags & (0x04 | 0x08):
        return True
    name = code.co_varnames[place]
    if name in code.co_cellvars:
        return True
    for instruction in dis.get_instructions(code):
        named = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
        if name in named or (isinstance(instruction.argval, str) and instruction.argval in _SEES_ALL):
            return True
    return False


def positive_number(data: Dataset, positive: Any, name: str) -> int:
    """The number of the positive class, 0 or 1; raises InputError unless it is one of two classes."""
    if data.n_classes != 2:
        raise InputError("y", classes_found(data), f"{name} needs two classes, the positive one and the other")
    return given_class(data, positive)


def classes_found(data: Dataset) -> str:
    """What errors say of how many classes there are."""
    return "every row has the same label" if data.n_classes == 1 else f"it has {data.n_classes} classes"


def given_class(data: Dataset, positive: Any) -> int:
    """The number of the class that was given, 1 for None; raises InputError for one that no row has."""
    check_known("positive", [] if positive is None else [positive], data.classes, "class")
    return 1 if positive is None else data.classes.index(positive)


def positive_class(task: Task, data: Dataset, *, warn: bool = False) -> int | None:
    """The number of the class that the task or a limit of it calls positive, the first that nobody chose; or None."""
    asking = [each for each in parts_of(task, Fields) if hasattr(type(each), "positive_class")]
    found = [(each, each.positive_class(data)) for each in asking]
    assumed = [(each, number) for each, number in found if each.positive is None and number is not None]
    totals = data.class_totals() if assumed else []
    for thing, number in assumed:
        share = totals[number] / sum(totals)
        if warn and getattr(thing, "one_sided", False) and 2 * share > 1:
            name = type(getattr(thing, "notion", thing)).__name__
            said = f"{name} takes {data.classes[number]!r} as the positive class, the second label in"
            said += f" sorted order, and {100 * float(share):.3g} % of the rows have it: say positive= to choose"
            warnings.warn(said, UserWarning, stacklevel=4)
            break
    return next((number for _, number in [*assumed, *found] if number is not None), None)
