"""The linear program: the cheapest way to cover every class of rows exactly once by leaves, and its dual prices.

    minimise  sum over leaves of cost(L) x(L)   such that the leaves of each class of rows add up to one, x >= 0

Its dual prices are what `Pricing` tries. They are kept in a box, which three more columns for every class stand for:
far from the optimum, prices would otherwise swing between extremes. Solved by HiGHS. With few classes of rows, by its
primal simplex method, which goes on from the basis of the round before, as neither new leaves nor another box make that
infeasible. With more, where that takes too many steps, by its interior-point method without crossover: prices from the
middle of the optimal ones are overcharged less elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np

from streed.exact import Array
from streed.row_prices.leaves import LEAST_PRICE, MOST_PRICE, Leaves

_ENOUGH = 1e-3
"""The tolerance of the interior-point method: prices are only tried."""

_BELOW = 1.0
"""What the program gives up for each unit by which a price is below its box, besides the unit itself."""

_FEW = 500
"""Classes of rows for which the simplex method is faster."""

_PRIMAL = 4
"""HiGHS's `simplex_strategy` of that name."""


@final
class Master:
    """The leaves known so far, and the linear program of them."""

    def __init__(self, leaves: Leaves, stopped: Callable[[], bool]) -> None:
        import highspy

        self.leaves = leaves
        self._unit = float(leaves.due)
        self._known: dict[bytes, None] = {}
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
            if stopped():
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
        new = [i for key, i in keys.items() if key not in self._known]
        self._known |= dict.fromkeys(keys)
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

    @property
    def members(self) -> Array:
        """(M, N) bool: the leaves in the program."""
        packed = np.frombuffer(b"".join(self._known), np.uint8).reshape(len(self), -1)
        return np.unpackbits(packed, axis=1, count=self.leaves.n_classes).astype(bool)

    def __len__(self) -> int:
        return len(self._known)

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
    """An empty `highspy.Highs` on one thread, with these of its options.

    HiGHS 1.16 writes its name and version to standard output as soon as an object has callbacks, before a caller can
    turn its output off, and what a command prints for another program could not be read. So it is turned off before.
    """
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
