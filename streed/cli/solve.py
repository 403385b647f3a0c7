"""`streed solve` and `streed report`: find the optimal tree for a table, prove it, and show it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import streed
from streed.cli.asked import SEARCHES, Asked, command, json_option, lam_option, option, path, search_options
from streed.cli.output import CODES, FINE, brief, code_of, counted, fail, positive, print_json, write
from streed.cli.saved import read_saved

if TYPE_CHECKING:
    from streed.cli.preparation import Table
    from streed.data.database import Roles
    from streed.result import Result
    from streed.tree import Tree

_TOLD = ("limits", "trace", "searched_over", "bound_over_all_thresholds")
"""Statistics that are said elsewhere, or are too long."""

_SEARCH = f"The search procedure, one of {', '.join(SEARCHES)}."
_CATEGORICAL = "A column of numbers that are categories; may be repeated; `all` for all."
_QUERY = "Rows by a query in which `data` is the Parquet or CSV file, read and grouped by DuckDB: for many rows."

_DRIVEN = [
    option("--search", metavar="DRIVER", default="depth-first", show_default=True, help=_SEARCH),
    option("--threads", type=int, default=1, show_default=True, help="Threads to search with."),
    option("--gap", type=float, metavar="PART", help="Stop once value and bound differ by this part of the value."),
    option("--categorical", metavar="COLUMN", multiple=True, help=_CATEGORICAL),
    option("--multiway", is_flag=True, help="Bundled data: a child per category, as files have, not 0/1 questions."),
    option("--progress/--no-progress", default=None, help="Show a live line (default: in a terminal)."),
]
"""How it is searched, and what bundled and other columns are."""


@command(
    *search_options("accuracy", "What to optimise: a name of `streed tasks`, or 'name(arguments)'."),
    lam_option,
    *_DRIVEN,
    option("--query", metavar="SQL", help=_QUERY),
    option("--test-share", type=float, metavar="PART", help="Hold back this part of the rows, and try the tree on it."),
    option("--test", metavar="FILE", help="Or try the tree on the rows of this file."),
    option("--out", type=path, metavar="FILE", help="Save the tree and its claims as JSON."),
    option("--stats", is_flag=True, help="Print the statistics of the search too."),
    json_option,
    epilog=CODES,
)
def solve(asked: Asked) -> None:
    """Find the optimal tree for DATA, and prove it.

    DATA is a bundled data set (see `streed datasets`), a CSV file, or - for standard input.
    """
    check_folder(asked.out)
    objective = asked.objective()
    train, rest = held_back(asked)
    import attrs

    from streed.cli.preparation import query_data

    dataset, roles = asked.dataset(train) if asked.query is None else (query_data(asked, objective), None)
    result = solved(asked, objective, dataset)
    saved = result.tree
    if saved is not None and saved.claims is not None and roles is not None:  # all that it takes to check them again
        saved = attrs.evolve(saved, claims=attrs.evolve(saved.claims, roles=roles))
    if asked.out is not None and saved is not None:
        write(asked.out, saved.to_json(indent=1) + "\n")
    shape = {"rows": dataset.size, "columns": dataset.n_columns, "classes": dataset.n_classes}
    if asked.as_json:
        document = None if saved is None else json.loads(saved.to_json())
        print_json({"data": {"name": asked.data, **shape}, **result.summary(), "document": document})
        sys.exit(code_of(result))
    from streed.report.page import kept

    click.echo(f"data    {asked.data}: {', '.join(counted(count, what) for what, count in shape.items())}")
    click.echo("\n".join([result.to_text(), *map(kept, result.stats.get("limits", ()))]))
    if rest is not None and saved is not None and roles is not None:
        click.echo(f"\n{on_rows_not_seen(saved, rest, roles, dataset.n_classes)}")
    compiling, seconds = result.stats["seconds_compile"], result.stats["seconds_total"]
    click.echo(f"\ntime    {brief(seconds)} s" + (f", {brief(compiling)} s of them to compile" if compiling else ""))
    if result.stats.get("stopped"):
        click.echo(f"stopped {result.stats['stopped']}")
    if asked.stats:
        told = [f"{key:<17}  {brief(value)}" for key, value in result.stats.items() if key not in _TOLD]
        click.echo("\n".join(["", *told]))
    sys.exit(code_of(result))


@command(
    *search_options("accuracy", "What to optimise: a name of `streed tasks`, or 'name(arguments)'."),
    lam_option,
    *_DRIVEN,
    option("--out", type=path, metavar="FILE.html", required=True, help="The file to write."),
    option("--title", metavar="TEXT", help="The heading."),
    option("--gather", is_flag=True, help="One leaf for categories that predict the same."),
    option("--sizes", is_flag=True, help="Solve for every smaller number of branching nodes too: the front."),
    option("--tree", type=path, metavar="TREE.json", help="Report on a saved tree, and solve nothing."),
    epilog=CODES,
)
def report(asked: Asked) -> None:
    """Find the optimal tree for DATA as `streed solve` does, and write it as one HTML file.

    The file needs no other, and no network: the tree, its rules, its errors, the groups' rates,
    the front, and the search over time. With --tree, nothing is solved: the report shows a saved tree on DATA.
    """
    check_folder(asked.out)
    from streed.report import make_report

    of_tree = asked.tree is not None
    title = asked.title or f"{Path(asked.data).stem}: {'a saved tree' if of_tree else asked.task}"
    if of_tree:
        tree, dataset = read_saved(asked)
        note = f"{asked.tree.name} on {asked.data}"
        write(asked.out, make_report(tree, dataset, gather=asked.gather, title=title, note=note))
        click.echo(f"report  {asked.out}")
        sys.exit(FINE)
    objective = asked.objective()
    dataset, _ = asked.dataset()
    result = solved(asked, objective, dataset)
    if result.tree is None:
        click.echo(result.to_text())
        sys.exit(code_of(result))
    smaller = range(result.tree.n_branches) if asked.sizes else ()
    several = [solved(asked, objective, dataset, max_nodes=nodes, progress=None) for nodes in smaller]
    compare = [each for each in several if each.tree is not None]
    note = f"{asked.data}: {counted(dataset.n_rows, 'rows')}, {counted(dataset.n_columns, 'columns')}"
    write(asked.out, make_report(result, dataset, compare=compare, gather=asked.gather, title=title, note=note))
    click.echo("\n".join([result.to_text().partition("\n\n")[0], *positive(result), f"report  {asked.out}"]))
    sys.exit(code_of(result))


def check_folder(out: Path | None) -> None:
    """Ends the command where a file cannot be written: before the search, not after it."""
    if out is not None and not out.parent.is_dir():
        fail(f"out: there is no folder {str(out.parent)!r}")


def solved(asked: Asked, objective: Any, dataset: Any, **other: Any) -> Result:
    """What the search finds that was asked for, some of its limits `other`."""
    progress = (sys.stderr.isatty() if asked.progress is None else asked.progress) or None
    driven = {"search": asked.search, "threads": asked.threads, "gap": asked.gap, "progress": progress}
    return streed.solve(objective, dataset, **{**driven, **asked.limits(), **other})


def held_back(asked: Asked) -> tuple[Table | None, Table | None]:
    """(the rows to solve on, None for all; the rows to try the tree on, None for none), by what was asked."""
    query, share, test = asked.query, asked.test_share, asked.test
    if share is None and test is None:
        return None, None
    if query is not None or (share is not None and test is not None):
        fail("test: give one of --test-share and --test, without --query")
    if test is not None:
        from streed.datasets.reading import read_table

        return None, read_table(test)[0]
    import numpy as np

    from streed.data.table import take_values

    table, _ = asked.columns()
    n = len(next(iter(table.values())))
    assert share is not None
    count = round(n * share) if 0 < share < 1 else 0
    if not 0 < count < n:
        fail(f"test_share: {share} of {n} rows leaves none on one side; give a part such as 0.3")
    order = np.random.default_rng(0).permutation(n)
    parts = np.sort(order[count:]), np.sort(order[:count])
    seen, rest = ({name: take_values(x, rows, n, "data", "rows") for name, x in table.items()} for rows in parts)
    return seen, rest


def on_rows_not_seen(tree: Tree, table: Table, roles: Roles, n_classes: int) -> str:
    """How good the predictions are on rows that the tree was not grown on."""
    from streed.cli.preparation import make_dataset
    from streed.plot.measures import Rows
    from streed.report.page import agreement, errors

    data = make_dataset(table, roles)  # for its target alone: the tree reads its columns from the table
    rows = Rows(table, data)
    labels, measured = agreement(tree, rows), errors(tree, rows) if n_classes > 2 else None
    told = [] if labels is None else [f"{labels['right']}% are predicted right"]
    told += [] if measured is None else [f"the {name} is {number}" for name, number in measured["told"][:1]]
    said = ", ".join(told) or f"what the leaves show is no prediction of {roles.target}"
    return f"unseen  {counted(data.n_rows, 'rows')}: {said}"
