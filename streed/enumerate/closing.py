"""What rounding left open is closed by the trees that rounding cannot tell from the best: these are compared exactly.

Costs that are too fine for 64 bits are searched rounded down. A tree that is better than the one found is within the
rounding of it by rounded costs too, and of such trees there are few: their first columns are found natively, as in
`near_optimal.py`, down to a depth of two, where all trees are compared at once by their exact costs (wide_shallow.py).
The general route (`drivers/closing.py`) closes what this does not: no limit on the depth, one on the nodes, columns of
categories, test costs; or too many such trees.
"""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from streed.bnb.procedure import Procedure
from streed.bnb.session import depth_and_budget, make_workspaces
from streed.bnb.workspace import Workspace
from streed.encoding.certificate import measure_widely
from streed.encoding.encoding import Encoding
from streed.encoding.row_costs import RowCosts
from streed.enumerate.layout import COST
from streed.enumerate.packed_rows import PackedBounds
from streed.enumerate.wide_shallow import WideRows, WideTree
from streed.errors import MismatchError
from streed.exact import Array
from streed.kernels.control import ROWS_OF_CONTROL, SHARED_UPPER, UPPER
from streed.kernels.records import INFINITE, LEAF, UNLIMITED
from streed.problem import Outcome, Problem, SearchLimits, SearchStopped
from streed.problem.row_sets import RowSet

_MOST_EFFORT = 1e9
"""Products of numbers that are added up for trees of depth two, at most: a second or so."""

_PAIRS = 2
"""The depth up to which all trees are compared at once."""

CLOSED = "near-optimal trees"
"""What `stats["closed"]` says."""

OPEN = "too many rows or trees to compare exactly"
"""What `stats["open"]` says."""


class _TooMany(Exception):
    """There are too many rows, or trees within the rounding."""


def close_by_near_optimal(
    problem: Problem, encoding: Encoding, search_limits: SearchLimits, procedure: Procedure, outcome: Outcome
) -> Outcome:
    """The outcome of a complete search whose bounds rounding keeps apart, with bounds that meet; as it is if it cannot.

    The time limit is what is left of it. `stats["open"]` says if there were too many trees to compare.
    """
    if not isinstance(encoding, RowCosts):
        return outcome
    wide, limit = encoding.costs.wide, search_limits.time_limit
    packed = encoding.packed
    is_suited = not problem.data.categorical and packed.prices is None
    counts_copies = problem.data.frequency is not None and problem.min_leaf > 1
    depth, nodes = depth_and_budget(packed, problem.max_depth, problem.max_nodes)
    if wide is None or not is_suited or counts_copies or depth == UNLIMITED or nodes != UNLIMITED:
        return outcome
    if limit is not None and limit <= 0:
        return outcome
    rows = WideRows(problem.data.X, encoding.costs, wide, problem.min_leaf)
    # the engine leaves out rows whose rounded costs are all equal, and so columns that part only these
    is_told, column = rows.are_told(packed.groups.places[::2]), np.arange(problem.data.n_columns)
    if not rows.fits or (depth > _PAIRS and not is_told):
        return outcome
    if is_told:
        column = packed.column
        rows.keep(column)
    own = outcome.solutions[0]
    budget = encoding.target(own.value) - 1
    try:
        trees = _Trees(problem, encoding, rows, wide.split, depth, search_limits, procedure)
        try:
            found = trees.best(budget)
        finally:
            trees.close()
    except SearchStopped:
        return outcome
    except _TooMany:
        return attrs.evolve(outcome, stats={**outcome.stats, "open": OPEN})
    solution = own
    if found is not None and wide.unit * found.cost < own.value:
        preorder = np.array([LEAF if j == LEAF else column[j] for j in found.columns], np.int64)
        solution = measure_widely(problem, encoding.costs, wide, preorder)
        if solution.value != wide.unit * found.cost:
            raise MismatchError(
                f"the tree costs {solution.value}, the search claimed {wide.unit * found.cost}; please report this"
            )
    stats = {**outcome.stats, "exact": True, "rounding": 0, "closed": CLOSED}
    return Outcome((solution,), solution.value, None, stats, wide.unit, real=True)


@final
class _Trees(PackedBounds):
    """The trees of a problem: bounds by rounded costs, from a workspace of their own, and exact costs by `WideRows`."""

    def __init__(
        self,
        problem: Problem,
        encoding: RowCosts,
        rows: WideRows,
        split: int,
        depth: int,
        search_limits: SearchLimits,
        procedure: Procedure,
    ) -> None:
        super().__init__(encoding.packed, np.zeros(ROWS_OF_CONTROL, np.int64), search_limits)
        self.control[[UPPER, SHARED_UPPER]] = INFINITE
        self._rows, self._split, self._depth = rows, split, depth
        self.split = np.array([self._packed.split_cost], np.int64)
        self._effort = 0.0
        if depth > _PAIRS and rows.effort(np.arange(len(rows.bits))) > _MOST_EFFORT:
            raise _TooMany  # the sides of a single split have all rows
        self._known: dict[tuple[int, bytes], WideTree | None] = {}
        self._own: Workspace | None = None
        if self._depth > _PAIRS:
            relaxed = self._packed.split_cost == 0
            (self._own,) = make_workspaces(
                problem, self._packed, attrs.evolve(search_limits, threads=1), procedure, 1, self._depth, UNLIMITED,
                relaxed, self.control,
            )  # fmt: skip

    @property
    def workspace(self) -> Workspace:
        assert self._own is not None
        return self._own

    def close(self) -> None:
        if self._own is not None:
            self._own.close()

    def best(self, budget: int) -> WideTree | None:
        """The best tree whose rounded cost is at most `budget`, or a better one; None if there is none of such a cost.

        Raises SearchStopped and _TooMany.
        """
        everything = np.arange(len(self._rows.bits))
        if self._own is None:
            return self._shallow(everything, self._depth)
        whole = RowSet(self._own.rows, self._depth)
        found: WideTree | None = self.run_within(self._depth, lambda: self._best(whole, everything, budget))
        return found

    def _best(self, rows: RowSet, places: Array, budget: int) -> WideTree | None:
        """As `best`, of some rows, in words of bits and as the places of the distinct ones."""
        assert rows.depth is not None
        if rows.depth <= _PAIRS:
            return self._shallow(places, rows.depth)
        best = self._shallow(places, 0)
        room = budget - int(self.split[COST])
        for column, least in list(self.splits(rows, budget)):
            turned = bool(self._packed.flipped[column])
            children = self.children(rows, column)
            sides: list[WideTree] = []
            for code in (0, 1):
                has = int(code != turned)
                part = children[has]
                assert part is not None
                inside = places[self._rows.bits[places, column] == code]
                found = self._best(part, inside, room - least[1 - has])
                if found is None:
                    break
                sides.append(found)
            else:
                cost = sides[0].cost + sides[1].cost + self._split
                if best is None or cost < best.cost:
                    best = WideTree(cost, (column, *sides[0].columns, *sides[1].columns))
        return best

    def _make_room(self) -> None:
        raise SearchStopped("memory")

    def _shallow(self, places: Array, depth: int) -> WideTree | None:
        """The best tree of a depth that all trees are compared at once for."""
        key = depth, places.tobytes()
        if key not in self._known:
            self._effort += self._rows.effort(places) if depth == _PAIRS else 0.0
            if self._effort > _MOST_EFFORT:
                raise _TooMany
            self._known[key] = self._rows.best(places, depth)
        return self._known[key]
