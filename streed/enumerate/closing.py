"""What rounding left open is closed by the trees that rounding cannot tell from the best: these are compared exactly.

Costs that are too fine for 64 bits are searched rounded down. A tree that is better than the one found is within the
rounding of it by rounded costs too, and of such trees there are few: their first columns are found natively, as in
`near_optimal.py`, down to a depth of two, where all trees are compared at once by their exact costs (wide_shallow.py).
The general route (`drivers/closing.py`) closes what this does not: no limit on the depth, one on the nodes, columns of
categories, test costs; or too many such trees.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import final

import attrs
import numpy as np

from streed.bnb import runner
from streed.bnb.procedure import Procedure
from streed.bnb.session import depth_and_budget, is_short, make_workspaces, search_fully
from streed.bnb.workspace import Workspace
from streed.encoding.certificate import measure_widely
from streed.encoding.encoding import Encoding
from streed.encoding.row_costs import RowCosts
from streed.enumerate.layout import COST
from streed.enumerate.packed_kernels import rank_columns
from streed.enumerate.packed_rows import branch_of
from streed.enumerate.wide_shallow import WideRows, WideTree
from streed.errors import MismatchError
from streed.exact import Array
from streed.kernels.compilation import clock
from streed.kernels.control import ROWS_OF_CONTROL, SHARED_UPPER, STOP, UPPER
from streed.kernels.records import INFINITE, LEAF, SHALLOW, UNLIMITED
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
class _Trees:
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
        self._packed, self._rows, self._split, self._depth = encoding.packed, rows, split, depth
        self._split_code = np.array([self._packed.split_cost], np.int64)
        limit = search_limits.time_limit
        self._deadline = None if limit is None else clock() + limit
        self._effort = 0.0
        if depth > _PAIRS and rows.effort(np.arange(len(rows.bits))) > _MOST_EFFORT:
            raise _TooMany  # the sides of a single split have all rows
        self._known: dict[tuple[int, bytes], WideTree | None] = {}
        self.control = np.zeros(ROWS_OF_CONTROL, np.int64)
        self.control[[UPPER, SHARED_UPPER]] = INFINITE
        self._workspace: Workspace | None = None
        if self._depth > _PAIRS:
            relaxed = self._packed.split_cost == 0
            (self._workspace,) = make_workspaces(
                problem, self._packed, attrs.evolve(search_limits, threads=1), procedure, 1, self._depth, UNLIMITED,
                relaxed, self.control,
            )  # fmt: skip

    def close(self) -> None:
        if self._workspace is not None:
            self._workspace.close()

    def best(self, budget: int) -> WideTree | None:
        """The best tree whose rounded cost is at most `budget`, or a better one; None if there is none of such a cost.

        Raises SearchStopped and _TooMany.
        """
        everything = np.arange(len(self._rows.bits))
        if self._workspace is None:
            return self._shallow(everything, self._depth)
        whole, found = RowSet(self._workspace.rows, self._depth), list[WideTree | None]()
        if is_short(self._packed, self._depth):
            try:
                return self._best(whole, everything, budget)
            except KeyboardInterrupt:
                raise SearchStopped("interrupt") from None
        stops: list[Exception] = []

        def run() -> None:
            try:
                found.append(self._best(whole, everything, budget))
            except (SearchStopped, _TooMany) as stop:
                stops.append(stop)

        reason = runner.run([run], self.control, self._deadline, lambda: None)
        if reason is not None:
            raise SearchStopped(reason)
        if stops:
            raise stops[0]
        return found[0]

    def _best(self, rows: RowSet, places: Array, budget: int) -> WideTree | None:
        """As `best`, of some rows, in words of bits and as the places of the distinct ones."""
        assert rows.depth is not None
        if rows.depth <= _PAIRS:
            return self._shallow(places, rows.depth)
        best = self._shallow(places, 0)
        flipped = self._packed.flipped
        room = budget - int(self._split_code[0])
        for column, least, least_without in list(self._splits(rows, budget)):
            bits = self._packed.column_rows[column]
            turned = bool(flipped[column])
            sides: list[WideTree] = []
            for code in (0, 1):
                has = code != turned
                part = rows.child(rows.rows & bits if has else rows.rows & ~bits, column, int(has))
                inside = places[self._rows.bits[places, column] == code]
                found = self._best(part, inside, room - (least_without if has else least))
                if found is None:
                    break
                sides.append(found)
            else:
                cost = sides[0].cost + sides[1].cost + self._split
                if best is None or cost < best.cost:
                    best = WideTree(cost, (column, *sides[0].columns, *sides[1].columns))
        return best

    def _splits(self, rows: RowSet, budget: int) -> Iterator[tuple[int, int, int]]:
        """(column, what the rows with it cost at least, what those without it do) of all splits within the budget."""
        self._look()
        assert self._workspace is not None
        assert rows.depth is not None
        room = budget - int(self._split_code[COST])
        if rows.depth == SHALLOW:
            address = self._workspace.engine.address
            ranked = rank_columns(address, rows.rows, rows.depth, *branch_of(rows), budget, self._split_code)
            self._look()
            yield from ((column, least, without) for _, column, least, without in ranked.tolist())
            return
        for column, bits in enumerate(self._packed.column_rows):
            having, without = rows.rows & bits, rows.rows & ~bits
            if not having.any() or not without.any():
                continue
            least = self._bound(rows.child(having, column, 1), room + 1)
            if least > room:
                continue
            least_without = self._bound(rows.child(without, column, 0), room + 1 - least)
            if least + least_without <= room:
                yield column, least, least_without

    def _bound(self, rows: RowSet, target: int) -> int:
        """A lower bound on what the rows cost: the optimum if that is below the target."""
        workspace = self._workspace
        assert workspace is not None
        assert rows.depth is not None
        if target <= 0:
            return 0
        self._look()
        engine = workspace.engine
        if engine["node_count"] + 2 >= workspace.space.nodes:
            raise SearchStopped("memory")
        workspace.node_rows[engine["node_count"]] = rows.rows
        engine["root_target"] = target
        engine["root_high"], engine["root_low"] = branch_of(rows)
        search_fully(workspace, rows.depth, UNLIMITED)
        return workspace.root_bounds[0]

    def _shallow(self, places: Array, depth: int) -> WideTree | None:
        """The best tree of a depth that all trees are compared at once for."""
        key = depth, places.tobytes()
        if key not in self._known:
            self._effort += self._rows.effort(places) if depth == _PAIRS else 0.0
            if self._effort > _MOST_EFFORT:
                raise _TooMany
            self._known[key] = self._rows.best(places, depth)
        return self._known[key]

    def _look(self) -> None:
        if self._deadline is not None and clock() >= self._deadline:
            self.control[STOP] = 1
        if self.control[STOP]:
            raise SearchStopped("time")
