"""The enumeration of depth two: it has every tree, it agrees with what is solved, and it tells what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.reference import every_tree
from streed.tasks import Accuracy
from streed.tree.predictions import count_branches, predict_rows
from tests.differential.depth_two import OBJECTIVES, Rows, judge, trees


def make_rows(seed: int, n: int, columns: int, n_groups: int = 2, min_leaf: int = 1) -> Rows:
    draw = np.random.default_rng(seed)
    X = draw.integers(0, 2, (n, columns))
    groups = draw.integers(0, n_groups, n)
    y = (X[:, 0] & X[:, 1]) ^ (draw.random(n) < 0.25)
    return Rows(X, y.astype(np.int64), groups, min_leaf)


def test_it_has_every_tree() -> None:
    rows = make_rows(0, 10, 3)
    counted = {tuple(vector) for vectors in trees(rows) for vector in vectors.tolist()}
    expected = set()
    for root in every_tree(Accuracy(), Dataset.make(rows.X, rows.y), max_depth=2):
        predicted = predict_rows(root, rows.X.astype(np.uint8)) == 1
        expected.add((*rows.cells[predicted].sum(axis=0).tolist(), count_branches(root)))
    assert counted == expected


@pytest.mark.parametrize(("n_groups", "min_leaf"), [(2, 1), pytest.param(3, 4, marks=pytest.mark.compiles)])
def test_it_agrees_with_what_is_solved(n_groups: int, min_leaf: int) -> None:
    seen = judge(make_rows(1, 60, 5, n_groups, min_leaf), ("0", "0.05", "0.2"))
    assert seen["wrong"] == 0
    assert seen.total() == 4 * 3 * len(OBJECTIVES) + 4 + 1


def test_it_tells_what_is_wrong(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    solve = streed.solve

    def shallower(*arguments: Any, **named: Any) -> streed.Result:
        return solve(*arguments, **{**named, "max_depth": 1})

    monkeypatch.setattr(streed, "solve", shallower)
    seen = judge(make_rows(1, 60, 5), ("0.05", "1"), OBJECTIVES[:1])
    assert seen["wrong"] > 0
    assert "Accuracy() under" in capsys.readouterr().out
