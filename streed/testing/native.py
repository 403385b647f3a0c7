"""The native kernel of a task against its Python methods."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from streed.errors import TaskError
from streed.reference import Evaluation
from streed.testing.cases import close

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streed.data import Dataset
    from streed.task import State, Task, Value

_HOME, _FUNCTION = "streed.encoding.generated", "native_values"


def kernel() -> Any:
    """The function that gives native leaf costs, (task, data, states) -> a sequence per state with a cost per label.

    None where this version of streed has no kernels.
    """
    if importlib.util.find_spec(_HOME) is None:
        return None
    return getattr(importlib.import_module(_HOME), _FUNCTION, None)


def compare(task: Task, data: Dataset, rows: Sequence[Sequence[int]]) -> list[tuple[State, int, Value, Value]] | None:
    """Where the native leaf costs of the states of these rows differ from Python's: state, label, Python's, native.

    None if there is no native kernel for this task.
    """
    native = kernel()
    if native is None:
        return None
    evaluation = Evaluation(task, data)
    states = [evaluation.state(list(each)) for each in rows]
    try:
        costs = native(evaluation.task, data, states)
    except TaskError:
        return None
    return [
        (s, k, python, found)
        for s, line in zip(states, costs, strict=True)
        for k, found in enumerate(line)
        if not close(python := evaluation.task.leaf_cost(s, k), found)
    ]
