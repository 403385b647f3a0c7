"""The kernels as compiled code: what the search calls through pointers, by kind of task and lane type.

`shallow` is the procedure of `depth_three.py`, the same for all; the others are `prepare`, `solve_children` and
`push_bounds` for it, and `expand` for the search.
"""

from __future__ import annotations

import functools
from typing import Any

from numba import int16, int64, uint64

from streed.bnb import bounds, pair_lookahead
from streed.bnb.depth_three import solve_depth_three
from streed.kernels.compiled import unit
from streed.kernels.counting import pair_counts, rows
from streed.kernels.kinds import CLASSES, COUNTED, SIGNED, SUMMED, TEST_COSTS
from streed.kernels.pointers import KERNEL, engine_at
from streed.kernels.scoring import generated, many_labels, test_costs, two_labels
from streed.kernels.views import matrix, vector


@functools.cache
def addresses(kind: str, lane: Any) -> dict[str, int]:
    """The kernels that every search calls, by the field of the record that holds their address."""
    return {
        "solve_shallow": shallow().address,
        "prepare": prepare(kind, lane).address,
        "solve_children": solve_children(kind, lane).address,
        "push_bounds": push(lane).address,
        "load": load().address,
    }


@functools.cache
def shallow() -> Any:
    """`solve_depth_three`."""

    @unit(KERNEL)
    def solve_shallow(address):  # type: ignore[no-untyped-def]
        solve_depth_three(engine_at(address))

    return solve_shallow


@functools.cache
def load() -> Any:
    """`rows.load_node` for the rows asked for, with their bits spread for children where e.asked_depth needs them."""

    @unit(KERNEL)
    def load_node(address):  # type: ignore[no-untyped-def]
        e = engine_at(address)
        rows.load_node(e, vector(e.asked_rows, e.row_words, uint64))
        if e.asked_depth == 3 or e.wide == 1:
            rows.spread_rows(e)

    return load_node


@functools.cache
def weigh_pairs() -> Any:
    """`pair_counts.count_pairs` in int64 for the node at hand, with multipliers of any kind."""

    @unit(KERNEL)
    def weigh_column_pairs(address):  # type: ignore[no-untyped-def]
        e = engine_at(address)
        words = matrix(e.words, e.n_words, e.stride, int16)
        begins = vector(e.group_begins, e.groups + 1, int64)
        weights = matrix(e.pair_weights, e.groups, e.pair_planes, int64)
        sums = matrix(e.weighed_pairs, e.pair_planes * e.stride, e.stride, int64)
        pair_counts.count_pairs(
            words, begins, e.groups, e.n_active, weights, e.pair_planes, sums, e.stride, rows.units_of(e)
        )

    return weigh_column_pairs


@functools.cache
def push(lane: Any) -> Any:
    """`bounds.push_bounds` for pair sums of the given numpy type."""

    @unit(KERNEL)
    def push_bounds(address):  # type: ignore[no-untyped-def]
        bounds.push_bounds(engine_at(address), lane)

    return push_bounds


@functools.cache
def prepare(kind: str, lane: Any) -> Any:
    """Sums and scores of a node: of two labels, of many, with test costs, or by a generated kernel."""
    if kind == COUNTED:

        @unit(KERNEL)
        def prepare_counted(address):  # type: ignore[no-untyped-def]
            generated.prepare_counted(engine_at(address), lane)

        return prepare_counted
    if kind == SUMMED:

        @unit(KERNEL)
        def prepare_summed(address):  # type: ignore[no-untyped-def]
            generated.prepare_summed(engine_at(address))

        return prepare_summed
    if kind == SIGNED:

        @unit(KERNEL)
        def prepare_signed(address):  # type: ignore[no-untyped-def]
            two_labels.prepare_signed(engine_at(address), lane)

        return prepare_signed
    if kind == TEST_COSTS:

        @unit(KERNEL)
        def prepare_priced(address):  # type: ignore[no-untyped-def]
            test_costs.prepare_priced(engine_at(address), lane)

        return prepare_priced

    @unit(KERNEL)
    def prepare_labelled(address):  # type: ignore[no-untyped-def]
        many_labels.prepare_labelled(engine_at(address), lane)

    return prepare_labelled


@functools.cache
def solve_children(kind: str, lane: Any) -> Any:
    """`two_labels.solve_signed_children`, `many_labels.solve_labelled_children`, or the two of `scored`."""
    if kind == COUNTED:

        @unit(KERNEL)
        def solve_counted(address):  # type: ignore[no-untyped-def]
            generated.solve_counted_children(engine_at(address), lane)

        return solve_counted
    if kind == SUMMED:

        @unit(KERNEL)
        def solve_summed(address):  # type: ignore[no-untyped-def]
            generated.solve_summed_children(engine_at(address))

        return solve_summed
    if kind == SIGNED:

        @unit(KERNEL)
        def solve_signed(address):  # type: ignore[no-untyped-def]
            two_labels.solve_signed_children(engine_at(address), lane)

        return solve_signed
    if kind == TEST_COSTS:

        @unit(KERNEL)
        def solve_priced(address):  # type: ignore[no-untyped-def]
            test_costs.solve_priced_children(engine_at(address), lane)

        return solve_priced

    @unit(KERNEL)
    def solve_labelled(address):  # type: ignore[no-untyped-def]
        many_labels.solve_labelled_children(engine_at(address), lane)

    return solve_labelled


@functools.cache
def expand(kind: str, lane: Any) -> Any:
    """`expand_labelled`, which serves the signed kind too, `expand_classes` (pair_lookahead.py), or `expand_scored`."""
    if kind in (COUNTED, SUMMED):

        @unit(KERNEL)
        def expand_scored(address):  # type: ignore[no-untyped-def]
            generated.expand_scored(engine_at(address))

        return expand_scored
    if kind == CLASSES:

        @unit(KERNEL)
        def expand_classes(address):  # type: ignore[no-untyped-def]
            pair_lookahead.expand_classes(engine_at(address), lane)

        return expand_classes
    if kind == TEST_COSTS:

        @unit(KERNEL)
        def expand_priced(address):  # type: ignore[no-untyped-def]
            test_costs.expand_priced(engine_at(address), lane)

        return expand_priced

    @unit(KERNEL)
    def expand_labelled(address):  # type: ignore[no-untyped-def]
        pair_lookahead.expand_labelled(engine_at(address), lane)

    return expand_labelled
