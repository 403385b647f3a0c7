"""The kernels of a task: compiled for it, once per spec of task and body of its methods.

The functions of `leaves.py` and of `score.py` or `thresholds.py` are made anew for it, with the task's methods inlined,
its labels unrolled and a tuple of sums in place of a loop over its statistics: as quick as a kernel that is written by
hand. The module that they are made in is named by a fingerprint of all that the methods depend on, so the cache finds
its code in later processes and never finds an old one.

Numba makes machine code of them, and of copies of the task's methods: all that they call is compiled as well.
"""

from __future__ import annotations

import builtins
import importlib.util
import math
import numbers
import sys
import types
from collections import namedtuple
from collections.abc import Callable, Collection, Mapping
from typing import Any

import attrs
from numba import float64, int32, int64, njit

from streed.errors import TaskError
from streed.kernels import coding, records
from streed.kernels.codegen.capture import (
    Function,
    attributes_of,
    dependencies,
    fingerprint,
    global_names,
    module_parts,
)
from streed.kernels.codegen.generators import STAND_INS, without_generators
from streed.kernels.codegen.spec import KernelSpec, render
from streed.kernels.compiled import entry, unit
from streed.kernels.views import KERNEL, inline, matrix, vector

_inline = njit(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model="numpy")
"""For what only generated kernels call."""


class _Copies:
    """Copies of functions for numba, one of each, in the module of a name; helper functions are compiled as well."""

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


@attrs.frozen(eq=False)
class Kernels:
    """A task's native kernels; their code lasts as long as this does."""

    units: Mapping[str, Any]
    """What is called by its address, by name."""
    costs_of: Any
    """(numbers, sums (m, P), found (m, K)): writes native costs of leaves; compiled when first called."""

    def address(self, unit: str) -> int:
        """That of a kernel; zero for one that the task does not need."""
        return self.units[unit].address if unit in self.units else 0


def compile_kernels(spec: KernelSpec, functions: Mapping[str, Callable[..., Any]], ordered: bool) -> Kernels:
    """The kernels for a spec and the methods by name, for the search over thresholds or for any other.

    "leaf_cost0", "branching_cost0" and "lower_bound0" are those of the first term, and so on; "combine", "subtract" and
    "feasible" are the task's; "allows0" is that of its first limit.
    """
    name = fingerprint({"spec": repr((spec, ordered)), **functions})
    if name not in _kept:
        made = vars(_module(f"streed_kernels_{name}", spec, functions, "thresholds" if ordered else "score"))
        names = ["score_thresholds", "find_stump_of_thresholds"] if ordered else ["score"]
        names += ["combine_values"] if "combine" in spec.members else []
        names += ["subtract_values"] if "subtract" in spec.members else []
        names += ["find_floors"] if spec.floors else []
        units = {each: unit(KERNEL, error_model="numpy")(made[each]) for each in names}
        _kept[name] = Kernels(units, entry(made["find_costs_of_labels"], error_model="numpy"))
    return _kept[name]


_kept: dict[str, Kernels] = {}
"""By fingerprint, all that this process compiled or loaded."""


def _module(name: str, spec: KernelSpec, functions: Mapping[str, Callable[..., Any]], kind: str) -> types.ModuleType:
    """The module of a task's kernels, none of them compiled yet."""
    task = types.ModuleType(name)
    sys.modules[name] = task  # where cached code looks for what it names
    for part in ("leaves", kind):
        source: Any = importlib.util.find_spec(f"streed.kernels.codegen.{part}")
        exec(source.loader.get_code(source.name), vars(task))
    vars(task).update(_NAMES, **_traits(spec), task=task)
    copies = _Copies(name)
    vars(task).update({key: copies.copy(function) for key, function in functions.items()})
    exec(compile(render(spec), f"<{name}>", "exec"), vars(task))
    return task


def _traits(spec: KernelSpec) -> dict[str, Any]:
    """What kernels are told of the task."""
    encode, decode = coding.CODINGS[spec.coding]
    lanes = {"int32": int32, "int64": int64, "float64": float64}
    return {
        "VALUE": float64 if spec.real else int64,  # the type of costs
        "CHECKED": float64 if spec.real else coding.whole,  # what makes one of what a method returns,
        "UP": float64 if spec.real else coding.next_whole,  # and of a bound
        "SIGN": -1 if spec.larger else 1,
        "INFEASIBLE": math.inf if spec.real else coding.INFEASIBLE,
        "encode": encode,
        "decode": decode,
        "LANE": lanes[spec.lane],  # of pair sums
        "TOTAL": float64 if spec.lane == "float64" else int64,
        "PLANES": spec.planes,
        "PADDED": -(-spec.planes // records.FOUR) * records.FOUR,
        "WHOLE": not spec.real,
        "COSTS": spec.table or spec.called,  # whether splits have costs,
        "TABLE": spec.table and not spec.called,  # all of them in a table,
        "CALLED": spec.called,  # or the task is asked,
        "BOTH": spec.table and spec.called,  # and what it says added to the table's
        "LIMITED": bool(spec.limits),
        "FEASIBLE": "feasible" in spec.members,
        "COMBINE": "combine" in spec.members,
        "BOUND": "lower_bound" in spec.members,
        "FLOORS": spec.floors,
        "MULTIWAY": spec.multiway,
    }


_NAMES = {
    "namedtuple": namedtuple,
    "inline": inline,
    "vector": vector,
    "matrix": matrix,
    "real_of": coding.real_of,
    "int64": int64,
    "float64": float64,
}
"""What the text may name."""
