"""Tasks that try the general route, one for each part of the contract."""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import Any, ClassVar, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.exact import Array
from streed.solve import solve
from streed.task import COMPONENTWISE, PARTIAL, GeneralTask, Limit, State, Task

general = functools.partial(solve, search="general")
"""`streed.solve` by the general route."""


@attrs.frozen
class ClassCounts(Task):
    """What the tasks below share: the rows of each class as the statistic."""

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"rows_of": (data.class_numbers[:, None] == np.arange(data.n_classes)).astype(np.int64)}


@attrs.frozen
class ErrorsByClass(ClassCounts):
    """(errors on class 0, errors on the others, branching nodes), a front."""

    order: ClassVar[str] = COMPONENTWISE

    def leaf_cost(self, s: State, k: int) -> Any:
        others = sum(s.rows_of) - s.rows_of[0]
        return (s.rows_of[0] * (k != 0), others - s.rows_of[k] * (k != 0), 0)

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return (0, 0, 1)


@final
@attrs.frozen
class FewOfEach(ClassCounts):
    """(errors on class 0, errors on the others), a front, where the first must not be above `most`."""

    order: ClassVar[str] = COMPONENTWISE
    most: Any = 1000

    def leaf_cost(self, s: State, k: int) -> Any:
        others = sum(s.rows_of) - s.rows_of[0]
        return (s.rows_of[0] * (k != 0), others - s.rows_of[k] * (k != 0))

    def feasible(self, value: Any) -> bool:
        return bool(value[0] <= self.most)


@final
@attrs.frozen
class WorstOfEach(ClassCounts):
    """(errors of the worst leaf, errors together), a front: a value combined in two ways."""

    order: ClassVar[str] = COMPONENTWISE

    def leaf_cost(self, s: State, k: int) -> Any:
        wrong = sum(s.rows_of) - s.rows_of[k]
        return (wrong, wrong)

    def combine(self, a: Any, b: Any) -> Any:
        return (max(a[0], b[0]), a[1] + b[1])


@final
@attrs.frozen
class ByOwnDominance(ClassCounts):
    """(errors, rows of class 0 with label 0), the second larger: a partial order of the task's own."""

    order: ClassVar[str] = PARTIAL

    def leaf_cost(self, s: State, k: int) -> Any:
        return (sum(s.rows_of) - s.rows_of[k], s.rows_of[0] * (k == 0))

    def better(self, a: Any, b: Any) -> bool:
        return bool(a != b and a[0] <= b[0] and a[1] >= b[1])


@final
@attrs.frozen
class WorstLeaf(ClassCounts):
    """The errors of the worst leaf; (+) is the maximum."""

    bounded: bool = False

    def leaf_cost(self, s: State, k: int) -> Any:
        return sum(s.rows_of) - s.rows_of[k]

    def combine(self, a: Any, b: Any) -> Any:
        return max(a, b)

    def subtract(self, a: Any, b: Any) -> Any:
        return a if self.bounded else None

    def lower_bound(self, s: State) -> Any:
        return 0 if self.bounded else None


@final
@attrs.frozen
class Discounted(ClassCounts):
    """Errors, and a price per row for a column, which is nothing below a column of the same parity."""

    def leaf_cost(self, s: State, k: int) -> Any:
        return 20 * (sum(s.rows_of) - s.rows_of[k])

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return rows * (split + 1 if all(column % 2 != split % 2 for column in path) else 0) + len(path)


@final
@attrs.frozen
class DiscountedFront(ClassCounts):
    """(errors, a price as in `Discounted`), a front: costs that depend on the path, in tuples."""

    order: ClassVar[str] = COMPONENTWISE

    def leaf_cost(self, s: State, k: int) -> Any:
        return (sum(s.rows_of) - s.rows_of[k], 0)

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return (0, Discounted().branching_cost(rows, path, split))


@final
@attrs.frozen
class LeftCountsMore(ClassCounts):
    """Errors, those in the first child three times: an operator that preserves order and does not commute."""

    def leaf_cost(self, s: State, k: int) -> Any:
        return sum(s.rows_of) - s.rows_of[k]

    def combine(self, a: Any, b: Any) -> Any:
        return 3 * a + b

    def subtract(self, a: Any, b: Any) -> Any:
        return Fraction(a - b) / 3

    def lower_bound(self, s: State) -> Any:
        return 0


@final
@attrs.frozen
class Priced(ClassCounts):
    """Errors, and the number of the column for every branching node on it; at most `most` altogether."""

    most: Any = 1000

    def leaf_cost(self, s: State, k: int) -> Any:
        return 3 * (sum(s.rows_of) - s.rows_of[k])

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return split

    def feasible(self, value: Any) -> bool:
        return bool(value <= self.most)

    def lower_bound(self, s: State) -> Any:
        return 0


@final
@attrs.frozen
class Lexicographic(ClassCounts):
    """(errors, branching nodes), the errors first: tuples, and one optimum."""

    def leaf_cost(self, s: State, k: int) -> Any:
        return (sum(s.rows_of) - s.rows_of[k], 0)

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return (0, 1)


@attrs.frozen
class Gini(ClassCounts):
    """Gini impurity times rows, in fractions: not a sum over rows, and splitting never costs."""

    superadditive: ClassVar[bool] = True

    def leaf_cost(self, s: State, k: int) -> Any:
        total = sum(s.rows_of)
        return total - Fraction(sum(Fraction(c) ** 2 for c in s.rows_of)) / total if total else 0


@final
@attrs.frozen
class Spread(GeneralTask):
    """(largest class number less the smallest, whether the first row has another class than the label), a front."""

    order: ClassVar[str] = COMPONENTWISE

    def rows_cost(self, data: Dataset, rows: Array, k: int) -> Any:
        y = data.class_numbers[rows]
        return (int(y.max() - y.min()), int(y[0] != k))


@final
@attrs.frozen
class Mixed(Limit):
    """Leaves have rows of class 0."""

    def allows(self, s: State) -> bool:
        return bool(s.rows_of[0] > 0)


def random_data(n_rows: int, n_columns: int, seed: int = 0, n_classes: int = 2) -> Dataset:
    rng = np.random.default_rng(seed)
    return Dataset.make(rng.integers(0, 2, (n_rows, n_columns)), rng.integers(0, n_classes, n_rows))
