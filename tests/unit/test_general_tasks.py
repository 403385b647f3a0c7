"""Tasks whose leaves are a function of their rows, by hand: what their states hold, and absolute error."""

from __future__ import annotations

import numpy as np

from streed.data import Dataset
from streed.reference import Evaluation
from streed.reference.definition import OptimizationTask
from streed.task import Totals
from streed.tasks import MinSupport
from tests.unusual_tasks import Spread

# -- states ------------------------------------------------------------------------------------------------------------


def test_states_know_their_rows_where_the_task_reads_them() -> None:
    data = Dataset.make([[0], [0], [0], [1], [1]], [1, 2, 6, 10, 12])
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


# -- absolute error ----------------------------------------------------------------------------------------------------
