"""What a command that searches was asked: the data, the task and the limits, from the options that all of them have."""

from __future__ import annotations

import re
import types
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streed.cli.output import counted, errors, fail

if TYPE_CHECKING:
    from streed.cli.preparation import Table
    from streed.data import Dataset
    from streed.data.database import Roles
    from streed.task import Task

NOTIONS = ("demographic-parity", "equal-opportunity", "equalized-odds", "error-rate-parity", "predictive-equality")
"""The notions of fairness that have an option of their own; the tasks are not loaded for `streed --help`."""

SEARCHES = ("depth-first", "branches", "auto", "fronts", "general")
"""The drivers; they are not loaded for `streed --help`, as they import numba."""

_MOST_TOLD = 100
"""Columns of which is said what was made of them."""


class Asked(types.SimpleNamespace):
    """The options of a command by their names, and what they come to."""

    def stated(self) -> Task:
        """The task with its parameters, under no limits."""
        from streed import registry

        lam = getattr(self, "lam", None)
        given: dict[str, str] = {}
        for parameter in [*self.param, *([] if lam is None else [f"lam={lam}"])]:
            key, equals, value = parameter.partition("=")
            if not equals or key in given:
                fail(f"param: {parameter!r} is no NAME=VALUE, or is given twice; write --param lam=0.01")
            given[key] = value
        return registry.make_task(self.task, given)

    def limited(self, objective: Task) -> Task:
        """The objective under the limits that are named."""
        from streed import registry

        return objective.subject_to(*map(registry.make_limit, self.subject_to)) if self.subject_to else objective

    def fair(self, objective: Task) -> Task:
        """The objective under the limits of fairness."""
        from streed import registry

        given = {name: getattr(self, name.replace("-", "_")) for name in NOTIONS}
        limits = [registry.make_notion(name, self.sensitive) <= x for name, x in given.items() if x is not None]
        return objective.subject_to(*limits) if limits else objective

    def objective(self) -> Task:
        """The task under every limit that was given."""
        return self.fair(self.limited(self.stated()))

    def limits(self) -> dict[str, Any]:
        """The limits of size and of the search, as `streed.solve` takes them."""
        found = {name: getattr(self, name) for name in ("max_depth", "max_nodes", "min_leaf", "time_limit")}
        if self.memory_limit is None:
            return {**found, "memory_limit": None}
        size = re.fullmatch(r"(\d{1,15}(?:\.\d{1,15})?)\s*([KMGT]?)(?:i?B)?", self.memory_limit.strip(), re.IGNORECASE)
        if size is None:
            fail(f"memory_limit: {self.memory_limit[:40]!r} is no size; write 500MB or 2GB")
        return {**found, "memory_limit": int(float(size[1]) * 1000 ** " KMGT".index(size[2].upper() or " "))}

    def columns(self) -> tuple[Table, str]:
        """The columns by name, and that of the target."""
        from streed.datasets.reading import read_table

        table, found = read_table(self.data, self.target)
        if found is None:
            fail(f"target: which column is to be predicted? give --target, one of: {', '.join(table)}")
        return table, found

    def dataset(self, table: Table | None = None) -> tuple[Dataset, Roles]:
        """The rows (of `table`, if given), and what their columns are; says which numbers are cut, and how often."""
        from streed import datasets as bundled
        from streed.cli.preparation import ALL, make_dataset, roles_in
        from streed.errors import visible
        from streed.task.analysis.extent import affordable

        whole, found = self.columns()
        table = whole if table is None else table
        is_bundled = self.data in bundled.names()  # which hold nothing but categories
        listed = getattr(self, "categorical", ())
        roles = roles_in(table, found, self, (*listed, ALL) if is_bundled else listed)
        data = make_dataset(table, roles, self.most_cuts(), one_hot=is_bundled and not getattr(self, "multiway", False))
        if data.ordered:
            timed = self.time_limit is not None
            data = affordable(self.objective(), data, self.max_depth, self.max_nodes, timed=timed)
            told = [f"{visible(data.names[j])} ({len(each.values):,} values)" for j, each in data.ordered.items()]
            most, rest = data.max_cuts, len(told) - _MOST_TOLD
            tried = f"at most {counted(most, 'thresholds')} of each" if isinstance(most, int) else "all thresholds"
            more = f" and {rest:,} more columns" if rest > 0 else ""
            click.echo(f"{tried} of {', '.join(told[:_MOST_TOLD])}{more}", err=True)
        return data, roles

    def most_cuts(self) -> int | str:
        """What `--cuts` says of numbers, as `max_cuts` of a solve does."""
        from streed.data.dataset import most_cuts

        return most_cuts(int(self.cuts) if self.cuts.isdecimal() else self.cuts, "cuts")


def command(*options: Any, interrupted: str = "no tree yet", **settings: Any) -> Callable[[Any], click.Command]:
    """Makes a command of a function of what was asked; the first option is the first one told.

    `interrupted` is what is missing after Ctrl-C; `settings` are click's.
    """

    def make(told: Callable[..., None]) -> click.Command:
        def call(**given: Any) -> None:
            with errors(interrupted):
                told(Asked(**given))

        declared: Any = call
        for option in reversed(options):
            declared = option(declared)
        decorate: Any = click.command(told.__name__.replace("_", "-"), help=told.__doc__, **settings)
        made: click.Command = decorate(declared)
        return made

    return make


option = click.option
path = click.Path(path_type=Path)
data_argument = click.argument("data", metavar="DATA")
"""A bundled data set, a file, or "-" for standard input."""
tree_argument = click.argument("tree", metavar="TREE.json", type=path)
"""A file, or "-" for standard input."""
param_option = option("--param", metavar="NAME=VALUE", multiple=True, help="A parameter of the task; may be repeated.")
subject_to_option = option("--subject-to", metavar="LIMIT", multiple=True, help="Such as 'recall >= 0.9'; repeatable.")
lam_option = option("--lam", metavar="NUMBER", help="Short for --param lam=...: the cost of a branching node.")
json_option = option("--json", "as_json", is_flag=True, help="Print JSON.")
_CUTS = "Thresholds of numbers and dates: all, a number of them per column, or auto: as many as are soon searched."
_SENSITIVE = "Column of the groups that fairness is about; it is no feature. Repeated: groups are the combinations."
_FREQUENCY = "Column of whole numbers: how many equal rows each row stands for."


def role_options(beside: str = "") -> list[Any]:
    """The options that say what columns are; `beside`: of which tables they are asked for."""
    return [
        option("--target", metavar="COLUMN", help="Column to predict: a name, or a position from 0" + beside),
        option("--sensitive", metavar="COLUMN", multiple=True, help=_SENSITIVE + beside),
        option("--weights", metavar="COLUMN", help="Column of row weights." + beside),
        option("--frequency", metavar="COLUMN", help=_FREQUENCY + beside),
    ]


def search_options(task: str, about: str) -> list[Any]:
    """What every command that searches is asked: the data, the task (`about` it) and its limits, when to stop."""
    return [
        data_argument,
        *role_options(),
        option("--task", metavar="TASK", default=task, show_default=True, help=about),
        param_option,
        subject_to_option,
        *(option(f"--{x}", type=float, metavar="GAP", help=f"Largest gap by {x.replace('-', ' ')}.") for x in NOTIONS),
        option("--max-depth", type=int, help="Largest depth (default: any)."),
        option("--max-nodes", type=int, help="Most branching nodes (default: any number)."),
        option("--min-leaf", type=int, default=1, show_default=True, help="Fewest rows in a leaf."),
        option("--time-limit", type=float, metavar="SECONDS", help="Stop after this long."),
        option("--memory-limit", metavar="SIZE", help="Such as 500MB or 2GB."),
        option("--cuts", metavar="WHICH", default="auto", show_default=True, help=_CUTS),
    ]
