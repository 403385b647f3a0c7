"""`streed report`: solve, and write what was found as one HTML file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

import streed
from streed.commands.ending import CODES, FINE, code_of, errors, fail
from streed.commands.given import (
    NOTIONS,
    check_one_input,
    load_tree,
    make_fair,
    make_objective,
    path,
    read_data,
    size_of,
)
from streed.commands.output import write
from streed.commands.solve import solve as solve_command

_OWN = ("out", "as_json")
"""The options of `streed solve` that `streed report` has in a form of its own, or not at all."""


def report_on(
    data: str,
    out: Path,
    tree: Path | None,
    title: str | None,
    sizes: bool,
    gather: bool,
    **given: Any,
) -> None:
    """Find the optimal tree for DATA as `streed solve` does, and write it as one HTML file.

    The file needs no other, and no network: the tree to be opened and closed, its rules, its errors, the groups' rates,
    the front, and the search over time. With --tree nothing is solved: the report is about a saved tree on DATA.
    """
    with errors():
        if not out.parent.is_dir():
            fail(f"out: there is no folder {str(out.parent)!r}")  # said before the search, not after it
        from streed.report import make_report

        heading = title or f"{Path(data).stem}: {given['task'] if tree is None else 'a saved tree'}"
        if tree is not None:
            check_one_input(tree, data)
            saved, dataset = _saved(tree, data, given)
            write(out, make_report(saved, dataset, gather=gather, title=heading, note=f"{tree.name} on {data}"))
            click.echo(f"report  {out}")
            sys.exit(FINE)
        dataset, result, compared = _solved(data, sizes, given)
        if result.tree is None:
            click.echo(result.to_text())
            sys.exit(code_of(result))
        columns = "1 column" if dataset.n_columns == 1 else f"{dataset.n_columns} columns"
        note = f"{data}: {dataset.n_rows:,} rows, {columns}"
        write(out, make_report(result, dataset, compare=compared, gather=gather, title=heading, note=note))
        click.echo(result.to_text().partition("\n\n")[0])
        click.echo(f"report  {out}")
        sys.exit(code_of(result))


def _saved(tree: Path, data: str, given: dict[str, Any]) -> tuple[Any, Any]:
    """The tree of the file, and the rows as it reads them."""
    from streed.preparation import make_dataset
    from streed.reading import read_table

    saved = load_tree(tree)
    reading = None if saved.claims is None else saved.claims.reading
    if reading is None:
        fail("tree: it does not say how its columns are read from a table; save it with `streed solve --out`")
    table, _ = read_table(data, given["target"] or reading.target)
    return saved, make_dataset(table, reading)


def _solved(data: str, sizes: bool, given: dict[str, Any]) -> tuple[Any, Any, list[Any]]:
    """(the data, the result, the results of every smaller number of branching nodes)."""
    from streed.preparation import make_dataset

    notions = {name: given[name] for name in given if name.replace("_", "-") in NOTIONS}
    objective = make_fair(
        make_objective(given["task"], given["param"], given["lam"], given["subject_to"]), notions, given["sensitive"]
    )
    table, reading = read_data(
        data,
        given["target"],
        given["weights"],
        given["categorical"],
        given["one_hot"],
        given["sensitive"],
        given["thresholds"],
        given["n_thresholds"],
        given["frequency"],
    )
    dataset = make_dataset(table, reading)
    progress = given["progress"]
    budgets = {
        "max_depth": given["max_depth"],
        "min_leaf": given["min_leaf"],
        "search": given["search"],
        "time_limit": given["time_limit"],
        "memory_limit": None if given["memory_limit"] is None else size_of(given["memory_limit"]),
        "threads": given["threads"],
    }
    result = streed.solve(
        objective,
        dataset,
        max_nodes=given["max_nodes"],
        progress=(sys.stderr.isatty() if progress is None else progress) or None,
        **budgets,
    )
    smaller = range(result.tree.n_branches) if sizes and result.tree is not None else ()
    found = [streed.solve(objective, dataset, max_nodes=nodes, **budgets) for nodes in smaller]
    return dataset, result, [each for each in found if each.tree is not None]


report_options = [
    click.Option(["--out"], type=path, metavar="FILE.html", required=True, help="The file to write."),
    click.Option(["--title"], metavar="TEXT", help="The heading."),
    click.Option(["--gather"], is_flag=True, help="With --multiway: one leaf for categories that predict the same."),
    click.Option(["--sizes"], is_flag=True, help="Solve for every smaller number of branching nodes too: the front."),
    click.Option(["--tree"], type=path, metavar="TREE.json", help="Report on a saved tree, and solve nothing."),
]
report = click.Command(
    "report",
    callback=report_on,
    params=[*(p for p in solve_command.params if p.name not in _OWN), *report_options],
    help=report_on.__doc__,
    epilog=CODES,
)
