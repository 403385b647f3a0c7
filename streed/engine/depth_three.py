"""The work unit of the search: the best tree of depth at most three over a set of rows, up to a target value.

    load the rows; count pairs: the best tree of depth two by its first column gives an order and an incumbent
    for each first column in that order:
        skip it if the lower bounds of its children reach the incumbent or the target
        else solve its children to depth two: remembered by branch, or in one pass over the smaller child
        push similarity bounds from these children to the children of all other columns

What differs between kinds of tasks is how pairs are scored. Three functions say it, and are compiled in:
`prepare(e, lane, keys)`, `solve_children(e, lane, column)` and `leaves(e, lane, column)`; see `signed.py`, `labels.py`.

The answer is (lower, upper, split): bounds on the optimum and the first split of the best tree found. The optimum is
known, lower == upper, if it is below the target; otherwise lower >= target, unless the search was stopped.
"""

from __future__ import annotations

from numba import int64, uint64

from streed.engine.bounds import LOWER0, LOWER1, ROWS_OF_BOUNDS, WEIGHT, bound_by_node, bound_by_sibling
from streed.engine.branch_cache import UNKNOWN, extend_branch, literal, recall_branch, store_branch
from streed.engine.control import stopped
from streed.engine.expansion import ROWS_OF_VALUES
from streed.engine.records import INFINITE, LEAF
from streed.engine.rows import load_node, spread_rows
from streed.engine.simd import price_of
from streed.engine.views import inline, matrix, native, vector

KEY, OPTIMUM1, OPTIMUM0, ORDER, OWN1, OWN0 = 0, 1, 2, 3, 4, 5
"""Rows of `values`: by split, the cost of the best tree of depth two that begins with it; by column, the optimal costs
of its children at depth two, or UNKNOWN; then the splits in the order in which they are tried; if the children of all
columns were asked for, lower bounds of the children at depth three that follow from the node's own optimum. A local
split is a binary column, or n_active + c for the node's c-th categorical column."""


@native
def solve_depth_three(e, lane, prepare, solve_children, leaves):  # type: ignore[no-untyped-def]
    """Answers in e.lower, e.upper and e.split for the rows, the depth (1 to 3) and the target asked for."""
    e.units += 1
    load_node(e, vector(e.asked_rows, e.row_words, uint64))
    values = matrix(e.values, ROWS_OF_VALUES, e.width + e.categorical, int64)
    leaf = prepare(e, lane, values[KEY])
    e.lower = leaf
    e.upper = leaf
    e.split = LEAF
    if leaf == 0 or e.n_active == 0 or e.asked_depth == 0:
        return
    if e.asked_depth == 1:
        _key_by_leaves(e, lane, values, leaves)
    splits = _order_splits(e, values)
    if splits > 0 and values[KEY, values[ORDER, 0]] < leaf:
        e.upper = values[KEY, values[ORDER, 0]]
        e.split = values[ORDER, 0]
    e.lower = e.upper
    if e.asked_depth == 3:
        spread_rows(e)
        bounds = matrix(e.bounds, ROWS_OF_BOUNDS, e.width, lane)
        bound_by_node(bounds, e.stride, min(e.upper, price_of(bounds)), e.weight)
        if e.split_cost > 0:
            _bound_by_purity(e, lane, bounds, leaves)
        _recall_children(e, values, bounds)
        _search(e, lane, values, bounds, splits, solve_children)
        if e.asked_all == 1:
            for k in range(e.n_active):
                with_column = int64(bounds[WEIGHT, k])
                values[OWN1, k] = max(int64(0), e.upper - (e.weight - with_column))
                values[OWN0, k] = max(int64(0), e.upper - with_column)
    e.split = _global_split(e, e.split)


@native
def _key_by_leaves(e, lane, values, leaves):  # type: ignore[no-untyped-def]
    """Makes the keys those of depth one: every side is a leaf."""
    for k in range(e.n_active):
        cost1, cost0 = leaves(e, lane, k)
        values[KEY, k] = min(e.split_cost + cost1 + cost0, INFINITE)
    literals = matrix(e.local_literals, 3, max(e.categorical, 1), int64)
    for c in range(e.n_categorical):
        total = e.split_cost
        for k in range(literals[0, c], literals[1, c]):
            total = min(total + leaves(e, lane, k)[0], INFINITE)
        values[KEY, e.n_active + c] = total


@native
def _order_splits(e, values):  # type: ignore[no-untyped-def]
    """How many splits there are; lists them by rising key (Shell sort: short, and quick on a hundred entries).

    Splits that leave a side without rows are none.
    """
    ones = vector(e.ones, e.width, int64)
    count = int64(0)
    for k in range(e.n_binary):
        if 0 < ones[k] < e.n_rows:
            values[ORDER, count] = k
            count += 1
    for c in range(e.n_categorical):
        values[ORDER, count] = e.n_active + c
        count += 1
    gap = int64(1)
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, count):
            split = values[ORDER, i]
            key = values[KEY, split]
            at = i
            while at >= gap and values[KEY, values[ORDER, at - gap]] > key:
                values[ORDER, at] = values[ORDER, at - gap]
                at -= gap
            values[ORDER, at] = split
        gap //= 3
    return count


@native
def _bound_by_purity(e, lane, bounds, leaves):  # type: ignore[no-untyped-def]
    """Purification (Branches, Prop. 4.2): a side is a leaf, or is split at least once and errs nowhere at best."""
    for k in range(e.n_active):
        leaf1, leaf0 = leaves(e, lane, k)
        bounds[LOWER1, k] = max(int64(bounds[LOWER1, k]), min(leaf1, e.split_cost))
        bounds[LOWER0, k] = max(int64(bounds[LOWER0, k]), min(leaf0, e.split_cost))


@native
def _recall_children(e, values, bounds):  # type: ignore[no-untyped-def]
    """Fills the optimal costs of children that the branch cache remembers, and raises their lower bounds to them."""
    active = vector(e.active, e.width, int64)
    for k in range(e.n_active):
        for side in range(2):
            high, low = extend_branch(e.asked_high, e.asked_low, literal(active[k], side))
            cost = recall_branch(e, high, low)
            values[OPTIMUM1 if side == 1 else OPTIMUM0, k] = cost
            if cost != UNKNOWN:
                row = LOWER1 if side == 1 else LOWER0
                bounds[row, k] = max(int64(bounds[row, k]), min(cost, price_of(bounds)))


@native
def _search(e, lane, values, bounds, splits, solve_children):  # type: ignore[no-untyped-def]
    """Tries the splits in order; begins and ends with the incumbent in e.upper and e.split."""
    literals = matrix(e.local_literals, 3, max(e.categorical, 1), int64)
    ones = vector(e.ones, e.width, int64)
    skipped = int64(INFINITE)
    for index in range(splits):
        if (e.upper <= e.asked_lower or e.upper == 0) and e.asked_all == 0:
            break
        split = values[ORDER, index]
        bound = _lower_bound(e, bounds, literals, split)
        if bound >= min(e.upper, e.asked_target) and e.asked_all == 0:
            skipped = min(skipped, bound)
            e.pruned += 1
            continue
        if stopped(e):
            skipped = min(skipped, e.asked_lower)
            break
        cost = e.split_cost
        if split < e.n_active:
            _solve_column(e, lane, values, bounds, split, solve_children)
            cost = min(cost + values[OPTIMUM1, split] + values[OPTIMUM0, split], INFINITE)
        else:
            for k in range(literals[0, split - e.n_active], literals[1, split - e.n_active]):
                if ones[k] > 0:
                    _solve_column(e, lane, values, bounds, k, solve_children)
                    cost = min(cost + values[OPTIMUM1, k], INFINITE)
        if cost < e.upper:
            e.upper = cost
            e.split = split
    e.lower = max(min(e.upper, skipped), min(e.upper, e.asked_lower))


@inline
def _lower_bound(e, bounds, literals, split):  # type: ignore[no-untyped-def]
    """The lower bound of a split: its own cost and the lower bounds of its children."""
    if split < e.n_active:
        return e.split_cost + int64(bounds[LOWER1, split]) + int64(bounds[LOWER0, split])
    total = e.split_cost
    for k in range(literals[0, split - e.n_active], literals[1, split - e.n_active]):
        total += int64(bounds[LOWER1, k])
    return total


@native
def _solve_column(e, lane, values, bounds, column, solve_children):  # type: ignore[no-untyped-def]
    """Solves the children of a local column, remembers them and pushes their costs to the bounds of all others."""
    is_binary = column < e.n_binary
    if values[OPTIMUM1, column] == UNKNOWN or (is_binary and values[OPTIMUM0, column] == UNKNOWN):
        e.pair_passes += 1
        cost1, cost0 = solve_children(e, lane, column)
        values[OPTIMUM1, column] = cost1
        values[OPTIMUM0, column] = cost0
        number = vector(e.active, e.width, int64)[column]
        high, low = extend_branch(e.asked_high, e.asked_low, literal(number, 1))
        store_branch(e, high, low, cost1)
        if is_binary:
            high, low = extend_branch(e.asked_high, e.asked_low, literal(number, 0))
            store_branch(e, high, low, cost0)
    if e.restrictable == 1:
        pairs = matrix(e.pairs, (e.worst_plane + 1) * e.stride, e.stride, lane)
        row = e.worst_plane * e.stride + column
        cost0 = values[OPTIMUM0, column] if is_binary else int64(0)
        bound_by_sibling(bounds, pairs, row, column, e.stride, e.weight, values[OPTIMUM1, column], cost0)


@inline
def _global_split(e, split):  # type: ignore[no-untyped-def]
    """The split of the problem that a local split is: a binary column, or binary_columns + a categorical column."""
    if split < 0:
        return int64(LEAF)
    if split < e.n_active:
        return vector(e.active, e.width, int64)[split]
    return e.binary_columns + matrix(e.local_literals, 3, max(e.categorical, 1), int64)[2, split - e.n_active]
