"""Many machines: what two processes of a cluster take, what dies on the way, and what more machines would gain.

For every instance, in processor seconds of all processes together and in nodes:

1. one process, then `streed.Distributed` on a LocalCluster of two processes;
2. the same with a worker killed after 25, 50 and 75 % of the nodes, and with a coordinator that is killed after half of
   them and started again from its file; each time the optimum has to be proved;
3. with `--workers`, simulated numbers of workers. A simulation is a run of its own: its pieces are searched one after
   the other in this process, each with what was known when a worker would have begun it, and take the processor time
   that they took, and `LATENCY`. Of more than `STORES` workers none keeps what it learnt for its next piece. The file
   of `--json` has every piece: when it began, its seconds, split, part, of so many parts, and nodes.

With `--replay N`, the pieces of the largest simulated number are handed to N workers in the order in which they were
begun, each with the time that it took: what N would do if they knew no less, and if no more parts were made for them.

german-credit at depth seven is asked for by `--cases "german-credit d7"`, as it takes one process minutes.

The exit code is 1 if an optimum differs or is not proved, or two processes take more than 1.5 times the processor time
of one on the instances that take it 10 s or more.
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs

import streed
from streed.cluster import Frontier, Piece, Progressed, forget, improve
from streed.cluster.frontier import PATIENCE
from streed.cluster.pieces import Root
from tests.benchmarks import harness

CASES: dict[str, dict[str, Any]] = {
    "german-credit d5": {"data": "german-credit", "depth": 5},
    "german-credit d6": {"data": "german-credit", "depth": 6},
    "german-credit d7": {"data": "german-credit", "depth": 7},
    "tictactoe": {"data": "tictactoe", "lam": 0.002},
    "balance": {"data": "balance", "lam": 0.001},
}
"""What is solved; `lam` is the price of a split, with any depth."""

ASKED = ("german-credit d7",)
"""Those that are solved only where they are asked for."""

SHARES = (0.25, 0.5, 0.75)
"""Of the nodes of an undisturbed run: when a worker is killed."""

LATENCY = 0.009
"""Seconds that a piece takes on its way, as measured on one machine."""

STORES = 8
"""So many simulated workers have stores that last."""

_SHORT_SLICE = 0.1
"""Seconds of a piece, and between two writes, of the coordinator that is killed."""

LONG, MOST_CPU = 10.0, 1.5
"""Processor seconds of one process from which on two may take so many times as much."""


def main(arguments: list[str] | None = None) -> int:
    """1 if a value differs, a proof is missing, or too much processor time is taken, else 0."""
    parser = harness.parser("machines", __doc__)
    parser.add_argument("--cases", nargs="+", choices=CASES, metavar="CASE", help="(default: all but d7)")
    parser.add_argument("--workers", type=int, nargs="*", default=[], metavar="N", help="numbers to simulate")
    parser.add_argument("--replay", type=int, nargs="*", default=[], metavar="N", help="numbers that share the pieces")
    parser.add_argument("--only-simulate", action="store_true", help="no cluster, and nobody is killed")
    parser.add_argument("--slice", type=float, default=5.0, help="seconds of a piece (default: 5)")
    parser.add_argument("--coordinate", help=argparse.SUPPRESS)
    parser.set_defaults(all_cores=True)
    options = parser.parse_args(arguments)
    if options.coordinate is not None:
        coordinate(options, json.loads(options.coordinate))
        return harness.FINE
    record: harness.Record = {"benchmark": "machines", "machine": harness.start(options), "rows": []}
    for name in options.cases or [each for each in CASES if each not in ASKED]:
        row = measure(options, name)
        record["rows"].append(row)
        if options.json is not None:  # a long run that is stopped leaves what it has
            options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    harness.finish(options, record, render(record))
    return harness.FINE if all(row["holds"] for row in record["rows"]) else harness.MISSED


def measure(options: argparse.Namespace, name: str) -> harness.Record:
    """The row of an instance."""
    task, X, y, limits = problem_of(options.data, name)
    # all that is compiled, or loaded, at first
    streed.solve(task, X, y, **limits, time_limit=0.001)
    frontier = streed.frontier(task, X, y, **limits, seconds=0.001)
    piece = frontier.next()
    if piece is not None:
        frontier.settle(improve(frontier.problem, piece))
    forget()
    harness.note(f"{name}: one process")
    one = timed(lambda: streed.solve(task, X, y, **limits))
    row: harness.Record = {"case": name, "one": one, "runs": {}, "simulated": {}}
    if not options.only_simulate:
        # a cluster for each, as pieces that are still searched when a run ends would leave what they learnt to the next
        harness.note(f"{name}: two processes")
        with cluster_of_two(frontier) as client:
            whole = row["runs"]["two processes"] = shared(client, options, name, None)
        for share in SHARES:
            harness.note(f"{name}: a worker killed at {share:.0%}")
            with cluster_of_two(frontier) as client:
                found = shared(client, options, name, share * whole["nodes"])
            row["runs"][f"worker killed at {share:.0%}"] = found
        harness.note(f"{name}: the coordinator killed")
        with cluster_of_two(frontier) as client:
            row["runs"]["coordinator killed at 50%"] = resumed(client, options, name, 0.5 * whole["nodes"])
        row["cpu"] = whole["cpu"] / one["cpu"]
    for workers in options.workers:
        harness.note(f"{name}: {workers} simulated workers")
        row["simulated"][str(workers)] = simulate(task, X, y, limits, workers, options.slice)
    if options.workers:
        log = row["simulated"][str(max(options.workers))]["log"]
        row["replayed"] = {str(workers): replay(log, workers) for workers in options.replay}
    runs = [*row["runs"].values(), *row["simulated"].values()]
    row["agrees"] = all((run["status"], run["value"]) == ("optimal", one["value"]) for run in runs)
    row["agrees"] &= all(run["killed"] == int("killed" in what) for what, run in row["runs"].items())
    row["holds"] = row["agrees"] and (one["cpu"] < LONG or row.get("cpu", 0.0) <= MOST_CPU)
    return row


def problem_of(folder: Path, name: str) -> tuple[Any, Any, Any, dict[str, Any]]:
    """(task, X, y, limits) of an instance."""
    from streed.tasks import Accuracy, SparseAccuracy

    case = CASES[name]
    if "lam" in case:
        return SparseAccuracy(case["lam"]), *harness.read_data(folder, "sparse", case["data"]), {}
    return Accuracy(), *harness.read_data(folder, "classification", case["data"]), {"max_depth": case["depth"]}


def timed(solve: Callable[[], streed.Result]) -> harness.Record:
    """What a solve took of this process."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = solve()
    return {
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "nodes": result.stats["nodes"],
        "status": result.status,
        "value": str(result.value),
        "pieces": result.stats.get("pieces", 1),
        "lost": result.stats.get("lost", 0),
    }


# -- a cluster -----------------------------------------------------------------------------------------------------


@contextmanager
def cluster_of_two(frontier: Frontier) -> Iterator[Any]:
    """A client of two processes of one thread, which have loaded what they need, as the one process has."""
    import distributed

    dask: Any = distributed
    quiet = {"dashboard_address": None, "silence_logs": 50}
    with (
        dask.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **quiet) as cluster,
        dask.Client(cluster) as client,
    ):
        piece = frontier.next()
        client.run(_load, frontier.problem, piece)
        if piece is not None:
            frontier.give_back(piece)
        yield client


def _load(problem: Any, piece: Piece | None) -> None:
    """Loads in a worker what a search needs, by the first moment of one."""
    if piece is not None:
        improve(problem, attrs.evolve(piece, seconds=0.001))
    forget()


def _cpu_of_worker() -> tuple[int, float]:
    times = os.times()
    return os.getpid(), times.user + times.system


def shared(client: Any, options: argparse.Namespace, name: str, kill_at: float | None) -> harness.Record:
    """What a solve by two processes takes; a worker is killed once so many nodes were visited.

    Processor seconds are those of the coordinator and of both workers; None if one was killed.
    """
    task, X, y, limits = problem_of(options.data, name)
    client.run(forget)
    before = dict(client.run(_cpu_of_worker).values())
    killed: list[int] = []

    def watch(progress: Any) -> None:
        if kill_at is not None and not killed and progress.nodes >= kill_at:
            killed.append(min(before))
            os.kill(killed[0], signal.SIGKILL)

    search = streed.Distributed(client, slice=options.slice)
    found = timed(lambda: streed.solve(task, X, y, **limits, search=search, progress=watch))
    found["killed"] = len(killed)
    if killed:
        found["cpu"] = None  # what the killed worker took is not known
        return found
    after = dict(client.run(_cpu_of_worker).values())
    found["cpu"] += sum(seconds - before.get(pid, 0.0) for pid, seconds in after.items())
    return found


def resumed(client: Any, options: argparse.Namespace, name: str, kill_at: float) -> harness.Record:
    """What is left to do for a second coordinator, after the first was killed when so many nodes had been visited."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.json"
        client.run(forget)
        asked = {"address": client.scheduler.address, "name": name, "file": str(file)}
        command = [sys.executable, "-m", "tests.benchmarks.machines", "--coordinate", json.dumps(asked)]
        command += ["--data", str(options.data), "--slice", str(min(_SHORT_SLICE, options.slice))]
        first = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        nodes = 0
        while nodes < kill_at and first.poll() is None:
            time.sleep(0.05)
            nodes = json.loads(file.read_text(encoding="utf-8"))["nodes"] if file.exists() else 0
        first.send_signal(signal.SIGKILL)
        first.wait(timeout=600)
        time.sleep(1.0)
        client.run(forget)
        task, X, y, limits = problem_of(options.data, name)
        search = streed.Distributed(client, slice=options.slice, file=file)
        found = timed(lambda: streed.solve(task, X, y, **limits, search=search))
        return found | {"killed": int(first.returncode == -signal.SIGKILL), "resumed_at": nodes, "cpu": None}


def coordinate(options: argparse.Namespace, asked: dict[str, Any]) -> None:
    """The coordinator that is to be killed, which writes its file more often: short runs are over within a second."""
    import distributed

    from streed.cluster import distributed as driver

    dask: Any = distributed
    driver.SAVES = _SHORT_SLICE
    task, X, y, limits = problem_of(options.data, asked["name"])
    with dask.Client(asked["address"]) as client:
        search = streed.Distributed(client, slice=options.slice, file=asked["file"])
        streed.solve(task, X, y, **limits, search=search)


# -- simulation ----------------------------------------------------------------------------------------------------


def simulate(task: Any, X: Any, y: Any, limits: dict[str, Any], workers: int, seconds: float) -> harness.Record:
    """What a run by so many workers would take, by the processor time of its pieces."""
    begin = time.process_time()
    frontier = streed.frontier(task, X, y, **limits, seconds=seconds)
    opened = now = time.process_time() - begin
    idle = list(range(workers))
    names = [str(worker) for worker in idle]
    stores: dict[int, Root] = {}
    begun: set[int] = set()
    running: list[tuple[float, int, int, Progressed | None]] = []
    longest, cpu, events = 0.0, opened, 0
    log: list[tuple[float, float, int, int, int, int]] = []
    while not frontier.is_done:
        while idle and (piece := frontier.next(len(idle), now, names[idle[0]], names)) is not None:
            worker = idle.pop(0)
            begin = time.process_time()
            store = stores.pop(worker, None) or Root(frontier.problem, frontier.precision, None)
            if worker in begun:  # a worker opens the root once
                begin = time.process_time()
            begun.add(worker)
            found = store.improve(piece)
            took = time.process_time() - begin
            if workers <= STORES and store.is_reusable:
                stores[worker] = store
            else:
                store.close()
            cpu, longest, events = cpu + took, max(longest, took), events + 1
            log.append((round(now, 4), round(took, 4), piece.edge, piece.part, piece.parts, found.nodes))
            heapq.heappush(running, (now + LATENCY + took, events, worker, found))
        if idle and not any(answer is None for *_, answer in running):
            # they ask again, as splits may be in flight for long by then
            events += 1
            heapq.heappush(running, (now + PATIENCE / 5, events, -1, None))
        now, _, worker, answer = heapq.heappop(running)
        if answer is not None:
            begin = time.process_time()
            frontier.settle(attrs.evolve(answer, where=names[worker]))
            cpu += time.process_time() - begin
            idle.append(worker)
    for store in stores.values():
        store.close()
    return {
        "wall": now,
        "opened": opened,
        "cpu": cpu,
        "nodes": frontier.nodes,
        "pieces": frontier.pieces,
        "longest": longest,
        "status": "optimal",
        "value": str(value_of(frontier)),
        "log": log,
    }


def replay(log: Any, workers: int) -> float:
    """Wall seconds in which so many workers go through the pieces of a simulation, in the order of their beginning."""
    free = [0.0] * workers
    for _, seconds, *_ in sorted(log):
        heapq.heappush(free, heapq.heappop(free) + LATENCY + seconds)
    return max(free)


def value_of(frontier: Frontier) -> Any:
    """The value as `streed.solve` gives it."""
    value = frontier.value
    return value if isinstance(value, int) else float(value)


# -- tables --------------------------------------------------------------------------------------------------------


def render(record: harness.Record) -> str:
    """The tables: runs, and simulated numbers of workers."""
    lines = []
    for row in record["rows"]:
        one = row["one"]
        for what, run in {"one process": one, **row["runs"]}.items():
            lines.append(
                [
                    row["case"],
                    what,
                    f"{run['wall']:.1f}",
                    "-" if run["cpu"] is None else f"{run['cpu']:.1f}",
                    f"{run['nodes']:,}",
                    f"{run['nodes'] / one['nodes']:.2f}",
                    "-" if run["cpu"] is None else f"{run['cpu'] / one['cpu']:.2f}",
                    run["pieces"],
                    run.get("killed", 0),
                    harness.verdict((run["status"], run["value"]) == ("optimal", one["value"])),
                ]
            )
    heads = ["case", "run", "wall s", "CPU s", "nodes", "nodes / one", "CPU / one", "pieces", "killed", "proved"]
    text = [harness.table(heads, lines, 2)]
    simulated = []
    for row in record["rows"]:
        one = row["one"]
        for workers, run in row["simulated"].items():
            simulated.append(
                [
                    row["case"],
                    workers,
                    f"{run['wall']:.2f}",
                    f"{one['cpu'] / run['wall']:.1f}",
                    f"{run['cpu']:.1f}",
                    f"{run['cpu'] / one['cpu']:.2f}",
                    f"{run['nodes'] / one['nodes']:.2f}",
                    run["pieces"],
                    f"{run['longest']:.2f}",
                    harness.verdict((run["status"], run["value"]) == ("optimal", one["value"])),
                ]
            )
    if simulated:
        heads = ["case", "workers", "wall s", "speed-up", "CPU s", "CPU / one", "nodes / one"]
        text.append("Simulated workers; the speed-up is in processor seconds of one process:")
        text.append(harness.table([*heads, "pieces", "longest piece s", "proved"], simulated))
    for row in record["rows"]:
        for workers, seconds in row.get("replayed", {}).items():
            most = max(map(int, row["simulated"]))
            text.append(
                f"{row['case']}: the pieces of {most} workers, handed to {workers}, take {seconds:.2f} s "
                f"(speed-up {row['one']['cpu'] / seconds:.1f})."
            )
    missed = [row["case"] for row in record["rows"] if not row["holds"]]
    return "\n\n".join([*text, *(f"Missed: {name}." for name in missed)])


if __name__ == "__main__":
    sys.exit(main())
