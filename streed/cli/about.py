"""What is there: tasks, bundled data, versions; what is known of a task, and whether its laws hold."""

from __future__ import annotations

import platform
import sys
from importlib import metadata
from pathlib import Path

import click

import streed
from streed.cli.asked import Asked, json_option, make_objective, option, param_option, subject_to_option
from streed.cli.output import CODES, FINE, MISMATCH, command, show


@command(json_option)
def tasks(asked: Asked) -> None:
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
    show(asked.as_json, document, lines)


@command(json_option)
def datasets(asked: Asked) -> None:
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
    show(asked.as_json, document, lines)


@command(json_option)
def doctor(asked: Asked) -> None:
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
    show(asked.as_json, found, [f"{what:<14}  {told}" for what, told in found.items()])


@command(click.argument("task", metavar="TASK"), param_option, subject_to_option)
def explain(asked: Asked) -> None:
    """Print what is known of TASK: its order, its bounds, and what runs it."""
    click.echo(streed.explain(make_objective(asked.task, asked.param, asked.subject_to)))


@command(
    click.argument("task", metavar="FILE.py:TASK"),
    option("--data", metavar="NAME", help="A strategy of data sets in that file, or a function of Hypothesis' draw."),
    option(
        "--examples", type=click.IntRange(min=1), default=100, show_default=True, metavar="N", help="Data sets per law."
    ),
    option("--seed", type=int, metavar="N", help="Draw other data."),
    option("--engine/--no-engine", default=True, show_default=True, help="Whether to try the drivers too."),
    json_option,
    epilog=CODES,
)
def check(asked: Asked) -> None:
    """Try the laws of separability on a task of your own, and show a counterexample where one does not hold.

    TASK is a class or an instance in a file or module, such as my_tasks.py:MyTask, 'my_tasks.py:MyTask(0.5)' or
    package.module:MyTask; a name of `streed tasks` will do too.
    """
    from streed.cli.loading import load_object, load_task
    from streed.testing import LAWS, find_violations

    laws = tuple(law for law in LAWS if asked.engine or not law.needs_engine)
    source = None if asked.data is None else load_object(asked.task, asked.data)
    report = find_violations(load_task(asked.task), laws, data=source, max_examples=asked.examples, seed=asked.seed)
    show(asked.as_json, report.to_dict(), [report.to_text()])
    sys.exit(FINE if report.holds else MISMATCH)
