"""The bundled data: the published counts, and the same data where they stand beside the repository."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from streed import datasets
from tests.unit.refusal import refused

SIZES = {
    "balance-scale": (625, 4, {"B": 49, "L": 288, "R": 288}),
    "berkeley": (4526, 2, {"no": 2771, "yes": 1755}),
    "monks-1": (432, 6, {0: 216, 1: 216}),
    "monks-2": (432, 6, {0: 290, 1: 142}),
    "monks-3": (432, 6, {0: 204, 1: 228}),
    "tic-tac-toe": (958, 9, {"negative": 332, "positive": 626}),
}
"""Rows, attributes and class counts, as published (UCI; for Berkeley the sums of the table)."""


def rows_of(table: dict[str, list[Any]]) -> list[tuple[Any, ...]]:
    return list(zip(*table.values(), strict=True))


def test_names() -> None:
    assert datasets.names() == tuple(SIZES)
    refused("name", "'iris'", "berkeley", call=lambda: datasets.load("iris"))


@pytest.mark.parametrize("name", SIZES)
def test_published_sizes_and_class_counts(name: str) -> None:
    bundled = datasets.load(name)
    rows, attributes, classes = SIZES[name]
    assert bundled.name == name
    assert len(bundled.description) > 20
    assert len(bundled.source) > 20
    for one_hot in (False, True):
        data = bundled.dataset(one_hot=one_hot)
        assert data.n_rows == rows
        assert dict(zip(data.classes, data.class_totals(), strict=True)) == classes
        assert data.n_columns == attributes or one_hot


def test_each_load_is_its_own() -> None:
    datasets.load("berkeley").table["gender"][0] = "changed"
    assert datasets.load("berkeley").table["gender"][0] == "male"


# -- the published rules and tables ------------------------------------------------------------------------------------


def test_berkeley_totals() -> None:
    bundled = datasets.load("berkeley")
    assert bundled.sensitive == ("gender",)
    counts = Counter(zip(bundled.table["gender"], bundled.table["admitted"], strict=True))
    assert counts == {
        ("male", "yes"): 1198,
        ("male", "no"): 1493,
        ("female", "yes"): 557,
        ("female", "no"): 1278,
    }
    cells = Counter(rows_of(bundled.table))
    assert cells["male", "A", "no"] == 313
    assert cells["female", "A", "yes"] == 89
    assert cells["female", "C", "no"] == 391
    assert cells["male", "F", "yes"] == 22
    assert len(cells) == 24
