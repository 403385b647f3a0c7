"""Code that is linked late: the same results in the same files, and numba's own way wherever anything is unusual."""

from __future__ import annotations

import gc
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llvmlite import binding
from numba import njit
from numba.core.codegen import JITCodeLibrary
from numba.core.errors import TypingError
from numba.core.registry import cpu_target

from streed.kernels import compiled, late_linking, notices
from streed.kernels.compiled import entry, unit
from streed.kernels.late_linking import LateLibrary, soon
from streed.kernels.pointers import KERNEL

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


def test_functions_that_call_each_other(way: str) -> None:
    @inside
    def is_even(n):  # type: ignore[no-untyped-def]
        return True if n == 0 else is_odd(n - 1)

    @inside
    def is_odd(n):  # type: ignore[no-untyped-def]
        return False if n == 0 else is_even(n - 1)

    @entry
    def find(n):  # type: ignore[no-untyped-def]
        return is_even(n), is_odd(n)

    assert [find(n) for n in (6, 7)] == [(True, False), (False, True)]


def test_constants_that_python_holds(way: str, capfd: pytest.CaptureFixture[str]) -> None:
    @inside
    def tell(x):  # type: ignore[no-untyped-def]
        print("found", x)  # noqa: T201

    # without `entry`, as such code can be run only with Python's lock
    @njit
    def outside(x):  # type: ignore[no-untyped-def]
        tell(x)

    soon(outside.compile)("(int64,)")
    outside(4)
    assert capfd.readouterr().out == "found 4\n"


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


def test_kernels_are_linked_late(way: str) -> None:
    @unit(KERNEL)
    def do_nothing(address):  # type: ignore[no-untyped-def]
        pass

    assert do_nothing.address > 0
    assert isinstance(do_nothing._library, LateLibrary) == (way != "another numba")


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


def test_what_was_set_is_set_again_after_an_error_of_the_compiler() -> None:
    @entry
    def add(x, y):  # type: ignore[no-untyped-def]
        return x + y

    with pytest.raises(TypingError):
        add(1, "one")
    assert gc.isenabled()
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


def test_what_is_internal_has_a_name_that_others_cannot_have() -> None:
    """LLVM rewrites internal functions and finds them by name: code made later called an argsort without arguments."""

    @entry
    def sorts(values, out):  # type: ignore[no-untyped-def]
        for i in np.argsort(values):
            out[i] = values[i]
        for i in np.argsort(out):
            out[i] += values[i]

    out = np.zeros_like(VALUES)
    sorts(VALUES, out)
    assert out.tolist() == (2 * VALUES).tolist()
    (made,) = sorts.overloads.values()
    functions = [each for each in made.library._final_module.functions if not each.is_declaration]
    names = [each.name for each in functions if each.linkage == binding.Linkage.internal]
    assert names
    assert all(re.search(r"\.[0-9a-f]{16}$", name) for name in names), names


def test_what_several_libraries_have_is_linked_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages of errors that are made while code runs, such as that shapes do not match, come with such a function."""
    said: list[str] = []
    monkeypatch.setattr(late_linking, "say_once", lambda _, text: said.append(text))

    @inside
    def put_row(values, table):  # type: ignore[no-untyped-def]
        table[0] = values

    @inside
    def put_rows(table, into):  # type: ignore[no-untyped-def]
        into[:] = table

    @entry
    def put_both(values, table, into):  # type: ignore[no-untyped-def]
        put_row(values, table)
        put_rows(table, into)

    table, into = np.zeros((2, 2, len(VALUES)), VALUES.dtype)
    put_both(VALUES, table, into)
    assert into.tolist() == [VALUES.tolist(), [0] * len(VALUES)]
    assert not said
    with pytest.raises(ValueError, match="shape"):
        put_both(VALUES, table[:, :1].copy(), into)
