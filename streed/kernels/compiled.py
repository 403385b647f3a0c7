"""Compiled code on disk: a file for each function and signature, whole or not there.

A file's name is a hash of all that the code depends on; it begins with a hash of its content. One that is damaged, cut
short or empty is deleted, said once, and what it held is compiled again. Where nothing can be written (the disk is
full, the directory is gone), the code is used all the same and not kept, which is said once as well. Files are written
aside and renamed, and a process that needs what another is compiling waits for it: the lock is the system's, and ends
with the process that has it.

Numba's own cache notices changes of one file only, and a kernel is made of many; it breaks on damaged files, and two
processes may mix up their entries. Code is therefore kept here, in a directory that is named by a hash of all sources
of the engine and the searches (`places.py`): an edit anywhere makes a new one.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import os
import pickle
import secrets
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any, BinaryIO, TypeVar

import llvmlite
import numba
from numba import njit
from numba.core.bytecode import FunctionIdentity
from numba.core.ccallback import CFunc
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature

from streed.kernels import compilation
from streed.kernels.compilation import aside, listener, say_once
from streed.kernels.late_linking import QuickCompiler, soon
from streed.kernels.places import SOURCES, SUFFIX, cache_directory

_MARK = b"streed-code-1\n"
_HASH = hashlib.sha256().digest_size

_LOOK = 0.02
"""Seconds between looks at whether another process has compiled what is missing here."""

_PATIENCE = 120.0
"""Seconds that are waited for it: more than the largest function takes."""

T = TypeVar("T")


class CodeCache:
    """What numba asks for the compiled code of a function before it compiles, and gives it to afterwards."""

    def __init__(self, function: Callable[..., Any], directory: Path | None) -> None:
        self._function = function
        self._directory = directory
        self._lock: BinaryIO | None = None

    @property
    def cache_path(self) -> str | None:
        """The directory, for numba's own reports."""
        return None if self._directory is None else str(self._directory)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for a signature; None, said to who listens, if it has to be compiled."""
        if self._directory is not None and not self.is_kept(sig):
            compilation.start_planned()
        # kept code asks for numba's memory alone; all of numba, and scipy, is imported by what is compiled
        rtsys.initialize(target_context)
        code = None if self._directory is None else self._loaded(sig, target_context)
        told = listener.get()
        if code is None and told is not None:
            told.begun()
        if code is None and self._directory is not None:
            self._lock = _locked(self._path(sig, target_context.codegen()))
            code = self._loaded(sig, target_context)
        return code

    def released(self, compile_it: Callable[..., T]) -> Callable[..., T]:
        """The function, which compiles this, and lets others do so afterwards, whether it could or not."""

        @functools.wraps(compile_it)
        def compile_and_release(*arguments: object) -> T:
            with global_compiler_lock:
                try:
                    return compile_it(*arguments)
                finally:
                    if self._lock is not None:
                        _unlock(self._lock)
                        self._lock = None

        return compile_and_release

    def is_kept(self, sig: Any) -> bool:
        """Whether there is a file for a signature."""
        return self._directory is not None and self._path(sig, cpu_target.target_context.codegen()).exists()

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keeps compiled code for a signature, if that is possible."""
        if self._directory is None:
            return
        if data.lifted or data.library.has_dynamic_globals:
            say_once("unkept", f"{self._function.__qualname__} cannot be kept on disk and is compiled in every process")
            return
        try:
            _write(self._path(sig, data.codegen), dumps((sig, data._reduce())))
        except OSError as error:
            say_once("unwritten", f"compiled code cannot be kept in {self._directory}: {error.strerror or error}")

    def _loaded(self, sig: Any, target_context: Any) -> Any:
        path = self._path(sig, target_context.codegen())
        try:
            kept_sig, parts = pickle.loads(_read(path))
            if kept_sig != sig:
                raise ValueError("it is that of another signature")
            return CompileResult._rebuild(target_context, *parts)
        except FileNotFoundError:
            return None
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a bad file leads to
            say_once("unread", f"a file of compiled code cannot be used ({error}) and is made again: {path}")
            with contextlib.suppress(OSError):
                path.unlink()
            return None

    def _path(self, sig: Any, codegen: Any) -> Path:
        """The file for a signature: its name depends on the versions, the processor and the function."""
        versions = sys.version, numba.__version__, llvmlite.__version__
        parts = versions, str(sig), codegen.magic_tuple(), _identity(self._function)
        digest = hashlib.sha256(repr(parts).encode()).hexdigest()[:32]
        assert self._directory is not None
        return self._directory / f"{self._function.__name__}-{digest}{SUFFIX}"


def _identity(value: Any, above: tuple[Any, ...] = ()) -> Any:
    """What tells a function, or what one closes over, from others: the same in every process."""
    function = getattr(value, "py_func", value)  # of what numba compiles, which it pickles with a random number
    if isinstance(function, FunctionType):
        code = function.__code__
        closed = [cell.cell_contents for cell in function.__closure__ or () if function not in above]
        cells = tuple(_identity(each, (*above, function)) for each in closed)
        return (
            function.__module__,
            function.__qualname__,
            code.co_firstlineno,
            code.co_code,
            _stamp(code.co_filename),
            cells,
        )
    return dumps(value)


def _read(path: Path) -> bytes:
    """What was written to a file; raises ValueError unless it is all there as it was."""
    content = path.read_bytes()
    begin = len(_MARK) + _HASH
    if not content.startswith(_MARK) or hashlib.sha256(content[begin:]).digest() != content[len(_MARK) : begin]:
        raise ValueError("it is damaged" if content else "it is empty")
    return content[begin:]


def _write(path: Path, content: bytes) -> None:
    """Makes the file, in one step; raises OSError, and leaves nothing behind, if that fails."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    scratch = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        scratch.write_bytes(_MARK + hashlib.sha256(content).digest() + content)
        scratch.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            scratch.unlink()
        raise


def _locked(path: Path) -> BinaryIO | None:
    """The lock of a file that is missing, once no other process has it; None without locks, or after a long wait.

    A process that was suspended keeps its locks: it is not waited for forever.
    """
    end = time.monotonic() + _PATIENCE
    with contextlib.suppress(OSError):
        while time.monotonic() < end:
            file = path.with_suffix(".lock").open("wb")
            try:
                _lock(file)
                return file
            except (BlockingIOError, PermissionError):  # the second is Windows'
                time.sleep(_LOOK)
            file.close()
    return None


if sys.platform == "win32":
    import msvcrt

    def _lock(file: BinaryIO) -> None:
        """Locks a file; raises PermissionError if another process has done so."""
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: BinaryIO) -> None:
        """Locks a file; raises BlockingIOError if another process has done so."""
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _unlock(file: BinaryIO) -> None:
    """Gives a lock back, and removes its file."""
    with contextlib.suppress(OSError), file:
        Path(file.name).unlink(missing_ok=True)


@functools.cache
def _stamp(file: str) -> str:
    """A hash of a source; nothing of one that the directory's name depends on, or that is no file."""
    path = Path(file)
    if path.parent in SOURCES or not path.is_file():
        return ""
    return hashlib.sha256(path.read_bytes()).hexdigest()


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


def entry(function: Callable[..., Any], *, late: bool = True, **options: Any) -> Any:
    """A function that Python calls: compiled when first called, without the GIL, kept on disk.

    `late` is not for code that makes lists of arrays, on which late linking was not tried.
    """
    made = njit(nogil=True, pipeline_class=QuickCompiler, **options)(function)
    made._cache = CodeCache(function, cache_directory())
    made.compile = functools.partial(aside, made._cache.released(soon(made.compile) if late else made.compile))
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
        made: Any = CFunc(
            function, normalize_signature(signature), locals={}, options=options, pipeline_class=QuickCompiler
        )
        made._cache = CodeCache(function, cache_directory())
        aside(made._cache.released(soon(made.compile)))
        return made

    return decorate
