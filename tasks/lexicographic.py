"""Lexicographic: as few misclassified rows as possible, and of all such trees one with the fewest branching nodes.

    minimise (sum over rows (x, y) of [tree(x) != y], branching nodes), the first entry before the second

Separable: with M above any number of branching nodes, pairs are ordered as the numbers M * errors + nodes, which is a
sum over rows and nodes (STreeD, Eq. 4).

>>> import streed
>>> from streed.tasks import Lexicographic
>>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
>>> streed.solve(Lexicographic(), X, [0, 1, 0, 1]).value
(0, 1)
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs

from streed.algebra import add, scale
from streed.errors import InputError
from streed.task import Composition, State, Task
from streed.tasks.accuracy import Misclassifications
from streed.tasks.sparsity import Splits

if TYPE_CHECKING:
    from streed.data import Dataset


@final
@attrs.frozen
class Lexicographic(Composition):
    """(Misclassified rows, branching nodes), the first before the second; row weights must be whole numbers."""

    takes_weights: ClassVar[bool] = True

    def compose(self, data: Dataset) -> Task:
        if data.weights is not None and data.weights.dtype.kind == "f" and (data.weights % 1).any():
            raise InputError("sample_weight", "a weight is not whole", "multiply all of them by a common factor")
        # n rows separate into n leaves at most, below n - 1 branching nodes.
        return add(scale(data.size, Misclassifications()), Splits())

    def score(self, value: Any, totals: State) -> tuple[int, int]:
        errors, nodes = divmod(Fraction(value), totals.rows)
        return int(errors), int(nodes)
