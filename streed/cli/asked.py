"""What a command that searches was asked: the data, the task and the limits, from the options that all of them have."""

from __future__ import annotations

import re
import types
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streed.cli.output import counted, fail

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

Asked = types.SimpleNamespace
"""The options of a command, by their names."""

option = click.option
path = click.Path(path_type=Path)
data_argument = click.argument("data", metavar="DATA")
"""A bundled data set, a file, or "-" for standard input."""
tree_argument = click.argument("tree", metavar="TREE.json", type=path)
"""A file, or "-" for standard input."""
param_option = option("--param", metavar="NAME=VALUE", multiple=True, help="A parameter of the task; may be repeated.")
subject_to_option = option(
    "--subject-to", metavar="LIMIT", multiple=True, help="Such as 'min-support(5)' or 'recall >= 0.9'; may be repeated."
)
lam_option = option("--lam", metavar="NUMBER", help="Short for --param lam=...: the cost of a branching node.")
json_option = option("--json", "as_json", is_flag=True, help="Print JSON.")
_CUTS = "Thresholds of numbers and dates: all, so many a column (a number), or auto: all that soon are searched."
_SENSITIVE = "Column of the groups that fairness is about, no feature; if repeated, groups are the combinations."
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
        *(
            option(f"--{name}", type=float, metavar="GAP", help=f"Largest gap allowed by {name.replace('-', ' ')}.")
            for name in NOTIONS
        ),
        option("--max-depth", type=int, help="Largest depth (default: any)."),
        option("--max-nodes", type=int, help="Most branching nodes (default: any number)."),
        option("--min-leaf", type=int, default=1, show_default=True, help="Fewest rows in a leaf."),
        option("--time-limit", type=float, metavar="SECONDS", help="Stop after this long."),
        option("--memory-limit", metavar="SIZE", help="Such as 500MB or 2GB."),
        option("--cuts", metavar="WHICH", default="auto", show_default=True, help=_CUTS),
    ]


def objective_of(asked: Asked) -> Task:
    """The task under every limit that was given."""
    return fair(asked, make_objective(asked.task, asked.param, asked.subject_to, getattr(asked, "lam", None)))


def fair(asked: Asked, objective: Task) -> Task:
    """The objective under the limits of fairness."""
    from streed import registry

    given = {name: getattr(asked, name.replace("-", "_")) for name in NOTIONS}
    limits = [
        registry.make_notion_limit(name, most, asked.sensitive) for name, most in given.items() if most is not None
    ]
    return objective.subject_to(*limits) if limits else objective


def limits_of(asked: Asked) -> dict[str, Any]:
    """The limits of size and of the search, as `streed.solve` takes them."""
    found = {name: getattr(asked, name) for name in ("max_depth", "max_nodes", "min_leaf", "time_limit")}
    return {**found, "memory_limit": None if asked.memory_limit is None else size_of(asked.memory_limit)}


def table_of(asked: Asked) -> tuple[Table, str]:
    """The columns by name, and that of the target."""
    from streed.datasets.reading import read_table

    table, found = read_table(asked.data, asked.target)
    if found is None:
        fail(f"target: which column is to be predicted? give --target, one of: {', '.join(table)}")
    return table, found


def data_of(asked: Asked, table: Table | None = None) -> tuple[Dataset, Roles]:
    """The rows (of `table`, if given), and what their columns are; says which numbers are cut, and how often."""
    from streed import datasets as bundled
    from streed.cli.preparation import ALL, make_dataset, roles_in
    from streed.data.visible import visible
    from streed.task.analysis.extent import affordable

    whole, found = table_of(asked)
    table = whole if table is None else table
    is_bundled = asked.data in bundled.names()  # which hold nothing but categories
    listed = getattr(asked, "categorical", ())
    roles = roles_in(table, found, asked, (*listed, ALL) if is_bundled else listed)
    data = make_dataset(table, roles, cuts_of(asked), one_hot=is_bundled and not getattr(asked, "multiway", False))
    if data.ordered:
        timed = asked.time_limit is not None
        data = affordable(objective_of(asked), data, asked.max_depth, asked.max_nodes, timed=timed)
        told = [f"{visible(data.names[j])} ({len(each.values):,} values)" for j, each in data.ordered.items()]
        most, rest = data.max_cuts, len(told) - _MOST_TOLD
        tried = f"at most {counted(most, 'thresholds')} of each of" if isinstance(most, int) else "all thresholds of"
        more = f" and {rest:,} more columns" if rest > 0 else ""
        click.echo(f"{tried} {', '.join(told[:_MOST_TOLD])}{more}", err=True)
    return data, roles


def cuts_of(asked: Asked) -> int | str:
    """What `--cuts` says of numbers, as `max_cuts` of a solve does."""
    from streed.data.dataset import most_cuts

    return most_cuts(int(asked.cuts) if asked.cuts.isdecimal() else asked.cuts, "cuts")


def make_objective(task: str, parameters: Sequence[str], limits: Sequence[str], lam: str | None = None) -> Task:
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


def size_of(text: str) -> int:
    """Bytes of "500MB", "2GB" or "1000000"."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if match is None:
        fail(f"memory_limit: {text!r} is no size; write 500MB or 2GB")
    if len(match[1]) > 20:
        fail(f"memory_limit: {text[:40]!r} is more than there is; write 500MB or 2GB")
    return int(float(match[1]) * 1000 ** " KMGT".index(match[2].upper() or " "))
