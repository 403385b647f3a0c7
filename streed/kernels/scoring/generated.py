"""Depth-two scoring by a kernel that was generated from the task: any leaf cost, any order-preserving operator.

Counting knows nothing of the task: it fills pair sums, column sums and totals of the task's statistics. The generated
kernel `score` (see `generate.py`) turns them into values: of every side of every column as a leaf and split once.
"""

from __future__ import annotations

from numba import float64, int64

from streed.kernels import values as rows
from streed.kernels.counting.pair_counts import count_child, count_node
from streed.kernels.counting.pair_sums import block_end, sum_child, sum_floors, sum_node
from streed.kernels.counting.rows import load_child
from streed.kernels.records import INFINITE, LOWEST, NONE
from streed.kernels.scoring.operators import cost_of_split, join, join_cost, least_cost
from streed.kernels.values import UNKNOWN
from streed.kernels.views import call, inline, keep_apart, matrix, native, vector

LEAF1, LEAF0, SPLIT1, SPLIT0, WITH1, WITH0, COST = range(7)
"""Rows of `costs`, in the task's own units: the sides of a column as leaves and split once, two rows of scratch, and
the branching costs."""

ROWS_OF_COSTS = 7


@inline
def _score(e, pairs, sums, totals, values, column):  # type: ignore[no-untyped-def]
    """Has the generated kernel score the sums at these addresses; `column` is tested besides the path, or NONE."""
    e.scored_pairs = pairs
    e.scored_sums = sums
    e.scored_totals = totals
    e.scored_values = values
    e.scored_column = column
    call(e.score, e)


@native
def prepare_counted(e, lane):  # type: ignore[no-untyped-def]
    """Answers in e.upper with the cost of the loaded node as a leaf; fills pair sums, column sums and `values`."""
    count_node(e, lane, matrix(e.profits, e.groups, e.planes, int64), e.planes)
    _prepare(e, lane)
    unit = e.worst_unit
    e.weight = vector(e.totals, e.planes, int64)[e.worst_plane] * unit
    sums = matrix(e.sums, e.planes, e.width, lane)
    values = matrix(e.values, rows.ROWS_OF_VALUES, e.width + e.categorical, int64)
    for k in range(e.n_active):
        values[rows.WEIGHT, k] = int64(sums[e.worst_plane, k]) * unit


@native
def prepare_summed(e):  # type: ignore[no-untyped-def]
    """As `prepare_counted`, by sums over rows; there are no worst costs then."""
    sum_node(e, float64, float64, e.planes)
    if e.row_floors != 0:
        sum_floors(e)
    _prepare(e, float64)


@inline
def _prepare(e, lane):  # type: ignore[no-untyped-def]
    """Scores the pair sums of the loaded node."""
    stride = e.stride
    pairs = matrix(e.pairs, e.planes * stride, stride, lane)
    sums = matrix(e.sums, e.planes, e.width, lane)
    for p in range(e.planes):
        for k in range(stride):
            sums[p, k] = pairs[p * stride + k, k] if k < e.n_active else 0
    _score(e, e.pairs, e.sums, e.totals, e.values, int64(NONE))
    e.upper = e.scored_leaf
    e.least = e.scored_least
    e.worst_pairs = e.worst_plane


@native
def solve_counted_children(e, lane):  # type: ignore[no-untyped-def]
    """Answers in e.cost1 and e.cost0: the optimal values at depth two of the rows with and without e.asked_column.

    The smaller child is counted, the larger one's sums are the node's minus these. Of a literal, only the rows that
    have it are solved, the others stay UNKNOWN. So does the second child where the first and its bound reach the goal.
    """
    small = _smaller_side(e)
    load_child(e, e.asked_column, small)
    count_child(e, lane, matrix(e.profits, e.groups, e.planes, int64), e.planes)
    _solve_children(e, lane, small, int64, False)


@native
def solve_summed_children(e):  # type: ignore[no-untyped-def]
    """As `solve_counted_children`, by sums over rows, of which there are those up to the block of j."""
    small = _smaller_side(e)
    sum_child(e, float64, float64, e.planes, e.asked_column, small)
    _solve_children(e, float64, small, float64, True)


@inline
def _smaller_side(e):  # type: ignore[no-untyped-def]
    """The side of e.asked_column with fewer rows; of a literal, the one with it."""
    column = e.asked_column
    ones = vector(e.ones, e.width, int64)
    return 1 if 2 * ones[column] <= e.n_rows or column >= e.n_binary else 0


@inline
def _solve_children(e, lane, small, total, ordered):  # type: ignore[no-untyped-def]
    """Scores the sides of e.asked_column that are not known yet; the pair sums of the smaller one are.

    If `ordered`, there are those up to the block of j. The larger one, of which more can be told, comes first.
    """
    column = e.asked_column
    stride = e.stride
    planes = e.planes
    pairs = matrix(e.pairs, planes * stride, stride, lane)
    small_pairs = matrix(e.child_pairs, planes * stride, stride, lane)
    large_pairs = matrix(e.rest_pairs, planes * stride, stride, lane)
    if column >= e.n_binary:
        e.cost1 = _score_side(e, lane, total, ordered, int64(1), e.child_pairs)
        e.cost0 = UNKNOWN
        return
    large = 1 - small
    known = matrix(e.values, rows.ROWS_OF_VALUES, e.width + e.categorical, int64)
    cost = known[rows.OPTIMUM1 if large == 1 else rows.OPTIMUM0, column]
    other = known[rows.OPTIMUM0 if large == 1 else rows.OPTIMUM1, column]
    if cost == UNKNOWN:
        for p in range(planes):
            for j in range(e.n_active):
                end = block_end(e, j) if ordered else stride
                _subtract_row(large_pairs, pairs, small_pairs, p * stride + j, end)
        cost = _score_side(e, lane, total, ordered, large, e.rest_pairs)
    if other == UNKNOWN and not reaches_goal(e, cost, small):
        other = _score_side(e, lane, total, ordered, small, e.child_pairs)
    e.cost1 = cost if large == 1 else other
    e.cost0 = other if large == 1 else cost


@inline
def _subtract_row(rest, all_, some, row, end):  # type: ignore[no-untyped-def]
    """The first `end` entries of a row of `rest` are those of `all_` less those of `some`."""
    keep_apart()
    for k in range(end):
        rest[row, k] = all_[row, k] - some[row, k]


@inline
def reaches_goal(e, cost, side):  # type: ignore[no-untyped-def]
    """Whether the split of e.asked_column is worth e.asked_goal or more, whatever the given side costs exactly."""
    if e.asked_goal >= INFINITE:
        return False
    values = matrix(e.values, rows.ROWS_OF_VALUES, e.width + e.categorical, int64)
    lower = values[rows.LOWER1 if side == 1 else rows.LOWER0, e.asked_column]
    return join_cost(e, join(e, cost, lower), cost_of_split(e, values, e.asked_column)) >= e.asked_goal


@inline
def _score_side(e, lane, total, ordered, side, pairs_at):  # type: ignore[no-untyped-def]
    """The optimal value at depth two of a side of e.asked_column whose pair sums are at the address."""
    column = e.asked_column
    stride = e.stride
    pairs = matrix(e.pairs, e.planes * stride, stride, lane)
    sums = matrix(e.sums, e.planes, e.width, lane)
    child_sums = matrix(e.child_sums, e.planes, e.width, lane)
    tested = vector(e.caller_columns, e.columns, int64)[vector(e.active, e.width, int64)[column]]
    for p in range(e.planes):
        for k in range(stride):
            child_sums[p, k] = pairs[p * stride + column, k]
        if ordered:
            for k in range(column + 1, stride):
                child_sums[p, k] = pairs[p * stride + k, column] if k < e.n_active else 0
        if side == 0:
            for k in range(stride):
                child_sums[p, k] = sums[p, k] - child_sums[p, k]
    _write_child_totals(e, lane, total, column, side == 1)
    _score(e, pairs_at, e.child_sums, e.child_totals, e.child_values, tested)
    return int64(e.scored_best)


@inline
def _write_child_totals(e, lane, total, column, has_column):  # type: ignore[no-untyped-def]
    """Writes the totals of the rows with the local column, or without it."""
    sums = matrix(e.sums, e.planes, e.width, lane)
    totals = vector(e.totals, e.planes, total)
    child_totals = vector(e.child_totals, e.planes, total)
    for p in range(e.planes):
        child_totals[p] = sums[p, column] if has_column else totals[p] - sums[p, column]


@native
def expand_scored(e):  # type: ignore[no-untyped-def]
    """Answers in e.upper with the cost of the rows asked for as one leaf, and in `values` for every active column."""
    e.expansions += 1
    call(e.load, e)
    call(e.prepare, e)
    values = matrix(e.values, rows.ROWS_OF_VALUES, e.width + e.categorical, int64)
    cost = int64(0)
    if e.fixed_costs == 1 and e.combine == 0 and e.n_active > 0:
        cost = least_cost(e, values)
    for k in range(e.n_active):
        for without in range(2):
            least = values[rows.LEAST1 + without, k]
            values[rows.TWO1 + without, k] = least + 2 * cost if least > LOWEST else least
            values[rows.MORE1 + without, k] = least + 3 * cost if least > LOWEST else least
