"""How a command ends, its exit code and what it says of errors; what it writes: JSON, files, cells, short numbers."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from streed.result import Result

FINE, MISMATCH, BAD_INPUT, STOPPED, INFEASIBLE, INTERRUPTED = 0, 1, 2, 3, 4, 130

_LONGEST = 1_000

CODES = """\b
Exit codes:
  0    fine; for solve: the tree is proved optimal
  1    a claim does not hold: of a saved tree (verify), a task (check), or the tree just found
  2    bad input; the reason is on standard error
  3    solve: stopped early (time, memory, Ctrl-C), with the best tree so far if there is one, its bounds and gap;
       prove, check-proof: a lower bound is proved, but not that the tree is the best
  4    solve: no tree meets the limits
  130  interrupted (Ctrl-C, SIGTERM) before there was a tree"""


def code_of(result: Result) -> int:
    """The exit code for what a solve found."""
    if result.status == "unknown":
        return INTERRUPTED if result.stats.get("stopped") == "interrupt" else STOPPED
    return {"optimal": FINE, "feasible": STOPPED}.get(result.status, INFEASIBLE)


@contextlib.contextmanager
def errors(interrupted: str) -> Iterator[None]:
    """Turns errors, whosever they are, and Ctrl-C, into a line and an exit code; warnings into lines."""
    from streed.errors import MismatchError, StreedError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = lambda message, *_, **__: click.echo(f"warning: {one_line(str(message))}", err=True)
            yield
    except MismatchError as error:
        click.echo(f"error: {one_line(str(error))}", err=True)
        sys.exit(MISMATCH)
    except StreedError as error:
        fail(str(error))
    except BrokenPipeError:
        # The reader has had enough, as in `streed ... | head`; Python shall not try to write the rest at exit.
        _drop_output()
        sys.exit(FINE)
    except OSError as error:
        if error.filename is None:
            # what could not be written cannot be written at exit either, of which Python would tell in lines of its own
            _drop_output()
        fail(f"{error.filename or 'output'}: cannot be read or written ({error.strerror or error})")
    except MemoryError:
        fail("memory: not enough memory; give fewer rows or columns, or a smaller tree")
    except KeyboardInterrupt:
        click.echo(f"interrupted: {interrupted}", err=True)
        sys.exit(INTERRUPTED)


def fail(message: str) -> NoReturn:
    """Ends the command: the input is bad, for this reason."""
    click.echo(f"error: {one_line(message)}", err=True)
    sys.exit(BAD_INPUT)


def one_line(message: str) -> str:
    """The message in one line of no more than a screen, whatever names and values it quotes."""
    from streed.errors import visible

    shown = visible(re.sub(r"\n +", "; ", message))
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST // 2]} ... {shown[-_LONGEST // 2 :]}"


def _drop_output() -> None:
    """Sends what is still to be written nowhere."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write(path: Path, data: str | bytes) -> None:
    """Writes a file, or ends the command with the reason why not."""
    try:
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
    except UnicodeEncodeError:
        fail(f"out: the text has half of a character, which {str(path)!r} cannot hold; rename the column or label")
    except OSError as error:
        fail(f"out: {str(path)!r} cannot be written ({error.strerror})")


def counted(count: int, what: str) -> str:
    """How many rows, columns or classes: `3 rows`, `1 column`."""
    return f"{count:,} {what.removesuffix('es' if what == 'classes' else 's') if count == 1 else what}"


def brief(value: Any) -> str:
    """A number in three digits, anything else as it is."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def positive(result: Result) -> list[str]:
    """Which class the task calls positive, if it calls one so, in a line."""
    from streed.errors import visible

    return [] if result.positive_class is None else [visible(f"positive class: {result.positive_class}")]


def show(as_json: bool, document: Any, lines: Iterable[str]) -> None:
    """Prints the document as JSON, or the lines."""
    if as_json:
        print_json(document)
    else:
        click.echo("\n".join(lines))


def print_json(document: Any) -> None:
    """Prints a document on standard output, indented; what the output cannot show is written as JSON's escapes."""
    from streed.data.strict_json import is_text

    plain = "utf" not in (getattr(sys.stdout, "encoding", None) or "utf-8").lower()
    text = json.dumps(document, indent=2, ensure_ascii=plain)
    click.echo(text if is_text(text) else json.dumps(document, indent=2))
