"""Copies of a task's methods that numba compiles: all that they call is compiled as well."""

from __future__ import annotations

import builtins
import numbers
import types
from collections.abc import Callable, Collection
from typing import Any

from numba import njit

from streed.errors import TaskError
from streed.kernels.codegen.capture import Function, attributes_of, dependencies, global_names, module_parts
from streed.kernels.codegen.generators import without_generators
from streed.kernels.codegen.mathematics import STAND_INS

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
