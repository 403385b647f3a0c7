"""Charts of near-optimal trees: what they show is what the set holds, and the report draws them."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest

import streed
from streed import plot
from streed.errors import InputError
from streed.problem import SearchStopped
from streed.rashomon.counting import Counted
from streed.rashomon.recursion import Watch
from streed.report import make_report
from streed.tasks import Entropy, Misclassifications, Splits

PRICED = Misclassifications() + Splits()


def near(slack: float = 6, p: int = 4) -> streed.RashomonSet:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (60, p))
    y = (X[:, 0] & X[:, 1]) ^ (rng.random(60) < 0.2)
    names = {f"c{j}": X[:, j] for j in range(p)}
    return streed.rashomon(PRICED, names, y.astype(int), max_depth=3, slack=slack)


def drawn(svg: str, tag: str) -> list[str]:
    """What the shapes of a chart say when one points at them."""
    root = ET.fromstring(svg)
    space = "{http://www.w3.org/2000/svg}"
    found = [each.find(f"{space}title") for each in root.iter(f"{space}{tag}")]
    return [str(each.text) for each in found if each is not None]


def test_a_bar_for_every_value() -> None:
    trees = near()
    heaps = plot.values_of(trees)
    assert [(heap.low, heap.trees) for heap in heaps] == sorted(trees.histogram.items())
    said = drawn(plot.values_svg(trees), "rect")
    assert said == [f"value {value}: {count:,} trees" for value, count in sorted(trees.histogram.items())]


def test_many_values_share_bars() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 2, (60, 4)), rng.integers(0, 2, 60)
    trees = streed.rashomon(Entropy(), X, y, max_depth=3, n_best=400)
    assert trees.count is not None
    assert len(trees.histogram) > 100
    heaps = plot.values_of(trees)
    assert len(heaps) <= 48
    assert sum(heap.trees for heap in heaps) == trees.count
    assert (heaps[0].low, heaps[-1].high) == (min(trees.histogram), max(trees.histogram))


def test_a_disc_for_every_value_and_quantity() -> None:
    trees = near()
    found = plot.against_of(trees, Splits())
    assert found == trees.histogram_of(Splits())
    said = drawn(plot.against_svg(trees, Splits()), "circle")
    assert sorted(said) == sorted(f"value {v:g}, Splits {s:g}: {count:,} trees" for (v, s), count in found.items())


def test_a_bar_for_every_column() -> None:
    trees = near()
    said = drawn(plot.columns_svg(trees), "rect")
    expected = sorted(trees.importance().items(), key=lambda each: -each[1].share)
    assert [each.split(" of the trees")[0] for each in said] == [f"{name}: {c.share:.1%}" for name, c in expected]


def test_the_report_has_a_section() -> None:
    trees = near()
    assert trees.count is not None
    page = make_report(trees[0], near=trees)
    assert '<section id="near-optimal-trees"><h2>Near-optimal trees</h2>' in page
    assert f"{trees.count:,} trees within the budget" in page
    assert page.count("<svg") >= 3
    assert "proven optimal" in page
    worst = make_report(trees[-1], near=trees)
    assert "one of the near-optimal trees" in worst
    assert "Near-optimal trees" not in make_report(trees[0])


class _Over(Watch):
    left = 4

    def look(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise SearchStopped("time")


def test_the_report_says_that_a_count_was_stopped() -> None:
    whole = near(p=6)
    question, budget = whole.counted.question, whole.counted.budget
    assert budget is not None
    deeper = streed.rashomon(PRICED, question.data, max_depth=4, slack=6)
    assert deeper.counted.budget is not None
    part = streed.RashomonSet(
        Counted.of(deeper.counted.question, deeper.counted.budget, banned=frozenset(), extra=(), watch=_Over()),
        whole.optimum,
    )
    assert part.status == "stopped"
    assert part.lower_count > 0
    page = make_report(part[0], near=part)
    assert f"At least {part.lower_count:,} trees" in page
    assert "the count was stopped (time)" in page


def test_a_set_without_trees_has_no_chart() -> None:
    none = streed.rashomon(PRICED, [[0], [1]], [0, 1], max_depth=1, budget=-1)
    with pytest.raises(InputError, match="no trees"):
        plot.values_of(none)
