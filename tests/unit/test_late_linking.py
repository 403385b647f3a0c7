"""Code that is linked late: the same results in the same files, and numba's own way wherever anything is unusual."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import njit
from numba.core.codegen import JITCodeLibrary
from numba.core.registry import cpu_target

from streed.kernels import compiled, late_linking, notices
from streed.kernels.compiled import entry
from streed.kernels.late_linking import LateLibrary, soon

VALUES = np.array([3, -1, 4, 1, -5, 9, 2, 6], np.int64)
CODEGEN = cpu_target.target_context.codegen()

inside = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)


@pytest.fixture(autouse=True)
def _as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty cache, in a process that has said nothing yet; in the end, numba and the collector are as they were."""
    monkeypatch.setattr(compiled, "cache_directory", lambda: tmp_path)
    monkeypatch.setattr(notices, "_said", set())
    yield
    was_on = gc.isenabled()
    gc.enable()
    assert was_on
    assert not {"_library_class", "set_env"} & set(vars(CODEGEN))


@pytest.fixture(params=["late", "another numba", "a failure"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How code is linked: late, or as numba does because it is another one or because linking failed."""

    def fail(library: LateLibrary) -> Any:
        raise AttributeError("there is no such thing")

    if request.param == "another numba":
        monkeypatch.setattr(late_linking, "TESTED", ((0, 1),))
    if request.param == "a failure":
        monkeypatch.setattr(LateLibrary, "_merged", fail)
    return str(request.param)


def test_results_and_what_is_said(way: str, capfd: pytest.CaptureFixture[str]) -> None:
    @inside
    def place_of(values, value):  # type: ignore[no-untyped-def]
        for i in range(len(values)):
            if values[i] == value:
                return i
        raise ValueError("not there")

    @entry
    def squares_before(values, value):  # type: ignore[no-untyped-def]
        return (values[: place_of(values, value)] ** 2).sum()

    assert squares_before(VALUES, 1) == 9 + 1 + 16
    with pytest.raises(ValueError, match="not there"):
        squares_before(VALUES, 7)
    said = capfd.readouterr().err
    assert said.count("linked") == (way == "a failure")
    assert ("linked as numba does, which takes longer (there is no such thing)" in said) == (way == "a failure")


def test_functions_inside_wait(way: str) -> None:
    @inside
    def square(x):  # type: ignore[no-untyped-def]
        return x * x

    @entry
    def outside(x):  # type: ignore[no-untyped-def]
        return square(x) + 1

    assert outside(4) == 17
    (overload,) = square.overloads.values()
    assert isinstance(overload.library, LateLibrary) == (way != "another numba")
    assert overload.library._finalized == (way != "late")
    # Somebody else may call it later, whose library numba links by itself.
    assert njit(lambda x: square(x) + 2)(4) == 18
    assert overload.library._finalized


def test_both_ways_have_the_same_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @inside
    def square(x):  # type: ignore[no-untyped-def]
        return x * x

    def sum_of_squares(values):  # type: ignore[no-untyped-def]
        total = 0
        for value in values:
            total += square(value)
        return total

    for first, second in ((late_linking.TESTED, ()), ((), late_linking.TESTED)):
        for versions in (first, second):
            monkeypatch.setattr(late_linking, "TESTED", versions)
            made = entry(sum_of_squares)
            assert made(VALUES) == int((VALUES**2).sum())
            assert sum(made.stats.cache_hits.values()) == (versions is second)
        (path,) = tmp_path.iterdir()
        path.unlink()


@pytest.mark.parametrize("is_on", [True, False])
def test_what_was_set_is_set_again(is_on: bool) -> None:
    seen = []

    def compile_it(fails: bool) -> None:
        seen.append((gc.isenabled(), CODEGEN._library_class))
        if fails:
            raise RuntimeError
        soon(compile_it)(True)

    if not is_on:
        gc.disable()
    with pytest.raises(RuntimeError):
        soon(compile_it)(False)
    assert gc.isenabled() == is_on
    gc.enable()
    assert seen == [(False, LateLibrary)] * 2
    assert CODEGEN._library_class is JITCodeLibrary


def test_several_threads() -> None:
    found = []

    def work(i: int) -> None:
        @entry
        def add(x):  # type: ignore[no-untyped-def]
            return x + i

        found.append(add(10) - i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [10, 10, 10]
    assert gc.isenabled()
    assert CODEGEN._library_class is JITCodeLibrary
