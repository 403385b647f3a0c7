"""Several threads over one problem: they search one store of nodes, which this forms, makes room in, and dissolves.

The first thread begins alone, with the waves of its procedure. In the turns of the exact search, all search the root,
each with a workspace of its own beside the store (shared_store.py). The first to find it solved ends the others. Where
the store is full, or the turn is over, all stop, one of them makes room or sends waves, and all go on.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, final

import numpy as np

from streed.bnb.layout import share_store
from streed.bnb.node_store import make_room
from streed.bnb.root import search_root
from streed.bnb.shared_store import CHILDREN, EDGES, FIRST_SLOTS, NODE_CHUNK, NODES, SLOTS, WORDS
from streed.bnb.workspace import Workspace
from streed.exact import Array
from streed.kernels.record_proxy import address_of
from streed.kernels.records import HOLE, INFINITE, NONE
from streed.kernels.stopping import STOP

if TYPE_CHECKING:
    from streed.bnb.native_search import Procedure

_STORE = (
    *("nodes", "node_rows", "edges", "children", "slots", "inside", "root", "root_high", "root_low", "root_target"),
    *("node_space", "edge_space", "child_space", "slot_space", "similar_masks", "similar_counts", "similar_entries"),
    *("similar_buckets", "similar_ready", "similar_step"),
)
"""The fields of a record that say where the store is, and what is searched in it."""

_FILLED = dict.fromkeys(("edge_count", "edge_limit", "child_count", "child_limit", "archive_count"), 0)
"""A thread that joins has no room of its own for edges yet."""

_ENDED = 2
"""In the word that stops a search: a thread of its own ended it."""


@final
class Team:
    """The threads of one search, a workspace each; the nodes are in that of the first."""

    def __init__(self, workspaces: Sequence[Workspace], procedure: Procedure, depth: int, budget: int) -> None:
        self._workspaces, self._first = workspaces, workspaces[0]
        self._procedure, self._limits = procedure, (depth, budget)
        self._waves = procedure.waves(self._first, depth, budget, alone=True)
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
                search_root(address, *self._limits, True)
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
            self._procedure.finish(self._first, *self._limits)

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
