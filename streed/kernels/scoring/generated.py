"""Depth-two scoring by a kernel that was generated from the task: any leaf cost, any order-preserving operator.

Counting knows nothing of the task: it fills pair sums, column sums and totals of the task's statistics. The generated
kernel `score` (see `generate.py`) turns them into values: of every side of every column as a leaf and split once.
"""

from __future__ import annotations

from numba import float64, int64

from streed.kernels import values as rows
from streed.kernels.counting.pair_counts import count_node
from streed.kernels.counting.pair_sums import sum_floors, sum_node
from streed.kernels.records import LOWEST, NONE
from streed.kernels.scoring.children import count_side, least_cost, solving_children, sum_columns, sum_side
from streed.kernels.views import call, inline, matrix, native, vector

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
def prepare_summed(e, lane):  # type: ignore[no-untyped-def]
    """As `prepare_counted`, by sums over rows; there are no worst costs then."""
    sum_node(e, lane, float64, e.planes)
    if e.row_floors != 0:
        sum_floors(e)
    _prepare(e, lane)


@inline
def _prepare(e, lane):  # type: ignore[no-untyped-def]
    """Scores the pair sums of the loaded node."""
    pairs = matrix(e.pairs, e.planes * e.stride, e.stride, lane)
    sum_columns(e, e.planes, pairs, matrix(e.sums, e.planes, e.width, lane))
    _score(e, e.pairs, e.sums, e.totals, e.values, int64(NONE))
    e.upper = e.scored_leaf
    e.least = e.scored_least
    e.worst_pairs = e.worst_plane


@native
def _optimum_of_side(e, lane, side, pairs_at):  # type: ignore[no-untyped-def]
    """The optimal value at depth two of a side of e.asked_column whose sums are in the record."""
    tested = vector(e.caller_columns, e.columns, int64)[vector(e.active, e.width, int64)[e.asked_column]]
    _score(e, pairs_at, e.child_sums, e.child_totals, e.child_values, tested)
    return int64(e.scored_best)


solve_counted_children = solving_children(_optimum_of_side, count_side)
solve_summed_children = solving_children(_optimum_of_side, sum_side, float64)


@native
def expand_scored(e):  # type: ignore[no-untyped-def]
    """Answers in e.upper with the cost of the loaded node as one leaf, and in `values` for every active column."""
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


@inline
def lowest(costs, count, start):  # type: ignore[no-untyped-def]
    """The lowest of `start` and the first `count` costs (n,), int64 or float64; those that are NaN do not count."""
    best = start
    for k in range(count):
        if costs[k] < best:
            best = costs[k]
    return best
