"""What is known of the sides of a set of rows from the set alone: COUNT and FLOOR, by compiled code.

The rules are those of `check.py` and so are their words; sets are words (`packed.py`). All numbers are int64.
"""

from __future__ import annotations

import numpy as np

from streed.proof.counting import best_gain, compiled, gain_of, is_binary, most_codes, native, side_sums
from streed.proof.packed import counts_of, keep_rows, spread, sum_floors, sum_literals, sum_pairs

ENDLESS = 2**62
"""More than anything costs."""

UNLIMITED = 255


@native
def open_sides(p, rows, depth, shallow, w, sides, reached, allowed):  # type: ignore[no-untyped-def]
    """(FLOOR of a set (V,), the cost of its leaf, its rows' weight, the words that keep them).

    Writes (Q,) bounds of the sides of a claim of a depth that rest on nothing else, what some tree on each costs, where
    `shallow` asks for it, and (P,) whether a column may split the rows.
    """
    floor = sum_floors(p, rows, sides)
    n_words, n_rows = keep_rows(p, rows, w)
    weight = sum_literals(p, w, n_words)
    spread(p, w.sizes, n_rows, reached)
    q = 0
    for column in range(len(p.firsts) - 1):
        codes = 0
        for _ in range(p.firsts[column + 1] - p.firsts[column] + 1):
            codes += reached[q] > 0
            q += 1
        allowed[column] = codes >= 2
    leaf = (weight - gain_of(w.total)) // p.unit
    if depth > 3 and depth < UNLIMITED and not shallow:
        return floor, leaf, weight, n_words
    sum_pairs(p, w, n_words)
    if is_binary(p.firsts):
        if depth == UNLIMITED:
            few_labels(p, w, weight)
        best = binary_sides(p, w, weight, depth == UNLIMITED, sides, reached)
        best = min(leaf, best)
    else:
        if depth == UNLIMITED:
            few_labels(p, w, weight)
        best = any_sides(p, counts_of(p, w, n_words, weight), depth == UNLIMITED, w.few, sides, reached)
    if depth == 3:
        # TRANSFER from the set itself, of depth two
        spread(p, w.diagonal[len(w.total)], weight, w.wide)
        for q in range(len(sides)):
            sides[q] = max(sides[q], w.wide[q] - weight + best)
    return floor, leaf, weight, n_words


@native
def few_labels(p, w, weight):  # type: ignore[no-untyped-def]
    """Writes LABELS of all sides (., Q), for two splits, three, and so on: of two labels it says nothing."""
    n_values, spread, q = len(w.total), most_codes(p.firsts) - 1, 0
    if n_values == 1:
        return
    profits = np.empty(n_values + 1, np.int64)
    for column in range(len(p.firsts) - 1):
        begin, end = p.firsts[column], p.firsts[column + 1]
        for code in range(end - begin + 1):
            for k in range(n_values + 1):
                if code > 0:
                    profits[k] = w.diagonal[k, begin + code - 1]
                else:
                    profits[k] = w.total[k] if k < n_values else weight
                    for b in range(begin, end):
                        profits[k] -= w.diagonal[k, b]
            heavy = profits[n_values]
            each = np.sort(profits[:n_values])[::-1]
            for m in range(len(w.few)):
                w.few[m, q] = heavy - each[: 1 + (2 + m) * spread].sum()
            q += 1


@native
def any_sides(p, c, ahead, few, sides, reached):  # type: ignore[no-untyped-def]
    """The least cost of depth two; raises the sides (Q,) by what looks `ahead`, and writes their depth one (Q,)."""
    n_literals = len(sides)
    _, best, leaves, stumps = solve_shallow(c, n_literals)
    for q in range(n_literals):
        reached[q] = min(leaves[q], stumps[q])
    if ahead:
        starts = np.empty(len(p.firsts) - 1, np.int64)
        for column in range(len(starts)):
            starts[column] = p.firsts[column] + column
        shared, gains, weight = pair_matrices(c, n_literals)
        found = look_ahead(shared, gains, weight, leaves, stumps, sides, few, starts, p.split, p.unit)
        for q in range(n_literals):
            sides[q] = np.int64(found[q])
    return best


@native
def binary_sides(p, w, weight, ahead, sides, reached):  # type: ignore[no-untyped-def]
    """`any_sides` where all columns have two codes: a column's other ones at once."""
    n_values, n_columns, n_bits = len(w.total), len(p.firsts) - 1, w.kept.shape[1]
    least = ENDLESS
    gain_x, gain_y, loss_x, loss_y, heavy_x = w.scratch[0], w.scratch[1], w.scratch[2], w.scratch[3], w.scratch[4]
    of_weight, shift = w.diagonal[n_values], np.int64(p.unit - 1)
    for column in range(n_columns):
        cost = p.split
        for code in range(2):
            own = w.diagonal[n_values, column]
            heavy = own if code else weight - own
            # x are the rows that have another column's bit, y those that have not
            weights = w.weights[0, column]
            if code:
                heavy_x[:] = weights
            else:
                for b in range(n_bits):
                    heavy_x[b] = of_weight[b] - weights[b]
            gain = -ENDLESS
            for k in range(n_values):
                pairs, diagonal = w.pairs[k, column], w.diagonal[k]
                own = diagonal[column] if code else w.total[k] - diagonal[column]
                sign = np.int64(1) if code else np.int64(-1)
                if n_values == 1:
                    gain = abs(own)
                    for b in range(n_bits):
                        x = sign * pairs[b] + (np.int64(0) if code else diagonal[b])
                        gain_x[b], gain_y[b] = abs(x), abs(own - x)
                    continue
                gain = max(gain, own)
                if k == 0:
                    for b in range(n_bits):
                        x = sign * pairs[b] + (np.int64(0) if code else diagonal[b])
                        gain_x[b], gain_y[b] = x, own - x
                else:
                    for b in range(n_bits):
                        x = sign * pairs[b] + (np.int64(0) if code else diagonal[b])
                        gain_x[b], gain_y[b] = max(gain_x[b], x), max(gain_y[b], own - x)
            best = np.int64(gain)
            for b in range(n_bits):
                best = max(best, gain_x[b] + gain_y[b])
                loss_x[b] = (heavy_x[b] - gain_x[b]) >> shift
                loss_y[b] = (heavy - heavy_x[b] - gain_y[b]) >> shift
            leaf, stump = (heavy - gain) >> shift, p.split + ((heavy - best) >> shift)
            side = 2 * column + code
            reached[side] = min(leaf, stump)
            cost += reached[side]
            if ahead:
                # two splits: all parts but one are leaves, and one has a split, by TRANSFER from the side
                known = min(leaf, stump - p.split) - heavy
                two = np.int64(ENDLESS)
                for b in range(n_bits):
                    first = loss_y[b] + max(np.int64(0), known + heavy_x[b])
                    second = loss_x[b] + max(np.int64(0), known + heavy - heavy_x[b])
                    two = min(two, first, second)
                more = 2 * p.split + max(two, sides[side], w.few[0, side])
                for m in range(1, len(w.few)):
                    more = min(more, (2 + m) * p.split + max(sides[side], w.few[m, side]))
                sides[side] = min(reached[side], more)
        least = min(least, cost)
    return least


@compiled
def solve_shallow(c, n_literals):  # type: ignore[no-untyped-def]
    """The least costs of a leaf and of a tree of depth two, and (Q,) of each literal's leaf and best single split."""
    leaves, stumps = np.empty(n_literals, np.int64), np.empty(n_literals, np.int64)
    gain = best_gain(c.pairs, c.total, c.firsts, c.price, leaves, stumps)
    q = 0
    for column in range(len(c.firsts) - 1):
        rest, first = c.weight, q
        for b in range(c.firsts[column], c.firsts[column + 1]):
            q += 1
            weight = c.weights[0, b, b]
            rest -= weight
            leaves[q], stumps[q] = (weight - leaves[q]) // c.unit, (weight - stumps[q] + c.price) // c.unit
        leaves[first], stumps[first] = (rest - leaves[first]) // c.unit, (rest - stumps[first] + c.price) // c.unit
        q += 1
    return (c.weight - gain_of(c.total)) // c.unit, (c.weight - gain) // c.unit, leaves, stumps


@compiled
def pair_matrices(c, n_literals):  # type: ignore[no-untyped-def]
    """(Q, Q) weights and gains of the rows that two literals share, and (Q,) the weight of each."""
    gains = np.empty((n_literals, n_literals), np.int64)
    shared = np.empty((n_literals, n_literals), np.int64)
    weight = np.empty(n_literals, np.int64)
    n_values = len(c.total)
    sums, within = np.empty(c.pairs.shape[:2], np.int64), np.empty(n_values, np.int64)
    weights, heavy = np.empty((1, c.weights.shape[1]), np.int64), np.empty(1, np.int64)
    all_weight = np.full(1, c.weight)
    rest = np.empty(n_values, np.int64)
    q = 0
    for column in range(len(c.firsts) - 1):
        for code in range(c.firsts[column + 1] - c.firsts[column] + 1):
            side_sums(c.pairs, c.total, c.firsts, column, code, sums, within)
            side_sums(c.weights, all_weight, c.firsts, column, code, weights, heavy)
            weight[q] = heavy[0]
            other = 0
            for second in range(len(c.firsts) - 1):
                place, left = other, heavy[0]
                rest[:] = within
                for b in range(c.firsts[second], c.firsts[second + 1]):
                    other += 1
                    gains[q, other] = gain_of(sums[:, b])
                    shared[q, other] = weights[0, b]
                    left -= weights[0, b]
                    for k in range(n_values):
                        rest[k] -= sums[k, b]
                gains[q, place], shared[q, place] = gain_of(rest), left
                other += 1
            q += 1
    return shared, gains, weight


@compiled
def look_ahead(shared, gains, weight, leaves, stumps, floors, few, starts, split, unit):  # type: ignore[no-untyped-def]
    """(Q,) bounds of all sides, whatever their depth: the second half of COUNT."""
    n_literals = len(weight)
    bounds = np.empty(n_literals)
    for q in range(n_literals):
        two = np.inf
        # by TRANSFER from the side to the part of it that has a split, less the weight of the others
        known = min(leaves[q], stumps[q] - split) - weight[q]
        for column in range(len(starts)):
            end = starts[column + 1] if column + 1 < len(starts) else n_literals
            total = 0
            for other in range(starts[column], end):
                total += (shared[q, other] - gains[q, other]) // unit
            for other in range(starts[column], end):
                inner = max(0, known + shared[q, other])
                two = min(two, np.float64(total - (shared[q, other] - gains[q, other]) // unit + inner))
        more = 2 * split + max(two, floors[q], few[0, q])
        for m in range(1, len(few)):
            more = min(more, np.float64((2 + m) * split + max(floors[q], few[m, q])))
        bounds[q] = min(leaves[q], stumps[q], more)
    return bounds
