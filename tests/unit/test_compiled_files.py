"""Compiled code on disk: damaged files, full disks, and places that others can write to."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import pytest

from streed.kernels import compilation, compiled, late_linking, places
from streed.kernels.places import SUFFIX
from streed.kernels.views import native
from tests.processes import ended, started

posix = pytest.mark.skipif(not hasattr(os, "getuid"), reason="owners and modes are those of POSIX")


def double(x: Any) -> Any:
    return x + x


def negated(x: Any) -> Any:
    return -x


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache directory, in a process that has said nothing yet."""
    monkeypatch.setattr(compiled, "cache_directory", lambda: tmp_path)
    monkeypatch.setattr(compilation, "_said", set())
    return tmp_path


def used(function: Callable[[Any], Any], argument: Any) -> tuple[Any, bool]:
    """What a function gives when it is compiled as in a new process, and whether its code came from the disk."""
    made = compiled.entry(function)
    value = made(argument)
    return value, sum(made.stats.cache_hits.values()) == 1


def only_file(place: Path) -> Path:
    (path,) = place.iterdir()
    assert path.suffix == SUFFIX
    return path


@native
def squared(x):  # type: ignore[no-untyped-def]
    return x * x


def two_squares(x: Any) -> Any:
    return squared(x) + squared(x + 1)


@pytest.mark.parametrize("linking", ["late", "numba's own", "late, which fails"])
def test_code_is_the_same_however_it_is_linked(
    linking: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(library: Any) -> Any:
        raise AttributeError("another numba")

    monkeypatch.setattr(late_linking, "TESTED", () if linking == "numba's own" else (numba.version_info.short,))
    if "fails" in linking:
        monkeypatch.setattr(late_linking.LateLibrary, "_merged", fail)
    assert [used(two_squares, 3), used(two_squares, 0.5), used(two_squares, 4)] == [
        (25, False),
        (2.5, False),
        (41, True),
    ]
    assert ("linked as numba does" in capsys.readouterr().err) == ("fails" in linking)


def damages(content: bytes) -> Iterator[tuple[str, bytes]]:
    """What may become of a file."""
    yield "empty", b""
    for end in (1, 13, 14, 20, 45, 46, 47, len(content) // 2, len(content) - 1):
        yield f"cut short at {end}", content[:end]
    for at in (0, 13, 14, 45, 46, 100, len(content) // 2, len(content) - 1):
        yield f"a bit of {at}", content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
    yield "zeros", bytes(len(content))
    yield "more", content + b"x"
    yield "numba's", b"\x80\x04\x95\x08\x00"


def test_code_comes_from_the_disk(place: Path) -> None:
    assert [used(double, 4), used(double, 2.5), used(negated, 5)] == [(8, False), (5.0, False), (-5, False)]
    assert [used(double, 6), used(double, 0.5), used(negated, 6)] == [(12, True), (1.0, True), (-6, True)]
    assert len(list(place.iterdir())) == 3
    shutil.rmtree(place)
    assert [used(double, 4), used(double, 4)] == [(8, False), (8, True)]


def test_damaged_files_are_made_again(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert used(double, 4) == (8, False)
    path = only_file(place)
    for name, damaged in damages(path.read_bytes()):
        path.write_bytes(damaged)
        monkeypatch.setattr(compilation, "_said", set())
        capsys.readouterr()
        assert used(double, 4) == (8, False), name
        said = capsys.readouterr().err
        assert (said.count("\n"), str(path) in said) == (1, True), name
        assert used(double, 4) == (8, True), name


def test_a_full_disk(place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def half(path: Path, content: bytes) -> int:
        with path.open("wb") as file:
            file.write(content[:100])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as full:
        full.setattr(Path, "write_bytes", half)
        assert [used(double, 4), used(negated, 4)] == [(8, False), (-4, False)]
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert os.strerror(errno.ENOSPC) in said
    assert not list(place.iterdir())
    assert [used(double, 4), used(double, 4)] == [(8, False), (8, True)]


WRITERS = """
import sys
from pathlib import Path
import numpy as np
from streed.kernels import compiled
from tests.unit.test_compiled_files import double
compiled.cache_directory = lambda: Path(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
kinds = [np.int8, np.int16, np.int32, np.int64, np.float32, np.float64]
made = compiled.entry(double)
for kind in kinds[int(sys.argv[2]):] + kinds[:int(sys.argv[2])]:
    assert (made(np.arange(3, dtype=kind)) == np.arange(3) * 2).all()
print(sum(made.stats.cache_misses.values()))
"""


@pytest.mark.compiles
def test_processes_that_fill_one_empty_directory(place: Path) -> None:
    """Each meets the same signatures in another order; each is compiled by the first that needs it."""
    commands = [[sys.executable, "-c", WRITERS, str(place), str(at)] for at in (0, 3)]
    with contextlib.ExitStack() as stack:
        children: list[Any] = [stack.enter_context(started(command)) for command in commands]
        for child in children:
            assert child.stdout.readline() == "ready\n"
        for child in children:
            child.stdin.write("go\n")
            child.stdin.flush()
        said = [child.communicate() for child in children]
    assert [(child.returncode, error) for child, (_, error) in zip(children, said, strict=True)] == [(0, "")] * 2
    assert sum(int(compiled) for compiled, _ in said) == 6
    assert [path.suffix for path in place.iterdir()] == [SUFFIX] * 6
    import numpy as np

    for kind in (np.int8, np.int16, np.int32, np.int64, np.float32, np.float64):
        made = compiled.entry(double)
        assert made(np.array([3], kind)).tolist() == [6]
        assert sum(made.stats.cache_hits.values()) == 1


HOLDER = """
import sys
from pathlib import Path
from streed.kernels import compiled
lock = compiled._locked(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize("end", ["killed", "suspended"])
def test_a_process_that_does_not_end_its_compilation(end: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    used(double, 4)
    path = only_file(place)
    path.unlink()
    with started([sys.executable, "-c", HOLDER, str(path)]) as child:
        assert child.stdout.readline() == "held\n"
        if end == "killed":
            child.kill()
        else:
            monkeypatch.setattr(compiled, "_PATIENCE", 0.1)
        assert used(double, 4) == (8, False)
        child.kill()
    assert used(double, 4) == (8, True)


@pytest.mark.compiles
def test_a_second_process_compiles_nothing_of_any_kind() -> None:
    """Nor does the folder grow then: what is compiled is all that is written."""
    for _ in range(2):
        done = ended("-m", "tests.unit.every_kind", limit=240)
    compiled_for = dict(map(json.loads, done.stdout.splitlines()))
    assert len(compiled_for) > 40
    assert {name: functions for name, functions in compiled_for.items() if functions} == {}
    assert done.stderr == ""


def test_a_process_that_cannot_run_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilation, "processors", lambda: 2)
    for name in ("python-that-is-not-there", "a-program-of-its-own"):
        monkeypatch.setattr(sys, "executable", str(tmp_path / name))
        with compilation.plan(f"pass # {name}"):
            compilation.start_planned()


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of temporary files, as most systems have it: for everybody, and with the sticky bit."""
    directory = tmp_path / "temporary"
    directory.mkdir()
    directory.chmod(0o1777)
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    return directory


@posix
def test_a_last_resort_that_others_can_write_to(temporary: Path, tmp_path: Path) -> None:
    own = temporary / f"streed-{os.getuid()}"
    for mode in (0o777, 0o775, 0o757):
        temporary.chmod(mode)
        with pytest.raises(PermissionError, match="other users can write"):
            places._last_resort()
        assert not own.exists()
    temporary.chmod(0o1777)
    own.symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(PermissionError, match="no directory"):
        places._last_resort()
    own.unlink()
    if os.getuid() == 0:  # only root can give files away
        for given in (own, temporary):
            own.mkdir(mode=0o700, exist_ok=True)
            os.chown(given, 12345, 12345)
            with pytest.raises(PermissionError, match="another user"):
                places._last_resort()
            own.rmdir()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Directories are chosen anew, and nothing of the environment says which."""
    for name in ("STREED_CACHE", "STREED_CACHE_DIR", "NUMBA_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    places._choice.cache_clear()
    yield monkeypatch
    places._choice.cache_clear()


def test_a_user_without_a_home(asked: pytest.MonkeyPatch, temporary: Path) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    asked.delenv("XDG_CACHE_HOME", raising=False)
    asked.setattr(Path, "home", homeless)
    directory = places.cache_directory()
    assert directory.parent.parent == temporary.resolve()


def test_a_cache_that_is_turned_off(asked: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    asked.setenv("STREED_CACHE", "0")
    assert places.cache_directory() is None
    assert "STREED_CACHE" in places.why_none()
    assert [used(double, 4), used(double, 4)] == [(8, False), (8, False)]
    assert "STREED_CACHE" not in capsys.readouterr().err
