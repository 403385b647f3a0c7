"""Prebuilt against compiled code: the same values, trees and work on random problems of every kind.

    python -m tests.differential.prebuilt --problems 2000

Each problem is solved in two processes, one with the prebuilt library, which must be there
(`python -m streed.prebuild`), and one with STREED_PREBUILT=0. Answers are compared as text: value, bounds, the tree
with all its numbers, and how many nodes were visited. The exit code is 1 if any differs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.differential.instances import make_instance

SEED = 20_261_122

_DRIVERS = ("depth-first", "branches", "discrepancy")

_KINDS = (
    *("two labels", "three labels", "sparse", "multiway", "weights", "limits", "many rows"),
    *("thresholds", "regression", "regression by thresholds", "survival", "gini", "f1", "parity", "front"),
)

_MANY_ROWS, _FEW_ROWS = 20_000, 200


def problems(count: int) -> Iterator[tuple[str, Any, Any, Any, dict[str, Any]]]:
    """(kind, task, X, y, arguments of `solve`): half of them small ones of all kinds, half larger ones by rows."""
    from streed import tasks

    for number in range(count):
        if number % 2 == 0:
            small = make_instance(SEED, number)
            options = {**small.limits, **small.arguments(), "search": _DRIVERS[number // 2 % 3]}
            yield "small", small.task, small.array(), small.y, options
            continue
        draw = np.random.default_rng((SEED, number))
        kind = _KINDS[number // 2 % len(_KINDS)]
        rows = _MANY_ROWS if kind == "many rows" else _FEW_ROWS
        columns = int(draw.integers(3, 12))
        X = draw.integers(0, 2, (rows, columns)).astype(np.uint8)
        noise = draw.random(rows) < 0.2
        y = (X[:, 0] ^ (X[:, 1] & X[:, 2]) ^ noise).astype(int)
        options = {"max_depth": int(draw.integers(1, 5)), "search": _DRIVERS[number // 2 // len(_KINDS) % 3]}
        task: Any = tasks.Accuracy()
        if kind == "three labels":
            y += X[:, -1]
        elif kind == "sparse":
            task = tasks.SparseAccuracy(0.01)
            if draw.random() < 0.5:
                del options["max_depth"]
        elif kind == "multiway":
            X[:, -1] = draw.integers(0, 4, rows)
            X[:4, -1] = range(4)
            options["categorical"] = [columns - 1]
        elif kind == "weights":
            options["sample_weight"] = draw.integers(1, 2 ** int(draw.integers(1, 40)), rows).tolist()
        elif kind == "limits":
            options |= {"min_leaf": int(draw.integers(1, 20)), "max_nodes": int(draw.integers(1, 8))}
        elif kind in _SCORES:
            yield kind, *_scored(kind, X, y, draw)
            continue
        yield kind, task, X, y, options


_SCORES = _KINDS[_KINDS.index("thresholds") :]


def _scored(kind: str, X: Any, y: Any, draw: np.random.Generator) -> tuple[Any, Any, Any, dict[str, Any]]:
    """(task, X, y, arguments) of those kinds that are no sums of costs per row, or of thresholds."""
    from streed import tasks

    n = len(X)
    numbers = draw.normal(size=(n, 2))
    targets = np.round(X @ draw.normal(size=X.shape[1]) + draw.normal(size=n), int(draw.integers(0, 10)))
    options: dict[str, Any] = {"max_depth": int(draw.integers(1, 4))}
    if kind == "thresholds":
        return tasks.Accuracy(), numbers, y ^ (numbers[:, 0] > 0), options
    if kind == "regression":
        return tasks.SquaredError(), X, targets, options
    if kind == "regression by thresholds":
        return tasks.SquaredError(), numbers, targets + numbers[:, 1], {"max_depth": 2}
    if kind == "survival":
        return tasks.RelativeRisk(), X, draw.exponential(1 + X[:, 0]), {**options, "event": y}
    if kind == "gini":
        return tasks.Gini(), X, y, options
    if kind == "f1":
        return tasks.F1(), X, y, options
    if kind == "parity":
        limit = tasks.DemographicParity() <= float(draw.choice([0.01, 0.05, 0.1]))
        return tasks.Accuracy().subject_to(limit), X, y, {**options, "sensitive_features": X[:, 0]}
    return tasks.ClassErrors(), X[:, :6], y, options


def answers(count: int) -> None:
    """Prints what each problem comes to, a line each; then what was used, and the seconds."""
    import streed
    from streed.kernels.prebuilt.library import library

    begin = time.process_time()
    for kind, task, X, y, options in problems(count):
        result = streed.solve(task, X, y, **options)
        points = [value for value, _ in result.front] if kind == "front" else result.value
        values = [repr(each) for each in (points, result.lower_bound, result.upper_bound)]
        tree = None if result.tree is None else result.tree.to_json()
        print(json.dumps([kind, str(task), result.status, values, tree, result.stats["nodes"]]))
    used = library()
    said = {"prebuilt": used is not None, "numba": "numba" in sys.modules, "seconds": time.process_time() - begin}
    print(json.dumps(said))


def run_process(count: int, prebuilt: str, **environment: str) -> tuple[list[Any], dict[str, Any]]:
    """What a process answers, and what it used."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.differential.prebuilt", "--answer", "--problems", str(count)],
        env={**os.environ, "STREED_PREBUILT": prebuilt, **environment},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=600,
    )
    *lines, said = map(json.loads, run.stdout.splitlines())
    return lines, said


def main(arguments: list[str] | None = None) -> int:
    """1 if an answer differs or no library was used."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential.prebuilt", description=__doc__)
    parser.add_argument("--problems", type=int, default=2000, metavar="N")
    parser.add_argument("--level", default="", help="of the library, another than the best one")
    parser.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.answer:
        answers(options.problems)
        return 0
    found, used = run_process(options.problems, options.level)
    expected, compiled = run_process(options.problems, "0")
    wrong = 0
    for number, (one, other) in enumerate(zip(found, expected, strict=True)):
        if one != other:
            wrong += 1
            print(f"problem {number}:\n  prebuilt {one}\n  compiled {other}")
    kinds = Counter(kind for kind, *_ in expected)
    print(f"{len(expected)} problems, {wrong} differ: {dict(kinds)}\nprebuilt {used}\ncompiled {compiled}")
    return int(wrong > 0 or not used["prebuilt"] or compiled["prebuilt"])


if __name__ == "__main__":
    sys.exit(main())
