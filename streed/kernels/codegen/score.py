"""The scores of questions by a task's own methods: kernels that are made for it, as `leaves.py` says."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float64, int64, uint64

from streed.kernels import values as rows
from streed.kernels.coding import real_of
from streed.kernels.records import INFINITE, LOWEST, NO_COST, NONE, RAISED
from streed.kernels.scoring.generated import COST, LEAF0, LEAF1, ROWS_OF_COSTS, SPLIT0, SPLIT1, WITH0, WITH1, lowest
from streed.kernels.simd import first_one
from streed.kernels.stopping import cut_short
from streed.kernels.views import engine_at, inline, keep_apart, matrix, native, vector

task: Any = None
"""What is of the task: see `leaves.py`."""

COSTS = TABLE = CALLED = BOTH = BOUND = FLOORS = MULTIWAY = False
"""Its traits."""


@native
def list_path(bits, words, more, last, into):  # type: ignore[no-untyped-def]
    """Writes the columns of a path and two more, if they are not NONE, in order; how many they are."""
    size = 0
    for w in range(words):
        word = bits[w]
        if more >= 0 and more // 64 == w:
            word |= uint64(1) << uint64(more % 64)
        if last >= 0 and last // 64 == w:
            word |= uint64(1) << uint64(last % 64)
        while word != uint64(0):
            into[size] = w * 64 + first_one(word)
            size += 1
            word = word & (word - uint64(1))
    return size


@inline
def score_row(numbers, min_leaf, counted, stride, end, j, found, paid):  # type: ignore[no-untyped-def]
    """Scores the pairs of a column with those before it: what is counted, found and paid as `score_pairs` has it."""
    keep_apart()
    pairs, sums, t = counted
    split1, split0, with1, with0 = found
    split_costs, second = paid
    parameters = task.parameters_of(numbers)
    limits = task.limits_of(numbers)
    with_j = task.at(sums, j)
    for k in range(end):
        both = task.pair_at(pairs, stride, j, k)
        with_k = task.at(sums, k)
        c11 = task.leaf_of(parameters, limits, min_leaf, both)
        c10 = task.leaf_of(parameters, limits, min_leaf, task.minus(with_k, both))
        c01 = task.leaf_of(parameters, limits, min_leaf, task.minus(with_j, both))
        c00 = task.leaf_of(parameters, limits, min_leaf, task.plus(task.minus(task.minus(t, with_k), with_j), both))
        k1 = task.combined(parameters, c10, c11)
        k0 = task.combined(parameters, c00, c01)
        j1 = task.combined(parameters, c01, c11)
        j0 = task.combined(parameters, c00, c10)
        if TABLE:
            k1 = task.combined(parameters, k1, split_costs[j])
            k0 = task.combined(parameters, k0, split_costs[j])
            j1 = task.combined(parameters, j1, split_costs[k])
            j0 = task.combined(parameters, j0, split_costs[k])
        if CALLED:
            k1 = task.combined(parameters, k1, second[2 * k, j])
            k0 = task.combined(parameters, k0, second[2 * k + 1, j])
            j1 = task.combined(parameters, j1, second[2 * j, k])
            j0 = task.combined(parameters, j0, second[2 * j + 1, k])
        split1[k] = min(split1[k], k1)
        split0[k] = min(split0[k], k0)
        with1[k] = j1
        with0[k] = j0


@inline
def join_sides(numbers, end, leaf1, leaf0, split1, split0, split_costs, keys):  # type: ignore[no-untyped-def]
    """Writes what the best tree of depth two with every column at its root costs."""
    keep_apart()
    parameters = task.parameters_of(numbers)
    for k in range(end):
        side0 = min(leaf0[k], split0[k])
        side1 = min(leaf1[k], split1[k])
        key = task.combined(parameters, side0, side1)
        if COSTS:
            key = task.combined(parameters, key, split_costs[k])
        keys[k] = key


@native
def score_pairs(e, numbers, pairs, sums, t, costs):  # type: ignore[no-untyped-def]
    """Writes what both sides of every binary column cost with one more split."""
    stride = e.stride
    binary = e.n_binary
    min_leaf = e.min_leaf
    space = e.width + e.categorical
    split1, split0, with1, with0 = costs[SPLIT1], costs[SPLIT0], costs[WITH1], costs[WITH0]
    second = matrix(e.pair_costs, 2 * space, space, task.VALUE)
    for j in range(binary):
        if cut_short(e):
            break
        size = task.at(sums, j)[-1]
        if size < min_leaf or t[-1] - size < min_leaf:
            continue
        end = (j + 8) // 8 * 8
        end = min(stride, end)
        best1 = split1[j]
        best0 = split0[j]
        found = split1, split0, with1, with0
        score_row(numbers, min_leaf, (pairs, sums, t), stride, end, j, found, (costs[COST], second))
        end = min(binary, end)
        split1[j] = lowest(with1, end, min(best1, split1[j]))
        split0[j] = lowest(with0, end, min(best0, split0[j]))


@native
def score_categories(e, parameters, limits, pairs, sums, costs):  # type: ignore[no-untyped-def]
    """Improves these costs, and writes those of literals, by splits of literals and of categorical columns."""
    min_leaf = e.min_leaf
    literals = matrix(e.local_literals, 3, max(e.categorical, 1), int64)
    space = e.width + e.categorical
    second = matrix(e.pair_costs, 2 * space, space, task.VALUE)
    for k in range(e.n_binary, e.n_active):
        with_k = task.at(sums, k)
        for j in range(e.n_binary):
            both = task.pair_at(pairs, e.stride, max(j, k), min(j, k))
            c11 = task.leaf_of(parameters, limits, min_leaf, both)
            c10 = task.leaf_of(parameters, limits, min_leaf, task.minus(with_k, both))
            k1 = task.combined(parameters, c10, c11)
            if TABLE:
                k1 = task.combined(parameters, k1, costs[COST, j])
            if CALLED:
                k1 = task.combined(parameters, k1, second[2 * k, j])
            costs[SPLIT1, k] = min(costs[SPLIT1, k], k1)
    for c in range(e.n_categorical):
        begin = literals[0, c]
        end = literals[1, c]
        for k in range(e.n_active):
            if begin <= k < end:
                continue
            for side in range(2):
                total = task.VALUE(task.INFEASIBLE)
                present = 0
                for j in range(begin, end):
                    part = task.pair_at(pairs, e.stride, max(j, k), min(j, k))
                    if side == 1:
                        part = task.minus(task.at(sums, j), part)
                    if part[-1] > 0:
                        cost = task.leaf_of(parameters, limits, min_leaf, part)
                        total = cost if present == 0 else task.combined(parameters, total, cost)
                        present += 1
                if TABLE:
                    total = task.combined(parameters, total, costs[COST, e.n_active + c])
                if CALLED:
                    total = task.combined(parameters, total, second[2 * k + side, e.n_active + c])
                if present > 1:
                    costs[SPLIT1 + side, k] = min(costs[SPLIT1 + side, k], total)


@native
def find_costs(e, parameters, sums, totals, costs):  # type: ignore[no-untyped-def]
    """Writes the branching costs of all columns at the root, and below every column."""
    local = matrix(e.local_literals, 3, max(e.categorical, 1), int64)
    active = vector(e.active, e.width, int64)
    caller = vector(e.caller_columns, e.columns, int64)
    literals = vector(e.literals, e.categorical + 1, int64)
    space = e.width + e.categorical
    second = matrix(e.pair_costs, 2 * space, space, task.VALUE)
    words = e.path_words
    bits = vector(e.asked_rows + 8 * e.row_words, words, uint64)
    path = np.empty(64 * words + 2, np.int64)
    table = vector(e.split_costs, e.columns + e.categorical, task.VALUE)
    size = int64(totals[task.PLANES - 1])
    for k in range(-1, e.n_active):
        # of the root, then of both sides of every column
        here = list_path(bits, words, e.scored_column, NONE if k < 0 else caller[active[k]], path)
        with_k = int64(sums[task.PLANES - 1, k]) if k >= 0 else size
        for j in range(e.n_active + e.n_categorical):
            column = active[j] if j < e.n_active else literals[local[2, j - e.n_active]]
            more = task.VALUE(0)
            if BOTH:
                more = table[column if j < e.n_active else e.columns + local[2, j - e.n_active]]
            cost1 = task.cost_of_split(parameters, with_k, path[:here], caller[column]) + more
            if k < 0:
                costs[COST, j] = cost1
            else:
                second[2 * k, j] = cost1
                second[2 * k + 1, j] = task.cost_of_split(parameters, size - with_k, path[:here], caller[column]) + more


@inline
def write_values(e, parameters, scale, sums, t, costs, floors):  # type: ignore[no-untyped-def]
    """Writes the codes of all columns' values."""
    found = matrix(e.scored_values, int64(rows.ROWS_OF_VALUES), e.width + e.categorical, int64)
    for k in range(e.n_active):
        with_k = task.at(sums, k)
        for side in range(2):
            leaf = task.encode(costs[LEAF1 + side, k], scale)
            split = task.encode(costs[SPLIT1 + side, k], scale)
            e.overflow |= int64(leaf == LOWEST or split == LOWEST)
            least = int64(LOWEST)
            if BOUND:
                here = with_k if side == 0 else task.minus(t, with_k)
                least = task.encode(task.bound_of(parameters, here), scale) if here[-1] > 0 else int64(INFINITE)
            if FLOORS:
                floor = floors[k] if side == 0 else floors[e.width] - floors[k]
                least = max(least, task.encode(floor, scale))
            found[rows.LEAF1 + side, k] = leaf
            found[rows.SPLIT1 + side, k] = split
            found[rows.LEAST1 + side, k] = least
        found[rows.COST, k] = task.encode(costs[COST, k], scale) if COSTS else NO_COST
        found[rows.KEY, k] = task.encode(costs[WITH1, k], scale)


@native
def join_categories(e, parameters, scale, sums, costs):  # type: ignore[no-untyped-def]
    """The least cost of a tree with a categorical column at its root; writes those of all of them."""
    local = matrix(e.local_literals, 3, max(e.categorical, 1), int64)
    found = matrix(e.scored_values, int64(rows.ROWS_OF_VALUES), e.width + e.categorical, int64)
    best = task.VALUE(task.INFEASIBLE)
    for c in range(e.n_categorical):
        place = e.n_active + c
        key = task.VALUE(task.INFEASIBLE)
        present = 0
        for k in range(local[0, c], local[1, c]):
            if sums[task.PLANES - 1, k] > 0:
                side = min(costs[LEAF1, k], costs[SPLIT1, k])
                key = side if present == 0 else task.combined(parameters, key, side)
                present += 1
        if COSTS:
            key = task.combined(parameters, key, costs[COST, place])
        if present < 2:
            key = task.VALUE(task.INFEASIBLE)
        found[rows.KEY, place] = task.encode(key, scale)
        found[rows.COST, place] = task.encode(costs[COST, place], scale) if COSTS else NO_COST
        best = min(best, key)
    return best


def score(address):  # type: ignore[no-untyped-def]
    """Scores the sums that the record has, as `scoring/generated.py` asks."""
    e = engine_at(address)
    overflow = e.overflow
    e.overflow = RAISED
    stride = e.stride
    n = e.n_active
    space = e.width + e.categorical
    pairs = matrix(e.scored_pairs, task.PLANES * stride, stride, task.LANE)
    sums = matrix(e.scored_sums, int64(task.PLANES), e.width, task.LANE)
    totals = vector(e.scored_totals, int64(task.PLANES), task.TOTAL)
    costs = matrix(e.costs, int64(ROWS_OF_COSTS), space, task.VALUE)
    numbers = vector(e.numbers, int64(task.WORDS), int64)
    floors = vector(e.floor_sums, e.width + 1, float64)
    scale = real_of(numbers[0])
    parameters = task.parameters_of(numbers)
    limits = task.limits_of(numbers)
    t = task.entries(totals)
    leaf = task.leaf_of(parameters, limits, e.min_leaf, t)
    code = task.encode(leaf, scale)
    e.scored_leaf = code
    e.scored_least = task.encode(task.bound_of(parameters, t), scale) if BOUND else LOWEST
    if FLOORS:
        e.scored_least = max(e.scored_least, task.encode(floors[e.width], scale))
    e.overflow |= int64(code == LOWEST)
    end = (n + 7) // 8 * 8
    end = min(stride, end)
    task.score_leaves(numbers, e.min_leaf, sums, end, t, costs[LEAF1], costs[LEAF0])
    for k in range(end):
        costs[SPLIT1, k] = task.INFEASIBLE
        costs[SPLIT0, k] = task.INFEASIBLE
    if TABLE:
        table = vector(e.split_costs, e.columns + e.categorical, task.VALUE)
        active = vector(e.active, e.width, int64)
        local = matrix(e.local_literals, 3, max(e.categorical, 1), int64)
        for k in range(end):
            costs[COST, k] = table[active[k]] if k < n else 0
        for c in range(e.n_categorical):
            costs[COST, n + c] = table[e.columns + local[2, c]]
    if CALLED:
        find_costs(e, parameters, sums, totals, costs)
    if e.asked_depth != 1 or e.scored_column != NONE:
        score_pairs(e, numbers, pairs, sums, t, costs)
        if MULTIWAY:
            score_categories(e, parameters, limits, pairs, sums, costs)
    keys = costs[WITH1]
    join_sides(numbers, end, costs[LEAF1], costs[LEAF0], costs[SPLIT1], costs[SPLIT0], costs[COST], keys)
    best = lowest(keys, e.n_binary, leaf)
    if e.scored_column == NONE:
        write_values(e, parameters, scale, sums, t, costs, floors)
    if MULTIWAY:
        key = join_categories(e, parameters, scale, sums, costs)
        best = min(best, key)
    e.scored_best = task.encode(best, scale)
    e.overflow |= int64(e.scored_best == LOWEST)
    e.overflow = overflow | (e.overflow & ~RAISED)


def combine_values(address):  # type: ignore[no-untyped-def]
    """Combines two values of the record."""
    e = engine_at(address)
    numbers = vector(e.numbers, int64(task.WORDS), int64)
    scale = real_of(numbers[0])
    total = task.combined(
        task.parameters_of(numbers), task.decode(int64(e.left), scale), task.decode(int64(e.right), scale)
    )
    e.combined = task.encode(total, scale)


def subtract_values(address):  # type: ignore[no-untyped-def]
    """Subtracts a value of the record from another: a bound, rounded up."""
    e = engine_at(address)
    numbers = vector(e.numbers, int64(task.WORDS), int64)
    scale = real_of(numbers[0])
    left = task.decode(int64(e.left), scale)
    right = task.decode(int64(e.right), scale)
    rest = task.SIGN * task.subtract(task.parameters_of(numbers)[0], task.SIGN * left, task.SIGN * right)
    e.combined = task.encode(task.UP(rest), scale)


def find_floors(address):  # type: ignore[no-untyped-def]
    """Writes what every row costs at least, by itself."""
    e = engine_at(address)
    numbers = vector(e.numbers, int64(task.WORDS), int64)
    parameters = task.parameters_of(numbers)
    rows_of = matrix(e.row_values, e.row_space, task.PADDED, float64)
    floors = vector(e.row_floors, e.row_space, float64)
    for k in range(e.row_space):
        if rows_of[k, task.PLANES - 1] > 0:
            floors[k] = task.cost_of_best_leaf(parameters, task.states_of(parameters, task.entries(rows_of[k])))
