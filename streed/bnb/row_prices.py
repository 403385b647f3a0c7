"""The bound of row prices: a node costs at least what its rows are charged, less the due of one leaf.

Lemma: let the prices of rows add up, over every nonempty conjunction of literals, to no more than its rows cost as a
leaf and the leaf's due, where the dues of a tree's leaves, less one, are no more than what its splits pay. The leaves
of a tree for the rows S are conjunctions that partition S, so its cost is at least the sum of the prices of S less one
due (docs/explanation/search.md). Needs `scored` to be 0.

Prices are made beside the search (row_prices/) and handed over at once: a word of control holds the address of an array
with all that is needed, which is never written again. Each function reads that word once.
"""

from __future__ import annotations

from numba import int32, int64, uint64

from streed.kernels.counting.equal_rows import sum_of_places
from streed.kernels.records import LOWEST
from streed.kernels.simd import first_one, load_atomic
from streed.kernels.stopping import DUE, EPOCH, HEAD, ROW_PRICES, ROWS_OF_CONTROL, SHIFT
from streed.kernels.values import MORE1, ROWS_OF_VALUES, TWO1
from streed.kernels.views import inline, matrix, native, vector

_LEAVES = 3
"""A node whose prices do not pay for more than so many dues is not looked at closer: leaves are bound well enough."""


@inline
def latest_prices(e):  # type: ignore[no-untyped-def]
    """The address of the prices; 0 if there are none."""
    return load_atomic(vector(e.control, ROWS_OF_CONTROL, int64), ROW_PRICES)


@inline
def epoch_of(prices):  # type: ignore[no-untyped-def]
    """Which prices these are: 1, 2, ..."""
    return vector(prices, HEAD, int64)[EPOCH]


@inline
def _bound(head, total):  # type: ignore[no-untyped-def]
    """The bound of rows that are charged the total: costs are whole numbers."""
    return -((head[DUE] - total) >> head[SHIFT])


@native
def bound_by_row_prices(e, rows):  # type: ignore[no-untyped-def]
    """The bound of a set of rows (W,); LOWEST if there are no prices."""
    prices = latest_prices(e)
    if prices == 0:
        return int64(LOWEST)
    head = vector(prices, HEAD, int64)
    mask = vector(prices + 8 * HEAD, e.row_words, uint64)
    of_place = vector(prices + 8 * (HEAD + e.row_words), e.row_space, int64)
    return _bound(head, sum_of_places(rows, mask, of_place, e.row_words))


@native
def raise_sides(e):  # type: ignore[no-untyped-def]
    """Raises the bounds of the sides of the node at hand, of trees with two splits or more; which prices these are."""
    prices = latest_prices(e)
    if prices == 0:
        return int64(0)
    head = vector(prices, HEAD, int64)
    of_place = vector(prices + 8 * (HEAD + e.row_words), e.row_space, int64)
    rows = vector(e.rows, e.row_space + 64, int32)
    gain = int64(0)
    for r in range(e.n_rows):
        gain += max(of_place[rows[r]], int64(0))
    if gain <= _LEAVES * head[DUE]:
        return head[EPOCH]
    values = matrix(e.values, ROWS_OF_VALUES, e.width + e.categorical, int64)
    blocks = e.width // 32
    row_bits = matrix(e.row_bits, e.row_space, blocks, int32)
    active = vector(e.active, e.width, int64)
    sums = vector(e.price_sums, e.width, int64)
    sums[:] = 0
    total = int64(0)
    for r in range(e.n_rows):
        row = rows[r]
        price = of_place[row]
        if price == 0:
            continue
        total += price
        for block in range(blocks):
            bits = uint64(row_bits[row, block]) & uint64(0xFFFFFFFF)
            while bits != uint64(0):
                sums[block * 32 + first_one(bits)] += price
                bits = bits & (bits - uint64(1))
    for k in range(e.n_active):
        own = sums[active[k]]
        for without in range(2):
            bound = _bound(head, total - own if without == 1 else own)
            values[TWO1 + without, k] = max(values[TWO1 + without, k], bound)
            values[MORE1 + without, k] = max(values[MORE1 + without, k], bound)
    return head[EPOCH]
