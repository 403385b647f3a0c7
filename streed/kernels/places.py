"""Where compiled code is kept between processes: a directory that nobody else can write to.

Loading compiled code runs it, so a directory is used only if it is ours. STREED_CACHE_DIR names one, and so do
NUMBA_CACHE_DIR and the user's directory for caches; these are trusted as the user's own choice, as long as the
directory made there belongs to this user and is closed to everybody else's writing. The last resort, in the directory
of temporary files, is used only if no other user can have put it there or can exchange it: every directory above
belongs to root or to this user and is closed to others' writing, or has the sticky bit, as /tmp has; and it is itself
a directory, no link, of this user's, and closed to others' writing. Once that holds, others cannot undo it.

STREED_CACHE=0 turns the cache off. Without a directory, code is compiled anew in every process.
"""

from __future__ import annotations

import contextlib
import functools
import getpass
import hashlib
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

SUFFIX = ".code"
"""Of the files of compiled code."""


def cache_directory() -> Path | None:
    """The directory for the present sources, made if need be; None if there is to be no cache or none can be made."""
    return _choice()[0]


def why_none() -> str:
    """Why there is no directory: what is wrong with each that was tried, or how the cache was turned off."""
    return "; ".join(_choice()[1])


@functools.cache
def _choice() -> tuple[Path | None, tuple[str, ...]]:
    """The directory, and why others before it were not taken."""
    if os.environ.get("STREED_CACHE", "1").lower() in ("0", "no", "off", "false"):
        return None, ("STREED_CACHE turns that off",)
    refused = []
    for find in _candidates():
        base: Path | None = None
        try:
            base = find()
            directory = base / fingerprint()
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            _probe(directory)
        except (OSError, RuntimeError, KeyError) as error:  # the last two: this user has no home, or no name
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            refused.append(reason if base is None else f"{base}: {reason}")
            continue
        return directory, tuple(refused)
    return None, tuple(refused)


def _candidates() -> Iterator[Callable[[], Path]]:
    """Functions that give a directory, or raise if there is none."""
    named = os.environ.get("STREED_CACHE_DIR")
    if named is not None:
        yield lambda: Path(named)
        return
    numbas = os.environ.get("NUMBA_CACHE_DIR")
    if numbas is not None:
        yield lambda: Path(numbas) / "streed"
    yield _users
    yield _last_resort


def _users() -> Path:
    """The user's directory for caches."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "streed" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "streed"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "streed"


def _last_resort() -> Path:
    """A directory among the temporary files; raises PermissionError unless it can only be this user's."""
    if not hasattr(os, "getuid"):
        return Path(tempfile.gettempdir()) / f"streed-{getpass.getuser()}"
    parent = Path(tempfile.gettempdir()).resolve(strict=True)
    for place in (parent, *parent.parents):
        found = place.stat()
        if found.st_uid not in (0, os.getuid()):
            raise PermissionError(f"{place} belongs to another user")
        if found.st_mode & 0o022 and not found.st_mode & stat.S_ISVTX:
            raise PermissionError(f"other users can write to {place}")
    directory = parent / f"streed-{os.getuid()}"
    with contextlib.suppress(FileExistsError):
        directory.mkdir(mode=0o700)
    found = directory.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise PermissionError(f"{directory} is no directory")
    if found.st_uid != os.getuid():
        raise PermissionError(f"{directory} belongs to another user")
    if found.st_mode & 0o022:
        raise PermissionError(f"other users can write to {directory}")
    return directory


def _probe(directory: Path) -> None:
    """Raises OSError unless the directory is ours, closed to everybody's writing, and can be written to."""
    if hasattr(os, "getuid"):
        found = directory.stat()
        if found.st_uid != os.getuid():
            raise PermissionError(f"{directory} belongs to another user")
        if found.st_mode & stat.S_IWOTH:
            raise PermissionError(f"everybody can write to {directory}")
    with tempfile.TemporaryFile(dir=directory):
        pass


@functools.cache
def fingerprint() -> str:
    """A hash of all sources that compiled code may come from."""
    digest = hashlib.sha256()
    for folder in SOURCES:
        for source in sorted(folder.rglob("*.py")):
            digest.update(source.relative_to(folder.parent).as_posix().encode())
            digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


SOURCES = tuple(Path(__file__).parent.parent / folder for folder in ("bnb", "kernels", "ordered", "tables"))
"""The folders with those sources."""
