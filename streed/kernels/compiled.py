"""The decorators of compiled code, which keep it on disk between processes.

Numba's own cache notices changes of one file only, and a kernel is made of many; it breaks on damaged files, and two
processes may mix up their entries. Code is therefore kept as `kept.py` has it, in a directory that is named by a hash
of all sources of the engine and the searches (`places.py`): an edit anywhere makes a new one.
"""

from __future__ import annotations

import functools
import itertools
import os
import secrets
from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core.bytecode import FunctionIdentity
from numba.core.ccallback import CFunc
from numba.core.sigutils import normalize_signature

from streed.kernels.kept import CodeCache
from streed.kernels.late_linking import soon
from streed.kernels.places import cache_directory
from streed.kernels.waiting import aside


def _number_apart() -> None:
    """Makes the numbers that compiled functions get differ from those of any other process.

    Numba tells functions of one name apart by numbers, which it counts from 1 in every process. Code of several
    processes meets in one through the files: with the same number, a function was linked in the place of another.
    """
    if isinstance(getattr(FunctionIdentity, "_unique_ids", None), itertools.count):
        FunctionIdentity._unique_ids = itertools.count(secrets.randbits(60) << 20)


_number_apart()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_number_apart)


def entry(function: Callable[..., Any], **options: Any) -> Any:
    """A function that Python calls: compiled when first called, without the GIL, kept on disk."""
    made = njit(nogil=True, **options)(function)
    made._cache = CodeCache(function, cache_directory())
    made.compile = functools.partial(aside, soon(made.compile))
    return made


def own_entry(function: Callable[..., Any], **options: Any) -> Any:
    """As `entry`, linked as numba does: for code that makes lists of arrays, on which late linking was not tried."""
    made = njit(nogil=True, **options)(function)
    made._cache = CodeCache(function, cache_directory())
    made.compile = functools.partial(aside, made.compile)
    return made


@functools.cache
def ready(function: Any, signature: str) -> None:
    """Compiles an entry for a signature, or loads it, if that was not done yet: before its time is counted."""
    function.compile(normalize_signature(signature)[0])


@functools.cache
def was_kept(function: Any, signature: str) -> bool:
    """Whether an entry for a signature was on disk when this was first asked."""
    return bool(function._cache.is_kept(normalize_signature(signature)[0]))


def unit(signature: Any, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorates a function that native code calls by its address: compiled for the signature, kept on disk."""

    def decorate(function: Callable[..., Any]) -> Any:
        made: Any = CFunc(function, normalize_signature(signature), locals={}, options=options)
        made._cache = CodeCache(function, cache_directory())
        aside(soon(made.compile))
        return made

    return decorate
