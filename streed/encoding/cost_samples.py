"""What a task's methods, asked in Python about a few states, tell of its costs before any kernel is made."""

from __future__ import annotations

import math
import numbers

import attrs
import numpy as np

from streed.data import Dataset
from streed.encoding.overflow import magnitudes
from streed.errors import TaskError
from streed.exact import Array
from streed.kernels import coding
from streed.problem import Problem
from streed.task import State, Task, Value
from streed.task.analysis.dependence import reads_path, reads_rows, reads_split
from streed.task.analysis.facts import first_costs, is_larger_better
from streed.task.constrained import objective

_LARGEST_NATIVE = 2.0**62


@attrs.frozen
class CostSamples:
    """What was seen of the costs."""

    whole: bool
    """Whether all costs are whole numbers."""
    wide: bool
    """Whether the methods compute with numbers beyond int64."""
    larger: bool
    largest: float
    """Of the costs that were seen."""

    @classmethod
    def of(cls, problem: Problem, table: Array | None) -> CostSamples:
        """Of the problem; `table` holds the branching costs that depend on the split only, if there are any."""
        task, sums = problem.task, problem.sums
        own = objective(task)
        seen = first_costs(task, sums, problem.data)
        seen += _branching_costs(task, problem.data)
        if not own.adds_values:
            seen.append(task.combine(seen[0], seen[0]))
        whole = all(isinstance(x, numbers.Integral) for x in seen) and (table is None or table.dtype == np.int64)
        largest = max((abs(float(x)) for x in seen if math.isfinite(x)), default=0.0)
        if table is not None:
            largest = max(largest, float(np.abs(table).max()))
        record = magnitudes(task, sums, len(task.labels(problem.data)), problem.data.size)
        wide = record.whole >= _LARGEST_NATIVE
        return cls(whole and largest < coding.LARGEST_CODE, wide, bool(is_larger_better(own)), largest)


def _branching_costs(task: Task, data: Dataset) -> list[Value]:
    """What splits of all rows cost, with nothing and with everything else tested above; none where that is nothing."""
    n, columns = data.size, range(data.n_columns)
    own = objective(task)
    if not (reads_split(own) or reads_path(own) or reads_rows(own)):
        columns = columns[:1]
    alone = [task.branching_cost(n, (), split) for split in columns]
    last = [task.branching_cost(n, tuple(j for j in columns if j != split), split) for split in columns]
    costs = alone + last
    known = [cost for cost in costs if cost is not None]
    if known and len(known) < len(costs):
        raise TaskError(
            f"{type(objective(task)).__name__}.branching_cost returned None for some splits and numbers for others\n"
            "return 0 for those that cost nothing"
        )
    return known


def asks_whole(problem: Problem) -> bool:
    """Whether the methods of a state take whole numbers only, as an index does, or a shift."""
    sums = {name: values.sum(axis=0, dtype=np.float64) for name, values in problem.sums.items()}
    task, n = problem.task, problem.data.size
    s = State(n, **{k: tuple(v.tolist()) if v.ndim else v.item() for k, v in sums.items()})
    s.rows = float(n)  # type: ignore[assignment]
    try:
        task.leaf_cost(s, 0)
        task.lower_bound(s)
        for limit in task.limits:
            limit.allows(s)
    except TypeError:
        return True
    return False
