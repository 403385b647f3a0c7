"""`streed datasets`: what is bundled."""

from __future__ import annotations

import click

from streed.cli.exit_codes import errors
from streed.cli.options import json_option
from streed.cli.output import print_json


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
