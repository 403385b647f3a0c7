"""The linear oracle of the native drivers: columns and memory are prepared once, each solve brings its own costs.

A row's kind is its row group, so new costs are new multipliers of the groups, and nothing else: `set_prices` writes
them, the record of the engine is put back to how it began, and the search starts. What is left per solve is the search
itself, and the extraction of its tree.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

from streed.bnb.native_search import BEST_FIRST
from streed.bnb.pricing_beside import PricingBeside
from streed.bnb.session import Session, link_units, make_workspaces, statistics
from streed.bnb.units import planned
from streed.bnb.workspace import limits_of
from streed.encoding.row_costs import RowCosts, floors_of
from streed.exact import Array, writable
from streed.kernels.counting.groups import Groups, place_groups, set_prices
from streed.kernels.packed import PackedProblem, narrowest_lane, pack
from streed.kernels.records import INFINITE, LOWEST, UNLIMITED
from streed.kernels.stopping import ROW_PRICES, ROWS_OF_CONTROL, SHARED_UPPER, UPPER
from streed.problem import Problem, SearchLimits
from streed.problem.linear_oracle import Answer, LinearOracle, RowSets
from streed.row_prices.prices import Leaves, leaves_of

_WIDEST = np.int64


class NativeOracle(LinearOracle):
    """The workspace of a problem, one more for each further thread, and its record as each solve begins with it."""

    def __init__(
        self,
        problem: Problem,
        kinds: Array,
        n_labels: int,
        splits: bool,
        search_limits: SearchLimits,
        order: str,
        row_prices: bool = True,
    ) -> None:
        """`order`, `row_prices`: as `search_native` takes them."""
        self.problem = problem
        self._row_prices = row_prices and search_limits.memory_limit is None
        self._priced_leaves: Array | None = None
        """(M, N) bool: the leaves of the last solve's linear program, with which the next one begins."""
        self._order = order
        self._kinds = kinds
        self.sizes = np.bincount(kinds)
        with planned(problem.max_depth, problem.max_nodes):
            self.packed = pack_kinds(problem, kinds, len(self.sizes), n_labels, splits)
        self.control = np.zeros(ROWS_OF_CONTROL, np.int64)
        limits = limits_of(self.packed, problem)
        self._workspaces = make_workspaces(
            self.packed, search_limits, order == BEST_FIRST, limits, self.control, _WIDEST
        )
        self._used = self._workspaces
        """Those of the last solve."""
        self.workspace = self._workspaces[0]
        self.rows = self.workspace.rows
        self._floors: Any = None
        self._seconds = 0.0
        self._price_stats: dict[str, Any] = {}
        self.costs_of: RowSets | None = None
        """The sets of rows whose costs are in the workspace, if they are."""

    def solve(
        self, costs: Array, split: int, search_limits: SearchLimits, *, below: int | None = None, ahead: bool = False
    ) -> Answer:
        base, divisor = self.set_costs(costs, split)
        target = INFINITE if below is None else min(-((base - below) // divisor), INFINITE)
        if target <= 0:
            return Answer(below, None, None, None, 0)
        self.workspace.engine["root_target"] = target
        used = self._used = self._workspaces[:1] if ahead else self._workspaces
        for each in used[1:]:
            each.begin(self.workspace.lane_type, link_units)
            each.take_costs(self.workspace)
        session = Session(used)
        if self._row_prices and not ahead and self.workspace.limits[0] == UNLIMITED:
            split_cost = self.workspace.engine["split_cost"]

            def find_leaves() -> tuple[Leaves, Array] | None:
                return leaves_of(self.problem, self.packed, costs[self._kinds], divisor, split_cost)

            session.beside = PricingBeside(self.control, find_leaves, used, self._priced_leaves)

        def look(nodes: int, lower: int, upper: int) -> None:
            if search_limits.report is not None:
                search_limits.report(
                    base + divisor * upper if upper < INFINITE else None,
                    base + divisor * lower if lower > LOWEST else None,
                    nodes,
                    "searching",
                )

        begin = time.perf_counter()
        session.run(search_limits.time_limit, look, ahead=ahead)
        self._seconds = time.perf_counter() - begin
        self._price_stats = {}
        if session.beside is not None:
            self._priced_leaves = session.beside.known
            self._price_stats = session.beside.statistics(lambda code: base + divisor * code)
            self.control[ROW_PRICES] = 0  # the array there goes with `beside`
        lower, upper, nodes = session.lower, session.upper, session.nodes
        stopped = (session.reason or (None if ahead else "memory")) if session.is_open() else None
        bound = None if lower <= LOWEST else base + divisor * lower
        if upper >= (INFINITE if stopped else target):
            return Answer(bound, None, None, stopped, nodes)
        return Answer(bound, base + divisor * upper, session.tree(), stopped, nodes)

    def stats(self) -> Mapping[str, Any]:
        found = statistics(self._used, 0.0, 0.0, self._seconds)
        nodes = sum(each.engine["visits"] for each in self._used)
        found |= {"search": self._order, "nodes": nodes, "exact": True, "route": RowCosts.route}
        return found | {"row_prices": self._price_stats} if self._price_stats else found

    def close(self) -> None:
        self.costs_of = None
        for each in self._workspaces:
            each.close()

    def set_costs(self, costs: Array, split: int, owner: RowSets | None = None) -> tuple[int, int]:
        """(what every tree pays, the unit of the engine's codes); the workspace is as new, with these costs."""
        workspace, engine = self.workspace, self.workspace.engine
        self.costs_of = owner
        base, worst, divisor, accuracy = set_prices(costs, self.sizes, split, workspace.profits, workspace.signed_costs)
        packed = self.packed
        split_cost = min(split // divisor, worst + 1)
        lane_type = narrowest_lane(worst, split_cost, packed.min_leaf, packed.most_rows)
        workspace.begin(lane_type, link_units)
        self.control[:] = 0
        self.control[[UPPER, SHARED_UPPER]] = INFINITE
        engine["split_cost"] = split_cost
        engine["class_bound"] = accuracy
        self._floors = floors_of(self.problem, packed, costs, divisor, self._kinds)
        if self._floors is not None:
            engine["floor_mask"], engine["floors"] = (each.ctypes.data for each in self._floors)
        return int(base), int(divisor)


def pack_kinds(problem: Problem, kinds: Array, n_kinds: int, n_labels: int, splits: bool) -> PackedProblem:
    """The problem's columns with a row group for each kind of row, whose costs are all zero as yet."""
    places, words = place_groups(kinds, n_kinds)
    profits = np.zeros((n_kinds, n_labels + 2), np.int64)
    counted = 0
    profits[:, n_labels + 1] = 1
    if problem.data.frequency is not None and problem.min_leaf > 1:
        profits[kinds, n_labels + 1] = problem.data.frequency
        counted = problem.data.size
    groups = Groups(places, words, profits, 0, 0, counted=counted)
    codes = writable(problem.data.X)
    if problem.data.frequency is not None:
        # which columns are turned round is told by all rows that these stand for, so that their trees are the same
        ones = 2 * (problem.data.frequency @ (codes != 0))
        flips = (ones > problem.data.size) | ((ones == problem.data.size) & (codes[0] != 0))
        groups = attrs.evolve(groups, flips=flips.astype(np.int8))
    return pack(codes, problem.data.category_counts, groups, n_labels, int(splits), problem.min_leaf)
