"""What is to be proved of a tree, in the words of the checker: its table, its call, and its costs."""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.data.database import MOMENTS
from streed.errors import InputError, TaskError
from streed.exact import Array, exact_number
from streed.proof import check, check_limits, check_squares
from streed.proof.check_limits import Amount
from streed.proof.coded import CodedTable
from streed.task import Task, Totals
from streed.task.analysis.exact_costs import exact_costs
from streed.task.analysis.linear_form import row_cost_form
from streed.task.bounded_sums import integer_weights
from streed.task.constrained import objective
from streed.task.contract import is_shipped
from streed.task.sums import SumTask
from streed.tree import Tree
from streed.whole_costs import IntegerCosts

_SCORES = {"F1": "f1", "FBeta": "fbeta", "Jaccard": "jaccard"}
"""The scores that the checker knows by name."""

SQUARES = "squared-error"
"""The task of `check_squares.py`."""


@attrs.frozen(eq=False)
class AnyClaim:
    """A statement that a checker can prove."""

    table: bytes
    """The table of codes, as comma separated values."""
    arguments: tuple[str, ...]
    """Of the checker: the task and the limits."""
    X: Array
    """(n, p) uint8: the codes of the features."""
    tree: dict[str, Any]
    """As the header of a proof has it."""
    limits: check.Limits


@final
@attrs.frozen(eq=False)
class SquaresClaim(AnyClaim):
    """One about squared errors; `check_squares.py` is the checker."""

    goal: check_squares.Goal


@final
@attrs.frozen(eq=False)
class ProofClaim(AnyClaim):
    """One about costs per row and label."""

    goal: check.Goal
    amounts: tuple[Amount, ...]
    """The sums that limits keep in intervals; with any, `check_limits.py` is the checker."""

    @property
    def reached(self) -> int:
        """What the tree costs, in whole units."""
        return int(self.goal.reached / self.goal.costs.unit)


@final
@attrs.frozen(eq=False)
class Statement:
    """What is to be proved of any tree for a task and limits."""

    table: CodedTable
    limits: check.Limits
    arguments: tuple[str, ...]
    """Of the checker: the task and the limits."""
    shown: tuple[str, ...]
    """The names of the labels."""
    more: dict[str, Sequence[Any]]
    """Columns of the table beside the features and the target."""
    aside: tuple[str, ...]
    """Those of limited sums."""

    @classmethod
    def of(cls, task: Task, data: Dataset, max_depth: int | None, min_leaf: int, max_nodes: int | None) -> Statement:
        """That no tree within the limits is better.

        Raises TaskError for tasks of which no proof can be made yet, InputError for numbers that are too fine.
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
        amounts = _amounts(bound, data)
        shown, more, words = _objective(task, bound, data, table, limited=bool(amounts))
        arguments += words
        aside: list[str] = []
        for number, amount in enumerate(amounts):
            if amount.of_split:
                if amount.of_rows.any() or amount.most is None:
                    raise TaskError("limit: there are no proofs of limits on sums of rows and splits together")
                splits = amount.most // amount.of_split
                max_nodes = splits if max_nodes is None else min(splits, max_nodes)
                continue
            names = [f"amount {number} of {k}" for k in range(len(shown))]
            more |= {name: amount.of_rows[:, k].tolist() for k, name in enumerate(names)}
            ends = ["-" if end is None else str(end) for end in (amount.least, amount.most)]
            arguments += ["--amounts", *names, "--between", *ends]
            aside += names
        if max_nodes is not None and SQUARES in words:
            raise TaskError(f"{task!r}: there are no proofs of squared errors under a limit on nodes")
        if max_nodes is not None:
            arguments += ["--max-nodes", str(max_nodes)]
        made = cls(table, limits, tuple(arguments), tuple(shown), more, tuple(aside))
        if about_squares(arguments) and data.size >= min_leaf:
            made._claim({"label": "0"})  # so that numbers that are too fine are refused before anything is searched
        return made

    def claim(self, tree: Tree) -> ProofClaim | SquaresClaim:
        """That the tree is the best one, with costs and cost as the checker finds them in the written table."""
        return self._claim(self.table.tree(tree, list(self.shown)))

    def _claim(self, coded: dict[str, Any]) -> ProofClaim | SquaresClaim:
        table, limits, shown = self.table, self.limits, list(self.shown)
        text = table.to_csv(self.more)
        squares = about_squares(self.arguments)
        given = (check_squares if squares else check_limits).parser().parse_args(["proof", "table", *self.arguments])
        aside = argparse.Namespace(**{**vars(given), "costs": [*given.costs, *self.aside]})
        amounts: list[Amount] = []
        try:
            read = check.parse_table(text, aside, "the table")
            if squares:
                squared = check_squares.goal_of(given, read, limits, coded)
                check_squares.SquaredSums(read.X, squared, limits)
                return SquaresClaim(text, self.arguments, read.X, coded, limits, squared)
            goal = check.goal_of(given, read, limits, coded)
            if given.amounts or given.max_nodes is not None:
                amounts = check_limits.amounts_of(given, read, len(shown))
                labels = shown if given.task == "costs" else read.labels
                check_limits.check_amounts(amounts, *check.follow(coded, read.X, labels, limits))
        except check.RejectedError as error:
            found = f"on this data and within these limits: {error}"
            raise InputError("tree", found, "give those of its solve") from error
        except check.UsageError as error:
            raise InputError("costs", str(error), "give numbers of fewer digits") from error
        return ProofClaim(text, self.arguments, read.X, coded, limits, goal, tuple(amounts))


def about_squares(arguments: Sequence[str]) -> bool:
    """Whether the arguments of a checker are about squared errors."""
    given = list(arguments)
    return f"--task={SQUARES}" in given or ("--task", SQUARES) in itertools.pairwise(given)


_Words = tuple[list[str], dict[str, Sequence[Any]], list[str]]
"""Names of labels, columns of the table, and arguments of the checker."""


def _objective(task: Task, bound: Task, data: Dataset, table: CodedTable, *, limited: bool) -> _Words:
    """The objective in the checker's words."""
    rated = objective(bound).vector_form.objective if limited else bound
    if limited and objective(bound).value_limits:
        parts = objective(bound).value_parts
        assert parts is not None
        rated = parts[0]
    form = row_cost_form(rated, data)
    if form is not None:
        return _of_costs(exact_costs(form, data), table)
    if (
        isinstance(rated, SumTask)
        and is_shipped(rated)
        and type(rated).__name__ in _SCORES
        and rated.fraction(Totals(rated, data)) is not None
    ):
        return _of_score(rated, table)
    own = objective(task)
    if type(own).__name__ == "SquaredError" and is_shipped(own) and not limited and MOMENTS not in data.summed:
        return _of_squares(own, table)
    raise TaskError(
        f"{task!r}: there are proofs of costs per row and label with a price per split, and of F1, F-beta and Jaccard, "
        "with limits on sums, and of squared errors without; not of this task"
    )


def _amounts(task: Task, data: Dataset) -> list[Amount]:
    """The sums over rows and nodes that a bound task keeps in intervals."""
    inner = objective(task)
    form = inner.vector_form
    weights, _ = integer_weights(data)
    each = 1 if weights is None else weights[:, None]
    made = [Amount(np.asarray(s.costs * each), s.split, None if s.split else s.least, s.most) for s in form.intervals]
    if form.gaps or (form.price is not None and made):
        raise TaskError(f"{task!r}: there are no proofs of fronts, or of scores with a price under limits on sums")
    parts = inner.value_parts or ()
    for part, most in inner.value_limits:
        shape = row_cost_form(part, data)
        if shape is None or not parts:
            raise TaskError(f"{task!r}: there are proofs of limits on sums over rows and splits only")
        costs = exact_costs(shape, data)
        if not costs.exact:
            raise InputError("costs", "they are too fine for whole numbers", "round them to fewer digits")
        made.append(Amount(costs.costs, costs.split, None, math.floor(Fraction(exact_number(most)) / costs.unit)))
    return made


def _of_costs(costs: IntegerCosts, table: CodedTable) -> _Words:
    if not costs.exact:
        raise InputError("costs", "they are too fine for whole numbers", "round them to fewer digits")
    source = table.source
    of_class = np.arange(len(source.classes))
    wrong = (source.class_numbers[:, None] != of_class).astype(np.int64)
    each = int(costs.costs.max(initial=0))
    price = Fraction(costs.split)
    if (
        source.sample_weight is None
        and costs.costs.shape == wrong.shape
        and each > 0
        and (costs.costs == each * wrong).all()
    ):
        return _classes(table), {}, ["--task", "accuracy", "--price", str(price / each)]
    shown = [f"cost of {k}" for k in range(costs.costs.shape[1])]
    more = {name: costs.costs[:, k].tolist() for k, name in enumerate(shown)}
    return shown, more, ["--task", "costs", "--price", str(price), "--costs", *shown]


def _of_score(task: SumTask, table: CodedTable) -> _Words:
    source = table.source
    classes = _classes(table)
    positive = getattr(task, "positive", None)
    number = 1 if positive is None else list(source.classes).index(positive)
    words = ["--task", _SCORES[type(task).__name__], f"--positive={classes[number]}"]
    if hasattr(task, "beta"):
        words += ["--beta", str(Fraction(str(task.beta)))]
    more, weighted = _weights(source)
    return classes, more, [*words, *weighted]


def _of_squares(task: Any, table: CodedTable) -> _Words:
    words = ["--task", SQUARES, "--price", str(Fraction(exact_number(task.cost_complexity)))]
    words += ["--normalized"] if task.normalized else []
    more, weighted = _weights(table.source)
    return [], more, [*words, *weighted]


def _weights(source: Dataset) -> tuple[dict[str, Any], list[str]]:
    """The column of the weights, and what the checker is told of it."""
    if source.sample_weight is None:
        return {}, []
    each = [str(Fraction(w)) if isinstance(w, int) else repr(w) for w in source.sample_weight.tolist()]
    return {"weight": each}, ["--weights", "weight"]


def _classes(table: CodedTable) -> list[str]:
    """The names of the classes by their numbers."""
    first = np.unique(table.source.class_numbers, return_index=True)[1]
    return [table.labels[row] for row in first.tolist()]
