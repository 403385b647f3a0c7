"""What is there: tasks, bundled data, versions; what is known of a task, and whether its laws hold."""

from __future__ import annotations

import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import click

import streed
from streed.cli.asked import json_option, make_objective, param_option, subject_to_option
from streed.cli.output import CODES, FINE, MISMATCH, errors, print_json

_PACKAGES = ("numba", "llvmlite", "numpy", "attrs")


@click.command()
@json_option
def tasks(as_json: bool) -> None:
    """List the objectives, limits, notions of fairness and rates, with their parameters."""
    with errors():
        from streed import registry

        kinds = {
            "tasks": registry.tasks(),
            "limits": registry.limits(),
            "notions": registry.notions(),
            "rates": registry.rates(),
        }
        if as_json:
            listed = {
                kind: [{"name": e.name, "parameters": dict(e.parameters), "summary": e.summary} for e in found.values()]
                for kind, found in kinds.items()
            }
            print_json(listed)
            return
        for kind, found in kinds.items():
            click.echo(f"{kind}:")
            for entry in found.values():
                given = ", ".join(k if v == "required" else f"{k}={v}" for k, v in entry.parameters.items())
                click.echo(f"  {entry.name}{f'({given})' if given else ''}\n      {entry.summary}")


@click.command()
@json_option
def datasets(as_json: bool) -> None:
    """List the bundled data sets."""
    with errors():
        from streed import datasets as bundled

        entries = [bundled.load(name) for name in bundled.names()]
        rows = {entry.name: len(entry.table[entry.target]) for entry in entries}
        if as_json:
            print_json(
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


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Say where native code is kept, and which versions are installed."""
    with errors():
        found = examine()
        if as_json:
            print_json(found)
            return
        for what, told in found.items():
            click.echo(f"{what:<14}  {told}")


def examine() -> dict[str, Any]:
    """What there is to tell, by what it is about."""
    from llvmlite import binding

    from streed.kernels.places import SUFFIX, cache_directory, why_none

    cache = cache_directory()
    kept = () if cache is None else tuple(cache.glob(f"*{SUFFIX}"))
    return {
        "streed": f"{streed.__version__}, {Path(streed.__file__).parent}",
        "python": f"{platform.python_version()}, {sys.executable}",
        **{name: metadata.version(name) for name in _PACKAGES},
        "processor": binding.get_host_cpu_name(),
        "cache": f"none: {why_none()}" if cache is None else f"{cache}, writable, {len(kept)} compiled functions",
    }


@click.command()
@click.argument("task", metavar="TASK")
@param_option
@subject_to_option
def explain(task: str, param: tuple[str, ...], subject_to: tuple[str, ...]) -> None:
    """Print what is known of TASK: its order, its bounds, and what runs it."""
    with errors():
        click.echo(streed.explain(make_objective(task, param, None, subject_to)))


@click.command(epilog=CODES)
@click.argument("task", metavar="FILE.py:TASK")
@click.option("--data", metavar="NAME", help="A strategy of data sets in that file, or a function of Hypothesis' draw.")
@click.option(
    "--examples", type=click.IntRange(min=1), default=100, show_default=True, metavar="N", help="Data sets per law."
)
@click.option("--seed", type=int, metavar="N", help="Draw other data.")
@click.option("--engine/--no-engine", default=True, show_default=True, help="Whether to try the drivers too.")
@json_option
def check(task: str, data: str | None, examples: int, seed: int | None, engine: bool, as_json: bool) -> None:
    """Try the laws of separability on a task of your own, and show a counterexample where one does not hold.

    TASK is a class or an instance in a file or module, such as my_tasks.py:MyTask, 'my_tasks.py:MyTask(0.5)' or
    package.module:MyTask; a name of `streed tasks` will do too.
    """
    with errors():
        from streed.cli.loading import load_object, load_task
        from streed.testing import LAWS, find_violations

        laws = tuple(law for law in LAWS if engine or not law.needs_engine)
        source = None if data is None else load_object(task, data)
        report = find_violations(load_task(task), laws, data=source, max_examples=examples, seed=seed)
        if as_json:
            print_json(report.to_dict())
        else:
            click.echo(report.to_text())
        sys.exit(FINE if report.holds else MISMATCH)
