"""`streed front`: every nondominated value of an objective of several quantities, printed, saved or drawn."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import streed
from streed.cli.asked import Asked, gathered
from streed.cli.exit_codes import CODES, code_of, errors, fail
from streed.cli.options import (
    NOTIONS,
    cuts_option,
    data_argument,
    fairness_options,
    frequency_option,
    json_option,
    make_objective,
    param_option,
    path,
    size_options,
    stop_options,
    subject_to_option,
    target_option,
    weights_option,
)
from streed.cli.output import cell, print_json, print_positive, write

if TYPE_CHECKING:
    from streed.result import Result
    from streed.task import Task


_PICTURES = ("eps", "jpeg", "jpg", "pdf", "png", "ps", "svg", "svgz", "tif", "tiff", "webp")
"""What matplotlib writes, by the end of a file's name."""


@click.command(epilog=CODES)
@data_argument
@target_option
@click.option(
    "--task",
    metavar="TASK",
    default="class-errors",
    show_default=True,
    help="A task with several quantities, such as class-errors or f1, or with --against one such as accuracy.",
)
@param_option
@subject_to_option
@click.option(
    "--against",
    metavar="NAME",
    multiple=True,
    help=f"A second quantity: a task such as splits, or one of {', '.join(NOTIONS)}; may be repeated.",
)
@fairness_options
@size_options
@stop_options
@weights_option
@frequency_option
@cuts_option
@click.option("--out", type=path, metavar="FILE", help="Save the front as .csv, or with its trees as .json.")
@click.option("--plot", type=path, metavar="FILE", help="Draw a front of two quantities; needs matplotlib.")
@json_option
@gathered
def front(
    asked: Asked,
    against: tuple[str, ...],
    out: Path | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Find all nondominated trees for DATA: none is better in one quantity and not worse in another.

    DATA is a bundled data set (see `streed datasets`), a CSV file, or - for standard input.
    Exit code 3: stopped early; the points found.
    """
    with errors():
        _check_files(out, plot)
        objective = asked.fair(_joined(asked, against))
        dataset, _ = asked.read()
        search = "fronts" if _keeps_all(objective) else "depth-first"
        result = streed.solve(objective, dataset, search=search, **asked.limits)
        heads, rows = _table(result, objective, against, dataset)
        if out is not None and out.suffix.lower() == ".csv":
            write(out, "\n".join(",".join(map(cell, row)) for row in [heads, *rows]) + "\n")
        document = {
            "data": asked.data,
            "status": result.status,
            "over": result.searched_over,
            "positive_class": result.summary().get("positive_class"),
            "quantities": heads,
            "points": [dict(zip(heads, row, strict=True)) for row in rows],
            "missing": result.stats.get("missing"),
        }
        if out is not None and out.suffix.lower() == ".json":
            trees = [json.loads(tree.to_json()) for _, tree in _ordered(result)]
            write(out, json.dumps({**document, "trees": trees}, indent=1) + "\n")
        if plot is not None:
            _draw(plot, heads, rows)
        if as_json:
            print_json(document)
        else:
            _print(result, heads, rows)
        sys.exit(code_of(result))


def _check_files(out: Path | None, plot: Path | None) -> None:
    for name, file in (("out", out), ("plot", plot)):
        if file is not None and not file.parent.is_dir():
            fail(f"{name}: there is no folder {str(file.parent)!r}")
    if out is not None and out.suffix.lower() not in (".csv", ".json"):
        fail(f"out: {out.name!r} is neither a .csv nor a .json file")
    if plot is not None:
        if plot.suffix.lower().lstrip(".") not in _PICTURES:
            fail(f"plot: {plot.name!r} is no picture; name a file of {', '.join(_PICTURES)}")
        try:
            import matplotlib as mpl  # noqa: F401 - only to be told before a long search
        except ImportError:
            fail("plot: matplotlib is not installed; pip install 'streed[plot]'")


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


def _ordered(result: Result) -> list[tuple[Any, Any]]:
    """The front in ascending order of its values."""
    return sorted(result.front, key=lambda point: tuple(point[0]) if isinstance(point[0], tuple) else (point[0],))


def _table(result: Result, objective: Task, against: Sequence[str], data: Any) -> tuple[list[str], list[list[Any]]]:
    """(names of quantities, their values by point), with the size of each tree."""
    from streed.exact import readable
    from streed.tree.evaluation import Inspector

    inspector, bound = Inspector(objective, data), objective.bind(data)
    rows = []
    for score, tree in _ordered(result):
        value = readable(bound.objective_of(inspector.inspect(tree).value))
        parts = list(score) if isinstance(score, tuple) else [*value, score]
        rows.append([*parts, tree.n_branches, tree.depth])
    rows.sort()
    width = len(rows[0]) - 2 if rows else 0
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


def _draw(path: Path, heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Draws the first two quantities as a staircase."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    points = sorted((row[0], row[1]) for row in rows)
    figure, axes = plt.subplots(figsize=(5, 3.6))
    if points:
        x, y = zip(*points, strict=True)
        axes.step(x, y, "-o", where="post", markersize=3)
    axes.set(xlabel=heads[0] if heads else "", ylabel=heads[1] if len(heads) > 1 else "")
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path)
