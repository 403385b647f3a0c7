"""`streed rashomon`: how many trees are near the optimum, and what they have in common."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import streed
from streed.cli.asked import Asked, gathered
from streed.cli.exit_codes import CODES, FINE, INFEASIBLE, STOPPED, errors, fail
from streed.cli.options import (
    NOTIONS,
    cuts_option,
    data_argument,
    fairness_options,
    frequency_option,
    json_option,
    param_option,
    path,
    stop_options,
    subject_to_option,
    target_option,
    weights_option,
)
from streed.cli.output import brief, print_json, write

if TYPE_CHECKING:
    from streed.rashomon import RashomonSet

_MOST_VALUES = 12
"""Values of a histogram that are printed."""


@click.command(epilog=CODES)
@data_argument
@target_option
@click.option("--task", metavar="TASK", default="accuracy", show_default=True, help="As of `streed solve`.")
@param_option
@click.option("--lam", metavar="NUMBER", help="Short for --param lam=...: the cost of a branching node.")
@subject_to_option
@fairness_options
@click.option("--max-depth", type=int, help="Largest depth (default: any, where splits cost something).")
@click.option("--max-nodes", type=int, help="Most branching nodes (default: any).")
@click.option("--min-leaf", type=int, default=1, show_default=True, help="Fewest rows in a leaf.")
@click.option("--epsilon", metavar="PART", help="Trees within this part of the optimum (default: 0.05).")
@click.option("--slack", metavar="NUMBER", help="Or within so much of it, in the task's unit.")
@click.option("--budget", metavar="VALUE", help="Or of this value or a better one.")
@click.option("--n-best", type=int, metavar="K", help="Or the K best trees, with all that tie with the last.")
@click.option(
    "--columns",
    type=click.Choice(["distinct", "all"]),
    default="distinct",
    show_default=True,
    help="Count equal and complementary columns as one, or each.",
)
@click.option(
    "--labels",
    type=click.Choice(["all", "best"]),
    default="all",
    show_default=True,
    help="A leaf may have any label, or its best one.",
)
@click.option("--trivial/--no-trivial", default=True, show_default=True, help="Count splits into leaves of one label.")
@click.option("--without", metavar="COLUMN", multiple=True, help="Only trees that do not ask it; may be repeated.")
@click.option(
    "--best-by",
    metavar="NAME",
    help=f"Show the tree of least: a task such as splits, or one of {', '.join(NOTIONS)}.",
)
@click.option("--importance", is_flag=True, help="Show by column the share of trees that ask it.")
@click.option("--sample", type=int, default=0, metavar="K", help="Draw so many trees.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draw.")
@stop_options
@weights_option
@frequency_option
@cuts_option
@click.option("--out", type=path, metavar="FILE", help="Save the drawn trees, else the best one, as a JSON list.")
@click.option("--report", "report_to", type=path, metavar="FILE", help="Write an HTML page: the best tree, the values.")
@json_option
@gathered
def rashomon(
    asked: Asked,
    epsilon: str | None,
    slack: str | None,
    budget: str | None,
    n_best: int | None,
    columns: str,
    labels: str,
    trivial: bool,
    without: tuple[str, ...],
    best_by: str | None,
    importance: bool,
    sample: int,
    seed: int,
    out: Path | None,
    report_to: Path | None,
    as_json: bool,
) -> None:
    """Count the trees for DATA that are near the optimum, and ask what they have in common.

    DATA is a bundled data set (see `streed datasets`), a CSV file, or - for standard input.
    Exit code 3: stopped early; nothing is known. 4: there are none.
    """
    with errors():
        for name, file in (("out", out), ("report", report_to)):
            if file is not None and not file.parent.is_dir():
                fail(f"{name}: there is no folder {str(file.parent)!r}")
        objective = asked.objective()
        from streed.cli.solve import with_roles
        from streed.exact import read_decimal

        near = {"epsilon": epsilon, "slack": slack, "budget": budget}
        dataset, roles = asked.read()
        found = streed.rashomon(
            objective,
            dataset,
            n_best=n_best,
            columns=columns,
            labels=labels,
            trivial=trivial,
            **asked.limits,
            **{name: read_decimal(text, name) for name, text in near.items() if text is not None},  # type: ignore[arg-type]
        )
        kept = found.without(*without) if without else found
        document = _described(found, kept, without, best_by, asked.sensitive, importance)
        drawn = kept.sample(sample, seed) if sample and kept.count else []
        if out is not None:
            saved = drawn or ([kept[0]] if kept.count else [])
            trees = [with_roles(tree, roles) for tree in saved]
            write(out, json.dumps([json.loads(tree.to_json()) for tree in trees if tree is not None], indent=1) + "\n")
        if report_to is not None and kept.count:
            from streed.report import make_report

            write(report_to, make_report(kept[0], dataset, near=kept, title=f"Near-optimal trees of {asked.data}"))
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
