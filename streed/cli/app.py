"""The shell, `streed`: its commands are in streed.cli."""

from __future__ import annotations

import click

import streed
from streed.cli.check import check
from streed.cli.datasets import datasets
from streed.cli.exit_codes import CODES
from streed.cli.explain import explain
from streed.cli.export import export
from streed.cli.front import front
from streed.cli.predict import predict
from streed.cli.report import report
from streed.cli.solve import solve
from streed.cli.tasks import tasks
from streed.cli.verify import verify


@click.group(epilog=CODES)
@click.version_option(streed.__version__, message="streed %(version)s")
def app() -> None:
    """Provably optimal decision trees for the objective that you declare."""


for command in (solve, front, predict, verify, report, export, check, tasks, explain, datasets):
    app.add_command(command)


def main() -> None:
    """The entry point of the console script."""
    app(prog_name="streed")
