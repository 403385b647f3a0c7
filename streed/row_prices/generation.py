"""Column generation: prices of rows for the bound on trees, better from round to round.

A round solves the linear program of the leaves known so far, the cheapest way to cover every class of rows once:

    minimise  sum over leaves of cost(L) x(L)   such that the leaves of each class of rows add up to one, x >= 0

and has its dual prices tried: an enumeration looks for leaves that are overcharged. Prices are lowered where there are
some (`Pricing.lowered`) and enumerated again; what little is left is scaled away (`Pricing.scaled`), so that every
enumeration that ends gives a bound. The best feasible prices are the centre of a box in which the next ones are kept,
lest they swing (du Merle, Villeneuve, Desrosiers and Hansen, Stabilized column generation, 1999); three more columns
for every class stand for it.

HiGHS solves it: with few classes of rows by the primal simplex method, from the basis of the round before; with more by
the interior-point method without crossover, as prices in the middle of the optimal ones are overcharged less elsewhere.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any, TypeVar, final

import attrs
import numpy as np

from streed.exact import Array
from streed.kernels.stopping import STOP
from streed.row_prices.prices import LEAST_PRICE, MOST_PRICE, Leaves, Prices, Pricing

T = TypeVar("T")

_OF_ENUMERATION = 1000
"""How many leaves a label's pricing gives at most."""

_FEW_NODES, _NODES, _SOME = 250_000, 8_000_000, 20
"""Of an enumeration: as long as few nodes show some leaves that are overcharged, that is enough to go on, else there
are four times as many. If the most are not enough, leaves that are overcharged by little are let be."""

_HOPELESS = 60
"""Enumerations of which none ended: this will not come to prices."""

_FIRST_TOLERANCE, _MOST_TOLERANCE = 0.25, 1.0
"""Of a due: by how much that may be; where even the most is not enough, there is no bound to be had."""

_REACH, _WIDER, _NARROWER, _WIDEST = 0.1, 1.5, 0.6, 1.5
"""Of the box: half its width, in what the worst label of a row costs, and how that changes."""

_REPAIRS, _FEASIBLE = 4, 0.005
"""Enumerations in a row that make prices feasible, and how much of a due may then be left to scale them by."""

_GAP = 0.0005
"""Of the program's value: prices whose bound is so close to it are good enough."""

_STALE = 6
"""Enumerations in a row that raise the bound by less than that, after which nothing more is expected."""


@final
@attrs.define(eq=False)
class Generation:
    """Makes prices of rows for the leaves, as long as they get better."""

    leaves: Leaves
    control: Array
    """Words of the search: a stop there stops this."""
    tell: Callable[[Prices], None]
    """Called with prices that give a better bound than those before."""
    goal: Callable[[], float]
    """No bound above this is asked for, in codes: what the best tree costs."""
    best: Prices | None = attrs.field(default=None, init=False)
    columns: int = attrs.field(default=0, init=False)
    """Leaves in the linear program."""
    rounds: int = attrs.field(default=0, init=False)
    enumerations: int = attrs.field(default=0, init=False)
    seconds: dict[str, float] = attrs.field(factory=lambda: dict.fromkeys(("program", "enumeration"), 0.0), init=False)
    _tolerance: float = attrs.field(default=0.0, init=False)
    _limit: int = attrs.field(default=_FEW_NODES, init=False)
    """Nodes of an enumeration."""
    _reach: float = attrs.field(default=_REACH, init=False)
    _stale: int = attrs.field(default=0, init=False)

    def run(self) -> None:
        """Goes on until the bound meets the goal or the program's value, until that is hopeless, or until stopped."""
        pricing, master = Pricing(self.leaves, self.control), Master(self.leaves, self.control)
        master.add(np.ones((1, self.leaves.n_classes), bool))
        master.add(self.leaves.members([(literal,) for literal in np.flatnonzero(self.leaves.allowed).tolist()]))
        while not self.control[STOP] and self._tolerance <= _MOST_TOLERANCE:
            solved = self._timed("program", master.solve)
            if solved is None:
                return
            prices, value = solved
            self.rounds += 1
            new = self._repair(pricing, master, value, np.rint(prices * 2.0**pricing.shift).astype(np.int64))
            self.columns = len(master.known)
            if self.best is None:
                if self.enumerations >= _HOPELESS:
                    return
            elif self.best.bound >= self.goal() or self._stale >= _STALE:
                return
            elif value - self.best.bound <= _GAP * abs(value) or new == 0:
                if self._reach >= _WIDEST:
                    return
                self._reach = min(_WIDEST, 4 * self._reach)
                master.draw(pricing.in_codes(self.best.units), self._reach)

    def _repair(self, pricing: Pricing, master: Master, value: float, units: Array) -> int:
        """How many leaves were new to the program, of all that were found while prices were made feasible."""
        new = 0
        best: Array | None = None
        for _ in range(_REPAIRS):
            self.enumerations += 1
            asked = units, int(self._tolerance * pricing.due), self._limit, _OF_ENUMERATION
            found, excess = self._timed("enumeration", functools.partial(pricing.exactly, *asked))
            members = self.leaves.members(found)
            new += master.add(members)
            if excess is not None:
                feasible = pricing.scaled(units, excess)
                if best is None or feasible.sum() > best.sum():
                    best = feasible
                if excess <= _FEASIBLE * pricing.due:
                    break
            elif self.control[STOP]:
                return new
            elif len(members) <= _SOME:
                new += 1
                if self._limit < _NODES:
                    self._limit *= 4
                else:
                    self._tolerance = max(2 * self._tolerance, _FIRST_TOLERANCE)
            units = pricing.lowered(units, members)
        if best is not None:
            self._improve(pricing, master, value, best)
        elif self.best is None:
            master.draw(pricing.in_codes(units), self._reach)
        return new

    def _improve(self, pricing: Pricing, master: Master, value: float, units: Array) -> None:
        """Takes feasible prices for the best ones if they are, and moves the box."""
        bound = float(units.sum()) / 2.0**pricing.shift - float(self.leaves.due)
        before = -np.inf if self.best is None else self.best.bound
        self._stale = 0 if bound > before + _GAP * abs(bound) else self._stale + 1
        if bound > before:
            if self.best is not None and value - bound < 0.5 * (value - before):
                self._reach = min(_WIDEST, _WIDER * self._reach)
            self.best = Prices(units, pricing.shift, bound)
            self.tell(self.best)
        else:
            self._reach *= _NARROWER
        if self.best is not None:
            master.draw(pricing.in_codes(self.best.units), self._reach)

    def _timed(self, what: str, call: Callable[[], T]) -> T:
        begin = time.perf_counter()
        try:
            return call()
        finally:
            self.seconds[what] += time.perf_counter() - begin


_ENOUGH = 1e-3
"""The tolerance of the interior-point method: prices are only tried."""

_BELOW = 1.0
"""What the program gives up for each unit by which a price is below its box, besides the unit itself."""

_FEW, _PRIMAL = 500, 4
"""Classes of rows for which the simplex method is faster, and HiGHS's `simplex_strategy` of that name."""


@final
class Master:
    """The leaves known so far, and the linear program of them."""

    def __init__(self, leaves: Leaves, control: Array) -> None:
        import highspy

        self.leaves = leaves
        self._unit = float(leaves.due)
        self.known: dict[bytes, None] = {}
        """The leaves in the program, in order."""
        n = leaves.n_classes
        options: dict[str, Any] = {"solver": "ipx", "run_crossover": "off", "ipm_optimality_tolerance": _ENOUGH}
        if n <= _FEW:
            options = {"solver": "simplex", "simplex_strategy": _PRIMAL, "presolve": "off"}
        self._highs = highs = new_program(**options)
        self._infinity = highspy.kHighsInf
        says = highspy.HighsModelStatus
        self._impossible = {
            says.kInfeasible, says.kUnbounded, says.kUnboundedOrInfeasible, says.kModelError, says.kSolveError,
        }  # fmt: skip

        def look(event: Any) -> None:
            if control[STOP]:
                event.interrupt()

        highs.cbIpmInterrupt.subscribe(look)
        highs.cbSimplexInterrupt.subscribe(look)
        highs.addRows(n, np.ones(n), np.ones(n), 0, np.zeros(n, np.int32), np.zeros(0, np.int32), np.zeros(0))
        self._worst = leaves.costs.max(axis=1) / self._unit
        every = np.arange(n, dtype=np.int32)
        self._add(MOST_PRICE * self._worst, every, every, np.ones(n))
        self._add(-LEAST_PRICE * self._worst, every, every, -np.ones(n))
        self._add(-LEAST_PRICE * self._worst, every, every, -np.ones(n))
        highs.changeColsBounds(n, n + every, np.zeros(n), np.full(n, _BELOW))

    def add(self, members: Array) -> int:
        """Adds the leaves of these classes, (M, N) bool; how many were new."""
        keys = {row.tobytes(): i for i, row in enumerate(np.packbits(members, axis=1))}
        new = [i for key, i in keys.items() if key not in self.known]
        self.known |= dict.fromkeys(keys)
        if new:
            chosen = members[new]
            starts = np.concatenate([[0], np.cumsum(chosen.sum(axis=1))[:-1]]).astype(np.int32)
            index = np.nonzero(chosen)[1].astype(np.int32)
            self._add(self.leaves.costs_of(chosen) / self._unit, starts, index, np.ones(len(index)))
        return len(new)

    def draw(self, centre: Array, reach: float) -> None:
        """Keeps prices within `reach` times what their worst label costs of a centre (N,), in codes.

        They may fall below, where leaves need it that were not known when the centre was made.
        """
        n = self.leaves.n_classes
        centre = centre / self._unit
        most = np.clip(MOST_PRICE * self._worst, centre, centre + reach * self._worst)
        least = np.clip(LEAST_PRICE * self._worst, centre - reach * self._worst, centre)
        self._highs.changeColsCost(2 * n, np.arange(2 * n, dtype=np.int32), np.concatenate([most, -least]))

    def solve(self) -> tuple[Array, float] | None:
        """(prices in codes, value in codes with the due of one leaf less); None if it was stopped.

        Raises RuntimeError if the solver calls the program infeasible or unbounded, which it never is, or fails.
        """
        highs = self._highs
        highs.run()
        status = highs.getModelStatus()
        if status in self._impossible:
            raise RuntimeError(f"HiGHS says of the linear program of leaves: {highs.modelStatusToString(status)}")
        solution = highs.getSolution()
        if not solution.dual_valid:
            return None
        return np.array(solution.row_dual) * self._unit, (highs.getObjectiveValue() - 1) * self._unit

    def _add(self, costs: Array, starts: Array, index: Array, values: Array) -> None:
        k = len(costs)
        self._highs.addCols(
            k, np.asarray(costs, float), np.zeros(k), np.full(k, self._infinity), len(index), starts, index, values
        )


def new_program(**options: Any) -> Any:
    """An empty `highspy.Highs` on one thread, with these of its options; HiGHS 1.16 prints its name unless silenced."""
    import highspy

    class Silent(highspy.Highs):  # type: ignore[misc]
        def enableCallbacks(self) -> None:  # noqa: N802 - the library's name
            self.setOptionValue("output_flag", False)
            super().enableCallbacks()

    program = Silent()
    for option, value in {"output_flag": False, "threads": 1, **options}.items():
        if program.setOptionValue(option, value) != highspy.HighsStatus.kOk and value == "ipx":
            program.setOptionValue(option, "ipm")  # older releases have no other one
    return program
