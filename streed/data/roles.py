"""Which column of a query is what: features, target, weights, frequency, and row data by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

import attrs

from streed.errors import InputError


@final
@attrs.frozen
class Roles:
    """Which column is what."""

    features: tuple[str, ...]
    target: str | None
    sample_weight: str | None
    frequency: str | None
    row_data: Mapping[str, str | tuple[str, ...]]
    """A column, or the columns of a table, by the name of the row data."""
    categorical: tuple[str, ...] = ()
    """The features that are called categorical."""

    @property
    def named(self) -> list[tuple[str, str]]:
        """(argument, column) of every column but the features."""
        found = [("target", self.target), ("sample_weight", self.sample_weight), ("frequency", self.frequency)]
        beside = [(name, each) for name, given in self.row_data.items() for each in listed_names(given)]
        return [(argument, column) for argument, column in (*found, *beside) if column is not None]

    @classmethod
    def of(
        cls,
        known: Sequence[str],
        features: Any,
        target: Any,
        sample_weight: Any,
        frequency: Any,
        row_data: Mapping[str, Any],
    ) -> Roles:
        """The roles of the columns `known`; raises InputError for columns that are not there, or are named twice."""
        beside = {name: _columns(name, given) for name, given in row_data.items() if given is not None}
        for argument, name in (("target", target), ("sample_weight", sample_weight), ("frequency", frequency)):
            if name is not None and not isinstance(name, str):
                raise InputError(argument, f"it is {name!r}", "give the name of a column")
        roles = cls((), target, sample_weight, frequency, beside)
        taken = [column for _, column in roles.named]
        if features is None:
            chosen = tuple(name for name in known if name not in taken)
        else:
            chosen = listed_names(_columns("features", features))
        for argument, name in [*(("features", name) for name in chosen), *roles.named]:
            if name not in known:
                raise InputError(argument, f"there is no column {name!r}", f"the columns are {', '.join(known)}"[:500])
        if len(set(chosen)) < len(chosen):
            raise InputError("features", "a column is named twice", "name every column once")
        for argument, name in roles.named:
            if argument in ("target", "sample_weight", "frequency") and name in chosen:
                raise InputError(argument, f"{name!r} is a feature, too", "leave it out of features")
        return attrs.evolve(roles, features=chosen)


def _columns(argument: str, given: Any) -> str | tuple[str, ...]:
    if isinstance(given, str):
        return given
    if isinstance(given, Sequence) and given and all(isinstance(name, str) for name in given):
        return tuple(given)
    raise InputError(argument, f"it is {given!r}", "give the name of a column, or a list of names")


def listed_names(given: str | tuple[str, ...]) -> tuple[str, ...]:
    """The columns that were named, one or several."""
    return (given,) if isinstance(given, str) else given
