"""The recursion over nodes: the best tree for the rows of a node, of a depth and a number of splits.

    solve(rows, depth, splits):
        the best tree of depth two is the incumbent                                             (depth_two.py)
        until no threshold's bound is below the incumbent:
            take the middle threshold of the run with the least bound                           (bounds.py)
            solve its larger side, then the smaller one, both up to what could still be better
            raise the bounds of all thresholds of all columns by what is now known of the two sides

A side is solved with some slack beyond what could still be better, so that its bound is of use to its neighbours.
Where leaves need several rows, what a side costs says little of its neighbours, as a tree for more rows may not serve
fewer. So the sides are solved with leaves of any size first: these trees cost no more, and bound all others.
"""

from __future__ import annotations

import numpy as np
from numba import int64, uint8, uint32

from streed.kernels.control import LOWER, STOP, UPPER
from streed.kernels.ordered.orders import mark_sides, nearest_position, split_orders
from streed.kernels.ordered.record import INFEASIBLE
from streed.kernels.simd import lower_atomic, raise_atomic
from streed.kernels.views import matrix, native, vector
from streed.ordered.arena import reserve
from streed.ordered.bounds import bound_by_leaves, bound_by_node, lowest_run, push_solved, worst_of
from streed.ordered.cache import recall, remember
from streed.ordered.categories import count_ordered, count_values, end_of_value, mark_value
from streed.ordered.depth_two import is_stopped
from streed.ordered.inheritance import close_inherited, find_leaf, hand_on
from streed.ordered.layout import DEEP, UNLIMITED, WORDS
from streed.ordered.plans import append, plan_size, write_fan, write_split
from streed.ordered.shallow import rank_of, solve_shallow
from streed.ordered.sparse import end_of_leaf, within_price
from streed.ordered.stumps import bound_by_stumps


@native
def tell(e, n, lower, upper):  # type: ignore[no-untyped-def]
    """Tells the caller's thread the bounds of the root, if this is it."""
    if n == e.rows and e.told == 1:
        control = vector(e.control, UPPER + 1, int64)
        lower_atomic(control, UPPER, upper)
        raise_atomic(control, LOWER, lower)


@native
def solve(e, depth, orders, n, columns, names, splits, budget, lower, plan):  # type: ignore[no-untyped-def]
    """(lower, upper) of the node's trees; `plan` is of a tree of cost `upper`.

    Exact if the optimum is below `budget`, and else `lower` is at least that, unless the search was stopped; `lower` is
    a bound that is known. `names` int64 (columns,): the columns of the whole problem that those of the node are.
    """
    none = int64(0)
    inherited = e.handed
    inherited_label = e.handed_label
    e.handed = none
    allowed = min(depth, splits)
    depth = min(depth, splits, n - 1)
    if depth <= 2 or columns == 0:
        found = solve_shallow(e, depth, orders, n, columns, names, splits, budget, lower, plan)
        tell(e, n, found[0], found[1])
        return found
    e.nodes += 1
    price = e.split_cost
    lower = max(lower, e.least)
    enough = budget if e.sparse == 1 else int64(INFEASIBLE)
    low, upper = solve_shallow(e, int64(2), orders, n, columns, names, min(splits, int64(3)), enough, e.least, plan)
    column = e.found_column
    position = e.found_position
    # a tree of depth d has d splits at least, and what is not of depth two has three
    lower = max(lower, min(low, e.least + 3 * price))
    limit = min(upper, budget)
    if price > 0:
        depth = min(depth, max(int64(2), (limit - 1 - e.least) // price))
    tell(e, n, lower, upper)
    if upper <= lower:
        return upper, upper
    if is_stopped(e):
        return lower, upper
    if depth <= 2:
        return max(lower, min(low, limit)), upper
    # what is known of a side is of use to others if it is of all depths that are allowed
    side_depth = depth - 1 if e.sparse == 0 or depth == 3 else allowed - 1
    used = e.arena_used
    side_plan = plan_size(e, side_depth, n)
    bounds_at = reserve(e, 16 * columns * n)
    orders_at = reserve(e, 4 * columns * (n + 2))
    names_at = reserve(e, 16 * columns)
    plans_at = reserve(e, 16 * side_plan)
    side_at = reserve(e, e.rows)
    handed_at = reserve(e, columns * n if e.sparse == 1 else none)
    if e.full == 1:
        e.arena_used = used
        return lower, upper
    left = matrix(bounds_at, columns, n, int64)
    right = matrix(bounds_at + 8 * columns * n, columns, n, int64)
    left_names = vector(names_at, columns, int64)
    right_names = vector(names_at + 8 * columns, columns, int64)
    left_plan = vector(plans_at, side_plan, int64)
    right_plan = vector(plans_at + 8 * side_plan, side_plan, int64)
    side = vector(side_at, e.rows, uint8)
    # thresholds are those of the first columns; all that is below is about them
    every = columns
    columns = count_ordered(e, names, every)
    if columns < every:
        fan_size = plan_size(e, depth, n)
        fan_at = reserve(e, 8 * fan_size)
        if e.full == 1:
            e.arena_used = used
            return lower, upper
        fan_plan = vector(fan_at, fan_size, int64)
        for g in range(columns, every):
            limit = min(upper, budget)
            if is_stopped(e) or upper <= lower:
                break
            # what the values before cost, and those behind do at least
            spent = price
            begin = int64(0)
            write_fan(fan_plan, names[g], count_values(orders, n, g))
            while begin < n and spent < limit:
                end = end_of_value(orders, n, g, begin)
                mark_value(e, orders, n, g, begin, end, side)
                rest_orders = orders_at + 4 * every * (end - begin + 1)
                n_left, n_right = split_orders(
                    e, orders, n, every, names, side, orders_at, end - begin, left_names, rest_orders, right_names
                )
                found, its_upper = solve(
                    e,
                    side_depth,
                    orders_at,
                    end - begin,
                    n_left,
                    left_names,
                    int64(UNLIMITED),
                    limit - spent,
                    e.least,
                    left_plan,
                )
                # unless it is what the best tree for its rows costs, the column does not pay
                if found < its_upper:
                    spent = limit
                    break
                spent += its_upper
                append(fan_plan, left_plan)
                begin = end
            if spent < limit and spent < upper and not is_stopped(e):
                upper = spent
                for i in range(1 + WORDS * fan_plan[0]):
                    plan[i] = fan_plan[i]
                tell(e, n, lower, upper)
        if is_stopped(e):
            e.arena_used = used
            return min(lower, upper), upper
        if column >= columns:
            column = int64(-1)
    rows = matrix(orders, columns, n + 1, uint32)
    run = np.empty(3, np.int64)
    total = worst_of(e, orders, n, none, none, n)
    hands_on = e.sparse == 1 and e.leaf_costs != 0 and e.relaxing == 0 and side_depth > 2
    share = int64(UNLIMITED)
    last_share = share
    if not (depth < DEEP and splits >= (int64(1) << depth) - 1) and splits < UNLIMITED:
        most = int64(UNLIMITED) if depth > DEEP else (int64(1) << (depth - 1)) - 1
        share = max(none, splits - 1 - most)
        last_share = min(most, splits - 1)
    hands_on = hands_on and share == UNLIMITED
    shares = last_share - share + 1
    open_bound = int64(INFEASIBLE)
    while share <= last_share:
        left_splits = share
        right_splits = int64(UNLIMITED) if share == UNLIMITED else splits - 1 - share
        share += 1
        bound_by_node(e, orders, n, columns, max(low, lower) if side_depth == 2 else lower, total, left, right)
        if price > 0 and e.bounded == 1:
            if e.leaf_costs != 0:
                bound_by_leaves(e, orders, n, columns, total, left, right)
            needed = min(upper, budget) - price
            if inherited != 0:
                close_inherited(e, orders, n, columns, inherited, inherited_label, needed, left, right)
            if e.restrictable == 1:
                bound_by_stumps(e, orders, n, every, columns, needed, left, right)
            if inherited != 0:
                close_inherited(e, orders, n, columns, inherited, inherited_label, needed, left, right)
        begun = column < 0
        while True:
            limit = min(upper, budget)
            if upper <= lower:
                break
            if not begun:
                f = column
                t = position
                first = t
                last = t
                begun = True
            else:
                bound = price + lowest_run(orders, n, columns, left, right, limit - price, run)
                if shares == 1:
                    lower = max(lower, min(bound, limit))
                    tell(e, n, lower, upper)
                if run[0] < 0 or is_stopped(e):
                    open_bound = min(open_bound, bound, limit)
                    break
                f = run[0]
                first = run[1]
                last = run[2]
                t = nearest_position(rows[f], (first + last) >> 1, first, last)
                if e.sparse == 1:
                    t = end_of_leaf(e, orders, n, columns, f, first, last, t, left, right)
            mark_sides(e, orders, n, f, t, side)
            right_orders = orders_at + 4 * every * (t + 1)
            n_left, n_right = split_orders(
                e, orders, n, every, names, side, orders_at, t, left_names, right_orders, right_names
            )
            relaxing = e.relaxing == 1
            bound_left = e.least if relaxing else left[f, t]
            bound_right = e.least if relaxing else right[f, t]
            slack = worst_of(e, orders, n, f, t, last)
            slack = max(slack, worst_of(e, orders, n, f, first, t)) if e.bounded == 1 else limit
            if e.sparse == 1:
                slack = min(slack, price >> 3)
            target = limit - price + slack
            upper_left = int64(INFEASIBLE)
            upper_right = int64(INFEASIBLE)
            leaf_rows = e.min_leaf
            for turn in range(0 if relaxing else 2, 4):
                if turn == 2 and relaxing:
                    e.restrictable = 1
                    push_solved(
                        e,
                        orders,
                        n,
                        columns,
                        side,
                        f,
                        t,
                        bound_left,
                        bound_right,
                        left_splits,
                        right_splits,
                        total,
                        left,
                        right,
                    )
                    e.restrictable = 0
                    bound_left = max(bound_left, left[f, t])
                    bound_right = max(bound_right, right[f, t])
                    target = limit - price
                    if bound_left + bound_right >= target:
                        break
                # the larger side first; the other one only if it can still pay
                if turn % 2 == 1 and bound_left + bound_right >= target:
                    continue
                is_left = (2 * t >= n) == (turn % 2 == 0)
                if turn < 2:
                    e.min_leaf = 1
                    e.restrictable = 1
                    e.relaxing = 0
                    e.relaxed = 1
                side_orders = orders_at if is_left else right_orders
                side_rows = t if is_left else n - t
                side_columns = n_left if is_left else n_right
                side_names = left_names if is_left else right_names
                side_splits = left_splits if is_left else right_splits
                other_bound = bound_right if is_left else bound_left
                side_budget = target - other_bound
                if e.sparse == 1:
                    side_budget = within_price(e, limit - price - other_bound, side_budget)
                known = bound_left if is_left else bound_right
                its_plan = left_plan if is_left else right_plan
                found = known
                its_upper = int64(INFEASIBLE)
                if e.cache != 0 and side_columns > 0:
                    found, its_upper = recall(
                        e, side_depth, side_orders, side_rows, side_columns, side_names, side_splits, its_plan
                    )
                    found = max(found, known)
                if found < min(side_budget, its_upper):
                    if hands_on and side_budget > e.least + 3 * price:
                        e.handed = handed_at
                        beside, e.handed_label = find_leaf(e, right_orders if is_left else orders_at, n - side_rows)
                        hand_on(
                            e,
                            orders,
                            n,
                            columns,
                            names,
                            side,
                            uint8(is_left),
                            side_rows,
                            side_columns,
                            side_names,
                            left,
                            right,
                            side_budget + beside,
                        )
                    found, its_upper = solve(
                        e,
                        side_depth,
                        side_orders,
                        side_rows,
                        side_columns,
                        side_names,
                        side_splits,
                        side_budget,
                        found,
                        its_plan,
                    )
                    if e.cache != 0 and side_columns > 0:
                        remember(
                            e,
                            side_depth,
                            side_orders,
                            side_rows,
                            side_columns,
                            side_names,
                            side_splits,
                            found,
                            its_upper,
                            its_plan,
                        )
                if turn < 2:
                    e.min_leaf = leaf_rows
                    e.restrictable = 0
                    e.relaxing = 1
                    e.relaxed = 0
                    its_upper = int64(INFEASIBLE)
                if is_left:
                    bound_left = max(bound_left, found)
                    upper_left = its_upper
                else:
                    bound_right = max(bound_right, found)
                    upper_right = its_upper
            if upper_left < INFEASIBLE and upper_right < INFEASIBLE and price + upper_left + upper_right < upper:
                upper = price + upper_left + upper_right
                write_split(plan, names[f], rank_of(e, orders, n, columns, names, f, t))
                append(plan, left_plan)
                append(plan, right_plan)
                tell(e, n, lower, upper)
            if bound_left + bound_right + price < min(upper, budget) and not is_stopped(e):
                # both sides were solved up to the target, so this is an error
                e.unsettled = 1
                vector(e.control, STOP + 1, int64)[STOP] = 1
            push_solved(
                e,
                orders,
                n,
                columns,
                side,
                f,
                t,
                bound_left,
                bound_right,
                left_splits,
                right_splits,
                total,
                left,
                right,
            )
    e.arena_used = used
    if upper <= lower:
        return upper, upper
    return max(lower, min(upper, open_bound)), upper
