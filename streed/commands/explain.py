"""`streed explain`: what is known of a task."""

from __future__ import annotations

import click

import streed
from streed.commands.ending import errors
from streed.commands.given import make_objective


@click.command()
@click.argument("task", metavar="TASK")
@click.option("--param", metavar="NAME=VALUE", multiple=True, help="A parameter of the task; may be repeated.")
@click.option("--subject-to", metavar="LIMIT", multiple=True, help="Such as 'min-support(5)'; may be repeated.")
def explain(task: str, param: tuple[str, ...], subject_to: tuple[str, ...]) -> None:
    """Print what is known of TASK: its order, its bounds, and what runs it."""
    with errors():
        click.echo(streed.explain(make_objective(task, param, None, subject_to)))
