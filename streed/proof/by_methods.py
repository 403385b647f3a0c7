"""Proofs by a task's own methods, which the checker is given: what `check_methods.py` needs of a task and its data."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from streed.data import Dataset
from streed.errors import InputError, TaskError
from streed.proof import check, check_methods
from streed.proof.coded import CodedTable
from streed.proof.format import to_bytes
from streed.task import Task
from streed.task.row_sums import sums_over
from streed.tree import Tree

_ELSEWHERE = ("bind", "feasible", "at_root", "better_at_root", "better", "objective_of", "score")
"""What a task may say beside the methods that the checker knows."""


def prove_by_methods(
    trees: Sequence[Tree], data: Dataset, task: Task, within: tuple[int | None, int, int | None], methods: str
) -> tuple[bytes, bytes, tuple[str, ...], Any, int]:
    """(the proof, its table, the checker's arguments, the best values, sets of rows) of all trees of a front.

    `within` are max_depth, min_leaf and max_nodes; `methods` is FILE:NAME, where whoever checks finds the task. Raises
    TaskError for what the checker does not know of a task, InputError where the trees are not the best.
    """
    max_depth, min_leaf, max_nodes = within
    data = data.expanded() if data.frequency is not None else data
    said = [name for name in _ELSEWHERE if task.overrides(name)]
    if said or task.reads_rows or any(limit.support is None for limit in task.limits):
        reason = f"its {said[0]}" if said else "its limits" if task.limits else "functions of rows"
        raise TaskError(f"{task!r}: a checker by methods does not know {reason}")
    if max_nodes is not None or data.ordered:
        raise TaskError(f"{task!r}: there are no proofs by methods under a limit on nodes, or over thresholds")
    table = CodedTable.of(data)
    more: dict[str, list[str]] = {}
    for name, values in sums_over(task, data).items():
        columns = {name: values} if values.ndim == 1 else {f"{name}.{j}": v for j, v in enumerate(values.T)}
        more |= {column: [str(number) for number in numbers] for column, numbers in columns.items()}
    for name in more:
        if name in (*table.names, table.target) or not name.replace(".", "_").isidentifier():
            raise InputError(
                "task", f"its statistic {name!r} is the name of a column, or none of Python's", "rename it"
            )
    min_leaf = max([min_leaf, *(limit.support or 1 for limit in task.limits)])
    labels = list(map(str, range(len(task.labels(data)))))
    arguments = ["--methods", methods, "--labels", str(len(labels)), f"--target={table.target}"]
    arguments += ["--no-limit"] if max_depth is None else ["--max-depth", str(max_depth)]
    arguments += ["--min-leaf", str(min_leaf)] if min_leaf > 1 else []
    arguments += ["--categorical", *table.categorical] if table.categorical else []
    arguments += ["--statistics", *more] if more else []
    coded = [table.tree(tree, labels) for tree in trees]
    text = table.to_csv(more)
    given = check_methods.parser().parse_args(["proof", "table", *arguments])
    try:
        aside = argparse.Namespace(**{**vars(given), "costs": given.statistics})
        read = check.parse_table(text, aside, "the table")
        known, _ = check_methods.methods_of(given, read)
        depth = check.UNLIMITED if max_depth is None else min(max_depth, check.UNLIMITED)
        best, reached, sets = check_methods.prove_front(read.X, known, check.Limits(depth, min_leaf), coded)
    except check.UsageError as error:
        raise InputError("methods", str(error), "give FILE:NAME") from error
    except check.RejectedError as error:
        raise InputError("tree", str(error), "give fewer columns, less depth, or the data of its solve") from error
    if not check_methods.is_proved(known, best, reached):
        raise InputError("tree", f"a tree costs {best[0]!r}, and none given is as good", "give the best trees")
    header = {"trees": coded, "arguments": arguments}
    return to_bytes(header, [], check_methods.MAGIC), text, tuple(arguments), best, sets
