"""Optima that Branches prints (ICML 2025, Table 2), of the data sets that are all cases of a rule.

A value is 1 - error rate - lambda * splits. Of the MONK's problems the paper takes a sample of the cases; for the first
one a tree without errors is best, so that the value is the same for all cases. `-f` is a column for every value but the
first, `-o` a multiway column for every attribute.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

import streed
from streed.data import Dataset
from streed.datasets import load
from streed.tasks import SparseAccuracy

TABLE_2 = [
    # name, encoding, lambda, value, accuracy, splits
    ("monks-1", "", "0.01", "0.940", "1.000", 6),
    ("monks-1", "o", "0.01", "0.900", "1.000", 10),
    ("tic-tac-toe", "f", "0.005", "0.850", "0.945", 19),
    ("tic-tac-toe", "o", "0.005", "0.773", "0.858", 17),
    ("balance-scale", "f", "0.005", "0.673", "0.723", 10),
    ("balance-scale", "o", "0.005", "0.713", "0.763", 10),
]


def _encoded(name: str, encoding: str) -> Dataset:
    bundled = load(name)
    if encoding != "f":
        return bundled.dataset(one_hot=not encoding)
    columns = {
        f"{attribute}={value}": [int(each == value) for each in values]
        for attribute, values in bundled.table.items()
        if attribute != bundled.target
        for value in sorted(set(values))[1:]
    }
    return Dataset.make(columns, bundled.table[bundled.target])


@pytest.mark.parametrize(("name", "encoding", "lam", "value", "accuracy", "splits"), TABLE_2)
def test_table_2_of_branches(name: str, encoding: str, lam: str, value: str, accuracy: str, splits: int) -> None:
    """The paper's depth limit is 20; it prints three digits, cut off or rounded."""
    data = _encoded(name, encoding)
    result = streed.solve(SparseAccuracy(float(lam)), data, max_depth=20)
    assert result.status == "optimal"
    assert result.tree.n_branches == splits
    errors = Fraction(result.value) - Fraction(lam) * splits
    assert float(1 - errors) == pytest.approx(float(accuracy), abs=1e-3)
    assert 1 - float(result.value) == pytest.approx(float(value), abs=1e-3)
