"""Problems of at most three levels, which one call of the terminal solver answers: neither nodes nor search are needed.

The root is the record behind the last node, so that these problems may be solved between others of one workspace.
"""

from __future__ import annotations

import numpy as np
from numba import int64, uint8, uint64

from streed.bnb.expand import ask
from streed.bnb.nodes import nodes_of, rows_of, split_columns, write_side
from streed.bnb.workspace import Workspace
from streed.exact import Array
from streed.kernels.buffers import address_of
from streed.kernels.compiled import entry, ready
from streed.kernels.control import LOWER, ROWS_OF_CONTROL, UPPER
from streed.kernels.packed import PackedProblem
from streed.kernels.pointers import engine_at
from streed.kernels.records import INFINITE, LEAF, LOWEST, SHALLOW, UNLIMITED
from streed.kernels.views import copy_into, matrix, vector


def is_terminal(depth: int, budget: int) -> bool:
    """Whether the whole problem is solved by one call, which threads do not share."""
    return depth <= SHALLOW and budget == UNLIMITED


def compile_terminal() -> None:
    """Compiles what solves and extracts, before time is counted."""
    ready(solve_root, "(int64, int64)")
    ready(_list_nodes, "(int64, int64, int64, int64, int64, int64)")


@entry
def solve_root(engine, depth):  # type: ignore[no-untyped-def]
    """Solves the rows behind the last node, to the target of the root; its record then has bounds and split."""
    e = engine_at(engine)
    e.root = e.node_count
    root = nodes_of(e)[e.root]
    least = int64(LOWEST) if e.scored == 1 else int64(0)
    root.lower = least
    root.upper = INFINITE
    ask(e, rows_of(e)[e.root], depth, int64(e.root_target), least, uint64(0), uint64(0))
    root.split = e.split
    root.upper = e.upper
    root.lower = max(least, min(e.lower, e.upper))
    control = vector(e.control, ROWS_OF_CONTROL, int64)
    control[LOWER] = root.lower
    control[UPPER] = root.upper


def extract_root(workspace: Workspace, packed: PackedProblem, depth: int) -> Array:
    """The tree that `solve_root` found in preorder: the caller's column of every node, LEAF for leaves.

    Children follow in the caller's order: of a binary column 0 before 1, of a categorical column its categories, empty
    ones as leaves.
    """
    engine = workspace.engine
    words, rows = engine["key_words"], engine["row_space"]
    sides = 2 if packed.n_binary == packed.n_columns else max(2, int(np.diff(packed.literals).max()))
    room = depth * sides + 2
    # every split separates rows, so a tree has fewer splits than rows
    space = min((sides ** (depth + 1) - 1) // (sides - 1), 1 + sides * rows)
    nodes = np.zeros(space + room * (1 + words), np.int64)
    count = _list_nodes(engine.address, address_of(packed.column), address_of(nodes), space, room, depth)
    return nodes[:count]


@entry
def _list_nodes(engine, columns, nodes, space, room, depth):  # type: ignore[no-untyped-def]
    """How many nodes the tree has; writes the caller's columns of its nodes to the preorder.

    At `nodes` are the preorder (space,), and of the nodes to come, the next one last, the levels left (room,) and the
    row sets (room, key words), the last of which is that of the node at hand. The caller's columns (F,) are at
    `columns`.
    """
    e = engine_at(engine)
    column = vector(columns, e.columns, int64)
    preorder = vector(nodes, space, int64)
    left = vector(nodes + 8 * space, room, int64)
    rows = matrix(nodes + 8 * (space + room), room, e.key_words, uint64)
    flipped = vector(e.flipped, e.columns, uint8)
    here = rows[room - 1]
    copy_into(rows[0], rows_of(e)[e.root])
    split = int64(nodes_of(e)[e.root].split)
    left[0] = depth
    size = int64(1)
    count = int64(0)
    while size > 0:
        size -= 1
        levels = left[size]
        empty = True
        for w in range(e.key_words):
            here[w] = rows[size, w]
            empty = empty and (here[w] == uint64(0) or w >= e.row_words)
        if count > 0:
            split = int64(LEAF)
            if levels > 0 and not empty:
                ask(e, here, levels, int64(INFINITE), int64(0), uint64(0), uint64(0))
                split = e.split
        if split == LEAF:
            preorder[count] = LEAF
            count += 1
            continue
        first, sides, categorical = split_columns(e, split)
        preorder[count] = column[first]
        count += 1
        for position in range(sides):
            # the last one comes first
            side = sides - 1 - position
            without = int64(0) if categorical or (side == 1) != (flipped[first] == 1) else int64(1)
            write_side(e, here, first + side if categorical else first, without, rows[size])
            left[size] = levels - 1
            size += 1
    return count
