"""The commands that search: for the best tree of a table, its report, all nondominated trees, all near the optimum."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click import option

import streed
from streed import cli as shell

if TYPE_CHECKING:
    from streed.data.database import Roles
    from streed.datasets import Table
    from streed.rashomon import RashomonSet
    from streed.result import Result
    from streed.task import Task
    from streed.tree import Tree

_TOLD = ("limits", "trace", "searched_over", "bound_over_all_thresholds")
"""Statistics that are said elsewhere, or are too long."""

_SEARCH = "The search procedure, one of depth-first, branches, auto, fronts, general."
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


@shell.command(
    *shell.search_options("accuracy", "What to optimise: a name of `streed tasks`, or 'name(arguments)'."),
    shell.lam_option,
    *_DRIVEN,
    option("--query", metavar="SQL", help=_QUERY),
    option("--test-share", type=float, metavar="PART", help="Hold back this part of the rows, and try the tree on it."),
    option("--test", metavar="FILE", help="Or try the tree on the rows of this file."),
    option("--out", type=shell.path, metavar="FILE", help="Save the tree and its claims as JSON."),
    option("--stats", is_flag=True, help="Print the statistics of the search too."),
    shell.json_option,
)
def solve(asked: shell.Asked) -> None:
    """Find the optimal tree for DATA, and prove it.

    DATA is a bundled data set (see `streed datasets`), a CSV file, or - for standard input.
    """
    shell.check_folder("out", asked.out)
    objective = asked.objective()
    train, rest = held_back(asked)
    dataset, roles = asked.dataset(train) if asked.query is None else (asked.queried(objective), None)
    result = solved(asked, objective, dataset)
    saved = result.tree
    if saved is not None and saved.claims is not None and roles is not None:  # all that it takes to check them again
        import attrs

        saved = attrs.evolve(saved, claims=attrs.evolve(saved.claims, roles=roles))
    if asked.out is not None and saved is not None:
        shell.write(asked.out, saved.to_json(indent=1) + "\n")
    shape = {"rows": dataset.size, "columns": dataset.n_columns, "classes": dataset.n_classes}
    if asked.as_json:
        document = None if saved is None else json.loads(saved.to_json())
        shell.show(True, {"data": {"name": asked.data, **shape}, **result.summary(), "document": document})
        sys.exit(shell.code_of(result))
    from streed.report import kept

    click.echo(f"data    {asked.data}: {', '.join(shell.counted(count, what) for what, count in shape.items())}")
    click.echo("\n".join([result.to_text(), *map(kept, result.stats.get("limits", ()))]))
    if rest is not None and saved is not None and roles is not None:
        click.echo(f"\n{on_rows_not_seen(saved, rest, roles, dataset.n_classes)}")
    compiling, seconds = (result.stats[f"seconds_{part}"] for part in ("compile", "total"))
    of_it = f", {shell.brief(compiling)} s of them to compile" if compiling else ""
    click.echo(f"\ntime    {shell.brief(seconds)} s{of_it}")
    if result.stats.get("stopped"):
        click.echo(f"stopped {result.stats['stopped']}")
    if asked.stats:
        told = [f"{key:<17}  {shell.brief(value)}" for key, value in result.stats.items() if key not in _TOLD]
        click.echo("\n".join(["", *told]))
    sys.exit(shell.code_of(result))


@shell.command(
    *shell.search_options("accuracy", "What to optimise: a name of `streed tasks`, or 'name(arguments)'."),
    shell.lam_option,
    *_DRIVEN,
    option("--out", type=shell.path, metavar="FILE.html", required=True, help="The file to write."),
    option("--title", metavar="TEXT", help="The heading."),
    option("--gather", is_flag=True, help="One leaf for categories that predict the same."),
    option("--sizes", is_flag=True, help="Solve for every smaller number of branching nodes too: the front."),
    option("--tree", type=shell.path, metavar="TREE.json", help="Report on a saved tree, and solve nothing."),
)
def report(asked: shell.Asked) -> None:
    """Find the optimal tree for DATA as `streed solve` does, and write it as one HTML file.

    The file needs no other, and no network: the tree, its rules, its errors, the groups' rates,
    the front, and the search over time. With --tree, nothing is solved: the report shows a saved tree on DATA.
    """
    shell.check_folder("out", asked.out)
    from streed.report import make_report

    of_tree = asked.tree is not None
    title = asked.title or f"{Path(asked.data).stem}: {'a saved tree' if of_tree else asked.task}"
    if of_tree:
        tree, dataset = shell.read_saved(asked)
        note = f"{asked.tree.name} on {asked.data}"
        shell.write(asked.out, make_report(tree, dataset, gather=asked.gather, title=title, note=note))
        click.echo(f"report  {asked.out}")
        sys.exit(shell.FINE)
    objective = asked.objective()
    dataset, _ = asked.dataset()
    result = solved(asked, objective, dataset)
    if result.tree is None:
        click.echo(result.to_text())
        sys.exit(shell.code_of(result))
    smaller = range(result.tree.n_branches) if asked.sizes else ()
    several = [solved(asked, objective, dataset, max_nodes=nodes, progress=None) for nodes in smaller]
    compare = [each for each in several if each.tree is not None]
    note = f"{asked.data}: {shell.counted(dataset.n_rows, 'rows')}, {shell.counted(dataset.n_columns, 'columns')}"
    shell.write(asked.out, make_report(result, dataset, compare=compare, gather=asked.gather, title=title, note=note))
    click.echo("\n".join([result.to_text().partition("\n\n")[0], *shell.positive(result), f"report  {asked.out}"]))
    sys.exit(shell.code_of(result))


def solved(asked: shell.Asked, objective: Any, dataset: Any, **other: Any) -> Result:
    """What the search finds that was asked for, some of its limits `other`."""
    progress = (sys.stderr.isatty() if asked.progress is None else asked.progress) or None
    driven = {"search": asked.search, "threads": asked.threads, "gap": asked.gap, "progress": progress}
    return streed.solve(objective, dataset, **{**driven, **asked.limits(), **other})


def held_back(asked: shell.Asked) -> tuple[Table | None, Table | None]:
    """(the rows to solve on, None for all; the rows to try the tree on, None for none), by what was asked."""
    query, share, test = asked.query, asked.test_share, asked.test
    if share is None and test is None:
        return None, None
    if query is not None or (share is not None and test is not None):
        shell.fail("test: give one of --test-share and --test, without --query")
    if test is not None:
        from streed.datasets import read_table
        from streed.errors import argument_names

        with argument_names(data="test"):
            return None, read_table(test)[0]
    import numpy as np

    from streed.data.table import take_values

    table, _ = asked.columns()
    n = len(next(iter(table.values())))
    assert share is not None
    count = round(n * share) if 0 < share < 1 else 0
    if not 0 < count < n:
        shell.fail(f"test_share: {share} of {n} rows leaves none on one side; give a part such as 0.3")
    order = np.random.default_rng(0).permutation(n)
    parts = np.sort(order[count:]), np.sort(order[:count])
    seen, rest = ({name: take_values(x, rows, n, "data", "rows") for name, x in table.items()} for rows in parts)
    return seen, rest


def on_rows_not_seen(tree: Tree, table: Table, roles: Roles, n_classes: int) -> str:
    """How good the predictions are on rows that the tree was not grown on."""
    from streed.datasets import make_dataset
    from streed.plot.measures import Rows
    from streed.report import agreement, errors

    data = make_dataset(table, roles)  # for its target alone: the tree reads its columns from the table
    rows = Rows(table, data)
    labels, measured = agreement(tree, rows), errors(tree, rows) if n_classes > 2 else None
    told = [] if labels is None else [f"{labels['right']}% are predicted right"]
    told += [] if measured is None else [f"the {name} is {number}" for name, number in measured["told"][:1]]
    said = ", ".join(told) or f"what the leaves show is no prediction of {roles.columns['target']}"
    return f"unseen  {shell.counted(data.n_rows, 'rows')}: {said}"


_MOST_VALUES = 12
"""Values of a histogram that are printed."""

_QUANTITY = f"a task such as splits, or one of {', '.join(shell.NOTIONS)}"


@shell.command(
    *shell.search_options("class-errors", "A task of several quantities, such as f1; with --against, one as accuracy."),
    option("--against", metavar="NAME", multiple=True, help=f"A second quantity: {_QUANTITY}; may be repeated."),
    shell.json_option,
)
def front(asked: shell.Asked) -> None:
    """Find all nondominated trees for DATA: none is better in one quantity and not worse in another.

    DATA is a bundled data set (see `streed datasets`), a CSV file, or - for standard input. With --json, each point has
    its tree. Exit code 3: stopped early; the points found.
    """
    from streed.task.objective import record_of

    objective = _joined(asked)
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
    lines += shell.positive(result)
    lines += [f"objective: {record.parts[0].value_unit}"] if heads[0] == "objective" else []
    lines += [f"missing points keep {result.stats.get('missing')}"] if result.status == "feasible" else []
    shown = [[f"{x:.6g}" if isinstance(x, float) else str(x) for x in row] for row, _ in rows]
    widths = [max(map(len, column)) for column in zip(heads, *shown, strict=True)]
    lines += ["  ".join(text.rjust(n) for text, n in zip(row, widths, strict=True)) for row in [heads, *shown]]
    shell.show(asked.as_json, document, lines)
    sys.exit(shell.code_of(result))


def _joined(asked: shell.Asked) -> Task:
    """The task, and with it every other quantity that is named."""
    objective: Any = asked.stated()
    for name in asked.against:
        objective = objective & _quantity("against", name, asked.sensitive)
    if objective.order == "total":
        shell.fail(f"task: {asked.task} has one optimum and no front; name a second quantity, such as --against splits")
    return asked.limited(objective)


def _table(result: Result, objective: Task, against: Sequence[str], data: Any) -> tuple[list[str], list[Any]]:
    """(names of quantities, by point their values with the size of its tree, and the tree)."""
    from streed.exact import readable
    from streed.tree.evaluation import Inspector

    bound = objective.bind(data)
    inspector = Inspector(bound, data)
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


@shell.command(
    *shell.search_options("accuracy", "As of `streed solve`."),
    shell.lam_option,
    option("--epsilon", metavar="PART", help="Trees within this part of the optimum (default: 0.05)."),
    option("--slack", metavar="NUMBER", help="Or within so much of it, in the task's unit."),
    option("--budget", metavar="VALUE", help="Or of this value or a better one."),
    option("--n-best", type=int, metavar="K", help="Or the K best trees, with all that tie with the last."),
    option("--without", metavar="COLUMN", multiple=True, help="Only trees that do not ask it; may be repeated."),
    option("--best-by", metavar="NAME", help=f"Show the tree of least: {_QUANTITY}."),
    option("--importance", is_flag=True, help="Show by column the share of trees that ask it."),
    shell.json_option,
)
def rashomon(asked: shell.Asked) -> None:
    """Count the trees for DATA that are near the optimum, and ask what they have in common.

    DATA is a bundled data set (see `streed datasets`), a CSV file, or - for standard input.
    Exit code 3: stopped early, nothing is known; 4: there are no such trees.
    """
    from streed.errors import argument_names
    from streed.exact import read_decimal

    objective = asked.objective()
    dataset, _ = asked.dataset()
    near = {name: getattr(asked, name) for name in ("epsilon", "slack", "budget")}
    near = {name: read_decimal(text, name) for name, text in near.items() if text is not None}
    found = streed.rashomon(objective, dataset, n_best=asked.n_best, **asked.limits(), **near)
    with argument_names(column="without"):
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
    lines += [f"  {shell.brief(value):>10}  {count:,}" for value, count in values[:_MOST_VALUES]]
    lines += [f"  and {len(values) - _MOST_VALUES:,} more values"] if len(values) > _MOST_VALUES else []
    if kept.count:
        lines += _asked_of(kept, asked, document)
    shell.show(asked.as_json, {"data": asked.data, **document}, lines)
    sys.exit(shell.STOPPED if kept.status == "stopped" else shell.FINE if kept.count else shell.INFEASIBLE)


def _asked_of(trees: RashomonSet, asked: shell.Asked, document: dict[str, Any]) -> list[str]:
    """The lines of what is asked of a set that is not empty, which the document is given, too."""
    lines = []
    if asked.best_by is not None:
        best = trees.best(_quantity("best_by", asked.best_by, asked.sensitive))
        told = {"quantity": best.quantity, "value": best.value, "ties": best.ties, "tree": str(best.tree)}
        document["best_by"] = {"name": asked.best_by, **told}
        value = f"at the value {shell.brief(best.value)}, {best.ties:,} trees"
        lines += [f"least {asked.best_by}: {shell.brief(best.quantity)}, {value}", str(best.tree)]
    if asked.importance:
        found = trees.importance()
        document["importance"] = {k: {"share": x.share, "best_without": x.best_without} for k, x in found.items()}
        for name, each in sorted(found.items(), key=lambda item: -item[1].share):
            without = "needed" if each.best_without is None else f"best without it {shell.brief(each.best_without)}"
            lines.append(f"  {each.share:7.1%}  {name}  ({without})")
    return lines if asked.best_by is not None else [*lines, str(trees[0])]


def _quantity(option: str, name: str, sensitive: Sequence[str]) -> Any:
    from streed import registry
    from streed.errors import argument_names

    with argument_names(task=option):
        return registry.make_notion(name, sensitive) if name in registry.notions() else registry.make_task(name, {})
