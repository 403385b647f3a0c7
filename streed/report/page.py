"""The report: one static HTML page that needs no other file, no network and no script."""

from __future__ import annotations

import functools
import importlib.resources
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streed
from streed.data import Dataset
from streed.data.visible import visible
from streed.errors import InputError
from streed.plot import survey, tree_svg
from streed.plot.measures import Rows
from streed.report import sections
from streed.report.limits import kept, limits
from streed.result import Result
from streed.tree import Claims, Tree
from streed.tree.text import number, size_text, written
from streed.tree.tree import tree_of

if TYPE_CHECKING:
    from streed.rashomon.rashomon_set import RashomonSet

_STATUS = {"optimal": ("good", "proven optimal"), "feasible": ("open", "stopped early")}


def write_report(path: str | Path, found: Any, X: Any = None, y: Any = None, **further: Any) -> None:
    """Writes `make_report`'s page to a file; raises OSError where it cannot be written, and as `make_report` does."""
    text = make_report(found, X, y, **further)
    Path(path).write_text(text, encoding="utf-8")


def make_report(
    found: Any,
    X: Any = None,
    y: Any = None,
    *,
    compare: Sequence[Result] = (),
    near: RashomonSet | None = None,
    gather: bool = False,
    title: str | None = None,
    note: str | None = None,
    **further: Any,
) -> str:
    """The text of an HTML file about a result or a fitted estimator, or a tree alone (whose claims say what was found).

    `X`, `y`, `further` (sample_weight, sensitive_features): rows to count at the nodes and to judge predictions by, as
    `solve` takes them, or a Dataset that has them; without them the rows are those that the tree remembers. `compare`:
    results of other budgets or limits, drawn as a front where the result has none. `near`: the near-optimal trees of
    the same task, of which the tree may be one. `gather`: show leaves that predict the same, below a node with a child
    per category, as one. `note`: a sentence below the title. Sections for which nothing is known are left out. Charts
    need matplotlib; without it the page says so in their place. Raises InputError for a result without a tree, and for
    rows that the tree cannot read.
    """
    tree = tree_of(found)
    verdict = found.verdict().split("\n") if hasattr(found, "verdict") else ()
    found = getattr(found, "result_", found)
    result = found if isinstance(found, Result) else None
    verdict = verdict or (list(map(kept, result.stats.get("limits", ()))) if result is not None else ())
    labelled = X is not None and (y is not None or (isinstance(X, Dataset) and X.classes != (None,)))
    given = [name for name, value in further.items() if value is not None]
    if given and not labelled:
        raise InputError("y", f"missing, and {given[0]} is given", "give X and y, or a Dataset with labels")
    rows = Rows.make(X, y, **further) if labelled else None
    counted = X if rows is None else rows
    nodes = survey(tree, counted, gather=gather)
    known = {
        "Tree": {"svg": _markup(tree_svg(tree, counted, gather=gather)), "text": tree.to_text()},
        "Leaves": sections.leaves(tree, nodes),
        "Predictions": None if rows is None else sections.errors(tree, rows),
        "Groups": None
        if rows is None or "sensitive_features" not in rows.data.row_data
        else sections.groups(tree, rows, verdict),
        "Front": sections.front(tree, result, compare, rows),
        "Near-optimal trees": sections.near_optimal(near),
        "Search": sections.search(result),
        "Statistics": None if result is None else sections.statistics(result),
    }
    text: str = _page().render(
        heading=title or "A provably optimal decision tree",
        note=note,
        cards=_cards(tree, tree.claims, nodes[0].rows, near),
        sections={name: section for name, section in known.items() if section is not None},
        style=_markup(importlib.resources.files("streed.report").joinpath("report.css").read_text(encoding="utf-8")),
        version=streed.__version__,
    )
    return text


def _cards(tree: Tree, claims: Claims | None, n_rows: int, near: RashomonSet | None) -> list[tuple[str, str, str]]:
    """(name, what is said, its colour or "") of what stands at the top."""
    cards = []
    if claims is not None:
        colour, said = _STATUS[claims.status]
        if near is not None and claims.status != "optimal":
            said = "one of the near-optimal trees"
        cards += [("status", said, colour), ("value", number(claims.value), "")]
        bounds = (claims.lower_bound, claims.upper_bound)
        if claims.status != "optimal" and None not in bounds:
            cards.append(("bounds", f"{number(bounds[0])} to {number(bounds[1])}", ""))
        sizes = [("depth", claims.max_depth), ("nodes", claims.max_nodes)]
        asked = [f"{name} at most {limit}" for name, limit in sizes if limit is not None]
        asked += [f"at least {claims.min_leaf} rows a leaf"] if claims.min_leaf > 1 else []
        cards.append(("limits of size", ", ".join(asked) or "none", ""))
        cards += [] if tree.positive is None else [("positive class", written(tree.positive), "")]
        cards += [("subject to", limit, "") for limit in limits(claims)]
        cards += [("searched over", claims.over, "")] if claims.over else []
    return [*cards, ("tree", size_text(tree), ""), ("rows", f"{n_rows:,}", "")]


def _markup(text: str) -> Any:
    """The text as markup, which is not escaped again."""
    from markupsafe import Markup

    return Markup(text)


@functools.cache
def _page() -> Any:
    """The template: texts in it are escaped, and characters that nobody sees are shown as signs."""
    import jinja2

    def shown(value: Any) -> Any:
        return visible(value) if type(value) is str else value

    return jinja2.Environment(
        loader=jinja2.PackageLoader("streed.report", ""),
        autoescape=True,
        finalize=shown,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    ).get_template("page.html")
