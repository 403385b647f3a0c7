"""Sums over rows that are packed 64 to a word, for the compiled checker of proofs and for the prover.

Rows of the same regrets are one kind, and every word holds rows of one kind, so a sum over rows is one of counted bits
times what a row of that kind has. Of a column's literals the first is known by difference: there is no bit for it. B
counts the literals that have one, Q all, P the columns. Nothing of the engine is used.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from streed.exact import Array
from streed.kernels.compiled import entry

compiled = functools.partial(entry, error_model="numpy")
native = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model="numpy")


@intrinsic  # type: ignore[untyped-decorator]
def count_ones(typing: Any, word: Any) -> Any:
    """The bits of a word that are one."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), emit


@native
def add_ones(into, word, words, factor):  # type: ignore[no-untyped-def]
    """Adds to each place `factor` times the ones that a word shares with the place's."""
    if factor == 1:
        for c in range(len(into)):
            into[c] += count_ones(word & words[c])
    elif factor == -1:
        for c in range(len(into)):
            into[c] -= count_ones(word & words[c])
    elif factor != 0:
        for c in range(len(into)):
            into[c] += factor * count_ones(word & words[c])


@native
def add_pairs(kept, kinds, values, side, pairs):  # type: ignore[no-untyped-def]
    """Writes the sums pairs (K, B, B) of values (kinds, K), over the rows of a literal `side`, or all of them (-1)."""
    pairs[:] = 0
    n_values, n_literals = pairs.shape[0], pairs.shape[1]
    for w in range(len(kept)):
        words = kept[w]
        among = ~np.uint64(0) if side < 0 else words[side]
        if among == 0:
            continue
        for b in range(n_literals):
            word = among & words[b]
            if word != 0:
                for k in range(n_values):
                    add_ones(pairs[k, b, b:], word, words[b:], values[kinds[w], k])
    for k in range(n_values):
        for b in range(n_literals):
            for c in range(b):
                pairs[k, b, c] = pairs[k, c, b]


@native
def gain_of(sums):  # type: ignore[no-untyped-def]
    """What the best label gains, of its sums (K,); of one sum, that of two labels, its size."""
    if len(sums) == 1:
        return abs(sums[0])
    best = sums[0]
    for k in range(1, len(sums)):
        best = max(best, sums[k])
    return best


@native
def is_binary(firsts):  # type: ignore[no-untyped-def]
    """Whether every column has two codes."""
    return firsts[len(firsts) - 1] == len(firsts) - 1


@native
def gain_of_split(sums, total, firsts, rest):  # type: ignore[no-untyped-def]
    """The largest gain of one split, by the sums (K, B) of literals and the totals (K,); `rest` (K,) is scratch."""
    best = gain_of(total)
    if len(total) == 1 and is_binary(firsts):
        # |x| + |t - x| is the largest of |t|, 2 x - t and t - 2 x
        high, low = np.int64(0), np.int64(0)
        of_literals = sums[0]
        for c in range(len(of_literals)):
            high = max(high, of_literals[c])
            low = min(low, of_literals[c])
        return max(best, 2 * high - total[0], total[0] - 2 * low)
    for column in range(len(firsts) - 1):
        gain = 0
        rest[:] = total
        for b in range(firsts[column], firsts[column + 1]):
            gain += gain_of(sums[:, b])
            for k in range(len(rest)):
                rest[k] -= sums[k, b]
        best = max(best, gain + gain_of(rest))
    return best


@native
def side_sums(pairs, total, firsts, column, code, sums, within):  # type: ignore[no-untyped-def]
    """Writes of the rows with a code of a column: the sums (K, B) by literal, and the totals within (K,)."""
    begin, end = firsts[column], firsts[column + 1]
    for k in range(len(total)):
        if code > 0:
            sums[k] = pairs[k, begin + code - 1]
            within[k] = pairs[k, begin + code - 1, begin + code - 1]
            continue
        within[k] = total[k]
        for b in range(sums.shape[1]):
            sums[k, b] = pairs[k, b, b]
        for other in range(begin, end):
            within[k] -= pairs[k, other, other]
            for b in range(sums.shape[1]):
                sums[k, b] -= pairs[k, other, b]


@native
def best_gain(pairs, total, firsts, price, leaves, stumps):  # type: ignore[no-untyped-def]
    """The gain of the best tree of depth two; writes (Q,) those of each literal's leaf and of its best single split.

    A split loses `price`. A column that has one code only is no better than none, so it may stand.
    """
    sums, within, rest = np.empty(pairs.shape[:2], np.int64), np.empty_like(total), np.empty_like(total)
    best, q = gain_of(total), 0
    for column in range(len(firsts) - 1):
        gain = -price
        for code in range(firsts[column + 1] - firsts[column] + 1):
            side_sums(pairs, total, firsts, column, code, sums, within)
            leaves[q] = gain_of(within)
            stumps[q] = gain_of_split(sums, within, firsts, rest)
            gain += max(leaves[q], stumps[q] - price)
            q += 1
        best = max(best, gain)
    return best


@native
def count_column(c, column, scratch, cost, known):  # type: ignore[no-untyped-def]
    """Solves the sides of a column at depth two: raises `known` (Q,) by TRANSFER, and writes their cost (Q,).

    `c` are the rows' counts (`Counts`).
    """
    pairs, kept, kinds = scratch
    if len(c.total) == 1 and is_binary(c.firsts):
        count_binary(c, column, kept, kinds, cost, known)
        return
    begin, end = c.firsts[column], c.firsts[column + 1]
    n_codes, n_values = end - begin + 1, len(c.total)
    leaves, stumps = np.empty(len(known), np.int64), np.empty(len(known), np.int64)
    within = np.empty(n_values, np.int64)
    pairs[0] = c.pairs
    first = begin + column
    for code in range(n_codes - 1, -1, -1):
        weight = c.weight
        within[:] = c.total
        if code > 0:
            add_pairs(c.kept, c.kinds, c.values, begin + code - 1, pairs[code])
            pairs[0] -= pairs[code]
            weight = c.weights[0, begin + code - 1, begin + code - 1]
            for k in range(n_values):
                within[k] = pairs[code, k, begin + code - 1, begin + code - 1]
        else:
            for other in range(begin, end):
                weight -= c.weights[0, other, other]
                for k in range(n_values):
                    within[k] -= c.pairs[k, other, other]
        gain = best_gain(pairs[code], within, c.firsts, c.price, leaves, stumps)
        cost[first + code] = (weight - gain) // c.unit
        raise_others(c, column, code, weight, cost[first + code], known)


@native
def pack_side(c, column, code, kept, kinds):  # type: ignore[no-untyped-def]
    """Packs the rows with a code of a column of two anew, into kept (W, B) and kinds (W,); returned is how many words.

    `kept` has ones from calls before where nothing was written since.
    """
    at, filled, kind = -1, 64, -1
    for w in range(len(c.kept)):
        word = c.kept[w, column] if code == 1 else c.rows[w] & ~c.kept[w, column]
        while word != 0:
            place = np.uint64(count_ones((word & (~word + np.uint64(1))) - np.uint64(1)))
            word &= word - np.uint64(1)
            if filled == 64 or kind != c.kinds[w]:
                at, filled, kind = at + 1, 0, c.kinds[w]
                kinds[at] = kind
                kept[at] = 0
            add_row(kept[at], c.kept[w], place, np.uint64(filled))
            filled += 1
    return at + 1


@native
def add_row(into, words, place, filled):  # type: ignore[no-untyped-def]
    """Copies one row: the bits at a place of the words (B,), to another place."""
    for b in range(len(into)):
        into[b] |= ((words[b] >> place) & np.uint64(1)) << filled


@native
def count_binary(c, column, kept, kinds, cost, known):  # type: ignore[no-untyped-def]
    """`count_column` for two labels and columns of two codes: the rows of the smaller side, both sides at once.

    `kept` (W, B) and `kinds` (W,) are scratch. A split is found by the largest and least sums of literals: of
    |x| + |t - x| the largest is that of |t|, 2 x - t and t - 2 x.
    """
    n_columns, pairs, total = len(c.firsts) - 1, c.pairs[0], c.total[0]
    ones, all_rows = 0, 0
    for w in range(len(c.kept)):
        ones += count_ones(c.kept[w, column])
        all_rows += count_ones(c.rows[w])
    code = 1 if 2 * ones <= all_rows else 0
    n_words = pack_side(c, column, code, kept, kinds)
    here, there, row = np.zeros(len(pairs), np.int64), np.empty(len(pairs), np.int64), np.empty(len(pairs), np.int64)
    within = 0
    for w in range(n_words):
        add_ones(here, ~np.uint64(0), kept[w], c.values[kinds[w], 0])
    for b in range(len(there)):
        there[b] = pairs[b, b] - here[b]
    within = pairs[column, column] if code == 1 else total - pairs[column, column]
    outside = total - within
    best_within, best_outside = abs(within), abs(outside)
    for b in range(n_columns):
        row[:] = 0
        for w in range(n_words):
            if kept[w, b] != 0:
                add_ones(row, kept[w, b], kept[w], c.values[kinds[w], 0])
        whole = pairs[b]
        high11, low11, high10, low10 = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
        high01, low01, high00, low00 = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
        for k in range(len(row)):
            both = row[k]
            other = here[k] - both
            high11, low11 = max(high11, both), min(low11, both)
            high10, low10 = max(high10, other), min(low10, other)
            first = whole[k] - both
            neither = there[k] - first
            high01, low01 = max(high01, first), min(low01, first)
            high00, low00 = max(high00, neither), min(low00, neither)
        gain = side_gain(here[b], high11, low11, c.price) + side_gain(within - here[b], high10, low10, c.price)
        best_within = max(best_within, gain - c.price)
        gain = side_gain(there[b], high01, low01, c.price) + side_gain(outside - there[b], high00, low00, c.price)
        best_outside = max(best_outside, gain - c.price)
    weight = c.weights[0, column, column]
    if code == 0:
        best_within, best_outside = best_outside, best_within
    cost[2 * column + 1] = (weight - best_within) // c.unit
    raise_others(c, column, 1, weight, cost[2 * column + 1], known)
    cost[2 * column] = (c.weight - weight - best_outside) // c.unit
    raise_others(c, column, 0, c.weight - weight, cost[2 * column], known)


@native
def side_gain(total, high, low, price):  # type: ignore[no-untyped-def]
    """What a leaf or one split gains, by the sum of all rows and the largest and least sum of a literal."""
    return max(abs(total), max(2 * high - total, total - 2 * low) - price)


@native
def raise_others(c, column, code, weight, cost, known):  # type: ignore[no-untyped-def]
    """TRANSFER from the rows with a code, of this weight and cost, to all sides: less the weight of what is outside."""
    begin, end = c.firsts[column], c.firsts[column + 1]
    shared = np.empty(c.weights.shape[1], np.int64)
    if code > 0:
        shared[:] = c.weights[0, begin + code - 1]
    else:
        for b in range(len(shared)):
            shared[b] = c.weights[0, b, b]
        for other in range(begin, end):
            shared -= c.weights[0, other]
    q = 0
    for other in range(len(c.firsts) - 1):
        rest = weight
        for b in range(c.firsts[other], c.firsts[other + 1]):
            q += 1
            rest -= shared[b]
            known[q] = max(known[q], shared[b] - weight + cost)
        place = q - (c.firsts[other + 1] - c.firsts[other])
        known[place] = max(known[place], rest - weight + cost)
        q += 1


@native
def scratch_for(c):  # type: ignore[no-untyped-def]
    """The arrays that `count_column` writes on its way."""
    pairs = np.empty((most_codes(c.firsts), *c.pairs.shape), np.int64)
    return pairs, np.empty((len(c.kept) + len(c.values), c.kept.shape[1]), np.uint64), np.empty_like(c.kinds)


@native
def most_codes(firsts):  # type: ignore[no-untyped-def]
    """The largest number of codes of a column."""
    most = 1
    for column in range(len(firsts) - 1):
        most = max(most, firsts[column + 1] - firsts[column] + 1)
    return most


class Counts(NamedTuple):
    """Sums over the rows of a claim: what compiled code is given of it."""

    kept: Array
    """(W, B) uint64: the rows packed anew, a bit for each literal but the first of its column."""
    rows: Array
    """(W,) uint64: the bits that stand for rows."""
    kinds: Array
    """(W,) the kind of a word's rows."""
    values: Array
    """(kinds, K) the profits of a row, or with two labels the one less the other."""
    firsts: Array
    """(P + 1,) where a column's literals begin, and end."""
    total: Array
    """(K,) summed profits."""
    weight: int
    """The sum of the worst regrets."""
    pairs: Array
    """(K, B, B) profits of the rows that two literals share."""
    weights: Array
    """(1, B, B) worst regrets of these."""
    price: int
    """Of a split, where a gain of one is a cost of 1 / unit."""
    unit: int
