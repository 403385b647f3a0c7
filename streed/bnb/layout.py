"""Where the arrays of a solve lie in its buffer, and how its caches begin."""

from __future__ import annotations

from numba import int32, int64, uint64

from streed.bnb.nodes import empty_blocks, most_sides, nodes_of, rows_of
from streed.kernels import values
from streed.kernels.compiled import entry
from streed.kernels.counting.groups import profit_by_class
from streed.kernels.counting.rows import child_bytes
from streed.kernels.record_proxy import ALIGNMENT
from streed.kernels.records import CHILD, EDGE, INFINITE, LANES, LOWEST, NODE
from streed.kernels.scoring import generated, many_labels, two_labels
from streed.kernels.views import engine_at, inline, matrix, native, vector

_NODE, _EDGE, _CHILD = NODE.itemsize, EDGE.itemsize, CHILD.itemsize


@inline
def _reserve(at, size):  # type: ignore[no-untyped-def]
    """(the address, that of whatever comes next) of an array of `size` bytes."""
    return at, at + (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


@entry
def lay_out(engine, base, lane, calls_costs):  # type: ignore[no-untyped-def]
    """Gives scratch space and caches their addresses from `base` on, a multiple of ALIGNMENT; returns where they end.

    The record holds all sizes and the address of the literals. `lane`: the bytes of a pair sum. `calls_costs`: whether
    branching costs are asked of the task, split by split. Small and large solves differ by their caches, which come
    last and are touched only as they grow.
    """
    e = engine_at(engine)
    return _lay_out_caches(e, _lay_out_node(e, int64(base), lane, calls_costs))


@native
def _lay_out_node(e, at, lane, calls_costs):  # type: ignore[no-untyped-def]
    """As `lay_out`, of scratch space for the node that a thread has at hand, and for its children."""
    rows = e.row_space
    width = e.width
    groups = e.groups
    planes = max(e.planes, two_labels.PLANES)
    splits = width + e.categorical
    words = (rows // 16 + groups) * width * 2
    pairs = planes * width * width * lane
    e.rows, at = _reserve(at, (rows + 64) * 4)
    e.all_words, at = _reserve(at, words)
    e.kept_words, at = _reserve(at, words)
    e.local_bits, at = _reserve(at, (rows + 64) * (width // LANES) * 4)
    e.active, at = _reserve(at, width * 8)
    e.popcounts, at = _reserve(at, LANES * 2)
    e.ones, at = _reserve(at, width * 8)
    e.group_rows, at = _reserve(at, (groups + 1) * 8)
    e.group_begins, at = _reserve(at, (groups + 1) * 8)
    e.local_literals, at = _reserve(at, 24 * max(e.categorical, 1))
    e.pairs, at = _reserve(at, pairs)
    e.sums, at = _reserve(at, max(planes, 3) * width * lane)
    e.totals, at = _reserve(at, planes * 8)
    e.scores, at = _reserve(at, many_labels.ROWS_OF_SCORES * width * lane)
    e.values, at = _reserve(at, values.ROWS_OF_VALUES * splits * 8)
    e.shares, at = _reserve(at, most_sides(e) * 8)
    e.ranked_profits, at = _reserve(at, 2 * e.labels * width * lane)
    e.floor_sums, at = _reserve(at, (width + 1) * 8)
    e.price_sums, at = _reserve(at, width * 8)
    e.child_rows, at = _reserve(at, (rows + 64) * 4)
    e.child_words, at = _reserve(at, child_bytes(rows, groups, width))
    e.child_begins, at = _reserve(at, (groups + 1) * 8)
    e.child_sums, at = _reserve(at, planes * width * lane)
    e.child_totals, at = _reserve(at, planes * 8)
    if e.signed == 0:
        e.child_pairs, at = _reserve(at, pairs)
        e.rest_pairs, at = _reserve(at, pairs)
    if e.scored == 1:
        e.child_values, at = _reserve(at, values.ROWS_OF_VALUES * splits * 8)
        e.costs, at = _reserve(at, generated.ROWS_OF_COSTS * splits * 8)
        if calls_costs:
            e.pair_costs, at = _reserve(at, 16 * splits * splits)
    if e.has_test_costs == 1:
        e.here_prices, at = _reserve(at, width * 8)
        e.pair_test_costs, at = _reserve(at, width * width * lane)
    if e.wide == 1:
        e.rows_with, at = _reserve(at, (rows + 64) * 4)
    return at


@native
def _lay_out_caches(e, at):  # type: ignore[no-untyped-def]
    """As `lay_out`, of the caches, the path and the store of nodes, unless that of another thread is searched."""
    e.path, at = _reserve(at, e.path_space * 8)
    if e.joins == 0:
        e.nodes, at = _reserve(at, e.node_space * _NODE)
        e.node_rows, at = _reserve(at, e.node_space * e.key_words * 8)
        e.edges, at = _reserve(at, e.edge_space * _EDGE)
        e.children, at = _reserve(at, e.child_space * _CHILD)
        e.slots, at = _reserve(at, e.slot_space * 4)
        if e.shared_branch_slots > 0:
            e.inside, at = _reserve(at, e.node_space * 8)
    e.branches, at = _reserve(at, e.branch_space * e.branch_words * 8)
    return at


@entry
def link_problem(  # type: ignore[no-untyped-def]
    engine, row_bits, column_rows, group_words, costs, literals, columns, flipped
):
    """Writes the addresses of what every problem has, each array as `records` describes it.

    `costs` are profits and signed_costs. Fills the latter, and says whether every row profits under one label only
    (`class_bound`): fewer labels than classes then leave errors.
    """
    e = engine_at(engine)
    profits, signed_costs = costs
    e.row_bits = row_bits.ctypes.data
    e.column_rows = column_rows.ctypes.data
    e.group_words = group_words.ctypes.data
    e.profits = profits.ctypes.data
    e.signed_costs = signed_costs.ctypes.data
    e.literals = literals.ctypes.data
    e.caller_columns = columns.ctypes.data
    e.flipped = flipped.ctypes.data
    if e.scored == 1:
        return
    of_classes = profit_by_class(profits, e.labels, signed_costs)
    e.class_bound = of_classes * (1 - max(e.has_test_costs, e.wide))


@entry
def empty_caches(engine, rows):  # type: ignore[no-untyped-def]
    """Makes the caches empty, with the rows (W,) of the root behind the last node, where a search begins.

    What the tables grow into is emptied then.
    """
    e = engine_at(engine)
    if e.joins == 0:
        slots = vector(e.slots, e.slot_count, int32)
        slots[:] = 0
    branches = matrix(e.branches, e.branch_slots, e.branch_words, uint64)
    branches[:] = uint64(0)
    empty_blocks(e)
    if e.joins == 1:
        return
    root = rows_of(e)[0]
    for w in range(e.key_words):
        root[w] = rows[w] if w < len(rows) else uint64(0)
    # the bounds of a root that is not placed yet may be looked at any time
    nodes_of(e)[0].lower = LOWEST
    nodes_of(e)[0].upper = INFINITE


@entry
def share_store(engine):  # type: ignore[no-untyped-def]
    """Makes the store of a record ready for several threads; what was given back to it is nobody's then."""
    e = engine_at(engine)
    empty_blocks(e)
