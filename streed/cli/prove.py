"""`streed prove` and `streed check-proof`: that a tree is optimal, as a file that a stranger can check."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import click

from streed.cli.exit_codes import CODES, FINE, MISMATCH, STOPPED, errors, fail
from streed.cli.options import (
    check_one_input,
    data_argument,
    json_option,
    load_tree,
    path,
    saved_data,
    saved_options,
    tree_argument,
)  # fmt: skip
from streed.cli.output import print_json


@click.command(epilog=CODES)
@tree_argument
@data_argument
@click.option("--out", required=True, type=path, metavar="FILE", help="The proof.")
@click.option("--table", type=path, metavar="FILE", help="The table that it is about (default: --out with .csv).")
@click.option("--time-limit", type=click.FloatRange(min=0), metavar="S", help="Seconds; then a bound is proved.")
@saved_options
@json_option
def prove(
    tree: Path,
    data: str,
    out: Path,
    table: Path | None,
    time_limit: float | None,
    as_json: bool,
    **reading: Any,
) -> None:
    """Prove that a saved tree is the best one for DATA, for its own task and within its own limits.

    Two files are written: the proof, and the table of codes that it is about. With them `check.py`, which is one file
    beside streed and needs nothing but Python and numpy, shows the same to anyone: see `streed check-proof`.
    """
    with errors("no proof yet"):
        from streed.proof import prove as prove_tree

        check_one_input(tree, data)
        beside = table or out.with_suffix(".csv")
        if len({each.resolve() for each in (tree, Path(data), out, beside)}) < 4:
            fail(f"table: {str(beside)!r} or {str(out)!r} would be written over what is read; give --table, or --out")
        saved = load_tree(tree)
        found = saved_data(saved, data, **reading)
        made = prove_tree(saved, found, time_limit=time_limit, progress=True)
        made.save(out, beside)
        command = shlex.join(["streed", "check-proof", str(out), str(beside), *made.arguments])
        if as_json:
            numbers = {"cost": str(made.cost), "bound": str(made.bound), "optimal": made.optimal}
            print_json({**numbers, "claims": made.claims, "bytes": len(made.data), "check": command})
        else:
            said = "optimal" if made.optimal else made.said
            click.echo(f"proved  {said}; {made.claims} claims, {len(made.data)} bytes, {made.seconds:.2f} s")
            click.echo(f"check   {command}")
        sys.exit(FINE if made.optimal else STOPPED)


@click.command(
    "check-proof", context_settings={"ignore_unknown_options": True, "help_option_names": []}, add_help_option=False
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def check_proof(arguments: tuple[str, ...]) -> None:
    """Check a proof against its table; task and limits are given here, not taken from the proof."""
    with errors("not all of it is checked"):
        from streed.proof.check import main

        code = main(list(arguments), "streed check-proof")
    sys.exit({0: FINE, 1: MISMATCH}.get(code, code))
