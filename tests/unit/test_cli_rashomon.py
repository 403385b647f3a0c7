"""`streed rashomon`: what it counts, prints and saves, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import streed
from streed.cli.app import app
from streed.datasets import load
from streed.tasks import SparseAccuracy

pytestmark = pytest.mark.compiles

ASKED = ("rashomon", "monks-1", "--task", "sparse-accuracy", "--lam", "0.01", "--max-depth", "4", "--epsilon", "0.2")
ADMITTED = ("rashomon", "berkeley", "--target", "admitted", "--task", "sparse-accuracy", "--lam", "0.01")
FAIR = (*ADMITTED, "--max-depth", "3", "--sensitive", "gender")


def run(*words: str, code: int = 0) -> Any:
    done = CliRunner().invoke(app, words)
    assert done.exit_code == code, done.output
    return done


def test_the_count_is_that_of_the_set() -> None:
    trees = streed.rashomon(SparseAccuracy(0.01), load("monks-1").dataset(), max_depth=4, epsilon=0.2)
    found = json.loads(run(*ASKED, "--json").stdout)
    assert found["count"] == trees.count
    assert found["histogram"] == [{"value": value, "trees": count} for value, count in trees.histogram.items()]
    text = run(*ASKED, "--importance").stdout
    assert f"trees    {trees.count:,}" in text
    assert "100.0%  a5=1  (needed)" in text


def test_trees_without_a_column_and_by_a_quantity(tmp_path: Path) -> None:
    out = tmp_path / "trees.json"
    text = run(*ASKED, "--without", "a5=1", code=4).stdout
    assert "so these columns are needed" in text
    found = json.loads(run(*FAIR, "--best-by", "demographic-parity", "--json").stdout)
    assert (found["best_by"]["name"], found["best_by"]["ties"]) == ("demographic-parity", 2)
    assert round(found["best_by"]["quantity"], 4) == 0.4422
    run(*ASKED, "--sample", "3", "--out", str(out))
    saved = json.loads(out.read_text(encoding="utf-8"))
    assert len(saved) == 3
    assert streed.Tree.from_json(json.dumps(saved[0])).n_branches > 0


def test_exit_codes() -> None:
    run("rashomon", "monks-1", "--task", "matthews-correlation", "--max-depth", "2", code=2)
    run("rashomon", "monks-1", "--max-depth", "2", "--budget", "-1", code=4)
    stopped = run("rashomon", "monks-1", "--max-depth", "6", "--slack", "100", "--time-limit", "0.05", code=3)
    assert "trees    time" in stopped.stdout


def test_so_many_trees_of_few_nodes_on_a_page(tmp_path: Path) -> None:
    page = tmp_path / "near.html"
    words = ("--max-depth", "3", "--max-nodes", "2", "--n-best", "4", "--report", str(page), "--json")
    found = json.loads(run("rashomon", "monks-1", *words).stdout)
    assert found["count"] >= 4
    text = page.read_text()
    assert f"{found['count']:,} trees within the budget" in text
    assert "nodes at most 2" in text
    run("rashomon", "monks-1", "--report", str(tmp_path / "none" / "near.html"), code=2)
