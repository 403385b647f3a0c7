"""What is to be proved of a tree, in the words of the checker: its table, its call, and its costs."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.errors import InputError, TaskError
from streed.exact import Array, IntegerCosts
from streed.proof import check
from streed.proof.coded import CodedTable
from streed.task import Task, Totals
from streed.task.analysis.exact_costs import exact_costs
from streed.task.analysis.linear_form import row_cost_form
from streed.task.contract import is_shipped
from streed.task.sums import SumTask
from streed.tree import Tree

_SCORES = {"F1": "f1", "FBeta": "fbeta", "Jaccard": "jaccard"}
"""The scores that the checker knows by name."""


@final
@attrs.frozen(eq=False)
class ProofClaim:
    """A statement that a checker can prove."""

    table: bytes
    """The table of codes, as comma separated values."""
    arguments: tuple[str, ...]
    """Of the checker: the task and the limits."""
    X: Array
    """(n, p) uint8: the codes of the features."""
    goal: check.Goal
    tree: dict[str, Any]
    """As the header of a proof has it."""
    limits: check.Limits


def claim_of(
    tree: Tree, task: Task, data: Dataset, max_depth: int | None, min_leaf: int, labels: Sequence[Any]
) -> ProofClaim:
    """The claim that no tree within the limits is better; `labels` are the tree's.

    Raises TaskError for tasks of which no proof can be made yet, InputError for numbers that are too fine or too large.
    """
    data = data.expanded() if data.frequency is not None else data
    bound = task.bind(data)
    supports = [limit.support for limit in bound.limits if limit.support is not None]
    min_leaf = max([min_leaf, *supports])
    table = CodedTable.of(data)
    limits = check.Limits(check.UNLIMITED if max_depth is None else min(max_depth, check.UNLIMITED), min_leaf)
    arguments = [f"--target={table.target}"]
    arguments += ["--no-limit"] if max_depth is None else ["--max-depth", str(max_depth)]
    arguments += ["--min-leaf", str(min_leaf)] if min_leaf > 1 else []
    arguments += ["--categorical", *table.categorical] if table.categorical else []
    form = row_cost_form(bound, data)
    if form is not None:
        return _of_costs(exact_costs(form, data), table, tree, bound, limits, arguments)
    if (
        isinstance(bound, SumTask)
        and is_shipped(bound)
        and type(bound).__name__ in _SCORES
        and bound.fraction(Totals(task, data)) is not None
    ):
        return _of_score(bound, table, tree, limits, arguments)
    raise TaskError(
        f"{task!r}: there are proofs of costs per row and label with a price per split, and of F1, F-beta and Jaccard; "
        "not of this task"
    )


def _of_costs(
    costs: IntegerCosts, table: CodedTable, tree: Tree, task: Task, limits: check.Limits, arguments: list[str]
) -> ProofClaim:
    if not costs.exact:
        raise InputError("costs", "they are too fine for whole numbers", "round them to fewer digits")
    source = table.source
    of_class = np.arange(len(source.classes))
    wrong = (source.y[:, None] != of_class).astype(np.int64)
    each = int(costs.costs.max(initial=0))
    price = Fraction(costs.split)
    if (
        source.sample_weight is None
        and costs.costs.shape == wrong.shape
        and each > 0
        and (costs.costs == each * wrong).all()
    ):
        arguments += ["--task", "accuracy", "--price", str(price / each)]
        shown, more = _classes(table), {}
    else:
        shown = [f"cost of {k}" for k in range(costs.costs.shape[1])]
        more = {name: costs.costs[:, k].tolist() for k, name in enumerate(shown)}
        arguments += ["--task", "costs", "--price", str(price), "--costs", *shown]
    return _claim(table, tree, shown, more, limits, arguments)


def _of_score(task: SumTask, table: CodedTable, tree: Tree, limits: check.Limits, arguments: list[str]) -> ProofClaim:
    source = table.source
    classes = _classes(table)
    positive = getattr(task, "positive", None)
    number = 1 if positive is None else list(source.classes).index(positive)
    arguments += ["--task", _SCORES[type(task).__name__], f"--positive={classes[number]}"]
    if hasattr(task, "beta"):
        arguments += ["--beta", str(Fraction(str(task.beta)))]
    more: dict[str, Any] = {}
    if source.sample_weight is not None:
        more["weight"] = [str(Fraction(w)) if isinstance(w, int) else repr(w) for w in source.sample_weight.tolist()]
        arguments += ["--weights", "weight"]
    return _claim(table, tree, classes, more, limits, arguments)


def _classes(table: CodedTable) -> list[str]:
    """The names of the classes by their numbers."""
    first = np.unique(table.source.y, return_index=True)[1]
    return [table.labels[row] for row in first.tolist()]


def _claim(
    table: CodedTable,
    tree: Tree,
    shown: Sequence[str],
    more: dict[str, Any],
    limits: check.Limits,
    arguments: list[str],
) -> ProofClaim:
    """The claim, with costs and cost of the tree as the checker finds them in the written table."""
    text = table.to_csv(more)
    given = check.parse(["proof", "table", *arguments])
    read = check.parse_table(text, given, "the table")
    coded = table.tree(tree, shown)
    try:
        goal = check.goal_of(given, read, limits, coded)
    except check.RejectedError as error:
        raise InputError("tree", f"on this data and within these limits: {error}", "give those of its solve") from error
    except check.UsageError as error:
        raise InputError("costs", str(error), "give numbers of fewer digits") from error
    return ProofClaim(text, tuple(arguments), read.X, goal, coded, limits)
