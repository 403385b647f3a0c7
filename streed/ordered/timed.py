"""A search within a time limit, half of which is for a bound by samples if it proves almost nothing of many rows."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from streed.kernels.compilation import clock
from streed.ordered import samples
from streed.ordered.samples import Samples
from streed.ordered.session import OrderedAnswer, OrderedSession

_UNBOUNDED = "no bound"
"""Why a search is stopped for a bound by samples."""


def solve_within(
    session: OrderedSession,
    max_depth: int | None,
    max_nodes: int | None,
    *,
    below: int | None,
    time_limit: float | None,
    memory: int | None,
    look: Callable[[int, int | None, int], str | None],
    threads: int,
) -> OrderedAnswer:
    """The answer of the session's `solve`; `look` is told (lower, upper, splits scored), and may give a reason to stop.

    If after half of the time less than half is proved of the best tree's cost, or of what trees must cost less than,
    the other half is for the samples.
    """
    started = clock()
    rows = session.rows
    may_sample = time_limit is not None and rows.superadditive and rows.n_rows >= samples.FEWEST

    def look_or_sample() -> str | None:
        lower, upper, nodes = session.bounds()
        if may_sample and time_limit is not None and 2 * (clock() - started) > time_limit:
            least = min((each for each in (upper, below) if each is not None), default=None)
            if least is None or 2 * (lower - rows.base) < least - rows.base:
                return _UNBOUNDED
        return look(lower, upper, nodes)

    answer = session.solve(
        max_depth,
        max_nodes,
        below=below,
        time_limit=time_limit,
        memory=memory,
        look=look_or_sample,
        threads=threads,
    )
    if answer.stopped != _UNBOUNDED:
        return answer
    assert time_limit is not None
    target = min((each for each in (answer.cost, below) if each is not None), default=None)
    if target is None or target <= rows.base:
        return attrs.evolve(answer, stopped="time")
    known, cost, nodes = answer.lower, answer.cost, answer.nodes
    lower, reason = Samples(rows, max_depth, max_nodes, samples.ROWS, threads).bound(
        target, time_limit - (clock() - started), lambda found: look(max(known, found), cost, nodes)
    )
    lower = min(max(known, lower), target)
    return attrs.evolve(answer, lower=lower, stopped=None if lower == target else reason or "time")
