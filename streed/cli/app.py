"""The shell, `streed`: its commands are in streed.cli."""

from __future__ import annotations

import contextlib
import io
import signal
import sys
from collections.abc import Iterator
from typing import Any

import click

import streed
from streed.cli.about import check, datasets, doctor, explain, tasks
from streed.cli.output import CODES, fail
from streed.cli.saved import check_proof, export, predict, prove, verify
from streed.cli.several import front, rashomon
from streed.cli.solve import report, solve


class App(click.Group):
    """The commands; what is wrong with the arguments is said in one line, as all other errors are."""

    def main(self, *arguments: Any, **further: Any) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")  # a name that the terminal cannot show is no failure
        return super().main(*arguments, **further)

    def make_context(self, *arguments: Any, **further: Any) -> click.Context:
        with _one_line():
            return super().make_context(*arguments, **further)

    def invoke(self, context: click.Context) -> Any:
        with _one_line():
            return super().invoke(context)


@contextlib.contextmanager
def _one_line() -> Iterator[None]:
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:
        raise
    except click.UsageError as error:
        fail(f"{error.format_message()} See {error.ctx.command_path if error.ctx else 'streed'} --help.")


@click.group(cls=App, epilog=CODES)
@click.version_option(streed.__version__, message="streed %(version)s")
def app() -> None:
    """Provably optimal decision trees for the objective that you declare."""


_SEARCHED = (solve, front, rashomon, predict, verify, prove, check_proof, report, export)
for command in (*_SEARCHED, check, tasks, explain, datasets, doctor):
    app.add_command(command)


def main() -> None:
    """The entry point of the console script; SIGTERM, unless it is ignored, does what Ctrl-C does."""
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    app(prog_name="streed")
