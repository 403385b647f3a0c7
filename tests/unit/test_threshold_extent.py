"""Which thresholds are tried where the caller leaves that open, the same by every way in."""

import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.task.analysis.extent import affordable
from streed.tasks import Accuracy, MonotoneErrors

LABELS = np.arange(600) % 2


@pytest.mark.parametrize(
    ("max_depth", "max_nodes", "questions"),
    [(0, None, 2396), (2, None, 2396), (3, None, 2396), (4, None, 160), (5, None, 60), (None, None, 60), (9, 4, 160)],
)
def test_deeper_searches_try_fewer_thresholds(max_depth: int | None, max_nodes: int | None, questions: int) -> None:
    data = Dataset.make(np.random.default_rng(0).random((600, 4)), LABELS)
    tried = affordable(Accuracy(), data, max_depth, max_nodes, timed=False)
    assert tried.n_questions == questions
    assert affordable(Accuracy(), tried, max_depth, max_nodes, timed=False) is tried


def test_columns_of_questions_few_values_and_orders_are_left_alone() -> None:
    rng = np.random.default_rng(0)
    for values in (rng.integers(0, 2, (600, 4)), rng.integers(0, 10, (600, 4)).astype(float)):
        data = Dataset.make(values, LABELS)
        assert affordable(Accuracy(), data, None, None, timed=False) is data
    every = Dataset.make(rng.random((600, 4)), LABELS, max_cuts="all")
    assert affordable(Accuracy(), every, None, None, timed=False) is every


def test_every_column_keeps_some_thresholds() -> None:
    values = np.random.default_rng(0).random((60, 90))
    assert affordable(Accuracy(), Dataset.make(values, np.arange(60) % 2), None, None, timed=False).n_questions == 180


def test_all_are_tried_where_a_time_limit_ends_the_search() -> None:
    data = Dataset.make(np.random.default_rng(0).random((600, 4)), LABELS)
    assert affordable(Accuracy(), data, None, None, timed=True) is data
    assert affordable(MonotoneErrors([]), data, 5, None, timed=True).n_questions == 28
    assert streed.solve(Accuracy(), data, max_depth=4, time_limit=0.1).stats["searched_over"] == "all 2,396 thresholds"


@pytest.mark.parametrize(("max_depth", "max_nodes", "questions"), [(3, None, 200), (2, None, 2396), (3, 4, 100)])
def test_tasks_of_other_searches_try_fewer(max_depth: int, max_nodes: int | None, questions: int) -> None:
    data = Dataset.make(np.random.default_rng(0).random((600, 4)), LABELS)
    assert affordable(MonotoneErrors([]), data, max_depth, max_nodes, timed=False).n_questions == questions
