"""The kernels of a task: the text that is compiled for it, once per spec of task and body of its methods.

The text is written for the task's statistics, one array each, with its labels unrolled and its methods inlined, which
makes it as quick as one written by hand. Its module is named by a fingerprint of the text and of all that the methods
depend on, so the cache finds its code in later processes and never finds an old one. Those of tasks that come with the
package may be in the prebuilt library (`shipped.py`).
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from streed.kernels.codegen.capture import fingerprint, stands_alone
from streed.kernels.codegen.origin import is_of_package
from streed.kernels.codegen.render import render
from streed.kernels.codegen.shipped import name_of_shipped
from streed.kernels.codegen.spec import KernelSpec
from streed.kernels.linking import Native
from streed.kernels.prebuilt.library import Library, library

Functions = Mapping[str, Callable[..., Any]]

COSTS_OF = "find_costs_of_labels"
"""What writes native costs of leaves."""

_OF_QUESTIONS = ("score", "combine_values", "subtract_values", "find_floors")
_OF_THRESHOLDS = ("score_thresholds", "find_stump_of_thresholds")


@attrs.frozen(eq=False)
class Text:
    """What is compiled for a task."""

    spec: KernelSpec
    ordered: bool
    """Whether it is for the search over thresholds."""
    functions: Functions
    """The methods, by name."""

    @property
    def source(self) -> str:
        """The text itself."""
        return _render(self.spec, self.ordered)[0]

    @property
    def _parts(self) -> dict[str, Any]:
        return {"text": _render(self.spec, self.ordered)[1], **self.functions}

    @functools.cached_property
    def fingerprint(self) -> str:
        """Of all that its machine code depends on."""
        return fingerprint(self._parts)

    @functools.cached_property
    def shipped(self) -> str | None:
        """Its name in libraries; None with methods that did not come with the package."""
        return name_of_shipped(self._parts)

    @property
    def kernels(self) -> list[str]:
        """The kernels that it has."""
        kernels = _OF_THRESHOLDS if self.ordered else _OF_QUESTIONS
        return [kernel for kernel in kernels if f"\ndef {kernel}(" in self.source]

    @property
    def costs_signature(self) -> str:
        """Of the function that writes costs of leaves, as numba reads it."""
        sums = "float64" if self.spec.lane == "float64" else "int64"
        costs = "float64" if self.spec.real else "int64"
        return f"(int64[::1], {sums}[:, ::1], {sums}[::1], {costs}[:, ::1])"


@attrs.frozen(eq=False)
class Kernels:
    """Addresses of a task's native kernels; zero for those that it does not need."""

    text: Text
    compiled: Mapping[str, Any]
    """The kernels that were compiled in this process, by name; that they are here holds them in memory."""
    costs_of: Native
    """(numbers, planes (m, S), rows (m,), found (m, K)): writes native costs of leaves; compiled when first called."""
    score: int
    combine: int
    subtract: int
    floor: int


@attrs.frozen(eq=False)
class ThresholdKernels:
    """The native kernels of a task in the search over thresholds."""

    text: Text
    compiled: Mapping[str, Any]
    """As that of `Kernels`,"""
    costs_of: Native
    """and this."""
    score: int
    stump: int


def compile_kernels(spec: KernelSpec, functions: Functions) -> Kernels:
    """The kernels for a spec and the methods by name.

    "leaf_cost0", "branching_cost0" and "lower_bound0" are those of the first term, and so on; "combine", "subtract" and
    "feasible" are the task's; "allows0" is that of its first limit.
    """
    made: Kernels = _made(Text(spec, False, functions), Kernels, _OF_QUESTIONS)
    return made


def compile_threshold_kernels(spec: KernelSpec, functions: Functions) -> ThresholdKernels:
    """Those of a task whose values are added, with nothing but sums in its methods; see `compile_kernels`."""
    made: ThresholdKernels = _made(Text(spec, True, functions), ThresholdKernels, _OF_THRESHOLDS)
    return made


def all_made() -> list[Kernels | ThresholdKernels]:
    """All kernels of this process."""
    return list(_kept.values())


_kept: dict[str, Any] = {}
"""By fingerprint, all that this process compiled or loaded."""

_unchanging: dict[Any, Any] = {}
"""The same by spec and methods: those that came with the package, and those of which all is said by their code."""


def _made(text: Text, kind: Callable[..., Any], kernels: tuple[str, ...]) -> Any:
    """The kernels of a text, from the library, else compiled."""
    meanings = [_meaning(function) for function in text.functions.values()]
    if None in meanings:
        return _made_of(text, kind, kernels)
    known = text.spec, text.ordered, *text.functions, *meanings
    if known not in _unchanging:
        _unchanging[known] = _made_of(text, kind, kernels)
    return _unchanging[known]


def _meaning(function: Any) -> Any:
    """What says all that a method depends on, without a look at it; None where that takes its fingerprint."""
    if is_of_package(function.__code__):
        return function
    return function.__code__ if stands_alone(function) else None


def _made_of(text: Text, kind: Callable[..., Any], kernels: tuple[str, ...]) -> Any:
    """The kernels of a text that was not met before, as far as is known without its fingerprint."""
    if text.fingerprint not in _kept:
        compiler = functools.cache(lambda: _compiler(text))
        compiled: dict[str, Any] = {}
        addresses = _prebuilt(text, library())
        if addresses is None:
            compiled = {kernel: compiler().unit(kernel) for kernel in text.kernels}
            addresses = {kernel: made.address for kernel, made in compiled.items()}
        costs_of = Native(native_name(text.shipped, COSTS_OF), lambda: compiler().entry(COSTS_OF))
        _kept[text.fingerprint] = kind(text, compiled, costs_of, *(addresses.get(kernel, 0) for kernel in kernels))
    return _kept[text.fingerprint]


def _prebuilt(text: Text, found: Library | None) -> dict[str, int] | None:
    """The addresses of all kernels in the library; None if some are not there."""
    if found is None or text.shipped is None:
        return None
    addresses = {kernel: found.unit(native_name(text.shipped, kernel)) for kernel in text.kernels}
    known = {kernel: address for kernel, address in addresses.items() if address is not None}
    return known if len(known) == len(addresses) else None


def _compiler(text: Text) -> Any:
    from streed.kernels.codegen.compiling import Compiler

    return Compiler(text.fingerprint, text.source, text.functions)


def native_name(shipped: str | None, function: str) -> str:
    """What a function of a text is found by in a library."""
    return f"generated:{shipped}:{function}"


@functools.cache
def _render(spec: KernelSpec, ordered: bool) -> tuple[str, str]:
    """The text, and a hash of it."""
    text = render(spec, ordered)
    return text, hashlib.sha256(text.encode()).hexdigest()
