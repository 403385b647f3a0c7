"""Tasks whose leaves are a function of their rows, by hand: what their states hold, and absolute error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from streed.data import Dataset
from streed.errors import InputError
from streed.reference import Evaluation
from streed.reference.definition import OptimizationTask
from streed.task import Totals
from streed.tasks import AbsoluteError, MinSupport
from tests.unusual_tasks import Spread, general

X = [[0], [0], [0], [1], [1]]
Y = [1, 2, 6, 10, 12]


# -- states ------------------------------------------------------------------------------------------------------------


def test_states_know_their_rows_where_the_task_reads_them() -> None:
    data = Dataset.make(X, Y)
    o = OptimizationTask(Spread(), data)
    states = [o.statistics(o.t(o.s0, 0)[1]), Evaluation(Spread(), data).state([4, 3])]
    for state in states:
        assert state.members.tolist() == [3, 4]
        assert state.members.dtype == np.int64
        assert state.data is data
        assert state.rows == 2
    totals = Totals(Spread().subject_to(MinSupport(2)), data)
    assert totals.members.tolist() == [0, 1, 2, 3, 4]
    assert totals.data is data


# -- targets -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("y", "found"), [(list("abcde"), "it has the label 'a'"), (None, "there is none")])
def test_targets_must_be_numbers(y: Any, found: str) -> None:
    with pytest.raises(InputError, match=found):
        general(AbsoluteError(), X, y)


# -- absolute error ----------------------------------------------------------------------------------------------------


def test_absolute_error_by_hand() -> None:
    leaf = general(AbsoluteError(), X, Y, max_depth=0)
    assert (leaf.value, leaf.lower_bound, leaf.status) == (19, 19, "optimal")
    assert leaf.tree is not None
    assert leaf.tree.to_text() == "6 (5 rows, cost 19)"
    split = general(AbsoluteError(), X, Y)
    assert split.value == 7
    assert split.tree is not None
    assert split.tree.predict(X).tolist() == [2, 2, 2, 10, 10]
