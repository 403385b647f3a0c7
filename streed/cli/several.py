"""`streed front` and `streed rashomon`: all nondominated trees, and all trees that are near the optimum."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

import streed
from streed.cli.asked import NOTIONS, Asked, gathered, json_option, lam_option, make_objective, search_options
from streed.cli.output import CODES, FINE, INFEASIBLE, STOPPED, brief, code_of, errors, fail, print_json, print_positive

if TYPE_CHECKING:
    from streed.rashomon import RashomonSet
    from streed.result import Result
    from streed.task import Task

_MOST_VALUES = 12
"""Values of a histogram that are printed."""


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
            _print_front(result, heads, [row for row, _ in rows])
        sys.exit(code_of(result))


def _joined(asked: Asked, against: Sequence[str]) -> Task:
    """The task, and with it every other quantity that is named."""
    from streed import registry

    objective: Any = make_objective(asked.task, asked.param, None, ())
    for name in against:
        objective = objective & _quantity(name, asked.sensitive)
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


def _print_front(result: Result, heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    click.echo(f"status  {result.status}: {len(rows)} nondominated points")
    click.echo(f"over    {result.searched_over}")
    print_positive(result)
    if result.status == "feasible":
        click.echo(f"missing points keep {result.stats.get('missing')}")
    shown = [[f"{x:.6g}" if isinstance(x, float) else str(x) for x in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(heads, *shown, strict=True)]
    for row in [heads, *shown]:
        click.echo("  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)))


@click.command(epilog=CODES)
@search_options("accuracy", "As of `streed solve`.")
@lam_option
@click.option("--epsilon", metavar="PART", help="Trees within this part of the optimum (default: 0.05).")
@click.option("--slack", metavar="NUMBER", help="Or within so much of it, in the task's unit.")
@click.option("--budget", metavar="VALUE", help="Or of this value or a better one.")
@click.option("--n-best", type=int, metavar="K", help="Or the K best trees, with all that tie with the last.")
@click.option("--without", metavar="COLUMN", multiple=True, help="Only trees that do not ask it; may be repeated.")
@click.option(
    "--best-by",
    metavar="NAME",
    help=f"Show the tree of least: a task such as splits, or one of {', '.join(NOTIONS)}.",
)
@click.option("--importance", is_flag=True, help="Show by column the share of trees that ask it.")
@json_option
@gathered
def rashomon(
    asked: Asked,
    epsilon: str | None,
    slack: str | None,
    budget: str | None,
    n_best: int | None,
    without: tuple[str, ...],
    best_by: str | None,
    importance: bool,
    as_json: bool,
) -> None:
    """Count the trees for DATA that are near the optimum, and ask what they have in common.

    DATA is a bundled data set (see `streed datasets`), a CSV file, or - for standard input.
    Exit code 3: stopped early; nothing is known. 4: there are none.
    """
    with errors():
        objective = asked.objective()
        from streed.exact import read_decimal

        near = {"epsilon": epsilon, "slack": slack, "budget": budget}
        dataset, _ = asked.read()
        found = streed.rashomon(
            objective,
            dataset,
            n_best=n_best,
            **asked.limits,
            **{name: read_decimal(text, name) for name, text in near.items() if text is not None},  # type: ignore[arg-type]
        )
        kept = found.without(*without) if without else found
        document = _described(found, kept, without, best_by, asked.sensitive, importance)
        if as_json:
            print_json({"data": asked.data, **document})
        else:
            _print_set(document, kept)
        sys.exit(STOPPED if kept.status == "stopped" else FINE if kept.count else INFEASIBLE)


def _described(
    found: RashomonSet,
    kept: RashomonSet,
    without: Sequence[str],
    best_by: str | None,
    sensitive: Sequence[str],
    importance: bool,
) -> dict[str, Any]:
    """What is printed, as a document."""
    document: dict[str, Any] = {
        "status": kept.status,
        "optimum": found.optimum,
        "over": kept.searched_over,
        "count": kept.count,
        "histogram": [{"value": value, "trees": count} for value, count in kept.histogram.items()],
    }
    if without and found.count is not None:
        document["without"] = {"columns": list(without), "of": found.count, "best": kept.optimum}
    if best_by is not None and kept.count:
        best = kept.best(_quantity(best_by, sensitive))
        document["best_by"] = {
            "name": best_by, "quantity": best.quantity, "value": best.value, "ties": best.ties, "tree": str(best.tree),
        }  # fmt: skip
    if importance and kept.count:
        document["importance"] = {
            name: {"share": each.share, "best_without": each.best_without} for name, each in kept.importance().items()
        }
    return document


def _quantity(name: str, sensitive: Sequence[str]) -> Any:
    from streed import registry

    return registry.make_notion(name, sensitive) if name in registry.notions() else registry.make_task(name, {})


def _print_set(document: dict[str, Any], kept: RashomonSet) -> None:
    click.echo(f"optimum  {document['optimum']}")
    click.echo(f"over     {document['over']}")
    click.echo(f"trees    {kept.stopped if document['count'] is None else format(document['count'], ',')}")
    if "without" in document:
        told = document["without"]
        best = f"the best of them {told['best']}" if document["count"] else "so these columns are needed"
        click.echo(f"         of {told['of']:,}, without {', '.join(told['columns'])}; {best}")
    for each in document["histogram"][:_MOST_VALUES]:
        click.echo(f"  {brief(each['value']):>10}  {each['trees']:,}")
    if len(document["histogram"]) > _MOST_VALUES:
        click.echo(f"  and {len(document['histogram']) - _MOST_VALUES:,} more values")
    if "best_by" in document:
        best = document["best_by"]
        value = f"at the value {brief(best['value'])}, {best['ties']:,} trees"
        click.echo(f"least {best['name']}: {brief(best['quantity'])}, {value}")
        click.echo(best["tree"])
    for name, each in sorted(document.get("importance", {}).items(), key=lambda item: -item[1]["share"]):
        without = "needed" if each["best_without"] is None else f"best without it {brief(each['best_without'])}"
        click.echo(f"  {each['share']:7.1%}  {name}  ({without})")
    if document["count"] and "best_by" not in document:
        click.echo(str(kept[0]))
