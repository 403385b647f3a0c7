"""The report: one file that needs no other and no script, holds the tree, and is escaped."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import attrs
import pytest
from click.testing import CliRunner

import streed
from streed import Dataset, Result, Tree
from streed.cli.app import app
from streed.report import make_report
from streed.tasks import Accuracy, DemographicParity, EqualOpportunity, ErrorRateParity, TreatmentEquality
from streed.tree import Claims
from tests.unit.grown import make_data, make_table, make_tree


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
