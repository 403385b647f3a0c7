"""Rows counted in binary: the same sums in every set of equal rows, few kinds, and the same trees and values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.enumerate import counted_rows
from streed.enumerate.counted_rows import count_rows
from streed.exact import Array
from streed.kernels.counting.groups import MOST_GROUPS
from streed.tasks import F1, Accuracy, DemographicParity, MinSupport


def many(seed: int, n: int = 600, columns: int = 4) -> tuple[Array, Array, Array, Array]:
    """(X, y, group, frequency): rows of many different frequencies, some of which are equal."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, columns))
    y = (X[:, 0] & X[:, 1]) ^ (rng.random(n) < 0.2)
    group = (X[:, 2] ^ (rng.random(n) < 0.3)).astype(int)
    return X, y.astype(int), group, rng.integers(1, 400, n)


def sums_by_codes(data: Dataset, parts: Array) -> dict[bytes, tuple[list[Any], int]]:
    """What rows of equal codes add up to under every label, and how many they stand for."""
    found: dict[bytes, tuple[list[Any], int]] = {}
    for codes in np.unique(data.X, axis=0):
        rows = np.flatnonzero((codes == data.X).all(axis=1))
        found[codes.tobytes()] = parts[:, rows].sum(axis=1).tolist(), data.count(rows)
    return found


def test_counted_rows_add_up_to_the_same_and_are_of_few_kinds() -> None:
    X, y, group, frequency = many(1)
    data = Dataset.make(X, y, frequency=frequency)
    signed = np.where(group, 3, -2)[:, None] * np.array([0, 1])
    costs = np.stack([(y != k).astype(np.int64) for k in (0, 1)], axis=1)
    parts = np.stack([costs, signed]) * frequency[None, :, None]
    counted = count_rows(data, parts)
    assert counted is not None
    assert sums_by_codes(counted.data, counted.parts) == sums_by_codes(data, parts)
    assert (counted.data.X[counted.place] == data.X).all()
    frequencies = counted.data.frequency
    assert frequencies is not None
    assert set(frequencies.tolist()) <= {2**b for b in range(20)}
    kinds = np.hstack([counted.parts.transpose(1, 2, 0).reshape(counted.data.n_rows, -1), frequencies[:, None]])
    assert len(np.unique(kinds, axis=0)) <= 4 * 20 < MOST_GROUPS * 2


def test_rows_of_few_kinds_stay_as_they_are() -> None:
    X, y, _, frequency = many(2)
    parts = np.stack([(y != k).astype(np.int64) for k in (0, 1)], axis=1)[None]
    assert count_rows(Dataset.make(X, y), parts) is None
    few = frequency % 3 + 1
    assert count_rows(Dataset.make(X, y, frequency=few), parts * few[None, :, None]) is None


def test_a_row_of_no_part_keeps_its_number() -> None:
    X, y, _, frequency = many(3)
    data = Dataset.make(X, y, frequency=frequency)
    parts = np.stack([np.zeros(len(y), np.int64), y * frequency], axis=1)[None]
    counted = count_rows(data, parts)
    assert counted is not None
    assert counted.data.size == frequency.sum()
    assert sums_by_codes(counted.data, counted.parts) == sums_by_codes(data, parts)


FAIR = Accuracy().subject_to(DemographicParity() <= 0.02)

TASKS = {
    "F1": F1(),
    "parity": FAIR,
    "parity, support": FAIR.subject_to(MinSupport(9000)),
}


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
@pytest.mark.parametrize("seed", range(3))
def test_frequencies_and_their_copies_have_the_same_tree(task: Any, seed: int) -> None:
    X, y, group, frequency = many(seed)
    aside: dict[str, Any] = {} if isinstance(task, F1) else {"sensitive_features": group}
    grouped = streed.solve(task, X, y, max_depth=2, frequency=frequency, **aside)
    again = np.repeat(np.arange(len(y)), frequency)
    copied: dict[str, Any] = {key: each[again] for key, each in aside.items()}
    alone = streed.solve(task, X[again], y[again], max_depth=2, **copied)
    assert (grouped.status, grouped.value) == (alone.status, alone.value)
    assert grouped.tree is not None
    assert alone.tree is not None
    assert grouped.tree.to_text() == alone.tree.to_text()


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_raw_rows_counted_have_the_same_tree(task: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, group, _ = many(7, n=20_000)
    aside: dict[str, Any] = {} if isinstance(task, F1) else {"sensitive_features": group}
    rows: list[int | None] = []

    def noted(data: Dataset, parts: Array) -> Any:
        found = count_rows(data, parts)
        rows.append(None if found is None else found.data.n_rows)
        return found

    monkeypatch.setattr("streed.enumerate.vector_trees.count_rows", noted)
    counted = streed.solve(task, X, y, max_depth=2, **aside)
    assert rows[0] is not None
    assert rows[0] < 2000
    monkeypatch.setattr(counted_rows, "MANY_ROWS", 2**60)
    plain = streed.solve(task, X, y, max_depth=2, **aside)
    assert rows[-1] is None
    assert (counted.status, counted.value) == (plain.status, plain.value)
    assert counted.tree is not None
    assert plain.tree is not None
    assert counted.tree.to_text() == plain.tree.to_text()
