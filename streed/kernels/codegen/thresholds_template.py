"""The text of the kernels that are written for a task in the search over thresholds; see `template.py` for its marks.

Amounts: float64 (N, PLANES), the sums of each row's statistics and its rows, all of whose sums are exact. Every lane is
one of the 32 splits, whose rows are told apart by a word of `mask` for each row (see `kernels/ordered/`).
"""

THRESHOLDS = """
@inline
def code_of(e, cost, scale):
    if cost >= $INFEASIBLE:
        return int64(NEVER)
    if e.whole == 1:
        code = $ENCODE(cost, scale)
        e.inexact |= int64(code == LOWEST)
        return max(code, int64(0))
    # two leaves whose cost may be a step too large
    scaled = cost * scale
    if scaled < LARGEST_CODE:
        return max(int64(np.floor(scaled)) - 1, int64(0))
    return int64(NEVER)


@inline
def add_row(on_left, p, amount, word):
    keep_apart()
    for l in range(SPLITS):
        on_left[p, l] += amount * float64((word >> uint32(l)) & uint32(1))


@inline
def weigh_sides(numbers, min_leaf, left, right, leaf_left, leaf_right):
    keep_apart()
    parameters = parameters_of(numbers)
    limits = limits_of(numbers)
    for l in range(SPLITS):
        $LOAD_SIDES
        leaf_left[l] = leaf_of(parameters, limits, min_leaf, $ARG_L)
        leaf_right[l] = leaf_of(parameters, limits, min_leaf, $ARG_R)


@inline
def weigh_stumps(numbers, min_leaf, on_left, left, right, passed, best_left, best_right):
    keep_apart()
    parameters = parameters_of(numbers)
    limits = limits_of(numbers)
    $LOAD_PASSED
    for l in range(SPLITS):
        $LOAD_SIDES
        $LOAD_ON_LEFT
        before = leaf_of(parameters, limits, min_leaf, $ARG_L1)
        behind = leaf_of(parameters, limits, min_leaf, $ARG_L0)
        on_l = before + behind
        on_l = on_l if min(before, behind) > LOWEST // 2 else int64(LOWEST)  #: WHOLE
        before = leaf_of(parameters, limits, min_leaf, $ARG_R1)
        behind = leaf_of(parameters, limits, min_leaf, $ARG_R0)
        on_r = before + behind
        on_r = on_r if min(before, behind) > LOWEST // 2 else int64(LOWEST)  #: WHOLE
        best_left[l] = best_left[l] if best_left[l] <= on_l else on_l
        best_right[l] = best_right[l] if best_right[l] <= on_r else on_r


def score_thresholds(address):
    e = record_at(address)
    e.raised = 1
    place_rows(e)
    n = e.asked_rows
    min_leaf = e.min_leaf
    orders = matrix(e.asked_orders, max(e.asked_columns, 1), n + 1, np.uint32)
    mask = vector(e.mask, e.rows, np.uint32)
    amounts = matrix(e.amounts, e.rows, $PLANES, np.float64)
    numbers = vector(e.numbers, WORDS, np.int64)
    scale = real_of(numbers[0])
    sums = np.zeros((3 * $PLANES, SPLITS))
    on_left = sums[:$PLANES]
    left = sums[$PLANES : 2 * $PLANES]
    right = sums[2 * $PLANES :]
    passed = np.zeros($PLANES)
    costs = np.empty((4, SPLITS), np.$VALUE)
    costs[:] = $INFEASIBLE
    for r in range(n):
        row = int64(orders[0, r] & uint32(ROW))
        for p in range($PLANES):
            add_row(left, p, amounts[row, p], mask[row])
            passed[p] += amounts[row, p]
    for p in range($PLANES):
        for l in range(SPLITS):
            right[p, l] = passed[p] - left[p, l]
    weigh_sides(numbers, min_leaf, left, right, costs[0], costs[1])
    for f in range(e.asked_columns):
        on_left[:] = 0.0
        passed[:] = 0.0
        for r in range(n):
            entry = orders[f, r]
            row = int64(entry & uint32(ROW))
            if entry >= uint32(NEW):
                weigh_stumps(numbers, min_leaf, on_left, left, right, passed, costs[2], costs[3])
            for p in range($PLANES):
                add_row(on_left, p, amounts[row, p], mask[row])
                passed[p] += amounts[row, p]
    found = (
        vector(e.leaf_left, SPLITS, np.int64),
        vector(e.leaf_right, SPLITS, np.int64),
        vector(e.stump_left, SPLITS, np.int64),
        vector(e.stump_right, SPLITS, np.int64),
    )
    for each in range(4):
        for l in range(e.asked_splits):
            found[each][l] = code_of(e, costs[each, l], scale)
    for l in range(e.asked_splits):
        # no rows cost nothing
        if left[$ROWS, l] == 0.0 and min_leaf <= 1:
            found[0][l] = 0
        if right[$ROWS, l] == 0.0 and min_leaf <= 1:
            found[1][l] = 0
    e.raised = 0


def find_stump_of_thresholds(address):
    e = record_at(address)
    e.raised = 1
    n = e.asked_rows
    min_leaf = e.min_leaf
    orders = matrix(e.asked_orders, max(e.asked_columns, 1), n + 1, np.uint32)
    amounts = matrix(e.amounts, e.rows, $PLANES, np.float64)
    numbers = vector(e.numbers, WORDS, np.int64)
    parameters = parameters_of(numbers)
    limits = limits_of(numbers)
    scale = real_of(numbers[0])
    totals = np.zeros($PLANES)
    passed = np.zeros($PLANES)
    for r in range(n):
        row = int64(orders[0, r] & uint32(ROW))
        for p in range($PLANES):
            totals[p] += amounts[row, p]
    $LOAD_T
    e.found_leaf = code_of(e, leaf_of(parameters, limits, min_leaf, $ARG_T), scale)
    best = $VALUE($INFEASIBLE)
    e.found_column = -1
    for f in range(e.asked_columns):
        passed[:] = 0.0
        for r in range(n):
            entry = orders[f, r]
            row = int64(entry & uint32(ROW))
            if entry >= uint32(NEW):
                $LOAD_PASSED
                before = leaf_of(parameters, limits, min_leaf, $ARG_PASSED)
                behind = leaf_of(parameters, limits, min_leaf, $ARG_BEHIND)
                cost = before + behind
                cost = cost if min(before, behind) > LOWEST // 2 else int64(LOWEST)  #: WHOLE
                if cost < best:
                    best = cost
                    e.found_column = f
                    e.found_position = r
            for p in range($PLANES):
                passed[p] += amounts[row, p]
    e.found_cost = code_of(e, best, scale)
    e.raised = 0
"""
