"""Compiling in less time: native code is optimised once, in what is called from outside, and looked at less often.

By itself, numba optimises every native function, makes machine code of it, and does both again in each function that
calls it. Here, the libraries of functions that only other native functions call wait as they are; what is called from
outside links all of them at once, where they are optimised together. It has the same results and is kept in the same
files. Python's collector of garbage rests meanwhile: a compiler makes millions of objects, hardly any of them garbage.

Numba looks for much in a function that those of the engine do not have: each of its passes lists all variables again.
`QuickCompiler` leaves such passes out.

Linking is numba's inner affair. The library below is therefore used only with the versions of numba that it was tested
with, only for what streed compiles, and whenever it fails, numba links by itself, which is said once.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import secrets
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numba
from llvmlite import binding
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen, RuntimeLinker
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager
from numba.core.environment import lookup_environment
from numba.core.registry import cpu_target
from numba.core.typed_passes import InlineOverloads, NopythonRewrites, NoPythonSupportedFeatureValidation
from numba.core.types.functions import BaseFunction
from numba.core.untyped_passes import InlineClosureLikes, WithLifting

from streed.kernels.compilation import say_once

T = TypeVar("T")

TESTED = ((0, 68),)
"""The versions of numba whose linking is known."""

_ENVIRONMENT = "_ZN08NumbaEnv"
"""What the names of numba's environments begin with: variables that hold the constants of a function in Python."""


_NEEDLESS = WithLifting, InlineClosureLikes, InlineOverloads, NopythonRewrites, NoPythonSupportedFeatureValidation
"""They look for blocks of `with`, functions within functions, functions to be inlined by their source, operations of
whole arrays that could share a loop, and generators."""


class QuickCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler without passes that find nothing in the engine's own code."""

    def define_pipelines(self) -> list[PassManager]:
        """The passes."""
        quick = PassManager("quick")
        for each, purpose in DefaultPassBuilder.define_nopython_pipeline(self.state).passes:
            if each not in _NEEDLESS:
                quick.add_pass(each, purpose)
        quick.finalize()
        return [quick]


def soon(compile_it: Callable[..., T]) -> Callable[..., T]:
    """The function, which compiles something, in less time."""

    @functools.wraps(compile_it)
    def compile_soon(*arguments: object) -> T:
        # The lock is numba's own, of all that is compiled in this process: nobody else's code meets what is set here.
        with global_compiler_lock, _without_collector(), _linked_late():
            return compile_it(*arguments)

    return compile_soon


@contextlib.contextmanager
def _without_collector() -> Iterator[None]:
    """Switches the collector off, and on again if it was on."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextlib.contextmanager
def _linked_late() -> Iterator[None]:
    """Lets numba make libraries that are linked late, if its version is known."""
    codegen = cpu_target.target_context.codegen()
    is_known = numba.version_info.short in TESTED and isinstance(codegen, JITCPUCodegen)
    if not is_known or codegen._library_class is not JITCodeLibrary:  # the last: it is late already, or another's
        yield
        return
    call_type = BaseFunction.get_call_type
    try:
        BaseFunction.get_call_type = _asked_once(call_type)  # type: ignore[method-assign]
        codegen._library_class = LateLibrary
        codegen.set_env = functools.partial(set_environment, codegen)
        yield
    finally:
        BaseFunction.get_call_type = call_type  # type: ignore[method-assign]
        # attributes of this object, which hid those of its class
        vars(codegen).pop("_library_class", None)
        vars(codegen).pop("set_env", None)


def _asked_once(call_type: Callable[..., Any]) -> Callable[..., Any]:
    """The method, which asks dozens of templates for the type of every single `+`, with its answers remembered."""
    known: dict[tuple[int, Any], tuple[Any, Any]] = {}

    def get_call_type(function: Any, context: Any, arguments: Any, keywords: Any) -> Any:
        if keywords:
            return call_type(function, context, arguments, keywords)
        key = id(function), arguments
        if key not in known:
            known[key] = function, call_type(function, context, arguments, keywords)  # keeps the function, for its id
        return known[key][1]

    return get_call_type


class LateLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a function, which is linked and optimised when its address is asked for."""

    _linking_libraries: list[Any]
    _final_module: Any

    def add_linking_library(self, library: Any) -> None:
        """Notes a library that this one needs; numba would optimise it now."""
        if not isinstance(library, LateLibrary):
            library._ensure_finalized()
        self._linking_libraries.append(library)

    def get_pointer_to_function(self, name: str) -> int:
        """The address of a function; 0 if it is not in this library, which then may wait."""
        if not self._finalized and name not in _defined(self._final_module) and not self._is_recursive():
            return 0
        address: int = super().get_pointer_to_function(name)
        return address

    def finalize(self) -> None:
        """Links what this library needs, optimises all of it and makes machine code."""
        try:
            merged = self._merged()
        except Exception as error:  # noqa: BLE001 - whatever another numba has changed
            say_once("linking", f"compiled code is linked as numba does, which takes longer ({error})")
        else:
            self._final_module, self._linking_libraries = merged, []
        super().finalize()
        for variable in self._final_module.global_variables:
            environment = lookup_environment(variable.name) if variable.name.startswith(_ENVIRONMENT) else None
            if environment is not None:
                JITCPUCodegen.set_env(self._codegen, variable.name, environment)

    def _optimize_functions(self, ll_module: Any) -> None:
        """Optimises each function whose code is in a module; numba makes all passes anew, for declarations, too."""
        ll_module.data_layout = self._codegen._data_layout
        passes, builder = self._codegen._function_pass_manager()
        for function in ll_module.functions:
            if not function.is_declaration:
                passes.run(function, builder)

    def _optimize_final_module(self) -> None:
        """Optimises; then gives what can be called from here only a name that nobody else has.

        LLVM changes how such functions are called, drops arguments for one, and yet finds them by their names for code
        of other libraries: with the name that numba gave it, the changed one was called as if it were the whole one.
        """
        super()._optimize_final_module()
        mark = secrets.token_hex(8)
        for function in list(self._final_module.functions):
            if not function.is_declaration and function.linkage == binding.Linkage.internal:
                function.name = f"{function.name}.{mark}"

    def _merged(self) -> Any:
        """The code of this library and of all that it needs; what is another's can be called from here only."""
        let_meet(self._final_module)
        merged = self._final_module.clone()
        own = _defined(merged)
        needed, seen = list(self._linking_libraries), {id(self)}
        for library in needed:  # which grows
            if id(library) in seen:
                continue
            seen.add(id(library))
            self._reload_init.update(library._reload_init)
            if library._finalized:
                merged.link_in(library._get_module_for_linking(), preserve=True)
            else:
                let_meet(library._final_module)
                merged.link_in(library._final_module, preserve=True)
                needed += library._linking_libraries
        for function in merged.functions:
            if not function.is_declaration and function.name not in own and function.linkage in _VISIBLE:
                function.linkage = "internal"
        merged.verify()
        return merged

    def _is_recursive(self) -> bool:
        """Whether it is one of several functions that call each other, which numba links through their addresses."""
        if any(variable.name.startswith(RuntimeLinker.PREFIX) for variable in self._final_module.global_variables):
            return True
        return not _defined(self._final_module).isdisjoint(self._codegen._rtlinker._unresolved)


_VISIBLE = (binding.Linkage.external, binding.Linkage.linkonce_odr)


_SHARED = "__excinfo_unwrap_args"
"""How functions begin that numba adds to every library with messages that are made while code runs, alike by name."""


def let_meet(module: Any) -> None:
    """Lets the functions that several libraries have be linked as one."""
    for function in module.functions:
        if function.name.startswith(_SHARED) and not function.is_declaration:
            function.linkage = "linkonce_odr"


def _defined(module: Any) -> set[str]:
    """The names of the functions whose code is in a module."""
    return {function.name for function in module.functions if not function.is_declaration}


def set_environment(codegen: Any, name: str, environment: Any) -> None:
    """Sets an environment's variable, unless it waits with its library, which sets it in `finalize`."""
    if codegen._engine.is_symbol_defined(name):
        JITCPUCodegen.set_env(codegen, name, environment)
