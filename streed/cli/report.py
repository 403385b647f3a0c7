"""`streed report`: solve, and write what was found as one HTML file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

import streed
from streed.cli.asked import Asked, gathered, path
from streed.cli.output import CODES, FINE, code_of, counted, errors, fail, print_positive, write
from streed.cli.saved import check_one_input, load_tree
from streed.cli.solve import solve as solve_command

_OWN = ("out", "as_json", "query", "test", "test_share", "stats")
"""The options of `streed solve` that `streed report` has in a form of its own, or not at all."""


def report_on(
    asked: Asked,
    out: Path,
    tree: Path | None,
    title: str | None,
    sizes: bool,
    gather: bool,
    progress: bool | None,
    **search: Any,
) -> None:
    """Find the optimal tree for DATA as `streed solve` does, and write it as one HTML file.

    The file needs no other, and no network: the tree, its rules, its errors, the groups' rates,
    the front, and the search over time. With --tree nothing is solved: the report is about a saved tree on DATA.
    """
    with errors():
        if not out.parent.is_dir():
            fail(f"out: there is no folder {str(out.parent)!r}")  # said before the search, not after it
        from streed.report import make_report

        heading = title or f"{Path(asked.data).stem}: {asked.task if tree is None else 'a saved tree'}"
        if tree is not None:
            check_one_input(tree, asked.data)
            saved, dataset = _saved(tree, asked)
            write(out, make_report(saved, dataset, gather=gather, title=heading, note=f"{tree.name} on {asked.data}"))
            click.echo(f"report  {out}")
            sys.exit(FINE)
        dataset, result, compared = _solved(asked, sizes, progress, search)
        if result.tree is None:
            click.echo(result.to_text())
            sys.exit(code_of(result))
        note = f"{asked.data}: {counted(dataset.n_rows, 'rows')}, {counted(dataset.n_columns, 'columns')}"
        write(out, make_report(result, dataset, compare=compared, gather=gather, title=heading, note=note))
        click.echo(result.to_text().partition("\n\n")[0])
        print_positive(result)
        click.echo(f"report  {out}")
        sys.exit(code_of(result))


def _saved(tree: Path, asked: Asked) -> tuple[Any, Any]:
    """The tree of the file, and the rows as it reads them."""
    from streed.cli.preparation import dataset_of
    from streed.datasets.reading import read_table

    saved = load_tree(tree)
    roles = None if saved.claims is None else saved.claims.roles
    if roles is None:
        fail("tree: it does not say what the columns of a table are; save it with `streed solve --out`")
    table, _ = read_table(asked.data, asked.target or roles.target)
    return saved, dataset_of(saved, table, roles)


def _solved(asked: Asked, sizes: bool, progress: bool | None, search: dict[str, Any]) -> tuple[Any, Any, list[Any]]:
    """(the data, the result, the results of every smaller number of branching nodes)."""
    objective = asked.objective()
    dataset, _ = asked.read()
    told = (sys.stderr.isatty() if progress is None else progress) or None
    result = streed.solve(objective, dataset, progress=told, **asked.limits, **search)
    smaller = range(result.tree.n_branches) if sizes and result.tree is not None else ()
    found = [streed.solve(objective, dataset, **{**asked.limits, **search, "max_nodes": nodes}) for nodes in smaller]
    return dataset, result, [each for each in found if each.tree is not None]


report_options = [
    click.Option(["--out"], type=path, metavar="FILE.html", required=True, help="The file to write."),
    click.Option(["--title"], metavar="TEXT", help="The heading."),
    click.Option(["--gather"], is_flag=True, help="One leaf for categories that predict the same."),
    click.Option(["--sizes"], is_flag=True, help="Solve for every smaller number of branching nodes too: the front."),
    click.Option(["--tree"], type=path, metavar="TREE.json", help="Report on a saved tree, and solve nothing."),
]
report = click.Command(
    "report",
    callback=gathered(report_on),
    params=[*(p for p in solve_command.params if p.name not in _OWN), *report_options],
    help=report_on.__doc__,
    epilog=CODES,
)
