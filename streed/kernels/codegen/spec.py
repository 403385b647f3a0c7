"""What the text of a task's kernels depends on, besides the bodies of its methods.

Code of the package never changes while a process runs, whatever it names; that of users may.
"""

from __future__ import annotations

import functools
import types
from pathlib import Path

import attrs

ROWS = -1
"""In place of the plane of a statistic that is 1 for every row: the plane of rows."""


@attrs.frozen
class TermSpec:
    """What the text depends on of one of the terms whose weighted costs add up to the task's."""

    statistics: tuple[tuple[str, tuple[int, ...], bool], ...]
    """Name, planes, and whether it has several entries per row."""
    numbers: tuple[tuple[str, str], ...]
    """Name and kind of what the methods read from `self`."""
    weighted: bool
    """Whether its weight is anything but 1 or 0."""
    costs: bool
    """Whether its weight is not 0: a limit's term has statistics only."""
    any_label: bool
    called: bool
    """Whether its branching costs depend on more than the split: its method is called for each."""
    bounded: bool
    """Whether it has a lower bound of its own; else, if the task has one, it is 0."""


@attrs.frozen
class KernelSpec:
    """What the text of the kernels depends on, besides the bodies of the task's methods."""

    terms: tuple[TermSpec, ...]
    inputs: int
    """Planes of statistics."""
    labels: int
    lane: str
    """The type of pair sums."""
    real: bool
    """Whether costs are float64; else they are int64."""
    coding: str
    larger: bool
    """Whether larger values are better."""
    limits: tuple[tuple[int, tuple[tuple[str, str], ...]], ...]
    """Of each limit on leaves, the term whose statistics it is on and the numbers that it reads."""
    table: bool
    """Whether there are branching costs that depend on the split only."""
    members: tuple[str, ...]
    """The optional methods that the task has; of several terms, only lower bounds."""
    multiway: bool
    """Whether there are categorical columns."""
    floors: bool
    """Whether rows have lower bounds that add up."""
    counts: bool = False
    """Whether methods ask for whole numbers, as an index does: sums in float64 are given to them as int64 then."""
    scaled: bool = False
    """Whether sums are whole numbers of a unit, by which they are divided before methods see them."""
    wide: bool = False
    """Whether methods compute with whole numbers beyond int64: they are given sums as float64 then."""

    @property
    def planes(self) -> int:
        """Planes of pair sums: the statistics and rows."""
        return self.inputs + 1

    @property
    def called(self) -> bool:
        """Whether branching costs are asked of a term, split by split."""
        return any(term.called for term in self.terms)


_PACKAGE = Path(__file__).parents[2]

FOLDERS = tuple(f"{folder}/" for folder in {_PACKAGE, _PACKAGE.resolve(), (_PACKAGE / "tasks").resolve()})
"""Where the package's code may say that it is from."""


@functools.lru_cache(maxsize=4096)
def is_of_package(code: types.CodeType) -> bool:
    """Whether the code of a function came with the package."""
    return code.co_filename.startswith(FOLDERS)
