"""The transition (STreeD, Def. 4.1): a state is the sums of the statistics over its rows, whichever way it came about.

A statistic that is computed from several rows at once, such as a median, has another sum in a subtree than the engine
adds up. Constants of the whole data set belong into `bind`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from streed.testing.cases import Violation, close, show
from streed.testing.laws.law import law

if TYPE_CHECKING:
    from streed.testing.cases import Case


@law("statistics are additive", "STreeD, Def. 4.1 (t) and Def. B.2")
def _check_additive(case: Case) -> bool:
    """a row contributes to a sum what it contributes in every subtree: a statistic of a row depends on that row."""
    whole = case.task.statistics(case.data)
    sides = case.sides(2)
    for rows in [case.everything] if sides is None else sides:
        apart = case.task.statistics(case.data.subset(rows))
        if set(apart) != set(whole):
            raise Violation(
                "the statistics have other names on some of the rows",
                ("all rows", ", ".join(whole)),
                (case.rows_text(rows), ", ".join(apart)),
            )
        for name, values in whole.items():
            among, alone = np.asarray(values), np.asarray(apart[name])
            if among.shape[1:] != alone.shape[1:]:
                raise Violation(
                    f"the statistic {name!r} has another width on some of the rows",
                    ("all rows", str(among.shape)),
                    (case.rows_text(rows), str(alone.shape)),
                )
            for place, row in enumerate(rows):
                one, other = _plain(among[row]), _plain(alone[place])
                if not close(one, other):
                    raise Violation(
                        f"the statistic {name!r} of row {row} depends on the other rows",
                        ("among all rows", show(one)),
                        (f"among {case.rows_text(rows)}", show(other)),
                        ("expected", "the same; compute what needs the whole data set in bind(data)"),
                    )
    return True


def _plain(entry: Any) -> Any:
    return tuple(np.ravel(entry).tolist()) if np.ndim(entry) else np.asarray(entry).item()


LAWS = (_check_additive,)
