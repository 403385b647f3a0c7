"""Row prices against enumeration: feasible, admissible at every node, and of no influence on any answer.

    python -m tests.differential.row_prices --count 5000 --seed 0             # prices and bounds
    python -m tests.differential.row_prices --solves --count 2000 --seed 0    # searches with prices and without
    python -m tests.differential.row_prices --scores --count 500 --seed 0     # scores and limits

Problems are tiny: errors, weights small and huge, frequencies, cost matrices and costs per row, two or three labels,
with and without a categorical column, minimum support and a depth limit. The exit code is 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import itertools
import sys
import threading
import time
from collections.abc import Iterator
from fractions import Fraction
from typing import Any
from unittest import mock

import attrs
import numpy as np

import streed
from streed import tasks
from streed.bnb.pricing_beside import PricingBeside
from streed.data import Dataset
from streed.drivers.branches import Branches
from streed.drivers.depth_first import DepthFirst
from streed.encoding.row_costs import RowCosts
from streed.kernels.control import ROWS_OF_CONTROL
from streed.problem import Problem
from streed.row_prices.generation import Generation
from streed.row_prices.leaves import Leaves
from streed.row_prices.prices import Prices

Array = np.ndarray[Any, Any]


@attrs.frozen(eq=False)
class Posed:
    """One problem: the arguments of `streed.solve`."""

    kind: str
    task: Any
    X: Array
    y: Array | None
    options: dict[str, Any]
    min_leaf: int
    max_depth: int | None

    def problem(self) -> Problem:
        """The problem, its task bound to the data."""
        data = Dataset.make(self.X, self.y, **self.options)
        return Problem(data, self.task.bind(data), self.max_depth, None, self.min_leaf)


KINDS = ("errors", "weights", "huge weights", "frequency", "cost matrix", "instance costs")


def pose(seed: int, number: int, rows: int = 30, columns: int = 5) -> Posed:
    """A random problem; with more rows and columns, one for searches that take a moment."""
    rng = np.random.default_rng((seed, number))
    kind = KINDS[number % len(KINDS)]
    n, m = int(rng.integers(8, rows)), int(rng.integers(2, columns + 1))
    labels = int(rng.integers(2, 4))
    X = rng.integers(0, 2, (n, m))
    options: dict[str, Any] = {}
    if rng.random() < 0.3:
        X[:, 0] = rng.integers(0, 3, n)
        X[:3, 0] = range(3)
        options["categorical"] = [0]
    y: Array | None = (X[:, 0] + (X[:, -1] & rng.integers(0, 2, n))) % labels
    flip = rng.random(n) < 0.25
    assert y is not None
    y[flip] = rng.integers(0, labels, int(flip.sum()))
    y[:labels] = range(labels)
    lam = str(rng.choice(["0.01", "0.03", "0.05", "0.1"]))
    task: Any = tasks.SparseAccuracy(Fraction(lam))
    if kind == "weights":
        options["sample_weight"] = rng.integers(1, 10 ** int(rng.integers(1, 7)), n)
    elif kind == "huge weights":
        options["sample_weight"] = rng.integers(1, 10**12, n)
    elif kind == "frequency":
        options["frequency"] = rng.integers(1, 5, n)
    elif kind == "cost matrix":
        matrix = rng.integers(0, 10, (labels, labels))
        np.fill_diagonal(matrix, 0)
        task = tasks.MisclassificationCosts(matrix.tolist()) + int(rng.integers(1, 20)) * tasks.Splits()
    elif kind == "instance costs":
        options["costs"] = rng.integers(-5, 20, (n, labels))
        task = tasks.InstanceCosts() + int(rng.integers(1, 20)) * tasks.Splits()
        y = None
    return Posed(kind, task, X, y, options, int(rng.choice([1, 1, 1, 2, 4])), [None, None, 2, 3][int(rng.integers(4))])


def pose_score(seed: int, number: int) -> Posed:
    """A random problem whose task asks for scalar solves: a score or a limit, with a price per split."""
    rng = np.random.default_rng((seed, number, 2))
    n, m = int(rng.integers(20, 120)), int(rng.integers(3, 8))
    X = rng.integers(0, 2, (n, m))
    y = (X[:, 0] ^ (X[:, 1] & X[:, -1]) ^ (rng.random(n) < 0.25)).astype(int)
    y[:2] = range(2)
    groups = (X[:, 1] ^ (rng.random(n) < 0.3)).astype(int)
    groups[:2] = range(2)
    lam = Fraction(str(rng.choice(["0.01", "0.03", "0.05"])))
    limited = tasks.SparseAccuracy(lam).subject_to(tasks.DemographicParity() <= Fraction(int(rng.integers(3, 20)), 100))
    task, kind = (limited, "a limit") if number % 2 else (tasks.F1() - lam * tasks.Splits(), "a score")
    options: dict[str, Any] = {"sensitive_features": groups}
    if rng.random() < 0.3:
        options["frequency"] = rng.integers(1, 4, n)
    return Posed(kind, task, X, y, options, int(rng.choice([1, 1, 3])), None)


def conjunctions(leaves: Leaves, most_literals: int | None = None) -> Array:
    """(M, N) bool: all sets of classes that branches of allowed literals lead to, but for empty ones."""
    bits, choices = leaves.bits, []
    for f in range(bits.shape[1]):
        values = [value for value in (0, 1) if leaves.allowed[2 * f + value]]
        choices.append([None, *values])
    found = []
    for chosen in itertools.product(*choices):
        if most_literals is not None and sum(value is not None for value in chosen) > most_literals:
            continue
        members = np.ones(leaves.n_classes, bool)
        for f, value in enumerate(chosen):
            if value is not None:
                members &= bits[:, f] == value
        if members.any() and leaves.counts[members].sum() >= leaves.min_leaf:
            found.append(members)
    return np.array(found)


def least_codes(posed: Posed, encoding: RowCosts, leaves: Leaves) -> Iterator[tuple[Array, int]]:
    """(members, least cost as a code) of every subproblem that some branch leads to within the depth."""
    literals = encoding.packed.literals
    split = encoding.packed.split_cost
    sides: list[list[int]] = [[2 * f, 2 * f + 1] for f in range(encoding.packed.n_binary)]
    sides += [[2 * f + 1 for f in range(literals[c], literals[c + 1])] for c in range(len(literals) - 1)]
    satisfied = {literal: leaves.members([(literal,)])[0] for side in sides for literal in side}
    unlimited = leaves.bits.shape[1] + 1
    reached: dict[tuple[bytes, int], int] = {}

    def parts(members: Array) -> Iterator[list[Array]]:
        for side in sides:
            children = [members & satisfied[literal] for literal in side]
            children = [child for child in children if child.any()]
            if len(children) > 1:
                yield children

    @functools.cache
    def least(key: bytes, depth: int) -> int | None:
        members = np.frombuffer(key, bool)
        if leaves.counts[members].sum() < leaves.min_leaf:
            return None
        best = int(leaves.costs[members].sum(axis=0).min())
        if depth > 0:
            for children in parts(members):
                costs = [least(child.tobytes(), depth - 1) for child in children]
                if all(cost is not None for cost in costs):
                    best = min(best, split + sum(cost for cost in costs if cost is not None))
        reached[key, depth] = best
        return best

    least(np.ones(leaves.n_classes, bool).tobytes(), posed.max_depth or unlimited)
    for (key, _), best in reached.items():
        yield np.frombuffer(key, bool), best


def made_prices(leaves: Leaves) -> list[Prices]:
    """All prices that column generation hands over."""
    found: list[Prices] = []
    Generation(leaves, np.zeros(ROWS_OF_CONTROL, np.int64), found.append).run()
    return found


def faults_of_prices(posed: Posed) -> list[str]:
    """What is wrong with the prices of a problem."""
    encoding = RowCosts.of(posed.problem())
    assert encoding is not None
    parted = encoding.leaves(posed.problem())
    if parted is None:
        packed = encoding.packed
        return [] if packed.n_columns == 0 or len(packed.groups.places) == 0 else ["no leaves"]
    leaves, _ = parted
    handed_over = made_prices(leaves)
    if not handed_over:
        return ["no prices"]
    faults = []
    every = conjunctions(leaves, posed.max_depth)
    paid = (every @ leaves.costs).min(axis=1)
    for prices in handed_over:
        unit = Fraction(2) ** prices.shift
        if any(
            Fraction(int(charged)) > (int(cost) + leaves.due) * unit
            for charged, cost in zip(every @ prices.units, paid, strict=True)
        ):
            faults.append("a leaf is overcharged")
    prices = handed_over[-1]
    for members, least in least_codes(posed, encoding, leaves):
        part = attrs.evolve(prices, units=prices.units * members)
        if part.code(leaves) > least:
            faults.append("a bound is too high")
    return faults


@contextlib.contextmanager
def prices_first() -> Iterator[None]:
    """Searches begin with the best prices of their rows."""

    def work(self: PricingBeside, seconds: float) -> None:
        if self._end is None:
            self._end = threading.Event()
            self._work(self._end)

    with mock.patch.object(PricingBeside, "start_after", work):
        yield


def faults_of_solves(posed: Posed) -> list[str]:
    """What searches with prices answer otherwise than searches without."""
    faults = []
    values = []
    given = {**posed.options, "max_depth": None, "min_leaf": posed.min_leaf}
    for driver in (DepthFirst, Branches):
        plain = streed.solve(posed.task, posed.X, posed.y, search=driver(row_prices=False), **given)
        with prices_first():
            helped = streed.solve(posed.task, posed.X, posed.y, search=driver(), **given)
        if (plain.status, plain.value, plain.upper_bound) != (helped.status, helped.value, helped.upper_bound):
            faults.append(f"{driver.name}: {plain.status} {plain.value}, with prices {helped.status} {helped.value}")
        values.append(plain.value)
    if values[0] != values[1]:
        faults.append("drivers differ")
    return faults


def main(arguments: list[str] | None = None) -> int:
    """1 if anything is wrong, else 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--solves", action="store_true")
    parser.add_argument("--scores", action="store_true")
    options = parser.parse_args(arguments)
    begin = time.perf_counter()
    wrong = 0
    for number in range(options.count):
        if options.scores:
            faults = faults_of_solves(pose_score(options.seed, number))
        elif options.solves:
            faults = faults_of_solves(pose(options.seed, number, rows=200, columns=9))
        else:
            faults = faults_of_prices(pose(options.seed, number))
        wrong += bool(faults)
        for fault in faults:
            print(f"problem {number} of seed {options.seed}: {fault}")
    print(f"{options.count} problems, {wrong} wrong, {time.perf_counter() - begin:.0f} s")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
