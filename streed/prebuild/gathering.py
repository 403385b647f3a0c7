"""Libraries of native code that keep what they were made of, so that all of it can be optimised once, as one module.

What numba compiles is optimised with all that it calls as soon as somebody wants to call it, and again in everything
that calls it. What is gathered for a library need not be called here: it waits as it was generated.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Iterator
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.registry import cpu_target

from streed.kernels.late_linking import LateLibrary, let_meet, set_environment


class GatheredLibrary(LateLibrary):
    """The code of a function, and beside it what that was linked from."""

    waits = False
    """Of the class: whether code is only gathered now, and nothing is made that could be called."""

    _parts: tuple[Any, list[Any]] | None = None

    def _optimize_final_module(self) -> None:
        """Nothing: what is called in this process need not be fast."""

    def finalize(self) -> None:
        """As its base; what went in is kept."""
        self._parts = self._final_module, list(self._linking_libraries)
        super().finalize()

    def get_pointer_to_function(self, name: str) -> int:
        """The address of a function; 0 while code is gathered."""
        return 0 if GatheredLibrary.waits else super().get_pointer_to_function(name)

    def parts(self) -> tuple[Any, list[Any]]:
        """(its own code as it was generated, the libraries that this needs)."""
        return self._parts or (self._final_module, self._linking_libraries)


def keep_parts() -> None:
    """Has all code that numba compiles in this process from here on kept as it was generated, too."""
    codegen = cpu_target.target_context.codegen()
    codegen._library_class = GatheredLibrary
    codegen.set_env = functools.partial(set_environment, codegen)


@contextlib.contextmanager
def only_gathered() -> Iterator[None]:
    """A context in which nothing is compiled so far that it could be called."""
    GatheredLibrary.waits = True
    try:
        yield
    finally:
        GatheredLibrary.waits = False


def link_parts(module: Any, libraries: Iterable[Any]) -> None:
    """Adds the code of libraries and of all that they need to a module, each part once.

    A library that kept no parts, as it was compiled before, adds what was made of them.
    """
    waiting, seen, modules, made = list(libraries), set(), [module], []
    for library in waiting:  # which grows
        if id(library) not in seen:
            seen.add(id(library))
            if isinstance(library, GatheredLibrary):
                own, needed = library.parts()
                let_meet(own)
                modules.append(own)
                waiting += needed
            else:
                made.append(library._get_module_for_linking().clone())
    # linking takes longer the more there is already: two at a time, then two of these, and so on
    step = 1
    while step < len(modules):
        for at in range(0, len(modules) - step, 2 * step):
            modules[at].link_in(modules[at + step])
        step *= 2
    for each in made:
        module.link_in(each)  # the last, as only those of its functions are taken that something there calls


def are_gathered(libraries: Iterable[Any]) -> bool:
    """Whether the code of all of them is as it was generated; what was compiled before was optimised already."""
    return all(isinstance(library, GatheredLibrary) for library in libraries)


def optimized(module: Any) -> Any:
    """The module after all that numba does to make code fast."""
    library = JITCodeLibrary(cpu_target.target_context.codegen(), "streed_prebuilt")
    library._final_module = module
    library._optimize_final_module()
    return library._final_module
