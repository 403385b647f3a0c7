"""What is done with a saved tree: it predicts, is checked, proved to be the best, and written in other forms."""

from __future__ import annotations

import shlex
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streed.cli.asked import data_argument, json_option, path, with_options
from streed.cli.output import CODES, FINE, MISMATCH, STOPPED, cell, errors, fail, print_json, write

if TYPE_CHECKING:
    from streed.data import Dataset
    from streed.tree import Tree

tree_argument = click.argument("tree", metavar="TREE.json", type=path)
"""A file, or "-" for standard input."""


def load_tree(path: Path) -> Tree:
    """The tree that a file holds, or standard input for "-"."""
    from streed.data.strict_json import MOST_BYTES
    from streed.data.text_file import read_text
    from streed.tree import Tree

    return Tree.from_json(read_text(path, "tree", MOST_BYTES))


_LIKEWISE = ", of a tree that Python saved."
saved_options = with_options(
    click.option("--target", metavar="COLUMN", help=f"Column of the labels{_LIKEWISE}"),
    click.option("--weights", metavar="COLUMN", help=f"Column of row weights{_LIKEWISE}"),
    click.option("--frequency", metavar="COLUMN", help=f"Column of how many rows each row stands for{_LIKEWISE}"),
    click.option("--sensitive", metavar="COLUMN", multiple=True, help=f"Columns of groups{_LIKEWISE}"),
)
"""What is asked about the table of a tree that Python saved, which does not say how to read it."""


def saved_data(tree: Tree, data: str, target: str | None, weights: str | None, **more: Any) -> Dataset:
    """The data that a saved tree is about, from a raw table; `more`: frequency and sensitive, as `saved_options`."""
    from streed.cli.preparation import dataset_of, roles_in
    from streed.datasets.reading import read_table

    roles = None if tree.claims is None else tree.claims.roles
    table, found = read_table(data, target if roles is None else roles.target)
    if roles is None:
        if found is None:
            fail("target: the tree does not say which column its labels are; give --target")
        multiway = tuple(column.name for column in tree.columns.values() if column.multiway)
        roles = roles_in(table, found, weights=weights, categorical=multiway, **more)
    return dataset_of(tree, table, roles)


def check_one_input(tree: Path, data: str) -> None:
    """Ends the command where the tree and the table are both to be read from standard input."""
    if str(tree) == data == "-":
        fail("data: both the tree and the table are to be read from standard input; name a file for one of them")


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


@click.command(epilog=CODES)
@tree_argument
@click.option(
    "--to",
    "form",
    type=click.Choice(["python", "sql", "dot", "svg", "text", "sklearn", "onnx"]),
    required=True,
    help="A Python function, an SQL query, Graphviz, a picture or plain text; with --out a pickled scikit-learn "
    "pipeline or an ONNX model.",
)
@click.option("--table", metavar="NAME", help="sql: a query of this table, not the CASE expression alone.")
@click.option("--out", type=path, metavar="FILE", help="Write a file, not standard output.")
def export(tree: Path, form: str, table: str | None, out: Path | None) -> None:
    """Print a tree that `streed solve --out` saved in another form, which predicts the same; - is standard input."""
    with errors():
        if form in ("sklearn", "onnx") and out is None:
            fail(f"out: the form {form} is no text; name its file with --out")
        made = _exported(load_tree(tree), form, table)
        if isinstance(made, str):
            made = made.rstrip("\n") + "\n"
        if out is None:
            click.echo(made, nl=False)
        else:
            write(out, made)


def _exported(tree: Tree, form: str, table: str | None) -> str | bytes:
    import pickle

    from streed import export, plot

    if form in ("dot", "text"):
        return tree.to_dot() if form == "dot" else tree.to_text()
    if form == "svg":
        return plot.tree_svg(tree)
    if form == "sklearn":
        return pickle.dumps(export.to_sklearn(tree))
    if form == "onnx":
        return export.to_onnx(tree).SerializeToString()  # type: ignore[no-any-return]
    return export.to_python(tree) if form == "python" else export.to_sql(tree, table)
