"""What a packed problem's whole numbers mean, and what a tree that the engine found is worth.

The engine searches over int64 codes; a `Measure` packs a problem into them, gives codes back as the task's values, and
measures trees again from the raw data.
"""

from __future__ import annotations

import abc
from typing import Any

from streed.exact import Array
from streed.kernels.packed import PackedProblem
from streed.problem import Problem, Solution


class Measure(abc.ABC):
    """A problem as the engine reads it, and the way back."""

    packed: PackedProblem
    unit: Any = 1
    """What a leaf's cost of 1 is worth."""
    exact: bool
    """Whether no input was rounded."""
    route: str
    """What the user is told: the kind of kernels."""

    @abc.abstractmethod
    def value(self, code: int) -> Any:
        """The value, in the bound task's units, of a code."""

    @abc.abstractmethod
    def solution(
        self, problem: Problem, preorder: Array, code: int, lower: int, complete: bool
    ) -> tuple[Solution, bool]:
        """(the tree with its value, whether it is worth the code), measured from the raw data.

        `lower` is the bound that was proved. Raises MismatchError if the value is not that of the code; a tree that is
        not `complete`, because parts of it were forgotten or the search was stopped, may be worse.
        """

    def coarser(self) -> Measure | None:
        """The same with codes for a wider range of values, or None if there is none."""
        return None


class TooCoarse(Exception):
    """Raised by `Measure.solution`: codes for a narrower range of values tell the value, these do not."""

    def __init__(self, finer: Measure) -> None:
        super().__init__()
        self.finer = finer
