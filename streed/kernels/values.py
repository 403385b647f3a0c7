"""What the engine knows about the splits of the node at hand: the rows of the matrix `values`.

int64 (ROWS_OF_VALUES, P + categorical). Columns are local: the node's active columns, then, for KEY and ORDER, its
categorical columns, n_active + c for the c-th. `...1` is the side with the column, `...0` the side without.

Before them, the kinds of problems, which say what kernels apply.
"""

from __future__ import annotations

SIGNED, LABELS, TEST_COSTS, COUNTED, SUMMED = "signed", "labels", "test costs", "counted", "summed"
CLASSES = "classes"
"""Costs per row and two labels, or any number of labels, or with prices of splits besides; a kernel generated from the
task, which scores counts of row groups, or sums over rows.

CLASSES is no kind of a problem, but of an expansion: of two labels where every row costs something under one only."""


KEY = 0
"""The cost of the best tree of depth two (one, if that is the depth asked for) whose first split it is."""

LEAF1, LEAF0 = 1, 2
"""The costs of the sides as leaves."""

WEIGHT = 3
"""The worst costs of the rows that have the column."""

LOWER1, LOWER0 = 4, 5
"""Lower bounds of the sides: at depth two while a work unit runs, then, if all were solved, at depth three."""

OPTIMUM1, OPTIMUM0 = 6, 7
"""The optimal costs of the sides at depth two, or UNKNOWN."""

ORDER = 8
"""The splits in the order in which they are tried."""

SPLIT1, SPLIT0 = 4, 5
"""After an expansion: the costs of the sides with one split, its cost included."""

TWO1, TWO0 = 6, 7
"""After an expansion: lower bounds of the sides with two splits."""

MORE1, MORE0 = 8, 9
"""After an expansion: lower bounds of the sides with three splits or more."""

COST = 10
"""Of scored problems: the branching cost, or NO_COST."""

LEAST1, LEAST0 = 11, 12
"""Of scored problems: what the sides cost any tree at least, by what the task knows."""

EDGE_LOWER, EDGE_UPPER = 13, 14
"""While a node's edges are chosen: the bounds of every split, INFINITE where it separates nothing."""

BARE1, BARE0 = 15, 16
"""Of scored problems whose splits cost something: as LEAST1 and LEAST0, before splits were counted."""

ROWS_OF_VALUES = 17

UNKNOWN = -(2**62)
"""In place of an optimum."""
