"""How many thresholds of raw numbers a search can be expected to finish with soon, before it is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streed.data import Dataset

_VALUES = (10**9, 10**9, 2 * 10**7, 2 * 10**5, 2_000, 500)
"""By depth, the last for all deeper ones: up to so many values (rows times ordered columns) every threshold is tried.

Measured on one core: depth two of 10^6 rows and 20 columns takes 20 s, depth three of 1,797 rows and 64 columns 0.4 s,
depth four of 900 rows and 7 columns 2 s, of fewer rows that are harder to tell apart minutes."""

_QUESTIONS = (10**6, 10**6, 4_000, 500, 160, 60)
"""By depth likewise, how many questions of all ordered columns are searched where there are more values than that."""

_FEWEST = 2


def affordable_cuts(data: Dataset, max_depth: int | None) -> int | None:
    """The most thresholds of each ordered column that a search to this depth is expected to finish with; None for all.

    The same data have the same answer on any machine. `data` has all thresholds.
    """
    columns = len(data.ordered)
    deepest = len(_VALUES) - 1
    depth = deepest if max_depth is None else min(max_depth, deepest)
    values, questions = _VALUES[depth], _QUESTIONS[depth]
    if columns == 0 or data.n_rows * columns <= values or data.n_questions <= questions:
        return None
    return max(_FEWEST, questions // columns)
