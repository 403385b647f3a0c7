"""How many thresholds are tried where a search over all of them is not expected to end soon."""

import numpy as np
import pytest

from streed.data import Dataset
from streed.ordered.extent import affordable_cuts


@pytest.mark.parametrize(
    ("max_depth", "most"), [(0, None), (2, None), (3, None), (4, 40), (5, 15), (9, 15), (None, 15)]
)
def test_deeper_searches_try_fewer_thresholds(max_depth: int | None, most: int | None) -> None:
    values = np.random.default_rng(0).random((600, 4))
    assert affordable_cuts(Dataset.make(values, np.arange(600) % 2), max_depth) == most


def test_columns_of_questions_and_few_values_are_left_alone() -> None:
    labels = np.arange(600) % 2
    questions = np.random.default_rng(0).integers(0, 2, (600, 4))
    assert affordable_cuts(Dataset.make(questions, labels), None) is None
    few = np.random.default_rng(0).integers(0, 10, (600, 4)).astype(float)
    assert affordable_cuts(Dataset.make(few, labels), None) is None


def test_every_column_keeps_some_thresholds() -> None:
    values = np.random.default_rng(0).random((60, 90))
    assert affordable_cuts(Dataset.make(values, np.arange(60) % 2), None) == 2
