"""Saved trees in the shell: predicted with, checked again, and refused where they are broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.shell import change_leaf, refused, run, run_json, saved, solve


def test_predict_needs_no_target(play: str, tmp_path: Path) -> None:
    tree, out = str(tmp_path / "tree.json"), tmp_path / "answers.csv"
    solve(play, "--target", "play", "--weights", "times", "--out", tree)
    new = tmp_path / "new.csv"
    new.write_text("humidity,windy,outlook\n70,1,overcast\n80,1,rain\n70,0,rain\n", encoding="utf-8")
    assert run("predict", tree, str(new)).stdout.split() == ["yes", "no", "yes"]
    assert run_json("predict", tree, str(new)) == {"predictions": ["yes", "no", "yes"]}
    run("predict", tree, str(new), "--out", str(out))
    assert out.read_text(encoding="utf-8") == "prediction\nyes\nno\nyes\n"
    new.write_text("humidity,windy\n70,1\n", encoding="utf-8")
    assert "outlook" in refused("predict", tree, str(new))


def test_verify_checks_every_number(play: str, tmp_path: Path) -> None:
    path, document = saved(play, tmp_path)
    answer = run_json("verify", str(path), play)
    assert answer["holds"] is True
    whats = [check["what"] for check in answer["checks"]]
    assert whats[:2] == ["rows of the data", "labels"]
    leaves = sum("label" in node for node in document["nodes"])
    assert sum(what.startswith("cost of leaf") for what in whats) == leaves
    assert sum(what.startswith("rows of") for what in whats) == len(document["nodes"]) + 1
    text = run("verify", str(path), play).stdout
    assert text == f"all {len(whats)} claims hold\n"
    assert "MISMATCH" not in text


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (lambda d: d["claims"].update(n_rows=8), "rows of the data"),
        (lambda d: d["claims"].update(value=0.5), "value"),
        (lambda d: d["claims"].update(lower_bound=0), "gap of an optimal tree"),
        (lambda d: d["claims"].update(upper_bound=9), "upper bound (the value)"),
        (lambda d: d["claims"].update(max_depth=1), "depth"),
        (lambda d: d["claims"].update(max_nodes=0), "branching nodes"),
        (lambda d: d["claims"].update(min_leaf=7), "fewest rows in a leaf"),
        (lambda d: d["claims"]["task"]["parameters"].update(lam=0.02), "value"),
        (lambda d: d["labels"].reverse(), "labels"),
        (lambda d: d["nodes"][0].update(rows=6), "rows of node 0"),
        (lambda d: change_leaf(d, rows=1000), "rows of leaf 0"),
        (lambda d: change_leaf(d, cost=1), "cost of leaf 0"),
        (lambda d: change_leaf(d, cost="1/9"), "cost of leaf 0"),
    ],
)
def test_verify_finds_what_does_not_hold(play: str, tmp_path: Path, change: Any, wrong: str) -> None:
    path, document = saved(play, tmp_path)
    change(document)
    path.write_text(json.dumps(document), encoding="utf-8")
    answer = run_json("verify", str(path), play, code=1)
    assert answer["holds"] is False
    assert any(check["what"].startswith(wrong) for check in answer["checks"] if not check["holds"])
    assert "MISMATCH" in run("verify", str(path), play, code=1).stdout


@pytest.mark.parametrize("text", ["", "{}", "not json"])
def test_a_broken_tree_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "tree.json"
    path.write_text(text, encoding="utf-8")
    assert "tree: " in refused("predict", str(path), "monks-1")
    assert "tree: " in refused("verify", str(path), "monks-1")
    assert "there is no file" in refused("verify", str(tmp_path / "none.json"), "monks-1")
