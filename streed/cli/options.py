"""What a command is given: options that several have, and what their texts stand for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streed.cli.exit_codes import fail

if TYPE_CHECKING:
    from streed.task import Task
    from streed.tree import Reading, Tree

NOTIONS = ("demographic-parity", "equal-opportunity", "equalized-odds", "error-rate-parity", "predictive-equality")
"""The notions of fairness that have an option of their own; the tasks are not loaded for `streed --help`."""

SEARCHES = ("depth-first", "branches", "discrepancy", "auto", "fronts", "general")
"""The drivers; they are not loaded for `streed --help`, as they import numba."""

_MOST_TOLD = 100
"""Columns of which is said what was made of them."""

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
weights_option = click.option("--weights", metavar="COLUMN", help="Column of row weights.")
frequency_option = click.option(
    "--frequency", metavar="COLUMN", help="Column of whole numbers: how many equal rows each row stands for."
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


def stop_options(command: Command) -> Command:
    """The command with when a search ends at the latest."""
    return _with(
        [
            click.option("--time-limit", type=float, metavar="SECONDS", help="Stop after this long."),
            click.option("--memory-limit", metavar="SIZE", help="Such as 500MB or 2GB."),
        ],
        command,
    )


def question_options(command: Command) -> Command:
    """The command with options that say which questions are made of numbers and dates."""
    most = click.option("--n-thresholds", type=int, default=8, show_default=True, help="Most cuts of a column.")
    method = click.option(
        "--thresholds",
        metavar="METHOD",
        default="quantiles",
        show_default=True,
        help="Where to cut numbers and dates: all, quantiles, midpoints, mdlp, tree, guesses (last two: scikit-learn).",
    )
    return _with([method, most], command)


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


def make_fair(objective: Task, notions: Mapping[str, float | None], sensitive: Sequence[str]) -> Task:
    """The objective under the limits of fairness that were given."""
    from streed import registry

    given = {name.replace("_", "-"): most for name, most in notions.items() if most is not None}
    limits = [registry.make_notion_limit(name, most, sensitive) for name, most in given.items()]
    return objective.subject_to(*limits) if limits else objective


def read_data(
    data: str,
    target: str | None,
    weights: str | None,
    categorical: Sequence[str],
    one_hot: bool,
    sensitive: Sequence[str],
    thresholds: str,
    n_thresholds: int,
    frequency: str | None = None,
) -> tuple[dict[str, list[Any]], Reading]:
    """The table, and how it becomes a data set; says what was made of columns that are no plain categories."""
    from streed import datasets as bundled
    from streed.binarize import Settings
    from streed.cli.preparation import ALL, plan, present
    from streed.datasets.reading import read_table

    table, found = read_table(data, target)
    if found is None:
        fail(f"target: which column is to be predicted? give --target, one of: {', '.join(table)}")
    table = present(table, frequency)
    trusted = data in bundled.names()
    reading = plan(
        table,
        found,
        weights=weights,
        categorical=categorical,
        one_hot=one_hot,
        trusted=trusted,
        sensitive=sensitive,
        settings=Settings(n_thresholds=n_thresholds) if thresholds == ALL else Settings(thresholds, n_thresholds),
        frequency=frequency,
        every_threshold=thresholds == ALL,
    )
    if reading.ordered:
        click.echo(_tried(table, reading), err=True)
    if reading.recipes:
        click.echo(_made(reading, thresholds), err=True)
    return table, reading


def _tried(table: Mapping[str, list[Any]], reading: Reading) -> str:
    from streed.data.visible import visible

    told = [f"{visible(name)} ({len(set(table[name]) - {None}):,} values)" for name in reading.ordered[:_MOST_TOLD]]
    rest = len(reading.ordered) - _MOST_TOLD
    return f"all thresholds of {', '.join(told)}{f' and {rest:,} more columns' if rest > 0 else ''}"


def _made(reading: Reading, thresholds: str) -> str:
    from streed.binarize import TableRecipe
    from streed.data.visible import visible

    told = [visible(line) for line in TableRecipe(reading.recipes[:_MOST_TOLD]).to_text().split("\n")]
    rest = len(reading.recipes) - _MOST_TOLD
    lines = "\n  ".join([*told, *([f"... and {rest:,} more columns"] if rest > 0 else [])])
    columns = "1 column" if len(reading.recipes) == 1 else f"{len(reading.recipes)} columns"
    return f"made questions of {columns} (--thresholds {thresholds}):\n  {lines}"


def load_tree(path: Path) -> Tree:
    """The tree that a file holds, or standard input for "-"."""
    from streed.data.strict_json import MOST_BYTES
    from streed.data.text_file import read_text
    from streed.tree import Tree

    return Tree.from_json(read_text(path, "tree", MOST_BYTES))


def check_one_input(tree: Path, data: str) -> None:
    """Ends the command where the tree and the table are both to be read from standard input."""
    if str(tree) == data == "-":
        fail("data: both the tree and the table are to be read from standard input; name a file for one of them")


def size_of(text: str) -> int:
    """Bytes of "500MB", "2GB" or "1000000"."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if match is None:
        fail(f"memory_limit: {text!r} is no size; write 500MB or 2GB")
    if len(match[1]) > 20:
        fail(f"memory_limit: {text[:40]!r} is more than there is; write 500MB or 2GB")
    return int(float(match[1]) * 1000 ** " KMGT".index(match[2].upper() or " "))
