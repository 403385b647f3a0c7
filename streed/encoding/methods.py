"""What of a task becomes native code: its methods, those of its limits, and the numbers that they read."""

from __future__ import annotations

import functools
import itertools
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import attrs
import numpy as np

from streed.encoding.statistics import Places
from streed.encoding.terms import ScoredTerm, functions_of, place_limit
from streed.exact import Array
from streed.kernels.codegen import capture
from streed.kernels.codegen.spec import TermSpec
from streed.task import Limit, Task
from streed.task.analysis.facts import written_terms

Read = tuple[tuple[str, str], ...]


@attrs.frozen(eq=False)
class CompiledMethods:
    """The terms and limits of a task, what of them is compiled, and what that reads."""

    terms: list[ScoredTerm]
    limits: list[tuple[Limit, int]]
    """Each limit on leaves that is not only on rows, and the number of the term whose statistics it is on."""
    functions: dict[str, Callable[..., Any]]
    """All that is compiled, by name."""
    members: tuple[str, ...]
    """The optional methods that the text takes notice of."""
    read: list[Any]
    """What the methods of each term read from `self`,"""
    read_by_limits: list[Any]
    """and those of each limit."""

    @classmethod
    def of(cls, task: Task) -> CompiledMethods:
        """Of a bound task, limits and all."""
        terms = list(itertools.starmap(ScoredTerm.of, written_terms(task)))
        functions, members = functions_of(terms)
        limits = [place_limit(limit, terms) for limit in task.limits if limit.support is None]
        functions |= {f"allows{i}": type(limit).allows for i, (limit, _) in enumerate(limits)}
        read = [capture.numbers_of(term.task, term.functions) for term in terms]
        read_by_limits = [capture.numbers_of(limit, {"allows": type(limit).allows}) for limit, _ in limits]
        return cls(terms, limits, functions, members, read, read_by_limits)

    def in_units(self, unit: Fraction) -> CompiledMethods:
        """The same for costs in multiples of the unit."""
        return self if unit == 1 else attrs.evolve(self, terms=[each.in_units(unit) for each in self.terms])

    @property
    def combines(self) -> bool:
        """Whether values are combined by an operator of the task's own."""
        return "combine" in self.functions

    @property
    def calls(self) -> bool:
        """Whether branching costs are asked of the task, split by split."""
        return any(term.called for term in self.terms)

    @property
    def by_path(self) -> bool:
        """Whether branching costs depend on the columns tested above."""
        return any(term.by_path for term in self.terms)

    @functools.cached_property
    def reads_weight(self) -> bool:
        """Whether a method may ask what the rows of a state weigh together."""
        return any(capture.mentions(function, "weight") for function in self.functions.values())

    def term_shapes(self, places: Places) -> tuple[TermSpec, ...]:
        """What the text depends on of each term; `places`: the planes of the statistics."""
        pairs, weighs = zip(self.terms, self.read, strict=True), self.reads_weight
        return tuple(term.shape(places, _kinds(numbers), weighs) for term, numbers in pairs)

    def limit_shapes(self) -> tuple[tuple[int, Read], ...]:
        """What the text depends on of each limit."""
        pairs = zip(self.limits, self.read_by_limits, strict=True)
        return tuple((place, _kinds(numbers)) for (_, place), numbers in pairs)

    def words(self, scale: float, per_unit: float | None) -> tuple[Array, tuple[Any, ...]]:
        """(int64 words, arrays to keep) of all that is read: the scale, then the numbers of terms and of limits.

        `per_unit` comes last: what sums are divided by; None where they are as methods see them.
        """
        words: list[Any] = [scale]
        kept: list[Any] = []
        weights = [[float(term.weight)] for term in self.terms] + [[] for _ in self.limits]
        for numbers, weight in zip([*self.read, *self.read_by_limits], weights, strict=True):
            for number in numbers:
                if number.kind in ("int", "real"):
                    words.append(number.value)
                else:
                    kept.append(number.value)
                    words += [int(number.value.__array_interface__["data"][0]), *number.value.shape]
            words += weight
        words += [] if per_unit is None else [per_unit]
        bits = [struct.unpack("<q", struct.pack("<d", x))[0] if isinstance(x, float) else x for x in words]
        return np.array(bits, np.int64), tuple(kept)


def _kinds(read: Any) -> Read:
    return tuple((number.name, number.kind) for number in read)
