"""`streed predict`: what a saved tree predicts."""

from __future__ import annotations

from pathlib import Path

import click

from streed.cli.exit_codes import CODES, errors
from streed.cli.options import check_one_input, data_argument, json_option, load_tree, path, tree_argument
from streed.cli.output import cell, print_json, write


@click.command(epilog=CODES)
@tree_argument
@data_argument
@click.option("--out", type=path, metavar="FILE", help="Write a CSV file with one column instead.")
@json_option
def predict(tree: Path, data: str, out: Path | None, as_json: bool) -> None:
    """Print what a tree that `streed solve --out` saved predicts for DATA, one row a line; - is standard input."""
    with errors():
        from streed.datasets.reading import read_table

        check_one_input(tree, data)
        answers = load_tree(tree).predict(read_table(data)[0]).tolist()
        if out is not None:
            write(out, "\n".join(["prediction", *map(cell, answers)]) + "\n")
        elif as_json:
            print_json({"predictions": answers})
        else:
            click.echo("\n".join(map(str, answers)))
