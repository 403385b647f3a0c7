"""The shell: `streed solve`, `predict`, `verify`, `tasks` and `datasets`.

Only typer is imported here; whatever a command needs is loaded when it runs, so that `streed --help` is instant.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

if TYPE_CHECKING:
    from streed.result import Result
    from streed.task import Task
    from streed.tree import Reading, Tree

FINE, MISMATCH, BAD_INPUT, STOPPED, INFEASIBLE, INTERRUPTED = 0, 1, 2, 3, 4, 130

_CODES = """\b
Exit codes:
  0    fine; for solve: the tree is proved optimal
  1    verify: the file's claims do not hold
  2    bad input; the reason is on standard error
  3    solve: stopped early (time, memory, Ctrl-C) with a tree, its bounds and gap
  4    solve: no tree meets the limits
  130  interrupted before there was a tree"""

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    # Plain help and plain errors: rich would double the time to the first line.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog=_CODES,
)

Data = Annotated[str, typer.Argument(metavar="DATA", help="A bundled data set (see `streed datasets`) or a CSV file.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
TreeFile = Annotated[Path, typer.Argument(metavar="TREE.json", help="A tree that `streed solve --out` saved.")]


def main() -> None:
    """The entry point of the console script."""
    app(prog_name="streed")


def _version(wanted: bool) -> None:
    if wanted:
        import streed

        typer.echo(f"streed {streed.__version__}")
        raise typer.Exit(FINE)


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_version, help="Show the version and exit.")
    ] = False,
) -> None:
    """Provably optimal decision trees for the objective that you declare."""


@app.command(epilog=_CODES)
def solve(
    data: Data,
    target: Annotated[str | None, typer.Option(help="Column to predict: a name, or a position from 0.")] = None,
    task: Annotated[str, typer.Option(help="What to optimise: a name of `streed tasks`, or 'name(arguments)'.")] = (
        "accuracy"
    ),
    param: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="A parameter of the task.")] = None,
    lam: Annotated[str | None, typer.Option(help="Short for --param lam=...: the cost of a branching node.")] = None,
    subject_to: Annotated[list[str] | None, typer.Option(help="A limit, such as 'min-support(5)'.")] = None,
    max_depth: Annotated[int | None, typer.Option(help="Largest depth (default: any).")] = None,
    max_nodes: Annotated[int | None, typer.Option(help="Most branching nodes (default: any number).")] = None,
    min_leaf: Annotated[int, typer.Option(help="Fewest rows in a leaf.")] = 1,
    search: Annotated[str, typer.Option(help="The search procedure.")] = "depth-first",
    time_limit: Annotated[float | None, typer.Option(metavar="SECONDS", help="Stop after this long.")] = None,
    memory_limit: Annotated[str | None, typer.Option(metavar="SIZE", help="Such as 500MB or 2GB.")] = None,
    threads: Annotated[int, typer.Option(help="Threads to search with.")] = 1,
    weights: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column of row weights.")] = None,
    categorical: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="A column of numbers that are categories; may be repeated; `all` for all."),
    ] = None,
    one_hot: Annotated[
        bool, typer.Option("--one-hot/--multiway", help="A yes/no question per category, or one child per category.")
    ] = True,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Save the tree and its claims as JSON.")] = None,
    as_json: Json = False,
    progress: Annotated[
        bool | None, typer.Option("--progress/--no-progress", help="Show a live line (default: in a terminal).")
    ] = None,
) -> None:
    """Find the optimal tree and prove it."""
    with _errors():
        import streed

        if out is not None and not out.parent.is_dir():
            _fail(f"out: there is no folder {str(out.parent)!r}")  # said before the search, not after it
        objective = _objective(task, param or [], lam, subject_to or [])
        table, reading = _read(data, target, weights, categorical or [], one_hot)
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
        limits = {"max_depth": max_depth, "max_nodes": max_nodes, "min_leaf": min_leaf}
        saved = _saved(result, objective, reading, dataset.n_rows, limits)
        if out is not None and saved is not None:
            _write(out, saved.to_json(indent=1) + "\n")
        shape = {"rows": dataset.n_rows, "columns": dataset.n_columns, "classes": dataset.n_classes}
        if as_json:
            document = None if saved is None else json.loads(saved.to_json())
            _print_json({"data": {"name": data, **shape}, **result.summary(), "document": document})
        else:
            typer.echo(f"data    {data}: {', '.join(f'{count} {what}' for what, count in shape.items())}")
            typer.echo(result.to_text())
            if result.stats:
                typer.echo("\n" + "  ".join(f"{key} {_brief(value)}" for key, value in result.stats.items()))
        raise typer.Exit({"optimal": FINE, "feasible": STOPPED}.get(result.status, INFEASIBLE))


@app.command(epilog=_CODES)
def predict(
    tree: TreeFile,
    data: Data,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a CSV file with one column instead.")] = None,
    as_json: Json = False,
) -> None:
    """Print what a saved tree predicts, one row a line."""
    with _errors():
        from streed.preparation import predict as predicted
        from streed.reading import read_table

        answers = predicted(_load(tree), read_table(data)[0])
        if out is not None:
            _write(out, "\n".join(["prediction", *map(_cell, answers)]) + "\n")
        elif as_json:
            _print_json({"predictions": answers})
        else:
            typer.echo("\n".join(map(str, answers)))


@app.command(epilog=_CODES)
def verify(
    tree: TreeFile,
    data: Data,
    target: Annotated[str | None, typer.Option(help="Column of the labels, of a tree that Python saved.")] = None,
    weights: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column of row weights, likewise.")] = None,
    as_json: Json = False,
) -> None:
    """Evaluate a saved tree again from the raw data, and check every number that it claims.

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
                typer.echo(f"{verdict}  {each.what}: claimed {each.claimed}, found {each.found}")
        raise typer.Exit(FINE if held else MISMATCH)


@app.command()
def tasks(as_json: Json = False) -> None:
    """List the objectives and limits, with their parameters."""
    with _errors():
        from streed import registry

        kinds = {"tasks": registry.tasks(), "limits": registry.limits()}
        if as_json:
            listed = {
                kind: [{"name": e.name, "parameters": dict(e.parameters), "summary": e.summary} for e in found.values()]
                for kind, found in kinds.items()
            }
            _print_json(listed)
            return
        for kind, found in kinds.items():
            typer.echo(f"{kind}:")
            for entry in found.values():
                given = ", ".join(k if v == "required" else f"{k}={v}" for k, v in entry.parameters.items())
                typer.echo(f"  {entry.name}{f'({given})' if given else ''}\n      {entry.summary}")


@app.command()
def datasets(as_json: Json = False) -> None:
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
            typer.echo(f"{entry.name}  ({rows[entry.name]} rows, target {entry.target})\n    {entry.description}")


@contextlib.contextmanager
def _errors() -> Iterator[None]:
    """Turns errors of the caller's and Ctrl-C into a message and an exit code."""
    from streed.errors import StreedError

    try:
        yield
    except StreedError as error:
        _fail(str(error))
    except BrokenPipeError:
        # The reader has had enough, as in `streed ... | head`; closing tells Python not to complain at exit.
        sys.stderr.close()
        raise typer.Exit(FINE) from None
    except KeyboardInterrupt:
        typer.echo("interrupted: no tree yet", err=True)
        raise typer.Exit(INTERRUPTED) from None


def _fail(message: str) -> NoReturn:
    typer.echo(f"error: {message}", err=True)
    raise typer.Exit(BAD_INPUT)


def _objective(task: str, parameters: list[str], lam: str | None, limits: list[str]) -> Task:
    from streed import registry

    given: dict[str, str] = {}
    for parameter in [*parameters, *([] if lam is None else [f"lam={lam}"])]:
        key, equals, value = parameter.partition("=")
        if not equals or key in given:
            _fail(f"param: {parameter!r} is no NAME=VALUE, or is given twice; write --param lam=0.01")
        given[key] = value
    objective = registry.make_task(task, given)
    return objective.subject_to(*map(registry.make_limit, limits)) if limits else objective


def _read(
    data: str, target: str | None, weights: str | None, categorical: list[str], one_hot: bool
) -> tuple[dict[str, list[Any]], Reading]:
    from streed import datasets as bundled
    from streed.preparation import plan
    from streed.reading import read_table

    table, found = read_table(data, target)
    if found is None:
        _fail(f"target: which column is to be predicted? give --target, one of: {', '.join(table)}")
    trusted = data in bundled.names()
    return table, plan(table, found, weights=weights, categorical=categorical, one_hot=one_hot, trusted=trusted)


def _saved(result: Result, task: Task, reading: Reading, n_rows: int, limits: dict[str, Any]) -> Tree | None:
    """The tree with all that it takes to check it again."""
    import attrs

    from streed.tree import Claims

    if result.tree is None:
        return None
    claims = Claims(
        task, result.value, result.lower_bound, result.upper_bound, result.status, n_rows, **limits, reading=reading
    )
    return attrs.evolve(result.tree, claims=claims)


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
    typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
