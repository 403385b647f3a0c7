"""What a frequency may be and does to data and claims; a row of weight w, or of frequency f, counts as so many rows."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import attrs
import numpy as np
import pandas as pd
import polars as pl
import pytest

import streed
from streed.tasks import Accuracy, Misclassifications, Splits
from streed.testing import find_violations
from streed.testing.laws import LAWS
from streed.tree import Tree
from streed.tree.evaluation import check, evaluate

X = [[0, 1], [1, 0], [1, 1]]

REFUSED: dict[str, tuple[Any, str]] = {
    "negative": ([1, -1, 1], "row 1 has -1"),
    "fractional": ([1, 0.5, 1], "row 1 has 0.5"),
    "a truth value": ([True, False, True], "row 0 has True"),
    "missing": ([1, float("nan"), 1], "missing value in row 1"),
    "too few": ([1, 1], "2 numbers, but X has 3 rows"),
    "texts": (["a", "b", "c"], "row 0 has 'a'"),
    "beyond int64 together": ([2**59, 2**59, 1], "the total is 2\\*\\*60 or more"),
    "beyond int64 each": ([2**70, 1, 1], "the total is 2\\*\\*60 or more"),
    "nothing": ([0, 0, 0], "every row stands for 0 rows"),
    "one number": (3, "not a column|no list|give a list"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_number_of_rows_is_refused(kind: str) -> None:
    given, words = REFUSED[kind]
    with pytest.raises(streed.InputError, match=words) as caught:
        streed.solve(Accuracy(), X, [0, 1, 0], frequency=given)
    assert str(caught.value).startswith("frequency: ")


@pytest.mark.parametrize(
    ("table", "labels"),
    [
        (np.array([[0, 1], [2, 2], [1, 1]]), [1, 2, 3]),
        (pd.DataFrame({"a": ["x", None, "z"], "b": [0, 1, 1]}), pd.Series(["a", None, "c"])),
        (pl.DataFrame({"a": ["x", None, "z"], "b": [0, 1, 1]}), pl.Series([1, None, 3])),
        ({"a": ["x", "y", "z"], "b": [0, 1, 1]}, ("a", "b", "c")),
    ],
)
def test_a_row_of_frequency_0_is_as_absent(table: Any, labels: Any) -> None:
    data = streed.Dataset.make(table, labels, frequency=[2, 0, 3], sample_weight=[0.1, 9, 0.3], z=[5, 6, 7])
    assert (data.n_rows, data.size, len(data.classes)) == (2, 5, 2)
    assert all(not column.multiway for column in data.columns)
    assert data.exact_weights == [Fraction(1, 5), Fraction(9, 10)]
    assert data.weights.tolist() == [0.2, 0.9]
    assert data.class_totals() == [Fraction(1, 5), Fraction(9, 10)]
    assert data.row_data["z"].tolist() == [5, 7]
    copies = data.expanded()
    assert copies.weights.tolist() == [0.1, 0.1, 0.3, 0.3, 0.3]
    assert copies.frequency is None


def test_a_tree_claims_and_shows_all_rows() -> None:
    y, frequency = [0, 1, 0], [2, 30, 4]
    result = streed.solve(Misclassifications(), X, y, frequency=frequency, max_depth=1, min_leaf=5)
    assert result.value == 0
    assert [leaf.rows for leaf in result.tree.leaves()] == [30, 6]
    saved = Tree.from_json(result.tree.to_json())
    data = streed.Dataset.make(X, y, frequency=frequency)
    assert saved.claims.n_rows == 36
    assert all(each.holds for each in check(saved, data))
    assert not all(each.holds for each in check(saved, streed.Dataset.make(X, y)))
    assert evaluate(saved, Misclassifications(), data) == result.value


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


THREE, y = [[0], [0], [1]], ["no", "yes", "yes"]


@pytest.mark.compiles
@pytest.mark.parametrize("driver", ["depth-first", "general"])
def test_a_state_knows_what_its_rows_weigh(driver: str) -> None:
    found = streed.solve(ByWeight(), THREE, y, sample_weight=[3, 1, 2], max_depth=1, search=driver)
    assert found.value == 0.25
    assert streed.solve(Errors(), THREE, y, sample_weight=[3, 1, 0.5], max_depth=1, search=driver).value == 1
    both = Errors() + 0.5 * Splits()
    assert streed.solve(both, THREE, y, sample_weight=[3, 0, 0.5], max_depth=1, search=driver).value == 0.5


@pytest.mark.compiles
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


@pytest.mark.compiles
def test_the_law_tells_who_forgets_frequencies() -> None:
    found = find_violations(Mean(), WEIGHTS, max_examples=60)
    assert "frequencies are copies" in found.violated
