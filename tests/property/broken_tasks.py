"""Tasks that are not separable, or declare what is not so, with the law that tells and what the kit says of it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np
from hypothesis import strategies as st

from streed.task import COMPONENTWISE, PARTIAL, Limit, State, Task

if TYPE_CHECKING:
    from streed.data import Dataset
    from streed.exact import Array


@attrs.frozen
class Counted(Task):
    """The rows of each class as the statistic `n`, and misclassified rows as the cost."""

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"n": (data.class_numbers[:, None] == np.arange(data.n_classes)).astype(np.int64)}

    def leaf_cost(self, s: State, k: int) -> Any:
        return sum(s.n) - s.n[k]


def counted(name: str, **members: Any) -> Task:
    """A task as `Counted`, but for these members."""
    made: Any = attrs.frozen(type(name, (Counted,), {"__annotations__": {}, **members}))
    return made()  # type: ignore[no-any-return]


@final
@attrs.frozen
class ParityEverywhere(Counted):
    """Errors, and equally many positives in both groups, required of every subtree: a whole may balance its parts."""

    order: ClassVar[str] = PARTIAL

    def statistics(self, data: Dataset) -> dict[str, Array]:
        woman = data.row_data["woman"].astype(np.int64)
        return {**super().statistics(data), "women": woman, "men": 1 - woman}

    def leaf_cost(self, s: State, k: int) -> Any:
        return (super().leaf_cost(s, k), (s.women - s.men) * (k > 0))

    def better(self, a: Any, b: Any) -> bool:
        return bool(a[1] == b[1] and a[0] < b[0])

    def feasible(self, value: Any) -> bool:
        return bool(abs(value[1]) <= 1)


@final
@attrs.frozen
class MeanOfChildren(Counted):
    """Each child counts half, whatever its size."""

    def combine(self, a: Any, b: Any) -> Any:
        return (a + b) / 2


@final
@attrs.frozen
class BeyondMachineIntegers(Counted):
    """Python's integers have no end, compiled ones have 64 bits."""

    def leaf_cost(self, s: State, k: int) -> Any:
        return (sum(s.n) - s.n[k]) * 4_000_000_007 * 4_000_000_007 % 1009


@attrs.frozen
class Wavering(Limit):
    def allows(self, s: State) -> bool:
        return bool(next(_calls) % 2)


@attrs.frozen
class Boastful(Limit):
    @property
    def support(self) -> int:
        return 3

    def allows(self, s: State) -> bool:
        return s.rows >= 2


_calls = itertools.count()
_noted: list[Any] = [None]


def _noting(value: Any, answer: Any) -> Any:
    """The answer to a question that is remembered."""
    _noted[0] = value
    return answer


def errors(s: State, k: int) -> Any:
    return sum(s.n) - s.n[k]


def class_errors(self: Any, s: State, k: int) -> Any:
    """(errors on the first class, other errors)."""
    others = sum(s.n) - s.n[0]
    return (s.n[0] * (k != 0), others - s.n[k] * (k != 0))


def _more_classes(self: Any, a: Any, b: Any) -> bool:
    return bool(sum(x < y for x, y in zip(a, b, strict=True)) > sum(x > y for x, y in zip(a, b, strict=True)))


def _distances(self: Any, data: Dataset) -> dict[str, Array]:
    values = np.array(data.classes)[data.class_numbers]
    return {"distance": np.abs(values - np.median(values))}


def _named_by_rows(self: Any, data: Dataset) -> dict[str, Array]:
    return Counted.statistics(self, data) | {f"row{row}": np.ones(data.n_rows) for row in range(data.n_rows)}


def _tie_and_reverse(self: Any, a: Any, b: Any) -> bool:
    """Of equally many errors, more twos are worse, but from four errors on they are better."""
    return bool(a[0] < b[0] or (a[0] == b[0] and (a[1] < b[1] if a[0] < 4 else a[1] > b[1])))


def worst(each: float, **members: Any) -> Task:
    return counted("Worst", worst_per_row=lambda self, data: np.full(data.n_rows, each), **members)


@attrs.frozen
class Broken:
    """A task, the law that it breaks, and what the headline says."""

    task: Task
    law: str
    said: str = ""
    given: Mapping[str, Any] = attrs.field(factory=dict)


PARITY = {"row_data": {"woman": st.booleans()}}

FIRST = [
    Broken(ParityEverywhere(), "constraint is anti-monotone", given=PARITY),
    Broken(
        counted(  # the mean over the leaves of their F1 scores: (sum of 1 - F1, leaves)
            "MeanLeafF1",
            leaf_cost=lambda self, s, k: (1 - (2 * s.n[k] / (sum(s.n) + s.n[k]) if sum(s.n) else 0), 1),
            better=lambda self, a, b: bool(a[0] * b[1] < b[0] * a[1]),
        ),
        "combine preserves order",
    ),
    Broken(MeanOfChildren(), "combine is associative"),
    Broken(
        counted("LabelOfSibling", leaf_cost=lambda self, s, k: errors(s, k) + _noting(k, _noted[0] == k)),
        "leaf cost is Markovian",
    ),
    Broken(counted("Counter", leaf_cost=lambda self, s, k: errors(s, k) + next(_calls)), "leaf cost is Markovian"),
    Broken(
        counted(  # a right row earns one, a wrong one costs two, and no more than two may be lost
            "LimitedLoss",
            leaf_cost=lambda self, s, k: 2 * sum(s.n) - 3 * s.n[k],
            feasible=lambda self, value: bool(value <= 2),
        ),
        "combine is worsening under a limit",
    ),
    Broken(
        counted(  # better is what has fewer errors on more of the classes
            "MajorityOfClasses",
            leaf_cost=lambda self, s, k: tuple(n * (k != j) for j, n in enumerate(s.n)),
            better=_more_classes,
        ),
        "better is a strict order",
    ),
    Broken(counted("LeafAsBound", lower_bound=lambda self, s: sum(s.n) - max(s.n)), "lower bound is admissible"),
    Broken(
        counted("MaxLessSibling", combine=lambda self, a, b: max(a, b), subtract=lambda self, a, b: a - b),
        "subtract is a bound",
    ),
    Broken(
        counted("DistanceToMedian", statistics=_distances, leaf_cost=lambda self, s, k: s.distance),
        "statistics are additive",
    ),
    Broken(
        counted(  # a leaf costs its depth, which branching_cost has noted
            "DeepLeavesCostMore",
            branching_cost=lambda self, rows, path, split: _noting(len(path) + 1, 0),
            leaf_cost=lambda self, s, k: errors(s, k) + (_noted[0] or 0),
        ),
        "leaf cost ignores depth",
    ),
]
"""Tasks of which the law is the first that is found broken."""

OTHERS = [
    Broken(
        counted("ForgetfulPrice", branching_cost=lambda self, rows, path, split: next(_calls) % 2),
        "branching cost is Markovian",
        "two answers",
    ),
    Broken(
        counted("MoodyCombine", combine=lambda self, a, b: a + b + next(_calls) % 2),
        "operators are functions",
        "two answers",
    ),
    Broken(counted("Mutual", better=lambda self, a, b: a != b), "better is a strict order", "each of two values"),
    Broken(
        counted(
            "Lexicographic",
            order=COMPONENTWISE,
            leaf_cost=lambda self, s, k: (errors(s, k), k),
            better=lambda self, a, b: a < b,
        ),
        "better is the declared order",
        "not the declared order",
    ),
    Broken(
        counted("NegatedOther", combine=lambda self, a, b: a - b),
        "combine preserves order",
        "combining turns the order round",
    ),
    Broken(
        counted(  # (errors, leaves): fewer errors are better, and at most two leaves are allowed
            "Nearer",
            leaf_cost=lambda self, s, k: (errors(s, k), 1),
            better=lambda self, a, b: a[0] < b[0],
            feasible=lambda self, value: value[1] <= 2,
        ),
        "combine preserves order",
        "the better part makes the whole infeasible",
    ),
    Broken(
        counted("TieAndReverse", leaf_cost=lambda self, s, k: (errors(s, k), k), better=_tie_and_reverse),
        "combine preserves order",
    ),
    Broken(
        counted("KeepFirst", combine=lambda self, a, b: a, subtract=lambda self, a, b: a),
        "combine is commutative",
        "order of the children",
    ),
    Broken(Counted().subject_to(Wavering()), "limits are on states", "two answers for one state"),
    Broken(Counted().subject_to(Boastful()), "limits are on states", "asks for 3 rows"),
    Broken(worst(0.5), "worst cost per row holds", "a row costs more than its worst"),
    Broken(worst(-1), "worst cost per row holds", "a worst cost is negative"),
    Broken(
        worst(1, leaf_cost=lambda self, s, k: 5 - s.rows),
        "worst cost per row holds",
        "a leaf costs less with one row more",
    ),
    Broken(
        counted("Profit", worsening=True, leaf_cost=lambda self, s, k: -s.n[k]),
        "worsening holds",
        "becomes better by being combined",
    ),
    Broken(
        counted("PricePerLeaf", superadditive=True, leaf_cost=lambda self, s, k: 1),
        "superadditive holds",
        "costs less than its parts",
    ),
    Broken(counted("Renaming", statistics=_named_by_rows), "statistics are additive", "other names on some"),
    Broken(
        counted("Widening", statistics=lambda self, data: {"n": np.ones((data.n_rows, 3 + data.n_rows))}),
        "statistics are additive",
        "another width on some",
    ),
    Broken(  # feasible are values without errors, and (not anti-monotone) those of at least two
        counted(
            "OnlyTogether", order=PARTIAL, better=lambda self, a, b: a < b, feasible=lambda self, value: value != 1
        ),
        "recursion equals enumeration",
        "misses the optimum",
        {"max_examples": 400},
    ),
    Broken(counted("LabelsMatter", any_label=True), "any label costs the same"),
    Broken(  # a bound that only states of more than twenty rows refute
        counted("GoodForFewRows", lower_bound=lambda self, s: 0 if s.rows <= 20 else sum(s.n)),
        "lower bound is admissible",
    ),
]
