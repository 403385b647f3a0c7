"""Bundled data, made by code from published rules and tables: `names()` lists them, `load(name)` makes one."""

from __future__ import annotations

from streed.datasets.bundle import MAKERS, Bundled, one_hot
from streed.errors import InputError

__all__ = ["Bundled", "load", "names", "one_hot"]


def names() -> tuple[str, ...]:
    """The names of the bundled data sets, sorted."""
    return tuple(MAKERS)


def load(name: str) -> Bundled:
    """The bundled data set of that name, made afresh; raises InputError for a name that is not in `names()`."""
    if name not in MAKERS:
        raise InputError("name", f"there is no bundled data set {name!r}", f"use one of {', '.join(MAKERS)}")
    return MAKERS[name](name)
