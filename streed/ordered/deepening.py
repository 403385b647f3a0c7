"""The search of all rows, after a lookahead: at once, or where splits have a price, below one budget after the other.

A search below a budget of b prices meets no tree of b splits or more. So a tree that costs several prices is proved
from below: nothing costs less than five prices, than six, and so on, until a tree is found. Each search begins with
what the one before found of row sets (`cache.py`). Where a price is small beside the costs, there would be many.
"""

from __future__ import annotations

import numpy as np
from numba import int64

from streed.kernels.control import LOWER, UPPER
from streed.kernels.views import native, vector
from streed.ordered.branch import solve
from streed.ordered.depth_two import is_stopped
from streed.ordered.layout import MOST_PRICES
from streed.ordered.lookahead import look_ahead


@native
def deepen(e, depth, orders, n, columns, names, splits, budget, lower, plan, answer):  # type: ignore[no-untyped-def]
    """Writes the bounds of all rows to `answer` (2,), and a tree of the upper one to the plan."""
    price = e.split_cost
    depth = min(depth, splits)
    e.told = 1
    e.sparse = 0
    if depth <= 3 or splits <= 3 or n <= 3:
        answer[0], answer[1] = solve(e, depth, orders, n, columns, names, splits, budget, lower, plan)
        return
    other = np.empty(len(plan), np.int64)
    e.told = 0
    answer[1] = look_ahead(e, depth, orders, n, columns, names, splits, plan, other)
    answer[0] = max(answer[0], e.least)
    control = vector(e.control, UPPER + 1, int64)
    e.sparse = 1 if price > 0 and answer[1] <= e.least + MOST_PRICES * price else 0
    e.told = 1 - e.sparse
    goal = e.least + 4 * price
    while answer[0] < min(answer[1], budget) and not is_stopped(e):
        goal = min(goal + price, answer[1], budget) if e.sparse == 1 else min(answer[1], budget)
        low, upper = solve(e, depth, orders, n, columns, names, splits, goal, answer[0], other)
        answer[0] = max(answer[0], min(low, goal))
        if upper < answer[1]:
            answer[1] = upper
            for i in range(1 + 3 * other[0]):
                plan[i] = other[i]
        control[UPPER] = min(control[UPPER], answer[1])
        control[LOWER] = max(control[LOWER], answer[0])
