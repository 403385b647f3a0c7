"""The memory of one solve: the `Engine` record and the arrays whose addresses it holds.

Scratch space and caches are laid out in a few buffers. Caches are reserved at their largest size but touched only as
they grow, so a small solve pays for little; the operating system hands out pages when they are first written.
"""

from __future__ import annotations

import ctypes
import threading
from itertools import accumulate
from typing import Any

import attrs
import numpy as np

from streed.engine import archive, kernels, labels, scored, signed, values
from streed.engine.columns import pack_columns
from streed.engine.control import ROWS_OF_CONTROL
from streed.engine.groups import Groups
from streed.engine.records import CHILD, EDGE, ENGINE, INFINITE, NODE, NONE
from streed.engine.simd import LANES
from streed.errors import InputError
from streed.exact import Array

LANE_TYPES = (np.int16, np.int32, np.int64)

_ALIGNMENT = 64

_POOLED = 2**26
"""Buffers up to this size are kept for the next solve, whose first writes then find the pages there."""

_SHORT_PATH = 10
"""Paths up to this length (depth six, and what `Space.path` adds) make branches of at most four literals."""

_FEW_NODES = 64
"""Searches of no more nodes than this use no archive."""

_WORST_DIGITS = 10
"""Binary digits to which the worst costs of summed rows are rounded up."""

_pool: list[Array] = []
_pool_lock = threading.Lock()


@attrs.frozen(eq=False)
class Scoring:
    """What a scored problem has besides its columns and row groups, whose `profits` are multipliers (G, S) then."""

    planes: int
    """S: the statistics, then rows."""
    rows_plane: int
    row_values: Array | None
    """(N, S padded to fours) float64, if pair sums are sums over rows."""
    row_floors: Array | None
    """(N,) float64: what the rows of every place cost any tree at least."""
    lane: Any
    real: bool
    """Whether costs are float64."""
    worst_unit: int
    """The code of what a row may cost at worst; zero if that is not known."""
    split_costs: Array | None
    """(F + categorical,) int64 or float64: branching costs that depend on the split only."""
    calls_costs: bool
    """Whether branching costs are asked of the task, split by split."""
    path_words: int
    numbers: Array
    """int64: the worth of codes, then the task's numbers."""
    kernels: Any
    """The generated kernels, see `generation.py`."""
    kept: tuple[Any, ...] = ()
    """Arrays whose addresses are among the numbers."""

    @property
    def has_fixed_costs(self) -> bool:
        """Whether every split costs something, whatever its rows and its path."""
        return self.split_costs is not None and not self.calls_costs and bool((self.split_costs > 0).all())


@attrs.frozen(eq=False)
class Prices:
    """What splits cost per row, by bit column; see `priced.py`."""

    full: Array
    """(F,) int64: where nothing was tested above."""
    given: Array
    """(F, F) int64: given[f, g], of column g where f was tested above."""
    alike: Array
    """(F,) int64: the first bit column with the same row of `given`, in whose place it is noted as tested."""
    n_rows: int


@attrs.frozen(eq=False)
class PackedProblem:
    """The columns and the row groups of a problem, as the engine reads them."""

    column: Array
    """(F,) int64: the caller's column of each bit column."""
    flipped: Array
    """(F,) uint8: 1 where the bit column is the complement of the caller's."""
    literals: Array
    """(c + 1,) int64: where each categorical column's literals begin."""
    column_rows: Array
    row_bits: Array
    groups: Groups
    n_labels: int
    split_cost: int
    min_leaf: int
    floors: tuple[Array, Array] | None = None
    """What `equivalence.find_floors` gives, where it is worth the time."""
    scoring: Scoring | None = None
    """What makes it a scored problem."""
    prices: Prices | None = None
    """What makes it a priced problem, whose groups count rows."""

    @property
    def n_columns(self) -> int:
        return len(self.column)

    @property
    def n_binary(self) -> int:
        return int(self.literals[0])

    @property
    def signed(self) -> bool:
        """Whether the signed kernel applies: two labels, binary columns only, no minimum support."""
        binary = self.n_binary == self.n_columns
        counted = self.scoring is None and self.prices is None and self.groups.values is None
        return counted and self.n_labels == 2 and binary and self.min_leaf <= 1

    @property
    def key_bytes(self) -> int:
        """Bytes of the key of a subproblem."""
        return 8 * int(self.column_rows.shape[1] + self.path_words)

    @property
    def path_words(self) -> int:
        """64-bit words of the set of columns tested above, where costs depend on it."""
        if self.prices is not None:
            return (self.n_columns + 63) // 64
        return 0 if self.scoring is None else self.scoring.path_words

    @property
    def counts_rows(self) -> bool:
        """Whether a row-cost problem needs a plane that counts rows."""
        return self.min_leaf > 1 or self.prices is not None

    @property
    def kind(self) -> str:
        """Which kernels apply, see `kernels.py`."""
        if self.scoring is not None:
            return kernels.COUNTED if self.scoring.row_values is None else kernels.SUMMED
        if self.prices is not None:
            return kernels.PRICED
        return kernels.SIGNED if self.signed else kernels.LABELS

    @property
    def row_values(self) -> Array | None:
        """(N, S padded to fours): the numbers of every row, if pair sums are sums over rows."""
        return self.groups.values if self.scoring is None else self.scoring.row_values

    @property
    def restrictable(self) -> bool:
        """Whether a tree for some rows serves fewer rows at no higher cost, and more rows at the cost of these."""
        return self.min_leaf <= 1 and self.prices is None and (self.scoring is None or self.scoring.worst_unit > 0)

    def lane_type(self) -> Any:
        """The narrowest lane type in which no sum overflows."""
        if self.scoring is not None:
            return self.scoring.lane
        worst, places = self.groups.worst, len(self.row_bits)
        if self.prices is None:
            return narrowest_lane(worst, self.split_cost, self.min_leaf, places)
        paid = self.prices.n_rows * int(self.prices.full.max(initial=0))
        return narrowest_lane(2 * (worst + paid), 0, max(self.min_leaf, 2), max(places, self.prices.n_rows))


def narrowest_lane(worst: int, split_cost: int, min_leaf: int, places: int) -> Any:
    """The narrowest lane type in which no sum of a row-cost problem overflows; raises InputError if there is none."""
    largest = worst + 2 * split_cost + 2
    if min_leaf > 1:
        largest = max(largest, places, min_leaf)
    for lane_type, limit in zip(LANE_TYPES, (2**15 - 2, 2**30, 2**60), strict=True):
        if largest < limit:
            return lane_type
    raise InputError("costs", f"their total of {largest} is beyond 2**60", "scale the costs or weights down")


def writable(array: Array) -> Array:
    """The array, or a copy that can be written to: native code is compiled for such arrays only."""
    return array if array.flags.writeable else array.copy()


def pack(
    codes: Array, categories: Array, groups: Groups, n_labels: int, split: int, min_leaf: int, merge: bool = True
) -> PackedProblem:
    """The problem for codes (n, p) uint8 with `categories` (p,) int64 per column (0 for binary columns)."""
    column, flipped, literals, column_rows, row_bits = pack_columns(
        codes, groups.places, categories, int(groups.words[-1]), merge
    )
    return PackedProblem(
        column=column,
        flipped=flipped,
        literals=literals,
        column_rows=column_rows,
        row_bits=row_bits,
        groups=groups,
        n_labels=n_labels,
        split_cost=min(split, groups.worst + 1) if split else 0,
        min_leaf=min_leaf,
    )


@attrs.frozen
class Space:
    """How many entries the caches may come to hold."""

    branches: int
    nodes: int
    edges: int
    children: int
    path: int


class Workspace:
    """The record, its arrays and the control words; `engine` is what native functions take."""

    def __init__(self, problem: PackedProblem, space: Space, lane_type: Any, control: Array, relaxed: bool) -> None:
        groups = problem.groups
        count = len(groups.words) - 1
        width = max(LANES, (problem.n_columns + LANES - 1) // LANES * LANES)
        row_space, row_words = len(problem.row_bits), problem.column_rows.shape[1]
        scoring = problem.scoring
        planes = problem.n_labels + 1 + problem.counts_rows if scoring is None else scoring.planes
        path_words = problem.path_words
        prices = problem.prices
        most_planes = max(planes, signed.PLANES)
        categorical = len(problem.literals) - 1
        self.lane_type = lane_type
        self.control = control
        signed_costs = np.zeros((count, 2), np.int64)
        if problem.n_labels == 2 and scoring is None:
            signed_costs[:, 0] = groups.profits[:, 1] - groups.profits[:, 0]
            signed_costs[:, 1] = np.abs(signed_costs[:, 0])
        profits = np.ascontiguousarray(groups.profits[:, :planes])
        slots = _power_of_two(2 * space.nodes)
        branch_space = _power_of_two(2 * space.branches)
        branch_words = 2 if space.path <= _SHORT_PATH else 3
        lane = np.dtype(lane_type).itemsize
        words = (row_space // 16 + count) * width * 2
        pairs = most_planes * width * width * lane
        generic = not problem.signed
        row_values = problem.row_values
        worst_bits, worst_step = _worst_slices(problem)
        sizes = {
            "rows": (row_space + 64) * 4,
            "all_words": words,
            "kept_words": words,
            "local_bits": (row_space + 64) * (width // LANES) * 4,
            "active": width * 8,
            "popcounts": LANES * 2,
            "ones": width * 8,
            "group_rows": (count + 1) * 8,
            "group_begins": (count + 1) * 8,
            "local_literals": 24 * max(categorical, 1),
            "pairs": pairs,
            "sums": max(most_planes, 3) * width * lane,
            "totals": most_planes * 8,
            "child_values": values.ROWS_OF_VALUES * (width + categorical) * 8 if scoring else 0,
            "costs": scored.ROWS_OF_COSTS * (width + categorical) * 8 if scoring else 0,
            "pair_costs": 16 * (width + categorical) ** 2 if scoring and scoring.calls_costs else 0,
            "here_prices": width * 8,
            "pair_prices": 0 if prices is None else width * width * lane,
            "shares": max(2, int(np.diff(problem.literals).max(initial=0))) * 8,
            "label_profits": max(1, problem.n_labels) * 8,
            "table": 0 if row_values is None else width * width * row_values.shape[1] * 8,
            "rows_with": 0 if row_values is None else (row_space + 64) * 4,
            "row_starts": 0 if row_values is None else (row_space + 1) * 4,
            "row_columns": 0 if row_values is None else row_space * width * 2,
            "floor_sums": (width + 1) * 8,
            "scores": labels.ROWS_OF_SCORES * width * lane,
            "values": values.ROWS_OF_VALUES * (width + categorical) * 8,
            "child_rows": (row_space + 64) * 4,
            "child_words": words,
            "child_begins": (count + 1) * 8,
            "child_pairs": pairs if generic else 0,
            "rest_pairs": pairs if generic else 0,
            "child_sums": most_planes * width * lane,
            "child_totals": most_planes * 8,
            "archive": archive.ROWS_OF_ARCHIVE * archive.ENTRIES * 8,
            "archive_children": archive.ENTRIES * 2 * width * 4 if space.nodes > _FEW_NODES else 64,
            "lost": width * 8,
            "path": space.path * 8,
            "nodes": space.nodes * NODE.itemsize,
            "node_rows": space.nodes * (row_words + path_words) * 8,
            "edges": space.edges * EDGE.itemsize,
            "children": space.children * CHILD.itemsize,
            "slots": 2 * slots * 4,
            "branches": 2 * branch_space * branch_words * 8,
        }
        offsets = dict(zip(sizes, accumulate((_aligned(size) for size in sizes.values()), initial=0), strict=False))
        self._buffer = _borrow(sum(map(_aligned, sizes.values())) + _ALIGNMENT)
        base = -_address(self._buffer) % _ALIGNMENT
        address = _address(self._buffer) + base
        row_bits = problem.row_bits if problem.row_bits.shape[1] else np.zeros((row_space, 1), np.int32)
        arrays = {
            "row_bits": row_bits,
            "column_rows": problem.column_rows,
            "group_words": groups.words,
            "signed_costs": signed_costs,
            "profits": profits,
            "literals": problem.literals,
            "control": control,
            "caller_columns": problem.column,
            "flipped": problem.flipped,
        }
        if scoring is not None:
            arrays["numbers"] = scoring.numbers
            if scoring.row_floors is not None:
                arrays["row_floors"] = scoring.row_floors
            if scoring.split_costs is not None:
                arrays["split_costs"] = scoring.split_costs
        if row_values is not None:
            arrays["row_values"] = row_values
            arrays["worst_bits"] = worst_bits
        if prices is not None:
            arrays["full_prices"], arrays["given_prices"] = prices.full, prices.given
            arrays["caller_columns"] = prices.alike
        if problem.floors is not None:
            arrays["floor_mask"], arrays["floors"] = problem.floors
        self._kept = list(arrays.values())
        fields = {
            **{name: address + offset for name, offset in offsets.items()},
            **{name: _address(array) for name, array in arrays.items()},
            "groups": count,
            "labels": problem.n_labels,
            "columns": problem.n_columns,
            "binary_columns": problem.n_binary,
            "categorical": categorical,
            "row_words": row_words,
            "row_space": row_space,
            "width": width,
            "path_words": path_words,
            "key_words": row_words + path_words,
            "planes": planes,
            "rows_plane": problem.n_labels + problem.counts_rows if scoring is None else scoring.rows_plane,
            "worst_plane": problem.n_labels if scoring is None else scoring.rows_plane,
            "worst_unit": 1 if scoring is None else scoring.worst_unit,
            "priced": prices is not None,
            "fixed_costs": scoring is not None and scoring.has_fixed_costs,
            "scored": scoring is not None,
            "wide": row_values is not None,
            "worst_slices": len(worst_bits),
            "worst_step": worst_step,
            "split_cost": problem.split_cost,
            "min_leaf": problem.min_leaf,
            "signed": problem.signed,
            "restrictable": problem.restrictable,
            "extensible": problem.restrictable or (scoring is None and prices is None and categorical == 0),
            "relaxed": relaxed,
            "branch_space": 2 * branch_space,
            "branch_words": branch_words,
            "branch_slots": min(branch_space, 1024),
            "node_space": space.nodes,
            "edge_space": space.edges,
            "child_space": space.children,
            "slot_space": 2 * slots,
            "slot_count": min(slots, 256),
            "path_space": space.path,
            "archived": problem.restrictable and space.nodes > _FEW_NODES,
        }
        plain = scoring is None and prices is None and row_values is None
        fields["class_bound"] = plain and _is_accuracy(groups, problem.n_labels)
        if scoring is not None:
            fields["score"] = scoring.kernels.score
            fields["combine"] = scoring.kernels.combine
            fields["subtract"] = scoring.kernels.subtract
        words_of_record = np.zeros(ENGINE.itemsize // 8, np.int64)
        words_of_record[[_PLACE[name] for name in fields]] = list(fields.values())
        self.record = words_of_record.view(ENGINE)
        self.engine = self.record[0]
        if scoring is not None and scoring.row_floors is not None:
            ctypes.CFUNCTYPE(None, ctypes.c_int64)(scoring.kernels.floor)(_address(words_of_record))
        self.engine["free_edges"] = NONE
        self.engine["free_children"] = NONE
        self.engine["root_target"] = INFINITE
        self.profits, self.signed_costs = profits, signed_costs
        self._words_of_record = words_of_record
        # tables begin empty and small; what they grow into is emptied then
        self._tables = [
            self._buffer[base + offsets[name] :][:size]
            for name, size in (
                ("slots", 4 * fields["slot_count"]),
                ("branches", 8 * branch_words * fields["branch_slots"]),
            )
        ]
        self._empty_tables()
        begin = base + offsets["nodes"]
        self.nodes = self._buffer[begin : begin + sizes["nodes"]].view(NODE)
        begin = base + offsets["edges"]
        self.edges = self._buffer[begin : begin + sizes["edges"]].view(EDGE)
        begin = base + offsets["node_rows"]
        self.node_rows = self._buffer[begin : begin + sizes["node_rows"]].view(np.uint64).reshape(space.nodes, -1)

    def state(self) -> Array:
        """A copy of the record as it is: once the kernels are linked, what `restore` begins a further search with."""
        return self._words_of_record.copy()

    def restore(self, state: Array) -> None:
        """Forgets all that was searched; `profits` and `signed_costs` may then be written anew."""
        self._words_of_record[:] = state
        self._empty_tables()

    def _empty_tables(self) -> None:
        for table in self._tables:
            table[:] = 0

    @property
    def root(self) -> Any:
        """The node that was searched, a NODE record."""
        return self.nodes[int(self.engine["root"])]

    @property
    def root_edges(self) -> Array:
        """The edges of that node, of EDGE."""
        root = self.root
        begin = int(root["edges"])
        return self.edges[begin : begin + max(0, int(root["n_edges"]))]

    def close(self) -> None:
        """Gives the buffer back for the next solve."""
        with _pool_lock:
            if len(self._buffer) <= _POOLED and len(_pool) < 4:
                _pool.append(self._buffer)
        del self._buffer, self._tables, self.nodes, self.node_rows, self.edges


_PLACE = {name: ENGINE.fields[name][1] // 8 for name in ENGINE.names}  # type: ignore[index, union-attr]
"""Where the fields of the record lie, in words of eight bytes."""


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _borrow(size: int) -> Array:
    with _pool_lock:
        for index, buffer in enumerate(_pool):
            if len(buffer) >= size:
                return _pool.pop(index)
    return np.empty(max(size, 2**20), np.uint8)


def _address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def _power_of_two(n: int) -> int:
    return 1 << max(4, (n - 1).bit_length())


def _worst_slices(problem: PackedProblem) -> tuple[Array, int]:
    """((B, W) uint64, the worth of the lowest): the rows in whose worst costs each binary digit is 1.

    The worst costs of rows that are summed one by one are rounded up to few digits, all of which bounds can use.
    """
    words = problem.column_rows.shape[1]
    values = problem.groups.values
    if values is None or problem.scoring is not None:
        return np.zeros((0, words), np.uint64), 0
    worst = values[:, problem.n_labels]
    step = 1 << max(0, int(worst.max(initial=0)).bit_length() - _WORST_DIGITS)
    digits = -(-worst // step)
    shifts = np.arange(int(digits.max(initial=0)).bit_length())
    bits = ((digits[None, :] >> shifts[:, None]) & 1).astype(np.uint8)
    return np.packbits(bits, axis=1, bitorder="little").view(np.uint64).reshape(len(shifts), words), step


def _is_accuracy(groups: Groups, n_labels: int) -> bool:
    """Whether every row profits under one label only, so that fewer labels than classes leave errors (R_j)."""
    profits = groups.profits[:, :n_labels]
    return bool(((profits > 0).sum(axis=1) <= 1).all() and (profits.sum(axis=1) == groups.profits[:, n_labels]).all())


__all__ = ["ROWS_OF_CONTROL", "PackedProblem", "Space", "Workspace", "pack"]
