"""Lists of trees over the rows of a packed problem: every vector of sums that a tree of a bounded cost can have.

    list(rows, depth, budget)
        depth 2 or less: from sums over pairs of columns, counted bit by bit (shallow.py)
        else: the leaves; for every column whose children cost at least L and R with L + R <= budget:
              every sum of an entry of list(left, depth - 1, budget - R) and one of list(right, depth - 1, budget - L)
    L and R are optima, or at least what the budget leaves; work units give them up to depth three

An entry is (cost, value, key, ...) as in entries.py, its cost in the engine's codes beyond what every tree
pays. `weights` (G, L) int64 are the multipliers of the row groups that make profits of counts (rows, then for every
label but the first what it adds to an entry beyond the first label's), `base` (G, width) the entries of the first
label, `split` (width,) what a branching node adds.

`limits` (5,) int64: MOST_KEY and MOST_VALUE of entries that are ever needed, whether only those are that no other one
dominates by key and value (THIN), and how many entries a list may have (SPACE); FULL is set once one has more.
"""

from __future__ import annotations

import numpy as np
from numba import int64, uint64

from streed.bnb.bounds import bound_by_node
from streed.bnb.branch_cache import extend_branch, literal
from streed.bnb.expand import ask
from streed.bnb.nodes import columns_of
from streed.enumerate.entries import (
    COST,
    KEY,
    VALUE,
    compact,
    list_pairs,
    new_table,
    order_by,
    put_entry,
    put_stumps,
    take,
)
from streed.enumerate.shallow import put_leaf, signed_costs, signed_sides
from streed.kernels.compiled import entry
from streed.kernels.control import stopped
from streed.kernels.pointers import call, engine_at
from streed.kernels.records import BELOW, INFINITE, LEAF, NONE, SHALLOW
from streed.kernels.values import LOWER0, LOWER1, OPTIMUM0, OPTIMUM1, ROWS_OF_VALUES, UNKNOWN, WEIGHT
from streed.kernels.views import matrix, native, vector

MOST_KEY, MOST_VALUE, THIN, SPACE, FULL = range(5)

_SHALLOW = 2
"""The depth up to which a list comes from pair sums."""

DEEPEST = SHALLOW + 1
"""The depth up to which work units tell what children cost."""


# -- one set of rows -----------------------------------------------------------------------------------------------


@native
def _ask_below(e, rows, target, high, low):  # type: ignore[no-untyped-def]
    """Has the work unit solve the rows (W,) to depth three, with the children of columns that may be below the target.

    Those of other columns are UNKNOWN in `values`.
    """
    values = matrix(e.values, ROWS_OF_VALUES, e.width + e.categorical, int64)
    values[OPTIMUM1 : OPTIMUM0 + 1] = UNKNOWN
    e.asked_rows = rows.ctypes.data
    e.asked_depth = SHALLOW
    e.asked_target = target
    e.asked_lower = 0
    e.asked_all = BELOW
    e.asked_similar = NONE
    e.asked_high = high
    e.asked_low = low
    call(e.solve_shallow, e)


@native
def _count_sums(e, rows, depth, weights, base, scratch):  # type: ignore[no-untyped-def]
    """(pairs (F, F, L), total (L,), under (width,)) of the rows, which are loaded: their active columns are F."""
    e.asked_rows = rows.ctypes.data
    e.asked_depth = 2
    call(e.load, e)
    planes = weights.shape[1]
    group_rows = vector(e.group_rows, e.groups + 1, int64)
    total = np.zeros(planes, np.int64)
    under = np.zeros(base.shape[1], np.int64)
    for g in range(e.groups):
        size = group_rows[g + 1] - group_rows[g]
        for p in range(planes):
            total[p] += weights[g, p] * size
        for c in range(base.shape[1]):
            under[c] += base[g, c] * size
    columns = e.n_active if depth > 0 else 0
    pairs = np.empty((columns, columns, planes), np.int64)
    if columns > 0:
        e.listed_weights = weights.ctypes.data
        e.listed_planes = planes
        e.listed_sums = scratch.ctypes.data
        call(e.count_listed, e)
        sums = matrix(e.listed_sums, planes * e.stride, e.stride, int64)
        for j in range(columns):
            for k in range(j, columns):
                for p in range(planes):
                    pairs[j, k, p] = sums[p * e.stride + j, k]
    return pairs, total, under


@native
def _list_shallow(e, rows, depth, budget, weights, base, split, limits, scratch):  # type: ignore[no-untyped-def]
    """The list of the rows for depths up to two."""
    pairs, total, under = _count_sums(e, rows, depth, weights, base, scratch)
    listed = list_pairs(pairs, total, split, depth, e.min_leaf, budget - under[COST], limits[SPACE])
    for i in range(len(listed)):
        for c in range(len(under)):
            listed[i, c] += under[c]
    if len(listed) > limits[SPACE]:
        limits[FULL] = 1
    return listed


@native
def _thin(listed, limits):  # type: ignore[no-untyped-def]
    """The entries that are needed, by rising cost."""
    kept = np.empty(len(listed), np.int64)
    count = 0
    if limits[THIN] == 1:
        least = limits[MOST_VALUE] + 1
        for i in order_by(listed, len(listed), KEY):
            if listed[i, KEY] <= limits[MOST_KEY] and listed[i, VALUE] < least:
                least = listed[i, VALUE]
                kept[count] = i
                count += 1
    else:
        for i in range(len(listed)):
            if listed[i, KEY] <= limits[MOST_KEY] and listed[i, VALUE] <= limits[MOST_VALUE]:
                kept[count] = i
                count += 1
        if count == len(listed):
            return listed
    found = take(listed, kept, count)
    return found if limits[THIN] == 0 else take(found, order_by(found, count, COST), count)


@native
def _write_rows(e, rows, column, without, into):  # type: ignore[no-untyped-def]
    """Writes the rows with the column, or without it."""
    bits = columns_of(e)[column]
    flip = uint64(0) - uint64(without)
    for w in range(e.row_words):
        into[w] = rows[w] & (bits[w] ^ flip)


# -- what children cost --------------------------------------------------------------------------------------------


@native
def _floor_of(e, rows, target, high, low):  # type: ignore[no-untyped-def]
    """A lower bound on what the rows cost at depth three: the optimum if that is below the target."""
    ask(e, rows, int64(SHALLOW), target, int64(0), high, low)
    return int64(e.lower)


@native
def _rank(e, rows, depth, budget, split, high, low):  # type: ignore[no-untyped-def]
    """(m, 4) int64: (cost, column, with, without), what trees that split on the column and their sides cost at least.

    All first columns of trees of depth three or four that cost at most `budget` are among them; by rising cost.
    """
    _ask_below(e, rows, budget + 1 if depth == SHALLOW else int64(INFINITE), high, low)
    size = int64(e.n_active)
    values = matrix(e.values, ROWS_OF_VALUES, e.width + e.categorical, int64)
    local = vector(e.active, e.width, int64)
    active = np.empty(size, np.int64)
    for k in range(size):
        active[k] = local[k]
    ones = vector(e.ones, e.width, int64)
    separates = np.empty(size, np.bool_)
    for k in range(size):
        separates[k] = 0 < ones[k] < e.n_rows
    with_column = np.full(size, int64(INFINITE), np.int64)
    without = np.full(size, int64(INFINITE), np.int64)
    if depth == SHALLOW:
        for k in range(size):
            if separates[k] and values[OPTIMUM1, k] != UNKNOWN and values[OPTIMUM0, k] != UNKNOWN:
                with_column[k] = values[OPTIMUM1, k]
                without[k] = values[OPTIMUM0, k]
    else:
        _rank_deep(e, rows, budget, split, high, low, active, separates, with_column, without)
    # total, column, with, without
    ranked = np.empty((size, 4), np.int64)
    count = 0
    for k in range(size):
        if with_column[k] < INFINITE and without[k] < INFINITE:
            total = with_column[k] + without[k] + split[COST]
            if total <= budget:
                ranked[count, 0] = total
                ranked[count, 1] = active[k]
                ranked[count, 2] = with_column[k]
                ranked[count, 3] = without[k]
                count += 1
    return take(ranked, order_by(ranked, count, 0), count)


@native
def _rank_deep(e, rows, budget, split, high, low, active, separates, with_column, without):  # type: ignore[no-untyped-def]
    """Writes what the children of every column cost at depth three, as far as the budget asks for it."""
    size = len(active)
    values = matrix(e.values, ROWS_OF_VALUES, e.width + e.categorical, int64)
    bound_by_node(e, values, e.upper)
    lower1 = np.zeros(size, np.int64)
    lower0 = np.zeros(size, np.int64)
    key = np.full((size, 1), int64(INFINITE), np.int64)
    own = np.zeros(size, np.int64)
    common = np.zeros((size, size), np.int64)
    whole = int64(e.weight)
    for k in range(size):
        if separates[k] and values[OPTIMUM1, k] != UNKNOWN and values[OPTIMUM0, k] != UNKNOWN:
            key[k, 0] = min(values[OPTIMUM1, k] + values[OPTIMUM0, k], int64(INFINITE))
        own[k] = values[WEIGHT, k]
        lower1[k] = max(int64(0), values[LOWER1, k])
        lower0[k] = max(int64(0), values[LOWER0, k])
    if e.restrictable == 1:
        _count_common(e, active, common)
    child = np.empty(e.row_words, np.uint64)
    for k in order_by(key, size, 0):
        if not separates[k] or lower1[k] + lower0[k] + split[COST] > budget or stopped(e):
            continue
        high1, low1 = extend_branch(high, low, literal(active[k], 1))
        _write_rows(e, rows, active[k], 0, child)
        room = budget + 1 - split[COST]
        cost1 = _floor_of(e, child, room - lower0[k], high1, low1)
        lower1[k] = max(lower1[k], cost1)
        if lower1[k] + lower0[k] >= room:
            continue
        high0, low0 = extend_branch(high, low, literal(active[k], 0))
        _write_rows(e, rows, active[k], 1, child)
        cost0 = _floor_of(e, child, room - lower1[k], high0, low0)
        lower0[k] = max(lower0[k], cost0)
        with_column[k] = lower1[k]
        without[k] = lower0[k]
        if e.restrictable == 1:
            # a tree for the rows A serves the rows B at the worst costs of the rows in B only (bnb/bounds.py)
            for i in range(size):
                both = common[k, i]
                rest = own[i] - both
                lower1[i] = max(lower1[i], cost1 - (own[k] - both), cost0 - (whole - own[k] - rest))
                lower0[i] = max(lower0[i], cost1 - both, cost0 - rest)


@native
def _count_common(e, active, common):  # type: ignore[no-untyped-def]
    """Writes the worst costs of the rows that have both of two active columns."""
    sums = np.empty((e.planes * e.stride, e.stride), np.int64)
    e.listed_weights = e.profits
    e.listed_planes = e.planes
    e.listed_sums = sums.ctypes.data
    call(e.count_listed, e)
    for i in range(len(active)):
        for k in range(len(active)):
            common[i, k] = sums[e.worst_plane * e.stride + i, k]


# -- lists ---------------------------------------------------------------------------------------------------------


@native
def list_trees(e, rows, depth, budget, high, low, weights, base, split, limits, scratch):  # type: ignore[no-untyped-def]
    """The list of the rows (W,) reached by the branch (high, low)."""
    if depth <= _SHALLOW:
        return _thin(_list_shallow(e, rows, depth, budget, weights, base, split, limits, scratch), limits)
    width = len(split)
    # calling itself only: two functions that call each other crash when numba loads them from its cache
    listed = list_trees(e, rows, int64(0), budget, high, low, weights, base, split, limits, scratch)
    bits = int64(10)
    entries, used = new_table(bits, width)
    count = int64(0)
    for i in range(len(listed)):
        entries, used, bits, count = put_entry(entries, used, bits, count, listed[i])
    ranked = _rank(e, rows, depth, budget, split, high, low)
    candidate = np.empty(width, np.int64)
    for n in range(len(ranked)):
        if stopped(e) or limits[FULL] == 1:
            break
        column = ranked[n, 1]
        room = budget - split[COST]
        with_column = np.empty(e.row_words, np.uint64)
        _write_rows(e, rows, column, 0, with_column)
        high1, low1 = extend_branch(high, low, literal(column, 1))
        first = list_trees(
            e, with_column, depth - 1, room - ranked[n, 3], high1, low1, weights, base, split, limits, scratch
        )
        without = np.empty(e.row_words, np.uint64)
        _write_rows(e, rows, column, 1, without)
        high0, low0 = extend_branch(high, low, literal(column, 0))
        second = list_trees(
            e, without, depth - 1, room - ranked[n, 2], high0, low0, weights, base, split, limits, scratch
        )
        for i in range(len(first)):
            if count > limits[SPACE]:
                limits[FULL] = 1
                break
            for j in range(len(second)):
                if first[i, COST] + second[j, COST] > room:
                    break
                for c in range(width):
                    candidate[c] = first[i, c] + second[j, c] + split[c]
                entries, used, bits, count = put_entry(entries, used, bits, count, candidate)
    return _thin(compact(entries, used, count), limits)


@entry
def list_rows(engine, rows, depth, high, low, budget, weights, base, split, limits, scratch):  # type: ignore[no-untyped-def]
    """The list of the rows (W,), reached by the branch (high, low), for depths up to DEEPEST."""
    return list_trees(engine_at(engine), rows, depth, budget, high, low, weights, base, split, limits, scratch)


@entry
def rank_columns(engine, rows, depth, high, low, budget, split):  # type: ignore[no-untyped-def]
    """What `_rank` gives: the columns to split the rows on for trees of depth three or four."""
    return _rank(engine_at(engine), rows, depth, budget, split, high, low)


# -- from an entry to a tree ---------------------------------------------------------------------------------------


@native
def _adds_up(a, i, b, total):  # type: ignore[no-untyped-def]
    """Whether the i-th entry of a and the entry b are the total."""
    same = True
    for c in range(len(total)):
        same = same and a[i, c] + b[c] == total[c]
    return same


@native
def _find_label(e, rows, target, weights, base, split, scratch):  # type: ignore[no-untyped-def]
    """The label with which the rows as a leaf have the target, or NONE."""
    _, total, under = _count_sums(e, rows, int64(0), weights, base, scratch)
    labels = (len(total) - 1) // len(split) + 1
    leaves = np.empty((labels, len(split)), np.int64)
    for k in range(put_leaf(total, len(split), e.min_leaf, leaves)):
        if _adds_up(leaves, k, under, target):
            return int64(k)
    return int64(NONE)


@native
def _find_sum(first, n_first, second, n_second, total):  # type: ignore[no-untyped-def]
    """(i, j) of entries of the two lists that add up to the total; (-1, -1) if there are none."""
    order = order_by(second, n_second, KEY)
    for i in range(n_first):
        wanted = total[KEY] - first[i, KEY]
        low, high = 0, n_second
        while low < high:
            middle = (low + high) // 2
            if second[order[middle], KEY] < wanted:
                low = middle + 1
            else:
                high = middle
        while low < n_second and second[order[low], KEY] == wanted:
            if _adds_up(first, i, second[order[low]], total):
                return int64(i), int64(order[low])
            low += 1
    return int64(-1), int64(-1)


@native
def _split_shallow(e, rows, depth, target, weights, base, split, scratch, first, second):  # type: ignore[no-untyped-def]
    """The column that a tree of depth 1 or 2 with the target splits on; writes the targets of its sides, with first."""
    pairs, total, under = _count_sums(e, rows, depth, weights, base, scratch)
    size, width = len(pairs), len(split)
    local = vector(e.active, e.width, int64)
    active = np.empty(size, np.int64)
    for k in range(size):
        active[k] = local[k]
    rest = np.empty(width, np.int64)
    for c in range(width):
        rest[c] = target[c] - under[c] - split[c]
    labels = (len(total) - 1) // width + 1
    left = np.empty((labels + size * labels * labels, width), np.int64)
    right = np.empty((labels + size * labels * labels, width), np.int64)
    leaves = np.empty((2, labels, width), np.int64)
    part = np.empty(len(total), np.int64)
    child = np.empty(e.row_words, np.uint64)
    is_signed = depth == 2 and labels == 2 and e.min_leaf <= 1
    costs, singles = signed_costs(pairs, size if is_signed else 0)
    for place in range(size):
        if pairs[place, place, 0] == 0 or pairs[place, place, 0] == total[0]:
            continue
        if depth == 2:
            room_left, room_right = int64(INFINITE), int64(INFINITE)
            if is_signed:
                least_left, least_right = signed_sides(costs, singles, total[1], place, 1, split[COST])
                room_left, room_right = rest[COST] - least_right, rest[COST] - least_left
                if least_left > room_left:
                    continue
            n_left = put_stumps(pairs, total, place, True, room_left, split, e.min_leaf, leaves, left)
            n_right = put_stumps(pairs, total, place, False, room_right, split, e.min_leaf, leaves, right)
        else:
            for c in range(len(total)):
                part[c] = pairs[place, place, c]
            n_left = put_leaf(part, width, e.min_leaf, left)
            for c in range(len(total)):
                part[c] = total[c] - pairs[place, place, c]
            n_right = put_leaf(part, width, e.min_leaf, right)
        i, j = _find_sum(left, n_left, right, n_right, rest)
        if i >= 0:
            _write_rows(e, rows, active[place], 0, child)
            _, _, under_first = _count_sums(e, child, int64(0), weights, base, scratch)
            for c in range(width):
                first[c] = left[i, c] + under_first[c]
                second[c] = right[j, c] + under[c] - under_first[c]
            return active[place]
    return int64(NONE)


@entry
def find_shallow(engine, rows, depth, target, weights, base, split, scratch):  # type: ignore[no-untyped-def]
    """(columns, labels) of a tree of depth at most two, in preorder, whose entry over the rows (W,) is the target.

    The columns are the caller's, LEAF for leaves. Empty if there is none.
    """
    e = engine_at(engine)
    width = len(split)
    flipped = vector(e.flipped, e.columns, np.uint8)
    caller_columns = vector(e.caller_columns, e.columns, int64)
    columns = np.empty(7, np.int64)
    labels = np.zeros(7, np.int64)
    row_sets = np.empty((4, e.row_words), np.uint64)
    targets = np.empty((4, width), np.int64)
    depths = np.empty(4, np.int64)
    row_sets[0] = rows
    targets[0] = target
    depths[0] = depth
    size = 1
    count = 0
    first = np.empty(width, np.int64)
    second = np.empty(width, np.int64)
    here = np.empty(e.row_words, np.uint64)
    wanted = np.empty(width, np.int64)
    while size > 0:
        size -= 1
        here[:] = row_sets[size]
        wanted[:] = targets[size]
        level = depths[size]
        columns[count] = LEAF
        labels[count] = _find_label(e, here, wanted, weights, base, split, scratch)
        if labels[count] >= 0:
            count += 1
            continue
        labels[count] = 0
        column = int64(NONE)
        if level > 0:
            column = _split_shallow(e, here, level, wanted, weights, base, split, scratch, first, second)
        if column < 0:
            count = 0
            break
        columns[count] = caller_columns[column]
        count += 1
        for code in (1, 0):
            # the last pushed comes first
            without = code if flipped[column] == 1 else 1 - code
            _write_rows(e, here, column, without, row_sets[size])
            targets[size] = second if without == 1 else first
            depths[size] = level - 1
            size += 1
    return columns[:count], labels[:count]


@entry
def find_sum(first, second, total):  # type: ignore[no-untyped-def]
    """(i, j) of entries of the two lists that add up to the total; (-1, -1) if there are none."""
    return _find_sum(first, len(first), second, len(second), total)


@entry
def decode(keys, places, factors, divisors):  # type: ignore[no-untyped-def]
    """(m, q) the sums of keys (m, words); places (digits, 4): word, worth, span and least of every digit."""
    sums = np.zeros((len(keys), factors.shape[1]), np.int64)
    shift = np.zeros(keys.shape[1], np.int64)
    for d in range(len(places)):
        shift[places[d, 0]] += places[d, 1] * places[d, 3]
    for i in range(len(keys)):
        for d in range(len(places)):
            word = keys[i, places[d, 0]] - shift[places[d, 0]]
            digit = word // places[d, 1] % places[d, 2] + places[d, 3]
            for q in range(factors.shape[1]):
                sums[i, q] += digit * factors[d, q]
        for q in range(factors.shape[1]):
            sums[i, q] //= divisors[q]
    return sums
