"""The sizes of a search's caches: how much memory they may take, and how they share it."""

from __future__ import annotations

import math

from streed.bnb.workspace import Space
from streed.errors import InputError
from streed.kernels.packed import PackedProblem
from streed.kernels.records import CHILD, EDGE, NODE
from streed.problem.process_memory import free, resident

_SHARE_OF_FREE = 0.7
"""Of the memory that is free, without a limit by the caller."""

_LEAST = 2**22
"""Bytes that the caches need to work at all."""

_SMALL = 2**26
"""Bytes that are not worth asking the system about."""

_BRANCH = 24
_INDEX = 16
_SIMILAR = 16


def space_for(
    problem: PackedProblem,
    memory_limit: int | None,
    scratch: int,
    max_depth: int | None,
    budgeted: bool,
    relaxed: bool,
) -> Space:
    """The caches' sizes, beside `scratch` bytes of all threads; raises InputError as `budget` does."""
    if memory_limit is None and scratch < _SMALL:
        space = (
            share(problem, math.inf, max_depth, budgeted, relaxed) if max_depth is not None and not budgeted else None
        )
        if space is not None and size_of(problem, space) < _SMALL:
            return space
    return share(problem, budget(memory_limit, scratch), max_depth, budgeted, relaxed)


def size_of(problem: PackedProblem, space: Space) -> float:
    """The bytes that the caches take when they are full."""
    node: int = problem.key_bytes + NODE.itemsize + _INDEX + _SIMILAR
    return (
        space.nodes * node
        + space.edges * EDGE.itemsize
        + space.children * CHILD.itemsize
        + space.branches * 4 * _BRANCH
    )


def budget(memory_limit: int | None, scratch: int) -> float:
    """Bytes for the caches; raises InputError if the limit is below what the process holds already."""
    there_is = free()
    if scratch + _LEAST > there_is:
        raise InputError(
            "X",
            f"the search needs {scratch + _LEAST:,} bytes for so many columns, and {there_is:,} are free",
            "give fewer columns",
        )
    if memory_limit is None:
        return max(_LEAST, there_is * _SHARE_OF_FREE - scratch)
    held = resident()
    left = min(memory_limit - held, there_is) - scratch
    if left < _LEAST:
        raise InputError(
            "memory_limit",
            f"{memory_limit:,} bytes; this process holds {held:,} already and the problem needs "
            f"{scratch + _LEAST:,} more",
            "raise the limit, or solve a problem with fewer columns",
        )
    return left * 0.95


def share(problem: PackedProblem, bytes_: float, max_depth: int | None, budgeted: bool, relaxed: bool) -> Space:
    """The caches' sizes: what the problem can fill at most, within the bytes.

    `budgeted`: the number of branching nodes is limited, so a set of rows may stand for many subproblems.
    """
    literals = 2 * problem.n_columns
    node = problem.key_bytes + NODE.itemsize + _INDEX + _SIMILAR
    path = min(len(problem.row_bits), max_depth if max_depth is not None else 2**20) + 4
    splits = problem.n_columns
    if max_depth is not None and max_depth <= 3 and not budgeted:
        return Space(branches=16, nodes=16, edges=16, children=16, path=path)
    shares = (0.25, 0.55, 0.06, 0.12) if relaxed else (0.02, 0.35, 0.2, 0.41)
    if max_depth is None or budgeted:
        most_nodes = most_branches = math.inf
    else:
        levels = max_depth - 3
        most_nodes = float(sum(min(float(literals) ** level, 1e18) for level in range(levels + 1)))
        most_branches = float(sum(math.comb(problem.n_columns, k) * 2.0**k for k in range(1, max_depth - 1)))
    nodes = int(min(bytes_ * shares[1] / node, most_nodes + 64, 2**30))
    deep = nodes if most_nodes == math.inf else int(min(nodes, most_nodes / literals + 64 if literals else 64))
    per_node = float(splits + 8) * (64 if budgeted else 1)
    edges = int(min(bytes_ * shares[2] / EDGE.itemsize, deep * per_node, 2**30))
    children = int(min(bytes_ * shares[3] / CHILD.itemsize, deep * 2 * per_node, 2**30))
    branches = int(min(bytes_ * shares[0] / _BRANCH / 4, most_branches + 64))
    return Space(
        branches=max(16, branches),
        nodes=max(64, nodes),
        edges=max(2 * splits + 64, edges),
        children=max(4 * splits + 64, children),
        path=path,
    )
