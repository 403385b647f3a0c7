"""The search of all rows: a good tree (incumbent.py), then the recursion, at once or below one budget after the other.

A search below a budget of b prices meets no tree of b splits or more. So where splits have a price, a tree that costs
several prices is proved from below: nothing costs less than five prices, than six, and so on, until a tree is found.
Each search begins with what the one before found of row sets (`cache.py`). Where a price is small beside the costs,
there would be many.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numba import int64

from streed.kernels import compilation
from streed.kernels.compiled import entry, ready, unit, was_kept
from streed.kernels.ordered import INFEASIBLE, MOST_PRICES, record_at
from streed.kernels.routing import compile_measuring
from streed.kernels.stopping import LOWER, UPPER
from streed.kernels.views import KERNEL, call, native, vector
from streed.ordered.branch import solve, solve_side
from streed.ordered.cache import Node, asked, copy_plan, is_stopped, part_of_recursion, solve_by
from streed.ordered.depth_two import solve_asked
from streed.ordered.incumbent import COST, take_turn, write_plan
from streed.ordered.intervals import find_best_stump


@native
def grows(depth, splits, rows):  # type: ignore[no-untyped-def]
    """Whether a tree of so many levels and splits for so many rows is grown beside the search."""
    return depth > 3 and splits > 3 and rows > 3


@native
def search_all(e, node, depth, splits, budget, plan, answer):  # type: ignore[no-untyped-def]
    """Writes the bounds of all rows to `answer` (2,), and a tree of the upper one to the plan."""
    price = e.split_cost
    depth = min(depth, splits)
    e.told = 1
    e.sparse = 0
    e.incumbent = INFEASIBLE
    e.tree = 0
    e.turn = e.pause = INFEASIBLE
    if not grows(depth, splits, node.n):
        answer[0], answer[1] = solve_by(e, e.deep, node, depth, splits, budget, int64(0), plan)
        return
    other = np.empty(len(plan), np.int64)
    e.depth, e.most_splits = depth, splits
    e.patience = 32 if depth == 4 else 1
    call(e.improve, e)
    answer[0] = max(answer[0], e.least)
    answer[1] = e.incumbent
    control = vector(e.control, UPPER + 1, int64)
    e.sparse = 1 if price > 0 and e.incumbent <= e.least + MOST_PRICES * price else 0
    e.told = 1 - e.sparse
    goal = e.least + 4 * price
    while answer[0] < min(answer[1], budget) and not is_stopped(e):
        goal = min(goal + price, answer[1], budget) if e.sparse == 1 else min(answer[1], budget)
        low, upper = solve_by(e, e.deep, node, depth, splits, goal, answer[0], other)
        answer[0] = max(answer[0], min(low, goal))
        if upper < answer[1]:
            answer[1] = upper
            copy_plan(plan, other)
        answer[1] = min(answer[1], e.incumbent)
        control[UPPER] = min(control[UPPER], answer[1])
        control[LOWER] = max(control[LOWER], answer[0])
    if e.tree > 0 and answer[1] == vector(e.grown, e.grown_space, int64)[e.tree + COST]:
        plan[0] = 0
        write_plan(e, e.tree, plan)


_STUMP = "(int64, uint32[:, ::1], int64, int64[::1], int64[::1])"
"""The signature of `find_stump`."""


@part_of_recursion
def solve_deep(e):  # type: ignore[no-untyped-def]
    """Solves the node that `solve_by` asks about, of any depth: that of some rows by what is kept of them."""
    node, plan = asked(e)
    depth, splits, budget = e.node_depth, e.node_splits, e.node_budget
    if node.n == e.rows:
        e.node_lower, e.node_upper = solve(e, node, depth, splits, budget, e.node_lower, plan)
    else:
        e.node_lower, e.node_upper = solve_side(e, node, depth, splits, budget, e.node_lower, plan)


@functools.cache
def kernel(work: Any) -> int:
    """The address of a function of the record, for `call`: compiled by itself, once for all that call it."""

    @unit(KERNEL)
    def search_kernel(address):  # type: ignore[no-untyped-def]
        work(record_at(address))

    return int(search_kernel.address)


@functools.cache
def link(grows: bool) -> dict[str, int]:
    """Compiles what a search needs, part of it by a second process; its kernels' addresses, by the record's names.

    `grows`: a tree is grown beside the search.
    """
    is_made = was_kept(find_stump, _STUMP)
    code = f"from streed.ordered.lookahead import compile_shared; compile_shared({grows})"
    with compilation.plan(None if is_made else code):
        found = {"deep": kernel(solve_deep), "shallow": kernel(solve_asked)}
        ready(search_tree, "(int64, int64, int64, int64, uint32[:, ::1], int64[::1], int64[::1], int64[::1])")
        return found | ({"improve": kernel(take_turn)} if grows else {})


def compile_shared(grows: bool) -> None:
    """What the second process does."""
    kernel(solve_asked)
    if grows:
        kernel(take_turn)
    ready(find_stump, _STUMP)
    compile_measuring()


@entry
def search_tree(address, depth, splits, budget, orders, ids, plan, answer):  # type: ignore[no-untyped-def]
    """Searches all rows, by their orders; answer (2,): lower and upper bound, the latter of the tree of the plan."""
    e = record_at(address)
    node = Node(int64(orders.ctypes.data), e.rows, e.columns, ids)
    search_all(e, node, depth, splits, budget, plan, answer)


@entry
def find_stump(address, orders, rows, ids, answer):  # type: ignore[no-untyped-def]
    """Asks for the best single split of some rows; answer (4,): the leaf's cost, the split's, its column and place.

    Of a categorical column, there is no place.
    """
    e = record_at(address)
    find_best_stump(e, Node(int64(orders.ctypes.data), int64(rows), int64(len(ids)), ids), True)
    answer[0] = e.found_leaf
    answer[1] = e.found_cost
    answer[2] = e.found_column
    answer[3] = e.found_position
