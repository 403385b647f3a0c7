"""What the benchmarks share: data, one core, the machine, timing, tables and files of numbers."""

from __future__ import annotations

import argparse
import datetime as dt
import gc
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import numpy as np

import streed

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"

FINE, MISSED, UNUSABLE = 0, 1, 2
"""Exit codes: all that must hold does; something does not; the benchmark could not be run."""

Record = dict[str, Any]
"""The numbers of one run as JSON holds them: benchmark, machine, and what the benchmark puts beside them."""

_Answer = TypeVar("_Answer")

median = statistics.median


def parser(name: str, description: str | None, *, data: bool = True) -> argparse.ArgumentParser:
    """The options that every benchmark takes; `data`: whether it reads files."""
    made = argparse.ArgumentParser(
        prog=f"python -m tests.benchmarks.{name}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if data:
        made.add_argument("--data", type=Path, default=DATA, metavar="FOLDER", help=f"the data (default: {DATA})")
    made.add_argument("--core", type=int, metavar="N", help="the core to run on (default: the last that is allowed)")
    made.add_argument("--json", type=Path, metavar="FILE", help="also write the raw numbers")
    return made


def start(options: argparse.Namespace) -> Record:
    """The machine, printed; from here on the process and its children run on one core, unless `all_cores` is set."""
    if options.json is not None and not options.json.resolve().parent.is_dir():
        fail(f"--json: there is no folder {options.json.resolve().parent}")
    if hasattr(options, "data") and not options.data.is_dir():
        fail(f"--data: there is no folder {options.data}; give the one with classification/ and known_optima.json")
    found = machine(None if getattr(options, "all_cores", False) else _pin(options.core))
    print(f"{machine_line(found)}\n", flush=True)
    return found


def finish(options: argparse.Namespace, record: Record, text: str) -> None:
    """Prints the tables and writes the file that `--json` asks for."""
    print(text, flush=True)
    if options.json is not None:
        options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def note(text: str) -> None:
    """Says on standard error how far a run has come."""
    print(text, file=sys.stderr, flush=True)


def fail(reason: str) -> NoReturn:
    """Ends the benchmark: it cannot be run."""
    print(f"error: {reason}", file=sys.stderr)
    sys.exit(UNUSABLE)


def read_data(folder: Path, table: str, name: str) -> tuple[Any, Any]:
    """X (n, p) int32 and y (n,) int32 of a data set; `table` is "classification" or "sparse", a folder of the data."""
    suffix, label = {"classification": (".csv", 0), "sparse": (".txt", -1)}[table]
    path = folder / table / (name + suffix)
    if not path.is_file():
        fail(f"there is no file {path}; --data names the folder that has {table}/")
    values = np.loadtxt(path, dtype=np.int32, ndmin=2)
    return np.ascontiguousarray(np.delete(values, label, axis=1)), np.ascontiguousarray(values[:, label])


def names_of(folder: Path, table: str) -> list[str]:
    """The data sets of a table, in alphabetical order."""
    names = sorted(path.stem for path in (folder / table).glob("*.*"))
    return names or fail(f"there are no data sets in {folder / table}")


def machine(core: int | None = None) -> Record:
    """What the numbers depend on: processor, instructions, versions, and how busy the machine is."""
    import llvmlite
    import numba
    from numba.core import config

    return {
        "cpu": _cpu_model(),
        "instructions": instructions(),
        "restricted": config.CPU_NAME is not None or config.CPU_FEATURES is not None,
        "cores": os.cpu_count(),
        "core": core,
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "system": platform.system(),
        "python": platform.python_version(),
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "numpy": np.__version__,
        "streed": streed.__version__,
        "commit": commit(),
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
    }


def machine_line(found: Record) -> str:
    """The machine in one line."""
    where = f"all {found['cores']} cores" if found["core"] is None else f"core {found['core']} of {found['cores']}"
    return (
        f"{found['cpu']}, {found['instructions']}, {where}, load {found['load']}; {found['system']}, "
        f"Python {found['python']}, numba {found['numba']}, numpy {found['numpy']}, "
        f"streed {found['streed']} ({found['commit']}); "
        f"{found['date']}"
    )


def instructions() -> str:
    """The widest instructions for which the engine's vectors are compiled."""
    from llvmlite.binding import get_host_cpu_features
    from numba.core import config

    features = get_host_cpu_features().flatten() if config.CPU_FEATURES is None else config.CPU_FEATURES
    known = {"avx512bitalg": "avx512 with vpopcnt", "avx512bw": "avx512", "avx2": "avx2"}
    wide = {"haswell": "avx2", "skylake-avx512": "avx512"}.get(config.CPU_NAME or "")
    return wide or next((name for each, name in known.items() if f"+{each}" in features), platform.machine())


def _pin(core: int | None) -> int | None:
    """The core on which this process and its children run from here on; None where the system has no such thing."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    allowed = sorted(os.sched_getaffinity(0))
    if core is not None and core not in allowed:
        fail(f"--core {core}: this process may use {', '.join(map(str, allowed))}")
    chosen = allowed[-1] if core is None else core
    os.sched_setaffinity(0, {chosen})
    return chosen


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def commit(folder: Path = ROOT) -> str:
    """The commit of a checkout, with a plus sign where its sources have been changed since; else the folder's name."""
    git = ["git", "-C", str(folder)]
    told = []
    for asked in (["rev-parse", "--short", "HEAD"], ["status", "--porcelain", "--", "streed", "tasks"]):
        done = subprocess.run([*git, *asked], capture_output=True, text=True, check=False, timeout=3600)
        if done.returncode:
            return folder.name
        told.append(done.stdout.strip())
    return told[0] + ("+" if told[1] else "")


@contextmanager
def no_collection() -> Iterator[None]:
    """A context in which Python's garbage is not collected, as timeit does it; it is collected before.

    To collect it before every call would be worse: it empties the processor's caches, which costs the next call a
    millisecond.
    """
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class Times:
    """How long calls of one kind took: wall and processor time."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.cpu: list[float] = []

    def __len__(self) -> int:
        return len(self.wall)

    def run(self, call: Callable[[], _Answer], counts: Callable[[_Answer], bool] = lambda _: True) -> _Answer:
        """The answer of a call, timed if it `counts`."""
        wall, cpu = time.perf_counter(), time.process_time()
        answer = call()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        if counts(answer):
            self.wall.append(wall)
            self.cpu.append(cpu)
        return answer


def repeats(seconds: float) -> int:
    """How often to measure what takes this long: 30 times if quick, three times below 5 s, once above 20 s."""
    if seconds > 20:
        return 1
    return 2 if seconds > 5 else max(3, min(30, int(2 / max(seconds, 1e-6))))


def turn(seconds: float) -> int:
    """How many calls that take this long to make in a row, before it is the other's turn.

    The first call after another program's finds the processor's caches full of that one's data; where that matters,
    most calls are to find their own.
    """
    return 5 if seconds < 0.1 else 1


def geometric_mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], left: int = 1) -> str:
    """A markdown table; the first `left` columns are texts, the others numbers."""
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(4, *(len(row[j]) for row in [list(heads), *texts])) for j in range(len(heads))]

    def line(cells: Sequence[str]) -> str:
        fitted = [c.ljust(w) if j < left else c.rjust(w) for j, (c, w) in enumerate(zip(cells, widths, strict=True))]
        return f"| {' | '.join(fitted)} |"

    rule = "|".join("-" * (w + 2) if j < left else "-" * (w + 1) + ":" for j, w in enumerate(widths))
    return "\n".join([line(heads), f"|{rule}|", *map(line, texts)])


def milliseconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1e3:,.2f}" if seconds < 0.1 else f"{seconds * 1e3:,.0f}"


def verdict(holds: bool) -> str:
    return "yes" if holds else "NO"
