"""The same draws whatever modules are imported.

Newer versions of Hypothesis also draw constants that they find in the source of the caller's modules, as far as these
are imported by then. So the same call would draw other data after an import.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from hypothesis.internal.conjecture import providers


@contextlib.contextmanager
def without_local_constants() -> Iterator[None]:
    """Within it, Hypothesis draws no constants of imported modules; versions that never do stay as they are."""
    found = getattr(providers, "_get_local_constants", None)
    if found is None:
        yield
        return
    none = type(providers.GLOBAL_CONSTANTS)()
    _forget_choices()
    _replace(lambda: none)
    try:
        yield
    finally:
        _replace(found)
        _forget_choices()


def _replace(source: Any) -> None:
    """Sets where Hypothesis takes local constants from."""
    setattr(providers, "_get_local_constants", source)  # noqa: B010 - a name that not all versions have


def _forget_choices() -> None:
    """Drops the constants that Hypothesis keeps by what is drawn, among which local ones are."""
    kept = getattr(providers, "CONSTANTS_CACHE", None)
    if kept is not None:
        kept.cache.clear()
