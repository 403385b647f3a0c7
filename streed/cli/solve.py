"""`streed solve`: find the optimal tree for a table, and prove it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import streed
from streed.cli.asked import SEARCHES, Asked, gathered, json_option, lam_option, path, search_options
from streed.cli.output import CODES, brief, code_of, counted, errors, fail, print_json, write

if TYPE_CHECKING:
    from streed.cli.preparation import Table
    from streed.data.roles import Roles
    from streed.tree import Tree

_TOLD = ("limits", "trace", "searched_over", "bound_over_all_thresholds")
"""Statistics that are said elsewhere, or are too long."""


@click.command(epilog=CODES)
@search_options("accuracy", "What to optimise: a name of `streed tasks`, or 'name(arguments)'.")
@lam_option
@click.option(
    "--search",
    metavar="DRIVER",
    default="depth-first",
    show_default=True,
    help=f"The search procedure, one of {', '.join(SEARCHES)}.",
)
@click.option("--threads", type=int, default=1, show_default=True, help="Threads to search with.")
@click.option("--gap", type=float, metavar="PART", help="Stop once value and bound differ by this part of the value.")
@click.option(
    "--categorical",
    metavar="COLUMN",
    multiple=True,
    help="A column of numbers that are categories; may be repeated; `all` for all.",
)
@click.option("--multiway", is_flag=True, help="Bundled data: a child per category, as files have, not 0/1 questions.")
@click.option(
    "--query",
    metavar="SQL",
    help="Rows by a query in which `data` is the Parquet or CSV file, read and grouped by DuckDB: for many rows.",
)
@click.option(
    "--test-share", type=float, metavar="PART", help="Hold back this part of the rows, and say how it is on them."
)
@click.option("--test", metavar="FILE", help="Or say how the tree is on the rows of this file.")
@click.option("--out", type=path, metavar="FILE", help="Save the tree and its claims as JSON.")
@click.option("--stats", is_flag=True, help="Print the statistics of the search too.")
@json_option
@click.option("--progress/--no-progress", default=None, help="Show a live line (default: in a terminal).")
@gathered
def solve(
    asked: Asked,
    search: str,
    threads: int,
    gap: float | None,
    query: str | None,
    test_share: float | None,
    test: str | None,
    out: Path | None,
    stats: bool,
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
        train, rest = held_back(asked, query, test_share, test)
        from streed.cli.preparation import query_data

        dataset, roles = asked.read(train) if query is None else (query_data(asked, query, objective), None)
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
            if rest is not None and saved is not None and roles is not None:
                click.echo(f"\n{on_rows_not_seen(saved, rest, roles, dataset.classes)}")
            compiling, seconds = result.stats["seconds_compile"], result.stats["seconds_total"]
            click.echo(
                f"\ntime    {brief(seconds)} s" + (f", {brief(compiling)} s of them to compile" if compiling else "")
            )
            if result.stats.get("stopped"):
                click.echo(f"stopped {result.stats['stopped']}")
            told = {key: value for key, value in result.stats.items() if key not in _TOLD}
            if stats:
                click.echo("\n" + "  ".join(f"{key} {brief(value)}" for key, value in told.items()))
        sys.exit(code_of(result))


def held_back(
    asked: Asked, query: str | None, share: float | None, test: str | None
) -> tuple[Table | None, Table | None]:
    """(the rows to solve on, None for all; the rows to try the tree on, None for none), by what was asked."""
    if share is None and test is None:
        return None, None
    if query is not None or (share is not None and test is not None):
        fail("test: give one of --test-share and --test, without --query")
    if test is not None:
        from streed.datasets.reading import read_table

        return None, read_table(test)[0]
    import numpy as np

    table, _ = asked.table()
    n = len(next(iter(table.values())))
    assert share is not None
    count = round(n * share) if 0 < share < 1 else 0
    if not 0 < count < n:
        fail(f"test_share: {share} of {n} rows leaves none on one side; give a part such as 0.3")
    order = np.random.default_rng(0).permutation(n)
    return _rows(table, np.sort(order[count:])), _rows(table, np.sort(order[:count]))


def _rows(table: Table, rows: Any) -> Table:
    """The rows of these numbers, of columns that are lists or series."""
    taken = {}
    for name, column in table.items():
        series: Any = getattr(column, "iloc", column)
        taken[name] = [column[i] for i in rows] if isinstance(column, list) else series[rows]
    return taken


def on_rows_not_seen(tree: Tree, table: Table, roles: Roles, classes: tuple[Any, ...]) -> str:
    """How good the predictions are on rows that the tree was not grown on."""
    import numpy as np

    from streed.cli.preparation import make_dataset

    data = make_dataset(table, roles)  # for its target alone: the tree reads its columns from the table
    predicted = tree.predict(table).tolist()
    rows = counted(len(predicted), "rows")
    told = []
    if tree.labels == classes:
        right = sum(a == b for a, b in zip(predicted, data.y.tolist(), strict=True))
        told = [f"{right / len(predicted):.2%} are predicted right"]
    if all(isinstance(x, (int, float)) for x in (*predicted, *data.classes)) and len(classes) > 2:  # they are measured
        off = np.array(predicted, float) - data.targets
        told.append(f"the root mean squared error is {brief(float(np.sqrt((off**2).mean())))}")
    return f"unseen  {rows}: {', '.join(told) or f'what the leaves show is no prediction of {roles.target}'}"


def with_roles(tree: Tree | None, roles: Roles | None) -> Tree | None:
    """The tree with all that it takes to check its claims again; of a query, that is the query's to know."""
    import attrs

    if tree is None or tree.claims is None or roles is None:
        return tree
    return attrs.evolve(tree, claims=attrs.evolve(tree.claims, roles=roles))
