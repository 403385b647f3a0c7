"""Solves of a family: a process that `tests.benchmarks.versions` starts with the streed of one of its two checkouts.

    python -P versions_solves.py FAMILY DATA BUDGET

Only what both have is used: `streed.solve`, tasks and their arguments. Prints, as JSON, the seconds until the first
answer and the processor seconds of the process until then, the most memory, and for each instance its least processor
and wall seconds and its answer. Each is solved for BUDGET seconds after its first time, at most 200 times.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_BEGIN = time.perf_counter()

import numpy as np  # noqa: E402

import streed  # noqa: E402
from streed.tasks import (  # noqa: E402
    F1,
    Accuracy,
    ClassErrors,
    CostSensitive,
    DemographicParity,
    EqualOpportunity,
    InstanceCosts,
    PolicyValue,
    RelativeRisk,
    SparseAccuracy,
    SquaredError,
)

MOST = 200
"""Solves of an instance in a process."""

Instance = tuple[str, Callable[[], Any]]

_SPARSE = (
    ("monk1-f", 0.001),
    ("monk2-f", 0.001),
    ("monk3-f", 0.001),
    ("monk1", 0.01),
    ("monk3", 0.001),
    ("mushroom", 0.01),
    ("tictactoe", 0.005),
    ("tictactoe-f", 0.005),
    ("krvskp", 0.01),
)
"""Data sets, and the price of a split, of any depth."""


class LinearAccuracy(streed.Task):
    """Errors as a user writes them: linear in the sums."""

    def statistics(self, data):  # type: ignore[no-untyped-def]
        return {"counts": data.y[:, None] == np.arange(data.n_classes)}

    def leaf_cost(self, s, k):  # type: ignore[no-untyped-def]
        return s.rows - s.counts[k]


class CompiledAccuracy(streed.Task):
    """Errors of the majority class, which is no linear function; with the facts that a careful user declares."""

    superadditive = True

    def statistics(self, data):  # type: ignore[no-untyped-def]
        return {"counts": data.y[:, None] == np.arange(data.n_classes)}

    def leaf_cost(self, s, k):  # type: ignore[no-untyped-def]
        return s.rows - max(s.counts)

    def worst_per_row(self, data):  # type: ignore[no-untyped-def]
        return np.ones(data.n_rows)

    def lower_bound(self, s):  # type: ignore[no-untyped-def]
        return 0


def _solve(name: str, task: Any, X: Any, y: Any = None, **given: Any) -> Instance:
    return name, lambda: streed.solve(task, X, y, **given)


def _numbers(path: Path, kind: Any = np.float64) -> Any:
    return np.loadtxt(path, dtype=kind, ndmin=2)


def _columns(values: Any, first: int) -> Any:
    return np.ascontiguousarray(values[:, first:], dtype=np.int64)


def _classified(folder: Path, task: Any, depth: int, names: Any = ()) -> Iterator[Instance]:
    for path in sorted((folder / "classification").glob("*.csv")):
        if not names or path.stem in names:
            values = _numbers(path, np.int32)
            X, y = np.ascontiguousarray(values[:, 1:]), values[:, 0].copy()
            yield _solve(f"{path.stem} d{depth}", task, X, y, max_depth=depth)


def _fair(folder: Path, task: Any, depth: int) -> Iterator[Instance]:
    for path in sorted((folder / "fairness").glob("*-binarized.csv")):
        values = _numbers(path, np.int32)
        X, y, groups = np.ascontiguousarray(values[:, 2:]), values[:, 0].copy(), values[:, 1].copy()
        yield _solve(f"{path.stem} d{depth}", task, X, y, max_depth=depth, sensitive_features=groups)


def _fairness(folder: Path) -> Iterator[Instance]:
    for notion in (DemographicParity(), EqualOpportunity()):
        for name, solve in _fair(folder, Accuracy().subject_to(notion <= 0.01), 2):
            yield f"{type(notion).__name__}, {name}", solve
    yield from _fair(folder, Accuracy().subject_to(DemographicParity() <= 0.01), 3)


def _fronts(folder: Path) -> Iterator[Instance]:
    yield from _classified(folder, ClassErrors(), 3)
    yield from _fair(folder, Accuracy() & DemographicParity(), 2)


def _costs(folder: Path) -> Iterator[Instance]:
    for home in sorted((folder / "cost-sensitive").iterdir()):
        values = _numbers(home / f"{home.name}-train-1.csv")
        X, y = _columns(values, 1), values[:, 0].astype(np.int64)
        for level in ("low", "high"):
            task = CostSensitive(str(home / f"{home.name}-{level}-costs.csv"))
            yield _solve(f"{home.name}, {level} d3", task, X, y, max_depth=3)
    for path in sorted((folder / "policy").glob("train_*.csv")):
        values = _numbers(path)
        past = {
            "treatment": values[:, 1].astype(np.int64),
            "outcome": values[:, 2],
            "propensity": values[:, 3],
            "predicted": np.ascontiguousarray(values[:, 4:7]),
        }
        yield _solve(f"{path.stem}, dm d3", PolicyValue("dm"), _columns(values, 11), max_depth=3, **past)
    values = _numbers(folder / "regression" / "airfoil.csv")
    yield _solve("airfoil d3", SquaredError(), _columns(values, 1), values[:, 0].copy(), max_depth=3)
    values = _numbers(folder / "survival" / "colon_binary.txt")
    events = values[:, 1].astype(np.int64)
    yield _solve("colon d3", RelativeRisk(), _columns(values, 2), values[:, 0].copy(), event=events, max_depth=3)
    values = _numbers(folder / "instance-cost" / "maxsat21-32f.txt")
    rows = np.ascontiguousarray(values[:, 1:9])
    yield _solve("maxsat21 d3", InstanceCosts(), _columns(values, 9), costs=rows, max_depth=3)


def _sparse(folder: Path) -> Iterator[Instance]:
    for name, lam in _SPARSE:
        values = _numbers(folder / "sparse" / f"{name}.txt", np.int32)
        yield _solve(f"{name}, {lam}", SparseAccuracy(lam), np.ascontiguousarray(values[:, :-1]), values[:, -1].copy())


def _own(folder: Path) -> Iterator[Instance]:
    for task in (LinearAccuracy(), CompiledAccuracy()):
        for depth in (2, 3):
            chosen = ("anneal", "hepatitis", "yeast", "tic-tac-toe")
            for name, solve in _classified(folder, task, depth, chosen):
                yield f"{type(task).__name__}, {name}", solve


def _small(folder: Path) -> Iterator[Instance]:
    """150 rows of 12 columns, as of a fold or a subgroup."""
    draw = np.random.default_rng(0)
    X = draw.integers(0, 2, (150, 12)).astype(np.uint8)
    y = ((X[:, 0] & X[:, 1]) ^ X[:, 2] ^ (draw.random(150) < 0.2)).astype(int)
    target, groups = np.round(draw.normal(size=150), 2), X[:, 4]
    fair = Accuracy().subject_to(DemographicParity() <= 0.01)
    yield _solve("accuracy d2", Accuracy(), X, y, max_depth=2)
    yield _solve("accuracy d3", Accuracy(), X, y, max_depth=3)
    yield _solve("F1 d2", F1(), X, y, max_depth=2)
    yield _solve("parity d2", fair, X, y, max_depth=2, sensitive_features=groups)
    yield _solve("front d2", ClassErrors(), X, y, max_depth=2)
    yield _solve("squared error d2", SquaredError(), X, target, max_depth=2)


FAMILIES: dict[str, Callable[[Path], Iterator[Instance]]] = {
    "accuracy, depth 3": lambda folder: _classified(folder, Accuracy(), 3),
    "accuracy, depth 4": lambda folder: _classified(folder, Accuracy(), 4),
    "accuracy, depth 5": lambda folder: _classified(folder, Accuracy(), 5),
    "F1": lambda folder: _classified(folder, F1(), 3),
    "fairness": _fairness,
    "fronts": _fronts,
    "costs": _costs,
    "sparse": _sparse,
    "tasks of one's own": _own,
    "small calls": _small,
}


def measure(solve: Callable[[], Any], budget: float) -> dict[str, Any]:
    """The least times of an instance, and its answer."""
    result = solve()
    cpu = wall = float("inf")
    end, count = time.perf_counter() + budget, 0
    while count == 0 or (count < MOST and time.perf_counter() < end):
        wall_begin, cpu_begin = time.perf_counter(), time.process_time()
        result = solve()
        cpu = min(cpu, time.process_time() - cpu_begin)
        wall = min(wall, time.perf_counter() - wall_begin)
        count += 1
    return {"cpu": cpu, "wall": wall, "answer": answer_of(result), "status": result.status}


def answer_of(result: Any) -> str:
    """The value or the front, as text in which versions that write numbers differently agree."""
    if isinstance(result.value, tuple):
        return repr(sorted(tuple(f"{float(part):.9g}" for part in value) for value, _ in result.front))
    return f"{float(result.value):.9g}"


def main(family: str, folder: Path, budget: float) -> dict[str, Any]:
    """What the process says."""
    instances = iter(FAMILIES[family](folder))
    name, solve = next(instances)
    solve()
    times = os.times()
    found: dict[str, Any] = {"first": time.perf_counter() - _BEGIN, "first_cpu": sum(times[:4]), "solves": {}}
    gc.collect()
    gc.disable()
    found["solves"][name] = measure(solve, budget)
    for name, solve in instances:
        found["solves"][name] = measure(solve, budget)
    status = Path("/proc/self/status").read_text(encoding="utf-8")  # a child's ru_maxrss begins with its parent's
    return found | {"peak": int(status.partition("VmHWM:")[2].split()[0]) * 1024}


if __name__ == "__main__":
    json.dump(main(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3])), sys.stdout)
