"""The report's page: its sections in order, its style and its script inside."""

from __future__ import annotations

import importlib.resources
import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streed
from streed.data import Dataset
from streed.data.visible import escaped
from streed.errors import InputError
from streed.plot.gathering import gathered
from streed.plot.measures import Rows
from streed.plot.survey import survey
from streed.report import sections
from streed.report.document import tree_document
from streed.report.limits import kept, limits
from streed.report.near_optimal import near_optimal
from streed.result import Result
from streed.tree import Claims, Tree
from streed.tree.models import tree_of
from streed.tree.text import number, size_text

if TYPE_CHECKING:
    from streed.rashomon.rashomon_set import RashomonSet

_STATUS = {
    "optimal": ("good", "proven optimal"),
    "feasible": ("open", "stopped early"),
}


def write_report(path: str | Path, found: Any, X: Any = None, y: Any = None, **further: Any) -> None:
    """Writes `make_report`'s page to a file; raises OSError where it cannot be written, and as `make_report` does."""
    text = make_report(found, X, y, **further)
    Path(path).write_text(text, encoding="utf-8")


def make_report(
    found: Any,
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    sensitive_features: Any = None,
    compare: Sequence[Result] = (),
    near: RashomonSet | None = None,
    gather: bool = False,
    title: str | None = None,
    note: str | None = None,
) -> str:
    """The text of an HTML file about a result or a fitted estimator, or a tree alone (whose claims say what was found).

    `X`, `y`, `sample_weight`, `sensitive_features`: rows to count at the nodes and to judge predictions by, as `solve`
    takes them, or a Dataset that has them; without them the rows are those that the tree remembers. `compare`: results
    of other budgets or limits, drawn as a front where the result has none. `near`: the near-optimal trees of the same
    task, of which the tree may be one. `gather`: show leaves that predict the same,
    below a node with a child per category, as one. `note`: a sentence below the title. Sections
    for which nothing is known are left out. Raises InputError for a result without a tree, and for rows that the tree
    cannot read.
    """
    tree = tree_of(found)
    verdict = found.verdict().split("\n") if hasattr(found, "verdict") else ()
    compare = compare or getattr(found, "other_results_", ())
    found = getattr(found, "result_", found)
    verdict = verdict or (list(map(kept, found.stats.get("limits", ()))) if isinstance(found, Result) else ())
    nodes = survey(tree, X, y, sample_weight)
    nodes = gathered(nodes) if gather else nodes
    has_labels = X is not None and (y is not None or (isinstance(X, Dataset) and X.classes != (None,)))
    rows = Rows.make(X, y, sample_weight, sensitive_features) if has_labels else None
    if rows is None and sensitive_features is not None:
        raise InputError("y", "missing, and sensitive_features is given", "give X and y, or a Dataset with labels")
    claims = tree.claims
    heading = title or "A provably optimal decision tree"
    listed = [
        ("Tree", _tree_section(tree, tree_document(tree, nodes))),
        ("Leaves", sections.leaves(tree, nodes)),
        ("Predictions", None if rows is None else sections.errors(tree, nodes, rows)),
        ("Groups", None if rows is None or rows.sensitive is None else sections.groups(tree, rows, verdict)),
        ("Front", sections.front(found, compare, rows)),
        ("Near-optimal trees", near_optimal(near)),
        ("Search", sections.search(found)),
        ("Statistics", sections.statistics(found)),
    ]
    known = [(name, text) for name, text in listed if text is not None]
    links = "".join(f'<a href="#{_anchor(name)}">{name}</a>' for name, _ in known)
    body = "".join(f'<section id="{_anchor(name)}"><h2>{name}</h2>{text}</section>' for name, text in known)
    shown_note = f'<p class="note">{escaped(note)}</p>' if note else ""
    return "".join(
        [
            f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escaped(heading)}</title>',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta name="generator" content="streed {streed.__version__}">',
            f"<style>{_asset('report.css')}</style></head><body>",
            f"<header><h1>{escaped(heading)}</h1>{shown_note}{_cards(tree, claims, nodes[0].rows, near)}",
            f"<nav>{links}</nav></header>",
            f"<main>{body}</main>",
            f"<footer>Made by streed {streed.__version__}. This file needs no other.</footer>",
            f"<script>{_asset('tree.js')}</script></body></html>\n",
        ]
    )


def _cards(tree: Tree, claims: Claims | None, n_rows: int, near: RashomonSet | None) -> str:
    """The numbers at the top."""
    cards = []
    if claims is not None:
        colour, said = _STATUS[claims.status]
        if near is not None and claims.status != "optimal":
            said = "one of the near-optimal trees"
        cards.append(("status", f'<b class="{colour}">{said}</b>'))
        cards.append(("value", escaped(number(claims.value))))
        bounds = (claims.lower_bound, claims.upper_bound)
        if claims.status != "optimal" and None not in bounds:
            cards.append(("bounds", escaped(f"{number(bounds[0])} to {number(bounds[1])}")))
        sizes = [("depth", claims.max_depth), ("nodes", claims.max_nodes)]
        asked = [f"{name} at most {limit}" for name, limit in sizes if limit is not None]
        asked += [f"at least {claims.min_leaf} rows a leaf"] if claims.min_leaf > 1 else []
        cards.append(("limits of size", ", ".join(asked) or "none"))
        cards += [("subject to", escaped(limit)) for limit in limits(claims)]
    cards.append(("tree", size_text(tree)))
    cards.append(("rows", f"{n_rows:,}"))
    listed = "".join(f"<div><dt>{name}</dt><dd>{said}</dd></div>" for name, said in cards)
    return f'<dl class="cards">{listed}</dl>'


def _tree_section(tree: Tree, document: dict[str, Any]) -> str:
    # A "<" inside JSON could end the script.
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    options = "".join(f'<option value="{shade}">{shade}</option>' for shade in document["shades"])
    return (
        '<div class="tools" id="tree-tools" hidden>'
        f'<label>shade by <select id="shade">{options}</select></label>'
        '<label>open to depth <input id="depth" type="range" min="0" step="1">'
        '<output id="depth-shown"></output></label>'
        '<button id="smaller" title="smaller">&minus;</button><button id="larger" title="larger">+</button>'
        '<button id="fit">fit</button><button id="save">save as SVG</button></div>'
        '<div id="tree-view" tabindex="0"></div>'
        '<p id="rule" aria-live="polite">Point at a node for its rule; click on a question to close or open it.</p>'
        f"<noscript><pre>{escape(tree.to_text())}</pre></noscript>"
        f'<script type="application/json" id="tree-data">{text}</script>'
    )


def _anchor(name: str) -> str:
    return name.lower().replace(" ", "-")


def _asset(name: str) -> str:
    return importlib.resources.files("streed.report").joinpath(name).read_text(encoding="utf-8")
