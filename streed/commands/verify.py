"""`streed verify`: check a saved tree's claims against the raw data."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from streed.commands.ending import CODES, FINE, MISMATCH, errors, fail
from streed.commands.given import check_one_input, data_argument, json_option, load_tree, tree_argument
from streed.commands.output import print_json


@click.command(epilog=CODES)
@tree_argument
@data_argument
@click.option("--target", metavar="COLUMN", help="Column of the labels, of a tree that Python saved.")
@click.option("--weights", metavar="COLUMN", help="Column of row weights, likewise.")
@click.option("--frequency", metavar="COLUMN", help="Column of how many rows each row stands for, likewise.")
@json_option
def verify(
    tree: Path, data: str, target: str | None, weights: str | None, frequency: str | None, as_json: bool
) -> None:
    """Evaluate a saved tree again from the raw DATA, and check every number that it claims; - is standard input.

    The lower bound of a minimised task (the upper bound of a maximised one) is checked for consistency only: to prove
    it again is to solve again.
    """
    with errors():
        check_one_input(tree, data)
        from streed.preparation import make_dataset
        from streed.reading import read_table
        from streed.tree import Reading
        from streed.verification import check

        saved = load_tree(tree)
        if saved.claims is None:
            fail("tree: it holds no claims to check; save it with `streed solve --out`")
        reading = saved.claims.reading
        table, found = read_table(data, target if reading is None else reading.target)
        if reading is None:
            if found is None:
                fail("target: the tree does not say which column its labels are; give --target")
            multiway = tuple(column.name for column in saved.columns.values() if column.multiway)
            reading = Reading(found, weights, multiway, one_hot=False, sources={}, frequency=frequency)
        checks = check(saved, make_dataset(table, reading))
        held = all(each.holds for each in checks)
        if as_json:
            listed = [{"what": c.what, "claimed": c.claimed, "found": c.found, "holds": c.holds} for c in checks]
            print_json({"holds": held, "checks": listed})
        else:
            for each in checks:
                verdict = "ok      " if each.holds else "MISMATCH"
                click.echo(f"{verdict}  {each.what}: claimed {each.claimed}, found {each.found}")
        sys.exit(FINE if held else MISMATCH)
