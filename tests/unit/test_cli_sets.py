"""Fronts and near-optimal trees in the shell, and what `streed doctor` tells."""

from __future__ import annotations

import json

import pytest

import streed
from streed.datasets import load
from streed.tasks import SparseAccuracy
from tests.unit.shell import run, run_json

ERRORS = ("front", "tic-tac-toe", "--max-depth", "2")


def test_errors_by_class_with_their_trees() -> None:
    text = run(*ERRORS).stdout.splitlines()
    found = run_json(*ERRORS)
    heads = [*found["quantities"][:2], "branches", "depth"]
    assert heads[:2] == ["errors on negative", "errors on positive"]
    assert text[:2] == [f"status  optimal: {len(found['points'])} nondominated points", "over    27 questions"]
    assert [line.split() for line in text[3:]] == [[str(point[head]) for head in heads] for point in found["points"]]
    data = load("tic-tac-toe").dataset()
    for point, document in zip(found["points"], found["trees"], strict=True):
        wrong = data.y[streed.Tree.from_json(json.dumps(document)).predict(data) != data.y].tolist()
        assert [wrong.count("negative"), wrong.count("positive")] == [point[head] for head in heads[:2]]


def test_refused_input() -> None:
    assert "--against" in run("front", "tic-tac-toe", "--task", "accuracy", code=2).output
    assert (
        "--sensitive"
        in run("front", "tic-tac-toe", "--task", "accuracy", "--against", "equal-opportunity", code=2).output
    )


ASKED = ("rashomon", "monks-1", "--task", "sparse-accuracy", "--lam", "0.01", "--max-depth", "4", "--epsilon", "0.2")
ADMITTED = ("rashomon", "berkeley", "--target", "admitted", "--task", "sparse-accuracy", "--lam", "0.01")
FAIR = (*ADMITTED, "--max-depth", "3", "--sensitive", "gender")


@pytest.mark.compiles
def test_the_count_is_that_of_the_set() -> None:
    trees = streed.rashomon(SparseAccuracy(0.01), load("monks-1").dataset(), max_depth=4, epsilon=0.2)
    found = json.loads(run(*ASKED, "--json").stdout)
    assert found["count"] == trees.count
    assert found["histogram"] == [{"value": value, "trees": count} for value, count in trees.histogram.items()]
    text = run(*ASKED, "--importance").stdout
    assert f"trees    {trees.count:,}" in text
    assert "100.0%  a5=1  (needed)" in text


@pytest.mark.compiles
def test_trees_without_a_column_and_by_a_quantity() -> None:
    text = run(*ASKED, "--without", "a5=1", code=4).stdout
    assert "so these columns are needed" in text
    found = json.loads(run(*FAIR, "--best-by", "demographic-parity", "--json").stdout)
    assert (found["best_by"]["name"], found["best_by"]["ties"]) == ("demographic-parity", 2)
    assert round(found["best_by"]["quantity"], 4) == 0.4422


@pytest.mark.compiles
def test_exit_codes() -> None:
    run("rashomon", "monks-1", "--task", "matthews-correlation", "--max-depth", "2", code=2)
    run("rashomon", "monks-1", "--max-depth", "2", "--budget", "-1", code=4)
    stopped = run("rashomon", "monks-1", "--max-depth", "6", "--slack", "100", "--time-limit", "0.05", code=3)
    assert "trees    time" in stopped.stdout


def test_it_tells_versions_and_places() -> None:
    told = run_json("doctor")
    assert set(told) >= {"streed", "python", "numba", "llvmlite", "numpy", "processor", "cache"}
    assert told["streed"].startswith(streed.__version__)
