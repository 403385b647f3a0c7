"""Solves that are stopped at drawn moments, judged against the true optimum: no bound is wrong, on any route.

A stop comes at a drawn look, question or search, or when drawn room for nodes is full, and not at a time.
The optimum is that of the same solve left alone, which other tests compare with the reference. As a program, it tries
as many as one likes:

    python -m tests.differential.stops --count 2000 --seed 1
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import attrs

import streed
from streed.bnb import cache_sizes, runner, session
from streed.dp.stop_monitor import StopMonitor
from streed.enumerate.vector_trees import Trees
from streed.errors import InputError
from streed.kernels.control import STOP
from streed.pareto.fronts import FrontEngine
from streed.problem import SearchStopped
from streed.task import TOTAL
from tests.differential.stop_routes import ROUTES, Posed, make_posed

_NEAR = 1e-9
"""How far apart sums of real numbers in another order may be, as a part of the value."""


@contextlib.contextmanager
def stopping(posed: Posed) -> Iterator[None]:
    """A context in which solves are stopped, by

    - "looks": the monitor of an interpreted search, at its n-th look;
    - "begin": the word that stops a compiled search, one of a reduction's, before its first step;
    - "store": the room for nodes of a compiled search, which is full, and nothing may be forgotten;
    - "room": little room for nodes, until forgetting makes no room any more;
    - "asks": the front engine, at its n-th set of rows;
    - "questions": a reduction, when it asks for the time that is left;
    - "interrupt": a reduction, by Ctrl-C before one of its scalar solves.
    """
    with contextlib.ExitStack() as stack:

        def replace(owner: Any, name: str, by: Any) -> None:
            stack.enter_context(mock.patch.object(owner, name, by))

        replace(session, "_SHORT", 0.0)
        if posed.way == "looks":
            replace(StopMonitor, "look", _limited_look(StopMonitor.look, posed.moment))
        elif posed.way == "begin":
            replace(runner, "run", _stopped_run(runner.run, posed.search))
        elif posed.way in ("store", "room"):
            replace(cache_sizes, "space_for", small_space(cache_sizes.space_for, posed.search, posed.moment))
            if posed.way == "store":
                replace(session, "evict", lambda address: sys.maxsize)
        elif posed.way == "asks":
            replace(runner, "run", _stopped_front(runner.run, posed.moment))
        elif posed.way == "questions":
            replace(Trees, "remaining", _stopped_after(posed.search, SearchStopped("time"), Trees.remaining))
        else:
            replace(Trees, "cheapest", _stopped_after(posed.search, KeyboardInterrupt(), Trees.cheapest))
        yield


def _limited_look(look: Callable[[StopMonitor], bool], most: int) -> Callable[[StopMonitor], bool]:
    looks = 0

    def limited(self: StopMonitor) -> bool:
        nonlocal looks
        looks += 1
        if looks > most and self.stopped is None:
            self.stopped = "time"
        return look(self)

    return limited


def _stopped_run(run: Callable[..., Any], chosen: int) -> Callable[..., str | None]:
    """`runner.run` by which the chosen one of the searches, counted from 0, is stopped before it begins."""
    count = 0

    def stopped(searches: Any, control: Any, deadline: Any, look: Any) -> str | None:
        nonlocal count
        count += 1
        if count - 1 == chosen:
            control[STOP] = 1
        reason: str | None = run(searches, control, deadline, look)
        return reason or ("time" if control[STOP] else None)

    return stopped


def small_space(space_for: Callable[..., Any], chosen: int, nodes: int) -> Callable[..., Any]:
    """`space_for` that gives the chosen one of the workspaces, and those after it, room for few nodes."""
    count = 0

    def small(*arguments: Any) -> Any:
        nonlocal count
        count += 1
        space = space_for(*arguments)
        return space if count - 1 < chosen else attrs.evolve(space, nodes=min(space.nodes, max(12, nodes)))

    return small


def _stopped_front(run: Callable[..., Any], most: int) -> Callable[..., str | None]:
    """`runner.run` by which a search for a front is stopped when it asks for one more set of rows than so many."""
    solve = FrontEngine.solve

    def stopped(searches: Any, control: Any, deadline: Any, look: Any) -> str | None:
        count = 0

        def limited(self: FrontEngine, *arguments: Any) -> Any:
            nonlocal count
            count += 1
            if count > most:
                control[STOP] = 1
            return solve(self, *arguments)

        with mock.patch.object(FrontEngine, "solve", limited):
            reason: str | None = run(searches, control, deadline, look)
        return reason or ("time" if control[STOP] else None)

    return stopped


def _stopped_after(calls: int, error: BaseException, function: Callable[..., Any]) -> Callable[..., Any]:
    count = 0

    def limited(*arguments: Any, **named: Any) -> Any:
        nonlocal count
        count += 1
        if count > calls:
            raise error
        return function(*arguments, **named)

    return limited


def judge(posed: Posed) -> tuple[str, list[str]]:
    """(what came of the stop, what its result says wrongly, in words)."""
    try:
        whole = streed.solve(posed.task, posed.X, posed.y, **posed.arguments)
        with stopping(posed):
            result = streed.solve(posed.task, posed.X, posed.y, **posed.arguments)
    except InputError as error:
        return "refused", [] if error.argument == "sensitive_features" else [str(error)]
    if whole.status == "infeasible":
        return result.status, [] if result.status in ("infeasible", "unknown") else [
            f"a tree where there is none: {result}"
        ]
    if whole.status != "optimal":
        return "unsolved", [f"the whole solve is {whole.status}"]
    if posed.task.order != TOTAL and isinstance(whole.value, tuple):
        return _judge_front(posed, result, whole)
    return _judge_value(posed, result, whole)


def _judge_value(posed: Posed, result: streed.Result, whole: streed.Result) -> tuple[str, list[str]]:
    sign = -1 if posed.task.larger_is_better else 1
    optimum = sign * whole.value
    bound = result.upper_bound if posed.task.larger_is_better else result.lower_bound
    wrong = []
    if result.status == "infeasible":
        wrong.append("infeasible, and there is a tree")
    if result.status == "optimal" and not _alike(result.value, whole.value):
        wrong.append(f"optimal with {result.value}, the optimum is {whole.value}")
    if result.tree is not None and not _at_most(optimum, sign * result.value):
        wrong.append(f"the value {result.value} is better than the optimum {whole.value}")
    if bound is not None and not _at_most(sign * bound, optimum):
        wrong.append(f"the bound {bound} is beyond the optimum {whole.value}")
    if bound is None and posed.route.bounded and result.status != "optimal":
        wrong.append(f"no bound: {result!r}")
    return (result.status if bound is not None else f"{result.status}, no bound"), wrong


def _judge_front(posed: Posed, result: streed.Result, whole: streed.Result) -> tuple[str, list[str]]:
    """Components are smaller-is-better, but for the first one of a maximised task."""

    def turned(value: tuple[Any, ...]) -> tuple[Any, ...]:
        return (-value[0], *value[1:]) if posed.task.larger_is_better else value

    front, known = ([turned(value) for value, _ in each.front] for each in (whole, result))
    wrong = []
    if result.status == "optimal" and len(known) != len(front):
        wrong.append(f"complete with {len(known)} points of {len(front)}")
    beyond = [value for value in known if not any(all(map(_at_most, point, value)) for point in front)]
    wrong.extend(f"{value} is on the better side of the front" for value in beyond)
    bound = result.upper_bound if posed.task.larger_is_better else result.lower_bound
    if result.status == "optimal":
        return "complete", wrong
    if bound is None:
        return f"{result.status}, no bound", [*wrong, "no ideal point"] if posed.route.bounded else wrong
    ideal = turned(bound)
    wrong.extend(
        f"the ideal point {ideal} is beyond {point}" for point in front if not all(map(_at_most, ideal, point))
    )
    return result.status, wrong


def _at_most(a: Any, b: Any) -> bool:
    """Whether a <= b, but for the order in which real numbers were added."""
    return bool(a <= b) or _alike(a, b)


def _alike(a: Any, b: Any) -> bool:
    real = isinstance(a, float) or isinstance(b, float)
    return bool(a == b) or (real and abs(a - b) <= _NEAR * max(1.0, abs(a), abs(b)))


def main(arguments: list[str] | None = None) -> int:
    """1 if a stopped solve says anything wrong, else 0; prints what came of them, by route."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.differential.stops",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="the first seed (default: 0)")
    parser.add_argument("--count", type=int, default=500, metavar="N", help="how many solves (default: 500)")
    parser.add_argument("--routes", nargs="+", choices=list(ROUTES), default=list(ROUTES), help="(default: all)")
    options = parser.parse_args(arguments)
    seen: Counter[tuple[str, str, str]] = Counter()
    failed = 0
    for number in range(options.count):
        name = options.routes[number % len(options.routes)]
        seed = options.seed + number // len(options.routes)
        posed = make_posed(name, seed)
        outcome, wrong = judge(posed)
        seen[name, posed.way, outcome] += 1
        if wrong:
            failed += 1
            print(f"make_posed({name!r}, {seed}), {posed.way} {posed.moment}: {'; '.join(wrong)}", flush=True)
    for (name, way, outcome), count in sorted(seen.items()):
        print(f"{name:36} {way:10} {outcome:22} {count}")
    early = sum(count for (_, _, outcome), count in seen.items() if outcome.startswith(("feasible", "unknown")))
    print(f"{sum(seen.values())} solves, {early} of them stopped early, {failed} wrong")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
