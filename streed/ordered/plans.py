"""Trees as plans, int64: the number of entries, then for each node in preorder three words.

Of a split: its column of the whole problem, the rank below which rows go left (or at which), 0; of one with a child for
each value that its rows have: the column, -1, how many there are. Of what is not split by
the plan: -1, the depth (0 or 1), 0: the best tree of that depth, which is quicker found again than kept.
"""

from __future__ import annotations

from numba import int64

from streed.kernels.views import native
from streed.ordered.layout import WORDS


@native
def plan_size(e, depth, n):  # type: ignore[no-untyped-def]
    """Words of the largest plan of a node of n rows."""
    most = int64(1)
    level = int64(0)
    while level < depth and most < 2 * n:
        most *= e.most_children
        level += 1
    return 1 + WORDS * (min(most, 2 * n) + 1)


@native
def write_rest(plan, depth):  # type: ignore[no-untyped-def]
    """A plan of a single node that is not split by it."""
    plan[0] = 1
    plan[1] = -1
    plan[2] = depth
    plan[3] = 0


@native
def write_split(plan, column, rank):  # type: ignore[no-untyped-def]
    """Begins a plan with a split."""
    plan[0] = 1
    plan[1] = column
    plan[2] = rank
    plan[3] = 0


@native
def write_fan(plan, column, children):  # type: ignore[no-untyped-def]
    """Begins a plan with a split that has a child for each value."""
    plan[0] = 1
    plan[1] = column
    plan[2] = -1
    plan[3] = children


@native
def append(plan, other):  # type: ignore[no-untyped-def]
    """Appends the entries of another plan."""
    at = 1 + WORDS * plan[0]
    for i in range(WORDS * other[0]):
        plan[at + i] = other[1 + i]
    plan[0] += other[0]


@native
def append_rest(plan, depth):  # type: ignore[no-untyped-def]
    """Appends a node that is not split by the plan."""
    at = 1 + WORDS * plan[0]
    plan[at] = -1
    plan[at + 1] = depth
    plan[at + 2] = 0
    plan[0] += 1
