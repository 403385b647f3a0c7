"""What holds for all tests: they draw the same data in every run, and compiled code is kept where no home is needed.

Fresh data are drawn by `python -m tests.differential.volume`.
"""

from __future__ import annotations

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


def _draw_alike() -> None:
    """Makes Hypothesis draw the same data in every run, whatever the day, the order of tests and the speed.

    Newer versions also draw constants of the modules that happen to be imported, which depends on the tests before.
    """
    hypothesis.settings.register_profile("alike", derandomize=True, database=None, deadline=None)
    hypothesis.settings.load_profile("alike")
    if hasattr(providers, "_get_local_constants"):
        none = type(providers.GLOBAL_CONSTANTS)()
        providers._get_local_constants = lambda: none


def _choose_cache() -> None:
    """Keeps compiled code apart from the user's, and deletes what is a week old: every edit of a kernel makes more."""
    if "NUMBA_CACHE_DIR" in os.environ:
        return
    root = Path(tempfile.gettempdir()) / f"streed-tests-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
    root.mkdir(mode=0o700, exist_ok=True)
    for old in root.glob("streed/*"):
        if old.stat().st_mtime < time.time() - 7 * 24 * 3600:
            shutil.rmtree(old, ignore_errors=True)
    os.environ["NUMBA_CACHE_DIR"] = str(root)


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
