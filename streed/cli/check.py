"""`streed check`: try the laws of separability on a task."""

from __future__ import annotations

import sys

import click

from streed.cli.exit_codes import CODES, FINE, MISMATCH, errors
from streed.cli.options import json_option
from streed.cli.output import print_json


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
