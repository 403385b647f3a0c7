"""What is to be proved of a tree, in the words of the checker: its table, its call, and its costs."""

from __future__ import annotations

import argparse
import csv
import io
import itertools
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.data.questions import Questions
from streed.errors import InputError, TaskError
from streed.proof import check
from streed.proof.check import Amount
from streed.task import Task, Totals
from streed.task.analysis.linear_form import row_cost_form
from streed.task.base import objective
from streed.task.bounded_sums import SumTask, exact_costs, row_sum
from streed.task.contract import is_shipped
from streed.task.objective import record_of
from streed.tree import FlatBranch, Leaf, Tree, flatten
from streed.tree.nodes import sides_in
from streed.whole_costs import IntegerCosts

_SCORES = {"F1": "f1", "FBeta": "fbeta", "Jaccard": "jaccard"}
"""The scores that the checker knows by name."""

MOST_CODES = 4096
"""Pairs of codes are summed, so a table of many more is out of reach."""

_TAKEN = ("cost of ", "amount ", "weight", "label")
"""How columns beside the features are named."""


@final
@attrs.frozen(eq=False)
class CodedTable:
    """Columns of codes, a question each, with names that are safe in a file of comma separated values."""

    questions: Questions
    names: list[str]
    classes: list[str]
    """The names of the classes, by their numbers."""

    @classmethod
    def of(cls, data: Dataset) -> CodedTable:
        """The codes of a data set without frequencies; raises InputError where there are too many."""
        asked, names = Questions.of(data), list[str]()
        codes = int(asked.data.X.max(axis=0, initial=0).sum(dtype=np.int64)) + len(asked.column)
        if codes > MOST_CODES:
            found = f"{codes} codes and questions, and proofs are about {MOST_CODES} at most"
            raise InputError("X", found, "give max_cuts, or fewer columns")
        for q, column in enumerate(asked.column.tolist()):
            number = q - int(np.searchsorted(asked.column, column))
            names.append(data.names[column] + (f" {number}" if column in data.ordered else ""))
        return cls(asked, _safe(names), _safe([str(label) for label in data.classes], columns=False))

    def to_csv(self, more: Mapping[str, Sequence[Any]]) -> bytes:
        """The table as UTF-8 text: the codes, further columns, and the target last, as the checker expects it."""
        text, data = io.StringIO(), self.questions.data
        labels = [self.classes[k] for k in data.class_numbers.tolist()]
        rows = [(*self.names, *more, "label"), *zip(*data.X.T.tolist(), *more.values(), labels, strict=True)]
        csv.writer(text, lineterminator="\n").writerows(rows)
        return text.getvalue().encode()

    def names_of(self, column: int) -> list[str]:
        """The columns of codes that stand for a column of the data."""
        return [self.names[q] for q in np.flatnonzero(self.questions.column == column).tolist()]

    def tree(self, tree: Tree, labels: Sequence[str]) -> dict[str, Any]:
        """The tree as a proof has it; `labels` by the number of a leaf's label."""
        flat = flatten(tree.root)
        made: list[dict[str, Any]] = [{} for _ in flat]
        for place, node in reversed(list(enumerate(flat))):
            if isinstance(node, Leaf):
                made[place] = {"label": labels[node.label]}
                continue
            column, codes = self._asked_by(node)
            children = {str(code): made[child] for code, child in zip(codes, node.children, strict=True)}
            made[place] = {"column": column, "children": children}
        return made[0]

    def _asked_by(self, node: FlatBranch) -> tuple[int, list[int]]:
        """The column of codes that a branch asks for, and the code of each of its children."""
        source = self.questions.source
        if node.column >= source.n_columns:
            raise InputError("tree", f"it splits column {node.column}, which the data lack", "give its own data")
        if node.cut is None:
            return int(np.searchsorted(self.questions.column, node.column)), list(range(len(node.children)))
        sides = sides_in(source, node, np.arange(source.n_rows))
        for question in np.flatnonzero(self.questions.column == node.column).tolist():
            if np.array_equal(self.questions.data.X[:, question], sides):
                return question, [0, 1]
        raise InputError("tree", "it splits a column in a way that no question of the data does", "give its own data")


def _safe(names: list[str], *, columns: bool = True) -> list[str]:
    """Different names of visible characters without quotes; of columns, none that reads as an option of a call."""
    made: dict[str, None] = {}
    for place, name in enumerate(names):
        is_plain = bool(name) and name == name.strip() and name.isprintable() and not set(name) & set("\"'")
        is_plain = is_plain and not (columns and name.startswith("-"))
        wanted = name if is_plain else f"{'column' if columns else 'class'} {place}"
        wanted += "_" if columns and wanted.startswith(_TAKEN) else ""
        while wanted in made:
            wanted += "_"
        made[wanted] = None
    return list(made)


@final
@attrs.frozen(eq=False)
class Statement:
    """What is to be proved of any tree for a task and limits."""

    coded: CodedTable
    limits: check.Limits
    arguments: tuple[str, ...]
    """Of the checker: the task and the limits."""
    labels: tuple[str, ...]
    """The names of the labels."""
    text: bytes
    """The table, as comma separated values."""
    given: argparse.Namespace
    table: check.Table
    amounts: tuple[Amount, ...]
    """The call, the table and the limited sums as the checker reads them."""

    @classmethod
    def of(cls, task: Task, data: Dataset, max_depth: int | None, min_leaf: int, max_nodes: int | None) -> Statement:
        """That no tree within the limits is better.

        Raises TaskError for tasks of which no proof can be made, InputError for numbers that are too fine.
        """
        data = data.expanded() if data.frequency is not None else data
        bound = task.bind(data)
        min_leaf = max([min_leaf, *(limit.support for limit in bound.limits if limit.support is not None)])
        coded = CodedTable.of(data)
        amounts = _amounts(bound, data)
        labels, more, words = _objective(task, bound, data, coded, limited=bool(amounts))
        for number, amount in enumerate(amounts):
            if amount.of_split:
                if amount.of_rows.any() or amount.most is None:
                    raise TaskError("limit: there are no proofs of limits on sums of rows and splits together")
                splits = amount.most // amount.of_split
                max_nodes = splits if max_nodes is None else min(splits, max_nodes)
                continue
            names = [f"amount {number} of {k}" for k in range(len(labels))]
            more |= {name: amount.of_rows[:, k].tolist() for k, name in enumerate(names)}
            ends = ["-" if end is None else str(end) for end in (amount.least, amount.most)]
            words += ["--amounts", *names, "--between", *ends]
        arguments = ["--no-limit"] if max_depth is None else ["--max-depth", str(max_depth)]
        arguments += ["--max-nodes", str(max_nodes)] if max_nodes is not None else []
        arguments += ["--min-leaf", str(min_leaf)] if min_leaf > 1 else []
        wide = coded.questions.data.X.max(axis=0, initial=0) > 1
        arguments += ["--categorical", *itertools.compress(coded.names, wide)] if wide.any() else []
        limits = check.Limits(check.UNLIMITED if max_depth is None else min(max_depth, check.UNLIMITED), min_leaf)
        text, given = coded.to_csv(more), check.parser().parse_args(["proof", "table", *arguments, *words])
        table = check.parse_table(text, given, "the table")
        read = text, given, table, tuple(check.amounts_of(given, table))
        made = cls(coded, limits, (*arguments, *words), tuple(labels), *read)
        # so that numbers that are too fine are refused before anything is searched
        made._goal((np.zeros(data.n_rows, np.int64), []))
        return made

    def claim(self, tree: Tree) -> tuple[dict[str, Any], check.Goal]:
        """A tree as a proof has it, and what is to be proved of it.

        Raises InputError for one that is not of these data or limits.
        """
        coded = self.coded.tree(tree, list(self.labels))
        try:
            followed = check.follow(coded, self.table, self.limits, self.amounts)
        except check.RejectedError as error:
            found = f"on this data and within these limits: {error}"
            raise InputError("tree", found, "give those of its solve") from error
        return coded, self._goal(followed)

    def _goal(self, tree: check.Tree) -> check.Goal:
        """The costs; raises InputError for numbers that the checker could not sum exactly."""
        try:
            goal = check.goal_of(self.given, self.table, tree)
            check.Sums(self.table.X, goal.costs, self.limits, self.amounts, [Fraction(0)] * len(self.amounts))
        except (check.UsageError, check.RejectedError) as error:
            raise InputError("costs", str(error), "give numbers of fewer digits") from error
        return goal


_TOO_FINE = (
    "costs",
    "with the weights of rows and classes, they are too fine for whole numbers",
    'round costs and weights to fewer digits (those that class_weight="balanced" makes cannot be proved)',
)

_Words = tuple[list[str], dict[str, Sequence[Any]], list[str]]
"""Names of labels, columns of the table, and arguments of the checker."""


def _objective(task: Task, bound: Task, data: Dataset, coded: CodedTable, *, limited: bool) -> _Words:
    """The objective in the checker's words."""
    rated = record_of(bound).parts[0] if limited else bound
    form = row_cost_form(rated, data)
    if form is not None:
        return _of_costs(exact_costs(form, data), coded)
    inner = objective(rated)
    if type(inner).__name__ == "CostSensitive" and is_shipped(inner):
        return _of_tests(inner, data, coded)
    is_score = is_shipped(rated) and type(rated).__name__ in _SCORES
    if is_score and isinstance(rated, SumTask) and rated.fraction(Totals(rated, data)) is not None:
        return _of_score(rated, coded)
    taken = (
        "costs per row and label with prices of splits or tests, and F1, F-beta and Jaccard, under limits on sums too"
    )
    raise TaskError(f"{task!r}: there are proofs of {taken}; not of this task")


def _amounts(task: Task, data: Dataset) -> list[Amount]:
    """The sums over rows and nodes that a bound task keeps in intervals."""
    record = record_of(task)
    found = [*record.intervals, *(row_sum(part, data, most) for part, most in record.limited)]
    if record.gaps or (found and getattr(record.parts[0], "price", None) is not None):
        raise TaskError(f"{task!r}: there are no proofs of fronts, or of scores with a price under limits on sums")
    made = []
    for each in found:
        if each is None:
            raise TaskError(f"{task!r}: there are proofs of limits on sums over rows and splits only")
        if each.costs.dtype == object:
            raise InputError(*_TOO_FINE)
        made.append(Amount(each.by_row, each.split, None if each.split else each.least, each.most))
    return made


def _exact(costs: IntegerCosts) -> IntegerCosts:
    if costs.wide is not None:
        raise InputError(*_TOO_FINE)
    return costs


def _of_costs(costs: IntegerCosts, coded: CodedTable) -> _Words:
    source = coded.questions.source
    wrong = source.rows_of_classes(1 - np.eye(len(source.classes), dtype=np.int64))
    each, price = int(_exact(costs).costs.max(initial=0)), Fraction(costs.split)
    if source.sample_weight is None and each > 0 and np.array_equal(costs.costs, each * wrong):
        return coded.classes, {}, ["--price", str(price / each)] if price else []
    more = _columns(costs)
    return list(more), more, ["--task", "costs", "--price", str(price * costs.unit), "--costs", *more]


def _columns(costs: IntegerCosts) -> dict[str, Sequence[Any]]:
    """What each label costs, as columns of the table."""
    known = {x: str(x * costs.unit) for x in np.unique(costs.costs).tolist()}
    return {f"cost of {k}": [known[x] for x in of_label] for k, of_label in enumerate(costs.costs.T.tolist())}


def _of_tests(task: Any, data: Dataset, coded: CodedTable) -> _Words:
    """The costs of labels, and what tests cost a row."""
    more = _columns(_exact(exact_costs(task.row_task(data), data)))
    words = ["--task", "costs", "--costs", *more]
    owner = task.costs.feature_of(dict(enumerate(data.names)), data.n_columns)
    for number, (test, group) in enumerate(zip(task.costs.tests, task.costs.group_of(), strict=True)):
        names = [name for j, each in enumerate(owner) if each == number for name in coded.names_of(j)]
        if test.cost and names:
            words += ["--test", str(test.cost), str(test.discounted), str(group), *names]
    return list(more), more, words


def _of_score(task: SumTask, coded: CodedTable) -> _Words:
    source, classes = coded.questions.source, coded.classes
    positive = getattr(task, "positive", None)
    number = 1 if positive is None else list(source.classes).index(positive)
    words = ["--task", _SCORES[type(task).__name__], f"--positive={classes[number]}"]
    if hasattr(task, "beta"):
        words += ["--beta", str(Fraction(str(task.beta)))]
    if source.sample_weight is None:
        return classes, {}, words
    each = [str(Fraction(w)) if isinstance(w, int) else repr(w) for w in source.sample_weight.tolist()]
    return classes, {"weight": each}, [*words, "--weights", "weight"]
