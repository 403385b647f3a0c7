"""The report: one file that needs no other, holds the tree, and is escaped; its script works in a browser."""

from __future__ import annotations

import html
import itertools
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import streed
from streed import Dataset, InputError, Result, Tree
from streed.cli.app import app
from streed.estimators import FairTreeClassifier
from streed.plot.cards import cards, size
from streed.plot.layout import GAP, LEVEL, place
from streed.plot.survey import survey
from streed.report import make_report, write_report
from streed.tasks import (
    Accuracy,
    DemographicParity,
    EqualOpportunity,
    ErrorRateParity,
    SquaredError,
    TreatmentEquality,
)
from streed.tree import Branch, Claims, Leaf
from tests.unit.grown import make_chain, make_data, make_table, make_tree

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Page(HTMLParser):
    """Checks that tags are closed in order, and collects them with their texts."""

    EMPTY = frozenset({"meta", "link", "input", "br"})

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


def document(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="tree-data">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])  # type: ignore[no-any-return]


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
    nodes = document(page)["nodes"]
    assert len(nodes) == tree.n_branches + tree.n_leaves
    assert nodes[0]["rows"] == 90
    assert sum(node["rows"] for node in nodes if node["leaf"]) == 90
    assert len([tag for tag, given in read.attributes if tag == "tr" and "data-node" in given]) == tree.n_leaves
    # three classes, and none of them said to be favourable
    assert any("favourable" in text for text in read.texts["p"])


def test_it_needs_no_other_file() -> None:
    page = make_report(make_tree(make_data(seed=1), seed=1))
    for tag, given in Page(page).attributes:
        assert tag not in ("link", "img", "iframe")
        assert "src" not in given
        assert (given.get("href") or "#").startswith("#")
    addresses = set(re.findall(r"https?://[^\"' )]*", page))
    assert addresses == {"http://www.w3.org/2000/svg"}  # the name of SVG, which nobody fetches


def test_texts_of_the_data_do_not_become_markup() -> None:
    hostile = '</script><script>alert("x")</script>'
    data = make_data(seed=1, labels=(hostile, "b"))
    tree = attrs.evolve(make_tree(data, seed=1))
    page = make_report(result_of(tree), data, note=hostile, title=hostile)
    assert page.count("<script") == page.count("</script>") == 2
    assert "alert(" not in re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL).replace("&lt;script&gt;alert", "")
    assert any(hostile in node["full"] for node in document(page)["nodes"])


def test_numbers() -> None:
    tree = make_tree(make_data(seed=5), seed=5, shown=(1.0, 2.0))
    page = make_report(result_of(tree, SquaredError()), make_table(40, 1), [1.5, 2.5] * 20)
    assert "root mean squared error" in page
    assert document(page)["shades"][0] == "value"
    # The table of leaves has the colours of the picture.
    drawn = {node["fills"]["value"] for node in document(page)["nodes"] if node["leaf"]}
    assert set(re.findall(r'class="dot" style="background:(#\w+)"', page)) == drawn
    assert "purity" not in document(page)["shades"]


def _group_lines(page: str) -> list[str]:
    """The lines of the first paragraph of the section about groups."""
    found = re.search(r'<section id="groups"><h2>Groups</h2><p>(.*?)</p>', page, re.DOTALL)
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
    table = page[page.index('<table class="groups">') :]
    assert "predicted wrongly" in table
    in_a = int(wrong[::3].sum())
    assert f"{in_a} of 30 ({100 * in_a / 30:.1f} %)" in table.split("</tr>")[1]


def test_a_front_of_several_results() -> None:
    data = make_data(seed=2, labels=(0, 1))
    found = [result_of(make_tree(data, depth=depth, seed=depth)) for depth in (3, 1, 2)]
    page = make_report(found[0], data, compare=found[1:])
    assert "Front" in Page(page).texts["h2"]
    assert "false negatives" in page
    assert len(re.findall(r"branching nodes?, \d+ lea(f|ves), depth \d+</title>", page)) == 6


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


PROBE = """
<script>
  const at = (place) => document.querySelector(`[data-place="${place}"]`);
  const count = () => document.querySelectorAll("#tree-view .node").length;
  const tell = (type, place) => at(place).dispatchEvent(new MouseEvent(type, { bubbles: true }));
  const found = { all: count() };
  tell("click", 2);
  found.closed = count();
  tell("click", 2);
  found.opened = count();
  tell("mouseover", 3);
  found.rule = document.getElementById("rule").textContent;
  found.faded = document.querySelectorAll("#tree-view .node.faded").length;
  const slider = document.getElementById("depth");
  slider.value = 1;
  slider.dispatchEvent(new Event("input"));
  found.shallow = count();
  at(0).dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
  found.root = count();
  const shade = document.getElementById("shade");
  const before = at(0).querySelector("rect").getAttribute("fill");
  shade.value = "rows";
  shade.dispatchEvent(new Event("change"));
  found.shaded = before !== at(0).querySelector("rect").getAttribute("fill");
  document.title = JSON.stringify(found);
</script>"""


def test_the_picture_stands_as_every_other() -> None:
    tree = make_tree(make_data(n_rows=300, seed=2), depth=3, seed=4)
    read = document(make_report(tree))
    nodes = survey(tree)
    assert [layout["depth"] for layout in read["layouts"]] == list(range(tree.depth + 1))
    sizes = [size(card, read["font"]) for card in cards(tree, nodes)]
    boxes, _, _ = place(nodes, sizes, gap=GAP * read["font"], level=LEVEL * read["font"])
    assert read["layouts"][-1]["middles"] == [round(box.x, 1) for box in boxes]
    assert [node["size"] for node in read["nodes"]] == [[round(w, 1), round(h, 1)] for w, h in sizes]
    assert len(read["layouts"][1]["middles"]) == 1 + len(nodes[0].children)
    assert len(read["layouts"][0]["middles"]) == len(read["layouts"][0]["tops"]) == 1


def test_a_tree_of_many_levels_has_few_layouts() -> None:
    read = document(make_report(make_chain(Dataset.make([[0, 1], [1, 0]], [0, 1]), 60)))
    assert [layout["depth"] for layout in read["layouts"]] == [*range(12), 60]


def in_a_browser(page: Path, probe: str) -> Any:
    """What the script `probe`, put at the end of the page, makes its title, as JSON."""
    page.write_text(page.read_text(encoding="utf-8").replace("</body>", f"{probe}</body>"), encoding="utf-8")
    assert BROWSER is not None
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,900"]
    command += ["--virtual-time-budget=3000", "--dump-dom"]
    done = subprocess.run([*command, page.as_uri()], capture_output=True, text=True, timeout=120, check=True)
    title = re.search(r"<title>(.*?)</title>", done.stdout)
    assert title
    return json.loads(title[1].replace("&amp;", "&"))


TOGGLES = """
<script>
  const boxes = () => [...document.querySelectorAll("#tree-view .node")].map((node) => {
    const read = (name) => Number(node.querySelector("rect").getAttribute(name));
    return [read("x"), read("y"), read("width"), read("height")];
  });
  const slider = document.getElementById("depth");
  slider.value = slider.max;
  slider.dispatchEvent(new Event("input"));
  const found = { whole: boxes(), some: [] };
  for (const place of [3, 30, 26, 4, 3, 1, 26, 0, 0, 1]) {
    const node = document.querySelector(`[data-place="${place}"]`);
    if (!node || !node.classList.contains("question")) continue;
    node.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    const svg = document.querySelector("#tree-view svg").viewBox.baseVal;
    found.some.push({ boxes: boxes(), width: svg.width, height: svg.height });
  }
  document.title = JSON.stringify(found);
</script>"""


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no chromium is installed")
def test_nothing_overlaps_whatever_is_open(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    data = Dataset.make({f"c{j}": rng.integers(0, 2, 400).tolist() for j in range(8)}, rng.integers(0, 2, 400).tolist())
    page = tmp_path / "report.html"
    write_report(page, make_tree(data, depth=5, seed=2))
    layout = document(page.read_text(encoding="utf-8"))["layouts"][-1]
    found = in_a_browser(page, TOGGLES)
    assert [x + width / 2 for x, _, width, _ in found["whole"]] == pytest.approx(layout["middles"], abs=0.2)
    assert len(found["some"]) > 4
    assert len({len(state["boxes"]) for state in found["some"]}) > 3
    for state in found["some"]:
        for (x, y, width, height), (u, v, wide, high) in itertools.combinations(state["boxes"], 2):
            assert x + width < u or u + wide < x or y + height < v or v + high < y
        for x, y, width, height in state["boxes"]:
            assert 0 <= x < x + width < state["width"]
            assert 0 <= y < y + height < state["height"]


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no chromium is installed")
def test_the_script_in_a_browser(tmp_path: Path) -> None:
    data = make_data(seed=1)
    j = data.names.index("sex")
    inner = Branch(data.names.index("flag"), (Leaf(0, 5, 0), Leaf(1, 5, 0)), 10)
    tree = Tree.grown(Branch(j, (Leaf(2, 50, 0), inner), 60), data)
    page = tmp_path / "report.html"
    write_report(page, result_of(tree), data)
    found = in_a_browser(page, PROBE)
    assert (found["all"], found["closed"], found["opened"], found["shallow"], found["root"]) == (5, 3, 5, 3, 1)
    assert found["rule"].startswith("sex = m and flag = 0 → no: ")
    assert found["faded"] == 2
    assert found["shaded"]
