"""Linear programs of HiGHS, which write nothing: a new one, and the least that covers."""

from __future__ import annotations

from typing import Any

import numpy as np

from streed.exact import Array


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


def least_cover(sets: Array, needs: Array, most: Array) -> Array:
    """(N,) float64 of the least sum, from zero to `most` (N,), that add up to `needs` (M,) in each of the sets.

    Sets are (M, N) bool, and with `most` everywhere, each has enough. Close to it: what the solver finds up to its
    tolerance.
    """
    import highspy

    unit = float(needs.max())
    n = sets.shape[1]
    highs = new_program(solver="simplex")
    none = np.zeros(0, np.int32)
    highs.addCols(n, np.ones(n), np.zeros(n), most / unit, 0, np.zeros(n, np.int32), none, np.zeros(0))
    starts = np.concatenate([[0], np.cumsum(sets.sum(axis=1))[:-1]]).astype(np.int32)
    index = np.nonzero(sets)[1].astype(np.int32)
    m = len(sets)
    highs.addRows(m, needs / unit, np.full(m, highspy.kHighsInf), len(index), starts, index, np.ones(len(index)))
    highs.run()
    found: Array = np.maximum(np.array(highs.getSolution().col_value), 0.0) * unit
    return found
