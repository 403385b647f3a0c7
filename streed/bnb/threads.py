"""Several threads over one problem, each with a store of its own.

All search the same root by `improve`, and share three things: the best value that any of them has found, lower bounds
of nodes, and who is in which node (shared_bounds.py). A thread keeps away from the sides that others are in, as long as
there is another side or edge to improve, at every level; so they part at the root, and meet again in what is left of
the last edges. The first whose root is solved stops the others.
"""

from __future__ import annotations

from numba import int64

from streed.bnb.expand import is_shallow
from streed.bnb.improve import improve, solve_shallow
from streed.bnb.nodes import nodes_of
from streed.bnb.root import place_root
from streed.kernels.compiled import entry
from streed.kernels.control import ROWS_OF_CONTROL, SHARED_UPPER, STOP
from streed.kernels.pointers import engine_at
from streed.kernels.simd import load_atomic, lower_atomic, store_release
from streed.kernels.views import vector


@entry
def search_share(engine, depth, budget, again):  # type: ignore[no-untyped-def]
    """As `search_root`, by one of several threads; returns also when another has solved the problem."""
    e = engine_at(engine)
    control = vector(e.control, ROWS_OF_CONTROL, int64)
    if not again:
        place_root(e, depth, budget)
    e.crowded = 0
    vector(e.path, e.path_space, int64)[0] = e.root
    root = nodes_of(e)[e.root]
    if is_shallow(root):
        solve_shallow(e, int64(0), e.root_target, e.root_high, e.root_low)
    else:
        improve(e, int64(0), e.root_target, e.root_high, e.root_low)
    lower_atomic(control, SHARED_UPPER, int64(root.upper))
    if root.lower >= load_atomic(control, SHARED_UPPER):
        store_release(control, int64(STOP), int64(1))
