"""From native functions to a library: compiled by numba, gathered in one module, and made an object by LLVM.

What is compiled here is compiled in this process, for the processor that NUMBA_CPU_NAME and NUMBA_CPU_FEATURES name:
nothing is taken from files of compiled code, whose inner names are only different within the process that wrote them.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llvmlite import binding
from numba.core.registry import cpu_target

from streed.kernels.codegen.generate import COSTS_OF, Kernels, ThresholdKernels, all_made, native_name
from streed.kernels.linking import entry_name, unit_name
from streed.kernels.places import fingerprint
from streed.kernels.prebuilt import container, levels
from streed.kernels.prebuilt.library import RELEASE
from streed.kernels.signatures import argument_types
from streed.prebuild.gathering import are_gathered, keep_parts, link_parts, only_gathered, optimized
from streed.prebuild.memory import runtime_modules
from streed.prebuild.parts import all_entries, all_units
from streed.prebuild.samples import solve_samples
from streed.prebuild.trampolines import entry_trampoline, release_function, unit_trampoline

_CFUNC = "cfunc."
"""What numba puts before a function's name for the name of its wrapper for C."""


class Emission:
    """A module that grows: native functions, each behind a trampoline with a symbol of its own."""

    def __init__(self) -> None:
        self._fingerprint = fingerprint()
        self._context = cpu_target.target_context
        self._codegen = self._context.codegen()
        self._trampolines = self._codegen._create_empty_module("streed_trampolines")
        self._libraries: list[Any] = []
        self._symbols = [RELEASE]
        self._units: dict[str, str] = {}
        self._entries: dict[str, tuple[container.Overload, ...]] = {}
        release_function(self._trampolines, RELEASE)

    def add_entry(self, name: str, dispatcher: Any, signatures: Sequence[tuple[Any, ...]]) -> None:
        """Adds an entry for these signatures, for which it was compiled; native code may have made others of it."""
        overloads = []
        for compiled in [dispatcher.overloads[signature] for signature in signatures]:
            symbol = self._symbol()
            overloads.append(entry_trampoline(self._trampolines, self._context, compiled, symbol))
            self._libraries.append(compiled.library)
        self._entries[name] = tuple(overloads)

    def add_unit(self, name: str, callback: Any) -> None:
        """Adds a work unit, which numba has compiled for being called from C."""
        native = callback._wrapper_name
        assert native.startswith(_CFUNC), native
        self._units[name] = self._symbol()
        unit_trampoline(self._trampolines, self._context, native.removeprefix(_CFUNC), self._units[name])
        self._libraries.append(callback._library)

    def write(self, path: Path, level: str, *, small: bool = False) -> None:
        """Makes the library of all that was added; a `small` one takes less space, and longer to load."""
        module = self._linked()
        imports = tuple(sorted(each.name for each in module.functions if _is_import(each)))
        missing = [each.name for each in module.global_variables if each.is_declaration]
        missing += [name for name in imports if name.startswith(("NRT_", "numba_", "Py", "_Z"))]
        if missing:
            raise LookupError(f"native code needs what only numba or Python has: {', '.join(missing)}")
        if fingerprint.__wrapped__() != self._fingerprint:
            raise RuntimeError("sources were edited while they were compiled; build the library again")
        contents = container.Contents(
            self._fingerprint, level, levels.this_platform(), imports, self._units, self._entries
        )
        container.write(path, contents, self._codegen._tm.emit_object(module), small=small)

    def _symbol(self) -> str:
        self._symbols.append(f"streed_{len(self._symbols)}")
        return self._symbols[-1]

    def _linked(self) -> Any:
        """The module of all functions; only the symbols can be seen from outside."""
        module = binding.parse_assembly(str(self._trampolines))
        link_parts(module, self._libraries)
        self._hide(module)
        if are_gathered(self._libraries):
            module = optimized(module)
        for part in runtime_modules(self._context):
            module.link_in(part)
        self._hide(module)
        module.verify()
        passes = binding.create_new_module_pass_manager()
        passes.add_global_dead_code_eliminate_pass()
        passes.add_constant_merge_pass()
        passes.add_merge_functions_pass()
        passes.add_global_dead_code_eliminate_pass()
        passes.add_strip_symbols_pass()
        passes.run(module, binding.create_pass_builder(self._codegen._tm, binding.create_pipeline_tuning_options()))
        return module

    def _hide(self, module: Any) -> None:
        """Leaves only the symbols to be seen from outside."""
        for function in module.functions:
            if not function.is_declaration and function.name not in self._symbols:
                function.linkage = "internal"


def _is_import(function: Any) -> bool:
    """Whether a function is called and has to come from elsewhere; those of LLVM itself become instructions."""
    return bool(function.is_declaration) and not function.name.startswith("llvm.")


def emit(path: Path, level: str, *, small: bool = False) -> None:
    """Makes the library of this process's target; see `Emission.write`."""
    keep_parts()
    emission = Emission()
    solve_samples()
    with only_gathered():
        for module, maker, arguments in all_units():
            made = getattr(importlib.import_module(module), maker)(*arguments)
            emission.add_unit(unit_name(module, maker, *arguments), made)
        for each in all_entries():
            # what makes objects of Python's is not needed
            each.compiled.targetoptions |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
            each.compile()
            emission.add_entry(entry_name(each.module, each.name), each.compiled, each.argument_types())
        for made in all_made():
            _add_generated(emission, made)
    emission.write(path, level, small=small)


def _add_generated(emission: Emission, made: Kernels | ThresholdKernels) -> None:
    """Adds the kernels that were generated for a task, if it came with the package."""
    shipped = made.text.shipped
    if shipped is None:
        return
    for kernel, callback in made.compiled.items():
        emission.add_unit(native_name(shipped, kernel), callback)
    if made.text.ordered:
        costs_of = made.costs_of.compiled
        signature = argument_types(made.text.costs_signature)
        costs_of.compile(signature)
        emission.add_entry(native_name(shipped, COSTS_OF), costs_of, [signature])
