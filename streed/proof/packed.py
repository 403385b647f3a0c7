"""Sets of rows as words, and their sums, for the compiled judge of records and the compiled prover.

Every word holds rows of one kind (`counting.py`). Behind these words a set has others, of the rows at which FLOOR puts
what a class of equal rows costs, each word of classes of the same cost. A set is V words: W of kinds, then those of
classes. B counts the literals that have bits, Q all, P the columns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from streed.exact import Array
from streed.proof.check import Sums
from streed.proof.counting import Counts, add_ones, add_row, compiled, count_ones, native


class Packed(NamedTuple):
    """A problem of costs per row and label, without a least number of rows in a leaf."""

    words: Array
    """(W, B) uint64: the rows of a word that have a literal."""
    literals: Array
    """(Q, V) uint64: the rows of each literal, as a set."""
    everything: Array
    """(V,) uint64: all rows, as a set."""
    kind_of_word: Array
    """(W,)"""
    values: Array
    """(kinds, K) the profits of a row, or with two labels the one less the other."""
    worst: Array
    """(kinds, 1) its largest regret."""
    floors: Array
    """(V - W,) what a class of equal rows costs, of each word of classes."""
    firsts: Array
    """(P + 1,) where a column's literals with bits begin, and end."""
    split: int
    """What a split costs."""
    unit: int
    """A gain of one is a cost of 1 / unit."""


class Work(NamedTuple):
    """Sums over the rows of one set, written anew for each."""

    kept: Array
    """(at most W + kinds, B) uint64: its rows, packed anew."""
    rows: Array
    """(W + kinds,) uint64: the bits that stand for rows."""
    kinds: Array
    """(W + kinds,) of a word."""
    pairs: Array
    """(K, B, B) profits of the rows that two literals share."""
    weights: Array
    """(1, B, B) worst regrets of these."""
    diagonal: Array
    """(K + 1, B) the same of each literal: profits, then worst regrets."""
    total: Array
    """(K,) summed profits."""
    sizes: Array
    """(B,) how many rows a literal has."""
    scratch: Array
    """(5, B)"""
    few: Array
    """(., Q) LABELS of the sides, for two splits, three, and so on."""
    wide: Array
    """(Q,)"""
    outside: Array
    """(V,) uint64: a set."""


def places(kind: Array) -> tuple[Array, Array]:
    """(the bit (n,) of each row, the kind (W,) of each word): rows of a kind (0, 1, ...) together."""
    sizes = np.bincount(kind)
    begins = np.concatenate([[0], np.cumsum((sizes + 63) // 64)])
    order = np.argsort(kind, kind="stable")
    place = np.empty(len(kind), np.int64)
    place[order] = 64 * begins[kind[order]] + np.arange(len(kind)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return place, np.repeat(np.arange(len(sizes)), np.diff(begins))


@compiled
def pack_bits(held, place, n_words):  # type: ignore[no-untyped-def]
    """(m, n_words) uint64: the bits at the places of the rows (m, n) bool."""
    packed = np.zeros((len(held), n_words), np.uint64)
    for q in range(len(held)):
        for r in range(len(place)):
            packed[q, place[r] >> 6] |= np.uint64(held[q, r]) << np.uint64(place[r] & 63)
    return packed


def classes_of(sums: Sums) -> tuple[Array, Array, Array]:
    """(the rows at which a class of equal rows costs something, their bits, what those of each word cost)."""
    costly = np.flatnonzero(sums.floor > 0)
    if not len(costly):
        return costly, np.zeros(0, np.int64), np.zeros(0, np.int64)
    costs, kind = np.unique(sums.floor[costly].astype(np.int64), return_inverse=True)
    place, kind_of_word = places(kind.reshape(-1))
    return costly, place, costs[kind_of_word]


@native
def make_work(p):  # type: ignore[no-untyped-def]
    """Arrays for one set at a time."""
    n_words, n_bits = p.words.shape
    n_values, most = p.values.shape[1], n_words + len(p.values)
    return Work(
        np.zeros((most, n_bits), np.uint64),
        np.zeros(most, np.uint64),
        np.zeros(most, np.int64),
        np.zeros((n_values, n_bits, n_bits), np.int64),
        np.zeros((1, n_bits, n_bits), np.int64),
        np.zeros((n_values + 1, n_bits), np.int64),
        np.zeros(n_values, np.int64),
        np.zeros(n_bits, np.int64),
        np.zeros((5, n_bits), np.int64),
        np.zeros((max(2, n_values - 2), len(p.literals)), np.int64),
        np.zeros(len(p.literals), np.int64),
        np.zeros_like(p.everything),
    )


@native
def keep_rows(p, rows, w):  # type: ignore[no-untyped-def]
    """Writes the rows of a set (V,) as words of their own; returned are how many, and how many rows.

    They are packed anew where that saves more than it costs.
    """
    n_words, n_rows, found = len(p.words), 0, 0
    for at in range(n_words):
        if rows[at] != 0:
            found += 1
            n_rows += count_ones(rows[at])
    place = -1
    if (found - n_rows // 64) * p.words.shape[1] <= 4 * n_rows:
        for at in range(n_words):
            word = rows[at]
            if word != 0:
                place += 1
                w.rows[place], w.kinds[place] = word, p.kind_of_word[at]
                for b in range(p.words.shape[1]):
                    w.kept[place, b] = word & p.words[at, b]
        return place + 1, n_rows
    filled, kind = 64, -1
    for at in range(n_words):
        word = rows[at]
        while word != 0:
            bit = np.uint64(count_ones((word & (~word + np.uint64(1))) - np.uint64(1)))
            word &= word - np.uint64(1)
            if filled == 64 or kind != p.kind_of_word[at]:
                place, filled, kind = place + 1, 0, p.kind_of_word[at]
                w.kinds[place], w.rows[place] = kind, 0
                w.kept[place] = 0
            add_row(w.kept[place], p.words[at], bit, np.uint64(filled))
            w.rows[place] |= np.uint64(1) << np.uint64(filled)
            filled += 1
    return place + 1, n_rows


@native
def add_both(pairs, weights, word, words, value, worst):  # type: ignore[no-untyped-def]
    """`add_ones` to two places at once."""
    if worst == 1 and value == 1:
        for c in range(len(pairs)):
            ones = count_ones(word & words[c])
            pairs[c] += ones
            weights[c] += ones
    elif worst == 1 and value == -1:
        for c in range(len(pairs)):
            ones = count_ones(word & words[c])
            pairs[c] -= ones
            weights[c] += ones
    else:
        for c in range(len(pairs)):
            ones = count_ones(word & words[c])
            pairs[c] += value * ones
            weights[c] += worst * ones


@native
def sum_literals(p, w, n_words):  # type: ignore[no-untyped-def]
    """The weight of the rows kept; writes their totals, and the profits, weights and sizes of each literal."""
    w.diagonal[:] = 0
    w.total[:] = 0
    w.sizes[:] = 0
    n_values, weight = len(w.total), 0
    for at in range(n_words):
        kind, ones = w.kinds[at], count_ones(w.rows[at])
        words, every = w.kept[at], ~np.uint64(0)
        weight += p.worst[kind, 0] * ones
        for k in range(n_values):
            w.total[k] += p.values[kind, k] * ones
            add_ones(w.diagonal[k], every, words, p.values[kind, k])
        add_ones(w.diagonal[n_values], every, words, p.worst[kind, 0])
        add_ones(w.sizes, every, words, 1)
    return weight


@native
def sum_pairs(p, w, n_words):  # type: ignore[no-untyped-def]
    """Writes the profits and weights of the rows that two literals share, of the rows kept."""
    n_values, n_bits = len(w.total), w.kept.shape[1]
    w.pairs[:] = 0
    w.weights[:] = 0
    for at in range(n_words):
        words, kind = w.kept[at], w.kinds[at]
        worst, first = p.worst[kind, 0], -1
        for k in range(n_values - 1, -1, -1):
            if p.values[kind, k] != 0:
                first = k
        for b in range(n_bits):
            word = words[b]
            if word == 0:
                continue
            begin = b & ~7  # vectors of eight come out even
            if first >= 0:
                value = p.values[kind, first]
                add_both(w.pairs[first, b, begin:], w.weights[0, b, begin:], word, words[begin:], value, worst)
            else:
                add_ones(w.weights[0, b, begin:], word, words[begin:], worst)
            for k in range(first + 1, n_values if first >= 0 else 0):
                add_ones(w.pairs[k, b, begin:], word, words[begin:], p.values[kind, k])
    for b in range(n_bits):
        for c in range(b):
            w.weights[0, b, c] = w.weights[0, c, b]
            for k in range(n_values):
                w.pairs[k, b, c] = w.pairs[k, c, b]


@native
def counts_of(p, w, n_words, weight):  # type: ignore[no-untyped-def]
    """The `Counts` of the rows kept."""
    return Counts(
        w.kept[:n_words],
        w.rows[:n_words],
        w.kinds[:n_words],
        p.values,
        p.firsts,
        w.total,
        weight,
        w.pairs,
        w.weights,
        p.split * p.unit,
        p.unit,
    )


@native
def sum_floors(p, rows, found):  # type: ignore[no-untyped-def]
    """What FLOOR says of a set (V,); writes that of each literal (Q,)."""
    n_words, n_literals, whole = len(p.words), len(p.literals), 0
    found[:] = 0
    for at in range(len(p.floors)):
        word = rows[n_words + at]
        if word != 0:
            whole += p.floors[at] * count_ones(word)
            for q in range(n_literals):
                found[q] += p.floors[at] * count_ones(word & p.literals[q, n_words + at])
    return whole


@native
def sum_weights(p, rows, by_literal, found):  # type: ignore[no-untyped-def]
    """The weight of a set (V,); writes that of each literal (Q,). `by_literal` (B,) is scratch."""
    by_literal[:] = 0
    total = 0
    for at in range(len(p.words)):
        if rows[at] != 0:
            worst = p.worst[p.kind_of_word[at], 0]
            total += worst * count_ones(rows[at])
            add_ones(by_literal, rows[at], p.words[at], worst)
    spread(p, by_literal, total, found)
    return total


@native
def spread(p, by_literal, total, found):  # type: ignore[no-untyped-def]
    """Writes sums (Q,) of all literals from those (B,) that have bits, and the sum of all rows."""
    q = 0
    for column in range(len(p.firsts) - 1):
        first, rest = q, total
        for b in range(p.firsts[column], p.firsts[column + 1]):
            q += 1
            found[q] = by_literal[b]
            rest -= by_literal[b]
        found[first] = rest
        q += 1
