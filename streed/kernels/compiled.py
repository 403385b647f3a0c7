"""Where compiled code is kept between processes, and the decorators that put it there.

Numba's own cache notices changes of one file only, and a kernel is made of many. Entry points are therefore cached in a
directory that is named by a hash of all sources of the engine and the searches: an edit anywhere makes a new one.

STREED_CACHE_DIR names another place; STREED_CACHE=0 turns the cache off. Where nothing is writable, code is compiled
anew in every process.
"""

from __future__ import annotations

import functools
import getpass
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numba import cfunc, njit
from numba.core import config


@functools.cache
def cache_directory() -> Path | None:
    """The directory for the present sources, made if need be; None if there is to be no cache or none can be made."""
    if os.environ.get("STREED_CACHE", "1").lower() in ("0", "no", "off", "false"):
        return None
    for base in _candidates():
        directory = base / _fingerprint()
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            _probe(directory)
        except OSError:
            continue
        return directory
    return None


def _candidates() -> Iterator[Path]:
    if "STREED_CACHE_DIR" in os.environ:
        yield Path(os.environ["STREED_CACHE_DIR"])
        return
    if "NUMBA_CACHE_DIR" in os.environ:
        yield Path(os.environ["NUMBA_CACHE_DIR"]) / "streed"
    if sys.platform == "win32":
        yield Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "streed" / "cache"
    elif sys.platform == "darwin":
        yield Path.home() / "Library" / "Caches" / "streed"
    else:
        yield Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "streed"
    yield Path(tempfile.gettempdir()) / f"streed-{getpass.getuser()}"


def _probe(directory: Path) -> None:
    """Raises OSError unless the directory is ours and can be written to."""
    if hasattr(os, "getuid") and directory.stat().st_uid != os.getuid():
        raise PermissionError(directory)
    with tempfile.TemporaryFile(dir=directory):
        pass


def _fingerprint() -> str:
    """A hash of all sources that compiled code may come from."""
    package = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for folder in ("bnb", "enumerate", "kernels", "pareto"):
        for source in sorted((package / folder).rglob("*.py")):
            digest.update(source.relative_to(package).as_posix().encode())
            digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


@contextmanager
def caching() -> Iterator[bool]:
    """Points numba's cache at our directory while a function is decorated; yields whether there is one."""
    directory = cache_directory()
    before = config.CACHE_DIR
    config.CACHE_DIR = str(directory or before)
    try:
        yield directory is not None
    finally:
        config.CACHE_DIR = before


def entry(function: Callable[..., Any]) -> Any:
    """Decorates a function that Python calls: compiled without the GIL, kept on disk."""
    with caching() as cache:
        return njit(nogil=True, cache=cache)(function)


def unit(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorates a function that native code calls by its address: compiled for the signature, kept on disk."""

    def decorate(function: Callable[..., Any]) -> Any:
        with caching() as cache:
            return cfunc(signature, cache=cache)(function)

    return decorate
