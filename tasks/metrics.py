"""Errors in every class, a front, and the scores of confusion matrices, which choose from it.

A value of ClassErrors is (errors on rows of class 0, errors on rows of class 1, ...), all sums over rows, compared
entry by entry (Eq. 3). Of scores of two classes (F1, F-beta, Jaccard, Matthews correlation, G-mean, Cohen's kappa,
one's own), a value is (false negatives, false positives), and the score of the whole tree never rises with either, so
the best score is that of a nondominated value (STreeD, Section 4.4 and Eq. 10, which is F1). With P positives and N
negatives, TP = P - FN and TN = N - FP:

    F-beta = (1 + b) TP / ((1 + b) TP + b FN + FP), b = beta^2          Jaccard = TP / (TP + FN + FP)
    kappa = 2 (TP TN - FN FP) / ((TP + FP) N + (TN + FN) P)
    MCC = (TP TN - FP FN) / sqrt(P N (TP + FP) (TN + FN))                G-mean = sqrt(TP / P * TN / N)

The first three are fractions of affine functions of the errors. The others are not, and are exact nevertheless: trees
are compared by the square of the score, a fraction. The positive class is the second one in sorted order,
unless `positive` names the other.

>>> import streed
>>> from streed.tasks import F1, ClassErrors
>>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 2, [0, 1, 1, 1, 0, 0, 1, 1]
>>> sorted(value for value, tree in streed.solve(ClassErrors(), X, y, max_depth=1).front)
[(0, 1), (3, 0)]
>>> streed.solve(F1(), X, y, max_depth=1).value
0.8888888888888888
"""

from __future__ import annotations

import itertools
import math
import numbers
import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.errors import InputError, NotSeparableError, brief
from streed.exact import Array, Range, exact_number
from streed.task import COMPONENTWISE, State, Task, Value, bound
from streed.task.analysis.facts import positive_number
from streed.task.bounded_sums import LinearFraction, SumTask

MOST_CLASSES = 6
"""Components of a front that are practical; fronts grow quickly with their number."""


def check_classes(data: Dataset, name: str) -> None:
    """Raises InputError unless there are two to `MOST_CLASSES` classes."""
    if data.n_classes < 2:
        raise InputError("y", "every row has the same label", f"{name} compares the errors in two classes or more")
    if data.n_classes > MOST_CLASSES:
        remedy = f"{name} takes {MOST_CLASSES} at most: fronts of more components are not practical; join some classes"
        raise InputError("y", f"it has {data.n_classes} classes", remedy)


@final
@attrs.frozen
class ClassErrors(Task):
    """The errors in every class, as a front."""

    value_unit: ClassVar[str] = "misclassified rows of every class"
    order: ClassVar[str] = COMPONENTWISE
    worsening: ClassVar[bool] = True

    def bind(self, data: Dataset) -> Task:
        check_classes(data, "ClassErrors")
        return self

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"rows_of": data.rows_of_classes(np.eye(data.n_classes, dtype=np.int64))}

    def leaf_cost(self, s: State, k: int) -> tuple[Any, ...]:
        """Eq. 10's parts: all rows of the classes that the label is not."""
        return tuple(0 if k == label else rows for label, rows in enumerate(s.rows_of))


@attrs.frozen
class ErrorMetric(SumTask):
    """A score of the errors in two classes."""

    components: ClassVar[tuple[str, ...]] = ("false_negatives", "false_positives")

    one_sided: ClassVar[bool] = True

    positive: Any = attrs.field(default=None, kw_only=True)

    def positive_class(self, data: Dataset) -> int | None:
        return positive_number(data, self.positive, type(self).__name__)

    def bind(self, data: Dataset) -> Task:
        self.positive_class(data)
        for k, total in enumerate(data.class_totals()):
            if total == 0:
                raise InputError("sample_weight", f"class {data.classes[k]!r} weighs nothing", "give it some weight")
        return self

    @final
    def sums(self, data: Dataset) -> Mapping[str, Array]:
        """The errors in the positive class and in the other one, or in every class of several."""
        positive = self.positive_class(data)
        classes = range(data.n_classes) if positive is None else (positive, 1 - positive)
        own = np.eye(data.n_classes, dtype=np.int64)
        named = zip(self.components, classes, strict=True)
        return {name: data.rows_of_classes(own[k][:, None] * (1 - own[k])) for name, k in named}

    def rank(self, value: Value, totals: State) -> Any:
        """Its `fraction`, unless a score says otherwise."""
        fraction = self.fraction(totals)
        assert fraction is not None
        return fraction.at(value)


def _names(n: int) -> tuple[str, ...]:
    """What the errors in so many classes are called."""
    return ErrorMetric.components if n == 2 else tuple(f"errors{k}" for k in range(n))


def _sizes(totals: State, n: int = 2) -> list[Any]:
    """What the rows of the classes weigh, on all of which other labels err; positives first of two."""
    return [max(getattr(totals, name)) for name in _names(n)]


@attrs.frozen
class FBeta(ErrorMetric):
    """F-beta of the positive class: recall counts beta times as much as precision; maximised."""

    beta: Any = attrs.field(validator=Range(above=0, meaning="of which 1 is F1"))

    @property
    def value_unit(self) -> str:
        return f"F{self.beta} score"

    def fraction(self, totals: State) -> LinearFraction:
        P, _ = _sizes(totals)
        b = exact_number(Fraction(exact_number(self.beta)) ** 2)
        return LinearFraction((1 + b) * P, (1 + b, 0), (1 + b) * P, (-1, 1))


@final
@attrs.frozen
class F1(FBeta):
    """F1 of the positive class, the harmonic mean of precision and recall; maximised."""

    beta: Any = attrs.field(default=1, init=False, repr=False)


@final
@attrs.frozen
class Jaccard(ErrorMetric):
    """The Jaccard index of the positive class, or intersection over union; maximised."""

    value_unit: ClassVar[str] = "Jaccard index"

    def fraction(self, totals: State) -> LinearFraction:
        P, _ = _sizes(totals)
        return LinearFraction(P, (1, 0), P, (0, 1))


@final
@attrs.frozen
class CohenKappa(ErrorMetric):
    """Cohen's kappa, the agreement beyond that of chance; maximised."""

    value_unit: ClassVar[str] = "Cohen's kappa"
    one_sided: ClassVar[bool] = False

    def fraction(self, totals: State) -> LinearFraction:
        P, N = _sizes(totals)
        return LinearFraction(2 * P * N, (2 * N, 2 * P), 2 * P * N, (P - N, N - P))


@final
@attrs.frozen
class MatthewsCorrelation(ErrorMetric):
    """Matthews correlation of predictions and labels; maximised.

    It falls with each error wherever it is positive; what is worse than guessing counts as 0, like guessing.
    """

    value_unit: ClassVar[str] = "Matthews correlation"
    one_sided: ClassVar[bool] = False

    def rank(self, value: Value, totals: State) -> Fraction:
        P, N = map(Fraction, _sizes(totals))
        fn, fp = value
        below = P * N * (P - fn + fp) * (N - fp + fn)
        above = (P - fn) * (N - fp) - fp * fn
        return Fraction(above * above / below) if above > 0 else Fraction(0)

    def shown(self, rank: Any) -> float:
        return math.sqrt(rank)


@final
@attrs.frozen
class GMean(ErrorMetric):
    """The geometric mean of the two classes' recall; maximised."""

    value_unit: ClassVar[str] = "geometric mean of the recalls"
    one_sided: ClassVar[bool] = False

    def rank(self, value: Value, totals: State) -> Fraction:
        P, N = map(Fraction, _sizes(totals))
        return Fraction((P - value[0]) * (N - value[1]) / (P * N))

    shown = MatthewsCorrelation.shown


_TRIED = 2000  # pairs of neighbouring values on which a user's function is tried


def _check_callable(task: Task, attribute: Any, value: Any) -> None:
    if not callable(value):
        raise InputError(attribute.name, brief(value), "give a function of false negatives, false positives and totals")


@final
@attrs.frozen
class MonotoneMetric(ErrorMetric):
    """A function of one's own of (false negatives, false positives, positives, negatives), maximised.

    With more classes than two, six at most, it is asked for the errors in every class, then the rows of every class, in
    the order of the classes. It must never rise with more errors of any kind. That is tried on some two thousand values
    before the search; raises NotSeparableError with a pair of values where it does not hold.
    """

    function: Callable[..., Any] = attrs.field(validator=_check_callable)
    components: tuple[str, ...] = bound(ErrorMetric.components)  # type: ignore[misc]

    @property
    def value_unit(self) -> str:
        return getattr(self.function, "__name__", "score")

    def positive_class(self, data: Dataset) -> int | None:
        return None if data.n_classes > 2 and self.positive is None else super().positive_class(data)

    def bind(self, data: Dataset) -> Task:
        positive, sizes = self.positive_class(data), data.class_totals()
        if positive is None:
            check_classes(data, "MonotoneMetric")
            _try_function(self.function, sizes)
            return attrs.evolve(self, components=_names(data.n_classes))
        ErrorMetric.bind(self, data)
        _try_function(self.function, [sizes[positive], sizes[1 - positive]])
        return self

    def rank(self, value: Value, totals: State) -> Any:
        return self.function(*value, *_sizes(totals, len(value)))

    def shown(self, rank: Any) -> Any:
        return rank


def _try_function(function: Callable[..., Any], sizes: Sequence[Any]) -> None:
    """Raises NotSeparableError where the function rises with an error, on a grid of errors or some of it."""
    steps = [[Fraction(i) * size / 40 for i in range(41)] for size in sizes]
    if all(isinstance(size, numbers.Integral) for size in sizes):
        steps = [sorted({int(x) for x in step}) for step in steps]
    after = [dict(itertools.pairwise([*step, step[-1]])) for step in steps]
    draw = random.Random(0).choice
    few = math.prod(map(len, steps)) <= _TRIED
    for errors in itertools.product(*steps) if few else (tuple(map(draw, steps)) for _ in range(_TRIED)):
        less = function(*errors, *sizes)
        for k, x in enumerate(errors):
            more = (*errors[:k], after[k][x], *errors[k + 1 :])
            found = function(*more, *sizes)
            if not found <= less:
                where, each = f" in class {k}", "errors"
                if len(sizes) == 2:
                    where, each = "", "(false negatives, false positives)"
                said = [f"({', '.join(map(str, x))}) gives {y!r}" for x, y in ((more, found), (errors, less))]
                raise NotSeparableError(
                    f"MonotoneMetric: the function is better with more errors{where}: {each} = {', '.join(said)}; give "
                    "one that never rises with an error"
                )
