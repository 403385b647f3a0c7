"""Two checkouts beside each other: the same instances of every family, solved by each in processes that take turns.

    python -m tests.benchmarks.versions ../old .

A checkout is a folder with `streed` in it, such as a worktree of an older commit; only what both have is used. Of every
instance the least processor time of all processes of a version counts; a family shows the geometric mean of new / old,
the most memory that a process held, and the seconds until its first answer (the first instance of the family, with
imports). Both versions begin with an empty folder of compiled code in `--cache`, so the first process of a family
compiles what the earlier ones had not; `--cache FOLDER` keeps it for another run, whose first processes then compile
nothing.

The exit code is 1 if an answer differs, or a family is more than 5 % slower by the geometric mean.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tempfile
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


Posed = tuple[Any, Any, Any, dict[str, Any]]
"""A task, X, y and what stands beside them."""


def with_tests(folder: Path, name: str, level: str) -> Posed:
    home = folder / "cost-sensitive" / name
    values = _numbers(home / f"{name}-train-1.csv")
    task = CostSensitive(str(home / f"{name}-{level}-costs.csv"))
    return task, _columns(values, 1), values[:, 0].astype(np.int64), {}


def of_rows(folder: Path, name: str) -> Posed:
    values = _numbers(folder / "instance-cost" / f"{name}.txt")
    return InstanceCosts(), _columns(values, 9), None, {"costs": np.ascontiguousarray(values[:, 1:9])}


def of_treatments(folder: Path, name: str, method: str) -> Posed:
    values = _numbers(folder / "policy" / f"{name}.csv")
    past = {
        "treatment": values[:, 1].astype(np.int64),
        "outcome": values[:, 2],
        "propensity": values[:, 3],
        "predicted": np.ascontiguousarray(values[:, 4:7]),
    }
    return PolicyValue(method), _columns(values, 11), None, past


def of_numbers(folder: Path, name: str, task: Any) -> Posed:
    values = _numbers(folder / "regression" / f"{name}.csv")
    return task, _columns(values, 1), values[:, 0].copy(), {}


def of_times(folder: Path, name: str) -> Posed:
    values = _numbers(folder / "survival" / f"{name}_binary.txt")
    return RelativeRisk(), _columns(values, 2), values[:, 0].copy(), {"event": values[:, 1].astype(np.int64)}


def of_any_depth(folder: Path, name: str, lam: float) -> Posed:
    values = _numbers(folder / "sparse" / f"{name}.txt", np.int32)
    X = np.ascontiguousarray(values[:, :-1])
    return SparseAccuracy(lam), X, values[:, -1].copy(), {"categorical": np.flatnonzero(X.max(axis=0) > 1).tolist()}


def _costs(folder: Path) -> Iterator[Instance]:
    posed: dict[str, Posed] = {}
    for home in sorted((folder / "cost-sensitive").iterdir()):
        posed |= {f"{home.name}, {level}": with_tests(folder, home.name, level) for level in ("low", "high")}
    for path in sorted((folder / "policy").glob("train_*.csv")):
        posed[f"{path.stem}, dm"] = of_treatments(folder, path.stem, "dm")
    posed["airfoil"] = of_numbers(folder, "airfoil", SquaredError())
    posed["colon"] = of_times(folder, "colon")
    posed["maxsat21"] = of_rows(folder, "maxsat21-32f")
    for name, (task, X, y, given) in posed.items():
        yield _solve(f"{name} d3", task, X, y, max_depth=3, **given)


def _sparse(folder: Path) -> Iterator[Instance]:
    for name, lam in _SPARSE:
        yield _solve(f"{name}, {lam}", *of_any_depth(folder, name, lam)[:3])


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
    return {"cpu": cpu, "wall": wall, "answer": answer_of(result)}


def answer_of(result: Any) -> str:
    """The value or the front, as text in which versions that write numbers differently agree."""
    if isinstance(result.value, tuple):
        return repr(sorted(tuple(f"{float(part):.9g}" for part in value) for value, _ in result.front))
    return f"{float(result.value):.9g}"


def child(family: str, folder: Path, budget: float) -> dict[str, Any]:
    """What a process says of a family: seconds until its first answer, memory, and least times and answers."""
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


SLOWEST = 1.05
"""New / old, the geometric mean of a family."""


def main(arguments: list[str] | None = None) -> int:
    """1 if an answer differs or a family is slower than it may be, else 0."""
    from tests.benchmarks import harness

    parser = harness.parser("versions", __doc__)
    parser.add_argument("old", type=Path, help="a folder with streed in it")
    parser.add_argument("new", type=Path, help="another")
    parser.add_argument("--families", nargs="+", choices=FAMILIES, metavar="NAME", default=list(FAMILIES))
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="processes of each (default: 3)")
    parser.add_argument("--budget", type=float, default=0.1, metavar="S", help="of an instance (default: 0.1)")
    parser.add_argument("--cache", type=Path, metavar="FOLDER", help="of compiled code (default: a temporary one)")
    options = parser.parse_args(arguments)
    folders = {"old": options.old.resolve(), "new": options.new.resolve()}
    for folder in folders.values():
        if not (folder / "streed").is_dir():
            harness.fail(f"there is no folder {folder / 'streed'}")
    record: dict[str, Any] = {"benchmark": "versions", "machine": harness.start(options), "rows": []}
    record["commits"] = {version: harness.commit(folder) for version, folder in folders.items()}
    with tempfile.TemporaryDirectory() as own:
        for family in options.families:
            runs: dict[str, list[Any]] = {version: [] for version in folders}
            for turn in range(options.rounds + 1):  # the first one compiles
                order = list(folders) if turn % 2 else list(folders)[::-1]
                for version in order:
                    cache = (options.cache or Path(own)) / version
                    runs[version].append(_run(folders[version], cache, family, options))
            record["rows"].append(row_of(family, runs))
            harness.note(f"{family}: new / old {record['rows'][-1]['ratio']:.3f}")
            if options.json is not None:  # a long run that is stopped leaves what it has
                options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    harness.finish(options, record, render(record))
    return harness.FINE if all(row["holds"] for row in record["rows"]) else harness.MISSED


def _run(folder: Path, cache: Path, family: str, options: Any) -> Any:
    """What a process with the streed of a folder says of a family."""
    cache.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-P", __file__, "child", family, str(options.data.resolve()), str(options.budget)],
        env={**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(cache.resolve())},
        capture_output=True,
        text=True,
        check=False,
        timeout=3600,
    )
    if done.returncode:
        raise SystemExit(f"error: {family}, {folder}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout)


def row_of(family: str, runs: dict[str, list[Any]]) -> dict[str, Any]:
    """What was found of a family: of each version its first process, and the least of the others."""
    from tests.benchmarks import harness

    row: dict[str, Any] = {"family": family, "solves": {}}
    for name in runs["old"][0]["solves"]:
        least = {
            version: {key: min(run["solves"][name][key] for run in found[1:]) for key in ("cpu", "wall")}
            for version, found in runs.items()
        }
        said = {version: sorted({run["solves"][name]["answer"] for run in found}) for version, found in runs.items()}
        row["solves"][name] = {"least": least, "answers": said}
    solves = row["solves"].values()
    for key, where in (("ratio", "cpu"), ("wall_ratio", "wall")):
        row[key] = harness.geometric_mean(
            [each["least"]["new"][where] / each["least"]["old"][where] for each in solves]
        )
    row["largest"] = max(each["least"]["new"]["cpu"] / each["least"]["old"]["cpu"] for each in solves)
    row["peak"] = {version: min(run["peak"] for run in found[1:]) for version, found in runs.items()}
    row["first"] = {version: found[0]["first_cpu"] for version, found in runs.items()}
    row["later"] = {version: min(run["first_cpu"] for run in found[1:]) for version, found in runs.items()}
    row["differs"] = [name for name, each in row["solves"].items() if len(set().union(*each["answers"].values())) > 1]
    row["holds"] = not row["differs"] and row["ratio"] <= SLOWEST
    return row


def render(record: dict[str, Any]) -> str:
    """The table, and the answers that differ."""
    from tests.benchmarks import harness

    heads = ["family", "solves", "CPU new / old", "largest", "wall new / old", "peak MB old", "new"]
    heads += ["first process CPU s old", "new", "later old", "new", "same answers"]
    lines = []
    for row in record["rows"]:
        cells = [row["family"], len(row["solves"]), f"{row['ratio']:.3f}", f"{row['largest']:.2f}"]
        cells += [f"{row['wall_ratio']:.3f}"]
        cells += [f"{row['peak'][version] / 1e6:,.0f}" for version in ("old", "new")]
        cells += [f"{row[key][version]:.2f}" for key in ("first", "later") for version in ("old", "new")]
        lines.append([*cells, harness.verdict(not row["differs"])])
    text = [f"Old: {record['commits']['old']}; new: {record['commits']['new']}.", harness.table(heads, lines)]
    for row in record["rows"]:
        text += [f"{row['family']}, {name}: {row['solves'][name]['answers']}" for name in row["differs"]]
    missed = [row["family"] for row in record["rows"] if row["ratio"] > SLOWEST]
    return "\n\n".join([*text, *([f"Slower: {', '.join(missed)}."] if missed else [])])


if __name__ == "__main__":
    if sys.argv[1] == "child":  # with the streed of either checkout, which may have no harness
        json.dump(child(sys.argv[2], Path(sys.argv[3]), float(sys.argv[4])), sys.stdout)
    else:
        sys.exit(main())
