"""The records that the engine's functions share, each paired with its dtype.

One `Engine` record describes the problem and holds the addresses of every array: native functions take that record
instead of dozens of arrays, which keeps compilation short, and ask it for typed views (see `views.py`).

Sizes used in the comments: G row groups, K labels, F columns, W 64-bit words per row set, P = F padded to 32 lanes,
S planes of pair sums, N rows padded so that every group starts at a word of its own.

Two kinds of problems share all this. Of a row-cost problem, planes are profits per label and worst costs; of a scored
one, they are the task's statistics and rows, and a kernel generated from the task makes costs of them (generated.py).
"""

from __future__ import annotations

import numpy as np

SIZES = [
    ("groups", np.int64),  # G
    ("labels", np.int64),  # K
    ("columns", np.int64),  # F: binary columns first, then the literals of categorical columns
    ("binary_columns", np.int64),  # how many of them are binary
    ("categorical", np.int64),  # categorical columns, each with a run of literals
    ("row_words", np.int64),  # W
    ("row_space", np.int64),  # N
    ("width", np.int64),  # P
    ("path_words", np.int64),  # 64-bit words of a set of the caller's columns, where costs depend on the path; else 0
    ("key_words", np.int64),  # W and path_words: what a subproblem is found by
    ("planes", np.int64),  # S: one per label, then worst costs, then (if needed) rows; or one per statistic, then rows
    ("rows_plane", np.int64),  # which plane counts rows
    ("worst_plane", np.int64),  # which plane holds worst costs (of row groups)
    ("worst_unit", np.int64),  # what a unit of the worst plane costs
    ("class_unit", np.int64),  # of `class_weights`: all costs are multiples of it
    # of the caches, in entries
    ("node_space", np.int64),
    ("edge_space", np.int64),
    ("child_space", np.int64),
    ("slot_space", np.int64),
    ("branch_space", np.int64),
    ("branch_words", np.int64),  # of an entry of the branch cache: 2, or 3 for branches of more than four literals
    ("path_space", np.int64),
    ("joins", np.int64),  # 1: nodes, edges and children are those of another thread's workspace
    ("shared_branch_slots", np.int64),  # of the branch cache that threads share, a power of two
]
"""Of the problem, and of the space that its caches may grow into. Written once by `Workspace`."""

FACTS = [
    ("split_cost", np.int64),  # of one branching node
    ("min_leaf", np.int64),  # rows that a leaf needs
    ("signed", np.int64),  # 1: two labels, binary columns and no minimum support: the signed kernel applies
    ("restrictable", np.int64),  # 1: a tree stays feasible on fewer rows, so its cost bounds that of subsets
    ("extensible", np.int64),  # 1: a tree stays feasible on more rows, so its cost bounds that of supersets
    ("class_bound", np.int64),  # 1: each row costs the same under every label but one (accuracy)
    ("relaxed", np.int64),  # 1: nodes deeper than three are expanded by their depth-three relaxation
    ("scored", np.int64),  # 1: a generated kernel scores pair sums; branching costs and lower bounds are in `values`
    ("fixed_costs", np.int64),  # 1: branching costs of a scored problem depend on the split only, and are positive
    ("has_test_costs", np.int64),  # 1: splits cost something per row, by the columns tested above: children.py
    ("wide", np.int64),  # 1: pair sums are added up row by row (pair_sums.py), not counted by row groups
]
"""What the task declares, or follows from it and the problem: which lemmas hold, and which kernels apply.

Written once by `Workspace`; `link_problem` finds `class_bound`, and a linear oracle writes `split_cost` and
`class_bound` anew for each of its solves. A lemma is switched off by clearing its fact (`restrictable`, `extensible`,
`class_bound`), equal rows by clearing the address `floors`.
"""

ADDRESSES = [
    # the problem, read only
    ("row_bits", np.int64),  # int32 (N, P / 32): the columns of a row, a bit each
    ("column_rows", np.int64),  # uint64 (F, W): the rows that have the column
    ("group_words", np.int64),  # int64 (G + 1): the words of a row set at which each group begins
    ("class_weights", np.int64),  # int64 (G, 2), if class_bound: what a row weighs in its class, in class_unit; else 0
    ("signed_costs", np.int64),  # int64 (G, 2): cost of label 0 minus cost of label 1, and its absolute value
    ("profits", np.int64),  # int64 (G, S): worst cost minus cost, per label; then the worst cost; then 1 per row
    ("literals", np.int64),  # int64 (categorical + 1): where each categorical column's literals begin
    ("caller_columns", np.int64),  # int64 (F): the caller's column of every bit column
    ("flipped", np.int64),  # uint8 (F): 1 where the bit column is the complement of the caller's
    ("floor_mask", np.int64),  # uint64 (W,): the places that have a floor, see equal_rows.py
    ("floors", np.int64),  # int64 (N,); zero if there are none
    ("row_values", np.int64),  # int64 or float64 (N, S padded to fours), if `wide`: the numbers of every row
    ("full_test_costs", np.int64),  # int64 (F), if `has_test_costs`: of a column where nothing was tested above
    ("discounted_test_costs", np.int64),  # int64 (F, F): given[f, g], of column g where f was tested above
    # of scored problems, read only
    ("row_floors", np.int64),  # float64 (N): what the rows of every place cost any tree; zero if that is not known
    ("split_costs", np.int64),  # int64 (F + categorical): branching costs by split; zero if they depend on more
    ("numbers", np.int64),  # int64 words (whole or real): the task's parameters and the worth of costs
    # the node at hand
    ("rows", np.int64),  # int32 (N + 64): its rows, by group
    ("all_words", np.int64),  # int16 (N / 16 + G, P): its columns compacted, 16 rows a word
    ("kept_words", np.int64),  # the same without constant columns
    ("words", np.int64),  # the one of the two that is in use
    ("local_bits", np.int64),  # int32 (N + 64, P / 32): the active columns of its rows
    ("active", np.int64),  # int64 (P): the global column of each local one
    ("popcounts", np.int64),  # int16 (1, 32)
    ("ones", np.int64),  # int64 (P): rows that have the local column
    ("group_rows", np.int64),  # int64 (G + 1): where each group's rows begin in `rows`
    ("group_begins", np.int64),  # int64 (G + 1): where each group's words begin in `words`
    ("local_literals", np.int64),  # int64 (3, categorical): begin and end in local columns, and which one it is
    ("pairs", np.int64),  # lane (S, P, P): sums over the rows that have both columns
    ("sums", np.int64),  # lane (max(S, 3), P): sums over the rows that have the column
    ("totals", np.int64),  # int64 (S): sums over all rows of the node
    ("here_prices", np.int64),  # int64 (P): of its columns
    ("pair_test_costs", np.int64),  # lane (P, P): of column j where k was tested too
    ("rows_with", np.int64),  # int32 (N + 64), if `wide`: rows of the node that have a column
    ("scores", np.int64),  # lane (ROWS_OF_SCORES, P): see many_labels.py
    ("values", np.int64),  # int64 (ROWS_OF_VALUES, P + categorical): see values.py
    ("shares", np.int64),  # int64 (most sides of a split): how these share a budget
    ("ranked_profits", np.int64),  # lane (2 K, P): of both sides of each column, the greatest first
    # of scored problems
    ("child_values", np.int64),  # int64, as `values`: of a child of the node at hand
    ("costs", np.int64),  # int64 or float64 (ROWS_OF_COSTS, P): what the generated kernel works with
    ("pair_costs", np.int64),  # as `costs` (2 Q, Q), Q = P + categorical: of splits below a side, if called for each
    ("floor_sums", np.int64),  # float64 (P + 1): the sums of these over the node's rows with a column; over all of them
    # a child of the node at hand
    ("child_rows", np.int64),  # int32 (N + 64)
    ("child_words", np.int64),  # int16, as `words`; or int8 (N / 12 + G + 20, 6 P): its units, see look_up.py
    ("child_begins", np.int64),  # int64 (G + 1): where each group's words or units begin
    ("child_pairs", np.int64),  # lane, as `pairs`: of the smaller child
    ("rest_pairs", np.int64),  # lane, as `pairs`: of the larger child
    ("child_sums", np.int64),  # lane (S, P): sums over the child's rows that have the column
    ("child_totals", np.int64),  # int64 (S)
    # caches
    ("branches", np.int64),  # uint64 (branch_space, branch_words): see branch_cache.py
    ("node_rows", np.int64),  # uint64 (node_space, W)
    ("nodes", np.int64),  # NODE (node_space)
    ("edges", np.int64),  # EDGE (edge_space)
    ("children", np.int64),  # CHILD (child_space)
    ("slots", np.int64),  # int32 (2 * slot_space): the node index
    ("price_sums", np.int64),  # int64 (P): what the rows of the node at hand with each column are charged
    ("path", np.int64),  # int64 (path_space): the nodes from the root to the one at hand
    # what threads share
    ("shared", np.int64),  # int64 (WORDS): see shared_store.py; 0 where a thread is alone
    ("inside", np.int64),  # int64 (node_space), if there is such an array: how many threads are in each node
    ("shared_branches", np.int64),  # int64 (shared_branch_slots, branch_words): see branch_cache.py
    # what the search shares with the caller's thread
    ("control", np.int64),  # int64 (ROWS_OF_CONTROL): see stopping.py
]
"""Where arrays begin: those of the problem are written by `link_problem` and `Workspace`, all others by `lay_out`."""

KERNELS = [
    ("solve_shallow", np.int64),
    ("expand", np.int64),
    ("load", np.int64),
    ("prepare", np.int64),
    ("solve_children", np.int64),
    ("push_bounds", np.int64),
    ("count_splits", np.int64),  # these two where there are `fixed_costs`
    ("count_more_splits", np.int64),
    ("recall", np.int64),  # all these in a search of nodes, else zero
    ("store", np.int64),
    ("open_node", np.int64),
    ("score", np.int64),  # a generated kernel: scores pair sums, column sums and totals into a matrix like `values`
    ("combine", np.int64),  # generated kernels, zero where values are added and subtracted:
    ("subtract", np.int64),  # combined = left (+) right, or the bound that right leaves of left
]
"""Addresses of compiled code (units.py). Written by `link_units`, those of a task's own methods by `Workspace`."""

QUESTION = [
    # of a search: written by its set-up (workspace.py, native_search.py), and moved on by `search_fully`
    ("best_first", np.int64),  # 1: a node turns to its next best edge as soon as the best one has become worse
    ("frontier", np.int64),  # the level from which best-first search goes on depth-first, or UNLIMITED
    ("pause", np.int64),  # the search returns, as if it were crowded, once it has made more visits than this
    ("root_depth", np.int64),  # what is left to a root that is to be placed
    ("root_budget", np.int64),
    ("root_target", np.int64),  # the root is solved once no tree costs less than this
    ("root_edge", np.int64),  # the one edge of the root that is searched (root.py), or NONE for all
    ("root_high", np.uint64),  # the branch that leads to it
    ("root_low", np.uint64),
    ("departures", np.int64),  # of the wave that is to be followed (root.py), or NONE
    ("exact_levels", np.int64),  # the wave searches subtrees of at most so many levels exactly
    ("settled", np.int64),  # 1: the ties of the best tree were settled (extraction.py); ASKED: they are to be
    # of a work unit: written by who calls it (`ask`, `open_node`)
    ("asked_rows", np.int64),  # the address of the row set
    ("asked_depth", np.int64),
    ("asked_target", np.int64),
    ("asked_lower", np.int64),  # a lower bound that is known
    ("asked_all", np.int64),  # whose children are solved to depth two, see BEST, ALL, BELOW
    ("asked_high", np.uint64),  # the branch that leads to the rows
    ("asked_low", np.uint64),
    ("asked_edges", np.int64),  # an expansion keeps the edges of a lower bound below this
    # of the kernels of a work unit: written by depth_three.py
    ("asked_column", np.int64),  # a local column, for `solve_children`, `push_bounds`, `recall` and `store`
    # of a generated kernel: written by generated.py, and by children.py
    ("scored_pairs", np.int64),  # their addresses
    ("scored_sums", np.int64),
    ("scored_totals", np.int64),
    ("scored_values", np.int64),
    ("scored_column", np.int64),  # a caller's column that is tested besides those of the path, or NONE
    ("left", np.int64),
    ("right", np.int64),
]
"""What is asked of a search, a work unit or a kernel; who writes it is said above each part."""

ANSWER = [
    # by a work unit
    ("lower", np.int64),
    ("upper", np.int64),
    ("split", np.int64),
    # by `solve_children`, or the branch cache: the optimal costs at depth two
    ("cost1", np.int64),  # of the rows with the column asked for
    ("cost0", np.int64),  # and without it
    # by a generated kernel
    ("scored_leaf", np.int64),  # the cost as a leaf,
    ("scored_best", np.int64),  # of the best tree of depth two,
    ("scored_least", np.int64),  # and a lower bound on any tree's
    ("combined", np.int64),
    ("least", np.int64),  # of scored problems: what it costs any tree at least, by what the task knows
    ("overflow", np.int64),  # 1: a cost was too small for its code; RAISED: a method of the task raised an error
    # by a search
    ("root", np.int64),  # the node that is searched; NONE before the rows behind the last node become it
    ("left_out", np.int64),  # 1: the wave left edges out, was stopped or ran out of room
    ("crowded", np.int64),  # 1: the caches are full, room must be made before the search can go on
    ("level", np.int64),  # of the node that is opened, or was at hand when the caches were full
    ("child_at", np.int64),  # where the next children are written
    ("kept", np.uint64),  # a hash of all that eviction kept: if it comes again, the search goes round in circles
    # by the extraction of a tree
    ("missing", np.int64),  # 1: a tree could not be extracted because its nodes were forgotten
    ("missing_depth", np.int64),  # what is left to that subproblem, whose rows stand behind the last node,
    ("missing_budget", np.int64),
    ("missing_high", np.uint64),  # and the branch that leads to it
    ("missing_low", np.uint64),
]
"""What these answer, each part written by the one that it names; whoever asks clears `crowded` and `missing` before."""

STATE = [
    # of the node at hand: written by `load`, the last two by `prepare`
    ("n_rows", np.int64),
    ("n_words", np.int64),
    ("n_active", np.int64),  # local columns
    ("n_binary", np.int64),  # of them binary
    ("n_categorical", np.int64),  # categorical columns with at least two categories present
    ("stride", np.int64),  # n_active padded to 32 lanes
    ("weight", np.int64),  # worst costs of its rows
    ("worst_pairs", np.int64),  # the plane of the pair sums that holds worst costs
    # of the caches: each written by its own module, and all by `evict`
    ("node_count", np.int64),
    ("edge_count", np.int64),
    ("child_count", np.int64),
    ("node_limit", np.int64),  # up to where they may be filled: the whole space, or a chunk (shared_store.py)
    ("edge_limit", np.int64),
    ("child_limit", np.int64),
    ("free_edges", np.int64, (64,)),  # heads of the lists of free blocks, by size class
    ("free_children", np.int64, (64,)),
    ("slot_offset", np.int64),
    ("slot_count", np.int64),
    ("branch_offset", np.int64),
    ("branch_slots", np.int64),
    ("branch_count", np.int64),
]
"""How far the arrays are filled."""

COUNTERS = [
    ("visits", np.int64),
    ("expansions", np.int64),
    ("repeats", np.int64),  # of these, for edges that were not kept the first time
    ("units", np.int64),  # depth-three work units
    ("pair_passes", np.int64),  # depth-two evaluations
    ("pruned", np.int64),
    ("evictions", np.int64),
]
"""What was done, for `stats`: each is raised where it is done, and read by `statistics`."""

ENGINE = np.dtype(SIZES + FACTS + ADDRESSES + KERNELS + QUESTION + ANSWER + STATE + COUNTERS)

NODE = np.dtype(
    [
        ("lower", np.int64),
        ("upper", np.int64),
        ("hash", np.uint64),
        ("edges", np.int64),  # where its edges begin
        ("children", np.int64),  # where their children begin
        ("n_edges", np.int32),  # -1: not expanded
        ("edge_space", np.int32),  # sizes of the two blocks
        ("child_space", np.int32),
        ("depth", np.int32),  # levels that may still stand below
        ("budget", np.int32),  # branching nodes that may still stand, UNLIMITED for no limit
        ("split", np.int32),  # of the best tree known; LEAF, or NO_TREE
        ("weight", np.int64),  # the worst costs of its rows
        ("rest", np.int64),  # the least lower bound of the edges that were not kept; INFINITE if all were. LOWEST
        # where a work unit found the optimum, so that the split is the one that any unit chooses
        ("found", np.int64),  # how many visits the search had made when it found its best tree; or SETTLED
        ("plan", np.int32),  # children that hold how its sides share a limited budget; NONE if there is none
        ("priced", np.int16),  # by which prices of rows its edges were bounded; 0 if by none
        ("followed", np.int16),  # waves of fewer departures leave it out: all that they look at was looked at (root.py)
    ]
)
"""A subproblem: a set of rows, the depth and the branching nodes left, with bounds on its optimal value."""

EDGE = np.dtype(
    [
        ("lower", np.int64),  # the branching cost and the lower bounds of the children
        ("upper", np.int64),
        ("cost", np.int64),  # of branching, or NO_COST
        ("children", np.int32),  # the first of them
        ("split", np.int32),
        ("n_children", np.int32),  # categories of which the node has no rows may be left out
    ]
)
"""A split of a node that may still be the best one."""

CHILD = np.dtype(
    [
        ("lower", np.int64),
        ("upper", np.int64),
        ("node", np.int32),  # NONE until the node is first visited
        ("budget", np.int32),  # branching nodes that it may use
        ("column", np.int32),  # its rows are those of the node with this column,
        ("without", np.int32),  # or without it
    ]
)
"""One side of a split, with bounds that its own node or its siblings gave."""

LEAF = -1
NONE = -1

EMPTY = -2  # the node of a side without rows
NO_TREE = -2
"""The split of a node of which no tree is known yet; its upper bound then is what its parent knows."""

ASKED = 2  # in `settled`
HOLE = -1  # the depth of an entry of the store that holds no node
SETTLED, SETTLED_AT_ONCE = -1, -2
"""In `found`: the ties of the node were settled (bnb/extraction.py); the expansion alone knew its best tree."""

UNLIMITED = 2**30
"""A depth or a number of branching nodes that nothing bounds."""

INFINITE = 2**61
"""A value above every tree's; the sum of two of them still fits int64."""

RAISED = 2  # in `overflow`: native code was left by an error of the task's
LOWEST = -(2**60)  # a value below every tree's: nothing is known
NO_COST = 2**62
"""In place of a branching cost: nothing is combined with the children's values."""

BEST, ALL, BELOW = 0, 1, 2
"""In `asked_all`: of columns that may lead to a better tree than is known, of all of them, or of those that may lead to
one below the target."""

SHALLOW = 3
"""The depth of the search's work units: a tree of no more levels is found in a moment."""

MOST_ROWS = 2**15 - 1  # rows that int16 counts
MOST_WORDS = MOST_ROWS // 16
"""Words of 16 rows whose popcounts add up within int16."""

LANES = 32
"""Numbers in a vector of a kernel; arrays that vectors are loaded from are padded to a multiple of it."""

WORD_ROWS = 16
"""Rows per word of a compacted column."""

NIBBLE, NIBBLES = 4, 3
"""Where rows are counted by tables: rows per nibble of a column, and nibbles per unit."""

UNIT_ROWS = NIBBLE * NIBBLES

CHUNK_WORDS = 15
"""Words of a node that are split into units at once: their rows fill whole units, whose counts fit a byte."""

CHUNK = CHUNK_WORDS * WORD_ROWS // UNIT_ROWS
"""The units of these."""

UNIT_BYTES = 2 * NIBBLES
"""Bytes per column of a unit: its nibbles, and where their tables begin (`counting/look_up.py`)."""

FOUR = 4
"""Planes that are added at once where rows are summed; the numbers of a row are padded to a multiple of it."""
