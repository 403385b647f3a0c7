"""Files of compiled code that several processes wrote are put together in one: their inner names must not meet.

Numba numbers functions by process, so two closures of one name and one number may come from different processes; a
process that loads both would link one of them in the place of the other, and calls the wrong code.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

SOURCE = """
import sys
from numba import njit
from streed.kernels import compiled

def make(step):
    @njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)
    def helper(x, n):
        if n <= 0:
            return x
        return helper(x + step, n - 1) + 3 * step
    return helper

small, large = make(1), make(1000)
kind = getattr(compiled, sys.argv[1])

@kind
def few(x):
    return small(x, x + 20)

@kind
def many(x):
    return large(x, x + 20)

for name in sys.argv[2:]:
    print(globals()[name](5))
"""

FEW, MANY = "105", "100005"
"""5 and four steps each for 25 calls."""


@pytest.mark.compiles
@pytest.mark.parametrize("kind", ["entry", "own_entry"])
def test_functions_of_one_name_from_two_processes(tmp_path: Path, kind: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(SOURCE, encoding="utf-8")

    def run(*names: str) -> list[str]:
        run = subprocess.run(
            [sys.executable, str(script), kind, *names],
            env={**os.environ, "STREED_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)},
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            timeout=600,
        )
        return run.stdout.split()

    assert run("few") == [FEW]
    assert run("many") == [MANY]
    assert run("few", "many") == [FEW, MANY]
    assert run("many", "few") == [MANY, FEW]


FORKED = """
import os
from numba.core.bytecode import FunctionIdentity
from streed.kernels import compiled

print(next(FunctionIdentity._unique_ids), flush=True)
for _ in range(2):
    child = os.fork()
    if child == 0:
        print(next(FunctionIdentity._unique_ids), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_processes_that_were_forked_number_apart() -> None:
    call = [sys.executable, "-c", FORKED]
    run = subprocess.run(
        call, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True, stdout=subprocess.PIPE, text=True, timeout=600
    )
    numbers = [int(line) >> 20 for line in run.stdout.split()]
    assert len(numbers) == len(set(numbers)) == 3
