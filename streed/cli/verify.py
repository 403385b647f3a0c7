"""`streed verify`: check a saved tree's claims against the raw data."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from streed.cli.exit_codes import CODES, FINE, MISMATCH, errors, fail
from streed.cli.options import (
    check_one_input,
    data_argument,
    json_option,
    load_tree,
    saved_data,
    saved_options,
    tree_argument,
)  # fmt: skip
from streed.cli.output import print_json


@click.command(epilog=CODES)
@tree_argument
@data_argument
@saved_options
@json_option
def verify(tree: Path, data: str, as_json: bool, **reading: Any) -> None:
    """Evaluate a saved tree again from the raw DATA, and check every number that it claims; - is standard input.

    The lower bound of a minimised task (the upper bound of a maximised one) is checked for consistency only: to prove
    it again is to solve again.
    """
    with errors():
        check_one_input(tree, data)
        from streed.tree.verification import check

        saved = load_tree(tree)
        if saved.claims is None:
            fail("tree: it holds no claims to check; save it with `streed solve --out`")
        checks = check(saved, saved_data(saved, data, **reading))
        held = all(each.holds for each in checks)
        if as_json:
            listed = [{"what": c.what, "claimed": c.claimed, "found": c.found, "holds": c.holds} for c in checks]
            print_json({"holds": held, "checks": listed})
        else:
            for each in checks:
                if not each.holds:
                    click.echo(f"MISMATCH  {each.what}: claimed {each.claimed}, found {each.found}")
            if held:
                click.echo(f"all {len(checks)} claims hold")
        sys.exit(FINE if held else MISMATCH)
