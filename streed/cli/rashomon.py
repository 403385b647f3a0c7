"""`streed rashomon`: how many trees are near the optimum, and what they have in common."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

import streed
from streed.cli.asked import Asked, gathered
from streed.cli.exit_codes import CODES, FINE, INFEASIBLE, STOPPED, errors
from streed.cli.options import NOTIONS, json_option, lam_option, search_options
from streed.cli.output import brief, print_json

if TYPE_CHECKING:
    from streed.rashomon import RashomonSet

_MOST_VALUES = 12
"""Values of a histogram that are printed."""


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
            _print(document, kept)
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


def _print(document: dict[str, Any], kept: RashomonSet) -> None:
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
