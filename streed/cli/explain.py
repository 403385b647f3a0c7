"""`streed explain`: what is known of a task."""

from __future__ import annotations

import click

import streed
from streed.cli.exit_codes import errors
from streed.cli.options import make_objective, param_option, subject_to_option


@click.command()
@click.argument("task", metavar="TASK")
@param_option
@subject_to_option
def explain(task: str, param: tuple[str, ...], subject_to: tuple[str, ...]) -> None:
    """Print what is known of TASK: its order, its bounds, and what runs it."""
    with errors():
        click.echo(streed.explain(make_objective(task, param, None, subject_to)))
