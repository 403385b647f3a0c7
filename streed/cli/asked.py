"""What a command that searches was asked: the data, the task and the limits, from the options that all of them have."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import click

from streed.cli.exit_codes import fail
from streed.cli.options import NOTIONS, make_objective
from streed.cli.output import counted

if TYPE_CHECKING:
    from streed.cli.preparation import Table
    from streed.data import Dataset
    from streed.data.roles import Roles
    from streed.task import Task

_MOST_TOLD = 100
"""Columns of which is said what was made of them."""


@attrs.frozen
class Asked:
    """The options by their names; what a command has no option for is as a solve has it."""

    data: str
    target: str | None
    task: str
    param: tuple[str, ...]
    subject_to: tuple[str, ...]
    sensitive: tuple[str, ...]
    notions: Mapping[str, float]
    """The largest gap by the notion of fairness, of those that were given."""
    max_depth: int | None
    max_nodes: int | None
    min_leaf: int
    time_limit: float | None
    memory_limit: str | None
    weights: str | None
    frequency: str | None
    cuts: str
    lam: str | None = None
    categorical: tuple[str, ...] = ()
    multiway: bool = False

    @classmethod
    def take(cls, given: dict[str, Any]) -> Asked:
        """Those of the options that say what was asked, which are taken out of `given`."""
        notions = {name: given.pop(name.replace("-", "_")) for name in NOTIONS}
        own = {field.name: given.pop(field.name) for field in attrs.fields(cls) if field.name in given}
        return cls(notions={name: most for name, most in notions.items() if most is not None}, **own)

    def objective(self) -> Task:
        """The task under every limit that was given."""
        return self.fair(make_objective(self.task, self.param, self.lam, self.subject_to))

    def fair(self, objective: Task) -> Task:
        """The objective under the limits of fairness."""
        from streed import registry

        limits = [registry.make_notion_limit(name, most, self.sensitive) for name, most in self.notions.items()]
        return objective.subject_to(*limits) if limits else objective

    @property
    def limits(self) -> dict[str, Any]:
        """The limits of size and of the search, as `streed.solve` takes them."""
        return {
            "max_depth": self.max_depth,
            "max_nodes": self.max_nodes,
            "min_leaf": self.min_leaf,
            "time_limit": self.time_limit,
            "memory_limit": None if self.memory_limit is None else size_of(self.memory_limit),
        }

    def table(self) -> tuple[Table, str]:
        """The columns by name, and that of the target."""
        from streed.datasets.reading import read_table

        table, found = read_table(self.data, self.target)
        if found is None:
            fail(f"target: which column is to be predicted? give --target, one of: {', '.join(table)}")
        return table, found

    def read(self, table: Table | None = None) -> tuple[Dataset, Roles]:
        """The rows (of `table`, if given), and what their columns are; says which numbers are cut, and how often."""
        from streed import datasets as bundled
        from streed.cli.preparation import ALL, make_dataset, roles_in
        from streed.task.analysis.extent import affordable

        whole, found = self.table()
        table = whole if table is None else table
        named = {"weights": self.weights, "frequency": self.frequency, "sensitive": self.sensitive}
        is_bundled = self.data in bundled.names()  # which hold nothing but categories
        listed = (*self.categorical, ALL) if is_bundled else self.categorical
        roles = roles_in(table, found, categorical=listed, **named)  # type: ignore[arg-type]
        data = make_dataset(table, roles, self.max_cuts, one_hot=is_bundled and not self.multiway)
        if data.ordered:
            timed = self.time_limit is not None
            data = affordable(self.objective(), data, self.max_depth, self.max_nodes, timed=timed)
            click.echo(_tried(data), err=True)
        return data, roles

    @property
    def max_cuts(self) -> int | str:
        """What `--cuts` says of numbers, as `max_cuts` of a solve does."""
        from streed.data.dataset import most_cuts

        return most_cuts(int(self.cuts) if self.cuts.isdecimal() else self.cuts, "cuts")


def gathered(command: Callable[..., None]) -> Callable[..., None]:
    """The command, which takes what was asked as its first argument, as a function of all options."""

    @functools.wraps(command)
    def call(**given: Any) -> None:
        command(Asked.take(given), **given)

    return call


def _tried(data: Dataset) -> str:
    from streed.data.visible import visible

    told = [f"{visible(data.names[j])} ({len(each.values):,} values)" for j, each in data.ordered.items()]
    rest = len(told) - _MOST_TOLD
    most = data.max_cuts
    tried = f"at most {counted(most, 'thresholds')} of each of" if isinstance(most, int) else "all thresholds of"
    return f"{tried} {', '.join(told[:_MOST_TOLD])}{f' and {rest:,} more columns' if rest > 0 else ''}"


def size_of(text: str) -> int:
    """Bytes of "500MB", "2GB" or "1000000"."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if match is None:
        fail(f"memory_limit: {text!r} is no size; write 500MB or 2GB")
    if len(match[1]) > 20:
        fail(f"memory_limit: {text[:40]!r} is more than there is; write 500MB or 2GB")
    return int(float(match[1]) * 1000 ** " KMGT".index(match[2].upper() or " "))
