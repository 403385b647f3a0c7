"""What is done with a saved tree: it predicts, is checked, proved to be the best, and written in other forms."""

from __future__ import annotations

import csv
import io
import shlex
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click import option

from streed import cli as shell

if TYPE_CHECKING:
    from streed.data import Dataset
    from streed.tree import Tree

_UNSEEN = click.Choice(["error", "warn", "ignore"])
_FORMS = click.Choice(["python", "sql", "dot", "svg", "text", "sklearn", "onnx"])
_TO = "A Python function, an SQL query, Graphviz, a picture, text; with --out a pickled scikit-learn pipeline or ONNX."
_ROLES = shell.role_options(" (of a tree that Python saved, which does not say)")


def load_tree(path: Path) -> Tree:
    """The tree that a file holds, or standard input for "-"."""
    from streed.data.strict_json import MOST_BYTES, read_text
    from streed.tree import Tree

    return Tree.from_json(read_text(path, "tree", MOST_BYTES))


def read_saved(asked: shell.Asked) -> tuple[Tree, Dataset]:
    """The tree of a file, and the rows of the raw table as it reads them."""
    from streed.data.database import listed_names
    from streed.datasets import GROUPS, make_dataset, read_table, roles_in

    check_one_input(asked)
    tree = load_tree(asked.tree)
    roles = None if tree.claims is None else tree.claims.roles
    if roles is not None:
        told: dict[str, Any] = {"target": roles.target, "weights": roles.sample_weight, "frequency": roles.frequency}
        told["sensitive"] = listed_names(roles.row_data.get(GROUPS, ())) or None
        for name, said in told.items():
            if getattr(asked, name) not in (None, (), said):
                shell.fail(f"{name}: it is {said or 'none'!r}, says the tree; leave out --{name}")
    table, found = read_table(asked.data, asked.target if roles is None else roles.target)
    if roles is None:
        if found is None:
            shell.fail("target: the tree does not say which column its labels are; give --target")
        multiway = tuple(column.name for column in tree.columns.values() if column.multiway)
        roles = roles_in(table, found, asked, multiway)
    return tree, make_dataset(table, roles, recipe=tree.recipe)


def check_one_input(asked: shell.Asked) -> None:
    """Ends the command where the tree and the table are both to be read from standard input."""
    if str(asked.tree) == asked.data == "-":
        shell.fail("data: both the tree and the table are to be read from standard input; name a file for one of them")


@shell.command(
    shell.tree_argument,
    shell.data_argument,
    option("--out", type=shell.path, metavar="FILE", help="Write a CSV file with one column instead."),
    option("--unseen", type=_UNSEEN, default="warn", show_default=True, help="Categories that the tree's data lack."),
    shell.json_option,
)
def predict(asked: shell.Asked) -> None:
    """Print what a tree that `streed solve --out` saved predicts for DATA, one row a line; - is standard input."""
    from streed.datasets import read_table

    check_one_input(asked)
    with warnings.catch_warnings():
        warnings.simplefilter({"warn": "always"}.get(asked.unseen, asked.unseen), UserWarning)
        try:
            answers = load_tree(asked.tree).predict(read_table(asked.data)[0]).tolist()
        except UserWarning as warning:
            shell.fail(f"data: {warning}")
    if asked.out is not None:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([each] for each in ("prediction", *answers))
        shell.write(asked.out, text.getvalue())
    else:
        shell.show(asked.as_json, {"predictions": answers}, map(str, answers))


@shell.command(shell.tree_argument, shell.data_argument, *_ROLES, shell.json_option)
def verify(asked: shell.Asked) -> None:
    """Evaluate a saved tree again from the raw DATA, and check every number that it claims; - is standard input.

    Of the bound, only its place beside the value is checked: to prove it again, solve again or see `streed prove`.
    """
    from streed.tree.evaluation import check

    saved, data = read_saved(asked)
    if saved.claims is None:
        shell.fail("tree: it holds no claims to check; save it with `streed solve --out`")
    checks = check(saved, data)
    held = all(each.holds for each in checks)
    listed = [{"what": c.what, "claimed": c.claimed, "found": c.found, "holds": c.holds} for c in checks]
    wrong = [f"MISMATCH  {c.what}: claimed {c.claimed}, found {c.found}" for c in checks if not c.holds]
    shell.show(asked.as_json, {"holds": held, "checks": listed}, wrong or [f"all {len(checks)} claims hold"])
    sys.exit(shell.FINE if held else shell.MISMATCH)


@shell.command(
    shell.tree_argument,
    shell.data_argument,
    option("--out", required=True, type=shell.path, metavar="FILE", help="The proof."),
    option("--table", type=shell.path, metavar="FILE", help="The table that it is about (default: --out with .csv)."),
    option("--time-limit", type=click.FloatRange(min=0), metavar="S", help="Seconds; then a bound is proved."),
    *_ROLES,
    shell.json_option,
    interrupted="no proof yet",
)
def prove(asked: shell.Asked) -> None:
    """Prove that a saved tree is the best one for DATA, for its own task and within its own limits.

    Two files are written: the proof, and the table of codes that it is about. With them `check.py`, which is one file
    beside streed and needs nothing but Python and numpy, shows the same to anyone: see `streed check-proof`.
    """
    from streed.proof import prove as prove_tree

    shell.check_folder("out", asked.out)
    out, beside = asked.out, asked.table or asked.out.with_suffix(".csv")
    if len({each.resolve() for each in (asked.tree, Path(asked.data), out, beside)}) < 4:
        shell.fail(f"table: {str(beside)!r} or {str(out)!r} would be written over what is read; give --table, or --out")
    shell.check_folder("table", beside)
    made = prove_tree(*read_saved(asked), time_limit=asked.time_limit, progress=True)
    made.save(out, beside)
    command = shlex.join(made.command(out, beside))
    numbers = {"cost": str(made.cost), "bound": str(made.bound), "optimal": made.optimal}
    said = "optimal" if made.optimal else made.said
    document = {**numbers, "claims": made.claims, "bytes": len(made.data), "check": command}
    told = f"proved  {said}; {made.claims} claims, {len(made.data)} bytes, {made.seconds:.2f} s"
    shell.show(asked.as_json, document, [told, f"check   {command}"])
    sys.exit(shell.FINE if made.optimal else shell.STOPPED)


@shell.command(
    click.argument("arguments", nargs=-1, type=click.UNPROCESSED),
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    add_help_option=False,
    interrupted="not all of it is checked",
)
def check_proof(asked: shell.Asked) -> None:
    """Check a proof against its table; task and limits are given here, not taken from the proof."""
    from streed.proof.check import main

    sys.exit(main(list(asked.arguments), "streed check-proof"))


@shell.command(
    shell.tree_argument,
    option("--to", "form", type=_FORMS, required=True, help=_TO),
    option("--table", metavar="NAME", help="sql: a query of this table, not the CASE expression alone."),
    option("--out", type=shell.path, metavar="FILE", help="Write a file, not standard output."),
)
def export(asked: shell.Asked) -> None:
    """Print a tree that `streed solve --out` saved in another form, which predicts the same; - is standard input."""
    if asked.form in ("sklearn", "onnx") and asked.out is None:
        shell.fail(f"out: the form {asked.form} is no text; name its file with --out")
    import pickle

    from streed import export, plot

    forms: dict[str, Any] = {
        "python": export.to_python,
        "sql": lambda tree: export.to_sql(tree, asked.table),
        "dot": export.to_dot,
        "svg": plot.tree_svg,
        "text": str,
        "sklearn": lambda tree: pickle.dumps(export.to_sklearn(tree)),
        "onnx": lambda tree: export.to_onnx(tree).SerializeToString(),
    }
    made = forms[asked.form](load_tree(asked.tree))
    made = made.rstrip("\n") + "\n" if isinstance(made, str) else made
    if asked.out is None:
        click.echo(made, nl=False)
    else:
        shell.write(asked.out, made)
