"""Is my task separable? The laws of STreeD's Theorem 4.6 and of the contract, tried on small data.

    from streed.testing import check_separable, separability_suite

    check_separable(MyTask)                        # a report, or NotSeparableError with a counterexample
    test_my_task = separability_suite(MyTask)      # one pytest test per law

`theorem` and `laws` hold the laws, `cases` what they are tried on. Hypothesis searches for counterexamples
and makes them small; it is loaded when a name of this package is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from streed.errors import MissingPackageError

if TYPE_CHECKING:
    from streed.testing.cases import Law, datasets, states, trees, values
    from streed.testing.laws import LAWS
    from streed.testing.separability import (
        Counterexample,
        Finding,
        Report,
        check_separable,
        find_violations,
        separability_suite,
    )

__all__ = ["LAWS", "Counterexample", "Finding", "Law", "Report", "check_separable", "datasets", "find_violations"]
__all__ += ["separability_suite", "states", "trees", "values"]

_FILES = {
    "laws": "LAWS",
    "cases": "Law datasets states trees values",
    "separability": "Counterexample Finding Report check_separable find_violations separability_suite",
}
_HOMES = {name: f"streed.testing.{file}" for file, names in _FILES.items() for name in names.split()}

_NEEDED = ("hypothesis", "pytest")


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'streed.testing' has no attribute {name!r}")
    try:
        found = getattr(importlib.import_module(_HOMES[name]), name)
    except ModuleNotFoundError as error:
        if error.name not in _NEEDED:
            raise
        raise MissingPackageError(
            f"streed.testing needs {error.name}, which is not installed; pip install 'streed[testing]'"
        ) from error
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
