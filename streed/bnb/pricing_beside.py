"""Row prices beside a search: a thread that makes them, and hands them over.

Where there is a processor for each, they run at once. Where there is one, the search rests for as long as it has run,
while the prices promise to come close to the best tree (`Generation.promises`): such a bound ends the search within
moments. New prices that raise the bound of all rows above what the search has proved also change what is best to look
at next, so that a depth-first search goes best-first for some visits after them.
"""

from __future__ import annotations

import contextlib
import contextvars
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, final

from streed.bnb.workspace import Workspace
from streed.exact import Array
from streed.kernels import compilation
from streed.kernels.compilation import processors, say_once
from streed.kernels.records import INFINITE, LOWEST
from streed.kernels.stopping import ROW_PRICES, STOP, UPPER
from streed.row_prices.generation import PROMISING, Generation
from streed.row_prices.prices import Leaves, Prices

_TURN = 1.0
"""Seconds of the search, and then of its rest."""

_BEST_FIRST = 30_000
"""Visits, after prices that raised the bound of all rows."""

MOST_CLASSES = 2000
"""Classes of equal rows: the linear program has a row for each, and a step of it takes too long with more."""

PATIENCE = 1.0
"""Seconds of search after which prices are made."""

_STEP = 0.02
"""Seconds between looks of whoever rests."""

_REST = 3.0
"""Times the time that prices of little promise took: they get a quarter of the only processor, or less."""

_MOST_REST = 30.0
"""Times that time, where the program's value is next to nothing."""


@final
class PricingBeside:
    """Begins once a search has taken so long that prices may help; what they prove counts at once.

    One thread. A search of one thread takes turns with it: asked for by others (`_ask`), taken by its own (`take`).
    """

    def __init__(
        self,
        control: Array,
        find_leaves: Callable[[], tuple[Leaves, Array] | None],
        workspaces: Sequence[Workspace],
        known: Array | None = None,
    ) -> None:
        """`find_leaves` gives what trees' leaves may be, with the first place of each class of rows, if prices help.

        `workspaces` are those of the search's threads. `known` are leaves to begin with, as in `Generation`.
        """
        self.bound = LOWEST
        """A lower bound of all trees, a code."""
        self.known = known
        """(M, N) bool: the leaves of the program, for a search of the same rows with other costs."""
        self._control, self._find_leaves = control, find_leaves
        self._workspace, self._engine = workspaces[0], workspaces[0].engine
        if len(workspaces) == 1:
            workspaces[0].beside = self
        self._searched = LOWEST
        """What the search has proved itself, a code."""
        self._are_new = False
        """Whether prices that promise more raised the bound of all rows above what was proved, since it was asked."""
        self._is_crowded = processors() == 1
        self._since = time.perf_counter()
        self._own_order: int | None = None
        """Whether the search is best-first where it follows no new prices; None where it may not be asked to pause."""
        self._best_first_until = 0
        self._generation: Generation | None = None
        self._end: threading.Event | None = None
        self._failure = ""
        self._handed_over: list[Array] = []
        """Kept for as long as the search may read them."""

    def raise_bound(self, lower: int, upper: int, seconds: float) -> int:
        """The lower bound of a search that found these two codes in so many seconds, raised by that of the prices.

        Called every now and then by the thread that looks at the search: prices begin once its patience is over, and
        where there is one processor, it is asked to rest.
        """
        self.start_after(seconds)
        self._searched = lower
        is_over = self._is_crowded and self._promises and time.perf_counter() - self._since >= _TURN
        if self._own_order is not None and (is_over or self._are_new):
            self._engine["pause"] = 0
        return self.raised(lower, upper)

    def raised(self, lower: int, upper: int) -> int:
        """A lower bound, a code, raised by that of the prices; `upper` is the best tree's."""
        return max(lower, min(self.bound, upper))

    def start_after(self, seconds: float) -> None:
        """Begins if so many seconds of search are as many as its patience lasts."""
        if self._end is None and seconds >= PATIENCE:
            self._end = threading.Event()
            work = contextvars.copy_context().run
            compilation.start_deep([threading.Thread(target=work, args=(self._work, self._end), daemon=True)])

    def take_turns(self) -> None:
        """From now on the search may be asked to pause; called by its thread."""
        self._own_order = self._engine["best_first"]

    def take(self) -> bool:
        """Whether the search returned because it was to pause: if so, rests, and says how it goes on."""
        engine = self._engine
        if engine["visits"] <= engine["pause"]:
            return False
        if self._are_new:
            self._are_new, self._best_first_until = False, engine["visits"] + _BEST_FIRST
        if engine["visits"] < self._best_first_until:
            engine["best_first"], engine["pause"] = 1, self._best_first_until
        else:
            engine["best_first"], engine["pause"] = self._own_order or 0, INFINITE
        if self._is_crowded and time.perf_counter() - self._since >= _TURN:
            self._rest(_TURN, promises=True)
            self._since = time.perf_counter()
        return True

    def finish(self) -> None:
        """Waits for its end, which the search's end makes come soon; the search is not asked to rest any more."""
        if self._workspace.beside is self:
            self._own_order = self._workspace.beside = None
            self._engine["pause"] = INFINITE
        end, self._end = self._end, None
        if end is None:
            return
        stop, self._control[STOP] = int(self._control[STOP]), 1
        while not end.is_set():
            with contextlib.suppress(KeyboardInterrupt):
                end.wait()
        self._control[STOP] = stop

    def statistics(self, value_of: Callable[[int], Any]) -> dict[str, Any]:
        """What was done, for `stats`; empty if it never began."""
        if self._failure:
            return {"failed": self._failure}
        made = self._generation
        if made is None:
            return {}
        return {
            "bound": value_of(self.bound),
            "leaves": made.columns,
            "rounds": made.rounds,
            "enumerations": made.enumerations,
            **{f"seconds_{what}": seconds for what, seconds in made.seconds.items()},
        }

    @property
    def _promises(self) -> bool | None:
        """Whether the prices that are being made may come close to the optimum; None if that is not known."""
        end, made = self._end, self._generation
        return None if end is None or end.is_set() or made is None else made.promises

    def _rest(self, seconds: float, *, promises: bool) -> None:
        """Returns after so many seconds, or soon after prices promise something else, or the search is to stop."""
        until = time.perf_counter() + seconds
        while self._promises is promises and not self._control[STOP] and time.perf_counter() < until:
            time.sleep(_STEP)

    def _make_room(self, seconds: float) -> None:
        """After so many seconds of work that promises little, leaves the only processor to the search."""
        made = self._generation
        if made is not None and self._is_crowded:
            rest = min(_MOST_REST, _REST * PROMISING / max(made.promise or 0.0, 1e-9))
            self._rest(rest * seconds, promises=False)

    def _work(self, end: threading.Event) -> None:
        compilation.stopped.set(lambda: bool(self._control[STOP]))
        try:
            found = self._find_leaves()
            if found is None:
                return
            leaves, places = found
            if leaves.n_classes > MOST_CLASSES:
                return

            def tell(prices: Prices) -> None:
                row_space = self._engine["row_space"]
                words = prices.words(leaves, places, row_space, len(self._handed_over) + 1)
                self._handed_over.append(words)
                self._control[ROW_PRICES] = words.ctypes.data
                code = prices.code(leaves)
                self._are_new |= bool(self._promises) and code > max(self.bound, self._searched)
                self.bound = max(self.bound, code)

            self._generation = Generation(
                leaves, self._control, tell, lambda: float(self._control[UPPER]), self._make_room, self.known
            )
            self._generation.run()
        except compilation.Abandoned:
            pass
        except Exception as failure:  # noqa: BLE001 - what only helps a search must not lose its tree
            self._failure = f"{type(failure).__name__}: {failure}"
            say_once("row prices", f"no row prices, the search goes on without them: {self._failure}")
        finally:
            if self._generation is not None:
                self.known = self._generation.known
            end.set()
