"""What a command that searches was asked: the data, the task and the limits, from the options that all of them have."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click

from streed.cli.output import counted, fail

if TYPE_CHECKING:
    from streed.cli.preparation import Table
    from streed.data import Dataset
    from streed.data.roles import Roles
    from streed.task import Task

NOTIONS = ("demographic-parity", "equal-opportunity", "equalized-odds", "error-rate-parity", "predictive-equality")
"""The notions of fairness that have an option of their own; the tasks are not loaded for `streed --help`."""

SEARCHES = ("depth-first", "branches", "auto", "fronts", "general")
"""The drivers; they are not loaded for `streed --help`, as they import numba."""

_MOST_TOLD = 100
"""Columns of which is said what was made of them."""

path = click.Path(path_type=Path)
data_argument = click.argument("data", metavar="DATA")
"""A bundled data set, a file, or "-" for standard input."""
param_option = click.option(
    "--param", metavar="NAME=VALUE", multiple=True, help="A parameter of the task; may be repeated."
)
subject_to_option = click.option(
    "--subject-to", metavar="LIMIT", multiple=True, help="Such as 'min-support(5)' or 'recall >= 0.9'; may be repeated."
)
lam_option = click.option("--lam", metavar="NUMBER", help="Short for --param lam=...: the cost of a branching node.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_CUTS = "Thresholds of numbers and dates: all, so many a column (a number), or auto: all that soon are searched."
_SENSITIVE = "Column of the groups that fairness is about, no feature; if repeated, groups are the combinations."
_FREQUENCY = "Column of whole numbers: how many equal rows each row stands for."

Command = Callable[..., Any]


def search_options(task: str, about: str) -> Callable[[Command], Command]:
    """Adds what every command that searches is asked: the data, the task (`about` it) and its limits, when to stop."""
    option = click.option
    notions = [
        option(f"--{name}", type=float, metavar="GAP", help=f"Largest gap allowed by {name.replace('-', ' ')}.")
        for name in NOTIONS
    ]
    return with_options(
        data_argument,
        option("--target", metavar="COLUMN", help="Column to predict: a name, or a position from 0."),
        option("--task", metavar="TASK", default=task, show_default=True, help=about),
        param_option,
        subject_to_option,
        option("--sensitive", metavar="COLUMN", multiple=True, help=_SENSITIVE),
        *notions,
        option("--max-depth", type=int, help="Largest depth (default: any)."),
        option("--max-nodes", type=int, help="Most branching nodes (default: any number)."),
        option("--min-leaf", type=int, default=1, show_default=True, help="Fewest rows in a leaf."),
        option("--time-limit", type=float, metavar="SECONDS", help="Stop after this long."),
        option("--memory-limit", metavar="SIZE", help="Such as 500MB or 2GB."),
        option("--weights", metavar="COLUMN", help="Column of row weights."),
        option("--frequency", metavar="COLUMN", help=_FREQUENCY),
        option("--cuts", metavar="WHICH", default="auto", show_default=True, help=_CUTS),
    )


def with_options(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Adds options, the first one first."""
    return lambda command: functools.reduce(lambda made, option: option(made), reversed(options), command)


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


def make_objective(task: str, parameters: Sequence[str], lam: str | None, limits: Sequence[str]) -> Task:
    """The task of this name with these parameters, under limits of these names."""
    from streed import registry

    given: dict[str, str] = {}
    for parameter in [*parameters, *([] if lam is None else [f"lam={lam}"])]:
        key, equals, value = parameter.partition("=")
        if not equals or key in given:
            fail(f"param: {parameter!r} is no NAME=VALUE, or is given twice; write --param lam=0.01")
        given[key] = value
    objective = registry.make_task(task, given)
    return objective.subject_to(*map(registry.make_limit, limits)) if limits else objective


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
