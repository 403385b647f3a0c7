"""Rows as the literals that remove them, for the branch and bound of conjunctions.py.

A row has a bit for each literal of a node, in planes of words: bit j % 64 of plane j / 64 is set where literal j does
not hold. So rows of equal bits are alike for all that follows, and where the bits of one row are among those of another
one, the first stays whenever the second does. Literals go from node to node; once those left fit fewer planes, rows are
written anew.
"""

from __future__ import annotations

from numba import int64, uint64

from streed.kernels.views import native

_GOLDEN = 0x9E3779B97F4A7C15


@native
def planes_of(masks, literals, rows, n_literals, planes):  # type: ignore[no-untyped-def]
    """Writes, for each of the rows, which of the literals remove it: bit j % 64 of plane j / 64 is literal j."""
    n = len(rows)
    planes[: (n_literals + 63) // 64, :n] = uint64(0)
    for j in range(n_literals):
        f = literals[j] >> 1
        want = -(literals[j] & 1)
        bit = uint64(1) << uint64(j & 63)
        plane = planes[j >> 6]
        for t in range(n):
            if masks[rows[t], f] != want:
                plane[t] |= bit


@native
def repack(planes, n, bits, literals, n_bits, spare, literals2):  # type: ignore[no-untyped-def]
    """How many planes the first bits need: bit j of a row becomes what bit `bits[j]` was, and so do literals."""
    needed = (n_bits + 63) // 64
    spare[:needed, :n] = uint64(0)
    for j in range(n_bits):
        source = planes[bits[j] >> 6]
        shift = uint64(bits[j] & 63)
        target = spare[j >> 6]
        to = uint64(j & 63)
        for t in range(n):
            target[t] |= ((source[t] >> shift) & uint64(1)) << to
        literals2[j] = literals[bits[j]]
    planes[:needed, :n] = spare[:needed, :n]
    for j in range(n_bits):
        literals[j] = literals2[j]
        bits[j] = j
    return needed


@native
def merge(planes, n_planes, weights, counts, n, stamps, keys, at, now, drop):  # type: ignore[no-untyped-def]
    """(rows that remain, what the others weigh, how many they are): rows that the same literals remove become one.

    The others are those that no literal removes. With `drop`, rows whose weights cancel go.
    """
    size = int64(64)
    while size < 4 * n:
        size *= 2
    q = 0
    settled = int64(0)
    rows_settled = int64(0)
    for t in range(n):
        any_of = planes[0, t]
        h = any_of * uint64(_GOLDEN)
        for k in range(1, n_planes):
            any_of |= planes[k, t]
            h = ((h << uint64(23)) ^ (h >> uint64(41)) ^ planes[k, t]) * uint64(_GOLDEN)
        if any_of == uint64(0):
            settled += weights[t]
            rows_settled += counts[t]
            continue
        s = int64(h >> uint64(32)) & (size - 1)
        while stamps[s] == now:
            if keys[s] == h:
                same = True
                for k in range(n_planes):
                    same = same and planes[k, at[s]] == planes[k, t]
                if same:
                    break
            s = (s + 1) & (size - 1)
        if stamps[s] == now:
            weights[at[s]] += weights[t]
            counts[at[s]] += counts[t]
        else:
            stamps[s] = now
            keys[s] = h
            at[s] = q
            for k in range(n_planes):
                planes[k, q] = planes[k, t]
            weights[q] = weights[t]
            counts[q] = counts[t]
            q += 1
    if drop:
        n = q
        q = 0
        for t in range(n):
            if weights[t] != 0:
                for k in range(n_planes):
                    planes[k, q] = planes[k, t]
                weights[q] = weights[t]
                counts[q] = counts[t]
                q += 1
    return q, settled, rows_settled


@native
def flow(planes, n_planes, weights, n, enough, above, missing, left):  # type: ignore[no-untyped-def]
    """What of the positive weight is set against negative rows that come along with it, up to about `enough`.

    `above` (planes, n) uint64, `missing` (n,) uint64 and `left` (n,) int64 are for the bits of positive rows, those
    of a negative row that each lacks, and what each still weighs.
    """
    positive = int64(0)
    for t in range(n):
        if weights[t] > 0:
            left[positive] = weights[t]
            for k in range(n_planes):
                above[k, positive] = planes[k, t]
            positive += 1
    flow = int64(0)
    for t in range(n):
        need = -weights[t]
        if need <= 0:
            continue
        bits = planes[0, t]
        for u in range(positive):
            missing[u] = bits & ~above[0, u]
        for k in range(1, n_planes):
            bits = planes[k, t]
            for u in range(positive):
                missing[u] |= bits & ~above[k, u]
        offered = int64(0)
        for u in range(positive):
            offered += left[u] if missing[u] == uint64(0) else int64(0)
        if offered <= need:
            if offered > 0:
                for u in range(positive):
                    left[u] = int64(0) if missing[u] == uint64(0) else left[u]
            flow += offered
        else:
            flow += need
            for u in range(positive):
                if missing[u] == uint64(0):
                    taken = min(left[u], need)
                    left[u] -= taken
                    need -= taken
                    if need == 0:
                        break
        if flow >= enough:
            break
    return flow


@native
def weigh_removed(plane, shift, weights, n):  # type: ignore[no-untyped-def]
    """(positive weight, negative weight) of the rows that the literal of this bit removes."""
    positive = int64(0)
    negative = int64(0)
    for t in range(n):
        taken = weights[t] & -int64((plane[t] >> shift) & uint64(1))
        positive += max(taken, int64(0))
        negative += min(taken, int64(0))
    return positive, negative


@native
def take(planes, n_planes, weights, counts, n, bit, kept, planes2, weights2, counts2):  # type: ignore[no-untyped-def]
    """(rows that the literal of a bit keeps, the most that conjunctions of them weigh, by rows that stay in any case).

    Writes the rows with the bits `kept` only, in place if arrays are the same.
    """
    plane = planes[bit >> 6]
    mask = uint64(1) << uint64(bit & 63)
    q = 0
    most = int64(0)
    for t in range(n):
        if plane[t] & mask == uint64(0):
            any_of = uint64(0)
            for k in range(n_planes):
                planes2[k, q] = planes[k, t] & kept[k]
                any_of |= planes2[k, q]
            weight = weights[t]
            weights2[q] = weight
            counts2[q] = counts[t]
            q += 1
            most += weight if any_of == uint64(0) else max(weight, int64(0))
    return q, most
