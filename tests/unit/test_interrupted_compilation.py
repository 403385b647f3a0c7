"""Ctrl-C and SIGTERM while code is compiled: the wait ends at once, whoever compiles."""

from __future__ import annotations

import contextvars
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from streed.bnb import runner as watch
from streed.cli.app import app
from streed.errors import InputError
from streed.kernels import waiting
from streed.kernels.compilation import Compilation, clock
from streed.kernels.control import ROWS_OF_CONTROL, STOP
from tests.conftest import ROOT
from tests.processes import started

posix = pytest.mark.skipif(sys.platform == "win32", reason="there, signals reach whole consoles")

LONG = 60.0
"""Seconds that a made-up compilation takes if nobody ends it."""


@pytest.fixture
def end() -> Any:
    """An event that compilations of these tests wait for; set at the end, so that none outlives its test.

    A process that was started in the background may ignore Ctrl-C; meanwhile this one heeds it.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    event = threading.Event()
    yield event
    event.set()
    signal.signal(signal.SIGINT, before)


def send_interrupt_and_wait(end: threading.Event) -> None:
    """A compilation that is interrupted as soon as it has begun."""
    os.kill(os.getpid(), signal.SIGINT)
    end.wait(LONG)


@posix
def test_an_interrupt_ends_the_wait_and_not_the_work(end: threading.Event) -> None:
    finished = threading.Event()

    def compile_slowly() -> None:
        send_interrupt_and_wait(end)
        finished.set()

    with pytest.raises(KeyboardInterrupt):
        waiting.aside(compile_slowly)
    assert not finished.is_set()
    end.set()
    assert finished.wait(LONG)


@posix
def test_the_handler_of_the_user_decides(end: threading.Event) -> None:
    def handler(number: int, frame: Any) -> None:
        raise InputError("signal", "it came", "look")

    before = signal.signal(signal.SIGINT, handler)
    try:
        with pytest.raises(InputError, match="it came"):
            waiting.aside(send_interrupt_and_wait, end)
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_what_is_raised_and_given_arrives() -> None:
    def fails() -> None:
        raise KeyError("reason")

    assert waiting.aside(divmod, 7, 2) == (3, 1)
    with pytest.raises(KeyError, match="reason"):
        waiting.aside(fails)


@posix
def test_an_interrupt_while_a_search_compiles(end: threading.Event) -> None:
    """A part of the search meets code that is not there yet, in its own thread."""
    control = np.zeros(ROWS_OF_CONTROL, np.int64)
    reached: list[str] = []

    def search() -> None:
        waiting.aside(send_interrupt_and_wait, end)
        reached.append("the search itself")

    assert watch.run([search], control, None, lambda: None) == "interrupt"
    assert (reached, control[STOP]) == ([], 1)


def test_a_deadline_does_not_run_while_a_search_compiles() -> None:
    """0.5 s are compiled, 0.2 s of search are allowed, and next to none are needed."""
    control = np.zeros(ROWS_OF_CONTROL, np.int64)

    def compile_slowly() -> int:
        told = waiting.listener.get()
        assert told is not None
        told.begun()
        time.sleep(0.5)
        return 7

    found: list[int] = []
    with Compilation(lambda: "a test") as compilation:
        begin = time.perf_counter()
        reason = watch.run([lambda: found.append(waiting.aside(compile_slowly))], control, clock() + 0.2, lambda: None)
        took = time.perf_counter() - begin
    assert (reason, found) == (None, [7])
    assert 0.5 <= compilation.seconds <= took


def test_compilation_is_said_with_its_kind_and_time(capsys: pytest.CaptureFixture[str]) -> None:
    def compiled(some: bool) -> None:
        told = waiting.listener.get()
        assert told is not None
        if some:
            told.begun()

    with Compilation(lambda: "Accuracy with 3 labels") as compilation:
        waiting.aside(compiled, False)
        assert (compilation.seconds, capsys.readouterr().err) == (0, "")
        waiting.aside(compiled, True)
        waiting.aside(compiled, True)
        begun = capsys.readouterr().err
        compilation.conclude()
        ended = capsys.readouterr().err
    assert "Accuracy with 3 labels" in begun
    assert begun.count("\n") == 1
    assert f"{compilation.seconds:.1f} s" in ended
    assert capsys.readouterr().err == ""
    assert compilation.seconds > 0


def test_solves_of_other_threads_are_not_told(capsys: pytest.CaptureFixture[str]) -> None:
    with Compilation(lambda: "a task of this thread") as mine:
        thread = threading.Thread(target=lambda: contextvars.Context().run(lambda: waiting.listener.get() is None))
        thread.start()
        thread.join()

        def other() -> None:
            with Compilation(lambda: "a task of another thread") as theirs:
                told = waiting.listener.get()
                assert told is theirs
                theirs.begun()
                theirs.ended()

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert mine.seconds == 0
    said = capsys.readouterr().err
    assert "a task of another thread" in said
    assert "a task of this thread" not in said


# -- whole processes, with nothing compiled yet ------------------------------------------------------------------------

LIBRARY = """
import numpy as np, streed
draw = np.random.default_rng(0)
try:
    streed.solve(streed.tasks.Accuracy(), draw.integers(0, 2, (60, 7)), draw.integers(0, 2, 60), max_depth=4)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""

SHELL = "from streed.cli.app import main; main()"


def interrupted(code: str, arguments: list[str], number: signal.Signals, place: Path) -> tuple[int, str, str, float]:
    """A process that gets a signal once it compiles: exit code, what it prints and says, seconds from then on."""
    environment = {**os.environ, "STREED_CACHE_DIR": str(place), "PYTHONPATH": str(ROOT)}
    with started([sys.executable, "-c", code, *arguments], env=environment) as child:
        assert child.stderr is not None
        first = child.stderr.readline()
        assert "compiling" in first, first + child.stderr.read()
        time.sleep(0.5)
        begin = time.perf_counter()
        child.send_signal(number)
        printed, said = child.communicate()
        return child.returncode, printed, said, time.perf_counter() - begin


@pytest.mark.compiles
@posix
def test_an_interrupt_of_the_library(tmp_path: Path) -> None:
    code, printed, said, took = interrupted(LIBRARY, [], signal.SIGINT, tmp_path)
    assert (code, printed) == (0, "interrupted\n"), said
    assert took < 10  # it would take half a minute and more


@pytest.mark.compiles
@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_of_the_shell(tmp_path: Path, number: signal.Signals) -> None:
    arguments = ["solve", "tic-tac-toe", "--max-depth", "3"]
    code, printed, said, took = interrupted(SHELL, arguments, number, tmp_path)
    assert (code, printed) == (130, ""), said
    assert "interrupted: no tree yet" in said
    assert "Traceback" not in said
    assert took < 10


@pytest.mark.compiles
@posix
def test_sigterm_is_left_alone_by_the_library(tmp_path: Path) -> None:
    code, printed, _, took = interrupted(LIBRARY, [], signal.SIGTERM, tmp_path)
    assert (code, printed) == (-signal.SIGTERM, "")
    assert took < 10


SEARCHING = """
import sys, threading, os, signal
import numpy as np
from streed.bnb import runner as watch
from streed.cli.app import main
run = watch.run
def told(searches, control, deadline, look):
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGTERM)).start()
    return run(searches, control, deadline, look)
watch.run = told
main()
"""


@pytest.mark.compiles
@posix
def test_sigterm_gives_the_best_tree_so_far(tmp_path: Path) -> None:
    from tests.unit.test_solve_stopping import X, Y

    rows = [",".join(map(str, (*row, label))) for row, label in zip(X.tolist(), Y.tolist(), strict=True)]
    table = tmp_path / "table.csv"
    table.write_text("\n".join([",".join([*(f"c{j}" for j in range(X.shape[1])), "y"]), *rows]) + "\n")
    arguments = ["solve", str(table), "--target", "y", "--max-depth", "7", "--no-progress"]
    done = subprocess.run(
        [sys.executable, "-c", SEARCHING, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 3, done.stdout + done.stderr
    assert "feasible" in done.stdout
    assert "interrupt" in done.stdout


def test_an_ignored_sigterm_stays_ignored() -> None:
    code = (
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "import atexit; atexit.register(lambda: print(signal.getsignal(signal.SIGTERM) is signal.SIG_IGN))\n" + SHELL
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "tasks"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.stdout.splitlines()[-1] == "True", done.stderr


def test_nothing_known_is_not_infeasible(monkeypatch: pytest.MonkeyPatch) -> None:
    """A solve that stopped before it had a tree says so by its exit code."""
    import streed
    from streed.cli.exit_codes import code_of
    from streed.tasks import Accuracy

    def unknown(reason: str) -> streed.Result:
        return streed.Result(None, None, "unknown", None, None, {"stopped": reason}, Accuracy())

    assert [code_of(unknown(reason)) for reason in ("interrupt", "time", "memory")] == [130, 3, 3]
    monkeypatch.setattr(streed, "solve", lambda *given, **more: unknown("time"))
    assert CliRunner().invoke(app, ["solve", "tic-tac-toe"]).exit_code == 3
