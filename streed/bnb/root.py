"""The search of a whole problem, by a thread that is alone or one of several.

A wave is one of limited discrepancy search over nodes and edges (session.py):

    follow(node, departures), up to a target as in improve.py:
        for its unsettled edges, by rising upper bound, whose price is at most departures:
            follow the sides of the edge with departures - price; draw the conclusions as `improve` does

The upper bound of an edge is the heuristic, as pair lookahead or the depth-three work unit has it. The best edge is
free, the next one has the price 1, and each doubling of the rank costs 1 more: so a tree departs far at few nodes, or a
little at many. Nodes keep their bounds, so what was settled is not done again. Where e.exact_levels is not zero,
subtrees of at most so many levels are improved up to their target: with no departures, those of the best tree.

Several threads search one store of nodes, which a team forms, makes room in, and dissolves. The first thread begins
alone, with waves. In the turns of the exact search, all search the root, each with a workspace of
its own beside the store (shared_store.py). The first to find it solved ends the others. Where the store is full, or the
turn is over, all stop, one of them makes room or sends waves, and all go on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import final

import numpy as np
from numba import int16, int64

from streed.bnb.bounds import choose_edge
from streed.bnb.expand import is_shallow, open_node
from streed.bnb.extraction import settle_ties
from streed.bnb.improve import aim, enter, improve, improve_edge, leave, solve_shallow, use_edge
from streed.bnb.layout import share_store
from streed.bnb.node_store import enter_node, look_up, make_room, write_node
from streed.bnb.nodes import children_of, edges_of, free_edges, nodes_of, sort_edges
from streed.bnb.shared_store import CHILDREN, EDGES, FIRST_SLOTS, NODE_CHUNK, NODES, SLOTS, WORDS, go_in, go_out
from streed.bnb.workspace import Workspace
from streed.exact import Array
from streed.kernels.compiled import entry
from streed.kernels.record_proxy import address_of
from streed.kernels.records import ASKED, HOLE, INFINITE, NONE
from streed.kernels.simd import lower_atomic
from streed.kernels.stopping import ROWS_OF_CONTROL, SHARED_UPPER, STOP, stopped
from streed.kernels.views import engine_at, native, vector


@entry
def search_root(engine):  # type: ignore[no-untyped-def]
    """Searches the problem of the node e.root, which the rows behind the last node become where it is NONE.

    It is none that the terminal solver answers at once (depth_three.py).

    Returns when it is solved or no tree costs less than e.root_target, when the search was stopped, or when there is no
    more room: e.crowded then is 1. Where e.root_edge names an edge, only this one is searched; processes that share no
    memory open the root alike, so that a number is the same split in all. If e.settled asks for it, the ties of a
    solved problem are settled instead (extraction.py); and if e.departures does, a wave is followed. Both are
    here as entries of their own would compile the search once more.
    """
    e = engine_at(engine)
    if e.settled == ASKED:
        e.settled = int64(settle_ties(e))
        return
    if e.root == NONE:
        _place_root(e)
    e.crowded = 0
    vector(e.path, e.path_space, int64)[0] = e.root
    if e.departures != NONE:
        e.left_out = int64(_follow(e, int64(0), e.root_target, e.departures, e.root_high, e.root_low))
    elif e.root_edge != NONE:
        _search_edge(e, e.root_edge)
    else:
        go_in(e, e.root)
        improve(e, int64(0), e.root_target, e.root_high, e.root_low)
        go_out(e, e.root)


@native
def _search_edge(e, edge):  # type: ignore[no-untyped-def]
    """Opens the root if it is new, and improves an edge of it, if there is one of this number."""
    nodes = nodes_of(e)
    if nodes[e.root].n_edges == NONE:
        open_node(e, int64(0), int64(INFINITE), e.root_high, e.root_low)
        if e.crowded == 1:
            return
        sort_edges(e, nodes[e.root])
    if edge >= nodes[e.root].n_edges:
        return
    improve_edge(e, edge, min(int64(e.root_target), int64(nodes[e.root].upper)), e.root_high, e.root_low)


@native
def _place_root(e):  # type: ignore[no-untyped-def]
    """Makes the node of the rows that stand behind the last one, or finds it, and lets the search begin there."""
    root, slot = look_up(e, int64(e.root_depth), int64(e.root_budget))
    if root == NONE:
        write_node(e, int64(e.root_depth), int64(e.root_budget))
        nodes_of(e)[e.node_count].upper = INFINITE
        root = enter_node(e, slot)
    e.root = root


@native
def _follow(e, level, target, departures, high, low):  # type: ignore[no-untyped-def]
    """Whether a wave left edges out of the node path[level], reached by the branch (high, low), or was ended there."""
    v = vector(e.path, e.path_space, int64)[level]
    node = nodes_of(e)[v]
    control = vector(e.control, ROWS_OF_CONTROL, int64)
    e.visits += 1
    if level > 0 and is_shallow(node):
        solve_shallow(e, level, target, high, low)
        return False
    if node.lower >= min(target, node.upper):
        return False
    if level > 0 and node.depth <= e.exact_levels:
        improve(e, level, target, high, low)
        return node.lower < min(target, node.upper)
    if node.n_edges != NONE and node.followed > departures and e.exact_levels == 0:
        return True
    if node.n_edges == NONE or node.rest < min(target, node.upper):
        node.followed = 0
        open_node(e, level, target, high, low)
        sort_edges(e, node)
    if stopped(e) or e.crowded == 1:
        return True
    choose_edge(e, v)
    sort_edges(e, node)
    rank, price = int64(0), int64(0)
    left_out = False
    for k in range(int64(node.n_edges)):
        goal = min(target, int64(node.upper))
        if edges_of(e)[node.edges + k].lower >= goal:
            continue
        if 2 * rank > 1 << price:
            price += 1
        if price > departures or stopped(e) or e.crowded == 1:
            left_out = True
            break
        rank += 1
        raised = int64(0)
        for side in range(int64(edges_of(e)[node.edges + k].n_children)):
            edge = edges_of(e)[node.edges + k]
            child = children_of(e)[edge.children + side]
            if edge.lower < goal and child.lower < child.upper and e.crowded == 0 and enter(e, level, k, side):
                aimed, side_high, side_low = aim(e, level, k, side, goal, high, low)
                left_out |= _follow(e, level + 1, aimed, departures - price, side_high, side_low)
                raised |= leave(e, level, k, side)[1]
        use_edge(e, level, k, raised)
        lower_atomic(control, SHARED_UPPER, int64(nodes_of(e)[e.root].upper))
    choose_edge(e, v)
    if left_out:
        node.followed = int16(max(int64(node.followed), departures + 1))
    if node.lower >= node.upper:
        free_edges(e, node)
    return left_out and node.lower < min(target, node.upper)


_STORE = (
    *("nodes", "node_rows", "edges", "children", "slots", "inside", "root", "root_high", "root_low", "root_target"),
    *("node_space", "edge_space", "child_space", "slot_space"),
)
"""The fields of a record that say where the store is, and what is searched in it."""

_FILLED = dict.fromkeys(("edge_count", "edge_limit", "child_count", "child_limit"), 0)
"""A thread that joins has no room of its own for edges yet."""

_ENDED = 2
"""In the word that stops a search: a thread of its own ended it."""


@final
class Team:
    """The threads of one search, a workspace each; the nodes are in that of the first."""

    def __init__(
        self, workspaces: Sequence[Workspace], waves: Iterator[int], search_alone: Callable[[Workspace], None]
    ) -> None:
        """`waves` and `search_alone` are those of session.py, of the first workspace."""
        self._workspaces, self._first = workspaces, workspaces[0]
        self._waves, self._search_alone = waves, search_alone
        self._control = self._first.control
        self._words: Array = np.zeros(WORDS, np.int64)
        slots, words = self._first.engine.read(("shared_branch_slots", "branch_words"))
        self._branches: Array = np.zeros((slots, words), np.int64)
        self._is_formed = threading.Event()
        self._meeting = threading.Barrier(len(workspaces), self._decide)
        self._goes_on = self._is_together = False
        self._seen: set[int] = set()

    def run(self, number: int) -> None:
        """What the thread of this number does, until the search is over."""
        try:
            if number == 0:
                self._begin()
                self._is_formed.set()
            self._is_formed.wait()
            address = self._workspaces[number].engine.address
            while self._goes_on:
                search_root(address)
                if not self._control[STOP]:
                    self._control[STOP] = _ENDED
                self._meeting.wait()
        except threading.BrokenBarrierError:
            pass
        except BaseException:
            self._meeting.abort()
            raise
        finally:
            self._is_formed.set()

    def dissolve(self) -> None:
        """Gives the store back to the first workspace, once all threads have ended."""
        if not self._is_together:
            return
        engine = self._first.engine
        if engine["shared"]:
            self._gather()
        engine["evictions"] = sum(each.engine["evictions"] for each in self._workspaces)
        counts = dict.fromkeys(("shared", "node_count", "edge_count", "child_count", "evictions"), 0)
        for each in self._workspaces[1:]:
            each.engine.write(counts)

    def _begin(self) -> None:
        self._goes_on = self._is_together = self._send_waves()
        if not self._goes_on:
            # so little room is for one thread
            self._first.engine["pause"] = INFINITE
            self._search_alone(self._first)

    def _send_waves(self) -> bool:
        """Sends the next waves, alone in the store; whether there is room to go on together."""
        first = self._first
        visits = next(self._waves, INFINITE)
        first.engine["pause"] = min(first.engine["visits"] + visits, INFINITE)
        first.array("inside", np.int64, first.engine["node_count"])[:] = 0
        return self._hand_out()

    def _hand_out(self) -> bool:
        """Lets all threads into the store as it is in the first one's record; whether there is room for them."""
        engine, words = self._first.engine, self._words
        count, edges, children, slots, offset = engine.read(
            ("node_count", "edge_count", "child_count", "slot_count", "slot_offset")
        )
        if count + (len(self._workspaces) + 1) * NODE_CHUNK > engine["node_space"]:
            return False
        words[:] = 0
        words[[EDGES, CHILDREN, SLOTS, FIRST_SLOTS]] = edges, children, slots, slots - offset
        words[NODES] = count + len(self._workspaces) * NODE_CHUNK
        share_store(engine.address)
        shared = {"shared": address_of(words), "shared_branches": self._branches.ctypes.data, **_FILLED}
        shared |= zip(_STORE, engine.read(_STORE), strict=True)
        for begin, each in zip(range(count, words[NODES], NODE_CHUNK), self._workspaces, strict=True):
            each.engine.write({**shared, "node_count": begin, "node_limit": begin + NODE_CHUNK})
            share_store(each.engine.address)
        return True

    def _gather(self) -> None:
        """Makes the record of the first workspace that of one thread alone in the store."""
        engine = self._first.engine
        nodes = self._first.nodes
        for each in self._workspaces:
            begin, end = each.engine.read(("node_count", "node_limit"))
            unused = nodes[begin:end]
            unused["depth"], unused["n_edges"], unused["plan"] = HOLE, 0, NONE
        names = ("node_space", "edge_space", "child_space")
        node_space, edge_space, child_space = engine.read(names)
        words = self._words
        slots = int(words[SLOTS])
        engine.write(
            {
                "shared": 0,
                "node_count": min(int(words[NODES]), node_space),
                "edge_count": min(int(words[EDGES]), edge_space),
                "child_count": min(int(words[CHILDREN]), child_space),
                "node_limit": node_space,
                "edge_limit": edge_space,
                "child_limit": child_space,
                "slot_count": slots,
                "slot_offset": slots - int(words[FIRST_SLOTS]),
            }
        )

    def _decide(self) -> None:
        """Whether the search goes on, now that all threads have met: after waves or after room was made."""
        engine, control = self._first.engine, self._control
        lower, upper = self._first.root_bounds
        is_over = lower >= min(upper, engine["root_target"]) or control[STOP] != _ENDED
        is_turn = engine["visits"] > engine["pause"]
        # a workspace that pauses says that it is crowded
        crowded = [each for each in self._workspaces[1 if is_turn else 0 :] if each.engine["crowded"]]
        self._goes_on = not is_over and (is_turn or bool(crowded))
        if self._goes_on:
            self._gather()
            control[STOP] = engine["crowded"] = 0
            # where there is no room after waves, the first workspace is the one that is full
            has_room = is_turn and not crowded and self._send_waves()
            self._goes_on = has_room or self._make_room(crowded[0] if crowded else self._first)

    def _make_room(self, crowded: Workspace) -> bool:
        """As `make_room`, for all threads, of which this one's store was full."""
        first, level = self._first, crowded.engine["level"]
        first.array("path", np.int64, level + 1)[:] = crowded.array("path", np.int64, level + 1)
        first.engine["level"] = level
        has_room = make_room(first, self._seen)
        for each in self._workspaces:
            each.engine["frontier"] = first.engine["frontier"]
        first.array("inside", np.int64, first.engine["node_count"])[:] = 0
        return has_room and self._hand_out()
