"""Pictures and the report show what trees and results hold; the report needs no other file and is escaped."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import attrs
import pytest
from click.testing import CliRunner

import streed
from streed import Dataset, InputError, Result, Tree, plot
from streed.cli.app import app
from streed.plot.measures import survey
from streed.report import make_report
from streed.tasks import (
    Accuracy,
    DemographicParity,
    EqualOpportunity,
    ErrorRateParity,
    Misclassifications,
    Splits,
    TreatmentEquality,
)
from streed.tree import Branch, Claims, Leaf
from tests.unit.outcomes import refused
from tests.unit.specimens import make_data, make_table, make_tree


class Page(HTMLParser):
    """Checks that tags are closed in order, and collects them with their texts."""

    EMPTY = frozenset({"meta", "img", "br"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.attributes.append((tag, dict(attrs)))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)


def result_of(tree: Tree, task: Any = None, **stats: Any) -> Result:
    task = task or Accuracy()
    claimed = attrs.evolve(tree, claims=Claims(task, 7, 7, 7, "optimal", tree.root.rows, 3))
    return Result(7, claimed, "optimal", 7, 7, {"nodes": 12, **stats}, task, ((7, claimed),))


def test_what_it_holds() -> None:
    tree = make_tree(make_data(seed=1), seed=1)
    table = make_table(90, 4)
    y = (["no", "perhaps", "yes"] * 30)[:90]
    trace = [(0.0, 20, 0, 1), (1.0, 7, 7, 12)]
    page = make_report(result_of(tree, trace=trace), table, y, sensitive_features=["a", "b"] * 45, title="A <b> & c")
    read = Page(page)
    assert read.texts["title"][0] == "A <b> & c"
    assert read.texts["h2"] == ["Tree", "Leaves", "Predictions", "Groups", "Search", "Statistics"]
    assert "proven optimal" in read.texts["b"]
    assert page.count('<g class="leaf">') == page.count('class="dot"') == tree.n_leaves
    assert "90 rows" in read.texts["text"]
    assert [line for text in read.texts["pre"] for line in text.splitlines() if line] == tree.to_text().splitlines()
    # three classes, and none of them said to be favourable
    assert any("favourable" in text for text in read.texts["p"])


def test_it_needs_no_other_file_and_no_script() -> None:
    X, y = make_table(90, 4), [0, 1] * 45
    tree = make_tree(make_data(seed=1, labels=(0, 1)), seed=1)
    page = make_report(result_of(tree, trace=[(0.0, 20, 0, 1), (1.0, 7, 7, 12)]), X, y)
    assert "<script" not in page
    for tag, given in Page(page).attributes:
        assert tag not in ("link", "iframe", "object")
        assert (given.get("src") or "data:").startswith("data:")
        assert "href" not in given
        assert not [name for name in given if name.startswith("on")]
        assert tag != "img" or given["alt"]
    assert set(re.findall(r"https?://[^\"' )]*", page)) == {"http://www.w3.org/2000/svg"}  # a name, not an address


def test_texts_of_the_data_do_not_become_markup() -> None:
    hostile = '</pre><script>alert("x")</script>\x00'
    data = make_data(seed=1, labels=(hostile, "b"))
    page = make_report(result_of(make_tree(data, seed=1)), data, note=hostile, title=hostile)
    assert "<script" not in page
    assert "\x00" not in page
    assert any("alert" in text for text in Page(page).texts["td"])


def _group_lines(page: str) -> list[str]:
    """The lines of the first paragraph of the section about groups."""
    found = re.search(r'<section id="groups"><h2>Groups</h2>\s*<p>(.*?)</p>', page, re.DOTALL)
    assert found
    return found[1].split("<br>")


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        (ErrorRateParity() <= 0.5, "ErrorRateParity: gap 0.25 of at most 0.5; rate of errors: f 0 (0 of 40), m 0.25"),
        (
            DemographicParity().ratio >= 0.2,
            "DemographicParity.ratio: 0.6667 of at least 0.2; favourable label 1; rate of favourable predictions: f",
        ),
        (EqualOpportunity().lowest >= 0.2, "EqualOpportunity.lowest: 1 of at least 0.2; favourable label 1; true"),
        (TreatmentEquality(0, 100), "TreatmentEquality: 0, limit 0; favourable label 1; false negatives, false pos"),
    ],
)
def test_a_result_says_what_its_limit_came_to(limit: Any, said: str) -> None:
    y, groups = [0, 1, 0, 1, 1, 0] * 20, ["f", "f", "m", "m", "m", "m"] * 20
    data = Dataset.make({"a": [0, 1, 0, 1, 1, 1] * 20}, y, sensitive_features=groups)
    result = streed.solve(Accuracy().subject_to(limit), data, max_depth=1)
    assert result.value == 20
    (line,) = _group_lines(make_report(result, data))
    assert line.startswith(said), line


def test_the_command(tmp_path: Path) -> None:
    out, saved = tmp_path / "report.html", tmp_path / "tree.json"
    run = CliRunner().invoke
    done = run(app, ["report", "monks-1", "--max-depth", "2", "--sizes", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert "status  optimal" in done.output
    page = Page(out.read_text(encoding="utf-8"))
    assert page.texts["h1"] == ["monks-1: accuracy"]
    assert "Front" in page.texts["h2"]
    assert run(app, ["solve", "monks-1", "--max-depth", "2", "--out", str(saved)]).exit_code == 0
    done = run(app, ["report", "monks-1", "--tree", str(saved), "--title", "Saved", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert Page(out.read_text(encoding="utf-8")).texts["h1"] == ["Saved"]
    assert run(app, ["report", "monks-1", "--out", str(tmp_path / "no" / "report.html")]).exit_code == 2


X = {"sex": ["f", "f", "m", "m", "m", "f"], "dept": ["A", "B", "C", "A", "B", "C"]}
Y = ["no", "no", "yes", "yes", "no", "yes"]
GROUPS = ["g", "g", "h", "h", "h", "g"]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def data() -> Dataset:
    return Dataset.make(X, Y, sensitive_features=GROUPS)


@pytest.fixture
def small(data: Dataset) -> Tree:
    """sex; if m: dept, with a leaf per department."""
    departments = Branch(1, (Leaf(1, 1, 0), Leaf(0, 1, 0), Leaf(1, 1, 0)), 3)
    return Tree.grown(Branch(0, (Leaf(0, 3, 1), departments), 6), data)


@pytest.fixture
def ax() -> Any:
    return pytest.importorskip("matplotlib.figure").Figure().subplots()


def solved(front: list[tuple[Any, Tree]], best: int = 0, task: Any = None, **stats: Any) -> Result:
    value, tree = front[best]
    return Result(value, tree, "optimal", value, value, stats, task or Accuracy(), tuple(front))


def texts(svg: str) -> list[str]:
    return [node.text or "" for node in ET.fromstring(svg).iter(f"{SVG}text")]


def legend(ax: Any) -> list[str]:
    return [text.get_text().strip() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize("gather", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_rows_add_up(seed: int, gather: bool) -> None:
    tree = make_tree(make_data(seed=seed), depth=4, seed=seed)
    nodes = survey(tree, make_table(150, seed), ["no"] * 75 + ["yes"] * 75, gather=gather)
    assert sum(seen.rows for seen in nodes if not seen.children) == 150
    for place, seen in enumerate(nodes):
        assert seen.place == place
        below = [nodes[child] for child in seen.children]
        assert all(child.parent == place for child in below)
        if below:
            assert seen.rows == sum(child.rows for child in below)
            assert seen.counts == tuple(map(sum, zip(*(child.counts or () for child in below), strict=True)))
        shown = [child.shows for child in below if not child.children]
        assert not gather or len(below) < 3 or len(set(shown)) == len(shown)


@pytest.mark.parametrize("seed", range(5))
def test_nothing_overlaps(seed: int) -> None:
    root = ET.fromstring(plot.tree_svg(make_tree(make_data(seed=seed), depth=4, seed=seed)))
    width, height = (float(root.get(side) or 0) for side in ("width", "height"))
    nodes = [group.find(f"{SVG}rect") for group in root.iter(f"{SVG}g") if group.get("class") in ("leaf", "branch")]
    boxes = [[float(box.get(name) or 0) for name in ("x", "y", "width", "height")] for box in nodes if box is not None]
    for place, (x, y, wide, high) in enumerate(boxes):
        assert 0 <= x < x + wide < width
        assert 0 <= y < y + high < height
        for u, v, other, tall in boxes[:place]:
            assert x + wide < u or u + other < x or y + high < v or v + tall < y


def test_the_tree_in_svg(small: Tree) -> None:
    drawn = plot.tree_svg(small, X, Y, title="A <title>")
    assert drawn._repr_svg_() == drawn  # what notebooks show
    written = texts(drawn)
    assert written.count("dept?") == 1
    for said in ("A <title>", "sex = m?", "no:\N{NO-BREAK SPACE}2, yes:\N{NO-BREAK SPACE}1", "3 rows (50.0 %)", "B"):
        assert said in written
    assert "cost 1" in written
    assert "cost 1" not in texts(plot.tree_svg(small, show_cost=False))
    refused("tree", "no tree", call=lambda: plot.tree_svg(Result(None, None, "infeasible", None, None, {}, Accuracy())))


def test_the_points_of_a_front(small: Tree, data: Dataset, ax: Any) -> None:
    leaf, worse = Tree.grown(Leaf(1, 6, 3), data), Tree.grown(Branch(0, (Leaf(1, 3, 2), Leaf(0, 3, 2)), 6), data)
    result = solved([((1, 2), small), ((3, 0), leaf)], task=Misclassifications() & Splits())
    found = plot.front_of(result)
    assert [(p.x, p.y, p.chosen, p.dominated) for p in found.points] == [(1, 2, True, False), (3, 0, False, False)]
    assert (found.x_label, found.y_label) == ("misclassified rows", "branching nodes")
    several = [(4, worse), (1, small), (3, leaf)]
    found = plot.front_of(several, "nodes", "errors", X=data, chosen=leaf)
    assert [(p.x, p.y, p.chosen, p.dominated) for p in found.points] == [
        (0, 3, True, False),
        (1, 4, False, True),
        (2, 1, False, False),
    ]
    assert plot.front(several, "nodes", "errors", X=data, chosen=leaf, ax=ax, title="a $ and a $") is ax
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("branching nodes", "errors", "a $ and a $")
    assert legend(ax) == ["nondominated", "dominated here", "chosen"]
    by_gap = plot.front_of(several, DemographicParity(), "error rate", X=data)
    assert (by_gap.x_label, by_gap.points[0].x) == ("unfairness (gap in demographic parity)", 0)
    for given, match in (((result, 2), "no component 2"), (([],), "no tree to show")):
        with pytest.raises(InputError, match=match):
            plot.front_of(*given)


def test_the_rates_of_groups(small: Tree, data: Dataset, ax: Any) -> None:
    rates = plot.rates_of(small, data)
    assert rates["all"] == {"g": 0, "h": pytest.approx(2 / 3)}
    assert rates["positive"] == {"g": 0, "h": 1}
    assert plot.rates_of(small, X, Y, sensitive_features=GROUPS) == rates
    plot.rates(small, data, ax=ax)
    assert legend(ax) == ["g", "h"]
    assert ax.get_xticklabels()[0].get_text() == "favourable rate\n(gap 0.667)"
    # no group h among the positive rows: that kind is undefined
    few = plot.rates_of(small, X, ["yes", "no", "no", "no", "no", "yes"], sensitive_features=list("gghhhg"))
    assert list(few) == ["all", "negative"]
    refused("sensitive_features", call=lambda: plot.rates_of(small, X, Y))
    refused("y", "5 labels", call=lambda: plot.rates_of(small, X, Y[:5], sensitive_features=GROUPS))
    refused("title", call=lambda: plot.tree_svg(small, title=3))  # type: ignore[arg-type]
