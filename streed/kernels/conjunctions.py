"""The heaviest conjunctions of literals, exactly: by branch and bound (conjunction_beam.py has a quick search).

A literal is 2 f + v: column f has the value v. A conjunction keeps the rows that satisfy all of its literals, and
weighs what they weigh together; weights have any sign. Branch and bound enumerates sets of literals, each literal
followed by those behind it only (in order of what positive weight they keep), with four rules:

- a conjunction weighs no more than its positive rows (the bound);
- a literal that removes no row of negative weight is of no use, and one that keeps too little can be in no answer;
- a literal that all positive rows satisfy only helps, and is taken at once (not where literals are limited in number,
  or rows must remain);
- rows that no remaining literal parts are one row, of the sum of their weights, which cancels positive against negative
  ones (Eckstein and Goldberg, An improved branch-and-bound method for maximum monomial agreement, 2012).
"""

from __future__ import annotations

import numpy as np
from numba import int8, int32, int64, uint64

from streed.kernels.compiled import entry
from streed.kernels.control import LONGEST, STOP
from streed.kernels.simd import load_atomic
from streed.kernels.views import native

_GOLDEN = 0x9E3779B97F4A7C15

NOTHING = -(1 << 62)
"""What no conjunction weighs."""

_LOOK = 63
"""A look at whether to stop, every so many nodes (a mask)."""


@native
def random_words(n):  # type: ignore[no-untyped-def]
    """(n,) uint64, the same ones always (xorshift): sums of them tell sets apart."""
    words = np.empty(n, np.uint64)
    x = uint64(88172645463325252)
    for i in range(n):
        x ^= x << uint64(13)
        x ^= x >> uint64(7)
        x ^= x << uint64(17)
        words[i] = x
    return words


@native
def store(values, literals, lengths, stored, value, path, length):  # type: ignore[no-untyped-def]
    """How many conjunctions are stored once this one is, in the place of the lightest one if there is no room."""
    at = stored
    if stored == len(values):
        at = int64(0)
        for j in range(1, stored):
            if values[j] < values[at]:
                at = j
        if values[at] >= value:
            return stored
    else:
        stored += 1
    values[at] = value
    lengths[at] = length
    for j in range(length):
        literals[at, j] = path[j]
    return stored


@native
def _weigh_columns(masks, rows, weights, n, positive, all_of):  # type: ignore[no-untyped-def]
    """Writes what rows with each column weigh: the positive ones, and all of them."""
    m = masks.shape[1]
    for f in range(m):
        positive[f] = 0
        all_of[f] = 0
    for t in range(n):
        weight = weights[t]
        gain = max(weight, int32(0))
        mask = masks[rows[t]]
        for f in range(m):
            taken = int32(mask[f])
            positive[f] += gain & taken
            all_of[f] += weight & taken


@native
def _keep_rows(masks, literal, rows, weights, counts, n, rows2, weights2, counts2):  # type: ignore[no-untyped-def]
    """How many rows satisfy the literal; copies them (in place if the arrays are the same)."""
    f = literal >> 1
    want = int8(-(literal & 1))
    q = 0
    for t in range(n):
        r = rows[t]
        if masks[r, f] == want:
            rows2[q] = r
            weights2[q] = weights[t]
            counts2[q] = counts[t]
            q += 1
    return q


@native
def _merge(masks, used, words, rows, weights, counts, n, stamps, keys, at, now, drop):  # type: ignore[no-untyped-def]
    """(how many rows remain, whether some were merged): rows that agree in the columns of `used` become one.

    With `drop`, rows whose weights cancel go.
    """
    m = masks.shape[1]
    size = len(stamps)
    q = 0
    for t in range(n):
        r = rows[t]
        h = uint64(1)
        for f in range(m):
            h += words[f] & uint64(int64(masks[r, f])) & used[f]
        mixed = (h ^ (h >> uint64(29))) * uint64(_GOLDEN)
        s = int64(mixed >> uint64(32)) & (size - 1)
        while stamps[s] == now and keys[s] != h:
            s = (s + 1) & (size - 1)
        if stamps[s] == now:
            weights[at[s]] += weights[t]
            counts[at[s]] += counts[t]
        else:
            stamps[s] = now
            keys[s] = h
            at[s] = q
            rows[q] = r
            weights[q] = weights[t]
            counts[q] = counts[t]
            q += 1
    merged = q < n
    if drop:
        n = q
        q = 0
        for t in range(n):
            if weights[t] != 0:
                rows[q] = rows[t]
                weights[q] = weights[t]
                counts[q] = counts[t]
                q += 1
    return q, merged


@native
def _sort(candidates, keeps, n):  # type: ignore[no-untyped-def]
    """Sorts the first n candidates by what they keep: by insertion, as they stand in the order of the node above."""
    for i in range(1, n):
        literal = candidates[i]
        kept = keeps[i]
        k = i
        while k > 0 and keeps[k - 1] > kept:
            keeps[k] = keeps[k - 1]
            candidates[k] = candidates[k - 1]
            k -= 1
        keeps[k] = kept
        candidates[k] = literal


@entry
def heaviest_conjunctions(  # type: ignore[no-untyped-def]
    masks,
    literals_allowed,
    weights,
    counts,
    least_rows,
    threshold,
    most_literals,
    node_limit,
    control,
    values,
    found,
    lengths,
):
    """(the largest weight seen, nodes, whether it ended, conjunctions stored).

    If it ended, none weighs more than the first answer or the threshold, whichever is larger. Of those above the
    threshold, such are stored as weigh more than any larger set of rows that the rules lead to.

    masks (N, m) int8 are -1 where a row has a column, literals_allowed (2 m,) uint8, weights (N,) int32 whose sums fit,
    counts (N,) int64 the rows that each stands for. Answers in values (cap,), found (cap, LONGEST) and lengths (cap,).
    """
    n, m = masks.shape
    limited = most_literals < m or least_rows > 1
    most_literals = min(most_literals, LONGEST)
    deep = min(most_literals, m) + 2
    rows = np.empty((deep, n), np.int32)
    own = np.empty((deep, n), np.int32)
    many = np.empty((deep, n), np.int64)
    n_rows = np.zeros(deep, np.int64)
    candidates = np.empty((deep, 2 * m), np.int32)
    keeps = np.empty((deep, 2 * m), np.int64)
    n_candidates = np.zeros(deep, np.int64)
    following = np.zeros(deep, np.int64)
    path = np.zeros((deep, LONGEST + 1), np.int32)
    length = np.zeros(deep, np.int64)
    positive = np.empty(m, np.int32)
    all_of = np.empty(m, np.int32)
    words = random_words(m)
    used = np.zeros(m, np.uint64)
    size = 64
    while size < 4 * n:
        size *= 2
    stamps = np.zeros(size, np.int64)
    keys = np.zeros(size, np.uint64)
    at = np.zeros(size, np.int32)
    now = int64(0)
    q = 0
    for i in range(n):
        if weights[i] != 0 or least_rows > 1:
            rows[0, q] = i
            own[0, q] = weights[i]
            many[0, q] = counts[i]
            q += 1
    n_rows[0] = q
    for literal in range(2 * m):
        if literals_allowed[literal] == 1:
            candidates[0, n_candidates[0]] = literal
            n_candidates[0] += 1
    best = int64(NOTHING)
    nodes = int64(0)
    stored = int64(0)
    complete = True
    entering = True
    d = 0
    while d >= 0:
        if entering:
            nodes += 1
            if nodes > node_limit or (nodes & _LOOK == 0 and load_atomic(control, STOP) != 0):
                complete = False
                break
            c = n_candidates[d]
            before = -1
            changed = True
            forced = True
            while True:
                if changed or forced:
                    gain = int64(0)
                    total = int64(0)
                    count = int64(0)
                    for t in range(n_rows[d]):
                        weight = own[d, t]
                        gain += max(weight, int32(0))
                        total += weight
                        count += many[d, t]
                    if forced and count >= least_rows and n_rows[d] > 0:
                        if total > best:
                            best = total
                        if total > threshold:
                            stored = store(values, found, lengths, stored, total, path[d], length[d])
                    forced = False
                    if gain <= threshold or (gain == total and least_rows <= 1) or count < least_rows:
                        c = 0
                        break
                    if length[d] >= most_literals:
                        if not limited or most_literals == LONGEST:
                            complete = False
                        c = 0
                        break
                    _weigh_columns(masks, rows[d], own[d], n_rows[d], positive, all_of)
                changed = False
                behind = c
                c = 0
                free = int64(-1)
                negative = total - gain
                for j in range(behind):
                    literal = int64(candidates[d, j])
                    f = literal >> 1
                    kept = int64(positive[f])
                    weight = int64(all_of[f])
                    if literal & 1 == 0:
                        kept = gain - kept
                        weight = total - weight
                    if kept <= threshold or (weight - kept == negative):
                        continue
                    if kept == gain:
                        free = literal
                    candidates[d, c] = literal
                    keeps[d, c] = kept
                    c += 1
                if free >= 0 and not limited:
                    n_rows[d] = _keep_rows(masks, free, rows[d], own[d], many[d], n_rows[d], rows[d], own[d], many[d])
                    path[d, length[d]] = free
                    length[d] += 1
                    behind = c
                    c = 0
                    for j in range(behind):
                        if candidates[d, j] >> 1 != free >> 1:
                            candidates[d, c] = candidates[d, j]
                            c += 1
                    forced = True
                    before = -1
                    continue
                if c == 0 or c == before:
                    break
                used[:] = uint64(0)
                for j in range(c):
                    used[candidates[d, j] >> 1] = ~uint64(0)
                now += 1
                n_rows[d], changed = _merge(
                    masks, used, words, rows[d], own[d], many[d], n_rows[d], stamps, keys, at, now, least_rows <= 1
                )
                before = c
                if not changed:
                    break
            _sort(candidates[d], keeps[d], c)
            n_candidates[d] = c
            following[d] = 0
            entering = False
        if following[d] < n_candidates[d]:
            j = following[d]
            following[d] += 1
            if keeps[d, j] <= threshold:
                continue
            literal = int64(candidates[d, j])
            n_rows[d + 1] = _keep_rows(
                masks, literal, rows[d], own[d], many[d], n_rows[d], rows[d + 1], own[d + 1], many[d + 1]
            )
            c = 0
            for k in range(j + 1, n_candidates[d]):
                if candidates[d, k] >> 1 != literal >> 1:
                    candidates[d + 1, c] = candidates[d, k]
                    c += 1
            n_candidates[d + 1] = c
            for k in range(length[d]):
                path[d + 1, k] = path[d, k]
            path[d + 1, length[d]] = literal
            length[d + 1] = length[d] + 1
            d += 1
            entering = True
        else:
            d -= 1
    return best, nodes, complete, stored
