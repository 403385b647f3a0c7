"""What the native functions of the search over thresholds share: one record of sizes, addresses, questions and answers.

n are the rows of a node and F its ordered columns, those in which its rows differ; categorical ones, if any, follow
them, in the order of their codes. A node is described by its *orders*:
uint32 (F, n + 1), for each column the rows (by their numbers in the whole problem) from the least value to the largest.
The highest bit of an entry (`NEW`) says that its value is larger than that of the entry before. A *position* p stands
for the split after the first p rows of an order, 0 < p < n; it can be chosen where entry p is NEW.
"""

from __future__ import annotations

import numpy as np
from numba import int64, uint32

from streed.exact import Array
from streed.kernels import views
from streed.kernels.views import RecordType, matrix, native, vector

NEW = 1 << 31
"""The bit of an entry of an order whose value is larger than that of the entry before."""

ROW = NEW - 1
"""The other bits: the row."""

SPLITS = 32
"""Splits that are scored at once: as many as a vector has lanes."""

INFEASIBLE = 2**60
"""What a tree costs that is not allowed; above every cost, and the sum of four of them fits int64."""

UNLIMITED = 2**40
"""Any number of splits."""

DEEP = 30
"""Depths from which on a number of splits is never as good as any."""

WORDS = 3
"""Of an entry of a plan."""

KEY, COLUMN, BEGIN, END, BEGIN_LEFT, BEGIN_RIGHT, END_LEFT, END_RIGHT = range(8)
"""Words of an interval of thresholds: its bound, its column, its ends (0 and n: no threshold), L and R at both ends."""

INTERVAL = 8

MOST_PRICES = 64
"""Prices of splits that a tree may cost whose optimality is proved from below."""

SIZES = (
    "rows",  # N, of the whole problem
    "columns",  # of the whole problem: ordered ones, then categorical ones
    "ordered",  # how many of them are ordered
    "labels",  # K
    "most_children",  # of a branching node
)

FACTS = (
    "split_cost",  # of one branching node
    "min_leaf",  # rows that a leaf needs
    "restrictable",  # 1: a tree stays feasible on fewer rows, so its cost bounds that of subsets
    "relaxing",  # 1: it does not, and what trees with leaves of any size cost is found first, as a bound
    "relaxed",  # 1: that is what is being found
    "bounded",  # 1: `worst` says by how much a row can raise the cost of a tree
    "uniform",  # what every row's worst cost is, if it is the same for all, else 0
    "least",  # no tree for any rows costs less
    "whole",  # 1: costs are whole numbers; else those that kernels give are rounded down, and worst costs up
)

ADDRESSES = (
    "ranks",  # int32 (columns, N): each row's place among the distinct values of the column
    "worst",  # int64 (N): what a row adds at most to the cost of a tree that it is put into
    "frequency",  # lane (N, 1): how many rows a row stands for, read if min_leaf > 1
    "amounts",  # lane (N, numbers of a row): what the scoring kernel adds up
    "label_of",  # int32 (N), of costs of a single label
    "control",  # int64: shared with the caller's thread, see stopping.py
    "mask",  # uint32 (N): bit l of a row's word says whether it is left of split l
    "scratch",  # lane: for the scoring kernel
    "prefix",  # int64 (columns, N + 1): worst costs of the first rows of each order, for depth two
    "heap",  # int64 (heap_space, INTERVAL): the open intervals of depth two
    "arena",  # uint8: what nodes need while they are searched
    "score",  # the kernel that scores splits
    "shallow",  # the kernel that solves nodes to depth two
    "deep",  # the one that solves any
    "stump",  # a generated kernel that finds the best split of a node by itself; 0 if costs are those of rows
    "copies",  # int64 (N): how many rows a row stands for, read with `leaf_costs` if min_leaf > 1
    "numbers",  # of a generated kernel: its parameters
    "leaf_costs",  # int64 (N, labels): of a row in a leaf of each label; 0 if costs are made otherwise
    "cache",  # int64: what is known of row sets; 0 if nothing is kept
    "cache_table",  # int64: where in the cache, by hash
    "cache_key",  # int64 (columns + 1): of the row set that is asked for
    "orders",  # of all rows
    "ids",  # int64 (columns): of all columns
    "gains",  # int64 (N): what a row adds to the cost of a tree if it goes left
    "grown",  # int64: the pool of the trees that are grown beside the search; 0 if there are none
    "improve",  # the kernel that grows them
)

SPACES = (
    "heap_space",
    "heap_size",  # intervals in it
    "arena_space",  # bytes
    "arena_used",
    "scratch_space",  # vectors
    "cache_space",  # words
    "cache_used",
    "cache_places",  # of the table, a power of two
    "cache_entries",
    "grown_space",  # words of the pool
    "grown_used",
)

QUESTION = (
    "asked_orders",
    "asked_rows",  # n
    "asked_columns",  # F, the ordered ones
    "asked_categories",  # categorical columns, whose orders follow those of the F
    "asked_fan",  # the categorical column (of the node) whose values 32 splits tell apart; -1: splits are of thresholds
    "asked_first",  # the first of its values in the node, by number, that has a split
    "asked_splits",  # how many of the following count
    "split_columns",  # int64 (SPLITS): the column of each split, in columns of the node
    "split_positions",  # int64 (SPLITS): its position
    # of the kernel of depth two
    "node_orders",  # the address of the orders of a node
    "node_rows",
    "node_columns",
    "node_ids",  # the address of what columns they are
    "node_depth",
    "node_splits",
    "node_budget",
    "node_lower",
    "node_plan",  # the address of its plan
    "node_plan_size",
    # of the kernel that grows trees
    "depth",  # of the trees
    "most_splits",
)

ANSWER = (
    "leaf_left",  # int64 (SPLITS): what a leaf for the rows left of the split costs
    "leaf_right",
    "stump_left",  # int64 (SPLITS): what a tree of one split for them costs, without the cost of its branching node
    "stump_right",
    "found_leaf",  # what a leaf for all rows costs
    "found_cost",  # what the best single split costs, likewise
    "found_column",  # in columns of the node, -1 for none
    "found_position",
    "node_upper",  # what it costs, beside `node_lower`
    "two_upper",  # of depth two: what the best tree costs
    "two_pruned",  # and the least bound of what was left out
    "incumbent",  # what the best tree that was grown costs
    "tree",  # where in the pool it is
)

COUNTERS = (
    "work",  # rows of batches, in all columns
    "turn",  # of which the grown trees have their next turn,
    "turn_work",  # how much it takes,
    "pause",  # at which work a change of a grown tree is given up
    "patience",  # and how many times as much the search has in between
    "draws",  # changes of grown trees that were tried
    "splits",  # scored
    "sparse",  # 1: splits have a price of which the best tree pays few, so bounds are proved from below
    "told",  # 1: bounds of the search of all rows are those of the question
    "full",  # 1: the arena was too small
    "raised",  # 1: a kernel ended by an error
    "inexact",  # 1: a cost was no whole number though all were to be
    "unsettled",  # 1: a subproblem came back with its bounds apart though nobody stopped it
)

RECORD = np.dtype([(name, np.int64) for name in SIZES + FACTS + ADDRESSES + SPACES + QUESTION + ANSWER + COUNTERS])

record_at = views.record_at(RecordType(RECORD))


def sort_rows(ranks: Array) -> Array:
    """uint32 (F, n + 1): the orders of all rows, by their ranks (F, n) int32."""
    columns, n = ranks.shape
    orders = np.zeros((columns, n + 1), np.uint32)
    # numbers are sorted quicker than their places: a rank and a row are one of 64 bits
    rows = np.arange(n, dtype=np.int64)
    for column in range(columns):
        both = (ranks[column].astype(np.int64) << 32) | rows
        both.sort()
        orders[column, :n] = both & (2**32 - 1)
        both >>= 32
        orders[column, 1:n] |= np.where(both[1:] != both[:-1], np.uint32(NEW), np.uint32(0))
    return orders


@native
def nearest_position(of_column, near, low, high):  # type: ignore[no-untyped-def]
    """The position in low..high closest to `near` at which the order can be split; 0 if there is none."""
    below = near
    above = near + 1
    while below >= low or above <= high:
        if below >= low:
            if of_column[below] >= uint32(NEW):
                return below
            below -= 1
        if above <= high:
            if of_column[above] >= uint32(NEW):
                return above
            above += 1
    return int64(0)


@native
def place_values(e):  # type: ignore[no-untyped-def]
    """Writes the mask of a categorical column: bit l is 1 for the rows of the l-th value that is asked for."""
    n = e.asked_rows
    orders = matrix(e.asked_orders, e.asked_fan + 1, n + 1, uint32)
    mask = vector(e.mask, e.rows, uint32)
    value = -e.asked_first
    for r in range(n):
        entry = orders[e.asked_fan, r]
        value += 1 if entry >= uint32(NEW) else 0
        if 0 <= value < SPLITS:
            mask[int64(entry & uint32(ROW))] = uint32(1) << uint32(value)


@native
def place_rows(e):  # type: ignore[no-untyped-def]
    """Writes the mask of the asked splits: bit l of a row's word is 1 if the row is left of split l."""
    n = e.asked_rows
    orders = matrix(e.asked_orders, max(e.asked_columns, 1), n + 1, uint32)
    mask = vector(e.mask, e.rows, uint32)
    columns = vector(e.split_columns, 32, int64)
    positions = vector(e.split_positions, 32, int64)
    splits = e.asked_splits
    for r in range(n):
        mask[int64(orders[0, r] & uint32(ROW))] = uint32(0)
    if e.asked_fan >= 0:
        place_values(e)
        return
    # the splits by column and position; there are few
    order = np.empty(32, np.int64)
    for l in range(splits):
        at = l
        while at > 0 and (
            columns[order[at - 1]] > columns[l]
            or (columns[order[at - 1]] == columns[l] and positions[order[at - 1]] > positions[l])
        ):
            order[at] = order[at - 1]
            at -= 1
        order[at] = l
    at = 0
    while at < splits:
        column = columns[order[at]]
        end = at
        lanes = uint32(0)
        while end < splits and columns[order[end]] == column:
            lanes |= uint32(1) << uint32(order[end])
            end += 1
        r = 0
        while at < end:
            behind = positions[order[at]]
            while r < behind:
                mask[int64(orders[column, r] & uint32(ROW))] |= lanes
                r += 1
            lanes &= ~(uint32(1) << uint32(order[at]))
            at += 1
