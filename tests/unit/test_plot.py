"""Pictures show what the trees are: their nodes, rows, classes; charts show what results and sets of trees hold."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import pytest

from streed import InputError, Result, Tree, plot
from streed.data import Dataset
from streed.plot.survey import survey
from streed.tasks import Accuracy, DemographicParity, Misclassifications, Splits
from streed.tree import Branch, Leaf
from tests.unit.grown import make_data, make_table, make_tree

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
    assert sum(seen.rows for seen in nodes if seen.is_leaf) == 150
    for place, seen in enumerate(nodes):
        assert seen.place == place
        below = [nodes[child] for child in seen.children]
        assert all(child.parent == place for child in below)
        if below:
            assert seen.rows == sum(child.rows for child in below)
            assert seen.counts == tuple(map(sum, zip(*(child.counts or () for child in below), strict=True)))
        shown = [child.shows for child in below if child.is_leaf]
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
    with pytest.raises(InputError, match="has no tree"):
        plot.tree_svg(Result(None, None, "infeasible", None, None, {}, Accuracy()))


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
    with pytest.raises(InputError, match="sensitive_features"):
        plot.rates_of(small, X, Y)
