"""Pictures show what the trees are: their nodes, rows, classes, and nothing that overlaps."""

from __future__ import annotations

import itertools
import math
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streed import InputError, Result, Tree, plot
from streed.data import Dataset
from streed.plot.canvas import scale, tick_labels
from streed.plot.cards import cards, size, text_width
from streed.plot.gathering import gathered
from streed.plot.layout import place
from streed.plot.measures import Rows, measure
from streed.plot.shading import SHADES, default_shade, ink, mix, shades
from streed.plot.survey import rule, survey
from streed.tasks import Accuracy, DemographicParity, Misclassifications, Splits
from streed.tree import Branch, Leaf
from tests.unit.grown import make_chain, make_data, make_table, make_tree

X = {"sex": ["f", "f", "m", "m", "m", "f"], "dept": ["A", "B", "C", "A", "B", "C"]}
Y = ["no", "no", "yes", "yes", "no", "yes"]


@pytest.fixture
def data() -> Dataset:
    return Dataset.make(X, Y, sensitive_features=["g", "g", "h", "h", "h", "g"])


@pytest.fixture
def small(data: Dataset) -> Tree:
    """sex; if m: dept, with a leaf per department."""
    departments = Branch(1, (Leaf(1, 1, 0), Leaf(0, 1, 0), Leaf(1, 1, 0)), 3)
    return Tree.grown(Branch(0, (Leaf(0, 3, 1), departments), 6), data)


def solved(front: list[tuple[Any, Tree]], best: int = 0, task: Any = None, **stats: Any) -> Result:
    value, tree = front[best]
    return Result(value, tree, "optimal", value, value, stats, task or Accuracy(), tuple(front))


def texts(svg: str) -> list[str]:
    root = ET.fromstring(svg)
    return [node.text or "" for node in root.iter("{http://www.w3.org/2000/svg}text")]


def test_what_reaches_every_node(small: Tree, data: Dataset) -> None:
    nodes = survey(small, X, Y)
    assert [seen.rows for seen in nodes] == [6, 3, 3, 1, 1, 1]
    assert [seen.counts for seen in nodes] == [(3, 3), (2, 1), (1, 2), (0, 1), (1, 0), (0, 1)]
    assert [seen.answer for seen in nodes] == ["", "no", "yes", "A", "B", "C"]
    assert nodes[0].asks == "sex = m?"
    assert nodes[0].purity == 0.5
    assert rule(nodes, 0) == ()
    assert rule(nodes, 1) == ("sex = f",)
    assert rule(nodes, 4) == ("sex = m", "dept = B")
    assert [seen.counts for seen in survey(small, data)] == [seen.counts for seen in nodes]
    assert [seen.counts for seen in survey(small, X, Y, [1, 1, 1, 1, 1, 3])][:2] == [(3, 5), (2, 3)]
    bare = survey(small)
    assert [seen.rows for seen in bare] == [6, 3, 3, 1, 1, 1]
    assert {seen.counts for seen in bare} == {None}


@pytest.mark.parametrize("seed", range(3))
def test_rows_add_up(seed: int) -> None:
    tree = make_tree(make_data(seed=seed), depth=4, seed=seed)
    nodes = survey(tree, make_table(150, seed), ["no"] * 150)
    leaves = np.bincount(tree.apply(make_table(150, seed)), minlength=tree.n_leaves)
    assert [seen.rows for seen in nodes if seen.is_leaf] == leaves.tolist()
    for seen in nodes:
        if seen.children:
            assert seen.rows == sum(nodes[child].rows for child in seen.children)
            assert all(nodes[child].parent == seen.place for child in seen.children)
        assert seen.counts == (seen.rows, 0, 0)


@pytest.mark.parametrize("seed", range(4))
def test_leaves_that_predict_the_same_are_gathered(seed: int) -> None:
    tree = make_tree(make_data(seed=seed), depth=4, seed=seed)
    nodes = survey(tree, make_table(150, seed), ["no"] * 75 + ["yes"] * 75)
    found = gathered(nodes)
    assert [seen.place for seen in found] == list(range(len(found)))
    for seen in found:
        assert all(found[child].parent == seen.place for child in seen.children)
        if seen.children:
            assert seen.rows == sum(found[child].rows for child in seen.children)
            assert seen.counts == tuple(map(sum, zip(*(found[c].counts or () for c in seen.children), strict=True)))
        if len(seen.children) > 2:
            shown = [found[child].shows for child in seen.children if found[child].is_leaf]
            assert len(set(shown)) == len(shown)


def test_gathered_leaves_name_all_their_answers(small: Tree) -> None:
    found = gathered(survey(small, X, Y))
    assert [(seen.answer, seen.shows, seen.rows) for seen in found if seen.depth == 2] == [
        ("A, C", "yes", 2),
        ("B", "no", 1),
    ]
    assert rule(found, 3) == ("sex = m", "dept = A or C")
    assert "A, C" in texts(plot.tree_svg(small, gather=True))


def test_means_of_numbers() -> None:
    tree = make_tree(make_data(seed=2), seed=2, shown=(1.5, 2.5))
    table = make_table(80, 3)
    y = np.arange(80) / 7
    nodes = survey(tree, table, y)
    assert nodes[0].mean == pytest.approx(y.mean())
    places = [seen.place for seen in nodes if seen.is_leaf]
    at = tree.apply(table)
    for number, spot in enumerate(places):
        if (at == number).any():
            assert nodes[spot].mean == pytest.approx(y[at == number].mean())
    assert default_shade(tree) == "value"


def test_what_cannot_be_surveyed(small: Tree, data: Dataset) -> None:
    with pytest.raises(InputError, match="missing, and y"):
        survey(small, None, Y)
    with pytest.raises(InputError, match="it has 5 entries"):
        survey(small, X, Y[:5])
    with pytest.raises(InputError, match="Dataset, given together"):
        survey(small, data, Y)


@pytest.mark.parametrize("seed", range(5))
def test_nothing_overlaps(seed: int) -> None:
    tree = make_tree(make_data(seed=seed), depth=4, seed=seed)
    nodes = survey(tree)
    boxes, width, height = place(nodes, [size(card, 12.0) for card in cards(tree, nodes)], gap=10.0, level=30.0)
    for a, b in itertools.combinations(boxes, 2):
        apart = abs(a.x - b.x) >= (a.width + b.width) / 2 + 9.99 or abs(a.y - b.y) >= (a.height + b.height) / 2 + 9.99
        assert apart
    for box in boxes:
        assert box.width / 2 <= box.x + 1e-6
        assert box.x + box.width / 2 <= width + 1e-6
        assert box.y + box.height / 2 <= height + 1e-6


def test_the_tree_in_svg(small: Tree) -> None:
    written = texts(plot.tree_svg(small, X, Y, title="A <title>"))
    assert "A <title>" in written
    assert written.count("dept?") == 1
    for said in ("sex = m?", "no:\N{NO-BREAK SPACE}2, yes:\N{NO-BREAK SPACE}1", "3 rows (50.0 %)", "A", "B", "C"):
        assert said in written
    assert "cost 1" in written
    assert "cost 1" not in texts(plot.tree_svg(small, show_cost=False))
    with pytest.raises(InputError, match="has no tree"):
        plot.tree_svg(Result(None, None, "infeasible", None, None, {}, Accuracy()))


def test_what_a_node_says_in_one_line_is_whole() -> None:
    """On the card, counts are broken into lines and end in an ellipsis; where it is pointed at, they do not."""
    labels = ["granted", "refused", "to be looked at again", *"abcdefgh"]
    data = Dataset.make({"x": [0, 1] * 11}, [*labels, *labels])
    (card, *_) = cards(Tree.grown(Leaf(0, 22, 0), data), survey(Tree.grown(Leaf(0, 22, 0), data), data))
    assert card.lines[-2].endswith("…")
    said = card.full.replace("\N{NO-BREAK SPACE}", " ")
    assert said.startswith("a: 22 rows, a: 2, b: 2, ")
    assert said.endswith("refused: 2, to be looked at again: 2, cost 0")


@pytest.mark.parametrize("kind", ["tree", "rates"])
def test_pictures_follow_a_dark_system(small: Tree, kind: str) -> None:
    """Whatever lies on the page has a class that the style sheet changes; nodes keep colour and ink, which fit."""
    rates = {"all": {"a": 0.5, "b": 0.25}}
    drawn = plot.tree_svg(small, X, Y, title="A title") if kind == "tree" else plot.rates_svg(rates)
    root = ET.fromstring(drawn)
    space = "{http://www.w3.org/2000/svg}"
    style = root.findtext(f"{space}style") or ""
    assert "prefers-color-scheme: dark" in style
    used = {node.get("class") for node in root.iter() if (node.get("class") or "").startswith("streed-")}
    assert {"streed-page", "streed-ink", "streed-edge"} <= used
    assert all(f".{each} " in style for each in used)
    # Written at the elements too, for what knows no style sheets.
    assert all(node.get("fill") or node.get("stroke") for node in root.iter() if node.get("class") in used)
    nodes = [group for group in root.iter(f"{space}g") if group.get("class") in ("leaf", "branch")]
    assert len(nodes) == (small.n_branches + small.n_leaves) * (kind == "tree")
    assert not [each for group in nodes for each in group if each.get("class")]
    on_page = [each for each in root.iter(f"{space}text") if each.get("class") == "streed-ink"]
    assert len(on_page) + sum(len(group.findall(f"{space}text")) for group in nodes) == len(texts(drawn))


def test_a_leaf_and_a_deep_tree_in_svg(data: Dataset) -> None:
    assert "yes" in texts(plot.tree_svg(Tree.grown(Leaf(1, 6, 3), data)))
    wide = Dataset.make(np.eye(12, dtype=int), [0, 1] * 6)
    assert len(texts(plot.tree_svg(make_chain(wide, 400)))) > 1600


def test_shades(small: Tree) -> None:
    nodes = survey(small, X, Y)
    for shade in SHADES:
        if shade == "value":
            with pytest.raises(InputError, match="predict no numbers"):
                shades(small, nodes, shade)
        else:
            assert len(shades(small, nodes, shade)) == 6
    by_class = shades(small, nodes, "class")
    assert by_class[3] == by_class[5] != by_class[4]
    assert by_class[0] == mix("#ffffff", "#0072b2", 0.05)
    purity = shades(small, nodes, "purity")
    assert purity[0] != purity[1] != purity[3] == purity[4]
    with pytest.raises(InputError, match="purity"):
        shades(small, survey(small), "purity")
    with pytest.raises(InputError, match="use one of"):
        shades(small, nodes, "colour")
    assert (ink("#ffffff"), ink("#000000")) == ("#1f2933", "#ffffff")


def test_measures(small: Tree, data: Dataset) -> None:
    leaf = Tree.grown(Leaf(1, 6, 3), data)
    rows = Rows.make(data)
    assert measure([small, leaf], "nodes", None) == [2, 0]
    assert measure([small, leaf], "errors", rows) == [1, 3]
    assert measure([small, leaf], "error rate", rows) == [1 / 6, 0.5]
    assert measure([small, leaf], "false negatives", rows) == [1, 0]
    assert measure([small, leaf], "false positives", rows) == [0, 3]
    assert measure([small, leaf], DemographicParity(), rows) == pytest.approx([2 / 3, 0])
    assert measure([small], lambda tree: tree.depth, None) == [2]
    for what, given, match in (("size", rows, "use one of"), ("errors", None, "measured on rows")):
        with pytest.raises(InputError, match=match):
            measure([small], what, given)
    with pytest.raises(InputError, match="groups"):
        measure([small], DemographicParity(), Rows.make(X, Y))


def test_the_points_of_a_front(small: Tree, data: Dataset) -> None:
    leaf, worse = Tree.grown(Leaf(1, 6, 3), data), Tree.grown(Branch(0, (Leaf(1, 3, 2), Leaf(0, 3, 2)), 6), data)
    result = solved([((1, 2), small), ((3, 0), leaf)], task=Misclassifications() & Splits())
    found = plot.front_of(result)
    assert [(p.x, p.y, p.chosen, p.dominated) for p in found.points] == [(1, 2, True, False), (3, 0, False, False)]
    assert (found.x_label, found.y_label) == ("Accuracy", "Splits")
    several = [(4, worse), (1, small), (3, leaf)]
    found = plot.front_of(several, "nodes", "errors", X=data, chosen=leaf)
    assert [(p.x, p.y, p.chosen, p.dominated) for p in found.points] == [
        (0, 3, True, False),
        (1, 4, False, True),
        (2, 1, False, False),
    ]
    by_gap = plot.front_of(several, DemographicParity(), "error rate", X=data)
    assert by_gap.x_label == "unfairness (gap in demographic parity)"
    assert by_gap.points[0].x == 0
    with pytest.raises(InputError, match="no component 2"):
        plot.front_of(result, 2)
    with pytest.raises(InputError, match="no tree to show"):
        plot.front_of([])


def test_the_steps_of_a_search(small: Tree) -> None:
    kept = [(0.0, None, 0, 1), (0.5, 5, 2, 40), (1.0, 4, 4, 90)]
    trace = plot.trace_of(solved([(4, small)], trace=kept))
    assert math.isnan(trace.incumbents[0])
    assert (trace.incumbents[1:], trace.bounds, trace.nodes) == ((5, 4), (0, 2, 4), (1, 40, 90))
    assert trace.proved
    assert "proved after 1 s" in texts(plot.trace_svg(trace))
    with pytest.raises(InputError, match="kept no trace"):
        plot.trace_of(solved([(4, small)]))


def test_the_rates_of_groups(small: Tree, data: Dataset) -> None:
    rates = plot.rates_of(small, data)
    assert rates["all"] == {"g": 0, "h": pytest.approx(2 / 3)}
    assert rates["positive"] == {"g": 0, "h": 1}
    assert plot.rates_of(small, X, Y, sensitive_features=["g", "g", "h", "h", "h", "g"]) == rates
    written = texts(plot.rates_svg(rates))
    assert "gap 0.667" in written
    # no group h among the positive rows: that kind is undefined
    few = plot.rates_of(small, X, ["yes", "no", "no", "no", "no", "yes"], sensitive_features=list("gghhhg"))
    assert list(few) == ["all", "negative"]
    with pytest.raises(InputError, match="sensitive_features"):
        plot.rates_of(small, X, Y)


def test_pictures_on_axes(small: Tree, data: Dataset) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    figure, (left, right) = pyplot.subplots(1, 2)
    drawn = plot.tree(small, data, ax=left, title="a $ and a $")
    assert drawn is left
    said = [text.get_text() for text in left.texts]
    assert said.count("dept?") == 1
    assert len(left.patches) == 6
    leaf = Tree.grown(Leaf(1, 6, 3), data)
    result = solved([((1, 2), small), ((3, 0), leaf)], trace=[(0.0, 5, 0, 1), (1.0, 1, 1, 9)])
    assert plot.front(result, ax=right).get_xlabel() == "component 0 of the value"
    assert plot.trace(result).get_ylabel() == "value"
    assert [text.get_text().splitlines()[0] for text in plot.rates(small, data).get_xticklabels()] == [
        "favourable rate",
        "true positive rate",
        "false positive rate",
    ]
    assert plot.tree(make_tree(make_data(seed=1), seed=1), shade="rows").figure is not figure
    figure.canvas.draw()
    pyplot.close("all")


@pytest.mark.parametrize(("low", "high"), [(0, 1), (12, 9000), (-3, 3), (0.0301, 0.0309), (5, 5), (1e6, 4e9)])
def test_ticks_are_round_and_inside(low: float, high: float) -> None:
    made = scale([low, high, math.nan], 0.0, 100.0)
    assert 2 <= len(made.ticks) <= 9
    room = 1e-9 * (made.high - made.low)
    assert all(made.low - room <= tick <= made.high + room for tick in made.ticks)
    assert 0 <= made(low) <= made(high) <= 100
    labels = tick_labels(made.ticks)
    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize("bold", [False, True])
def test_texts_fit_in_a_wide_font(bold: bool) -> None:
    ft2font = pytest.importorskip("matplotlib.ft2font")
    import matplotlib as mpl

    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    font = ft2font.FT2Font(str(Path(mpl.get_data_path()) / "fonts" / "ttf" / name))
    font.set_size(100, 72)
    for text in (
        "odor=musty?",
        "age <= 37.5",
        "DEPARTMENT = A",
        "no: 12,345, yes: 9,876",
        "8,124 rows (100.0 %)",
        "MWm",
    ):
        font.set_text(text, 0)
        assert font.get_width_height()[0] / 64 <= text_width(text, 100, bold=bold), text


def test_counts_of_many_classes_end_in_an_ellipsis() -> None:
    labels = [f"a long name of class {place}" for place in range(9)]
    data = Dataset.make({"x": ["no", "yes"] * 9}, labels * 2)
    tree = Tree.grown(Leaf(0, 18, 0), data)
    drawn = plot.tree_svg(tree, {"x": ["no", "yes"] * 9}, labels * 2, shade="none")
    assert drawn.count("…</text>") == 1
    few = plot.tree_svg(Tree.grown(Leaf(0, 2, 0), Dataset.make({"x": [0, 1]}, ["a", "b"])), {"x": [0, 1]}, ["a", "b"])
    assert "…" not in few
