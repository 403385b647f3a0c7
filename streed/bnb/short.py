"""A short search from the caller's codes and costs to the measured tree, in one call.

Small solves are over before a dozen calls have come from Python and back. What is put together here is what the steps
of other searches do one by one: rows are grouped and packed, the record is filled, the work unit searches, and the best
tree is extracted, and measured by routing the caller's rows down.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, int64

from streed.bnb.extraction import extract_tree
from streed.bnb.improve import solve_shallow
from streed.bnb.layout import empty_caches, lay_out, link_problem
from streed.bnb.nodes import nodes_of
from streed.bnb.root import place_root
from streed.bnb.short_layout import (
    BASE,
    BRANCH_SLOTS,
    BRANCH_WORDS,
    CHILDREN,
    COLUMNS,
    DIVISOR,
    DONE,
    EDGES,
    EVICTIONS,
    EXPANSIONS,
    HEAD,
    KEY_WORDS,
    LANE,
    LOWER_BOUND,
    NEEDED,
    NODES,
    NODES_OF_TREE,
    OTHER_LANE,
    PAIR_PASSES,
    PRUNED,
    REPEATS,
    ROOM,
    STATUS,
    TOO_MANY_GROUPS,
    TREE_ROWS,
    UNITS,
    UPPER_BOUND,
    VISITS,
)
from streed.kernels.buffers import ALIGNMENT
from streed.kernels.compiled import entry
from streed.kernels.control import ROWS_OF_CONTROL, SHARED_UPPER, UPPER
from streed.kernels.counting.columns import find_rows, pack_columns
from streed.kernels.counting.group_kernels import common_divisor, divisor_of, find_groups
from streed.kernels.counting.groups import MOST_GROUPS
from streed.kernels.pointers import engine_at
from streed.kernels.records import ENGINE, INFINITE, LANES, UNLIMITED
from streed.kernels.routing import measure_tree
from streed.kernels.views import copy_into, native, vector

_RECORD_WORDS = ENGINE.itemsize // 8

_FEW = 16
"""Entries of each cache: one work unit needs hardly any."""


@entry
def solve_short(codes, categories, costs, split, full, given, min_leaf, depth, units, buffer, room):  # type: ignore[no-untyped-def]
    """The words of `short_layout`: how the search ended, then the tree, if there is one.

    codes (n, p) uint8, categories (p,) int64 as `pack_columns` takes them, costs (n, K) int64, of which splits cost
    `split` each. Where their rows pay for splits, `split` is 0, and full (p,) and given (p, p) int64 are what
    `CostsOfTests` has; both are empty where they do not. The tree has at most `depth` levels, up to SHALLOW. units (3,
    5) int64 are the addresses of the work units for lanes of 2, 4 and 8 bytes, zero for those that are not at hand;
    `buffer` is the address of `room` bytes that may be written.
    """
    return _solve(codes, categories, costs, split, full, given, min_leaf, depth, units, buffer, room)


@entry
def solve_short_each(codes, costs, shapes, splits, min_leaf, depth, units, buffer, room, found):  # type: ignore[no-untyped-def]
    """Writes for each of B problems without categorical columns what `solve_short` gives into found (B, words).

    shapes (B, 3) int64: rows, columns and labels of each problem, whose entries follow one another in codes (uint8) and
    costs (int64); splits (B,) int64. units (2, 3, 5) int64: those of two labels whose rows leaves need not count, and
    those of any others, as `solve_short` takes them.
    """
    code = int64(0)
    cost = int64(0)
    for i in range(len(shapes)):
        n, p, labels = shapes[i]
        kind = 0 if labels == 2 and min_leaf <= 1 else 1
        words = _solve(
            codes[code : code + n * p].reshape((n, p)),
            np.zeros(p, np.int64),
            costs[cost : cost + n * labels].reshape((n, labels)),
            splits[i],
            np.empty(0, np.int64),
            np.empty((0, 0), np.int64),
            min_leaf,
            depth,
            units[kind],
            buffer,
            room,
        )
        copy_into(found[i], words)
        code += n * p
        cost += n * labels


@native
def _solve(codes, categories, costs, split, full, given, min_leaf, depth, units, buffer, room):  # type: ignore[no-untyped-def]
    """What `solve_short` gives."""
    priced = len(full) > 0
    divisor = common_divisor(costs, _divisor_of_prices(split, full, given))
    counts_rows = min_leaf > 1 or priced
    places, words, profits, base, worst = find_groups(costs, divisor, counts_rows, int64(MOST_GROUPS))
    if len(words) == 0:
        return _without_tree(TOO_MANY_GROUPS, int64(0))
    price = min(split // divisor, worst + 1)
    lane = _lane_of(worst, price, min_leaf, words[-1] * 64)
    if priced:
        paid = len(codes) * (full.max() // divisor)
        lane = _lane_of(2 * (worst + paid), int64(0), max(min_leaf, int64(2)), max(words[-1] * 64, int64(len(codes))))
    if lane == 0 or units[lane // 4, 0] == 0:
        return _without_tree(OTHER_LANE, lane)
    column, flipped, literals, column_rows, row_bits = pack_columns(
        codes, places, categories, words[-1], boolean(not priced), np.empty(0, np.int8)
    )
    if row_bits.shape[1] == 0:
        row_bits = np.zeros((len(row_bits), 1), np.int32)
    record = np.zeros(_RECORD_WORDS, np.int64)
    engine = int64(record.ctypes.data)
    e = engine_at(engine)
    labels = costs.shape[1]
    _describe(e, len(words) - 1, labels, literals, column_rows, row_bits, price, min_leaf, depth, int64(priced))
    own_profits = np.ascontiguousarray(profits[:, : e.planes])
    signed_costs = np.zeros((len(profits), 2), np.int64)
    control = np.zeros(ROWS_OF_CONTROL, np.int64)
    control[UPPER] = INFINITE
    control[SHARED_UPPER] = INFINITE
    link_problem(engine, row_bits, column_rows, words, own_profits, signed_costs, literals, column, flipped, control)
    own_full, own_given, alike = _prices_by_bit_column(column, full, given, divisor)
    if priced:
        e.full_test_costs = own_full.ctypes.data
        e.discounted_test_costs = own_given.ctypes.data
        e.caller_columns = alike.ctypes.data
    end = lay_out(engine, int64(0), lane, boolean(False)) + ALIGNMENT
    if end > room:
        return _without_tree(ROOM, end)
    lay_out(engine, (buffer + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT, lane, boolean(False))
    rows = find_rows(places, column_rows.shape[1])
    empty_caches(engine, rows)
    _link(e, units[lane // 4])
    place_root(e, depth, int64(UNLIMITED))
    vector(e.path, e.path_space, int64)[0] = e.root
    solve_shallow(e, int64(0), int64(INFINITE), e.root_high, e.root_low)
    root = nodes_of(e)[e.root]
    preorder = np.empty(0, np.int64)
    upper = int64(root.upper)
    lower = int64(root.lower)
    if upper < INFINITE:
        preorder = extract_tree(engine, column, flipped, rows, depth, int64(UNLIMITED))
    m = len(preorder)
    found = np.zeros(HEAD + TREE_ROWS * m, np.int64)
    found[STATUS] = DONE
    found[BASE] = base
    found[DIVISOR] = divisor
    found[LANE] = lane
    found[LOWER_BOUND] = lower
    found[UPPER_BOUND] = upper
    found[COLUMNS] = len(column)
    found[NODES_OF_TREE] = m
    found[VISITS] = e.visits
    found[EXPANSIONS] = e.expansions
    found[REPEATS] = e.repeats
    found[UNITS] = e.units
    found[PAIR_PASSES] = e.pair_passes
    found[PRUNED] = e.pruned
    found[EVICTIONS] = e.evictions
    found[NODES] = e.node_count
    found[EDGES] = e.edge_count
    found[CHILDREN] = e.child_count
    found[BRANCH_SLOTS] = e.branch_slots
    found[KEY_WORDS] = e.key_words
    found[BRANCH_WORDS] = e.branch_words
    if m > 0:
        tree = found[HEAD:].reshape((TREE_ROWS, m))
        copy_into(tree[0], preorder)
        measures = measure_tree(preorder, codes, categories, costs)
        for row in range(len(measures)):
            copy_into(tree[1 + row], measures[row])
    _still_there(record, row_bits, column_rows, words, own_profits, signed_costs, literals, column, flipped, control)
    _prices_still_there(own_full, own_given, alike)
    return found


@native
def _divisor_of_prices(split, full, given):  # type: ignore[no-untyped-def]
    """The greatest common divisor of what splits cost."""
    divisor = int64(split)
    for f in range(len(full)):
        divisor = divisor_of(divisor, full[f])
        for g in range(len(full)):
            divisor = divisor_of(divisor, given[f, g])
    return divisor


@native
def _prices_by_bit_column(column, full, given, divisor):  # type: ignore[no-untyped-def]
    """(full, given, alike) as `Prices` has them, of the bit columns that stand for these; empty without prices."""
    columns = len(column) if len(full) > 0 else 0
    own_full = np.empty(columns, np.int64)
    own_given = np.empty((columns, columns), np.int64)
    alike = np.empty(columns, np.int64)
    for f in range(columns):
        own_full[f] = full[column[f]] // divisor
        for g in range(columns):
            own_given[f, g] = given[column[f], column[g]] // divisor
        other = int64(0)
        while other < f:
            same = alike[other] == other
            for g in range(columns):
                if not same:
                    break
                same = own_given[other, g] == own_given[f, g]
            if same:
                break
            other += 1
        alike[f] = other
    return own_full, own_given, alike


@native
def _still_there(record, bits, rows, words, profits, costs, literals, column, flipped, control):  # type: ignore[no-untyped-def]
    """Nothing: arrays of which others know only the addresses last until they are named for the last time."""


@native
def _prices_still_there(full, given, alike):  # type: ignore[no-untyped-def]
    """Nothing, likewise."""


@native
def _without_tree(status, needed):  # type: ignore[no-untyped-def]
    """The words of a search that did not begin."""
    found = np.zeros(HEAD, np.int64)
    found[STATUS] = status
    found[NEEDED] = needed
    return found


@native
def _lane_of(worst, price, min_leaf, places):  # type: ignore[no-untyped-def]
    """The bytes of the narrowest lane in which no sum overflows, as `narrowest_lane` has it; 0 if there is none."""
    largest = worst + 2 * price + 2
    if min_leaf > 1:
        largest = max(largest, places, min_leaf)
    if largest < 2**15 - 2:
        return int64(2)
    if largest < 2**30:
        return int64(4)
    return int64(8) if largest < 2**60 else int64(0)


@native
def _describe(e, groups, labels, literals, column_rows, row_bits, price, min_leaf, depth, priced):  # type: ignore[no-untyped-def]
    """Writes what the record says of the problem but for addresses, as `Workspace` does, with hardly any caches."""
    columns = len(column_rows)
    counts_rows = max(int64(min_leaf > 1), priced)
    categorical = len(literals) - 1
    e.groups = groups
    e.labels = labels
    e.columns = columns
    e.binary_columns = literals[0]
    e.categorical = categorical
    e.row_words = column_rows.shape[1]
    e.row_space = len(row_bits)
    e.width = max(LANES, (columns + LANES - 1) // LANES * LANES)
    e.path_words = priced * ((columns + 63) // 64)
    e.key_words = e.row_words + e.path_words
    e.planes = labels + 1 + counts_rows
    e.rows_plane = labels + counts_rows
    e.worst_plane = labels
    e.worst_unit = 1
    e.has_test_costs = priced
    e.split_cost = price
    e.min_leaf = min_leaf
    e.signed = int64(labels == 2 and categorical == 0 and min_leaf <= 1 and priced == 0)
    e.restrictable = int64(min_leaf <= 1 and priced == 0)
    e.archived = e.restrictable
    e.extensible = int64(priced == 0 and (min_leaf <= 1 or categorical == 0))
    e.relaxed = int64(price == 0)
    e.branch_space = 4 * _FEW
    e.branch_words = 2
    e.branch_slots = 2 * _FEW
    e.node_space = _FEW
    e.edge_space = _FEW
    e.child_space = _FEW
    e.node_limit = _FEW
    e.edge_limit = _FEW
    e.child_limit = _FEW
    e.slot_space = 4 * _FEW
    e.slot_count = 2 * _FEW
    e.path_space = min(len(row_bits), depth) + 4
    e.root_target = INFINITE
    e.pause = INFINITE
    e.frontier = UNLIMITED


@native
def _link(e, units):  # type: ignore[no-untyped-def]
    """Writes the addresses of the work units, in the order of `short_search.units_of`; no others are called."""
    e.solve_shallow = units[0]
    e.load = units[1]
    e.prepare = units[2]
    e.solve_children = units[3]
    e.push_bounds = units[4]
