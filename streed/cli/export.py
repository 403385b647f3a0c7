"""`streed export`: a saved tree in another form."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streed.cli.exit_codes import CODES, errors, fail
from streed.cli.options import load_tree, path, tree_argument
from streed.cli.output import write, write_bytes

if TYPE_CHECKING:
    from streed.tree import Tree


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
        if form in _BINARY:
            if out is None:
                fail(f"out: the form {form} is no text; name its file with --out")
            write_bytes(out, _BINARY[form](load_tree(tree)))
            return
        text = _FORMS[form](load_tree(tree), table).rstrip("\n") + "\n"
        if out is None:
            click.echo(text, nl=False)
        else:
            write(out, text)


def _python(tree: Tree, table: str | None) -> str:
    from streed.export import to_python

    return to_python(tree)


def _sql(tree: Tree, table: str | None) -> str:
    from streed.export import to_sql

    return to_sql(tree, table)


def _svg(tree: Tree, table: str | None) -> str:
    from streed.plot import tree_svg

    return tree_svg(tree)


def _sklearn(tree: Tree) -> bytes:
    import pickle

    from streed.export import to_sklearn

    return pickle.dumps(to_sklearn(tree))


def _onnx(tree: Tree) -> bytes:
    from streed.export import to_onnx

    return to_onnx(tree).SerializeToString()  # type: ignore[no-any-return]


_BINARY: dict[str, Callable[[Tree], bytes]] = {"sklearn": _sklearn, "onnx": _onnx}

_FORMS: dict[str, Callable[[Tree, str | None], str]] = {
    "python": _python,
    "sql": _sql,
    "dot": lambda tree, table: tree.to_dot(),
    "svg": _svg,
    "text": lambda tree, table: tree.to_text(),
}
