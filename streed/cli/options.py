"""What a command is given: options that several have, and what their texts stand for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streed.cli.exit_codes import fail

if TYPE_CHECKING:
    from streed.data import Dataset
    from streed.task import Task
    from streed.tree import Tree

NOTIONS = ("demographic-parity", "equal-opportunity", "equalized-odds", "error-rate-parity", "predictive-equality")
"""The notions of fairness that have an option of their own; the tasks are not loaded for `streed --help`."""

SEARCHES = ("depth-first", "branches", "auto", "fronts", "general")
"""The drivers; they are not loaded for `streed --help`, as they import numba."""

path = click.Path(path_type=Path)
data_argument = click.argument("data", metavar="DATA")
"""A bundled data set, a file, or "-" for standard input."""
tree_argument = click.argument("tree", metavar="TREE.json", type=path)
"""A file, or "-" for standard input."""
target_option = click.option("--target", metavar="COLUMN", help="Column to predict: a name, or a position from 0.")
param_option = click.option(
    "--param", metavar="NAME=VALUE", multiple=True, help="A parameter of the task; may be repeated."
)
subject_to_option = click.option(
    "--subject-to", metavar="LIMIT", multiple=True, help="Such as 'min-support(5)' or 'recall >= 0.9'; may be repeated."
)
lam_option = click.option("--lam", metavar="NUMBER", help="Short for --param lam=...: the cost of a branching node.")
weights_option = click.option("--weights", metavar="COLUMN", help="Column of row weights.")
frequency_option = click.option(
    "--frequency", metavar="COLUMN", help="Column of whole numbers: how many equal rows each row stands for."
)
cuts_option = click.option(
    "--cuts",
    metavar="WHICH",
    default="auto",
    show_default=True,
    help="Thresholds of numbers and dates: all, so many a column (a number), or auto: all that soon are searched.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


Command = Callable[..., Any]


def fairness_options(command: Command) -> Command:
    """The command with the columns of groups, and an option for each notion of fairness."""
    notions = [
        click.option(f"--{name}", type=float, metavar="GAP", help=f"Largest gap allowed by {name.replace('-', ' ')}.")
        for name in NOTIONS
    ]
    groups = click.option(
        "--sensitive",
        metavar="COLUMN",
        multiple=True,
        help="Column of the groups that fairness is about, no feature; if repeated, groups are the combinations.",
    )
    return _with([groups, *notions], command)


def size_options(command: Command) -> Command:
    """The command with what a tree may be at most."""
    return _with(
        [
            click.option("--max-depth", type=int, help="Largest depth (default: any)."),
            click.option("--max-nodes", type=int, help="Most branching nodes (default: any number)."),
            click.option("--min-leaf", type=int, default=1, show_default=True, help="Fewest rows in a leaf."),
        ],
        command,
    )


def search_options(task: str, about: str) -> Callable[[Command], Command]:
    """Adds what every command that searches is asked: the data, the task (`about` it) and its limits, when to stop."""
    named = click.option("--task", metavar="TASK", default=task, show_default=True, help=about)
    first: list[Any] = [
        data_argument,
        target_option,
        named,
        param_option,
        subject_to_option,
        fairness_options,
        size_options,
    ]
    return lambda command: _with([*first, stop_options, weights_option, frequency_option, cuts_option], command)


def stop_options(command: Command) -> Command:
    """The command with when a search ends at the latest."""
    return _with(
        [
            click.option("--time-limit", type=float, metavar="SECONDS", help="Stop after this long."),
            click.option("--memory-limit", metavar="SIZE", help="Such as 500MB or 2GB."),
        ],
        command,
    )


def _with(options: Sequence[Callable[[Command], Command]], command: Command) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


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


def load_tree(path: Path) -> Tree:
    """The tree that a file holds, or standard input for "-"."""
    from streed.data.strict_json import MOST_BYTES
    from streed.data.text_file import read_text
    from streed.tree import Tree

    return Tree.from_json(read_text(path, "tree", MOST_BYTES))


def saved_options(command: Command) -> Command:
    """The command with what is asked about the table of a tree that Python saved, which does not say how to read it."""
    likewise = "likewise."
    columns = [
        click.option("--target", metavar="COLUMN", help="Column of the labels, of a tree that Python saved."),
        click.option("--weights", metavar="COLUMN", help=f"Column of row weights, {likewise}"),
        click.option("--frequency", metavar="COLUMN", help=f"Column of how many rows each row stands for, {likewise}"),
        click.option("--sensitive", metavar="COLUMN", multiple=True, help=f"Columns of groups, {likewise}"),
    ]
    return _with(columns, command)


def saved_data(tree: Tree, data: str, target: str | None, weights: str | None, **more: Any) -> Dataset:
    """The data that a saved tree is about, from a raw table; `more`: frequency and sensitive, as `saved_options`."""
    from streed.cli.preparation import dataset_of, roles_in
    from streed.datasets.reading import read_table

    roles = None if tree.claims is None else tree.claims.roles
    table, found = read_table(data, target if roles is None else roles.target)
    if roles is None:
        if found is None:
            fail("target: the tree does not say which column its labels are; give --target")
        multiway = tuple(column.name for column in tree.columns.values() if column.multiway)
        roles = roles_in(table, found, weights=weights, categorical=multiway, **more)
    return dataset_of(tree, table, roles)


def check_one_input(tree: Path, data: str) -> None:
    """Ends the command where the tree and the table are both to be read from standard input."""
    if str(tree) == data == "-":
        fail("data: both the tree and the table are to be read from standard input; name a file for one of them")
