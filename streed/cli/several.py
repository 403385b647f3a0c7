"""`streed front` and `streed rashomon`: all nondominated trees, and all trees that are near the optimum."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import streed
from streed.cli.asked import NOTIONS, Asked, command, json_option, lam_option, option, search_options
from streed.cli.output import CODES, FINE, INFEASIBLE, STOPPED, brief, code_of, fail, positive, show

if TYPE_CHECKING:
    from streed.rashomon import RashomonSet
    from streed.result import Result
    from streed.task import Task

_MOST_VALUES = 12
"""Values of a histogram that are printed."""

_QUANTITY = f"a task such as splits, or one of {', '.join(NOTIONS)}"


@command(
    *search_options("class-errors", "A task of several quantities, such as f1; with --against, one such as accuracy."),
    option("--against", metavar="NAME", multiple=True, help=f"A second quantity: {_QUANTITY}; may be repeated."),
    json_option,
    epilog=CODES,
)
def front(asked: Asked) -> None:
    """Find all nondominated trees for DATA: none is better in one quantity and not worse in another.

    DATA is a bundled data set (see `streed datasets`), a CSV file, or - for standard input. With --json, each point has
    its tree. Exit code 3: stopped early; the points found.
    """
    from streed.task.objective import record_of

    objective = asked.fair(_joined(asked))
    dataset, _ = asked.dataset()
    record = record_of(objective)
    # where a front must be asked for, because a solve would look for the best score alone
    search = "fronts" if record.of_sums and not record.gaps else "depth-first"
    result = streed.solve(objective, dataset, search=search, **asked.limits())
    heads, rows = _table(result, objective, asked.against, dataset)
    document = {
        "data": asked.data,
        "status": result.status,
        "over": result.searched_over,
        "positive_class": result.summary().get("positive_class"),
        "quantities": heads,
        "points": [dict(zip(heads, row, strict=True)) for row, _ in rows],
        "trees": [json.loads(tree.to_json()) for _, tree in rows],
        "missing": result.stats.get("missing"),
    }
    lines = [f"status  {result.status}: {len(rows)} nondominated points", f"over    {result.searched_over}"]
    lines += positive(result)
    lines += [f"objective: {record.parts[0].value_unit}"] if heads[0] == "objective" else []
    lines += [f"missing points keep {result.stats.get('missing')}"] if result.status == "feasible" else []
    shown = [[f"{x:.6g}" if isinstance(x, float) else str(x) for x in row] for row, _ in rows]
    widths = [max(map(len, column)) for column in zip(heads, *shown, strict=True)]
    lines += ["  ".join(text.rjust(n) for text, n in zip(row, widths, strict=True)) for row in [heads, *shown]]
    show(asked.as_json, document, lines)
    sys.exit(code_of(result))


def _joined(asked: Asked) -> Task:
    """The task, and with it every other quantity that is named."""
    objective: Any = asked.stated()
    for name in asked.against:
        objective = objective & _quantity(name, asked.sensitive)
    if objective.order == "total":
        fail(f"task: {asked.task} has one optimum and no front; name a second quantity, such as --against splits")
    return asked.limited(objective)


def _table(result: Result, objective: Task, against: Sequence[str], data: Any) -> tuple[list[str], list[Any]]:
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


@command(
    *search_options("accuracy", "As of `streed solve`."),
    lam_option,
    option("--epsilon", metavar="PART", help="Trees within this part of the optimum (default: 0.05)."),
    option("--slack", metavar="NUMBER", help="Or within so much of it, in the task's unit."),
    option("--budget", metavar="VALUE", help="Or of this value or a better one."),
    option("--n-best", type=int, metavar="K", help="Or the K best trees, with all that tie with the last."),
    option("--without", metavar="COLUMN", multiple=True, help="Only trees that do not ask it; may be repeated."),
    option("--best-by", metavar="NAME", help=f"Show the tree of least: {_QUANTITY}."),
    option("--importance", is_flag=True, help="Show by column the share of trees that ask it."),
    json_option,
    epilog=CODES,
)
def rashomon(asked: Asked) -> None:
    """Count the trees for DATA that are near the optimum, and ask what they have in common.

    DATA is a bundled data set (see `streed datasets`), a CSV file, or - for standard input.
    Exit code 3: stopped early, nothing is known; 4: there are no such trees.
    """
    from streed.exact import read_decimal

    objective = asked.objective()
    dataset, _ = asked.dataset()
    near = {name: getattr(asked, name) for name in ("epsilon", "slack", "budget")}
    near = {name: read_decimal(text, name) for name, text in near.items() if text is not None}
    found = streed.rashomon(objective, dataset, n_best=asked.n_best, **asked.limits(), **near)
    kept = found.without(*asked.without) if asked.without else found
    document = {
        "status": kept.status,
        "optimum": found.optimum,
        "unit": objective.value_unit,
        "over": kept.searched_over,
        "count": kept.count,
        "histogram": [{"value": value, "trees": count} for value, count in kept.histogram.items()],
    }
    lines = [f"optimum  {found.optimum}  {objective.value_unit}", f"over     {kept.searched_over}"]
    lines.append(f"trees    {kept.stopped if kept.count is None else format(kept.count, ',')}")
    if asked.without and found.count is not None:
        document["without"] = {"columns": list(asked.without), "of": found.count, "best": kept.optimum}
        best = f"the best of them {kept.optimum}" if kept.count else "so these columns are needed"
        lines.append(f"         of {found.count:,}, without {', '.join(asked.without)}; {best}")
    values = list(kept.histogram.items())
    lines += [f"  {brief(value):>10}  {count:,}" for value, count in values[:_MOST_VALUES]]
    lines += [f"  and {len(values) - _MOST_VALUES:,} more values"] if len(values) > _MOST_VALUES else []
    if kept.count:
        lines += _asked_of(kept, asked, document)
    show(asked.as_json, {"data": asked.data, **document}, lines)
    sys.exit(STOPPED if kept.status == "stopped" else FINE if kept.count else INFEASIBLE)


def _asked_of(trees: RashomonSet, asked: Asked, document: dict[str, Any]) -> list[str]:
    """The lines of what is asked of a set that is not empty, which the document is given, too."""
    lines = []
    if asked.best_by is not None:
        best = trees.best(_quantity(asked.best_by, asked.sensitive))
        told = {"quantity": best.quantity, "value": best.value, "ties": best.ties, "tree": str(best.tree)}
        document["best_by"] = {"name": asked.best_by, **told}
        value = f"at the value {brief(best.value)}, {best.ties:,} trees"
        lines += [f"least {asked.best_by}: {brief(best.quantity)}, {value}", str(best.tree)]
    if asked.importance:
        found = trees.importance()
        document["importance"] = {k: {"share": x.share, "best_without": x.best_without} for k, x in found.items()}
        for name, each in sorted(found.items(), key=lambda item: -item[1].share):
            without = "needed" if each.best_without is None else f"best without it {brief(each.best_without)}"
            lines.append(f"  {each.share:7.1%}  {name}  ({without})")
    return lines if asked.best_by is not None else [*lines, str(trees[0])]


def _quantity(name: str, sensitive: Sequence[str]) -> Any:
    from streed import registry

    return registry.make_notion(name, sensitive) if name in registry.notions() else registry.make_task(name, {})
