"""A row of weight w, or of frequency f, counts as so many rows; the kit tells who counts otherwise."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import pytest

import streed
from streed.tasks import Splits
from streed.testing import find_violations
from streed.testing.laws import LAWS

pytestmark = pytest.mark.compiles

WEIGHTS = tuple(law for law in LAWS if law.name.endswith("are copies"))


@attrs.frozen
class ByWeight(streed.Task):
    """The error rate of the worst leaf, by weight: the first task of the README."""

    def statistics(self, data: Any) -> Any:
        return {"counts": data.class_numbers[:, None] == np.arange(data.n_classes)}

    def leaf_cost(self, s: Any, k: int) -> Any:
        return (s.weight - s.counts[k]) / s.weight if s.weight > 0 else 0.0

    def combine(self, a: Any, b: Any) -> Any:
        return max(a, b)


@attrs.frozen
class ByRows(ByWeight):
    """The same by rows, which weights are not."""

    def leaf_cost(self, s: Any, k: int) -> Any:
        return (s.rows - s.counts[k]) / s.rows


@attrs.frozen
class Errors(streed.Task):
    """Misclassified weight, linear in the sums."""

    def statistics(self, data: Any) -> Any:
        return {"counts": data.class_numbers[:, None] == np.arange(data.n_classes)}

    def leaf_cost(self, s: Any, k: int) -> Any:
        return s.weight - s.counts[k]


X, y = [[0], [0], [1]], ["no", "yes", "yes"]


@pytest.mark.parametrize("driver", ["depth-first", "general"])
def test_a_state_knows_what_its_rows_weigh(driver: str) -> None:
    found = streed.solve(ByWeight(), X, y, sample_weight=[3, 1, 2], max_depth=1, search=driver)
    assert found.value == 0.25
    assert streed.solve(Errors(), X, y, sample_weight=[3, 1, 0.5], max_depth=1, search=driver).value == 1
    both = Errors() + 0.5 * Splits()
    assert streed.solve(both, X, y, sample_weight=[3, 0, 0.5], max_depth=1, search=driver).value == 0.5


def test_the_law_tells_who_counts_rows_in_place_of_weights() -> None:
    found = find_violations(ByRows(), WEIGHTS, max_examples=60)
    assert found.violated == ("weights are copies",)
    assert "does not count rows by weight" in found.explanation()
    assert find_violations(ByWeight(), WEIGHTS, max_examples=60).holds


@attrs.frozen
class Mean(streed.Task):
    """Errors as a share of the rows that are there, each once: it forgets that they may stand for several."""

    n: int = streed.task.bound(1)

    def bind(self, data: Any) -> Any:
        return attrs.evolve(self, n=data.n_rows)

    def statistics(self, data: Any) -> Any:
        return {"counts": data.class_numbers[:, None] == np.arange(data.n_classes)}

    def leaf_cost(self, s: Any, k: int) -> Any:
        return (s.weight - s.counts[k]) / self.n


def test_the_law_tells_who_forgets_frequencies() -> None:
    found = find_violations(Mean(), WEIGHTS, max_examples=60)
    assert "frequencies are copies" in found.violated
