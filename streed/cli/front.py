"""`streed front`: every nondominated value of an objective of several quantities."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

import streed
from streed.cli.asked import Asked, gathered
from streed.cli.exit_codes import CODES, code_of, errors, fail
from streed.cli.options import NOTIONS, json_option, make_objective, search_options
from streed.cli.output import print_json, print_positive

if TYPE_CHECKING:
    from streed.result import Result
    from streed.task import Task


@click.command(epilog=CODES)
@search_options(
    "class-errors", "A task of several quantities, such as class-errors or f1; with --against, one such as accuracy."
)
@click.option(
    "--against",
    metavar="NAME",
    multiple=True,
    help=f"A second quantity: a task such as splits, or one of {', '.join(NOTIONS)}; may be repeated.",
)
@json_option
@gathered
def front(asked: Asked, against: tuple[str, ...], as_json: bool) -> None:
    """Find all nondominated trees for DATA: none is better in one quantity and not worse in another.

    DATA is a bundled data set (see `streed datasets`), a CSV file, or - for standard input. With --json, each point has
    its tree. Exit code 3: stopped early; the points found.
    """
    with errors():
        objective = asked.fair(_joined(asked, against))
        dataset, _ = asked.read()
        search = "fronts" if _keeps_all(objective) else "depth-first"
        result = streed.solve(objective, dataset, search=search, **asked.limits)
        heads, rows = _table(result, objective, against, dataset)
        if as_json:
            print_json(
                {
                    "data": asked.data,
                    "status": result.status,
                    "over": result.searched_over,
                    "positive_class": result.summary().get("positive_class"),
                    "quantities": heads,
                    "points": [dict(zip(heads, row, strict=True)) for row, _ in rows],
                    "trees": [json.loads(tree.to_json()) for _, tree in rows],
                    "missing": result.stats.get("missing"),
                }
            )
        else:
            _print(result, heads, [row for row, _ in rows])
        sys.exit(code_of(result))


def _joined(asked: Asked, against: Sequence[str]) -> Task:
    """The task, and with it every other quantity that is named."""
    from streed import registry

    objective: Any = make_objective(asked.task, asked.param, None, ())
    for name in against:
        if name in registry.notions():
            objective = objective & registry.make_notion(name, asked.sensitive)
        else:
            objective = objective & registry.make_task(name, {})
    if objective.order == "total":
        fail(f"task: {asked.task} has one optimum and no front; name a second quantity, such as --against splits")
    return objective.subject_to(*map(registry.make_limit, asked.subject_to)) if asked.subject_to else objective  # type: ignore[no-any-return]


def _keeps_all(objective: Task) -> bool:
    """Whether the front must be asked for, because a solve would look for the best score alone."""
    from streed.task.algebra import objective as bare

    form = bare(objective).vector_form
    return form.of_sums and not form.gaps


def _table(
    result: Result, objective: Task, against: Sequence[str], data: Any
) -> tuple[list[str], list[tuple[list[Any], Any]]]:
    """(names of quantities, by point their values with the size of its tree, and the tree)."""
    from streed.exact import readable
    from streed.tree.evaluation import Inspector

    inspector, bound = Inspector(objective, data), objective.bind(data)
    rows = []
    for score, tree in result.front:
        value = readable(bound.objective_of(inspector.inspect(tree).value))
        parts = list(score) if isinstance(score, tuple) else [*value, score]
        rows.append(([*parts, tree.n_branches, tree.depth], tree))
    rows.sort(key=lambda row: row[0])
    width = len(rows[0][0]) - 2 if rows else 0
    names = getattr(bound, "components", None) or ()
    if names:
        heads = [*names, "score"]
    elif against:
        heads = ["objective", *against]
    else:
        heads = [f"errors on {label}" for label in data.class_labels]
    heads = heads if len(heads) == width else [f"value {number}" for number in range(width)]
    return [*heads, "branches", "depth"], rows


def _print(result: Result, heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    click.echo(f"status  {result.status}: {len(rows)} nondominated points")
    click.echo(f"over    {result.searched_over}")
    print_positive(result)
    if result.status == "feasible":
        click.echo(f"missing points keep {result.stats.get('missing')}")
    shown = [[f"{x:.6g}" if isinstance(x, float) else str(x) for x in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(heads, *shown, strict=True)]
    for row in [heads, *shown]:
        click.echo("  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)))
