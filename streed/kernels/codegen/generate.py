"""The kernels of a task: the text that is compiled for it, once per spec of task and body of its methods.

The text is written for the task's statistics, one array each, with its labels unrolled and its methods inlined, which
makes it as quick as one written by hand. Its module is named by a fingerprint of the text and of all that the methods
depend on, so the cache finds its code in later processes and never finds an old one.

Numba makes machine code of the text, and of copies of the task's methods: all that they call is compiled as well.
"""

from __future__ import annotations

import builtins
import functools
import hashlib
import math
import numbers
import sys
import types
from collections import namedtuple
from collections.abc import Callable, Collection, Mapping
from typing import Any

import attrs
import numpy as np
from numba import float64, int64, njit, uint8, uint32, uint64

from streed.errors import TaskError
from streed.kernels import coding, records, simd, values
from streed.kernels.codegen.capture import (
    Function,
    attributes_of,
    dependencies,
    fingerprint,
    global_names,
    module_parts,
    stands_alone,
)
from streed.kernels.codegen.generators import STAND_INS, without_generators
from streed.kernels.codegen.render import render
from streed.kernels.codegen.spec import KernelSpec, is_of_package
from streed.kernels.compiled import entry, unit
from streed.kernels.ordered import record
from streed.kernels.ordered.record import place_rows, record_at
from streed.kernels.scoring import generated
from streed.kernels.scoring.signed import lowest
from streed.kernels.views import KERNEL, engine_at, inline, keep_apart, matrix, native, vector

_inline = njit(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model="numpy")
"""For what only generated kernels call."""


def compilable(function: Callable[..., Any], module: str) -> Any:
    """The function for numba: a copy, in the module of that name, whose helper functions are compiled as well."""
    return _Copies(module).copy(function)


class _Copies:
    """Copies of functions, one of each."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._made: dict[int, Any] = {}
        self._kept: list[Any] = []
        """Functions by whose `id` others are known: those of helpers live no longer than their own."""

    def copy(self, function: Callable[..., Any]) -> Any:
        assert isinstance(function, Function)
        if id(function) in self._made:
            if self._made[id(function)] is None:
                code = function.__code__
                raise TaskError(
                    f"{function.__name__} calls itself, which cannot be compiled; write a loop\n"
                    f"  {code.co_filename}:{code.co_firstlineno}"
                )
            return self._made[id(function)]
        self._made[id(function)] = None
        self._kept.append(function)
        original, function = function, without_generators(function)
        code = function.__code__
        attributes = attributes_of(code)
        names = {name: self._value(value, attributes) for name, value in dependencies(function)}
        namespace = {name: names[name] for name in global_names(code) if name in function.__globals__}
        namespace |= {"__builtins__": builtins, "__name__": self._module}
        cells = tuple(types.CellType(names[name]) for name in code.co_freevars)
        made = Function(code, namespace, function.__name__, function.__defaults__, cells)
        made.__kwdefaults__ = function.__kwdefaults__
        self._made[id(original)] = _inline(made)
        return self._made[id(original)]

    def _value(self, value: Any, names: Collection[str]) -> Any:
        if id(value) in STAND_INS:
            return STAND_INS[id(value)]
        if isinstance(value, Function):
            return self.copy(value)
        if isinstance(value, types.ModuleType):
            parts = dict(module_parts(value, names))
            if not parts:
                return value
            shadow = types.ModuleType(value.__name__)
            vars(shadow).update({name: self._value(part, names) for name, part in parts.items()})
            return shadow
        return (
            float(value) if isinstance(value, numbers.Rational) and not isinstance(value, numbers.Integral) else value
        )


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


class Compiler:
    """Compiles functions of a text, which is a module of this name, as they are asked for."""

    def __init__(self, name: str, text: str, functions: Mapping[str, Callable[..., Any]]) -> None:
        module = types.ModuleType(f"streed_kernels_{name}")
        sys.modules[module.__name__] = module  # where cached code looks for what it names
        self._namespace = module.__dict__
        self._namespace.update(_NAMES)
        self._namespace.update({key: compilable(function, module.__name__) for key, function in functions.items()})
        exec(compile(text, f"<{module.__name__}>", "exec"), self._namespace)

    def unit(self, kernel: str) -> Any:
        """The kernel, which takes the address of a record."""
        return unit(KERNEL, error_model="numpy")(self._namespace[kernel])

    def entry(self, name: str) -> Any:
        """The function, which Python calls; compiled when first called."""
        return entry(self._namespace[name], error_model="numpy")


_NAMES = {
    "namedtuple": namedtuple,
    "np": np,
    "math": math,
    "njit": njit,
    "inline": inline,
    "native": native,
    "keep_apart": keep_apart,
    "lowest": lowest,
    "int64": int64,
    "float64": float64,
    "uint8": uint8,
    "uint32": uint32,
    "record_at": record_at,
    "place_rows": place_rows,
    "NEW": record.NEW,
    "ROW": record.ROW,
    "SPLITS": record.SPLITS,
    "NEVER": record.INFEASIBLE,
    "LARGEST_CODE": float(coding.LARGEST_CODE),
    "uint64": uint64,
    "matrix": matrix,
    "vector": vector,
    "engine_at": engine_at,
    "first_one": simd.first_one,
    "real_of": coding.real_of,
    "whole": coding.whole,
    "next_whole": coding.next_whole,
    "INFINITE": records.INFINITE,
    "INFEASIBLE": coding.INFEASIBLE,
    "LOWEST": records.LOWEST,
    "NO_COST": records.NO_COST,
    "RAISED": records.RAISED,
    "NONE": records.NONE,
    **{name: getattr(generated, name) for name in ("LEAF1", "LEAF0", "SPLIT1", "SPLIT0", "WITH1", "WITH0", "COST")},
    "ROWS_OF_COSTS": generated.ROWS_OF_COSTS,
    **{f"V_{name}": getattr(values, name) for name in ("KEY", "LEAF1", "LEAF0", "SPLIT1", "SPLIT0", "COST", "LEAST1")},
    "ROWS_OF_VALUES": values.ROWS_OF_VALUES,
    **{f"encode_{name}": pair[0] for name, pair in coding.CODINGS.items()},
    **{f"decode_{name}": pair[1] for name, pair in coding.CODINGS.items()},
}
"""What the text may name."""
