"""The kernels as compiled code: what the search calls through pointers, by kind of task and lane type.

The procedure of `depth_three.py` is the same for all; it calls the others, and the search what expands nodes.
What searches of every kind need is compiled by a second process (kernels/compilation.py), first things first.
"""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from streed.bnb import bounds, edges
from streed.bnb.branch_cache import recall_sides, store_sides
from streed.bnb.depth_three import compile_terminal, solve_depth_three
from streed.bnb.expand import expand_node
from streed.bnb.extraction import EXTRACT, extract_tree
from streed.bnb.layout import empty_caches, lay_out, link_problem
from streed.kernels import compilation
from streed.kernels.compiled import ready, unit, was_kept
from streed.kernels.counting import rows
from streed.kernels.records import SHALLOW
from streed.kernels.routing import MEASURE, compile_measuring, measure_rows
from streed.kernels.scoring import generated, many_labels, two_labels
from streed.kernels.values import CLASSES, COUNTED, LABELS, SIGNED, SUMMED, TEST_COSTS
from streed.kernels.views import KERNEL, engine_at


@functools.cache
def addresses(kind: str, lane: Any) -> dict[str, int]:
    """The kernels of a kind that every search calls, by the field of the record that holds their address."""
    return {
        "prepare": _compiled(_PREPARE[kind], lane).address,
        "solve_children": _compiled(_SOLVE_CHILDREN[kind], lane).address,
        "push_bounds": _compiled(bounds.push_bounds, lane).address,
    }


def further(*names: str) -> dict[str, int]:
    """The other kernels of these names, likewise."""
    return {name: _compiled(_FURTHER[name]).address for name in names}


def shared(*, deep: bool) -> tuple[str, ...]:
    """Those that are the same for all kinds and lane types; `deep`: of a search of nodes."""
    of_nodes = ("open_node", "store", "recall") if deep else ()
    return ("solve_shallow", "load", *of_nodes)


def expander(kind: str, lane: Any) -> Any:
    """What expands the nodes of a search of this kind, compiled."""
    return _compiled(_EXPAND[kind], None if kind in (COUNTED, SUMMED) else lane)


_FURTHER = {
    "solve_shallow": solve_depth_three,
    "load": rows.load_asked,
    "recall": recall_sides,
    "store": store_sides,
    "open_node": expand_node,
    "count_splits": bounds.count_splits,
    "count_more_splits": bounds.count_more_splits,
}

_PREPARE = {
    COUNTED: generated.prepare_counted,
    SUMMED: generated.prepare_summed,
    SIGNED: two_labels.prepare_signed,
    TEST_COSTS: many_labels.prepare_priced,
    LABELS: many_labels.prepare_labelled,
}
"""Sums and scores of a node."""

_SOLVE_CHILDREN = {
    COUNTED: generated.solve_counted_children,
    SUMMED: generated.solve_summed_children,
    SIGNED: two_labels.solve_signed_children,
    TEST_COSTS: many_labels.solve_priced_children,
    LABELS: many_labels.solve_labelled_children,
}

_EXPAND = {
    COUNTED: generated.expand_scored,
    SUMMED: generated.expand_scored,
    SIGNED: edges.expand_labelled,
    TEST_COSTS: edges.expand_priced,
    LABELS: edges.expand_labelled,
    CLASSES: edges.expand_classes,
}


@functools.cache
def _compiled(function: Any, lane: Any = None) -> Any:
    """The native function, of an engine and of what numpy type pair sums have where they matter, as a kernel."""
    if lane is None:

        @unit(KERNEL)
        def kernel(address):  # type: ignore[no-untyped-def]
            function(engine_at(address))

        return kernel

    @unit(KERNEL)
    def kernel_of_lane(address):  # type: ignore[no-untyped-def]
        function(engine_at(address), lane)

    return kernel_of_lane


def planned(max_depth: int | None, max_nodes: int | None) -> AbstractContextManager[None]:
    """A context in which the second process is started once a search within these limits misses a function.

    It is not where the last function that it would compile is on disk.
    """
    code = _missing(max_nodes is not None or max_depth is None or max_depth > SHALLOW)
    return nullcontext() if code is None else compilation.plan(code)


@functools.cache
def _missing(deep: bool) -> str | None:
    """What the second process is to run; None where nothing is missing."""
    is_made = was_kept(extract_tree, EXTRACT) if deep else was_kept(measure_rows, MEASURE)
    return None if is_made else f"from streed.bnb.units import compile_shared; compile_shared(deep={deep})"


def compile_shared(*, deep: bool) -> None:
    """Compiles what depends neither on the kind of a search nor on its lane; `deep`: of more than three levels."""
    ready(lay_out, "(int64, int64, int64, boolean)")
    words, costs = "int64[::1]", "UniTuple(int64[:, ::1], 2)"
    ready(link_problem, f"(int64, int32[:, ::1], uint64[:, ::1], {words}, {costs}, {words}, {words}, uint8[::1])")
    ready(empty_caches, "(int64, uint64[::1])")
    compile_measuring()
    if deep:
        ready(extract_tree, EXTRACT)
    else:
        compile_terminal()
    further(*shared(deep=deep))
