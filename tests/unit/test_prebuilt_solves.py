"""Whole solves with a library of the engine, built here: no compiler is loaded, and the answers are the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from llvmlite import binding

from streed.kernels.prebuilt import levels
from tests.conftest import ROOT
from tests.differential.prebuilt import run_process

pytestmark = [
    pytest.mark.slow,  # building one takes minutes
    pytest.mark.skipif(
        not levels.runnable(binding.get_host_cpu_features()), reason="no library is built for this machine"
    ),
]

PROBLEMS = 140


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory for compiled code with nothing but a library in it."""
    place = tmp_path_factory.mktemp("cache")
    run = subprocess.run(
        [sys.executable, "-m", "streed.prebuild"],
        env={**os.environ, "STREED_CACHE_DIR": str(place)},
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
        timeout=600,
    )
    (built,) = place.glob("*/*.prebuilt")
    assert str(built) in run.stdout
    assert built.stat().st_size < 4_000_000
    return place


def test_solves_without_a_compiler(cache: Path) -> None:
    found, used = run_process(PROBLEMS, "", STREED_CACHE_DIR=str(cache))
    expected, compiled = run_process(PROBLEMS, "0")
    assert found == expected
    assert (used["prebuilt"], compiled["prebuilt"]) == (True, False)


def test_a_first_solve_imports_no_compiler_and_says_nothing(cache: Path, tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from streed.cli.app import app\n"
        "app(['solve', 'tic-tac-toe', '--max-depth', '3'], standalone_mode=False)\n"
        "sys.exit('numba' in sys.modules)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "STREED_CACHE_DIR": str(cache), "HOME": str(tmp_path)},
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert run.returncode == 0, run.stderr
    assert "status  optimal" in run.stdout
    assert run.stderr == ""
    assert not list(cache.glob("*/*.code"))
