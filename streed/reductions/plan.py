"""A bound task of several sums in whole numbers: what the reductions compute with, and the way back to its values."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, cast, final

import attrs
import numpy as np

from streed.encoding.certificate import nest_preorder
from streed.exact import ONE, Array, exact_number
from streed.kernels.counting.equal_rows import find_equal
from streed.problem import Problem
from streed.tables.vector_trees import EvaluatedTree, Trees, Vector, Weighed, Window
from streed.task import State
from streed.task.analysis.linear_form import row_cost_form
from streed.task.bounded_sums import LinearFraction, RowSum, exact_costs, integer_weights, row_sum, sums_too_large
from streed.task.objective import record_of
from streed.tree import Node
from streed.whole_costs import IntegerCosts, WideCosts, integer_costs


@final
@attrs.frozen(eq=False)
class Plan:
    """The sums of a task and what they are worth."""

    problem: Problem
    """With limits on numbers of nodes as `max_nodes`."""
    parts: Array
    """(m, k, K) int64 of kinds of rows, weights multiplied in: the objective's components, then the limited sums."""
    kind: Array
    """(n,) the kind of each row."""
    splits: tuple[int, ...]
    """(m,) what a branching node adds."""
    units: tuple[Fraction | int, ...]
    """(m,) what one of the whole numbers is worth in the task's values."""
    intervals: tuple[Window, ...]
    kept: tuple[RowSum, ...]
    """All sums under limits, in the order of the task's values: those of the intervals, and those that count nodes.

    Values have one that has no least as it is, others as what they are above their least, and below their most.
    """
    rank_of: Callable[[Vector], Any]
    """What a tree is worth, larger is better, by its whole numbers."""
    fraction: LinearFraction | None
    """The rank as a fraction of the whole numbers of the objective, its coefficients whole, too; or None."""
    price: Fraction | None
    """What every branching node, the last of the objective's components, takes from the score; None without one.

    The fraction, if there is one, is then what the price is taken from.
    """
    shown: Callable[[Any], Any] | None
    """The score of a rank; None where the rank is the value with its sign changed."""
    costs: IntegerCosts | None = None
    """Of the objective, where it is a cost per row."""

    @property
    def wide(self) -> WideCosts | None:
        """The exact costs of the objective, if `parts` has them rounded."""
        return None if self.costs is None else self.costs.wide

    def value(self, found: EvaluatedTree, trees: Trees) -> Any:
        """The task's value of a tree: each limited sum appears as what it is above its least and below its most."""
        count = len(found.vector) - len(self.intervals)
        value = [exact_number(unit * x) for x, unit in zip(found.vector[:count], self.units, strict=False)]
        ranges = trees.value_ranges[count:] if self.intervals else ()
        rest = zip(ranges, found.vector[count:], self.units[count:], strict=True)
        branches = found.branches
        for each in self.kept:
            by_nodes = branches * each.split
            (least, most), x, unit = ((0, 0), by_nodes, each.unit) if each.counts_nodes else next(rest)
            both = [unit * x] if each.least is None else [unit * (x - least), unit * (most - x + by_nodes)]
            value += map(exact_number, both)
        return tuple(value)

    def exact_value(self, found: EvaluatedTree, weighed: Weighed, trees: Trees) -> Any:
        """The task's value of a tree, by exact costs where the search had them rounded."""
        value = self.value(found, trees)
        if self.wide is None:
            return value
        rows = self.wide.costs[np.arange(len(weighed.predicted)), weighed.predicted]
        return (self.wide.unit * (sum(rows.tolist()) + self.wide.split * found.branches), *value[1:])

    def bounds(self, rank: Any) -> tuple[Any, Any]:
        """(bound as a value, bound as a score) of a bound on the rank; one of them is None."""
        if rank is None:
            return None, None
        if self.shown is not None:
            return None, self.shown(rank)
        least = exact_number(-rank * self.units[0]) if self.wide is None else self.wide.lower(math.ceil(-rank))
        return (least, *[0] * sum(1 if each.least is None else 2 for each in self.kept)), None

    def measured_root(self, found: EvaluatedTree, weighed: Weighed) -> Node:
        """The tree with the rows and costs of its leaves by the task; one without rows shows what its parent would."""
        count = len(self.parts) - len(self.intervals)
        units, costs = list(map(exact_number, self.units[:count])), weighed.sums[:, :count].tolist()
        if self.wide is not None:
            units, costs = [exact_number(self.wide.unit)], [[0] for _ in costs]
            for row, (leaf, label) in enumerate(zip(weighed.leaf.tolist(), weighed.predicted.tolist(), strict=True)):
                costs[leaf][0] += self.wide.costs[row, label]
        shown: list[Any] = [list(map(operator.mul, units, each)) for each in costs]
        if not all(type(unit) is int for unit in units):
            shown = [list(map(exact_number, each)) for each in shown]
        shown = [each[0] if self.shown is None else tuple(each) for each in shown]
        columns, labels, rows = found.preorder.tolist(), found.labels.tolist(), weighed.rows.tolist()
        arity, ends = self.problem.data.category_counts.tolist(), list(range(1, len(rows) + 1))
        for at in reversed(np.flatnonzero(found.preorder >= 0).tolist()):
            children = [at + 1]
            for _ in range(1, max(arity[columns[at]], 2)):
                children.append(ends[children[-1]])
            ends[at], rows[at] = ends[children[-1]], sum([rows[child] for child in children])
            for leaf in [child for child in children if not rows[child]]:
                here = self.parts[0][self.kind[(at < weighed.leaf) & (weighed.leaf < ends[at])]]
                labels[leaf], shown[leaf] = int(here.sum(axis=0).argmin()), 0
        return nest_preorder(columns, self.problem.data.category_counts, labels, rows, shown)


def make_plan(problem: Problem) -> Plan:
    """The plan of a problem whose objective is a score of two sums or a row-cost task.

    Raises InputError for row weights that are not exact, and for sums that may be beyond 2**60.
    """
    record, data = record_of(problem.task), problem.data
    first: Any = record.parts[0]
    integer_weights(data)  # which refuses others
    values = (row_sum(part, data, most) for part, most in record.limited)
    kept = (*(each for each in values if each is not None), *record.intervals)
    limited = [each for each in kept if not each.counts_nodes]
    lows = [each.spread[0] if each.least is None else each.least for each in limited]
    intervals = tuple((low, cast(int, each.most)) for low, each in zip(lows, limited, strict=True))
    shown, costs, found, price = None, None, None, None
    rank: Callable[[Vector], Any]
    if first.components is None:
        costs = exact_costs(row_cost_form(first, data) or first, data, of_all_labels=True)
        own = [RowSum(costs.costs, costs.split, costs.unit)]
        found = LinearFraction(0, (1,), 1, (0,))

        def rank(vector: Vector) -> Any:
            return -vector[0]
    else:
        scored, price, shown = first.rated, first.price, first.rated.shown
        named = scored.sums(data)
        terms = [[(ONE, np.asarray(named[name], dtype=np.int64))] for name in scored.components]
        components = [integer_costs(each, 0, data.exact_weights) for each in terms]
        if any(each.wide for each in components):
            raise sums_too_large(data.weights is not None)
        unit = exact_number(components[0].unit)
        ones = np.ones(data.n_rows, np.int64)  # by which numpy adds up in a tenth of the time of its sums
        totals = [tuple([exact_number(unit * x) for x in (ones @ each.costs).tolist()]) for each in components]
        state = State(data.size, bound=scored, **dict(zip(scored.components, totals, strict=True)))
        fraction, count = scored.fraction(state), len(components)
        found = None if fraction is None else fraction.in_units(unit)
        own = [RowSum(each.costs, 0, unit) for each in components]
        own += [] if price is None else [RowSum(np.zeros_like(own[0].costs), 1)]

        def rank(vector: Vector) -> Any:
            sums = vector[:count]
            score = scored.rank(tuple(exact_number(unit * x) for x in sums), state) if found is None else found.at(sums)
            return score if price is None else score - price * vector[count]

    sums = [*own, *limited]
    splits, units = tuple(each.split for each in sums), tuple(exact_number(each.unit) for each in sums)
    problem = _within_nodes(problem, kept)
    return Plan(problem, *_by_kind(sums), splits, units, intervals, kept, rank, found, price, shown, costs)


def _by_kind(sums: Sequence[RowSum]) -> tuple[Array, Array]:
    """(parts (m, k, K), kind (n,)): what rows of each kind add to the sums, and the kind of each row."""
    kinds = {id(each.kind): each.kind for each in sums if each.kind is not None}
    told_apart = [*(each.costs for each in sums if each.kind is None), *(kind[:, None] for kind in kinds.values())]
    first, kind = find_equal(np.concatenate(told_apart, axis=1))
    rows = {at: each[first] for at, each in kinds.items()}
    return np.array([each.costs[rows.get(id(each.kind), first)] for each in sums]), kind


def _within_nodes(problem: Problem, kept: Sequence[RowSum]) -> Problem:
    """The problem with the limits on numbers of nodes as its own."""
    budgets = [each.most // each.split for each in kept if each.counts_nodes and each.most is not None]
    if not budgets:
        return problem
    if problem.max_nodes is not None:
        budgets.append(problem.max_nodes)
    # fewer nodes than none: no leaf has as many rows, either
    min_leaf = problem.min_leaf if min(budgets) >= 0 else problem.data.size + 1
    return attrs.evolve(problem, max_nodes=max(0, min(budgets)), min_leaf=min_leaf)


_MOST, _MOST_SUMS = 64, 2**23
"""Changes of one label that are looked at, those that cost least for what they mend, and pairs of these; of many sums
so few that all have so many."""

_LITTLE = 1e-4
"""Is mended by a change that mends nothing, so that it costs much for that."""


def relabelled(
    trees: Trees, found: EvaluatedTree, weights: Sequence[int], intervals: Sequence[Window]
) -> EvaluatedTree | None:
    """The tree with other labels, so that its last components are in the intervals, greedily; None if none is found.

    `weights`: of its first components, whose sum is its cost. While a sum breaks its limit, those one or two labels are
    changed whose change costs least for what it mends; then the one that lessens the cost most, and breaks nothing.
    """
    first = len(trees.parts) - len(intervals)
    leaves = np.flatnonzero((found.preorder < 0) & (found.rows > 0))
    given = trees.routed(found.preorder)[1][leaves]
    costs, sums = given[:, :, :first] @ np.array(weights[:first], np.int64), given[:, :, first:]
    least, most = np.array(intervals, np.int64).T
    wide = np.maximum(np.ptp(sums, axis=1).sum(axis=0), 1)

    def excess_of(totals: Array) -> Array:
        """By how much sums (..., j) break their limits, each of 1 as the most that labels change it by."""
        excess: Array = (np.maximum(np.maximum(totals - most, least - totals), 0) / wide).sum(axis=-1)
        return excess

    places, labels = np.arange(len(leaves)), found.labels[leaves]
    most_changes = min(_MOST, math.isqrt(_MOST_SUMS // max(1, len(least))))
    total = np.array(found.vector[first:], np.int64)
    while True:
        excess = excess_of(total)
        added, moved = costs - costs[places, labels][:, None], sums - sums[places, labels][:, None]
        leaf, label = np.nonzero(np.arange(costs.shape[1]) != labels[:, None])
        mended = np.maximum(excess - excess_of(total + moved), _LITTLE)
        cheapest = np.argsort((added / mended)[leaf, label], kind="stable")[:most_changes]
        # the first change is none, which makes pairs of single ones
        leaf, label = np.append(0, leaf[cheapest]), np.append(labels[0], label[cheapest])
        rises = added[leaf, label] + added[leaf, label][:, None]
        moves = moved[leaf, label] + moved[leaf, label][:, None]
        left = excess_of(total + moves)
        helps = left < excess if excess else (left == 0) & (rises < 0)
        helps[1:, 1:] &= leaf[1:] != leaf[1:, None]
        if not helps.any():
            break
        worth = np.where(helps, rises / np.where(helps & (excess > 0), excess - left, 1), np.inf)
        pair = list(np.unravel_index(worth.argmin(), worth.shape))
        total = total + moves[tuple(pair)]
        for each in pair:
            if each:
                labels[leaf[each]] = label[each]
    if excess:
        return None
    every = found.labels.copy()
    every[leaves] = labels
    return trees.labelled(found.preorder, every)
