"""`streed solve`: find the optimal tree for a table, and prove it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

import streed
from streed.cli.exit_codes import CODES, code_of, errors, fail
from streed.cli.options import (
    SEARCHES,
    data_argument,
    fairness_options,
    frequency_option,
    json_option,
    make_fair,
    make_objective,
    param_option,
    path,
    question_options,
    read_data,
    size_of,
    size_options,
    stop_options,
    subject_to_option,
    target_option,
    weights_option,
)
from streed.cli.output import brief, print_json, write

if TYPE_CHECKING:
    from streed.tree import Reading, Tree


@click.command(epilog=CODES)
@data_argument
@target_option
@click.option(
    "--task",
    metavar="TASK",
    default="accuracy",
    show_default=True,
    help="What to optimise: a name of `streed tasks`, or 'name(arguments)'.",
)
@param_option
@click.option("--lam", metavar="NUMBER", help="Short for --param lam=...: the cost of a branching node.")
@subject_to_option
@fairness_options
@size_options
@click.option(
    "--search",
    metavar="DRIVER",
    default="depth-first",
    show_default=True,
    help=f"The search procedure, one of {', '.join(SEARCHES)}.",
)
@stop_options
@click.option("--threads", type=int, default=1, show_default=True, help="Threads to search with.")
@click.option("--gap", type=float, metavar="PART", help="Stop once value and bound differ by this part of the value.")
@weights_option
@frequency_option
@click.option(
    "--categorical",
    metavar="COLUMN",
    multiple=True,
    help="A column of numbers that are categories; may be repeated; `all` for all.",
)
@click.option(
    "--one-hot/--multiway",
    default=True,
    show_default=True,
    help="A yes/no question per category, or one child per category.",
)
@question_options
@click.option(
    "--query",
    metavar="SQL",
    help="Rows by a query in which `data` is the Parquet or CSV file, read and grouped by DuckDB: for many rows.",
)
@click.option("--out", type=path, metavar="FILE", help="Save the tree and its claims as JSON.")
@json_option
@click.option("--progress/--no-progress", default=None, help="Show a live line (default: in a terminal).")
def solve(
    data: str,
    target: str | None,
    task: str,
    param: tuple[str, ...],
    lam: str | None,
    subject_to: tuple[str, ...],
    sensitive: tuple[str, ...],
    max_depth: int | None,
    max_nodes: int | None,
    min_leaf: int,
    search: str,
    time_limit: float | None,
    memory_limit: str | None,
    threads: int,
    gap: float | None,
    weights: str | None,
    frequency: str | None,
    categorical: tuple[str, ...],
    one_hot: bool,
    thresholds: str,
    n_thresholds: int,
    query: str | None,
    out: Path | None,
    as_json: bool,
    progress: bool | None,
    **notions: float | None,
) -> None:
    """Find the optimal tree for DATA, and prove it.

    DATA is a bundled data set (see `streed datasets`), a CSV file, or - for standard input.
    """
    with errors():
        if out is not None and not out.parent.is_dir():
            fail(f"out: there is no folder {str(out.parent)!r}")  # said before the search, not after it
        objective = make_fair(make_objective(task, param, lam, subject_to), notions, sensitive)
        from streed.cli.preparation import make_dataset

        if query is None:
            table, reading = read_data(
                data, target, weights, categorical, one_hot, sensitive, thresholds, n_thresholds, frequency
            )
            dataset = make_dataset(table, reading)
        else:
            from streed.cli.query import query_data

            if thresholds not in ("all", "quantiles"):
                fail(f"thresholds: a database cuts at quantiles or everywhere, not by {thresholds!r}; leave it out")
            most = None if thresholds == "all" else n_thresholds
            reading = None
            dataset = query_data(
                data,
                query,
                objective,
                target=target,
                weights=weights,
                frequency=frequency,
                sensitive=sensitive,
                categorical=categorical,
                max_cuts=most,
            )
        result = streed.solve(
            objective,
            dataset,
            max_depth=max_depth,
            max_nodes=max_nodes,
            min_leaf=min_leaf,
            search=search,
            time_limit=time_limit,
            memory_limit=None if memory_limit is None else size_of(memory_limit),
            progress=(sys.stderr.isatty() if progress is None else progress) or None,
            threads=threads,
            gap=gap,
        )
        saved = with_reading(result.tree, reading)
        if out is not None and saved is not None:
            write(out, saved.to_json(indent=1) + "\n")
        shape = {"rows": dataset.size, "columns": dataset.n_columns, "classes": dataset.n_classes}
        if as_json:
            document = None if saved is None else json.loads(saved.to_json())
            print_json({"data": {"name": data, **shape}, **result.summary(), "document": document})
        else:
            click.echo(f"data    {data}: {', '.join(f'{count} {what}' for what, count in shape.items())}")
            click.echo(result.to_text())
            from streed.report.limits import kept

            for found in result.stats.get("limits", ()):
                click.echo(kept(found))
            told = {key: value for key, value in result.stats.items() if key not in ("limits", "trace")}
            if told:
                click.echo("\n" + "  ".join(f"{key} {brief(value)}" for key, value in told.items()))
        sys.exit(code_of(result))


def with_reading(tree: Tree | None, reading: Reading | None) -> Tree | None:
    """The tree with all that it takes to check its claims again; of a query, that is the query's to know."""
    import attrs

    if tree is None or tree.claims is None or reading is None:
        return tree
    return attrs.evolve(tree, claims=attrs.evolve(tree.claims, reading=reading))
