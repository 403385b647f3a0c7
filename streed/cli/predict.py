"""`streed predict`: what a saved tree predicts."""

from __future__ import annotations

import warnings
from pathlib import Path

import click

from streed.cli.exit_codes import CODES, errors, fail
from streed.cli.options import check_one_input, data_argument, json_option, load_tree, path, tree_argument
from streed.cli.output import cell, print_json, write


@click.command(epilog=CODES)
@tree_argument
@data_argument
@click.option("--out", type=path, metavar="FILE", help="Write a CSV file with one column instead.")
@click.option(
    "--unseen",
    type=click.Choice(["error", "warn", "ignore"]),
    default="warn",
    show_default=True,
    help="What to do about categories that the tree's data did not have.",
)
@json_option
def predict(tree: Path, data: str, out: Path | None, unseen: str, as_json: bool) -> None:
    """Print what a tree that `streed solve --out` saved predicts for DATA, one row a line; - is standard input."""
    with errors():
        from streed.datasets.reading import read_table

        check_one_input(tree, data)
        with warnings.catch_warnings():
            warnings.simplefilter({"warn": "always"}.get(unseen, unseen), UserWarning)  # type: ignore[arg-type]
            try:
                answers = load_tree(tree).predict(read_table(data)[0]).tolist()
            except UserWarning as warning:
                fail(f"data: {warning}")
        if out is not None:
            write(out, "\n".join(["prediction", *map(cell, answers)]) + "\n")
        elif as_json:
            print_json({"predictions": answers})
        else:
            click.echo("\n".join(map(str, answers)))
