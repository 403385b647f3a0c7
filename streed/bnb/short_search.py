"""Searches that are surely short, of costs per row: one native call from the rows to the measured tree.

What it answers is what `native_search.py` answers, which takes the same steps one by one and is asked for all else:
several threads, limits of memory, values to beat, deep trees, many kinds of rows.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from streed.bnb import entries
from streed.bnb.entries import solve_short
from streed.bnb.procedure import Improvement, Procedure
from streed.bnb.session import cache_bytes, is_short_of
from streed.bnb.short_layout import (
    BASE,
    BRANCH_WORDS,
    COLUMNS,
    COUNTERS,
    DIVISOR,
    DONE,
    HEAD,
    KEY_WORDS,
    LANE,
    LOWER_BOUND,
    NEEDED,
    OTHER_LANE,
    ROOM,
    STATUS,
    TREE_ROWS,
    UPPER_BOUND,
    VISITS,
)
from streed.encoding.certificate import check_claim, check_measured
from streed.encoding.row_costs import RowCosts, category_counts
from streed.encoding.test_costs import CostsOfTests
from streed.exact import Array
from streed.kernels import buffers, kinds
from streed.kernels.counting.groups import MOST_GROUPS
from streed.kernels.counting.multiplicities import MANY_ROWS
from streed.kernels.packed import LANE_TYPES, writable
from streed.kernels.prebuilt.library import Library, library
from streed.kernels.records import INFINITE, LOWEST, SHALLOW
from streed.problem import Outcome, Problem, SearchLimits, Solution, process_memory
from streed.whole_costs import IntegerCosts

_ROOM = 2**20
"""Bytes that a short search is given at first."""

_NARROWEST = 2
"""The bytes of the lanes that are tried first, where work units have to be compiled."""

NO_PRICES: tuple[Array, Array] = (np.zeros(0, np.int64), np.zeros((0, 0), np.int64))
"""Rows pay for no splits."""

_LANES = {np.dtype(each).itemsize: each for each in LANE_TYPES}


def is_surely_short(
    problem: Problem, search_limits: SearchLimits, procedure: Procedure, n_labels: int | None = None
) -> bool:
    """Whether `search_short` is for such a problem, if it is one of costs per row, and ready without compiling.

    `n_labels`: of the costs, where they are not those of the problem's task.
    """
    data, depth = problem.data, problem.max_depth
    if depth is None or depth > SHALLOW or not data.n_columns or data.n_rows >= MANY_ROWS:
        return False
    if data.frequency is not None or search_limits.memory_limit is not None or search_limits.beat is not None:
        return False
    if problem.max_nodes is not None and (data.categorical or problem.max_nodes < 2**depth - 1):
        return False
    if type(procedure) is not Improvement or not solve_short.is_prebuilt:
        return False
    columns = data.n_columns + sum(len(data.column(j).categories) for j in data.categorical)
    # every group of rows begins at a word of its own
    labels = len(problem.task.labels(data)) if n_labels is None else n_labels
    return is_short_of(columns, data.n_rows + 64 * MOST_GROUPS, labels, depth)


def search_short(
    problem: Problem, costs: IntegerCosts, procedure: Procedure, begin: float, tests: CostsOfTests | None = None
) -> Outcome | None:
    """The outcome for a problem that is surely short, whose costs are exact; None for rows of too many kinds.

    `begin` is when its preparation began; `tests` are what rows pay for splits, in the unit of the costs. Raises
    MismatchError if the tree does not cost what the search claimed.
    """
    data, depth = problem.data, problem.max_depth
    kind = kind_of(problem, costs.costs.shape[1]) if tests is None else kinds.TEST_COSTS
    prices = NO_PRICES if tests is None else (tests.full, tests.given)
    codes, categories = writable(data.X), category_counts(problem)
    given = codes, categories, writable(costs.costs), costs.split, *prices, problem.min_leaf, depth
    packed_at = time.perf_counter()
    found = searched(given, kind)
    if found is None:
        return None
    seconds = time.perf_counter() - packed_at
    head, nodes = found[:HEAD].tolist(), found[HEAD:]
    return outcome_of(problem, costs, procedure, head, nodes, packed_at - begin, seconds, tests)


def kind_of(problem: Problem, n_labels: int) -> str:
    """Which work units search a problem of costs for so many labels."""
    is_signed = n_labels == 2 and not problem.data.categorical and problem.min_leaf <= 1
    return kinds.SIGNED if is_signed else kinds.LABELS


def outcome_of(
    problem: Problem,
    costs: IntegerCosts,
    procedure: Procedure,
    head: list[int],
    nodes: Array,
    seconds_setup: float,
    seconds: float,
    tests: CostsOfTests | None = None,
) -> Outcome | None:
    """What the words of a search that is done come to, the first of them and those of its nodes.

    None if they leave a gap. Raises MismatchError if the tree does not cost what the search claimed.
    """
    base, divisor, lower, upper = head[BASE], head[DIVISOR], head[LOWER_BOUND], head[UPPER_BOUND]
    if lower < upper:
        return None
    bound = costs.value(base + divisor * lower) if lower > LOWEST else None
    value = None
    solutions: tuple[Solution, ...] = ()
    if upper < INFINITE:
        total = base + divisor * upper
        value = costs.value(total)
        measured = nodes.reshape(TREE_ROWS, -1).tolist()
        cost, root = check_measured(problem, measured, category_counts(problem), costs.split)
        if tests is not None:
            cost += tests.paid(root)
        check_claim(cost, total, total, complete=True)
        solutions = (Solution(value, root),)
    kind = kind_of(problem, costs.costs.shape[1]) if tests is None else kinds.TEST_COSTS
    stats = {
        **statistics_of(head, procedure, kind),
        "seconds_setup": seconds_setup,
        "seconds_search": seconds,
        "trace": [(seconds, value, bound, head[VISITS])],
        "rounding": 0,
    }
    return Outcome(solutions, bound, None, stats, costs.unit, costs.unit.denominator > 1)


def statistics_of(head: Sequence[int], procedure: Procedure, kind: str) -> dict[str, Any]:
    """What the first words of a search that is done say of it, but for its times."""
    counts = {name: head[place] for name, place in COUNTERS.items()}
    return {
        "search": procedure.name,
        "threads": 1,
        "expansions": counts["expansions"],
        "repeats": counts["repeats"],
        "work_units": counts["units"],
        "pair_passes": counts["pair_passes"],
        "subproblems": counts["node_count"],
        "pruned": counts["pruned"],
        "similar": 0,
        "settled": head[UPPER_BOUND] < INFINITE,
        "evictions": counts["evictions"],
        "cache_bytes": cache_bytes(counts, head[KEY_WORDS], head[BRANCH_WORDS]),
        "peak_bytes": process_memory.peak(),
        "columns": head[COLUMNS],
        "lane": _LANES[head[LANE]].__name__,
        "kernel": kind,
        "nodes": head[VISITS],
        "exact": True,
        "route": RowCosts.route,
    }


def searched(given: tuple[Any, ...], kind: str) -> Array | None:
    """The words of a search, for the first arguments of `solve_short`; None if rows are of too many kinds."""
    buffer = buffers.borrow(_ROOM)
    widest = 0 if solve_short.is_prebuilt else _NARROWEST
    try:
        while True:
            units = units_of(library(), kind, widest)
            found: Array = solve_short(*given, units, buffers.address_of(buffer), len(buffer))
            status, needed = int(found[STATUS]), int(found[NEEDED])
            if status == DONE:
                return found
            if status == OTHER_LANE and needed:
                widest = needed
            elif status == ROOM:
                buffers.give_back(buffer)
                buffer = buffers.borrow(needed)
            else:
                return None
    finally:
        buffers.give_back(buffer)


@functools.cache
def units_of(found: Library | None, kind: str, only: int) -> Array:
    """(3, 5) int64: the addresses of the work units of all lanes, or of those of so many bytes only.

    `found` is the library that they may be from; those that are not in it are compiled.
    """
    units = np.zeros((len(LANE_TYPES), 5), np.int64)
    for place, lane in enumerate(LANE_TYPES):
        if only in (0, np.dtype(lane).itemsize):
            prepare, children = entries.prepare(kind, lane), entries.solve_children(kind, lane)
            units[place] = entries.shallow(), entries.load(), prepare, children, entries.push(lane)
    return units
