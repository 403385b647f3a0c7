"""The expansion of a node: bounds for both sides of every split, and room for the edges that may still be optimal.

Two ways, one result. By pair lookahead (edges.py) every side is known exactly with up to one split. By
relaxation, where splits cost nothing and a depth is given, every side is solved exactly at depth two, which gives
better incumbents and a better order. The edges are then chosen and written by edges.py.

Where rows have prices, a node costs at least what its rows are charged, less the due of one leaf. Lemma: let the prices
of rows add up, over every nonempty conjunction of literals, to no more than its rows cost as a leaf and the leaf's due,
where the dues of a tree's leaves, less one, are no more than what its splits pay. The leaves of a tree for the rows S
are conjunctions that partition S, so its cost is at least the sum of the prices of S less one due
(docs/explanation/search.md). Needs `scored` to be 0. Prices are made beside the search (row_prices/) and handed over at
once: a word of control holds the address of an array with all that is needed, which is never written again. Each
function reads that word once.
"""

from __future__ import annotations

from numba import int16, int32, int64, uint64

from streed.bnb.edges import find_best, list_edges
from streed.bnb.nodes import (
    block_size,
    children_of,
    edges_of,
    free_edges,
    give_edges,
    nodes_of,
    rows_of,
    take_children,
    take_edges,
)
from streed.kernels.counting.equal_rows import sum_of_places
from streed.kernels.records import ALL, BEST, INFINITE, LEAF, LOWEST, NO_TREE, NONE, SHALLOW, UNLIMITED
from streed.kernels.simd import first_one, load_atomic
from streed.kernels.stopping import DUE, EPOCH, HEAD, ROW_PRICES, ROWS_OF_CONTROL, SHIFT, stopped
from streed.kernels.values import MORE1, ROWS_OF_VALUES, TWO1
from streed.kernels.views import call, inline, matrix, native, vector


@inline
def is_shallow(node):  # type: ignore[no-untyped-def]
    """Whether a work unit solves the node at once."""
    return node.depth <= SHALLOW and node.budget == UNLIMITED


@inline
def ask(e, rows, depth, target, lower, branch, which=BEST):  # type: ignore[no-untyped-def]
    """Has the work unit solve the rows (W,) to the depth (at most three).

    `branch` is (high, low). `which` says whose children are solved to depth two: see BEST, ALL and BELOW.
    """
    e.asked_rows = rows.ctypes.data
    e.asked_depth = depth
    e.asked_target = target
    e.asked_lower = lower
    e.asked_all = which
    e.asked_high, e.asked_low = branch
    call(e.solve_shallow, e)


@inline
def keep_tree(e, node):  # type: ignore[no-untyped-def]
    """Gives the node the tree that a work unit found, if it is the first one or a better one; says whether it is."""
    keeps = node.split == NO_TREE or e.upper < node.upper
    if keeps:
        node.upper = e.upper
        node.split = e.split
        node.found = e.visits
    return keeps


@inline
def open_node(e, level, target, high, low):  # type: ignore[no-untyped-def]
    """Expands the node on the path at `level`, reached by the branch (high, low): its bounds, best split and edges.

    Only edges of a lower bound below the target are kept; if the node was expanded before, those that were not kept
    then are added.
    """
    e.level = level
    e.asked_edges = target
    e.asked_high = high
    e.asked_low = low
    call(e.open_node, e)


@native
def expand_node(e):  # type: ignore[no-untyped-def]
    """Expands the node on the path at e.level."""
    level = e.level
    path = vector(e.path, e.path_space, int64)
    node = nodes_of(e)[path[level]]
    relaxed = e.relaxed == 1 and node.budget == UNLIMITED and node.depth != UNLIMITED
    rows = rows_of(e)[path[level]]
    again = node.n_edges != NONE
    e.repeats += again
    if relaxed:
        # to solve all sides once more would take longer than it saves
        e.asked_edges = INFINITE
        infinite = int64(INFINITE)
        ask(e, rows, int64(SHALLOW), infinite, int64(0), (e.asked_high, e.asked_low), which=ALL)
    else:
        e.asked_rows = rows.ctypes.data
        e.asked_depth = 0
        e.expansions += 1
        call(e.load, e)
        call(e.expand, e)
        e.split = LEAF
        if e.scored == 0:
            node.priced = int16(raise_sides(e))
            node.lower = max(int64(node.lower), min(bound_by_row_prices(e, rows), e.upper))
    keep_tree(e, node)
    since = int64(LOWEST)
    if again:
        since = int64(node.rest)
    else:
        node.n_edges = 0
    if e.scored == 1:
        node.lower = max(int64(node.lower), min(e.least, int64(node.upper)))
    if not _add_edges(e, node, relaxed, since) and not again:
        node.n_edges = NONE  # a search that is taken up again opens it anew: without edges it would seem settled


@native
def _add_edges(e, node, relaxed, since):  # type: ignore[no-untyped-def]
    """Whether the edges of the expanded node that may be optimal, from the lower bound `since`, are there, or none."""
    if relaxed and stopped(e):
        # not all columns were solved: the tree found counts, the bounds of edges would not
        return False
    if (node.upper <= min(e.split_cost, INFINITE - 1) and e.scored == 0) or e.n_active == 0:
        node.lower = node.upper
        return True
    find_best(e, node, relaxed)
    n_edges, n_children, rest = list_edges(e, node, relaxed, since, False)
    if stopped(e):
        # not all ways to share the budget were looked at
        return False
    if node.lower >= node.upper:
        return True
    if n_edges > 0:
        if not _make_room(e, node, n_edges, n_children):
            e.crowded = 1
            return False
        list_edges(e, node, relaxed, since, True)
        node.n_edges += n_edges
    node.rest = rest
    return True


@native
def _make_room(e, node, n_edges, n_children):  # type: ignore[no-untyped-def]
    """Whether the node has blocks with room for so many further edges and children, and e.child_at behind its own."""
    edges = edges_of(e)
    children = children_of(e)
    kept = int64(0)
    for k in range(node.n_edges):
        kept += edges[node.edges + k].n_children
    at = take_edges(e, node.n_edges + n_edges)
    if at == NONE:
        return False
    children_at = take_children(e, kept + n_children)
    if children_at == NONE:
        give_edges(e, at, block_size(node.n_edges + n_edges))
        return False
    count = int64(node.n_edges)
    e.child_at = children_at
    for k in range(count):
        edges[at + k] = edges[node.edges + k]
        edge = edges[at + k]
        for c in range(edge.n_children):
            children[e.child_at + c] = children[edge.children + c]
        edge.children = e.child_at
        e.child_at += edge.n_children
    free_edges(e, node)
    node.n_edges = count
    node.edges = at
    node.children = children_at
    node.edge_space = block_size(count + n_edges)
    node.child_space = block_size(kept + n_children)
    return True


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
