"""A result as one static HTML page that needs no other file, no network and no script: the tree, its errors, charts."""

from __future__ import annotations

import base64
import functools
import io
import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np

import streed
from streed import plot
from streed.data import Dataset
from streed.data.strict_json import rebuild
from streed.errors import InputError, check_kind, listed, path_of, visible
from streed.plot.measures import Rows, rule, survey
from streed.plot.svg import brief, colours
from streed.result import Result
from streed.task.objective import record_of
from streed.tasks import Splits
from streed.tasks.fairness import RATES, DemographicParity, EqualizedOdds, ErrorRateParity
from streed.tree import Claims, Seen, Tree, number, size_text, tree_of, written

if TYPE_CHECKING:
    from streed.rashomon.rashomon_set import RashomonSet

__all__ = ["make_report", "write_report"]

_MOST_CLASSES = 12
"""Of a table of classes; more than these nobody reads."""

_STATUS = {"optimal": ("good", "proven optimal"), "feasible": ("open", "stopped early")}


def write_report(path: str | Path, found: Any, X: Any = None, y: Any = None, **further: Any) -> None:
    """Writes `make_report`'s page to a file; raises OSError where it cannot be written, and as `make_report` does."""
    path_of("path", path).write_text(make_report(found, X, y, **further), encoding="utf-8")


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
    per category, as one. `note`: a sentence below the title. What is not known is left out. Charts
    need matplotlib; without it, the page says so in their place. Raises InputError for a result without a tree, and for
    rows that the tree cannot read.
    """
    tree = tree_of(found, "found")
    for each in (compare := listed("compare", compare, "give a list of results")):
        check_kind("compare", each, streed.Result)
    check_kind("near", near, (streed.RashomonSet, NoneType))
    verdict = found.verdict().split("\n") if hasattr(found, "verdict") else ()
    found = getattr(found, "result_", found)
    result = found if isinstance(found, Result) else None
    verdict = verdict or (list(map(kept, result.stats.get("limits", ()))) if result is not None else ())
    labelled = X is not None and (y is not None or (isinstance(X, Dataset) and X.classes != (None,)))
    rows = Rows.make(X, y, **further) if labelled or any(each is not None for each in further.values()) else None
    counted = X if rows is None else rows
    nodes, trace = survey(tree, counted, gather=gather), () if result is None else result.stats.get("trace") or ()
    svg = plot.tree_svg(tree, counted, gather=gather)
    least = 0.7 * float(svg.partition('width="')[2].partition('"')[0])  # smaller letters cannot be read
    known = {
        "Tree": {"svg": svg, "least": round(least), "text": tree.to_text()},
        "Leaves": _leaves(tree, nodes),
        "Predictions": None if rows is None else agreement(tree, rows) or errors(tree, rows),
        "Groups": None
        if rows is None or "sensitive_features" not in rows.data.row_data
        else _groups(tree, rows, verdict),
        "Front": _front(tree, result, compare, rows),
        "Near-optimal trees": _near_optimal(near),
        "Search": None if len(trace) < 2 else {"charts": [_chart("Value and bound over time", plot.trace, result)]},
        "Statistics": None if result is None else _statistics(result),
    }
    text: str = _page().render(
        heading=title or "A provably optimal decision tree",
        note=note,
        cards=_cards(tree, tree.claims, nodes[0].rows, near),
        sections={name: section for name, section in known.items() if section is not None},
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
        unit, limits = _asked(claims)
        cards += [("status", said, colour), ("value", f"{number(claims.value)} {unit}", "")]
        bounds = (claims.lower_bound, claims.upper_bound)
        if claims.status != "optimal" and None not in bounds:
            cards.append(("bounds", f"{number(bounds[0])} to {number(bounds[1])}", ""))
        sizes = [("depth", claims.max_depth), ("nodes", claims.max_nodes)]
        asked = [f"{name} at most {limit}" for name, limit in sizes if limit is not None]
        asked += [f"at least {claims.min_leaf} rows a leaf"] if claims.min_leaf > 1 else []
        cards.append(("limits of size", ", ".join(asked) or "none", ""))
        cards += [] if tree.positive is None else [("positive class", written(tree.positive), "")]
        cards += [("subject to", limit, "") for limit in limits]
        cards += [("searched over", claims.over, "")] if claims.over else []
    return [*cards, ("tree", size_text(tree), ""), ("rows", f"{n_rows:,}", "")]


@functools.cache
def _page() -> Any:
    """The template: texts in it are escaped, and characters that nobody sees are shown as signs."""
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader("streed.report", ""),
        autoescape=True,
        finalize=lambda value: visible(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    ).get_template("page.html")


def _leaves(tree: Tree, nodes: Sequence[Seen]) -> dict[str, Any]:
    """Every leaf as a rule, the one with most rows first, in the colours of the picture."""
    found = sorted((seen for seen in nodes if seen.asks is None), key=lambda seen: -seen.rows)
    fills, _ = colours(tree, nodes)
    words = (" and ".join(rule(nodes, seen.place)) or "every row" for seen in found)
    lines = [
        (seen.rows, said, fills[seen.place], brief(seen.shows), seen.right(tree))
        for seen, said in zip(found, words, strict=True)
    ]
    return {"leaves": lines, "rows": nodes[0].rows, "has_classes": any(seen.counts is not None for seen in found)}


def agreement(tree: Tree, rows: Rows) -> dict[str, Any] | None:
    """How predictions and labels agree, as a table of classes; None where the tree predicts none of these."""
    shows = tree.shows()
    if tree.shown is not None or not set(rows.data.classes) & set(tree.labels):
        return None
    known = list(dict.fromkeys((*rows.data.classes, *shows)))
    predicted, k = np.array([known.index(shown) for shown in shows])[tree.apply(rows.X)], len(known)
    counts = np.bincount(rows.data.class_numbers * k + predicted, rows.weights, k * k).reshape(k, k)
    names = [brief(label) for label in known] if k <= _MOST_CLASSES else []
    cells = [[(f"{n:,g}", f"{n / (counts.max() or 1):.3f}") for n in row] for row in counts]
    lines = list(zip(names, cells, strict=False))
    return {"right": f"{100 * float(np.trace(counts) / counts.sum()):.2f}", "classes": names, "lines": lines}


def errors(tree: Tree, rows: Rows) -> dict[str, Any] | None:
    """The errors of predicted numbers; None where they, or the labels, are none."""
    shows = tree.shows()
    if not all(isinstance(value, numbers.Real) for value in (*rows.data.classes, *shows)):
        return None
    truth = np.array([float(label) for label in rows.data.classes])[rows.data.class_numbers]
    said = np.array([float(shown) for shown in shows])[tree.apply(rows.X)]
    weights = rows.weights / rows.weights.sum()
    square = float(weights @ (truth - said) ** 2)
    spread = float(weights @ (truth - weights @ truth) ** 2)
    told = [
        ("root mean squared error", f"{math.sqrt(square):.4g}"),
        ("mean absolute error", f"{float(weights @ np.abs(truth - said)):.4g}"),
        ("R²", f"{1 - square / spread:.4f}" if spread else "undefined: all targets are equal"),
    ]
    return {"told": told}


def _groups(tree: Tree, rows: Rows, told: Sequence[str] = ()) -> dict[str, Any]:
    """The rates and counts of the groups, where the favourable label is clear; `told`: what their limits come to."""
    try:
        plot.rates_of(tree, rows, positive=tree.positive)
    except InputError as reason:
        return {"verdict": told, "refused": str(reason)}
    data, predicted = rows.data, rows.predicted(tree)
    positive = data.classes[-1] if tree.positive is None else tree.positive
    both = EqualizedOdds(positive=positive).counts(data, predicted)
    wrong = ErrorRateParity().counts(data, predicted)["errors"]
    favoured = DemographicParity(positive=positive).counts(data, predicted)["all"]
    counts = [favoured, both["positive"], both["negative"], wrong]
    lines = [(name, [_share(*count[name]) for count in counts]) for name in favoured]
    drawn = _chart("Rates of the groups", plot.rates, tree, rows, positive=tree.positive)
    return {"verdict": told, "refused": None, "charts": [drawn], "favourable": brief(positive), "lines": lines}


def _front(tree: Tree, result: Result | None, compare: Sequence[Result], rows: Rows | None) -> dict[str, Any] | None:
    """The trees that the result chose from, or those of other results, by pairs of measures."""
    several: Any = result
    if result is None or len(result.front) < 2:
        several = [*compare, *([result] if result is not None and compare else [])]
        if len(several) < 2:
            return None
    pairs = several.front if isinstance(several, Result) else [(each.value, each.tree) for each in several]
    measures: list[tuple[Any, Any]] = []
    if isinstance(several, Result) and all(isinstance(value, tuple) for value, _ in pairs):
        measures.append((None, None))
    elif all(isinstance(value, numbers.Real) for value, _ in pairs):
        worth = {id(each): float(value) for value, each in pairs}

        def value(tree: Tree) -> float:
            return worth[id(tree)]

        measures.append(("nodes", value))
    if rows is not None and len(rows.data.classes) == 2:
        measures.append(("false positives", "false negatives"))
        measures += [] if "sensitive_features" not in rows.data.row_data else [(DemographicParity(), "error rate")]
    drawn, tables = [], []
    for x, y in measures:
        found = plot.front_of(several, x, y, X=rows, chosen=tree)
        said = f"{found.y_label} by {found.x_label}"
        drawn.append(_chart(said, plot.front, several, x, y, X=rows, chosen=tree))
        lines = [(brief(point.x), brief(point.y), size_text(point.tree)) for point in found.points]
        tables.append((said, [found.x_label, found.y_label, "tree"], lines))
    return {"charts": drawn, "tables": tables} if drawn else None


def _near_optimal(trees: RashomonSet | None) -> dict[str, Any] | None:
    """What there is beside the tree; None without a set, or of one without trees."""
    if trees is None or not trees.count:
        return None
    values = list(trees.histogram)
    reach = f"values {brief(values[0])} to {brief(values[-1])}" if len(values) > 1 else f"value {brief(values[0])}"
    drawn = [_chart("How many trees have which value", plot.values, trees)]
    try:
        if trees.counted.question.sums:
            drawn.append(_chart("Values and splits", plot.against, trees, Splits(), label="splits"))
        drawn.append(_chart("The columns that the trees ask", plot.columns, trees))
    except InputError as error:
        # A further count takes longer than the first, and may meet its limits.
        if error.argument != "time_limit":
            raise
    kind = "tree" if trees.count == 1 else "trees"
    return {"charts": drawn, "said": f"{trees.count:,} {kind} within the budget, {reach}."}


def _statistics(result: Result) -> dict[str, Any]:
    """What the search counted, in two columns."""
    told = [("task", str(result.task))]
    for key, value in result.stats.items():
        if key not in ("trace", "limits") and value is not None:
            whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
            said = f"{value:,.4g}" if isinstance(value, float) else f"{value:,}" if whole else str(value)
            told.append((key.replace("_", " "), said))
    return {"told": told}


def _chart(said: str, draw: Callable[..., Any], *shown: Any, **given: Any) -> tuple[str, str]:
    """(what the chart shows, its picture as an address that holds it); the address is empty without matplotlib."""
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        return said, ""
    figure, file = Figure(figsize=(5.6, 3.8), layout="constrained"), io.BytesIO()
    draw(*shown, ax=figure.subplots(), **given)
    with rc_context({"svg.hashsalt": "streed"}):
        figure.savefig(file, format="svg", metadata={"Date": None})
    return said, f"data:image/svg+xml;base64,{base64.b64encode(file.getvalue()).decode()}"


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,}" + (f" ({100 * part / whole:.1f}\N{NO-BREAK SPACE}%)" if whole else "")


def _asked(claims: Claims) -> tuple[str, list[str]]:
    """(what the value counts, everything that the tree was subject to beside its size, as it is written in Python)."""
    task = claims.task
    if isinstance(task, Mapping):
        try:
            task = rebuild(task)
        except InputError as unknown:
            return "", [str(unknown)]
    return task.value_unit, list(map(str, record_of(task).sum_limits))


def kept(found: Mapping[str, Any]) -> str:
    """What a limit came to, in one line with every group's rates; `found`: of a result's `stats["limits"]`."""
    counts = found.get("counts", {})
    value, limit = f"{found['value']:.4g}", f"{found['limit']:g}"
    if not found["rates"]:
        said = [f"{found['limit_on']}: {value}, limit {limit}"]
    elif found["relation"] == ">=":
        said = [f"{found['limit_on']}: {value} of at least {limit}"]
    else:
        said = [f"{found['limit_on']}: gap {value} of at most {limit}"]
    if found.get("favourable") is not None:
        said.append(f"favourable label {found['favourable']}")
    for kind, groups in found["rates"].items():
        each = [_rate(group, rate, counts.get(kind, {}).get(group)) for group, rate in groups.items()]
        said.append(f"{RATES[kind]}: {', '.join(each)}")
    for kind in counts.keys() - found["rates"].keys():
        said.append(f"{kind}: " + ", ".join(f"{group} {a:g} and {b:g}" for group, (a, b) in counts[kind].items()))
    return "; ".join(said)


def _rate(group: str, rate: float, count: Sequence[float] | None) -> str:
    return f"{group} {rate:.4g}" + ("" if count is None else f" ({count[0]:g} of {count[1]:g})")
