"""How one or several threads search the same rows: each calls native code part by part, and they meet in between.

Several threads first find the best tree of depth two together, then share the thresholds of the node of all rows
(`sharing.py`). Where splits have a price, that is done below one budget after the other, as in `deepening.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import final

import numpy as np

from streed.exact import Array
from streed.kernels.buffers import address_of
from streed.kernels.control import LOWER, STOP, UPPER
from streed.kernels.ordered.record import INFEASIBLE
from streed.ordered.layout import (
    ALONE,
    BEST,
    CEILING,
    CHANGES,
    ENTRY_WORDS,
    GROW,
    HEAD,
    LEADER,
    LEADER_COLUMN,
    LEADER_POSITION,
    LISTED,
    LOCK,
    LOW,
    MOST_PRICES,
    NOTHING,
    SHALLOW,
    SHALLOWEST,
    TAKEN_WORDS,
    TOGETHER,
    UNLIMITED,
)
from streed.ordered.units import search_tree
from streed.ordered.worker import Worker

_LISTED = 2**14
"""Entries that the list of solved thresholds has room for; what comes later is not told."""

_POLL = 0.05
"""Seconds after which a thread that waits for others looks whether the search was stopped."""


@final
class Team:
    """The threads of one search, a worker each, and what they found."""

    def __init__(
        self, workers: list[Worker], orders: Array, control: Array, limits: tuple[int, int, int], plan: Array
    ) -> None:
        """`limits`: depth, splits, and what a tree must cost less than. The best tree is written to `plan`."""
        self._workers, self._orders, self._control, self._plan = workers, orders, control, plan
        self._depth, self._splits, self._budget = limits
        self._price = workers[0].word("split_cost")
        self._names = np.arange(workers[0].word("columns"), dtype=np.int64)
        threads = len(workers)
        self._answers = np.zeros((threads, 2), np.int64)
        self._answers[:, 1] = INFEASIBLE  # as of a search that is stopped before it begins
        self._is_alone = threads == 1
        self._lower = 0
        self._goal = 0
        """What trees must cost less than in this round, 0 after the last."""
        self._is_sparse = False
        self._has_begun = self._knows_shallow = False
        """Whether there was a round, and whether all trees of depth two below its goal are known."""
        # thresholds of several shares of splits are told apart by the splits on the left
        shares = 1 if self._splits >= UNLIMITED else max(self._splits, 1)
        self._head = HEAD + TAKEN_WORDS * threads + shares
        self._known = slice(self._head - shares, self._head)
        self._shared = np.zeros(1 if self._is_alone else self._head + ENTRY_WORDS * _LISTED, np.int64)
        if not self._is_alone:
            self._shared[BEST] = INFEASIBLE
        self._meeting = _Meeting(threads, control)
        for thread, each in enumerate(workers):
            each.write(thread=thread, threads=threads, shared=address_of(self._shared))
            each.write(shared_words=len(self._shared), shares=shares)

    def run(self, thread: int) -> None:
        """What a thread does."""
        if self._is_alone:
            self._call(0, ALONE, self._budget, self._plan)
            return
        own = np.empty_like(self._plan)
        if self._has_goals:
            if thread == 0:
                self._workers[0].write(sparse=0, told=0)
                self._call(0, GROW, 0, own)
            if not self._meeting.wait(self._know_grown):
                return
        while self._meeting.wait(self._begin_round) and self._goal > 0:
            is_short = self._is_sparse or self._depth <= 2
            self._call(thread, SHALLOW, self._goal if is_short else INFEASIBLE, own)
            if not self._meeting.wait(self._know_shallow):
                return
            if self._depth > 2:
                self._call(thread, TOGETHER, self._goal, own)

    def bounds(self) -> tuple[int, int]:
        """(lower, upper) of all trees, when all threads have ended; upper is INFEASIBLE if none was found."""
        if self._is_alone:
            lower, upper = self._answers[0].tolist()
            return lower, upper
        self._end_round()
        upper = int(self._shared[BEST])
        return min(self._lower, upper), upper

    @property
    def _has_goals(self) -> bool:
        """Whether bounds are proved from below, round by round, as in `deepening.py`."""
        return self._price > 0 and min(self._depth, self._splits) > 3

    def _call(self, thread: int, part: int, budget: int, own: Array) -> None:
        worker = self._workers[thread]
        depth, splits = self._depth, self._splits
        search_tree(
            *(address_of(worker.record), part, depth, splits, budget, self._lower),
            *(self._orders, self._names, self._plan, own, self._answers[thread]),
        )

    def _know_grown(self) -> None:
        upper = int(self._answers[0, 1])
        self._shared[BEST] = upper
        self._control[UPPER] = upper
        self._is_sparse = upper <= MOST_PRICES * self._price
        self._goal = 4 * self._price

    def _begin_round(self) -> None:
        """Ends the round before, if any, and prepares the next."""
        self._end_round()
        shared = self._shared
        end = min(int(shared[BEST]), self._budget)
        if not self._has_goals:
            self._goal = 0 if self._has_begun else self._budget
        elif self._lower >= end:
            self._goal = 0
        else:
            self._goal = min(self._goal + self._price, end) if self._is_sparse else end
        self._has_begun, self._knows_shallow = True, False
        shared[HEAD : self._head] = NOTHING
        shared[self._known] = 0
        shared[[LOCK, LISTED, CHANGES]] = 0
        shared[[CEILING, LOW, SHALLOWEST]] = INFEASIBLE
        shared[LEADER] = NOTHING
        self._answers[:, 0] = 0
        for each in self._workers:
            each.write(team=1, sparse=int(self._is_sparse), told=int(not self._is_sparse))

    def _know_shallow(self) -> None:
        shared = self._shared
        self._knows_shallow = True
        self._control[UPPER] = min(self._control[UPPER], shared[BEST])
        leader = int(shared[LEADER])
        if leader >= 0 and shared[LEADER_COLUMN] >= 0 and self._splits >= UNLIMITED:
            at = HEAD + TAKEN_WORDS * leader
            shared[at : at + TAKEN_WORDS] = 0, shared[LEADER_COLUMN], shared[LEADER_POSITION]

    def _end_round(self) -> None:
        """Learns what is known by now of all trees below the goal."""
        if not self._knows_shallow:
            return
        found = int(self._shared[LOW]) if self._depth <= 2 else int(self._answers[:, 0].max())
        self._lower = max(self._lower, min(found, self._goal))
        self._control[LOWER] = max(self._control[LOWER], self._lower)


@final
class _Meeting:
    """Where threads wait for one another, unless the search is stopped."""

    def __init__(self, threads: int, control: Array) -> None:
        self._threads, self._control = threads, control
        self._change = threading.Condition()
        self._here = self._times = 0

    def wait(self, action: Callable[[], None]) -> bool:
        """Waits for the others, of whom the last does what is to be done; False if the search was stopped instead."""
        with self._change:
            self._here += 1
            if self._here == self._threads:
                self._here = 0
                action()
                self._times += 1
                self._change.notify_all()
                return not self._control[STOP]
            times = self._times
            while times == self._times and not self._control[STOP]:
                self._change.wait(_POLL)
            return not self._control[STOP]
