"""What a law is: a name, its number in the paper, a sentence, and how to try it on a case."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from streed.testing.cases import Case


@attrs.frozen
class Law:
    """Something that holds for every separable task, or for every task that declares a certain fact."""

    name: str
    source: str
    """Where it is from: STreeD's number, or the contract of `streed.Task`."""
    says: str
    check: Callable[[Case], bool]
    """Draws what it needs, raises `Violation` where the law does not hold, and returns whether it was concerned."""
    unconcerned: str = "no data was drawn that the law is about"
    """Why the law says nothing about a task that it was never concerned with."""
    prepare: Callable[[], None] | None = None
    """Called once before the clock runs, such as to compile."""
    effort: float = 1
    """How many times as many data sets to try as of other laws."""
    max_rows: int | None = None
    """Most rows of a data set, where trees are enumerated."""
    needs_engine: bool = False
    """Whether it compiles."""
    after_all: bool = False
    """Whether it follows from the others, and is tried only on tasks that keep those."""


def law(name: str, source: str, *, sides: int = 0, **given: Any) -> Callable[[Callable[..., bool]], Law]:
    """The law that a function checks, which says what its docstring does.

    `sides`: it is about so many disjoint sets of rows, which it is given beside the case.
    """

    def made(check: Callable[..., bool]) -> Law:
        @functools.wraps(check)
        def on_sides(case: Case) -> bool:
            found = case.sides(sides)
            return found is not None and check(case, found)

        return Law(name, source, check.__doc__ or "", on_sides if sides else check, **given)

    return made
