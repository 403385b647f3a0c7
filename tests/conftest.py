"""What holds for all tests: they draw the same data in every run, and compiled code is kept in a place never stale.

Fresh data are drawn by `python -m tests.differential.volume`. numba looks only at the file of a compiled function, not
at what it calls, so the cache depends on all sources.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from pathlib import Path

import hypothesis
import pytest
from hypothesis.internal.conjecture import providers

from tests.ahead import compile_ahead

ROOT = Path(__file__).resolve().parents[1]

_WEEK = 7 * 24 * 3600


def _draw_alike() -> None:
    """Makes Hypothesis draw the same data in every run, whatever the day, the order of tests and the speed.

    Newer versions also draw constants of the modules that happen to be imported, which depends on the tests before.
    """
    hypothesis.settings.register_profile("alike", derandomize=True, database=None, deadline=None)
    hypothesis.settings.load_profile("alike")
    if hasattr(providers, "_get_local_constants"):
        none = type(providers.GLOBAL_CONSTANTS)()
        providers._get_local_constants = lambda: none


def _fingerprint() -> str:
    digest = hashlib.sha256()
    for folder in ("streed", "tasks"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _cache_root() -> Path:
    """The user's cache directory, or a private one in the temporary directory where the home cannot be written."""
    try:
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "streed-tests"
        root.mkdir(parents=True, exist_ok=True)
        if os.access(root, os.W_OK):
            return root
    except (OSError, RuntimeError):  # RuntimeError: there is no home at all
        pass
    root = Path(tempfile.gettempdir()) / f"streed-tests-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    return root


def _choose_cache() -> None:
    if "NUMBA_CACHE_DIR" in os.environ:
        return
    root = _cache_root()
    for old in root.iterdir():
        if old.is_dir() and old.stat().st_mtime < time.time() - _WEEK:
            shutil.rmtree(old, ignore_errors=True)
    chosen = root / _fingerprint()
    chosen.mkdir(exist_ok=True)
    os.utime(chosen)
    os.environ["NUMBA_CACHE_DIR"] = str(chosen)


# At import: the settings of a test are made when its module is read.
_draw_alike()
# At import, because numba reads the variable when it is first imported; subprocesses inherit it.
_choose_cache()


_LONG_EXAMPLES = (
    *("estimators.fair", "estimators.regressor", "tasks.cost_sensitive", "tasks.fairness"),
    *("tasks.metrics", "tasks.accuracy", "tasks.regression", "tasks.support", "tasks.survival"),
)
"""Modules of the package whose examples wait for kernels that few tests need."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks examples, which cannot carry a mark themselves."""
    for item in items:
        if isinstance(item, pytest.DoctestItem) and item.name.removeprefix("streed.").startswith(_LONG_EXAMPLES):
            item.add_marker(pytest.mark.compiles)


def pytest_configure(config: pytest.Config) -> None:
    """Before several workers run the whole suite."""
    several = getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput")
    if several and config.option.dist == "load":
        config.option.dist = "worksteal"  # some tests compile for a minute, most take no time
    if several and config.args_source is config.ArgsSource.TESTPATHS and not config.option.collectonly:
        compile_ahead()
