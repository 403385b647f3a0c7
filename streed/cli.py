"""The shell, `streed`: its commands are in streed.commands."""

from __future__ import annotations

import signal

import click

import streed
from streed.commands.check import check
from streed.commands.datasets import datasets
from streed.commands.ending import CODES
from streed.commands.explain import explain
from streed.commands.export import export
from streed.commands.front import front
from streed.commands.predict import predict
from streed.commands.report import report
from streed.commands.solve import solve
from streed.commands.tasks import tasks
from streed.commands.verify import verify


@click.group(epilog=CODES)
@click.version_option(streed.__version__, message="streed %(version)s")
def app() -> None:
    """Provably optimal decision trees for the objective that you declare."""


for command in (solve, front, predict, verify, report, export, check, tasks, explain, datasets):
    app.add_command(command)


def main() -> None:
    """The entry point of the console script; SIGTERM, unless it is ignored, does what Ctrl-C does."""
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    app(prog_name="streed")
