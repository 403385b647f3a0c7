"""The shell, `streed`: what is done with a saved tree or a task of one's own, and what tells of what there is."""

from __future__ import annotations

import csv
import importlib.util
import io
import platform
import shlex
import signal
import sys
import warnings
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import click
from click import option

import streed
from streed import cli as shell
from streed.cli.solve import front, rashomon, report, solve
from streed.errors import InputError, StreedError, argument_names

_UNSEEN = click.Choice(["error", "warn", "ignore"])
_FORMS = click.Choice(["python", "sql", "dot", "svg", "text", "sklearn", "onnx"])
_TO = "A Python function, an SQL query, Graphviz, a picture, text; with --out a pickled scikit-learn pipeline or ONNX."
_ROLES = shell.role_options(" (of a tree that Python saved, which does not say)")


@shell.command(
    shell.tree_argument,
    shell.data_argument,
    option("--out", type=shell.path, metavar="FILE", help="Write a CSV file with one column instead."),
    option("--unseen", type=_UNSEEN, default="warn", show_default=True, help="Categories that the tree's data lack."),
    shell.json_option,
)
def predict(asked: shell.Asked) -> None:
    """Print what a tree that `streed solve --out` saved predicts for DATA, one row a line; - is standard input."""
    from streed.datasets import read_table

    shell.check_one_input(asked)
    with warnings.catch_warnings():
        warnings.simplefilter({"warn": "always"}.get(asked.unseen, asked.unseen), UserWarning)
        try:
            answers = shell.load_tree(asked.tree).predict(read_table(asked.data)[0]).tolist()
        except UserWarning as warning:
            shell.fail(f"data: {warning}")
    if asked.out is not None:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([each] for each in ("prediction", *answers))
        shell.write(asked.out, text.getvalue())
    else:
        shell.show(asked.as_json, {"predictions": answers}, map(str, answers))


@shell.command(shell.tree_argument, shell.data_argument, *_ROLES, shell.json_option)
def verify(asked: shell.Asked) -> None:
    """Evaluate a saved tree again from the raw DATA, and check every number that it claims; - is standard input.

    Of the bound, only its place beside the value is checked: to prove it again, solve again or see `streed prove`.
    """
    from streed.tree.evaluation import check

    saved, data = shell.read_saved(asked)
    if saved.claims is None:
        shell.fail("tree: it holds no claims to check; save it with `streed solve --out`")
    checks = check(saved, data)
    held = all(each.holds for each in checks)
    listed = [{"what": c.what, "claimed": c.claimed, "found": c.found, "holds": c.holds} for c in checks]
    wrong = [f"MISMATCH  {c.what}: claimed {c.claimed}, found {c.found}" for c in checks if not c.holds]
    shell.show(asked.as_json, {"holds": held, "checks": listed}, wrong or [f"all {len(checks)} claims hold"])
    sys.exit(shell.FINE if held else shell.MISMATCH)


@shell.command(
    shell.tree_argument,
    shell.data_argument,
    option("--out", required=True, type=shell.path, metavar="FILE", help="The proof."),
    option("--table", type=shell.path, metavar="FILE", help="The table that it is about (default: --out with .csv)."),
    option("--time-limit", type=click.FloatRange(min=0), metavar="S", help="Seconds; then a bound is proved."),
    *_ROLES,
    shell.json_option,
    interrupted="no proof yet",
)
def prove(asked: shell.Asked) -> None:
    """Prove that a saved tree is the best one for DATA, for its own task and within its own limits.

    Two files are written: the proof, and the table of codes that it is about. With them `check.py`, which is one file
    beside streed and needs nothing but Python and numpy, shows the same to anyone: see `streed check-proof`.
    """
    from streed.proof import prove as prove_tree

    shell.check_folder("out", asked.out)
    out, beside = asked.out, asked.table or asked.out.with_suffix(".csv")
    if len({each.resolve() for each in (asked.tree, Path(asked.data), out, beside)}) < 4:
        shell.fail(f"table: {str(beside)!r} or {str(out)!r} would be written over what is read; give --table, or --out")
    shell.check_folder("table", beside)
    made = prove_tree(*shell.read_saved(asked), time_limit=asked.time_limit, progress=True)
    made.save(out, beside)
    command = shlex.join(made.command(out, beside))
    numbers = {"cost": str(made.cost), "bound": str(made.bound), "optimal": made.optimal}
    said = "optimal" if made.optimal else made.said
    document = {**numbers, "claims": made.claims, "bytes": len(made.data), "check": command}
    told = f"proved  {said}; {made.claims} claims, {len(made.data)} bytes, {made.seconds:.2f} s"
    shell.show(asked.as_json, document, [told, f"check   {command}"])
    sys.exit(shell.FINE if made.optimal else shell.STOPPED)


@shell.command(
    click.argument("arguments", nargs=-1, type=click.UNPROCESSED),
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    add_help_option=False,
    interrupted="not all of it is checked",
)
def check_proof(asked: shell.Asked) -> None:
    """Check a proof against its table; task and limits are given here, not taken from the proof."""
    from streed.proof.check import main

    sys.exit(main(list(asked.arguments), "streed check-proof"))


@shell.command(
    shell.tree_argument,
    option("--to", "form", type=_FORMS, required=True, help=_TO),
    option("--table", metavar="NAME", help="sql: a query of this table, not the CASE expression alone."),
    option("--out", type=shell.path, metavar="FILE", help="Write a file, not standard output."),
)
def export(asked: shell.Asked) -> None:
    """Print a tree that `streed solve --out` saved in another form, which predicts the same; - is standard input."""
    if asked.form in ("sklearn", "onnx") and asked.out is None:
        shell.fail(f"out: the form {asked.form} is no text; name its file with --out")
    import pickle

    from streed import export, plot

    forms: dict[str, Any] = {
        "python": export.to_python,
        "sql": lambda tree: export.to_sql(tree, asked.table),
        "dot": export.to_dot,
        "svg": plot.tree_svg,
        "text": str,
        "sklearn": lambda tree: pickle.dumps(export.to_sklearn(tree)),
        "onnx": lambda tree: export.to_onnx(tree).SerializeToString(),
    }
    made = forms[asked.form](shell.load_tree(asked.tree))
    made = made.rstrip("\n") + "\n" if isinstance(made, str) else made
    if asked.out is None:
        click.echo(made, nl=False)
    else:
        shell.write(asked.out, made)


@shell.command(shell.json_option)
def tasks(asked: shell.Asked) -> None:
    """List the objectives, limits, notions of fairness and rates, with their parameters."""
    from streed import registry

    lines, document = [], {}
    for kind in ("tasks", "limits", "notions", "rates"):
        found = getattr(registry, kind)().values()
        document[kind] = [{"name": e.name, "parameters": dict(e.parameters), "summary": e.summary} for e in found]
        lines.append(f"{kind}:")
        for entry in found:
            given = ", ".join(k if v == "required" else f"{k}={v}" for k, v in entry.parameters.items())
            lines.append(f"  {entry.name}{f'({given})' if given else ''}\n      {entry.summary}")
    shell.show(asked.as_json, document, lines)


@shell.command(shell.json_option)
def datasets(asked: shell.Asked) -> None:
    """List the bundled data sets."""
    from streed import datasets as bundled

    document = [
        {
            "name": entry.name,
            "rows": len(entry.table[entry.target]),
            "target": entry.target,
            "columns": [name for name in entry.table if name != entry.target],
            "description": entry.description,
            "source": entry.source,
        }
        for entry in map(bundled.load, bundled.names())
    ]
    lines = [f"{e['name']}  ({e['rows']} rows, target {e['target']})\n    {e['description']}" for e in document]
    shell.show(asked.as_json, document, lines)


@shell.command(shell.json_option)
def doctor(asked: shell.Asked) -> None:
    """Say where native code is kept, and which versions are installed."""
    from llvmlite import binding

    from streed.kernels.places import SUFFIX, cache_directory, why_none

    cache = cache_directory()
    kept = () if cache is None else tuple(cache.glob(f"*{SUFFIX}"))
    found = {
        "streed": f"{streed.__version__}, {Path(streed.__file__).parent}",
        "python": f"{platform.python_version()}, {sys.executable}",
        **{name: metadata.version(name) for name in ("numba", "llvmlite", "numpy", "attrs")},
        "processor": binding.get_host_cpu_name(),
        "cache": f"none: {why_none()}" if cache is None else f"{cache}, writable, {len(kept)} compiled functions",
    }
    shell.show(asked.as_json, found, [f"{what:<14}  {told}" for what, told in found.items()])


@shell.command(click.argument("task", metavar="TASK"), shell.param_option, shell.subject_to_option)
def explain(asked: shell.Asked) -> None:
    """Print what is known of TASK: its order, its bounds, and what runs it."""
    click.echo(streed.explain(asked.objective()))


@shell.command(
    click.argument("task", metavar="FILE.py:TASK"),
    option("--data", metavar="NAME", help="A strategy of data sets in that file, or a function of Hypothesis' draw."),
    option("--examples", type=click.IntRange(1), default=100, show_default=True, metavar="N", help="Data sets a law."),
    option("--seed", type=int, metavar="N", help="Draw other data."),
    option("--time-limit", type=click.FloatRange(0), default=20.0, metavar="SECONDS", help="For all laws (20)."),
    option("--engine/--no-engine", default=True, show_default=True, help="Whether to try the drivers too."),
    shell.json_option,
)
def check(asked: shell.Asked) -> None:
    """Try the laws of separability on a task of your own, and show a counterexample where one does not hold.

    TASK is a class or an instance in a file or module, such as my_tasks.py:MyTask, 'my_tasks.py:MyTask(0.5)' or
    package.module:MyTask; a name of `streed tasks` will do too.
    """
    from streed.testing import LAWS, find_violations

    laws = tuple(law for law in LAWS if asked.engine or not law.needs_engine)
    with argument_names(task="data"):
        source = None if asked.data is None else load_object(asked.task, asked.data)
    effort = {"max_examples": asked.examples, "seed": asked.seed, "time_limit": asked.time_limit}
    report = find_violations(load_task(asked.task), laws, data=source, **effort)
    shell.show(asked.as_json, report.to_dict(), [report.to_text()])
    sys.exit(shell.FINE if report.holds else shell.MISMATCH)


def load_task(written: str) -> streed.Task | type[streed.Task]:
    """The task, or the class if it is written without brackets; raises InputError where there is none."""
    from streed import registry

    place, colon, name = written.partition(":")
    if not colon:
        return registry.make_task(written, {})
    name, bracket, rest = name.partition("(")
    found: Any = load_object(written, name)
    if not bracket:
        if _is_task(found):
            return found  # type: ignore[no-any-return]
        raise InputError("task", f"{name!r} in {place!r} is no Task", "name a class or an instance of one")
    positional, named = registry.read_arguments(rest, written, "task")
    task = _run(lambda: found(*positional, **named), written, "give the arguments that it takes")
    if not isinstance(task, streed.Task):
        raise InputError("task", f"{written} makes {task!r}", "name a task")
    return task


def load_object(written: str, name: str) -> Any:
    """The object `name` of the file or module before the colon of `written`; raises InputError where there is none."""
    place = written.partition(":")[0]
    is_file = place.endswith(".py")
    folder = str(Path(place).resolve().parent if is_file else Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    module = _file(Path(place)) if is_file else _run(lambda: importlib.import_module(place), place)
    if not hasattr(module, name):
        there = ", ".join(key for key, value in vars(module).items() if _is_task(value)) or "none"
        raise InputError("task", f"there is no {name!r} in {place!r}", f"its tasks: {there}")
    return getattr(module, name)


def _file(path: Path) -> Any:
    """The module that a file is; files beside it can be imported from it, as if it were run as a script."""
    if not path.is_file():
        raise InputError("task", f"there is no file {str(path)!r}", "check the path")
    known = sys.modules.get(path.stem)
    if known is not None and Path(getattr(known, "__file__", None) or "").resolve() == path.resolve():
        return known
    name = path.stem if known is None else f"{path.stem}_checked"
    spec: Any = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        _run(lambda: spec.loader.exec_module(module), str(path))
    except InputError:
        del sys.modules[name]
        raise
    return module


def _is_task(thing: Any) -> bool:
    return issubclass(thing if isinstance(thing, type) else type(thing), streed.Task) and thing is not streed.Task


def _run(load: Callable[[], Any], place: str, remedy: str = "make it run with python first") -> Any:
    """What the user's code gives; raises InputError where it raises another error."""
    try:
        return load()
    except StreedError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError("task", f"{place}: {type(error).__name__}: {error}", remedy) from error


class App(click.Group):
    """The commands; what is wrong with the arguments is said in one line, as all other errors are."""

    def main(self, *arguments: Any, **further: Any) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")  # a name that the terminal cannot show is no failure
        try:
            return super().main(*arguments, **{**further, "standalone_mode": False})
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            sys.exit(error.exit_code)
        except click.UsageError as error:
            said = " ".join(error.format_message().split())
            shell.fail(f"{said} See {error.ctx.command_path if error.ctx else 'streed'} --help.")
        except click.Abort:
            sys.exit(shell.INTERRUPTED)


@click.group(cls=App, epilog=shell.CODES)
@click.version_option(streed.__version__, message="streed %(version)s")
def app() -> None:
    """Provably optimal decision trees for the objective that you declare."""


_SEARCHED = (solve, front, rashomon, predict, verify, prove, check_proof, report, export)
for each in (*_SEARCHED, check, tasks, explain, datasets, doctor):
    app.add_command(each)


def main() -> None:
    """The entry point of the console script; SIGTERM, unless it is ignored, does what Ctrl-C does."""
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    app(prog_name="streed")
