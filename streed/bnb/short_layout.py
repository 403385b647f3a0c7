"""The words by which a short search answers, see short.py."""

from __future__ import annotations

(
    STATUS, NEEDED, LANE, BASE, DIVISOR, LOWER_BOUND, UPPER_BOUND, COLUMNS, NODES_OF_TREE,
    VISITS, EXPANSIONS, REPEATS, UNITS, PAIR_PASSES, PRUNED, EVICTIONS,
    NODES, EDGES, CHILDREN, BRANCH_SLOTS, KEY_WORDS, BRANCH_WORDS, HEAD,
) = range(23)  # fmt: skip
"""How it ended, and what it needed; the bytes of its lanes; what every tree pays, and the unit of codes; the bounds of
the root; bit columns; the nodes of the tree; the record's counters; the entries of its caches and the words of some;
how many words these are. Then comes the tree, TREE_ROWS words for each node."""

DONE, TOO_MANY_GROUPS, OTHER_LANE, ROOM = range(4)
"""A search ended in order, or did not begin: rows are not to be counted by groups; the units for lanes of
NEEDED bytes are not at hand (0: no lanes are as wide); the buffer must have NEEDED bytes."""

TREE_ROWS = 5
"""The column of every node in preorder, LEAF for leaves; then label, rows, cost and depth."""

COUNTERS = {
    "expansions": EXPANSIONS,
    "repeats": REPEATS,
    "units": UNITS,
    "pair_passes": PAIR_PASSES,
    "pruned": PRUNED,
    "evictions": EVICTIONS,
    "node_count": NODES,
    "edge_count": EDGES,
    "child_count": CHILDREN,
    "branch_slots": BRANCH_SLOTS,
}
"""Where the counters of the record are."""
