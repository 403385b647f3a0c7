"""Column generation: prices of rows for the bound on trees, better from round to round.

Each round solves the linear program of the leaves known so far and tries its prices, drawn towards the best ones known
(stabilisation): a beam looks for overcharged leaves, and where it finds none, the enumeration does. Whatever an ended
enumeration says of the excess makes prices feasible by scaling (`Pricing.feasible`), so that there is a bound at any
moment. A class of rows has one price; see docs/explanation/row-prices.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import final

import attrs
import numpy as np

from streed.exact import Array
from streed.kernels.control import STOP
from streed.row_prices.leaves import Leaves
from streed.row_prices.master import Master
from streed.row_prices.prices import Prices
from streed.row_prices.pricing import Pricing
from streed.row_prices.seeds import grown_leaves

WIDTH, MOST = 100, 1500
"""Of the beam; and conjunctions that a label's pricing gives at most."""

_DRAWN = 0.6
"""How far prices are drawn towards the best ones known."""

_GREED = 0.1

_CLOSE = 0.02
"""Of a due: once the beam finds nothing that is overcharged by more, the enumeration is asked."""


@final
@attrs.define(eq=False)
class Generation:
    """The state of column generation; `run` goes on with it."""

    leaves: Leaves
    control: Array
    """Words of the search: a stop there stops this."""
    tell: Callable[[Prices], None]
    """Called with better and better prices."""
    goal: Callable[[], float]
    """Nothing more is asked for once the bound has reached this, in codes."""
    node_limit: int = 2_000_000
    """Nodes of one enumeration."""
    gap: float = 0.002
    """Of the linear program's value: a bound so close to it is good enough."""
    verbose: bool = False
    best: Prices | None = None
    rounds: int = 0
    enumerations: int = 0
    seconds: dict[str, float] = attrs.field(factory=lambda: dict.fromkeys(("program", "beam", "enumeration"), 0.0))
    value: float = np.inf
    """Of the linear program, in codes: no prices of this kind say more, once all leaves that matter are known."""
    columns: int = 0

    def run(self, seeds: Iterable[Array], deadline: float | None = None) -> None:
        """Goes on until the bound meets the goal or the program's value, nothing is found, or it is stopped."""
        control = self.control

        def stopped() -> bool:
            return bool(control[STOP]) or (deadline is not None and time.perf_counter() >= deadline)

        pricing = Pricing(self.leaves, control)
        master = Master(self.leaves, stopped)
        n, literals = self.leaves.n_classes, np.flatnonzero(self.leaves.allowed)
        master.add(np.ones((1, n), bool))
        master.add(np.array([self.leaves.members([literal]) for literal in literals]).reshape(-1, n))
        for members in seeds:
            master.add(members)
        master.add(grown_leaves(self.leaves))
        centre: Array | None = None
        while not stopped():
            solved = self._timed("program", master.solve)
            if solved is None:
                return
            prices, self.value = solved
            self.rounds += 1
            self.columns = len(master)
            drawn = prices if centre is None else _DRAWN * centre + (1 - _DRAWN) * prices
            new = 0
            for tried in (drawn, prices):
                units = pricing.in_units(tried)
                found = self._timed("beam", lambda units=units: pricing.quickly(units, WIDTH, MOST))
                new += self._add(master, found.columns)
                if found.worst <= _CLOSE * pricing.due or new == 0:
                    found = self._timed(
                        "enumeration", lambda units=units: pricing.exactly(units, 0, _GREED, self.node_limit, MOST)
                    )
                    self.enumerations += 1
                    new += self._add(master, found.columns)
                    if self.verbose:
                        print(f"   {self.rounds} {sum(self.seconds.values()):.1f}s exact {found.nodes} {found.worst} {found.rest} {len(found.columns)} lp {self.value:.2f} b {self.best and self.best.bound} cols {len(master)}")
                    if found.rest is not None:
                        feasible = pricing.feasible(units, self._members(found.columns), found.rest)
                        bound = pricing.bound(feasible)
                        if self.best is None or bound > self.best.bound:
                            self.best = Prices(feasible, pricing.shift, bound)
                            centre = pricing.in_codes(feasible)
                            self.tell(self.best)
                elif self.best is None:
                    centre = tried
                if new:
                    break
            if self.best is not None:
                if self.best.bound >= self.goal() or self.value - self.best.bound <= self.gap * abs(self.value):
                    return
            if new == 0:
                return

    def _add(self, master: Master, columns: list[tuple[int, ...]]) -> int:
        return master.add(self._members(columns))

    def _members(self, columns: list[tuple[int, ...]]) -> Array:
        """(M, N) bool: the different leaves of these conjunctions."""
        every = np.array([self.leaves.members(each) for each in columns], bool).reshape(-1, self.leaves.n_classes)
        return np.unique(every, axis=0)

    def _timed(self, what: str, call: Callable[[], object]) -> object:
        begin = time.perf_counter()
        try:
            return call()
        finally:
            self.seconds[what] += time.perf_counter() - begin
