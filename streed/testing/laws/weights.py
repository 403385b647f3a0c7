"""Weights and frequencies: a row counts as often as is said of it, however that is said.

A row of weight w is w equal rows, and so are k equal rows of weight w / k each, whether that is whole or not; a row of
weight 0 adds nothing. So is a row of frequency f.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from hypothesis import strategies as st

from streed.data import Dataset
from streed.data.rows import some_copies, weigh_copies
from streed.errors import InputError
from streed.reference import Evaluation
from streed.task import Totals
from streed.testing.cases import Case, Violation, close, law, show
from streed.tree import Leaf

_WEIGHTS = (1, 2, 0, 3, 0.5, 1000, 0.25)

_PARTS = (1, 2, 4, 5)  # into how many equal rows a row may be cut: weights in parts are short decimals still

_FREQUENCIES = (1, 2, 3, 7)


@law("weights are copies", "contract: statistics", effort=0.6)
def _check_weights(case: Case) -> bool:
    """a row of weight w counts as w equal rows, in parts too."""
    n = case.data.n_rows
    weights = np.array([case.draw(st.sampled_from(_WEIGHTS)) for _ in range(n)], np.float64)
    parts = np.array([case.draw(st.sampled_from(_PARTS)) for _ in range(n)])
    weights[0] = weights[0] or 1.0
    kept = np.flatnonzero(weights)
    if len(np.unique(case.data.class_numbers[kept])) == len(np.unique(case.data.class_numbers)):
        parts[weights == 0] = 0
    origin = np.repeat(np.arange(n), parts)
    one = _weighed(case.data, weights)
    other = _weighed(case.data.subset(origin), (weights / np.maximum(parts, 1))[origin])
    rows = [row for row in case.rows() if weights[row]]
    words = (
        f"weights {weights.tolist()}",
        f"rows {origin.tolist()} of weights {(other.weights, 1)[other.weights is None]}",
    )
    return _compare(case, one, other, rows, np.flatnonzero(np.isin(origin, rows)).tolist(), words, limits=False)


@law("frequencies are copies", "contract: Dataset.frequency", effort=0.6)
def _check_frequencies(case: Case) -> bool:
    """a row of frequency f counts as f equal rows."""
    data = case.data
    copies = np.array([case.draw(st.sampled_from(_FREQUENCIES)) for _ in range(data.n_rows)])
    each = data.weights if data.frequency is None else data.sample_weight
    weights, frequency = weigh_copies(each, copies), some_copies(copies)
    one = attrs.evolve(data, weights=weights, sample_weight=each, frequency=frequency)
    rows = case.rows()
    origin = np.repeat(np.arange(data.n_rows), copies)
    words = f"frequencies {copies.tolist()}", "as many equal rows"
    alike = np.flatnonzero(np.isin(origin, rows)).tolist()
    return _compare(case, one, one.expanded(), rows, alike, words, limits=True)


def _weighed(data: Dataset, weights: Any) -> Dataset:
    """The data with these weights, and without frequencies."""
    given = None if (weights == 1).all() else weights
    return attrs.evolve(data, weights=given, sample_weight=given, frequency=None)


def _compare(
    case: Case,
    one: Dataset,
    other: Dataset,
    rows: Sequence[int],
    alike: Sequence[int],
    words: tuple[str, str],
    *,
    limits: bool,
) -> bool:
    """Whether anything was asked; raises Violation where the task tells one data set from the other.

    The `rows` of one are the rows `alike` of the other.
    """
    if not rows:
        return False
    try:
        first, second = Evaluation(case.given, one), Evaluation(case.given, other)
        s, t = first.state(list(rows)), second.state(list(alike))
        asked: list[tuple[str, Any, Any]] = []
        for k in range(len(first.labels)):
            name = f"leaf_cost(s, {k}) of {case.rows_text(rows)}"
            costs = first.task.leaf_cost(s, k), second.task.leaf_cost(t, k)
            if not _same(*costs):  # in other units, it may be, that the score knows
                costs = _scores(case, costs, (first, second))
            asked.append((name, *costs))
        if case.data.n_columns:
            path = case.draw_path(rows)
            split = case.draw(st.integers(0, case.data.n_columns - 1))
            prices = first.task.branching_cost(s.rows, path, split), second.task.branching_cost(t.rows, path, split)
            asked.append((f"branching_cost(rows, {path}, {split})", *prices))
        if limits:
            pairs = zip(first.task.limits, second.task.limits, strict=True)
            asked += [(f"{a!r}.allows(s)", a.allows(s), b.allows(t)) for a, b in pairs]
        whole = first.cost(Leaf(0, 0, 0)), second.cost(Leaf(0, 0, 0))
        asked.append(("the score of a leaf of all rows", *_scores(case, whole, (first, second))))
    except InputError:  # the task refuses such data
        return False
    for what, a, b in asked:
        if not _same(a, b):
            raise Violation(
                f"{what} depends on how often rows are written" if limits else f"{what} does not count rows by weight",
                (words[0], _text(a)),
                (words[1], _text(b)),
                ("expected", "the same; s.weight is what rows weigh, s.rows how many there are"),
            )
    return True


def _scores(case: Case, values: tuple[Any, Any], on: tuple[Evaluation, Evaluation]) -> tuple[Any, Any]:
    """What a user sees of two values, each on its data."""
    first, second = (case.given.score(x, Totals(case.given, each.data)) for x, each in zip(values, on, strict=True))
    return first, second


def _same(a: Any, b: Any) -> bool:
    return (a is b) if a is None or b is None else close(a, b)


def _text(value: Any) -> str:
    return "None" if value is None else show(value)
