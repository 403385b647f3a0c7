"""Lower bounds of subproblems that other processes proved, named by the literals of their branches.

The rows of a subproblem are those with all literals of a set, in whatever order a branch tests them, so the set names
the subproblem in every process, and exactly: no hash of rows is sent. Literal 2 c is bit column c, 2 c + 1 its
complement. Where test costs depend on what was tested, the set says that, too.
"""

from __future__ import annotations

from numba import int32, int64

from streed.bnb.improve import join_edge
from streed.bnb.node_index import find_node
from streed.bnb.nodes import below, children_of, columns_of, edges_of, nodes_of, rows_of, write_side
from streed.kernels.compiled import entry
from streed.kernels.pointers import engine_at
from streed.kernels.records import INFINITE, LOWEST, NONE, SHALLOW, UNLIMITED
from streed.kernels.views import inline, native


@entry
def read_bounds(engine, literal, alone, sets, bounds):  # type: ignore[no-untyped-def]
    """How many bounds were written: those of the subproblems of `literal` that were searched here.

    `sets` (n, 3) int32 are their literals in ascending order, those that are missing NONE and last; `bounds` (n,).
    Sets of three are looked for unless `alone`.
    """
    e = engine_at(engine)
    depth = below(int64(nodes_of(e)[e.root].depth))
    count = int64(0)
    _start(e, literal)
    count = _note(e, depth, literal, int64(NONE), int64(NONE), sets, bounds, count)
    for second in range(2 * e.columns):
        if second // 2 == literal // 2 or e.node_count + 4 >= e.node_space or not _is_searchable(below(depth)):
            continue
        _start(e, literal)
        if not _narrow(e, second):
            continue
        known = find_node(e, below(depth), int64(UNLIMITED), False)
        if known == NONE:
            continue
        count = _note(e, below(depth), literal, second, int64(NONE), sets, bounds, count)
        if alone or nodes_of(e)[known].n_edges == NONE or not _is_searchable(below(below(depth))):
            continue
        for third in range(second + 1, 2 * e.columns):
            if third // 2 == literal // 2 or third // 2 == second // 2:
                continue
            for w in range(e.key_words):
                rows_of(e)[e.node_count, w] = rows_of(e)[known, w]
            if _narrow(e, third):
                count = _note(e, below(below(depth)), literal, second, third, sets, bounds, count)
    return count


@entry
def raise_bounds(engine, sets, bounds):  # type: ignore[no-untyped-def]
    """Raises the lower bounds of subproblems, (n, 3) and (n,) as `read_bounds` gives them, of the same problem."""
    e = engine_at(engine)
    nodes = nodes_of(e)
    for k in range(len(bounds)):
        if e.node_count + 4 >= e.node_space:
            return
        depth = int64(nodes[e.root].depth)
        some = True
        _start(e, int64(sets[k, 0]))
        depth = below(depth)
        for position in range(1, 3):
            if sets[k, position] != NONE:
                some = some and _narrow(e, int64(sets[k, position]))
                depth = below(depth)
        if not some:
            continue
        new = e.node_count
        v = find_node(e, depth, int64(UNLIMITED), True)
        if v == new:
            nodes[v].upper = INFINITE
        nodes[v].lower = max(int64(nodes[v].lower), min(int64(bounds[k]), int64(nodes[v].upper)))
        if sets[k, 1] == NONE:
            _raise_side(e, int64(sets[k, 0]), int64(nodes[v].lower))


@native
def _raise_side(e, literal, bound):  # type: ignore[no-untyped-def]
    """Raises the lower bound of the side of a split of the root."""
    root = nodes_of(e)[e.root]
    children = children_of(e)
    for k in range(root.n_edges):
        at = edges_of(e)[root.edges + k]
        for c in range(at.children, at.children + at.n_children):
            if children[c].column == literal // 2 and children[c].without == literal % 2:
                children[c].lower = max(int64(children[c].lower), min(bound, int64(children[c].upper)))
                join_edge(e, at)


@inline
def _is_searchable(depth):  # type: ignore[no-untyped-def]
    """Whether subproblems of the depth have nodes."""
    return depth == UNLIMITED or depth >= SHALLOW


@native
def _start(e, literal):  # type: ignore[no-untyped-def]
    """Writes the rows of the root with a literal behind the last node."""
    write_side(e, rows_of(e)[e.root], literal // 2, literal % 2, rows_of(e)[e.node_count])


@native
def _narrow(e, literal):  # type: ignore[no-untyped-def]
    """Keeps of the rows behind the last node those with the literal; whether that separates some from others."""
    rows = rows_of(e)[e.node_count]
    column = columns_of(e)[literal // 2]
    inside = False
    outside = False
    for w in range(e.row_words):
        has = rows[w] & column[w]
        inside = inside or has != 0
        outside = outside or has != rows[w]
    write_side(e, rows, literal // 2, literal % 2, rows)
    return inside and outside


@native
def _note(e, depth, first, second, third, sets, bounds, count):  # type: ignore[no-untyped-def]
    """The number of bounds written, with that of the rows behind the last node if it was searched."""
    v = find_node(e, depth, int64(UNLIMITED), False)
    if v == NONE or count >= len(bounds):
        return count
    node = nodes_of(e)[v]
    if node.n_edges == NONE or node.lower <= (LOWEST if e.scored == 1 else 0):
        return count
    a, b, c = first, second, third
    if b != NONE and b < a:
        a, b = b, a
    if c != NONE and c < b:
        b, c = c, b
        if b < a:
            a, b = b, a
    sets[count, 0] = int32(a)
    sets[count, 1] = int32(b)
    sets[count, 2] = int32(c)
    bounds[count] = node.lower
    return count + 1
