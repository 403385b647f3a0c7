"""Ctrl-C and SIGTERM while code is compiled: the wait ends at once, whoever compiles."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.processes import ended, started

posix = pytest.mark.skipif(sys.platform == "win32", reason="there, signals reach whole consoles")

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
    from tests.unit.test_stopping import X, Y

    rows = [",".join(map(str, (*row, label))) for row, label in zip(X.tolist(), Y.tolist(), strict=True)]
    table = tmp_path / "table.csv"
    table.write_text("\n".join([",".join([*(f"c{j}" for j in range(X.shape[1])), "y"]), *rows]) + "\n")
    arguments = ["solve", str(table), "--target", "y", "--max-depth", "7", "--no-progress"]
    done = ended("-c", SEARCHING, *arguments)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "feasible" in done.stdout
    assert "interrupt" in done.stdout
