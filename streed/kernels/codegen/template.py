"""The text of the kernels that are written for a task, as `render.py` fills it in.

A line that ends in `#: NAME` is for tasks with that trait, `#: !NAME` for those without it; `$NAME` stands for what the
task's shape makes of it. What the text may name, besides Python's own, is listed in `generate.py`.
"""

SCORE = """
@native  #: CALLED
def list_path(bits, words, more, last, into):  #: CALLED
    size = 0  #: CALLED
    for w in range(words):  #: CALLED
        word = bits[w]  #: CALLED
        if more >= 0 and more // 64 == w:  #: CALLED
            word |= uint64(1) << uint64(more % 64)  #: CALLED
        if last >= 0 and last // 64 == w:  #: CALLED
            word |= uint64(1) << uint64(last % 64)  #: CALLED
        while word != uint64(0):  #: CALLED
            into[size] = w * 64 + first_one(word)  #: CALLED
            size += 1  #: CALLED
            word = word & (word - uint64(1))  #: CALLED
    return size  #: CALLED


@inline
def row_of(costs, space, row):
    return vector(costs + 8 * row * space, space, np.$VALUE)


@inline
def score_row(
    numbers,
    min_leaf,
    pairs,
    sums,
    stride,
    end,
    j,
    $ARG_T,
    split1,
    split0,
    with1,
    with0,
    split_costs,  #: TABLE
    second,  #: CALLED
):
    keep_apart()
    parameters = parameters_of(numbers)
    limits = limits_of(numbers)
    $LOAD_J
    split_cost = split_costs[j]  #: TABLE
    for k in range(end):
        $LOAD_B
        $LOAD_K
        c11 = leaf_of(parameters, limits, min_leaf, $ARG_11)
        c10 = leaf_of(parameters, limits, min_leaf, $ARG_10)
        c01 = leaf_of(parameters, limits, min_leaf, $ARG_01)
        c00 = leaf_of(parameters, limits, min_leaf, $ARG_00)
        with_k = combined(parameters, c10, c11)
        without_k = combined(parameters, c00, c01)
        with_j = combined(parameters, c01, c11)
        without_j = combined(parameters, c00, c10)
        with_k = combined(parameters, with_k, split_cost)  #: TABLE
        without_k = combined(parameters, without_k, split_cost)  #: TABLE
        with_j = combined(parameters, with_j, split_costs[k])  #: TABLE
        without_j = combined(parameters, without_j, split_costs[k])  #: TABLE
        with_k = combined(parameters, with_k, second[2 * k, j])  #: CALLED
        without_k = combined(parameters, without_k, second[2 * k + 1, j])  #: CALLED
        with_j = combined(parameters, with_j, second[2 * j, k])  #: CALLED
        without_j = combined(parameters, without_j, second[2 * j + 1, k])  #: CALLED
        split1[k] = split1[k] if split1[k] <= with_k else with_k
        split0[k] = split0[k] if split0[k] <= without_k else without_k
        with1[k] = with_j
        with0[k] = without_j


@inline
def score_leaves(numbers, min_leaf, sums, end, $ARG_T, leaf1, leaf0):
    keep_apart()
    parameters = parameters_of(numbers)
    limits = limits_of(numbers)
    for k in range(end):
        $LOAD_K
        leaf1[k] = leaf_of(parameters, limits, min_leaf, $ARG_K1)
        leaf0[k] = leaf_of(parameters, limits, min_leaf, $ARG_K0)


@inline
def join_sides(
    numbers,
    end,
    leaf1,
    leaf0,
    split1,
    split0,
    split_costs,  #: COSTS
    keys,
):
    keep_apart()
    parameters = parameters_of(numbers)
    for k in range(end):
        side0 = leaf0[k] if leaf0[k] <= split0[k] else split0[k]
        side1 = leaf1[k] if leaf1[k] <= split1[k] else split1[k]
        key = combined(parameters, side0, side1)
        key = combined(parameters, key, split_costs[k])  #: COSTS
        keys[k] = key


@native
def score_pairs(address, numbers, pairs, sums, totals):
    e = engine_at(address)
    stride = e.stride
    binary = e.n_binary
    min_leaf = e.min_leaf
    space = e.width + e.categorical
    split1 = row_of(e.costs, space, int64(SPLIT1))
    split0 = row_of(e.costs, space, int64(SPLIT0))
    with1 = row_of(e.costs, space, int64(WITH1))
    with0 = row_of(e.costs, space, int64(WITH0))
    split_costs = row_of(e.costs, space, int64(COST))  #: TABLE
    second = matrix(e.pair_costs, 2 * space, space, np.$VALUE)  #: CALLED
    $LOAD_T
    for j in range(binary):
        $LOAD_J
        if j_rows < min_leaf or t_rows - j_rows < min_leaf:
            continue
        end = (j + 8) // 8 * 8
        end = end if end < stride else stride
        best1 = split1[j]
        best0 = split0[j]
        score_row(
            numbers,
            min_leaf,
            pairs,
            sums,
            stride,
            end,
            j,
            $ARG_T,
            split1,
            split0,
            with1,
            with0,
            split_costs,  #: TABLE
            second,  #: CALLED
        )
        end = end if end < binary else binary
        split1[j] = lowest(with1, end, best1 if best1 <= split1[j] else split1[j])
        split0[j] = lowest(with0, end, best0 if best0 <= split0[j] else split0[j])


@native  #: MULTIWAY
def score_categories(address, parameters, limits, pairs, sums, totals, costs):  #: MULTIWAY
    e = engine_at(address)  #: MULTIWAY
    stride = e.stride  #: MULTIWAY
    binary = e.n_binary  #: MULTIWAY
    min_leaf = e.min_leaf  #: MULTIWAY
    literals = matrix(e.local_literals, 3, max(e.categorical, 1), np.int64)  #: MULTIWAY
    space = e.width + e.categorical  #: CALLED MULTIWAY
    second1 = matrix(e.pair_costs, 2 * space, space, np.$VALUE)  #: CALLED MULTIWAY
    $LOAD_T  #: MULTIWAY
    for k in range(binary, e.n_active):  #: MULTIWAY
        for j in range(binary):  #: MULTIWAY
            $LOAD_J  #: MULTIWAY
            $LOAD_K  #: MULTIWAY
            $LOAD_C  #: MULTIWAY
            c11 = leaf_of(parameters, limits, min_leaf, $ARG_11)  #: MULTIWAY
            c10 = leaf_of(parameters, limits, min_leaf, $ARG_10)  #: MULTIWAY
            with_k = combined(parameters, c10, c11)  #: MULTIWAY
            with_k = combined(parameters, with_k, costs[COST, j])  #: TABLE MULTIWAY
            with_k = combined(parameters, with_k, second1[2 * k, j])  #: CALLED MULTIWAY
            costs[SPLIT1, k] = min(costs[SPLIT1, k], with_k)  #: MULTIWAY
    for c in range(e.n_categorical):  #: MULTIWAY
        begin = literals[0, c]  #: MULTIWAY
        end = literals[1, c]  #: MULTIWAY
        for k in range(e.n_active):  #: MULTIWAY
            if begin <= k < end:  #: MULTIWAY
                continue  #: MULTIWAY
            present1 = 0  #: MULTIWAY
            present0 = 0  #: MULTIWAY
            with_k = $VALUE($INFEASIBLE)  #: MULTIWAY
            without_k = $VALUE($INFEASIBLE)  #: MULTIWAY
            for j in range(begin, end):  #: MULTIWAY
                $LOAD_J  #: MULTIWAY
                $LOAD_K  #: MULTIWAY
                $LOAD_C  #: MULTIWAY
                if b_rows > 0:  #: MULTIWAY
                    c11 = leaf_of(parameters, limits, min_leaf, $ARG_11)  #: MULTIWAY
                    with_k = c11 if present1 == 0 else combined(parameters, with_k, c11)  #: MULTIWAY
                    present1 += 1  #: MULTIWAY
                if j_rows - b_rows > 0:  #: MULTIWAY
                    c01 = leaf_of(parameters, limits, min_leaf, $ARG_01)  #: MULTIWAY
                    without_k = c01 if present0 == 0 else combined(parameters, without_k, c01)  #: MULTIWAY
                    present0 += 1  #: MULTIWAY
            if present1 > 1:  #: MULTIWAY
                with_k = combined(parameters, with_k, costs[COST, e.n_active + c])  #: TABLE MULTIWAY
                with_k = combined(parameters, with_k, second1[2 * k, e.n_active + c])  #: CALLED MULTIWAY
                costs[SPLIT1, k] = min(costs[SPLIT1, k], with_k)  #: MULTIWAY
            if present0 > 1:  #: MULTIWAY
                without_k = combined(parameters, without_k, costs[COST, e.n_active + c])  #: TABLE MULTIWAY
                without_k = combined(parameters, without_k, second1[2 * k + 1, e.n_active + c])  #: CALLED MULTIWAY
                costs[SPLIT0, k] = min(costs[SPLIT0, k], without_k)  #: MULTIWAY


@native  #: CALLED
def find_costs(address, parameters, sums, totals, costs, words, path):  #: CALLED
    e = engine_at(address)  #: CALLED
    local = matrix(e.local_literals, 3, max(e.categorical, 1), np.int64)  #: CALLED
    active = vector(e.active, e.width, np.int64)  #: CALLED
    caller = vector(e.caller_columns, e.columns, np.int64)  #: CALLED
    literals = vector(e.literals, e.categorical + 1, np.int64)  #: CALLED
    space = e.width + e.categorical  #: CALLED
    second = matrix(e.pair_costs, 2 * space, space, np.$VALUE)  #: CALLED
    bits = vector(e.asked_rows + 8 * e.row_words, e.path_words, uint64)  #: CALLED
    table = vector(e.split_costs, e.columns + e.categorical, np.$VALUE)  #: BOTH
    here = list_path(bits, words, e.scored_column, -1, path)  #: CALLED
    for k in range(e.n_active + e.n_categorical):  #: CALLED
        column = active[k] if k < e.n_active else literals[local[2, k - e.n_active]]  #: CALLED
        costs[COST, k] = cost_of_split(parameters, int64(totals[$ROWS]), path[:here], caller[column])  #: CALLED
        costs[COST, k] += table[column if k < e.n_active else e.columns + local[2, k - e.n_active]]  #: BOTH
    for k in range(e.n_active):  #: CALLED
        below = list_path(bits, words, e.scored_column, caller[active[k]], path)  #: CALLED
        with_k = int64(sums[$ROWS, k])  #: CALLED
        without_k = int64(totals[$ROWS]) - with_k  #: CALLED
        for j in range(e.n_active + e.n_categorical):  #: CALLED
            column = active[j] if j < e.n_active else literals[local[2, j - e.n_active]]  #: CALLED
            second[2 * k, j] = cost_of_split(parameters, with_k, path[:below], caller[column])  #: CALLED
            second[2 * k + 1, j] = cost_of_split(parameters, without_k, path[:below], caller[column])  #: CALLED
            more = table[column if j < e.n_active else e.columns + local[2, j - e.n_active]]  #: BOTH
            second[2 * k, j] += more  #: BOTH
            second[2 * k + 1, j] += more  #: BOTH


def score(address):
    e = engine_at(address)
    overflow = e.overflow
    e.overflow = RAISED
    stride = e.stride
    n = e.n_active
    space = e.width + e.categorical
    pairs = matrix(e.scored_pairs, $PLANES * stride, stride, $LANE)
    sums = matrix(e.scored_sums, int64($PLANES), e.width, $LANE)
    totals = vector(e.scored_totals, int64($PLANES), $TOTAL)
    found = matrix(e.scored_values, int64(ROWS_OF_VALUES), space, np.int64)
    costs = matrix(e.costs, int64(ROWS_OF_COSTS), space, np.$VALUE)  #: MULTIWAY
    costs = matrix(e.costs, int64(ROWS_OF_COSTS), space, np.$VALUE)  #: CALLED !MULTIWAY
    numbers = vector(e.numbers, int64(WORDS), np.int64)
    scale = real_of(numbers[0])
    parameters = parameters_of(numbers)
    limits = limits_of(numbers)
    min_leaf = e.min_leaf
    local = matrix(e.local_literals, 3, max(e.categorical, 1), np.int64)  #: MULTIWAY
    local = matrix(e.local_literals, 3, max(e.categorical, 1), np.int64)  #: TABLE !MULTIWAY
    $LOAD_T
    leaf = leaf_of(parameters, limits, min_leaf, $ARG_T)
    code = $ENCODE(leaf, scale)
    e.scored_leaf = code
    e.scored_least = LOWEST
    e.scored_least = $ENCODE(bound_of(parameters, $ARG_T), scale)  #: BOUND
    floors = vector(e.floor_sums, e.width + 1, np.float64)  #: FLOORS
    e.scored_least = max(e.scored_least, $ENCODE(floors[e.width], scale))  #: FLOORS
    e.overflow |= int64(code == LOWEST)
    end = (n + 7) // 8 * 8
    end = end if end < stride else stride
    leaf1 = row_of(e.costs, space, int64(LEAF1))
    leaf0 = row_of(e.costs, space, int64(LEAF0))
    split1 = row_of(e.costs, space, int64(SPLIT1))
    split0 = row_of(e.costs, space, int64(SPLIT0))
    split_costs = row_of(e.costs, space, int64(COST))  #: COSTS
    keys = row_of(e.costs, space, int64(WITH1))
    score_leaves(numbers, min_leaf, sums, end, $ARG_T, leaf1, leaf0)
    for k in range(end):
        split1[k] = $INFEASIBLE
        split0[k] = $INFEASIBLE
    table = vector(e.split_costs, e.columns + e.categorical, np.$VALUE)  #: TABLE
    active = vector(e.active, e.width, np.int64)  #: TABLE
    for k in range(end):  #: TABLE
        split_costs[k] = table[active[k]] if k < n else 0  #: TABLE
    for c in range(e.n_categorical):  #: TABLE
        split_costs[n + c] = table[e.columns + local[2, c]]  #: TABLE
    path = np.empty(64 * e.path_words + 2, np.int64)  #: CALLED
    find_costs(address, parameters, sums, totals, costs, e.path_words, path)  #: CALLED
    if e.asked_depth != 1 or e.scored_column != NONE:
        score_pairs(address, numbers, pairs, sums, totals)
        if e.categorical > 0:  #: MULTIWAY
            score_categories(address, parameters, limits, pairs, sums, totals, costs)  #: MULTIWAY
    join_sides(
        numbers,
        end,
        leaf1,
        leaf0,
        split1,
        split0,
        split_costs,  #: COSTS
        keys,
    )
    best = lowest(keys, e.n_binary, leaf)
    if e.scored_column != NONE:  #: !MULTIWAY
        e.scored_best = $ENCODE(best, scale)  #: !MULTIWAY
        e.overflow |= int64(e.scored_best == LOWEST)  #: !MULTIWAY
        e.overflow = overflow | (e.overflow & ~RAISED)  #: !MULTIWAY
        return  #: !MULTIWAY
    for k in range(n):
        code1 = $ENCODE(leaf1[k], scale)
        code0 = $ENCODE(leaf0[k], scale)
        split_code1 = $ENCODE(split1[k], scale)
        split_code0 = $ENCODE(split0[k], scale)
        e.overflow |= int64(code1 == LOWEST or code0 == LOWEST or split_code1 == LOWEST or split_code0 == LOWEST)
        found[V_LEAF1, k] = code1
        found[V_LEAF0, k] = code0
        found[V_SPLIT1, k] = split_code1
        found[V_SPLIT0, k] = split_code0
        found[V_LEAST1, k] = LOWEST
        found[V_LEAST1 + 1, k] = LOWEST
        found[V_COST, k] = NO_COST  #: !COSTS
        found[V_COST, k] = $ENCODE(split_costs[k], scale)  #: COSTS
        $LOAD_K  #: BOUND
        least = $ENCODE(bound_of(parameters, $ARG_K1), scale)  #: BOUND
        found[V_LEAST1, k] = least if k_rows > 0 else INFINITE  #: BOUND
        least = $ENCODE(bound_of(parameters, $ARG_K0), scale)  #: BOUND
        found[V_LEAST1 + 1, k] = least if t_rows > k_rows else INFINITE  #: BOUND
        found[V_LEAST1, k] = max(found[V_LEAST1, k], $ENCODE(floors[k], scale))  #: FLOORS
        least = $ENCODE(floors[e.width] - floors[k], scale)  #: FLOORS
        found[V_LEAST1 + 1, k] = max(found[V_LEAST1 + 1, k], least)  #: FLOORS
        found[V_KEY, k] = $ENCODE(keys[k], scale)
    for c in range(e.n_categorical):  #: MULTIWAY
        key = $VALUE($INFEASIBLE)  #: MULTIWAY
        present = 0  #: MULTIWAY
        for k in range(local[0, c], local[1, c]):  #: MULTIWAY
            if sums[$ROWS, k] > 0:  #: MULTIWAY
                side = min(leaf1[k], split1[k])  #: MULTIWAY
                key = side if present == 0 else combined(parameters, key, side)  #: MULTIWAY
                present += 1  #: MULTIWAY
        key = combined(parameters, key, split_costs[n + c])  #: COSTS MULTIWAY
        if present < 2:  #: MULTIWAY
            key = $VALUE($INFEASIBLE)  #: MULTIWAY
        found[V_KEY, n + c] = $ENCODE(key, scale)  #: MULTIWAY
        found[V_COST, n + c] = NO_COST  #: !COSTS MULTIWAY
        found[V_COST, n + c] = $ENCODE(split_costs[n + c], scale)  #: COSTS MULTIWAY
        best = best if best <= key else key  #: MULTIWAY
    e.scored_best = $ENCODE(best, scale)
    e.overflow |= int64(e.scored_best == LOWEST)
    e.overflow = overflow | (e.overflow & ~RAISED)


def combine_values(address):  #: COMBINE
    e = engine_at(address)  #: COMBINE
    numbers = vector(e.numbers, int64(WORDS), np.int64)  #: COMBINE
    scale = real_of(numbers[0])  #: COMBINE
    total = combined(parameters_of(numbers), $DECODE(int64(e.left), scale), $DECODE(int64(e.right), scale))  #: COMBINE
    e.combined = $ENCODE(total, scale)  #: COMBINE


def subtract_values(address):  #: SUBTRACT
    e = engine_at(address)  #: SUBTRACT
    numbers = vector(e.numbers, int64(WORDS), np.int64)  #: SUBTRACT
    scale = real_of(numbers[0])  #: SUBTRACT
    left = $DECODE(int64(e.left), scale)  #: SUBTRACT
    right = $DECODE(int64(e.right), scale)  #: SUBTRACT
    rest = $SIGNsubtract(parameters_of(numbers)[0], $SIGNleft, $SIGNright)  #: SUBTRACT
    e.combined = $ENCODE($UP(rest), scale)  #: SUBTRACT


def find_floors(address):  #: FLOORS
    e = engine_at(address)  #: FLOORS
    numbers = vector(e.numbers, int64(WORDS), np.int64)  #: FLOORS
    parameters = parameters_of(numbers)  #: FLOORS
    rows_of = matrix(e.row_values, e.row_space, $PADDED, np.float64)  #: FLOORS
    floors = vector(e.row_floors, e.row_space, np.float64)  #: FLOORS
    for k in range(e.row_space):  #: FLOORS
        if rows_of[k, $ROWS] > 0:  #: FLOORS
            floors[k] = least_cost(parameters, $ARG_F)  #: FLOORS
"""
