"""`streed predict`: what a saved tree predicts."""

from __future__ import annotations

from pathlib import Path

import click

from streed.commands.ending import CODES, errors
from streed.commands.given import check_one_input, data_argument, json_option, load_tree, path, tree_argument
from streed.commands.output import cell, print_json, write


@click.command(epilog=CODES)
@tree_argument
@data_argument
@click.option("--out", type=path, metavar="FILE", help="Write a CSV file with one column instead.")
@json_option
def predict(tree: Path, data: str, out: Path | None, as_json: bool) -> None:
    """Print what a tree that `streed solve --out` saved predicts for DATA, one row a line; - is standard input."""
    with errors():
        check_one_input(tree, data)
        from streed.preparation import predict as predicted
        from streed.reading import read_table

        answers = predicted(load_tree(tree), read_table(data)[0])
        if out is not None:
            write(out, "\n".join(["prediction", *map(cell, answers)]) + "\n")
        elif as_json:
            print_json({"predictions": answers})
        else:
            click.echo("\n".join(map(str, answers)))
