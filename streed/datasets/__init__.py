"""Bundled data, made by code from published rules and tables: `names()` lists them, `load(name)` makes one."""

from __future__ import annotations

import importlib

from streed.datasets.bundle import Bundled, one_hot
from streed.errors import InputError

__all__ = ["Bundled", "load", "names", "one_hot"]

_MODULES = {
    "balance-scale": "balance_scale",
    "berkeley": "berkeley",
    "monks-1": "monks",
    "monks-2": "monks",
    "monks-3": "monks",
    "tic-tac-toe": "tic_tac_toe",
}


def names() -> tuple[str, ...]:
    """The names of the bundled data sets, sorted."""
    return tuple(_MODULES)


def load(name: str) -> Bundled:
    """The bundled data set of that name, made afresh; raises InputError for a name that is not in `names()`."""
    if name not in _MODULES:
        raise InputError("name", f"there is no bundled data set {name!r}", f"use one of {', '.join(_MODULES)}")
    made: Bundled = importlib.import_module(f"streed.datasets.{_MODULES[name]}").make(name)
    return made
