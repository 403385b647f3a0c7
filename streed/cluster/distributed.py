"""The driver of many machines: the native search's root splits as Dask tasks, with a shared best value and bounds.

The coordinator, this process, keeps one piece more in flight than there are threads of workers. A piece comes back when
it is settled or after a slice of time, with its bounds and a better tree if there is one, and the next piece takes what
is known by then. A worker that dies loses its piece, which is handed out again, and its store; what was proved stands.
"""

from __future__ import annotations

import contextlib
import importlib
import time
from collections import Counter
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any, ClassVar, cast, final

import attrs

from streed.bnb.native_search import certify, search_native
from streed.bnb.procedure import DEPTH_FIRST
from streed.bnb.session import depth_and_budget, is_short
from streed.bnb.terminal import is_terminal
from streed.cluster.frontier import Frontier, Overflow
from streed.cluster.pieces import Piece, Shared, improve
from streed.encoding.encoding import TooImprecise
from streed.errors import InputError, TaskError
from streed.exact import Range
from streed.kernels.compilation import clock
from streed.problem import Driver, Outcome, Problem, SearchLimits, process_memory
from streed.task import TOTAL, Task
from streed.task.objective import record_of

_POLL = 0.1
"""Seconds between looks at the workers."""

_SAVES = 1.0
"""Seconds between two writes of the frontier."""

_MOST_LOSSES = 20
"""So often the same piece may be lost with its worker."""


def _connected(driver: Distributed, attribute: Any, value: Any) -> None:
    if not all(hasattr(value, name) for name in ("submit", "scatter", "nthreads")):
        raise InputError("client", f"{type(value).__name__} is no Dask client", "give dask.distributed.Client(...)")


@final
@attrs.frozen(eq=False)
class Distributed(Driver):
    """Branch and bound on the workers of a Dask client; the proof is that of one process.

    `slice`: seconds after which a piece comes back for newer bounds. `file`: what is known is written there every
    second, and taken up again by a later solve of the same problem, until it is solved. `memory_limit` of a solve is
    that of each worker. `threads` is not read: workers have as many as they have.
    """

    client: Any = attrs.field(validator=_connected)
    slice: float = attrs.field(default=5.0, validator=Range(above=0, meaning="seconds"))
    file: Any = attrs.field(default=None, converter=attrs.converters.optional(Path))
    name: ClassVar[str] = "distributed"

    def check(self, task: Task) -> None:
        if task.order != TOTAL and not record_of(task).of_sums:
            raise TaskError("many machines search for one optimum; a front is searched by one: leave search= out")

    def search(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        deadline = None if search_limits.time_limit is None else clock() + search_limits.time_limit
        shared = Shared(problem, seconds=self.slice, memory_limit=search_limits.memory_limit)
        while True:
            packed = shared.encoded().packed
            depth, budget = depth_and_budget(packed, problem.max_depth, problem.max_nodes)
            if is_short(packed, depth) or is_terminal(depth, budget):
                return cast(Outcome, search_native(problem, search_limits, DEPTH_FIRST))
            try:
                return self._search(shared, search_limits, deadline)
            except Overflow:
                step = None
            except TooImprecise as coarse:
                step = coarse.finer.scale  # type: ignore[attr-defined]
            shared = attrs.evolve(shared, precision=(*shared.precision, step))

    def _search(self, shared: Shared, search_limits: SearchLimits, deadline: float | None) -> Outcome:
        begin = time.perf_counter()
        frontier = Frontier(shared, search_limits.beat)
        if self.file is not None and self.file.exists():
            frontier.load(self.file)
        opened = time.perf_counter()
        fleet = _Fleet(self.client, frontier, self.file)
        try:
            reason = fleet.run(search_limits, deadline)
        except KeyboardInterrupt:
            reason = "interrupt"
        finally:
            fleet.close()
        stopped = None if frontier.is_done else reason or "interrupt"
        if self.file is not None and stopped is None:
            self.file.unlink(missing_ok=True)
        encoding, packed = frontier.encoding, frontier.encoding.packed
        stats: dict[str, Any] = {
            "search": self.name,
            "threads": fleet.most_threads,
            "seconds_setup": opened - begin,
            "seconds_search": time.perf_counter() - opened,
            "lost": fleet.losses.total(),
            "unsettled": frontier.unsettled,
            **frontier.counts,
            "columns": packed.n_columns,
            "kernel": packed.kind,
            "exact": encoding.exact,
            "route": encoding.route,
            "evictions": int(stopped is not None),
            "peak_bytes": process_memory.peak(),
        }
        preorder = frontier.preorder
        return certify(shared.problem, encoding, preorder, frontier.bounds, frontier.lower_bound, stopped, stats)


class _Fleet:
    """The pieces in flight."""

    def __init__(self, client: Any, frontier: Frontier, file: Path | None) -> None:
        self._client, self._frontier, self._file = client, frontier, file
        self._flying: dict[Any, Piece] = {}
        self.losses: Counter[int] = Counter()
        """How often each piece was lost with its worker."""
        self._problem: Any = None
        self._saved = 0.0
        self.most_threads = 0

    def run(self, search_limits: SearchLimits, deadline: float | None) -> str | None:
        """None once the frontier is done; else what stopped it: "time", or what the limits say."""
        dask: Any = importlib.import_module("distributed")
        frontier = self._frontier
        while not frontier.is_done:
            threads = self._fill()
            if self._flying:
                with contextlib.suppress(TimeoutError, CancelledError):
                    dask.wait(list(self._flying), timeout=_POLL, return_when="FIRST_COMPLETED")
                for future in [each for each in self._flying if each.done()]:
                    self._take(future, dask.KilledWorker)
            elif threads:
                return "memory"  # no piece gets on
            else:
                time.sleep(_POLL)
            if self._file is not None and time.perf_counter() - self._saved >= _SAVES:
                frontier.save(self._file)
                self._saved = time.perf_counter()
            best = frontier.value
            if search_limits.report is not None:
                search_limits.report(best, frontier.lower_bound, frontier.counts["nodes"], "searching")
            if not frontier.is_done and search_limits.is_enough(best, frontier.lower_bound):
                return "gap"
            if not frontier.is_done and deadline is not None and clock() >= deadline:
                return "time"
        return None

    def _fill(self) -> int:
        """The number of threads, when so many pieces, and one more, were handed out."""
        threads = int(sum(self._client.nthreads().values()))
        self.most_threads = max(self.most_threads, threads)
        while threads and len(self._flying) <= threads and (piece := self._frontier.next()) is not None:
            if self._problem is None:
                self._problem = self._client.scatter(self._frontier.problem, broadcast=True, hash=False)
            self._flying[self._client.submit(improve, self._problem, piece, pure=False)] = piece
        return threads

    def _take(self, future: Any, killed: type[Exception]) -> None:
        """Settles a piece that came back, or hands it out again if its worker was lost."""
        piece = self._flying.pop(future)
        try:
            if future.status != "cancelled":
                self._frontier.settle(future.result())
                return
        except (killed, CancelledError, OSError):  # a TimeoutError, too: the worker died with the answer
            pass
        self.losses[piece.edge] += 1
        if self.losses[piece.edge] > _MOST_LOSSES:
            raise InputError("client", f"a piece was lost {_MOST_LOSSES} times", "give workers more memory, or a limit")
        self._problem = None  # it may have been lost with the worker
        self._frontier.give_back(piece)

    def close(self) -> None:
        """Calls back what is still in flight, and writes what is known."""
        if self._flying:
            self._client.cancel(list(self._flying), force=True)
        if self._file is not None and not self._frontier.is_done:
            self._frontier.save(self._file)
