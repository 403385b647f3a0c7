"""Two solvers side by side: turns of one solve each, of five where they are quick, and what their times come to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streed
from tests.benchmarks import harness

PEER = "pystreed"


def run(
    solvers: Mapping[str, Callable[[], Any]], repeats: int | None
) -> tuple[dict[str, harness.Times], dict[str, Any]]:
    """(the times, the last answer) of every solver; `repeats` of None: by duration."""
    times = {solver: harness.Times() for solver in solvers}
    answers: dict[str, Any] = {}
    with harness.no_collection():
        while due := [solver for solver, taken in times.items() if len(taken) < _wanted(taken, repeats)]:
            for solver in due:
                for k in range(_turn(times[solver], repeats)):
                    answers[solver] = times[solver].run(solvers[solver], _is_compiled, first=k == 0)
    return times, answers


def comparison(ours: harness.Times, theirs: harness.Times | None) -> harness.Record:
    """The peer's times, and what the medians of ours go into theirs; None where there is no peer.

    `least_ratio`: of the least processor times, which say more than medians where a machine is busy.
    """
    kinds = {"": "wall", "cpu_": "cpu", "first_": "first"}
    if theirs is None:
        unknown = {f"{prefix}{what}": None for prefix in kinds for what in ("ratio", "peer_seconds")}
        return {**unknown, "least_ratio": None}
    compared: harness.Record = {"least_ratio": min(theirs.cpu) / min(ours.cpu)}
    for prefix, kind in kinds.items():
        compared[f"{prefix}peer_seconds"] = getattr(theirs, kind)
        compared[f"{prefix}ratio"] = harness.median(getattr(theirs, kind)) / harness.median(getattr(ours, kind))
    return compared


def _wanted(taken: harness.Times, repeats: int | None) -> int:
    return repeats or (harness.repeats(min(taken.wall)) if taken.wall else 1)


def _turn(taken: harness.Times, repeats: int | None) -> int:
    if not taken.wall:
        return 1
    return min(harness.turn(min(taken.wall)), _wanted(taken, repeats) - len(taken))


def _is_compiled(answer: Any) -> bool:
    """Whether nothing was compiled for the answer, as is for a kernel that a solve needs for the first time."""
    return not isinstance(answer, streed.Result) or answer.stats["seconds_compile"] == 0


def peer_version() -> str:
    """The peer's version; ends the benchmark if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(PEER)
    except PackageNotFoundError:
        harness.fail(f'{PEER} is not installed: pip install -e ".[bench]", or give --no-peer')


def render(
    record: harness.Record, table: Callable[[list[harness.Record], str | None], str], goals: Mapping[int, float]
) -> str:
    """The tables of a benchmark, one per depth, and what they come to."""
    parts = []
    for depth in sorted({row["depth"] for row in record["rows"]}):
        rows = [row for row in record["rows"] if row["depth"] == depth]
        parts += [f"Depth {depth}", table(rows, record["peer"]), mean_line(rows, goals, depth)]
    return "\n\n".join(part for part in parts if part)


def mean_line(rows: list[harness.Record], goals: Mapping[Any, float], group: Any) -> str:
    """The geometric mean of the ratios of some rows, the smallest one, and the goal of their group."""
    compared = [row for row in rows if row["ratio"] is not None]
    if not compared:
        return ""
    goal = f" (goal: at least {goals[group]:g})" if group in goals else ""
    least = min(compared, key=lambda row: float(row["ratio"]))
    mean = harness.geometric_mean([row["ratio"] for row in compared])
    by_least = [row["least_ratio"] for row in compared]
    return (
        f"Geometric mean of the ratios {mean:.1f}{goal}, smallest {least['ratio']:.1f} ({least['dataset']}); by the "
        f"least processor times {harness.geometric_mean(by_least):.1f} and {min(by_least):.1f}."
    )
