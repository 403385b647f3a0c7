"""The report: one file that needs no other and no script, holds the tree, and is escaped."""

from __future__ import annotations

import html
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import streed
from streed import Dataset, InputError, Result, Tree, plot
from streed.cli.app import app
from streed.errors import MissingPackageError
from streed.estimators import FairTreeClassifier
from streed.report import make_report
from streed.tasks import (
    Accuracy,
    DemographicParity,
    EqualOpportunity,
    ErrorRateParity,
    Misclassifications,
    Splits,
    SquaredError,
    TreatmentEquality,
)
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


def test_charts_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    result = result_of(make_tree(make_data(seed=1), seed=1), trace=[(0.0, 20, 0, 1), (1.0, 7, 7, 12)])
    assert "this chart needs matplotlib" in make_report(result)
    with pytest.raises(MissingPackageError, match="matplotlib"):
        plot.trace(result)


def test_numbers() -> None:
    tree = make_tree(make_data(seed=5), seed=5, shown=(1.0, 2.0))
    page = make_report(result_of(tree, SquaredError()), make_table(40, 1), [1.5, 2.5] * 20)
    assert "root mean squared error" in page
    # The table of leaves has the colours of the picture.
    leaves = set(re.findall(r'<g class="leaf">.*?<rect[^>]* fill="(#\w+)"', page))
    assert set(re.findall(r'class="dot" style="background:(#\w+)"', page)) == leaves


def near(p: int = 4) -> streed.RashomonSet:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (60, p))
    y = (X[:, 0] & X[:, 1]) ^ (rng.random(60) < 0.2)
    return streed.rashomon(Misclassifications() + Splits(), X, y.astype(int), max_depth=3, slack=6)


def test_near_optimal_trees() -> None:
    trees = near()
    assert trees.count is not None
    page = make_report(trees[0], near=trees)
    assert '<section id="near-optimal-trees"><h2>Near-optimal trees</h2>' in page
    assert f"{trees.count:,} trees within the budget" in page
    assert page.count("<img") == 3
    assert "proven optimal" in page
    assert "one of the near-optimal trees" in make_report(trees[-1], near=trees)
    assert "Near-optimal trees" not in make_report(trees[0])


def _group_lines(page: str) -> list[str]:
    """The lines of the first paragraph of the section about groups."""
    found = re.search(r'<section id="groups"><h2>Groups</h2>\s*<p>(.*?)</p>', page, re.DOTALL)
    assert found
    return found[1].split("<br>")


def test_a_verdict_is_read_line_by_line() -> None:
    X, group = {"a": [0, 1] * 40, "b": [0, 0, 1, 1] * 20}, ["f", "m", "m", "m"] * 20
    fair = FairTreeClassifier(limit=0.1, max_depth=2).fit(pd.DataFrame(X), X["a"], sensitive_features=group)
    lines = _group_lines(make_report(fair, X, X["a"], sensitive_features=group))
    assert lines == [html.escape(line) for line in fair.verdict().split("\n")]
    assert "\u240a" not in "".join(lines)


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


def test_groups_have_their_rates_of_errors() -> None:
    tree = make_tree(make_data(seed=2, labels=(0, 1)), seed=1)
    page = make_report(tree, make_table(90, 4), [0, 1] * 45, sensitive_features=["a", "b", "b"] * 30)
    wrong = tree.predict(make_table(90, 4)) != np.array([0, 1] * 45)
    table = page[page.index("predicted wrongly") :]
    in_a = int(wrong[::3].sum())
    assert f"{in_a} of 30 ({100 * in_a / 30:.1f} %)" in table.split("</tr>")[1]


def test_a_front_of_several_results() -> None:
    data = make_data(seed=2, labels=(0, 1))
    found = [result_of(make_tree(data, depth=depth, seed=depth)) for depth in (3, 1, 2)]
    page = make_report(found[0], data, compare=found[1:])
    assert "Front" in Page(page).texts["h2"]
    assert "false negatives" in page
    assert len(re.findall(r"<td>\d+ branching nodes?, \d+ lea(?:f|ves), depth \d+</td>", page)) == 6


def test_what_has_no_report() -> None:
    with pytest.raises(InputError, match="has no tree"):
        make_report(Result(None, None, "infeasible", None, None, {}, Accuracy()))
    with pytest.raises(InputError, match="sensitive_features is given"):
        make_report(make_tree(make_data(seed=1), seed=1), sensitive_features=[1])


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


def test_a_report_is_of_the_search_that_was_asked_for(tmp_path: Path) -> None:
    out = str(tmp_path / "report.html")
    asked = ["report", "monks-1", "--max-depth", "2", "--out", out]
    done = CliRunner().invoke(app, [*asked, "--gap", "-1"])
    assert done.exit_code == 2
    assert "gap" in done.output
    assert CliRunner().invoke(app, [*asked, "--gap", "0.5", "--threads", "2"]).exit_code in (0, 3)
    done = CliRunner().invoke(app, [*asked, "--query", "SELECT * FROM data"])
    assert done.exit_code == 2
    assert "--query" in done.output


def test_exports_from_the_shell(tmp_path: Path) -> None:
    saved = tmp_path / "tree.json"
    run = CliRunner().invoke
    assert run(app, ["solve", "monks-1", "--max-depth", "2", "--out", str(saved)]).exit_code == 0
    namespace: dict[str, Any] = {}
    exec(run(app, ["export", str(saved), "--to", "python"]).output, namespace)
    tree = Tree.from_json(saved.read_text(encoding="utf-8"))
    assert namespace["predict"]({"a1": 1, "a2": 1, "a3": 1, "a4": 1, "a5": 1, "a6": 1}) in tree.labels
    out = tmp_path / "tree.svg"
    assert run(app, ["export", str(saved), "--to", "svg", "--out", str(out)]).exit_code == 0
    assert out.read_text(encoding="utf-8").startswith("<svg ")
    assert 'FROM "rows"' in run(app, ["export", str(saved), "--to", "sql", "--table", "rows"]).output
    for form, start in (("dot", "digraph"), ("text", "a")):
        assert run(app, ["export", str(saved), "--to", form]).output.startswith(start)
