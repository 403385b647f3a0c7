"""Columns by their names: which they are, and which of them the caller lists."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from streed.data.column import shown
from streed.data.table import Table
from streed.errors import InputError, brief
from streed.exact import Array


def column_names(source: Array | Table, names: Sequence[str] | None, p: int) -> tuple[str, ...] | None:
    """The columns' names, a table's own or those given for an array; None without any. Raises InputError for others."""
    own = source.names if isinstance(source, Table) else None
    if names is None:
        return own
    if own is not None:
        raise InputError("names", "given for a table, which names its columns itself", "rename the table's columns")
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InputError("names", f"it is {brief(names)}", "give a list of texts, one per column")
    given = tuple(names)
    if not all(isinstance(name, str) for name in given):
        raise InputError("names", f"not all are texts: {shown(given)}", "give one text per column")
    if len(given) != p:
        raise InputError("names", f"there are {len(given)} names for {p} columns", "give one name per column")
    if len(set(given)) < p:
        twice = next(name for i, name in enumerate(given) if name in given[:i])
        raise InputError("names", f"two columns are named {twice!r}", "give every column its own name")
    return given


def listed_columns(categorical: Any, names: tuple[str, ...] | None, p: int) -> Collection[int]:
    """The positions of the columns that the caller calls categorical."""
    if categorical is None or categorical is False:
        return ()
    if categorical is True:
        return range(p)
    if isinstance(categorical, (str, bytes)) or not isinstance(categorical, Iterable):
        raise InputError("categorical", f"it is {categorical!r}", "give True, or a list of column names or positions")
    known = {name: j for j, name in enumerate(names or [f"x{j}" for j in range(p)])}
    chosen: set[int] = set()
    for item in categorical:
        if isinstance(item, str):
            if item not in known:
                raise InputError("categorical", f"there is no column {item!r}", f"the columns are {shown(known)}")
            chosen.add(known[item])
        elif isinstance(item, (int, np.integer)) and not isinstance(item, bool):
            if not 0 <= item < p:
                raise InputError("categorical", f"there is no column {item}", f"positions go from 0 to {p - 1}")
            chosen.add(int(item))
        else:
            raise InputError("categorical", f"{item!r} is no column name or position", "give texts or whole numbers")
    return chosen
