"""Several threads over one problem, each with a store of its own, and the tree of one.

All search the same root, and share three things: the best value that any of them has found, lower bounds of nodes, and
who is in which node (shared_bounds.py). The first one leads: it tells what it learns, takes nothing from the others,
and so goes step by step as it would alone. The others help by `improve`: they take all that is known, begin with the
edges to which the leader comes last, and keep away from the sides that others are in, as long as there is another side
or edge to improve, at every level. So they part at the root, and meet again in what is left of the last edges.

Once a thread that helps has proved the optimum, the search ends as soon as the leader has a tree of this value: of
equal trees it is the one that a thread alone finds first, whatever their number. What the leader would do from there
on, which is to prove what is proved already, is left out.
"""

from __future__ import annotations

from numba import int64

from streed.bnb.expand import is_shallow
from streed.bnb.improve import improve, solve_shallow
from streed.bnb.nodes import nodes_of
from streed.bnb.root import place_root
from streed.kernels.compiled import entry
from streed.kernels.control import LEADERS_UPPER, PROVED, ROWS_OF_CONTROL, SHARED_UPPER, STOP
from streed.kernels.pointers import engine_at
from streed.kernels.simd import load_atomic, lower_atomic, raise_atomic, store_release
from streed.kernels.views import vector


@entry
def search_share(engine, depth, budget, again):  # type: ignore[no-untyped-def]
    """As `search_root`, by a thread that helps; returns also when another has solved the problem."""
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
    proved = int64(root.lower)
    if proved >= load_atomic(control, SHARED_UPPER):
        raise_atomic(control, PROVED, proved)
        if proved >= e.root_target or load_atomic(control, LEADERS_UPPER) <= proved:
            store_release(control, int64(STOP), int64(1))
