"""Many short searches at once: those of a list of problems, by a native call for many of them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import attrs
import numpy as np

from streed.bnb.entries import solve_short_each
from streed.bnb.procedure import Procedure
from streed.bnb.session import most_seconds
from streed.bnb.short_layout import DONE, HEAD, NODES_OF_TREE, STATUS, TREE_ROWS
from streed.bnb.short_search import is_surely_short, outcome_of, units_of
from streed.encoding.row_costs import row_costs_of
from streed.exact import Array
from streed.kernels import buffers, kinds
from streed.kernels.prebuilt.library import library
from streed.kernels.records import SHALLOW
from streed.problem import Outcome, Problem, SearchLimits
from streed.whole_costs import IntegerCosts

_MOST = 0.25
"""Seconds that a call takes at most, as it cannot be interrupted."""

_ROOM = 2**22
"""Bytes for a search; one that needs more is not done here."""

_WORDS = HEAD + TREE_ROWS * (2 ** (SHALLOW + 1) - 1)
"""Of the answer to a search without categorical columns."""


@attrs.frozen(eq=False)
class Posed:
    """A problem of costs per row, and when its preparation began."""

    problem: Problem
    costs: IntegerCosts
    begin: float

    @property
    def limits(self) -> tuple[int, int]:
        """(rows that a leaf needs, levels of the tree at most)."""
        assert self.problem.max_depth is not None
        return self.problem.min_leaf, self.problem.max_depth

    @property
    def seconds(self) -> float:
        """How long its search takes at most."""
        data = self.problem.data
        return most_seconds(data.n_columns, 2 * data.n_rows, self.costs.costs.shape[1], self.limits[1])


def posed(problem: Problem, procedure: Procedure, begin: float) -> Posed | None:
    """The problem for `search_each`; None if it is to be searched alone."""
    if problem.data.categorical or not solve_short_each.is_prebuilt:
        return None
    if not is_surely_short(problem, SearchLimits(), procedure):
        return None
    costs = row_costs_of(problem)
    return None if costs is None or not costs.exact else Posed(problem, costs, begin)


def search_each(problems: Sequence[Posed], procedure: Procedure) -> list[Outcome | None]:
    """The outcomes of the problems; None for one that is to be searched alone."""
    found: list[Outcome | None] = []
    for some in _in_calls(problems):
        begin = time.perf_counter()
        words = _searched(some)
        seconds = (time.perf_counter() - begin) / len(some)
        for each, own in zip(some, words, strict=True):
            head = own[:HEAD].tolist()
            outcome = None
            if head[STATUS] == DONE:
                nodes = own[HEAD : HEAD + TREE_ROWS * head[NODES_OF_TREE]]
                outcome = outcome_of(each.problem, each.costs, procedure, head, nodes, begin - each.begin, seconds)
            found.append(outcome)
    return found


def _in_calls(problems: Sequence[Posed]) -> Iterator[list[Posed]]:
    """The problems, as many at a time as one call may take."""
    some: list[Posed] = []
    taken = 0.0
    for each in problems:
        if some and (each.limits != some[0].limits or taken + each.seconds > _MOST):
            yield some
            some, taken = [], 0.0
        some.append(each)
        taken += each.seconds
    if some:
        yield some


def _searched(problems: Sequence[Posed]) -> Array:
    """(B, words) int64: the answers to the problems."""
    given = [each.problem.data.X for each in problems]
    costs = [each.costs.costs for each in problems]
    shapes = np.array([(*X.shape, each.shape[1]) for X, each in zip(given, costs, strict=True)], np.int64)
    splits = np.array([each.costs.split for each in problems], np.int64)
    units = np.stack([units_of(library(), kind, 0) for kind in (kinds.SIGNED, kinds.LABELS)])
    found = np.zeros((len(problems), _WORDS), np.int64)
    codes = np.concatenate([X.ravel() for X in given])
    all_costs = np.concatenate([each.ravel() for each in costs])
    buffer = buffers.borrow(_ROOM)
    try:
        room = buffers.address_of(buffer), len(buffer)
        solve_short_each(codes, all_costs, shapes, splits, *problems[0].limits, units, *room, found)
    finally:
        buffers.give_back(buffer)
    return found
