"""Binary columns that are thresholds of a few numbers: the same optimum by the search over thresholds as by pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.exact import Array
from streed.ordered import chains, choice
from streed.tasks import InstanceCosts, Misclassifications
from streed.tree.evaluation import inspect

pytestmark = pytest.mark.compiles


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chains are taken however few columns they have."""
    monkeypatch.setattr(choice, "FEWEST", 2)
    monkeypatch.setattr(chains, "LENGTH", 1)


def _columns(rng: np.random.Generator, n: int) -> Array:
    """Thresholds of some numbers, up and down, with ties and equal columns; some may be no thresholds at all."""
    found = []
    for _ in range(int(rng.integers(1, 4))):
        values = rng.integers(0, int(rng.choice([3, 8, n])), n)
        cuts = np.sort(rng.integers(values.min() - 1, values.max() + 1, int(rng.integers(2, 7))))
        block = (values[:, None] <= cuts).astype(np.uint8)
        form = rng.integers(3)
        found.append(block if form == 0 else block[:, ::-1] if form == 1 else 1 - block)
    if rng.random() < 0.3:
        found.append(rng.integers(0, 2, (n, 2)).astype(np.uint8))
    return np.concatenate(found, axis=1)


def _instance(rng: np.random.Generator) -> tuple[Any, Array, Array, dict[str, Any]]:
    n, labels = int(rng.integers(8, 40)), int(rng.integers(2, 5))
    X, y = _columns(rng, n), rng.integers(0, labels, n)
    y[:labels] = np.arange(labels)
    given: dict[str, Any] = {"max_depth": int(rng.choice([3, 4])), "max_nodes": [None, None, 4, 5][rng.integers(4)]}
    if rng.random() < 0.3:
        given["costs"] = rng.integers(0, 5, (n, labels))
        return InstanceCosts(), X, y, given
    if rng.random() < 0.3:
        given["sample_weight"] = rng.integers(1, 4, n)
    return Misclassifications(), X, y, given


@pytest.mark.parametrize("seed", range(5))
def test_chains_have_the_optimum_of_pair_counts(seed: int, few: None, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = 0
    for number in range(60):
        task, X, y, given = _instance(np.random.default_rng([seed, number, 81]))
        found = streed.solve(task, X, y, **given)
        with monkeypatch.context() as plain:
            plain.setattr(choice, "FEWEST", 10**9)
            expected = streed.solve(task, X, y, **given)
        assert expected.stats["route"] == "row costs"
        taken += found.stats["route"] == "thresholds"
        assert (found.value, found.status, found.lower_bound) == (expected.value, "optimal", expected.lower_bound)
        assert found.tree is not None
        data = Dataset.make(X, y, **{key: given[key] for key in ("costs", "sample_weight") if key in given})
        assert inspect(found.tree, task, data).value == found.value
        assert found.tree.depth <= given["max_depth"]
    assert taken == 60


def test_a_chain_is_read_as_how_many_of_its_columns_are_zero(few: None) -> None:
    values = np.array([0, 1, 2, 3, 3])
    up, down = values[:, None] <= [0, 1, 2], values[:, None] > [0, 1, 2]
    data = Dataset.make(np.concatenate([up, down], axis=1).astype(np.uint8), [0, 1, 0, 1, 1])
    found = chains.Chains.of(data)
    assert found is not None
    assert [each.tolist() for each in found.columns] == [[0, 1, 2], [5, 4, 3]]
    assert found.ranks.tolist() == [[0, 1, 2, 3, 3], [3, 2, 1, 0, 0]]
    assert found.thresholds == 6


def test_columns_that_are_no_thresholds_are_searched_by_pairs() -> None:
    X = np.random.default_rng(0).integers(0, 2, (60, choice.FEWEST)).astype(np.uint8)
    assert chains.Chains.of(Dataset.make(X, X[:, 0] ^ X[:, 1])) is None
