"""The memory of one solve: the `Engine` record, the arrays whose addresses it holds, and how its caches share it.

Scratch space and caches are laid out in one buffer. Caches are reserved at their largest size but touched only as
they grow, so a small solve pays for little; the operating system hands out pages when they are first written.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import attrs
import numpy as np

from streed.bnb.layout import empty_caches, lay_out, link_problem
from streed.bnb.shared_store import CHILD_CHUNK, EDGE_CHUNK, NODE_CHUNK
from streed.errors import InputError
from streed.exact import Array
from streed.kernels import record_proxy
from streed.kernels.packed import PackedProblem, narrowest_lane
from streed.kernels.record_proxy import ALIGNMENT, RecordProxy, address_of
from streed.kernels.records import CHILD, EDGE, INFINITE, LANES, NODE, NONE, SHALLOW, UNLIMITED
from streed.kernels.values import CLASSES
from streed.problem import Problem
from streed.problem.process_memory import free, resident

_SHARE_OF_FREE = 0.7
"""Of the memory that is free, without a limit by the caller."""

_LEAST = 2**22
"""Bytes that the caches need to work at all."""

_SMALL = 2**26
"""Bytes that are not worth asking the system about."""

_SHARED, _SHARE_OF_LIMIT = 2**29, 8
"""Bytes for the branch cache that threads share, at most, and of a limit of the memory one for so many."""

_BOUNDS = 2 * ctypes.c_int64

_BRANCH, _INDEX = 24, 32
"""Bytes of a stored branch, and of a node's slots: four at most, in the index and in those that it grew from."""


def limits_of(packed: PackedProblem, problem: Problem) -> tuple[int, int]:
    """(depth, branching nodes), UNLIMITED without a limit, or where the other one already allows no more."""
    depth = UNLIMITED if problem.max_depth is None else problem.max_depth
    budget = UNLIMITED if problem.max_nodes is None else problem.max_nodes
    if depth == 0 or budget == 0:
        return 0, UNLIMITED
    if packed.n_binary == packed.n_columns and depth < 30 and budget >= 2**depth - 1:
        budget = UNLIMITED
    return depth, budget


def is_terminal(depth: int, budget: int) -> bool:
    """Whether the whole problem is solved by one call, which threads do not share (depth_three.py)."""
    return depth <= SHALLOW and budget == UNLIMITED


def _is_relaxed(problem: PackedProblem, limits: tuple[int, int]) -> bool:
    """Whether nodes are expanded by solving all sides at depth two (expand.py)."""
    return problem.split_cost == 0 and limits[0] != UNLIMITED and limits[1] == UNLIMITED


def space_for(
    problem: PackedProblem, memory_limit: int | None, lane_type: Any, threads: int, limits: tuple[int, int]
) -> Space:
    """The caches' sizes; raises InputError if the memory limit is below what the process holds already."""
    scratch = _scratch_bytes(problem, lane_type) * threads
    space = share(problem, math.inf, limits)
    if memory_limit is not None or scratch >= _SMALL or size_of(problem, space) >= _SMALL:
        space = share(problem, budget(memory_limit, scratch), limits)
    if threads == 1:
        return space
    room = _SHARED if memory_limit is None else min(_SHARED, memory_limit // _SHARE_OF_LIMIT)
    slots = min(room // (8 * space.branch_words), 4 * space.branches)
    return attrs.evolve(
        space,
        nodes=space.nodes + (threads + 2) * NODE_CHUNK,
        edges=space.edges + threads * EDGE_CHUNK,
        children=space.children + threads * CHILD_CHUNK,
        shared_branches=1 << max(4, slots.bit_length() - 1),
    )


def _scratch_bytes(problem: PackedProblem, lane_type: Any) -> int:
    """Roughly what the work units of a thread need besides caches."""
    lane: int = np.dtype(lane_type).itemsize
    width = problem.n_columns + 32
    planes = 2 if problem.signed else 3 * (problem.n_labels + 2)
    return planes * width * width * lane + 3 * len(problem.row_bits) * width // 4 + 2**20


def size_of(problem: PackedProblem, space: Space) -> float:
    """The bytes that the caches take when they are full."""
    of_edges = space.edges * EDGE.itemsize + space.children * CHILD.itemsize
    return space.nodes * _node_bytes(problem) + of_edges + space.branches * 4 * _BRANCH


def _node_bytes(problem: PackedProblem) -> int:
    return problem.key_bytes + NODE.itemsize + _INDEX


def budget(memory_limit: int | None, scratch: int) -> float:
    """Bytes for the caches; raises InputError if the limit is below what the process holds already."""
    there_is = free()
    if scratch + _LEAST > there_is:
        found = f"the search needs {scratch + _LEAST:,} bytes for so many columns, and {there_is:,} are free"
        raise InputError("X", found, "give fewer columns")
    if memory_limit is None:
        return max(_LEAST, there_is * _SHARE_OF_FREE - scratch)
    held = resident()
    left = min(memory_limit - held, there_is) - scratch
    if left < _LEAST:
        found = f"{memory_limit:,} bytes; this process holds {held:,} already and the problem needs "
        remedy = "raise the limit, or solve a problem with fewer columns"
        raise InputError("memory_limit", f"{found}{scratch + _LEAST:,} more", remedy)
    return left * 0.95


def share(problem: PackedProblem, bytes_: float, limits: tuple[int, int]) -> Space:
    """The caches' sizes: what the problem can fill at most, within the bytes.

    Where the number of branching nodes is limited, a set of rows may stand for many subproblems.
    """
    max_depth, budgeted, columns = min(limits), limits[1] != UNLIMITED, problem.n_columns
    path = min(len(problem.row_bits), max_depth, 2**20) + 4
    if max_depth <= 3 and not budgeted:
        return Space(branches=16, nodes=16, edges=16, children=16, path=path)
    shares = (0.25, 0.55, 0.06, 0.12) if _is_relaxed(problem, limits) else (0.02, 0.35, 0.2, 0.41)
    most_nodes = most_branches = math.inf
    if max_depth < 60 and not budgeted:  # deeper, there are more subproblems than floats count
        levels = range(max_depth - 2)
        most_nodes = float(sum(min(float(2 * columns) ** level, 1e18) for level in levels))
        most_branches = float(sum(math.comb(columns, k) * 2.0**k for k in range(1, max_depth - 1)))
    nodes = int(min(bytes_ * shares[1] / _node_bytes(problem), most_nodes + 64, 2**30))
    deep = nodes if most_nodes == math.inf else int(min(nodes, most_nodes / max(1, 2 * columns) + 64))
    per_node = float(columns + 8) * (64 if budgeted else 1)
    return Space(
        branches=max(16, int(min(bytes_ * shares[0] / _BRANCH / 4, most_branches + 64, 2**40))),
        nodes=max(64, nodes),
        edges=max(2 * columns + 64, int(min(bytes_ * shares[2] / EDGE.itemsize, deep * per_node, 2**30))),
        children=max(4 * columns + 64, int(min(bytes_ * shares[3] / CHILD.itemsize, deep * 2 * per_node, 2**30))),
        path=path,
    )


_SHORT_PATH = 10
"""Paths up to this length (depth six, and what `Space.path` adds) make branches of at most four literals."""

MOST_KEPT = 0.9
"""Of the nodes: if more than this remains after forgetting, memory is too small to go on."""

_OF_COSTS = ("split_cost", "class_bound", "floor_mask", "floors", "root_target")
"""What a linear oracle writes for the costs of each of its solves."""


@attrs.frozen
class Space:
    """How many entries the caches may come to hold."""

    branches: int
    nodes: int
    edges: int
    children: int
    path: int
    shared_branches: int = 0
    """Of the branch cache of several threads, a power of two; 0 for a thread that is always alone."""

    @property
    def branch_words(self) -> int:
        """Words of an entry of the branch cache."""
        return 2 if self.path <= _SHORT_PATH else 3


class Workspace:
    """The record, its arrays and the control words; native functions take `engine.address`."""

    def __init__(
        self,
        problem: PackedProblem,
        space: Space,
        lane_type: Any,
        control: Array,
        limits: tuple[int, int],
        best_first: bool,
        joins: bool = False,
    ) -> None:
        """`limits`: depth and branching nodes, as `limits_of` has them.

        `joins`: the workspace has no store, but searches that of another thread (root.py).
        """
        self.problem = problem
        self.limits = limits
        self.lane_type = lane_type
        self.control = control
        self.first: Array | None = None
        """The tree of a lookahead of two levels in preorder, if there was one."""
        # a thread that joins others has their branch cache
        self.space = attrs.evolve(space, branches=1) if joins else space
        self._states: dict[Any, Array] = {}
        """The record as a search begins with it, by lane type."""
        self.engine = RecordProxy()
        relaxed = _is_relaxed(problem, limits)
        of_search = {"best_first": best_first, "joins": joins, "control": address_of(control)}
        self.engine.write(self._sizes(problem, relaxed) | of_search)
        groups = problem.groups
        row_bits = problem.row_bits if problem.row_bits.shape[1] else np.zeros((len(problem.row_bits), 1), np.int32)
        self.profits = np.ascontiguousarray(groups.profits[:, : self.engine["planes"]])
        self.signed_costs = np.zeros((len(groups.profits), 2), np.int64)
        link_problem(
            self.engine.address, row_bits, problem.column_rows, groups.words, (self.profits, self.signed_costs),
            problem.literals, problem.column, problem.flipped,
        )  # fmt: skip
        # nothing is expanded without limits on nodes where splits cost nothing
        self._class_lane = None if relaxed else self._weigh_classes(problem)
        self._kept = [row_bits, *self._link_task(problem)]
        lane, calls_costs = np.dtype(lane_type).itemsize, problem.scoring is not None and problem.scoring.calls_costs
        self._buffer = record_proxy.borrow(lay_out(self.engine.address, 0, lane, calls_costs) + ALIGNMENT)
        self._begin: int = address_of(self._buffer)
        lay_out(self.engine.address, -(-self._begin // ALIGNMENT) * ALIGNMENT, lane, calls_costs)
        self.rows = problem.rows
        empty_caches(self.engine.address, self.rows)

    def _link_task(self, problem: PackedProblem) -> Iterable[Array]:
        """Writes the addresses of what only some tasks have; gives the arrays of it, which are to be kept."""
        scoring, prices = problem.scoring, problem.prices
        arrays: dict[str, Array] = {}
        if scoring is not None:
            arrays["numbers"] = scoring.numbers
            if scoring.row_floors is not None:
                arrays["row_floors"] = scoring.row_floors
            if scoring.split_costs is not None:
                arrays["split_costs"] = scoring.split_costs
        if problem.row_values is not None:
            arrays["row_values"] = problem.row_values
        if prices is not None:
            arrays |= {"full_test_costs": prices.full, "discounted_test_costs": prices.given}
            arrays["caller_columns"] = prices.alike
        if problem.floors is not None:
            arrays["floor_mask"], arrays["floors"] = problem.floors
        for name, array in arrays.items():
            self.engine[name] = array.ctypes.data
        if scoring is not None:
            for name, unit in (("score", "score"), ("combine", "combine_values"), ("subtract", "subtract_values")):
                self.engine[name] = scoring.kernels.address(unit)
            if scoring.row_floors is not None:
                ctypes.CFUNCTYPE(None, ctypes.c_int64)(scoring.kernels.address("find_floors"))(self.engine.address)
        return arrays.values()

    def _sizes(self, problem: PackedProblem, relaxed: bool) -> dict[str, int]:
        """What the record says of the problem and of the space for it, but for addresses."""
        space, scoring, prices = self.space, problem.scoring, problem.prices
        row_words, path_words = problem.column_rows.shape[1], problem.path_words
        row_space = len(problem.row_bits)
        categorical = len(problem.literals) - 1
        restrictable, by_row = problem.restrictable, scoring is None and prices is None
        slots = _power_of_two(2 * space.nodes)
        branch_space = _power_of_two(2 * space.branches)
        planes = problem.n_labels + 1 + problem.counts_rows if scoring is None else scoring.planes
        return {
            "groups": len(problem.groups.words) - 1,
            "labels": problem.n_labels,
            "columns": problem.n_columns,
            "binary_columns": problem.n_binary,
            "categorical": categorical,
            "row_words": row_words,
            "row_space": row_space,
            "width": max(LANES, (problem.n_columns + LANES - 1) // LANES * LANES),
            "path_words": path_words,
            "key_words": row_words + path_words,
            "planes": planes,
            "rows_plane": problem.n_labels + problem.counts_rows if scoring is None else scoring.rows_plane,
            "worst_plane": problem.n_labels if scoring is None else scoring.rows_plane,
            "worst_unit": 1 if scoring is None else scoring.worst_unit,
            "has_test_costs": prices is not None,
            "fixed_costs": scoring is not None and scoring.has_fixed_costs,
            "scored": scoring is not None,
            "wide": problem.row_values is not None,
            "split_cost": problem.split_cost,
            "min_leaf": problem.min_leaf,
            "signed": problem.signed,
            "restrictable": restrictable,
            "extensible": restrictable or (by_row and (categorical == 0 or problem.min_leaf <= 1)),
            "relaxed": relaxed,
            "branch_space": 2 * branch_space,
            "shared_branch_slots": space.shared_branches,
            "branch_words": space.branch_words,
            "branch_slots": min(branch_space, 1024),
            "node_space": space.nodes,
            "edge_space": space.edges,
            "child_space": space.children,
            "node_limit": space.nodes,
            "edge_limit": space.edges,
            "child_limit": space.children,
            "slot_space": 2 * slots,
            "slot_count": min(slots, 256),
            "path_space": space.path,
            "root": NONE,
            "root_depth": self.limits[0],
            "root_budget": self.limits[1],
            "root_target": INFINITE,
            "root_edge": NONE,
            "frontier": UNLIMITED,
            "departures": NONE,
            "pause": INFINITE,
        }

    def _weigh_classes(self, problem: PackedProblem) -> Any:
        """The lane type of sums of class weights, which this writes; None if rows cost something under both labels.

        None, too, where costs are written later.
        """
        profits = self.profits[:, :2]
        if not problem.signed or not self.engine["class_bound"] or not profits.any():
            return None
        unit = int(np.gcd.reduce(profits, axis=None))
        self._class_weights = np.ascontiguousarray(profits // unit)
        self.engine.write({"class_unit": unit, "class_weights": self._class_weights.ctypes.data})
        return narrowest_lane(problem.groups.worst // unit, 0, 0, 0)

    def expansion(self, kind: str) -> tuple[str, Any]:
        """(kind, lane type) of what expands the nodes of a problem of this kind."""
        return (kind, self.lane_type) if self._class_lane is None else (CLASSES, self._class_lane)

    def begin(self, lane_type: Any, link: Callable[[Workspace], None]) -> None:
        """Forgets all that was searched, with the kernels for a lane type, which `link` links for the first time.

        `profits` and `signed_costs` may then be written anew.
        """
        self.lane_type = lane_type
        known = self._states.get(lane_type)
        state = next(iter(self._states.values()), None) if known is None else known
        if state is not None:
            self.engine.restore(state)
            empty_caches(self.engine.address, self.rows)
        if known is None:
            link(self)
            self._states[lane_type] = self.engine.copy()

    def take_costs(self, other: Workspace) -> None:
        """Takes the costs and the target of another workspace of the same problem."""
        self.profits[:] = other.profits
        self.signed_costs[:] = other.signed_costs
        self.engine.write({name: other.engine[name] for name in _OF_COSTS})

    @property
    def nodes(self) -> Array:
        """The nodes of the store, of NODE."""
        return self.array("nodes", NODE, self.space.nodes)

    @cached_property
    def node_rows(self) -> Array:
        """(nodes, W and path words) uint64: the rows of every node; those of the next one stand behind the last."""
        words = self.engine["key_words"]
        return self.array("node_rows", np.uint64, words * self.space.nodes).reshape(self.space.nodes, words)

    def array(self, field: str, dtype: Any, length: int) -> Array:
        """The first entries of an array in the buffer."""
        begin = self.engine[field] - self._begin
        return self._buffer[begin : begin + np.dtype(dtype).itemsize * length].view(dtype)

    @property
    def root(self) -> Any:
        """The node that was searched, a NODE record."""
        return self.nodes[self.engine["root"]]

    @property
    def root_bounds(self) -> tuple[int, int]:
        """(lower, upper) of the node that was searched; those of one that nothing is known of before it is placed."""
        at = self.engine["nodes"] + NODE.itemsize * max(0, self.engine["root"])
        lower, upper = _BOUNDS.from_address(at)  # the record begins with them
        return lower, upper

    @property
    def root_edges(self) -> Array:
        """The edges of that node, of EDGE."""
        begin, count = int(self.root["edges"]), max(0, int(self.root["n_edges"]))
        return self.array("edges", EDGE, begin + count)[begin:]

    def close(self) -> None:
        """Gives the buffer back for the next solve; nobody may look into it any more."""
        record_proxy.give_back(self._buffer)
        for name in ("_buffer", "node_rows"):
            self.__dict__.pop(name, None)


def _power_of_two(n: int) -> int:
    return 1 << max(4, (n - 1).bit_length())
