"""What the enumeration of trees asks of the rows of a packed problem, compiled.

What children cost at least is their optimum, or what the budget leaves: the search's work units tell it, up to depth
three. Costs are codes of the engine, beyond what every tree pays. `weights` (G, L) int64 are the multipliers of the row
groups that make profits of counts (rows, then for every label but the first what it adds to an entry beyond the first
label's), `base` (G, width) the entries of the first label, `split` (width,) what a branching node adds, `sums` room for
L sums over all pairs of columns.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numba import int16, int64, uint64

from streed.bnb.bounds import bound_by_node
from streed.bnb.branch_cache import extend_branch, literal
from streed.bnb.expand import ask
from streed.bnb.nodes import columns_of
from streed.kernels.compiled import entry
from streed.kernels.counting.pair_counts import count_pairs as count_column_pairs
from streed.kernels.counting.rows import units_of
from streed.kernels.records import BELOW, INFINITE, SHALLOW
from streed.kernels.stopping import stopped
from streed.kernels.values import LOWER0, LOWER1, OPTIMUM0, OPTIMUM1, ROWS_OF_VALUES, UNKNOWN
from streed.kernels.views import call, engine_at, matrix, native, vector
from streed.tables.entries import COST

# -- one set of rows -----------------------------------------------------------------------------------------------


@native
def _ask_below(e, rows, target, high, low):
    """Has the work unit solve the rows (W,) to depth three, with the children of columns that may be below the target.

    Those of other columns are UNKNOWN in `values`.
    """
    values = matrix(e.values, ROWS_OF_VALUES, e.width + e.categorical, int64)
    values[OPTIMUM1 : OPTIMUM0 + 1] = UNKNOWN
    ask(e, rows, int64(SHALLOW), target, int64(0), high, low, which=BELOW)


@entry
def count_pairs(engine, rows, depth, weights, base, sums):
    """(active columns (m,), P, total (L,), least (width,)) of the rows; writes their pairs (L * P, P)."""
    e = engine_at(engine)
    e.asked_rows = rows.ctypes.data
    e.asked_depth = 2
    call(e.load, e)
    group_rows = vector(e.group_rows, e.groups + 1, int64)
    total = np.zeros(weights.shape[1], np.int64)
    least = np.zeros(base.shape[1], np.int64)
    for g in range(e.groups):
        size = group_rows[g + 1] - group_rows[g]
        for p in range(len(total)):
            total[p] += weights[g, p] * size
        for c in range(len(least)):
            least[c] += base[g, c] * size
    columns = e.n_active if depth > 0 else 0
    if columns > 0:
        words = matrix(e.words, e.n_words, e.stride, int16)
        begins = vector(e.group_begins, e.groups + 1, int64)
        pairs = matrix(sums.ctypes.data, len(total) * e.stride, e.stride, int64)
        count_column_pairs(words, begins, e.groups, columns, weights, len(total), pairs, e.stride, units_of(e))
    return vector(e.active, e.width, int64)[:columns].copy(), int64(e.stride), total, least


@native
def write_rows(e, rows, column, without, into):
    """Writes the rows with the column, or without it."""
    bits = columns_of(e)[column]
    flip = uint64(0) - uint64(without)
    for w in range(e.row_words):
        into[w] = rows[w] & (bits[w] ^ flip)


# -- what children cost --------------------------------------------------------------------------------------------


@native
def _rank_deep(e, rows, budget, split, branch, active, separates, least):
    """Writes what the children of every column cost at depth three (2, m), as far as the budget asks for it."""
    high, low = branch
    size = len(active)
    values = matrix(e.values, ROWS_OF_VALUES, e.width + e.categorical, int64)
    bound_by_node(e, values, e.upper)
    lower1 = np.zeros(size, np.int64)
    lower0 = np.zeros(size, np.int64)
    key = np.full(size, int64(INFINITE), np.int64)
    for k in range(size):
        if separates[k] and values[OPTIMUM1, k] != UNKNOWN and values[OPTIMUM0, k] != UNKNOWN:
            key[k] = min(values[OPTIMUM1, k] + values[OPTIMUM0, k], int64(INFINITE))
        lower1[k] = max(int64(0), values[LOWER1, k])
        lower0[k] = max(int64(0), values[LOWER0, k])
    child = np.empty(e.row_words, np.uint64)
    for k in np.argsort(key):
        if not separates[k] or lower1[k] + lower0[k] + split[COST] > budget or stopped(e):
            continue
        high1, low1 = extend_branch(high, low, literal(active[k], 1))
        write_rows(e, rows, active[k], 0, child)
        room = budget + 1 - split[COST]
        ask(e, child, int64(SHALLOW), room - lower0[k], int64(0), high1, low1)
        lower1[k] = max(lower1[k], int64(e.lower))
        if lower1[k] + lower0[k] >= room:
            continue
        high0, low0 = extend_branch(high, low, literal(active[k], 0))
        write_rows(e, rows, active[k], 1, child)
        ask(e, child, int64(SHALLOW), room - lower1[k], int64(0), high0, low0)
        lower0[k] = max(lower0[k], int64(e.lower))
        least[0, k] = lower1[k]
        least[1, k] = lower0[k]


@entry
def rank_columns(engine, rows, depth, high, low, budget, split):
    """(m, 4) int64: (cost, column, with, without), what trees that split on the column and their sides cost at least.

    All first columns of trees of depth three or four that cost at most `budget` are among them.
    """
    e = engine_at(engine)
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
    least = np.full((2, size), int64(INFINITE), np.int64)
    if depth == SHALLOW:
        for k in range(size):
            if separates[k] and values[OPTIMUM1, k] != UNKNOWN and values[OPTIMUM0, k] != UNKNOWN:
                least[0, k] = values[OPTIMUM1, k]
                least[1, k] = values[OPTIMUM0, k]
    else:
        _rank_deep(e, rows, budget, split, (high, low), active, separates, least)
    # total, column, with, without
    ranked = np.empty((size, 4), np.int64)
    count = 0
    for k in range(size):
        if least[0, k] < INFINITE and least[1, k] < INFINITE:
            total = least[0, k] + least[1, k] + split[COST]
            if total <= budget:
                ranked[count, 0] = total
                ranked[count, 1] = active[k]
                ranked[count, 2] = least[0, k]
                ranked[count, 3] = least[1, k]
                count += 1
    return ranked[:count]
