"""Trees of depth three or less within intervals of sums, compiled: `near_optimal.py` in few calls.

A split of the rows and the entries of its two sides are met here, for many splits in one call, and a tree of depth two
or less is found for an entry in one call. The choice between equal trees is that of `near_optimal.py`, step by step.
The arguments are those of `packed_kernels.py`.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, int64, uint8

from streed.enumerate.entries import find_addends, meet, order_by, take
from streed.enumerate.key_kernels import decode_keys
from streed.enumerate.layout import COST, FULL, KEY, OUTGROWN, SPACE, VALUE
from streed.enumerate.packed_kernels import count_sums, write_rows
from streed.enumerate.shallow import find_shallow, shallow_entries
from streed.kernels.compiled import entry
from streed.kernels.pointers import engine_at
from streed.kernels.records import LEAF, NONE
from streed.kernels.stopping import stopped
from streed.kernels.views import copy_into, native, vector

_DEPTH = 2
"""Of the sides."""

_MOST_NODES = 7


@native
def _affordable(depth, cost, split):  # type: ignore[no-untyped-def]
    """The depth, or no more than trees of so many nodes as the cost pays for have."""
    return depth if split[COST] == 0 else min(depth, max(int64(0), cost) // split[COST])


@native
def _side(e, rows, budget, weights, base, split, limits, scratch):  # type: ignore[no-untyped-def]
    """The entries of the trees of depth two for the rows of one side."""
    depth = _affordable(int64(_DEPTH), budget, split)
    pairs, total, least = count_sums(e, rows, depth, weights, base, scratch)
    found = shallow_entries(pairs, total, least, split, depth, int64(e.min_leaf), budget, limits)
    if depth > 0 and len(found) > limits[SPACE]:
        limits[FULL] = 1
    return found


@native
def _sums(entries, places, factors, divisors):  # type: ignore[no-untyped-def]
    """The sums that the keys of entries hold."""
    return decode_keys(np.ascontiguousarray(entries[:, KEY:]), places, factors, divisors)


@entry
def meet_splits(  # type: ignore[no-untyped-def]
    engine, rows, ranked, begin, end, budget, below, weights, base, split, limits, scratch,
    places, factors, divisors, least, most,
):  # fmt: skip
    """Words of the best tree that begins with one of the splits ranked[begin:end], whose value is less than `below`.

    The place of its split among all that are ranked (NONE: there is no such tree; OUTGROWN: entries are more than there
    may be), its value, and the entries of its sides without the column and with it. `ranked` is what `rank_columns`
    gives for the rows and the budget; places, factors and divisors are those of keys (`keys.py`); least, most (q,).
    """
    e = engine_at(engine)
    width = len(split)
    found = np.zeros(2 + 2 * width, np.int64)
    found[0] = NONE
    best = int64(below)
    own = np.zeros((1, width), np.int64)
    for c in range(width):
        own[0, c] = split[c]
    add = _sums(own, places, factors, divisors)
    low = least - add[0]
    high = most - add[0]
    side = np.empty(e.row_words, np.uint64)
    room = budget - split[COST]
    for k in range(begin, end):
        if stopped(e):
            break
        write_rows(e, rows, ranked[k, 1], 1, side)
        first = _side(e, side, room - ranked[k, 2], weights, base, split, limits, scratch)
        if len(first) == 0 and limits[FULL] == 0:
            continue
        write_rows(e, rows, ranked[k, 1], 0, side)
        last = _side(e, side, room - ranked[k, 3], weights, base, split, limits, scratch)
        if limits[FULL] == 1:
            found[0] = OUTGROWN
            break
        if len(last) == 0:
            continue
        sums = _sums(last, places, factors, divisors)
        order = order_by(sums, len(last), 0)
        value, i, j = meet(
            first, take(last, order, len(last)), _sums(first, places, factors, divisors),
            take(sums, order, len(last)), low, high, best - split[VALUE],
        )  # fmt: skip
        if i < 0:
            continue
        best = value + split[VALUE]
        i, j = find_addends(first, len(first), last, len(last), first[i] + last[order[j]])
        found[0] = k
        found[1] = best
        copy_into(found[2:], first[i])
        copy_into(found[2 + width :], last[j])
    return found


@entry
def grow_shallow(engine, rows, depth, target, weights, base, split, scratch):  # type: ignore[no-untyped-def]
    """(2, m) int64: a tree of depth two or less for the rows (W,) whose entry is the target; m is 0 if there is none.

    The bit column of every node in preorder, LEAF for leaves, and the label of every leaf. The children of a node are
    in the order of the caller's codes.
    """
    e = engine_at(engine)
    labels = (weights.shape[1] - 1) // len(split) + 1
    tree = np.zeros((2, _MOST_NODES), np.int64)
    count = 0
    # the subtrees that are still to be found, the next one last
    waiting = np.empty((_DEPTH + 1, e.row_words), np.uint64)
    targets = np.empty((_DEPTH + 1, len(split)), np.int64)
    depths = np.empty(_DEPTH + 1, np.int64)
    copy_into(waiting[0], rows)
    copy_into(targets[0], target)
    depths[0] = _affordable(depth, target[COST], split)
    size = 1
    here = np.empty(e.row_words, np.uint64)
    relative = boolean(False)
    while size > 0:
        size -= 1
        copy_into(here, waiting[size])
        wanted = targets[size].copy()
        below = depths[size]
        label = int64(NONE)
        place = int64(NONE)
        column = int64(NONE)
        having = wanted
        without = wanted
        if relative and below == 0 and labels == 2:
            # an entry of these rows: nothing beyond the first label, or what the second one has beyond it
            label = int64(wanted.any())
        else:
            pairs, total, least = count_sums(e, here, below, weights, base, scratch)
            if not relative:
                wanted = wanted - least
            label, place, having, without = find_shallow(pairs, total, split, below, int64(e.min_leaf), wanted)
            if place >= 0:
                column = vector(e.active, e.width, int64)[place]
        if label < 0 and place < 0:
            return tree[:, :0].copy()
        tree[0, count] = LEAF if label >= 0 else column
        tree[1, count] = max(label, int64(0))
        count += 1
        if label < 0:
            turned = int64(vector(e.flipped, e.columns, uint8)[column])
            for turn in range(2):
                # the second child waits first; of a turned column it is that without
                is_without = turn == 1 - turned
                write_rows(e, here, column, int64(is_without), waiting[size])
                copy_into(targets[size], without if is_without else having)
                depths[size] = below - 1
                size += 1
        relative = boolean(True)
    return tree[:, :count].copy()
