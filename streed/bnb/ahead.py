"""What native searches of every kind need, compiled by a second process (kernels/beside.py), first things first."""

from __future__ import annotations

from contextlib import AbstractContextManager

from streed.bnb import units
from streed.bnb.expand import opening
from streed.bnb.extraction import extract_tree
from streed.bnb.layout import empty_caches, lay_out, link_problem
from streed.bnb.terminal import compile_terminal
from streed.kernels import beside
from streed.kernels.compiled import ready, was_kept
from streed.kernels.records import SHALLOW
from streed.kernels.routing import MEASURE, measure_rows

_EXTRACT = "(int64, int64[::1], uint8[::1], uint64[::1], int64, int64)"
"""The signature of `extract_tree`."""


def planned(max_depth: int | None, max_nodes: int | None) -> AbstractContextManager[None]:
    """A context in which the second process is started once a search within these limits misses a function.

    It is not where the last function that it would compile is on disk.
    """
    deep = max_nodes is not None or max_depth is None or max_depth > SHALLOW
    is_made = was_kept(extract_tree, _EXTRACT) if deep else was_kept(measure_rows, MEASURE)
    return beside.plan(None if is_made else f"from streed.bnb.ahead import compile_shared; compile_shared(deep={deep})")


def compile_shared(*, deep: bool) -> None:
    """Compiles what depends neither on the kind of a search nor on its lane; `deep`: of more than three levels."""
    beside.announce = beside.tell
    words, table = "int64[::1]", "int64[:, ::1]"
    ready(lay_out, "(int64, int64, int64, boolean)")
    of_problem = ("int64", "int32[:, ::1]", "uint64[:, ::1]", words, table, table, words, words, "uint8[::1]", words)
    ready(link_problem, f"({', '.join(of_problem)})")
    ready(empty_caches, "(int64, uint64[::1])")
    units.of_every_kind()
    if deep:
        opening()
        units.further("recall", "store", "inherit")
        ready(extract_tree, _EXTRACT)
    else:
        compile_terminal()
    ready(measure_rows, MEASURE)
