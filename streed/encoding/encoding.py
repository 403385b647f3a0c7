"""What a packed problem's whole numbers mean, and what a tree that the engine found is worth.

The search runs over int64 codes; an `Encoding` packs a problem into them, gives codes back as the task's values, and
measures trees again from the raw data.
"""

from __future__ import annotations

import abc
from typing import Any

from streed.exact import Array
from streed.kernels.packed import PackedProblem
from streed.kernels.records import INFINITE
from streed.problem import Problem, Solution
from streed.row_prices.prices import Leaves


class Encoding(abc.ABC):
    """A problem as the engine reads it, and the way back."""

    packed: PackedProblem
    unit: Any = 1
    """What a leaf's cost of 1 is worth."""
    exact: bool
    """Whether no number was rounded."""
    real: bool = False
    """As in `Outcome`."""
    size: Any = None
    """As in `Outcome`."""
    route: str
    """What the user is told: the kind of kernels."""

    @abc.abstractmethod
    def value(self, code: int) -> Any:
        """The value, in the bound task's units, of a code."""

    def bound(self, code: int) -> Any:
        """No tree whose code is proved to be this or more has a better value (default: the value of the code)."""
        return self.value(code)

    def target(self, value: Any) -> int:
        """A code that every tree of a better value than this is below (default: INFINITE, which all are)."""
        return INFINITE

    def rounding(self, preorder: Array, code: int) -> Any:
        """How far a tree's value may be from the `bound` of its code, if the search was complete (default: 0)."""
        return 0

    @abc.abstractmethod
    def solution(
        self, problem: Problem, preorder: Array, code: int, lower: int, complete: bool
    ) -> tuple[Solution, bool]:
        """(the tree with its value, whether it is worth the code), measured from the raw data.

        `lower` is the bound that was proved. Raises MismatchError if the value is not that of the code; a tree that is
        not `complete`, because parts of it were forgotten or the search was stopped, may be worse.
        """

    def leaves(self, problem: Problem) -> tuple[Leaves, Array] | None:
        """The leaves that trees may have, with the first place of each class of rows, for the bound of row prices.

        None (the default) where the bound does not hold: it needs costs per row and label, and a price per split.
        """
        return None

    def on_grid(self, scale: float) -> Encoding:
        """The same with codes for multiples of 1 / scale (default: itself, whose codes are on no grid)."""
        return self

    def less_precise(self) -> Encoding | None:
        """The same with codes for a wider range of values, or None if there is none."""
        return None


class TooImprecise(Exception):
    """Raised by `Encoding.solution`: codes for a narrower range of values tell the value, these do not."""

    def __init__(self, finer: Encoding) -> None:
        super().__init__()
        self.finer = finer
