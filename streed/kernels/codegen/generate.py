"""The kernels of a task: the text that is compiled for it, once per spec of task and body of its methods.

The text is written for the task's statistics, one array each, with its labels unrolled and its methods inlined, which
makes it as quick as one written by hand. Its module is named by a fingerprint of the text and of all that the methods
depend on, so the cache finds its code in later processes and never finds an old one.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from streed.kernels.codegen.capture import fingerprint, stands_alone
from streed.kernels.codegen.compiling import Compiler
from streed.kernels.codegen.origin import is_of_package
from streed.kernels.codegen.render import render
from streed.kernels.codegen.spec import KernelSpec

_UNITS = ("score", "combine_values", "subtract_values", "find_floors", "score_thresholds", "find_stump_of_thresholds")


@attrs.frozen(eq=False)
class Kernels:
    """A task's native kernels; their code lasts as long as this does."""

    units: Mapping[str, Any]
    """What is called by its address, by name."""
    costs_of: Any
    """(numbers, planes (m, S), rows (m,), found (m, K)): writes native costs of leaves; compiled when first called."""

    def address(self, unit: str) -> int:
        """That of a kernel; zero for one that the task does not need."""
        return self.units[unit].address if unit in self.units else 0


def compile_kernels(spec: KernelSpec, functions: Mapping[str, Callable[..., Any]], ordered: bool) -> Kernels:
    """The kernels for a spec and the methods by name, for the search over thresholds or for any other.

    "leaf_cost0", "branching_cost0" and "lower_bound0" are those of the first term, and so on; "combine", "subtract" and
    "feasible" are the task's; "allows0" is that of its first limit.
    """
    meanings = [_meaning(function) for function in functions.values()]
    if None in meanings:
        return _compiled(spec, functions, ordered)
    known = spec, ordered, *functions, *meanings
    if known not in _unchanging:
        _unchanging[known] = _compiled(spec, functions, ordered)
    return _unchanging[known]


_kept: dict[str, Kernels] = {}
"""By fingerprint, all that this process compiled or loaded."""

_unchanging: dict[Any, Kernels] = {}
"""The same by spec and methods: those that came with the package, and those of which all is said by their code."""


def _meaning(function: Any) -> Any:
    """What says all that a method depends on, without a look at it; None where that takes its fingerprint."""
    if is_of_package(function.__code__):
        return function
    return function.__code__ if stands_alone(function) else None


def _compiled(spec: KernelSpec, functions: Mapping[str, Callable[..., Any]], ordered: bool) -> Kernels:
    text, hash_of_text = _render(spec, ordered)
    name = fingerprint({"text": hash_of_text, **functions})
    if name not in _kept:
        compiler = Compiler(name, text, functions)
        units = {unit: compiler.unit(unit) for unit in _UNITS if f"\ndef {unit}(" in text}
        _kept[name] = Kernels(units, compiler.entry("find_costs_of_labels"))
    return _kept[name]


@functools.cache
def _render(spec: KernelSpec, ordered: bool) -> tuple[str, str]:
    """The text, and a hash of it."""
    text = render(spec, ordered)
    return text, hashlib.sha256(text.encode()).hexdigest()
