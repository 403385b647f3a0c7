"""`streed solve`: find the optimal tree for a table, and prove it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

import streed
from streed.cli.asked import Asked, gathered
from streed.cli.exit_codes import CODES, code_of, errors, fail
from streed.cli.options import (
    SEARCHES,
    cuts_option,
    data_argument,
    fairness_options,
    frequency_option,
    json_option,
    param_option,
    path,
    size_options,
    stop_options,
    subject_to_option,
    target_option,
    weights_option,
)
from streed.cli.output import brief, counted, print_json, write
from streed.cli.query import query_data

if TYPE_CHECKING:
    from streed.data.roles import Roles
    from streed.tree import Tree

_TOLD = ("limits", "trace", "searched_over", "bound_over_all_thresholds")
"""Statistics that are said elsewhere, or are too long."""


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
@click.option("--multiway", is_flag=True, help="Bundled data: a child per category, as files have, not 0/1 questions.")
@cuts_option
@click.option(
    "--query",
    metavar="SQL",
    help="Rows by a query in which `data` is the Parquet or CSV file, read and grouped by DuckDB: for many rows.",
)
@click.option("--out", type=path, metavar="FILE", help="Save the tree and its claims as JSON.")
@json_option
@click.option("--progress/--no-progress", default=None, help="Show a live line (default: in a terminal).")
@gathered
def solve(
    asked: Asked,
    search: str,
    threads: int,
    gap: float | None,
    query: str | None,
    out: Path | None,
    as_json: bool,
    progress: bool | None,
) -> None:
    """Find the optimal tree for DATA, and prove it.

    DATA is a bundled data set (see `streed datasets`), a CSV file, or - for standard input.
    """
    with errors():
        if out is not None and not out.parent.is_dir():
            fail(f"out: there is no folder {str(out.parent)!r}")  # said before the search, not after it
        objective = asked.objective()
        dataset, roles = asked.read() if query is None else (query_data(asked, query, objective), None)
        result = streed.solve(
            objective,
            dataset,
            search=search,
            progress=(sys.stderr.isatty() if progress is None else progress) or None,
            threads=threads,
            gap=gap,
            **asked.limits,
        )
        saved = with_roles(result.tree, roles)
        if out is not None and saved is not None:
            write(out, saved.to_json(indent=1) + "\n")
        shape = {"rows": dataset.size, "columns": dataset.n_columns, "classes": dataset.n_classes}
        if as_json:
            document = None if saved is None else json.loads(saved.to_json())
            print_json({"data": {"name": asked.data, **shape}, **result.summary(), "document": document})
        else:
            click.echo(f"data    {asked.data}: {', '.join(counted(count, what) for what, count in shape.items())}")
            click.echo(result.to_text())
            from streed.report.limits import kept

            for found in result.stats.get("limits", ()):
                click.echo(kept(found))
            told = {key: value for key, value in result.stats.items() if key not in _TOLD}
            if told:
                click.echo("\n" + "  ".join(f"{key} {brief(value)}" for key, value in told.items()))
        sys.exit(code_of(result))


def with_roles(tree: Tree | None, roles: Roles | None) -> Tree | None:
    """The tree with all that it takes to check its claims again; of a query, that is the query's to know."""
    import attrs

    if tree is None or tree.claims is None or roles is None:
        return tree
    return attrs.evolve(tree, claims=attrs.evolve(tree.claims, roles=roles))
