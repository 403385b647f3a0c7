"""The work unit of the search: the best tree of depth at most three over a set of rows, up to a target value.

    load the rows; count pairs: the best tree of depth two by its first column gives an order and an incumbent
    for each first column in that order:
        skip it if the lower bounds of its children reach the incumbent or the target
        else solve its children to depth two: remembered by branch, or in one pass over the smaller child
        push similarity bounds from these children to the children of all other columns

What differs between kinds of tasks and lane types is how pairs are scored: the kernels `prepare`, `solve_children` and
`push_bounds` are called through pointers (see `units.py`), so this procedure is compiled once for all of them. So are
those that only a search of nodes needs, `recall` and `store`, and those of splits that cost something.

The answer is (lower, upper, split): bounds on the optimum and the first split of the best tree found. The optimum is
known, lower == upper, if it is below the target; otherwise lower >= target, unless the search was stopped.

Problems of at most three levels are answered by one call of it: neither nodes nor search are needed. The root is the
record behind the last node, so that these problems may be solved between others of one workspace.
"""

from __future__ import annotations

from numba import int64, uint8, uint64

from streed.bnb.bounds import bound_by_node, bound_by_purity
from streed.bnb.expand import ask
from streed.bnb.extraction import EXTRACT, has_rows, listing
from streed.bnb.nodes import global_split, nodes_of, rows_of, sort_by_key
from streed.kernels.compiled import entry, ready
from streed.kernels.records import ALL, BELOW, INFINITE, LEAF, LOWEST, NONE
from streed.kernels.scoring.children import cost_of_split, join, join_cost
from streed.kernels.stopping import LOWER, ROWS_OF_CONTROL, UPPER, cut_short, stopped
from streed.kernels.values import KEY, LEAF1, LOWER0, LOWER1, OPTIMUM0, OPTIMUM1, ORDER, ROWS_OF_VALUES, UNKNOWN
from streed.kernels.views import call, engine_at, inline, matrix, native, vector


@native
def solve_depth_three(e):  # type: ignore[no-untyped-def]
    """Answers in e.lower, e.upper and e.split for the rows, the depth (0 to 3) and the target asked for."""
    e.units += 1
    call(e.load, e)
    values = matrix(e.values, ROWS_OF_VALUES, e.width + e.categorical, int64)
    call(e.prepare, e)
    counts_splits = e.asked_depth > 1 and e.n_active > 0 and e.fixed_costs == 1
    if counts_splits:
        call(e.count_splits, e)
    e.lower = e.upper
    e.split = LEAF
    if (e.upper == 0 and e.scored == 0 and e.asked_all != BELOW) or e.n_active == 0 or e.asked_depth == 0:
        return
    if e.asked_depth == 1:
        _key_by_leaves(e, values)
    splits = _order_splits(e, values)
    if splits > 0 and values[KEY, values[ORDER, 0]] < e.upper:
        e.upper = values[KEY, values[ORDER, 0]]
        e.split = values[ORDER, 0]
    e.lower = e.upper
    if cut_short(e):
        e.lower = min(e.upper, e.asked_lower)
    elif e.asked_depth == 3:
        bound_by_node(e, values, e.upper)
        bound_by_purity(e, values)
        _search(e, values, splits)
        if e.asked_all == ALL:
            bound_by_node(e, values, e.upper)
            if counts_splits and not stopped(e):
                call(e.count_more_splits, e)
    e.split = global_split(e, e.split) if e.split >= 0 else LEAF


@native
def _key_by_leaves(e, values):  # type: ignore[no-untyped-def]
    """Makes the keys those of depth one: every side is a leaf."""
    literals = matrix(e.local_literals, 3, max(e.categorical, 1), int64)
    for split in range(e.n_active + e.n_categorical):
        values[KEY, split] = join_sides(e, values, literals, split, int64(LEAF1))


@native
def _order_splits(e, values):  # type: ignore[no-untyped-def]
    """How many splits there are; lists them by rising key. Splits that leave a side without rows are none."""
    ones = vector(e.ones, e.width, int64)
    count = int64(0)
    for k in range(e.n_binary):
        if 0 < ones[k] < e.n_rows:
            values[ORDER, count] = k
            count += 1
    for c in range(e.n_categorical):
        values[ORDER, count] = e.n_active + c
        count += 1
    sort_by_key(values[ORDER, :count], values[KEY])
    return count


@native
def _search(e, values, splits):  # type: ignore[no-untyped-def]
    """Tries the splits in order; begins and ends with the incumbent in e.upper and e.split."""
    literals = matrix(e.local_literals, 3, max(e.categorical, 1), int64)
    ones = vector(e.ones, e.width, int64)
    skipped = int64(INFINITE)
    for index in range(splits):
        if (e.upper <= e.asked_lower or (e.upper == 0 and e.scored == 0)) and e.asked_all == 0:
            break
        split = values[ORDER, index]
        goal = e.asked_target if e.asked_all == BELOW else min(e.upper, e.asked_target)
        bound = join_sides(e, values, literals, split, int64(LOWER1))
        if bound < goal or e.asked_all == ALL:
            _recall_split(e, values, literals, split)
            bound = join_sides(e, values, literals, split, int64(LOWER1))
        if bound >= goal and e.asked_all != ALL:
            skipped = min(skipped, bound)
            e.pruned += 1
            continue
        if stopped(e):
            skipped = min(skipped, e.asked_lower)
            break
        if split < e.n_active:
            _solve_column(e, values, split)
        else:
            for k in range(literals[0, split - e.n_active], literals[1, split - e.n_active]):
                if ones[k] > 0:
                    _solve_column(e, values, k)
        if cut_short(e):
            skipped = min(skipped, e.asked_lower)
            break
        cost = join_sides(e, values, literals, split, int64(OPTIMUM1))
        if cost < e.upper:
            e.upper = cost
            e.split = split
    e.lower = max(min(e.upper, skipped), min(e.upper, e.asked_lower))


@inline
def _recall_split(e, values, literals, split):  # type: ignore[no-untyped-def]
    """Looks up what is known of the optima of a local split's sides, where a search of nodes met them before."""
    first, end = split, split + 1
    if split >= e.n_active:
        first, end = literals[0, split - e.n_active], literals[1, split - e.n_active]
    for k in range(first, end):
        values[OPTIMUM1, k] = UNKNOWN
        values[OPTIMUM0, k] = UNKNOWN
        if e.recall != 0:
            e.asked_column = k
            call(e.recall, e)


@native
def join_sides(e, values, literals, split, row):  # type: ignore[no-untyped-def]
    """The value of a local split whose sides with each column have those in `values[row]`, those without in the next.

    Sides without rows have no part in it.
    """
    if split < e.n_active:
        a = values[row + 1, split]
        b = values[row, split]
        if e.combine != 0 and vector(e.flipped, e.columns, uint8)[vector(e.active, e.width, int64)[split]] == 1:
            a, b = b, a
        return join_cost(e, join(e, a, b), cost_of_split(e, values, split))
    ones = vector(e.ones, e.width, int64)
    total = int64(NONE)
    some = False
    for k in range(literals[0, split - e.n_active], literals[1, split - e.n_active]):
        if ones[k] > 0:
            total = join(e, total, values[row, k]) if some else values[row, k]
            some = True
    return join_cost(e, total, cost_of_split(e, values, split))


@native
def _solve_column(e, values, column):  # type: ignore[no-untyped-def]
    """Solves the children of a local column, remembers them and pushes their costs to the bounds of all others."""
    is_binary = column < e.n_binary
    e.asked_column = column
    e.cost1 = values[OPTIMUM1, column]
    e.cost0 = values[OPTIMUM0, column] if is_binary else 0
    if e.cost1 == UNKNOWN or e.cost0 == UNKNOWN:
        e.pair_passes += 1
        call(e.solve_children, e)
        if cut_short(e):
            return
        values[OPTIMUM1, column] = e.cost1
        values[OPTIMUM0, column] = e.cost0
        values[LOWER1, column] = max(values[LOWER1, column], e.cost1)
        if is_binary:
            values[LOWER0, column] = max(values[LOWER0, column], e.cost0)
        if e.store != 0:
            call(e.store, e)
    if e.restrictable == 1:
        call(e.push_bounds, e)


def compile_terminal() -> None:
    """Compiles what solves and extracts, before time is counted."""
    ready(solve_root, "(int64,)")
    ready(extract_root, EXTRACT)


@entry
def solve_root(engine):  # type: ignore[no-untyped-def]
    """Solves the rows behind the last node, to the target of the root; its record then has bounds and split."""
    e = engine_at(engine)
    e.root = e.node_count
    root = nodes_of(e)[e.root]
    least = int64(LOWEST) if e.scored == 1 else int64(0)
    root.lower = least
    root.upper = INFINITE
    ask(e, rows_of(e)[e.root], int64(e.root_depth), int64(e.root_target), least, (uint64(0), uint64(0)))
    root.split = e.split
    root.upper = e.upper
    root.lower = max(least, min(e.lower, e.upper))
    control = vector(e.control, ROWS_OF_CONTROL, int64)
    control[LOWER] = root.lower
    control[UPPER] = root.upper


@native
def _split_of(e, rows, depth, budget, high, low, count):  # type: ignore[no-untyped-def]
    """As `listing` asks."""
    if count == 0:
        return int64(nodes_of(e)[e.root].split), int64(NONE), depth - 1
    if depth == 0 or not has_rows(e, rows):
        return int64(LEAF), int64(NONE), depth
    ask(e, rows, depth, int64(INFINITE), int64(0), (uint64(0), uint64(0)))
    return e.split, int64(NONE), depth - 1


extract_root = listing(_split_of)
"""Of the tree that `solve_root` found."""


@native
def _first_split_of(e, rows, depth, budget, high, low, count):  # type: ignore[no-untyped-def]
    """As `listing` asks."""
    if depth == 0 or stopped(e) or not has_rows(e, rows):
        return int64(LEAF), int64(NONE), depth
    ask(e, rows, min(depth, int64(2)), int64(INFINITE), int64(0), (uint64(0), uint64(0)))
    return e.split, int64(NONE), depth - 1


look_ahead = listing(_first_split_of)
"""Of a rolling lookahead: each node is split as its best tree of two levels is."""
