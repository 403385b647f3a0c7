"""One search on many machines: the root's splits as Dask tasks, with a shared best value and bounds.

A piece of work is one split of the root, improved by a process that may be anywhere, which keeps its store of
subproblems for the next piece. It comes back when it is settled or after a slice of time, with its bounds and a better
tree if there is one, and the next piece takes the best value and the bounds that are known by then. A worker that dies
loses its piece, which is handed out again, and its store; what was proved stands.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import operator
import os
import pickle
import threading
import time
from collections import Counter
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, cast, final

import attrs
import numpy as np

from streed.bnb.native_search import DEPTH_FIRST, certify, search_native
from streed.bnb.session import extract_best, is_short, link_units, make_workspaces, search_fully
from streed.bnb.workspace import is_terminal, limits_of
from streed.encoding.row_costs import Encoding, TooImprecise, encoding_of
from streed.errors import InputError, TaskError
from streed.exact import Array, Range
from streed.kernels.compilation import clock
from streed.kernels.records import INFINITE, NONE
from streed.kernels.stopping import ROWS_OF_CONTROL, SHARED_UPPER, STOP, UPPER, run_stoppable
from streed.problem import Driver, Outcome, Problem, SearchLimits, process_memory
from streed.task import TOTAL, Task
from streed.task.objective import record_of


@final
@attrs.frozen(eq=False)
class Shared:
    """A problem as all processes have it."""

    problem: Problem
    seconds: float
    """A piece comes back after this long, whatever is done of it."""
    precision: tuple[float | None, ...] = ()
    """How its codes came to be: None for a less precise encoding than before, a number for another grid."""
    memory_limit: int | None = None
    name: str = ""
    """A hash of all that the codes depend on."""

    def encoded(self) -> Encoding:
        """The problem as the search reads it, everywhere the same; raises TaskError where no kernels can be made."""
        encoding = encoding_of(self.problem)
        for step in self.precision:
            if encoding is not None:
                encoding = encoding.less_precise() if step is None else encoding.on_grid(step)
        if encoding is None:
            raise TaskError("no native search takes the task, so it cannot be shared out; leave search= out")
        return encoding


class Known(NamedTuple):
    """What a process knows, in codes: no tree with a split at the root costs less than its `lowers`."""

    lowers: Array
    upper: int
    """The least of a tree that is known; INFINITE without one."""
    preorder: Array | None
    """That tree, if it is below the goal."""
    nodes: int = 0
    processor_seconds: float = 0.0
    overflow: bool = False
    """Whether a cost did not fit its code: nothing else holds then."""
    full: bool = False
    """Whether memory ended a piece, not its time."""


@final
class Root:
    """A problem in this process: its workspace, with the root opened."""

    def __init__(self, shared: Shared) -> None:
        self.encoding = shared.encoded()
        packed, memory = self.encoding.packed, SearchLimits(memory_limit=shared.memory_limit)
        self.control = np.zeros(ROWS_OF_CONTROL, np.int64)
        self.control[[UPPER, SHARED_UPPER]] = INFINITE
        limits = limits_of(packed, shared.problem)
        (self.workspace,) = make_workspaces(packed, memory, False, limits, self.control, packed.lane_type())
        link_units(self.workspace)
        self.search(INFINITE, INFINITE)

    def known(self, goal: int) -> Known:
        """What is known here, with a tree if it is below the goal."""
        workspace, overflow = self.workspace, bool(self.workspace.engine["overflow"])
        lower, upper = workspace.root_bounds
        found = upper < goal and not overflow
        preorder = extract_best(workspace) if found else None
        lowers = np.maximum(workspace.root_edges["lower"], min(lower, upper))
        return Known(lowers, upper, preorder, workspace.engine["visits"], overflow=overflow)

    def search(self, edge: int, goal: int) -> None:
        self.workspace.engine.write({"root_edge": edge, "root_target": goal})
        search_fully(self.workspace)
        self.workspace.engine.write({"root_edge": NONE, "root_target": INFINITE})


_kept: list[tuple[str, Root]] = []
"""Stores that nobody works with, of the newest problem: one for every thread that worked on it."""
_lock = threading.Lock()


def improve(shared: Shared, edge: int, goal: int, lowers: Array) -> Known:
    """Works on a split of the root until it is done or its time is over, for a tree below the goal."""
    begin = time.process_time()
    with _lock:
        root = _kept.pop()[1] if _kept and _kept[-1][0] == shared.name else None
    if root is None:
        forget()
        root = Root(shared)
    control, workspace = root.control, root.workspace
    nodes, edges = workspace.engine["visits"], workspace.root_edges
    control[STOP], edges["lower"] = 0, np.maximum(edges["lower"], lowers)
    run_stoppable([lambda: root.search(edge, goal)], control, clock() + shared.seconds, lambda: None)
    found = root.known(goal)
    full = bool(found.lowers[edge] < min(goal, found.upper) and not control[STOP])
    if workspace.engine["evictions"]:
        workspace.close()  # extracting a tree of which parts were forgotten moves the root
    else:
        with _lock:
            _kept.append((shared.name, root))
    return found._replace(nodes=found.nodes - nodes, full=full, processor_seconds=time.process_time() - begin)


def forget() -> None:
    """Gives back what this process keeps of the problems that it worked on."""
    with _lock:
        while _kept:
            _kept.pop()[1].workspace.close()


_POLL, _SAVES, _MOST_LOSSES = 0.1, 1.0, 20
"""Seconds between looks at the workers, and between writes of what is known; how often a piece may lose its worker."""


class Overflow(Exception):
    """A cost did not fit its code, so the problem must be encoded for a wider range."""


def _connected(driver: Distributed, attribute: Any, value: Any) -> None:
    if not all(hasattr(value, name) for name in ("submit", "scatter", "nthreads")):
        raise InputError("client", f"{type(value).__name__} is no Dask client", "give dask.distributed.Client(...)")


@final
@attrs.frozen(eq=False)
class Distributed(Driver):
    """Branch and bound on the workers of a Dask client; the proof is that of one process.

    `slice`: seconds after which a piece comes back for newer bounds. `file`: what is known is written there every
    second, and taken up again by a later solve of the same problem, until it is solved. `memory_limit` of a solve is
    that of each worker, which have as many threads as they have.
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
            limits = limits_of(packed, problem)
            if is_short(packed, limits[0]) or is_terminal(*limits):
                return cast(Outcome, search_native(problem, search_limits, DEPTH_FIRST))
            try:
                return Coordinator(self, shared, search_limits, deadline).outcome()
            except Overflow:
                step = None
            except TooImprecise as coarse:
                step = coarse.finer.scale  # type: ignore[attr-defined]
            shared = attrs.evolve(shared, precision=(*shared.precision, step))


@final
class Coordinator:
    """The splits of the root with their bounds, in codes: what is left to search, handed out, saved and resumed."""

    def __init__(self, driver: Distributed, shared: Shared, limits: SearchLimits, deadline: float | None) -> None:
        self._begin, self._saved = time.perf_counter(), 0.0
        self._client, self._file, self._limits, self._deadline = driver.client, driver.file, limits, deadline
        root = Root(shared)
        self.encoding = root.encoding
        self._target = INFINITE if limits.beat is None else min(self.encoding.target(limits.beat), INFINITE)
        with contextlib.closing(root.workspace):
            opened = root.known(self._target)
            name = self._fingerprint(root.workspace.limits, shared, root.workspace.root_edges["split"].tolist())
        if opened.overflow:
            raise Overflow
        self.lowers, self.upper, self.preorder = opened.lowers, min(opened.upper, INFINITE), opened.preorder
        self.counts: Any = Counter(nodes=opened.nodes, pieces=0, seconds_workers=0.0)  # type: ignore[call-overload]
        """Nodes that were visited, pieces that came back, and processor seconds that they took."""
        self._tries, self._losses = Counter[int](), Counter[int]()
        """How often each split was handed out, and lost with its worker."""
        self._flying: dict[Any, int] = {}
        self._stuck: set[int] = set()
        """Splits on which no piece gets on, as memory is too small."""
        self._shared, self._scattered, self._threads = attrs.evolve(shared, name=name), None, 0
        if self._file is not None and self._file.exists():
            self._load(self._file)

    @property
    def goal(self) -> int:
        """The code that a tree has to be below."""
        return min(self.upper, self._target)

    @property
    def lower(self) -> int:
        """No tree below the goal costs less."""
        return int(self.lowers.min(initial=self.goal))

    def _bound(self) -> Any:
        """No tree within the limits has a better value than this, in the bound task's units; None for not known."""
        return None if self.lower >= INFINITE else self.encoding.bound(self.lower)

    def outcome(self) -> Outcome:
        """What was found once all is done, or something stopped it."""
        opened = time.perf_counter()
        try:
            reason = self._run()
        except KeyboardInterrupt:
            reason = "interrupt"
        finally:
            if self._flying:
                self._client.cancel(list(self._flying), force=True)
            self._save(0)
        stopped = None if self.lower >= self.goal else reason or "interrupt"
        if self._file is not None and stopped is None:
            self._file.unlink(missing_ok=True)
        encoding = self.encoding
        stats: dict[str, Any] = {"search": Distributed.name, "threads": self._threads, "route": encoding.route}
        stats |= {"seconds_setup": opened - self._begin, "seconds_search": time.perf_counter() - opened}
        stats |= {"columns": encoding.packed.n_columns, "kernel": encoding.packed.kind, "exact": encoding.exact}
        stats |= {**self.counts, "lost": self._losses.total(), "unsettled": int((self.lowers < self.goal).sum())}
        stats |= {"evictions": int(stopped is not None), "peak_bytes": process_memory.peak()}
        codes = self.lower, self.upper
        return certify(self._shared.problem, encoding, self.preorder, codes, self._bound(), stopped, stats)

    def _run(self) -> str | None:
        """None once all is done; else what stopped it: "time", or what the limits say."""
        dask: Any = importlib.import_module("distributed")
        while self.lower < self.goal:
            self._hand_out()
            if self._flying:
                with contextlib.suppress(TimeoutError, CancelledError):
                    dask.wait(list(self._flying), timeout=_POLL, return_when="FIRST_COMPLETED")
                for future in [each for each in self._flying if each.done()]:
                    self._take(future, dask.KilledWorker)
            elif self._client.nthreads():
                return "memory"  # no piece gets on
            else:
                time.sleep(_POLL)
            self._save(_SAVES)
            best, bound = None if self.upper >= INFINITE else self.encoding.value(self.upper), self._bound()
            if self._limits.tell(best, bound, self.counts["nodes"]):
                return "gap"
            if self._deadline is not None and clock() >= self._deadline:
                return "time"
        return None

    def _hand_out(self) -> None:
        """Hands out one piece more than there are threads: splits of least bound among those least often tried."""
        threads = int(sum(self._client.nthreads().values()))
        self._threads = max(self._threads, threads)
        left = set(np.flatnonzero(self.lowers < self.goal).tolist()) - self._stuck
        while threads and len(self._flying) <= threads and (free := left.difference(self._flying.values())):
            if self._scattered is None:
                self._scattered = self._client.scatter(self._shared, broadcast=True, hash=False)
            edge: int = min(free, key=lambda k: (self._tries[k], self.lowers[k], k))
            self._tries[edge] += 1
            piece = edge, self.goal, self.lowers
            self._flying[self._client.submit(improve, self._scattered, *piece, pure=False)] = edge

    def _take(self, future: Any, killed: type[Exception]) -> None:
        """Takes bounds and a tree of a piece that came back; one that was lost with its worker is handed out again."""
        edge, found = self._flying.pop(future), None
        with contextlib.suppress(killed, CancelledError, OSError):  # a TimeoutError, too: it died with the answer
            found = None if future.status == "cancelled" else future.result()
        if found is None:
            self._losses[edge] += 1
            if self._losses[edge] > _MOST_LOSSES:
                raise InputError("client", f"a piece was lost {_MOST_LOSSES} times", "give workers more memory")
            self._scattered = None  # it may have been lost with the worker
            return
        if found.overflow:
            raise Overflow
        before = self.goal, self.lowers[edge]
        self._merge(found)
        if found.full and before == (self.goal, self.lowers[edge]):
            self._stuck.add(edge)
        self.counts.update(nodes=found.nodes, pieces=1, seconds_workers=found.processor_seconds)

    def _merge(self, found: Known) -> None:
        self.lowers = np.maximum(self.lowers, found.lowers)
        if found.upper < self.upper and found.preorder is not None:
            self.upper, self.preorder = found.upper, found.preorder

    def _save(self, seconds: float) -> None:
        """Writes what is known, whole or not at all, where there is a file and the last time is so long ago."""
        if self._file is None or self.lower >= self.goal or time.perf_counter() - self._saved < seconds:
            return
        tree = None if self.preorder is None else self.preorder.tolist()
        known = [self._shared.name, self.lowers.tolist(), self.upper, tree, self.counts]
        aside = Path(f"{self._file}.{os.getpid()}.part")
        aside.write_text(json.dumps({"streed frontier": known}), encoding="utf-8")
        aside.replace(self._file)
        self._saved = time.perf_counter()

    def _load(self, path: Path) -> None:
        """Takes what was saved; raises InputError for a file that holds nothing such, or is of another problem."""
        try:
            name, lowers, upper, tree, counts = json.loads(path.read_bytes())["streed frontier"]
            known = Known(np.array(lowers, np.int64), int(upper), None if tree is None else np.array(tree, np.int64))
            counts = {key: type(old)(counts[key]) for key, old in self.counts.items()}
        except (OSError, LookupError, TypeError, ValueError, OverflowError) as error:
            found = f"{str(path)!r} holds no frontier that can be read ({error})"
            raise InputError("path", found, "give a file that was saved so") from None
        if name != self._shared.name or known.lowers.shape != self.lowers.shape:
            raise InputError("path", f"{str(path)!r} is of another problem", "give the data, task and limits of then")
        self._merge(known)
        self.counts = Counter(counts)

    def _fingerprint(self, limits: tuple[int, int], shared: Shared, splits: list[int]) -> str:
        """A hash of all that the codes of the problem depend on."""
        packed = self.encoding.packed
        asked = (*limits, packed.min_leaf, packed.split_cost, packed.n_labels, self._target, shared.precision, splits)
        names = ("column", "flipped", "column_rows", "groups.profits", "groups.words", "row_values")
        arrays = *operator.attrgetter(*names)(packed), getattr(packed.scoring, "numbers", None)
        arrays += tuple(getattr(packed.prices, name, None) for name in ("full", "given"))
        return hashlib.sha256(pickle.dumps((repr(shared.problem.task), asked, arrays))).hexdigest()
