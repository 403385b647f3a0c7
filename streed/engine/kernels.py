"""The kernels as compiled code: what the search calls through pointers, by kind of task and lane type.

`shallow` is the procedure of `depth_three.py`, the same for all; the others are `prepare`, `solve_children` and
`push_bounds` for it, and `expand` for the search.
"""

from __future__ import annotations

import functools
from typing import Any

from numba import uint64

from streed.engine import bounds, expansion, labels, rows, signed
from streed.engine.compiled import unit
from streed.engine.depth_three import solve_depth_three
from streed.engine.pointers import KERNEL, engine_at
from streed.engine.views import vector


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
        if e.asked_depth == 3:
            rows.spread_rows(e)

    return load_node


@functools.cache
def push(lane: Any) -> Any:
    """`bounds.push_bounds` for pair sums of the given numpy type."""

    @unit(KERNEL)
    def push_bounds(address):  # type: ignore[no-untyped-def]
        bounds.push_bounds(engine_at(address), lane)

    return push_bounds


@functools.cache
def prepare(is_signed: bool, lane: Any) -> Any:
    """`signed.prepare_signed` or `labels.prepare_labelled`."""
    if is_signed:

        @unit(KERNEL)
        def prepare_signed(address):  # type: ignore[no-untyped-def]
            signed.prepare_signed(engine_at(address), lane)

        return prepare_signed

    @unit(KERNEL)
    def prepare_labelled(address):  # type: ignore[no-untyped-def]
        labels.prepare_labelled(engine_at(address), lane)

    return prepare_labelled


@functools.cache
def solve_children(is_signed: bool, lane: Any) -> Any:
    """`signed.solve_signed_children` or `labels.solve_labelled_children`."""
    if is_signed:

        @unit(KERNEL)
        def solve_signed(address):  # type: ignore[no-untyped-def]
            signed.solve_signed_children(engine_at(address), lane)

        return solve_signed

    @unit(KERNEL)
    def solve_labelled(address):  # type: ignore[no-untyped-def]
        labels.solve_labelled_children(engine_at(address), lane)

    return solve_labelled


@functools.cache
def expand(lane: Any) -> Any:
    """`expansion.expand_labelled`."""

    @unit(KERNEL)
    def expand_labelled(address):  # type: ignore[no-untyped-def]
        expansion.expand_labelled(engine_at(address), lane)

    return expand_labelled
