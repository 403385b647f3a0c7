"""Row prices beside a search: a thread that makes them, and hands them over, while the search goes on."""

from __future__ import annotations

import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import Any, final

from streed.exact import Array
from streed.kernels import compilation
from streed.kernels.compilation import say_once
from streed.kernels.records import LOWEST
from streed.kernels.stopping import ROW_PRICES, STOP, UPPER
from streed.row_prices.generation import Generation
from streed.row_prices.prices import Leaves, Prices

MOST_CLASSES = 2000
"""Classes of equal rows: the linear program has a row for each, and a step of it takes too long with more."""

PATIENCE = 1.0
"""Seconds of search after which prices are made."""


@final
class PricingBeside:
    """Begins once a search has taken so long that prices may help; what they prove counts at once."""

    def __init__(self, control: Array, find_leaves: Callable[[], tuple[Leaves, Array] | None], row_space: int) -> None:
        """`find_leaves` gives what trees' leaves may be, with the first place of each class of rows, if prices help.

        `row_space`: places of rows of the search.
        """
        self.bound = LOWEST
        """A lower bound of all trees, a code."""
        self._control, self._find_leaves, self._row_space = control, find_leaves, row_space
        self._generation: Generation | None = None
        self._end: threading.Event | None = None
        self._failure = ""
        self._handed_over: list[Array] = []
        """Kept for as long as the search may read them."""

    def raise_bound(self, lower: int, upper: int, seconds: float) -> int:
        """The lower bound of a search that found these two codes in so many seconds, raised by that of the prices.

        Called every now and then by the thread that looks at the search: prices begin once its patience is over.
        """
        self.start_after(seconds)
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

    def finish(self) -> None:
        """Waits for its end, which the search's end makes come soon."""
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
                words = prices.words(leaves, places, self._row_space, len(self._handed_over) + 1)
                self._handed_over.append(words)
                self._control[ROW_PRICES] = words.ctypes.data
                self.bound = max(self.bound, prices.code(leaves))

            self._generation = Generation(leaves, self._control, tell, lambda: float(self._control[UPPER]))
            self._generation.run()
        except compilation.Abandoned:
            pass
        except Exception as failure:  # noqa: BLE001 - what only helps a search must not lose its tree
            self._failure = f"{type(failure).__name__}: {failure}"
            say_once("row prices", f"no row prices, the search goes on without them: {self._failure}")
        finally:
            end.set()
