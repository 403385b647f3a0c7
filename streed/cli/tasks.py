"""`streed tasks`: the objectives, limits and notions by name."""

from __future__ import annotations

import click

from streed.cli.exit_codes import errors
from streed.cli.options import json_option
from streed.cli.output import print_json


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
