"""What a command writes: JSON, files, cells of a CSV file, short numbers."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streed.cli.exit_codes import fail

if TYPE_CHECKING:
    from streed.result import Result


def write(path: Path, text: str) -> None:
    """Writes a file, or ends the command with the reason why not."""
    try:
        path.write_text(text, encoding="utf-8")
    except UnicodeEncodeError:
        fail(f"out: the text has half of a character, which {str(path)!r} cannot hold; rename the column or label")
    except OSError as error:
        fail(f"out: {str(path)!r} cannot be written ({error.strerror})")


def write_bytes(path: Path, data: bytes) -> None:
    """Writes a file of bytes, or ends the command with the reason why not."""
    try:
        path.write_bytes(data)
    except OSError as error:
        fail(f"out: {str(path)!r} cannot be written ({error.strerror})")


def cell(value: Any) -> str:
    """A value as a field of a CSV file."""
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\r\n') else text


_ONE = {"rows": "row", "columns": "column", "classes": "class"}


def counted(count: int, what: str) -> str:
    """How many rows, columns or classes: `3 rows`, `1 column`."""
    return f"{count:,} {_ONE[what] if count == 1 else what}"


def brief(value: Any) -> str:
    """A number in three digits, anything else as it is."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def print_positive(result: Result) -> None:
    """Prints which class the task calls positive, if it calls one so."""
    if result.positive_class is not None:
        from streed.data.visible import visible

        click.echo(visible(f"positive class: {result.positive_class}"))


def print_json(document: Any) -> None:
    """Prints a document on standard output, indented; what the output cannot show is written as JSON's escapes."""
    from streed.data.strict_json import is_text

    plain = "utf" not in (getattr(sys.stdout, "encoding", None) or "utf-8").lower()
    text = json.dumps(document, indent=2, ensure_ascii=plain)
    click.echo(text if is_text(text) else json.dumps(document, indent=2))
