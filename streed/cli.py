"""The shell: `streed solve`, `predict`, `verify`, `check`, `tasks`, `explain` and `datasets`.

Only click is imported here; whatever a command needs is loaded when it runs, so that `streed --help` is instant. (typer
would read its arguments with pydantic: another 0.1 s at every start.)
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

import streed

if TYPE_CHECKING:
    from streed.task import Task
    from streed.tree import Reading, Tree

FINE, MISMATCH, BAD_INPUT, STOPPED, INFEASIBLE, INTERRUPTED = 0, 1, 2, 3, 4, 130

_CODES = """\b
Exit codes:
  0    fine; for solve: the tree is proved optimal
  1    a claim does not hold: a saved tree's (verify), a task's (check), or a fresh tree failed its own check
  2    bad input; the reason is on standard error
  3    solve: stopped early (time, memory, Ctrl-C) with a tree, its bounds and gap
  4    solve: no tree meets the limits
  130  interrupted before there was a tree"""

_NOTIONS = ("demographic-parity", "equal-opportunity", "equalized-odds", "predictive-equality")
"""The notions of fairness that have an option of their own; the tasks are not loaded for `streed --help`."""

_path = click.Path(path_type=Path)
_data = click.argument("data", metavar="DATA")
_tree = click.argument("tree", metavar="TREE.json", type=_path)
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(epilog=_CODES)
@click.version_option(streed.__version__, message="streed %(version)s")
def app() -> None:
    """Provably optimal decision trees for the objective that you declare."""


def main() -> None:
    """The entry point of the console script."""
    app(prog_name="streed")


def _notion_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for name in reversed(_NOTIONS):
        words = name.replace("-", " ")
        option = click.option(f"--{name}", type=float, metavar="GAP", help=f"Largest gap allowed by {words}.")
        command = option(command)
    return command


@app.command(epilog=_CODES)
@_data
@click.option("--target", metavar="COLUMN", help="Column to predict: a name, or a position from 0.")
@click.option(
    "--task",
    metavar="TASK",
    default="accuracy",
    show_default=True,
    help="What to optimise: a name of `streed tasks`, or 'name(arguments)'.",
)
@click.option("--param", metavar="NAME=VALUE", multiple=True, help="A parameter of the task; may be repeated.")
@click.option("--lam", metavar="NUMBER", help="Short for --param lam=...: the cost of a branching node.")
@click.option("--subject-to", metavar="LIMIT", multiple=True, help="Such as 'min-support(5)'; may be repeated.")
@click.option(
    "--sensitive",
    metavar="COLUMN",
    multiple=True,
    help="Column of the groups that fairness is about, no feature; if repeated, groups are the combinations.",
)
@_notion_options
@click.option("--max-depth", type=int, help="Largest depth (default: any).")
@click.option("--max-nodes", type=int, help="Most branching nodes (default: any number).")
@click.option("--min-leaf", type=int, default=1, show_default=True, help="Fewest rows in a leaf.")
@click.option("--search", metavar="DRIVER", default="depth-first", show_default=True, help="The search procedure.")
@click.option("--time-limit", type=float, metavar="SECONDS", help="Stop after this long.")
@click.option("--memory-limit", metavar="SIZE", help="Such as 500MB or 2GB.")
@click.option("--threads", type=int, default=1, show_default=True, help="Threads to search with.")
@click.option("--weights", metavar="COLUMN", help="Column of row weights.")
@click.option(
    "--categorical",
    metavar="COLUMN",
    multiple=True,
    help="A column of numbers that are categories; may be repeated; `all` for all.",
)
@click.option(
    "--one-hot/--multiway",
    default=True,
    show_default=True,
    help="A yes/no question per category, or one child per category.",
)
@click.option(
    "--thresholds",
    metavar="METHOD",
    default="quantiles",
    show_default=True,
    help="Where to cut numbers and dates: quantiles, midpoints, mdlp, tree, guesses (the last two: scikit-learn).",
)
@click.option("--n-thresholds", type=int, default=8, show_default=True, help="Most cuts of a column.")
@click.option("--out", type=_path, metavar="FILE", help="Save the tree and its claims as JSON.")
@_json
@click.option("--progress/--no-progress", default=None, help="Show a live line (default: in a terminal).")
def solve(
    data: str,
    target: str | None,
    task: str,
    param: tuple[str, ...],
    lam: str | None,
    subject_to: tuple[str, ...],
    sensitive: tuple[str, ...],
    max_depth: int | None,
    max_nodes: int | None,
    min_leaf: int,
    search: str,
    time_limit: float | None,
    memory_limit: str | None,
    threads: int,
    weights: str | None,
    categorical: tuple[str, ...],
    one_hot: bool,
    thresholds: str,
    n_thresholds: int,
    out: Path | None,
    as_json: bool,
    progress: bool | None,
    **notions: float | None,
) -> None:
    """Find the optimal tree for DATA, and prove it.

    DATA is a bundled data set (see `streed datasets`) or a CSV file.
    """
    with _errors():
        if out is not None and not out.parent.is_dir():
            _fail(f"out: there is no folder {str(out.parent)!r}")  # said before the search, not after it
        objective = _fair(_objective(task, param, lam, subject_to), notions, sensitive)
        table, reading = _read(data, target, weights, categorical, one_hot, sensitive, thresholds, n_thresholds)
        from streed.preparation import make_dataset

        dataset = make_dataset(table, reading)
        result = streed.solve(
            objective,
            dataset,
            max_depth=max_depth,
            max_nodes=max_nodes,
            min_leaf=min_leaf,
            search=search,
            time_limit=time_limit,
            memory_limit=None if memory_limit is None else _size(memory_limit),
            progress=(sys.stderr.isatty() if progress is None else progress) or None,
            threads=threads,
        )
        saved = _saved(result.tree, reading)
        if out is not None and saved is not None:
            _write(out, saved.to_json(indent=1) + "\n")
        shape = {"rows": dataset.n_rows, "columns": dataset.n_columns, "classes": dataset.n_classes}
        if as_json:
            document = None if saved is None else json.loads(saved.to_json())
            _print_json({"data": {"name": data, **shape}, **result.summary(), "document": document})
        else:
            click.echo(f"data    {data}: {', '.join(f'{count} {what}' for what, count in shape.items())}")
            click.echo(result.to_text())
            for found in result.stats.get("limits", ()):
                click.echo(_kept(found))
            told = {key: value for key, value in result.stats.items() if key != "limits"}
            if told:
                click.echo("\n" + "  ".join(f"{key} {_brief(value)}" for key, value in told.items()))
        sys.exit({"optimal": FINE, "feasible": STOPPED}.get(result.status, INFEASIBLE))


@app.command(epilog=_CODES)
@_tree
@_data
@click.option("--out", type=_path, metavar="FILE", help="Write a CSV file with one column instead.")
@_json
def predict(tree: Path, data: str, out: Path | None, as_json: bool) -> None:
    """Print what a tree that `streed solve --out` saved predicts for DATA, one row a line."""
    with _errors():
        from streed.preparation import predict as predicted
        from streed.reading import read_table

        answers = predicted(_load(tree), read_table(data)[0])
        if out is not None:
            _write(out, "\n".join(["prediction", *map(_cell, answers)]) + "\n")
        elif as_json:
            _print_json({"predictions": answers})
        else:
            click.echo("\n".join(map(str, answers)))


@app.command(epilog=_CODES)
@_tree
@_data
@click.option("--target", metavar="COLUMN", help="Column of the labels, of a tree that Python saved.")
@click.option("--weights", metavar="COLUMN", help="Column of row weights, likewise.")
@_json
def verify(tree: Path, data: str, target: str | None, weights: str | None, as_json: bool) -> None:
    """Evaluate a saved tree again from the raw DATA, and check every number that it claims.

    The lower bound of a minimised task (the upper bound of a maximised one) is checked for consistency only: to prove
    it again is to solve again.
    """
    with _errors():
        from streed.preparation import make_dataset
        from streed.reading import read_table
        from streed.tree import Reading
        from streed.verification import check

        saved = _load(tree)
        if saved.claims is None:
            _fail("tree: it holds no claims to check; save it with `streed solve --out`")
        reading = saved.claims.reading
        table, found = read_table(data, target if reading is None else reading.target)
        if reading is None:
            if found is None:
                _fail("target: the tree does not say which column its labels are; give --target")
            multiway = tuple(column.name for column in saved.columns.values() if column.multiway)
            reading = Reading(found, weights, multiway, one_hot=False, sources={})
        checks = check(saved, make_dataset(table, reading))
        held = all(each.holds for each in checks)
        if as_json:
            listed = [{"what": c.what, "claimed": c.claimed, "found": c.found, "holds": c.holds} for c in checks]
            _print_json({"holds": held, "checks": listed})
        else:
            for each in checks:
                verdict = "ok      " if each.holds else "MISMATCH"
                click.echo(f"{verdict}  {each.what}: claimed {each.claimed}, found {each.found}")
        sys.exit(FINE if held else MISMATCH)


@app.command(epilog=_CODES)
@click.argument("task", metavar="FILE.py:TASK")
@click.option("--data", metavar="NAME", help="A strategy of data sets in that file, or a function of Hypothesis' draw.")
@click.option(
    "--examples", type=click.IntRange(min=1), default=100, show_default=True, metavar="N", help="Data sets per law."
)
@click.option("--seed", type=int, metavar="N", help="Draw other data.")
@click.option("--engine/--no-engine", default=True, show_default=True, help="Whether to try the drivers too.")
@_json
def check(task: str, data: str | None, examples: int, seed: int | None, engine: bool, as_json: bool) -> None:
    """Try the laws of separability on a task of your own, and show a counterexample where one does not hold.

    TASK is a class or an instance in a file or module, such as my_tasks.py:MyTask, 'my_tasks.py:MyTask(0.5)' or
    package.module:MyTask; a name of `streed tasks` will do too.
    """
    with _errors():
        from streed.loading import load_object, load_task
        from streed.testing import LAWS, find_violations

        laws = tuple(law for law in LAWS if engine or not law.needs_engine)
        source = None if data is None else load_object(task, data)
        report = find_violations(load_task(task), laws, data=source, max_examples=examples, seed=seed)
        if as_json:
            _print_json(report.to_dict())
        else:
            click.echo(report.to_text())
        sys.exit(FINE if report.holds else MISMATCH)


@app.command()
@_json
def tasks(as_json: bool) -> None:
    """List the objectives, limits and notions of fairness, with their parameters."""
    with _errors():
        from streed import registry

        kinds = {"tasks": registry.tasks(), "limits": registry.limits(), "notions": registry.notions()}
        if as_json:
            listed = {
                kind: [{"name": e.name, "parameters": dict(e.parameters), "summary": e.summary} for e in found.values()]
                for kind, found in kinds.items()
            }
            _print_json(listed)
            return
        for kind, found in kinds.items():
            click.echo(f"{kind}:")
            for entry in found.values():
                given = ", ".join(k if v == "required" else f"{k}={v}" for k, v in entry.parameters.items())
                click.echo(f"  {entry.name}{f'({given})' if given else ''}\n      {entry.summary}")


@app.command()
@click.argument("task", metavar="TASK")
@click.option("--param", metavar="NAME=VALUE", multiple=True, help="A parameter of the task; may be repeated.")
@click.option("--subject-to", metavar="LIMIT", multiple=True, help="Such as 'min-support(5)'; may be repeated.")
def explain(task: str, param: tuple[str, ...], subject_to: tuple[str, ...]) -> None:
    """Print what is known of TASK: its order, its bounds, and what runs it."""
    with _errors():
        click.echo(streed.explain(_objective(task, param, None, subject_to)))


@app.command()
@_json
def datasets(as_json: bool) -> None:
    """List the bundled data sets."""
    with _errors():
        from streed import datasets as bundled

        entries = [bundled.load(name) for name in bundled.names()]
        rows = {entry.name: len(entry.table[entry.target]) for entry in entries}
        if as_json:
            _print_json(
                [
                    {
                        "name": entry.name,
                        "rows": rows[entry.name],
                        "target": entry.target,
                        "columns": [name for name in entry.table if name != entry.target],
                        "description": entry.description,
                        "source": entry.source,
                    }
                    for entry in entries
                ]
            )
            return
        for entry in entries:
            click.echo(f"{entry.name}  ({rows[entry.name]} rows, target {entry.target})\n    {entry.description}")


@contextlib.contextmanager
def _errors() -> Iterator[None]:
    """Turns errors of the caller's and Ctrl-C into a message and an exit code."""
    from streed.errors import MismatchError, StreedError

    try:
        yield
    except MismatchError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(MISMATCH)
    except StreedError as error:
        _fail(str(error))
    except BrokenPipeError:
        # The reader has had enough, as in `streed ... | head`; closing tells Python not to complain at exit.
        sys.stderr.close()
        sys.exit(FINE)
    except KeyboardInterrupt:
        click.echo("interrupted: no tree yet", err=True)
        sys.exit(INTERRUPTED)


def _fail(message: str) -> NoReturn:
    click.echo(f"error: {message}", err=True)
    sys.exit(BAD_INPUT)


def _objective(task: str, parameters: Sequence[str], lam: str | None, limits: Sequence[str]) -> Task:
    from streed import registry

    given: dict[str, str] = {}
    for parameter in [*parameters, *([] if lam is None else [f"lam={lam}"])]:
        key, equals, value = parameter.partition("=")
        if not equals or key in given:
            _fail(f"param: {parameter!r} is no NAME=VALUE, or is given twice; write --param lam=0.01")
        given[key] = value
    objective = registry.make_task(task, given)
    return objective.subject_to(*map(registry.make_limit, limits)) if limits else objective


def _fair(objective: Task, notions: Mapping[str, float | None], sensitive: Sequence[str]) -> Task:
    """The objective under the limits of fairness that were given."""
    from streed import registry

    given = {name.replace("_", "-"): most for name, most in notions.items() if most is not None}
    limits = [registry.make_notion_limit(name, most, sensitive) for name, most in given.items()]
    return objective.subject_to(*limits) if limits else objective


def _kept(found: Mapping[str, Any]) -> str:
    """What a limit came to, in one line."""
    rates = [
        f"{group} {rate:.4g}" + ("" if kind == "all" else f" of the {kind}")
        for kind, by_group in found["rates"].items()
        for group, rate in by_group.items()
    ]
    return f"{found['limit_on']}: gap {found['value']:.4g} of at most {found['limit']:g}; {', '.join(rates)}"


def _read(
    data: str,
    target: str | None,
    weights: str | None,
    categorical: Sequence[str],
    one_hot: bool,
    sensitive: Sequence[str],
    thresholds: str,
    n_thresholds: int,
) -> tuple[dict[str, list[Any]], Reading]:
    from streed import datasets as bundled
    from streed.binarize import Settings
    from streed.preparation import plan
    from streed.reading import read_table

    table, found = read_table(data, target)
    if found is None:
        _fail(f"target: which column is to be predicted? give --target, one of: {', '.join(table)}")
    trusted = data in bundled.names()
    reading = plan(
        table,
        found,
        weights=weights,
        categorical=categorical,
        one_hot=one_hot,
        trusted=trusted,
        sensitive=sensitive,
        settings=Settings(thresholds, n_thresholds),
    )
    if reading.recipes:
        click.echo(_made(reading, thresholds), err=True)
    return table, reading


def _made(reading: Reading, thresholds: str) -> str:
    """What was made of columns that are no plain categories."""
    from streed.binarize import TableRecipe

    lines = TableRecipe(reading.recipes).to_text().replace("\n", "\n  ")
    return f"made questions of {len(reading.recipes)} columns (--thresholds {thresholds}):\n  {lines}"


def _saved(tree: Tree | None, reading: Reading) -> Tree | None:
    """The tree with all that it takes to check its claims again."""
    import attrs

    if tree is None or tree.claims is None:
        return None
    return attrs.evolve(tree, claims=attrs.evolve(tree.claims, reading=reading))


def _load(path: Path) -> Tree:
    from streed.tree import Tree

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        _fail(f"tree: {str(path)!r} cannot be read ({error})")
    return Tree.from_json(text)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        _fail(f"out: {str(path)!r} cannot be written ({error.strerror})")


def _size(text: str) -> int:
    """Bytes of "500MB", "2GB" or "1000000"."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if match is None:
        _fail(f"memory_limit: {text!r} is no size; write 500MB or 2GB")
    return int(float(match[1]) * 1000 ** " KMGT".index(match[2].upper() or " "))


def _cell(value: Any) -> str:
    """A value as a field of a CSV file."""
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\r\n') else text


def _brief(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _print_json(document: Any) -> None:
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))
