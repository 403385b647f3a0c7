"""Every tree of depth two, counted in plain numpy: what limits on gaps and whole fronts come to on real data.

A tree is its numbers of rows predicted positive, by cell (group and class). A leaf has none of them or all of its
rows; the two sides of a root are all splits and leaves that there are, and a sum of one vector of each side is a tree.
Nothing of the engine, of the tasks or of the reference takes part, and all numbers are whole:

    python -m tests.differential.depth_two --datasets adult german-credit ricci student-mat

solves every objective under every notion and limit, and the fronts of errors by class and of error and gap. It prints
how many there were and how many are wrong; the exit code is 1 if any is.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import streed
from streed import tasks

Counts = NDArray[np.int64]

KINDS = {
    "DemographicParity": ("all",),
    "EqualOpportunity": ("positive",),
    "PredictiveEquality": ("negative",),
    "EqualizedOdds": ("positive", "negative"),
}
"""Which rows the rates of a notion are taken among."""

LIMITS = ("0", "0.001", "0.01", "0.05", "0.1", "0.2")

DATASETS = ("adult", "german-credit", "ricci", "student-mat")

MOST_NODES = 3

NONE = np.iinfo(np.int64).max


# -- all trees -----------------------------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class Rows:
    """Binary data with two classes and groups."""

    X: Counts
    """(n, p) 0 or 1."""
    y: Counts
    """(n,) 0 or 1."""
    groups: Counts
    """(n,) 0 to G - 1."""
    min_leaf: int = 1

    @property
    def cells(self) -> Counts:
        """(n, 2 G) 0 or 1: the cell of every row, 2 * group + class."""
        cells: Counts = np.eye(2 * (int(self.groups.max()) + 1), dtype=np.int64)[2 * self.groups + self.y]
        return cells

    @property
    def sizes(self) -> Counts:
        """(2 G,) the rows of every cell."""
        sizes: Counts = self.cells.sum(axis=0)
        return sizes


def trees(rows: Rows) -> Iterator[Counts]:
    """(m, 2 G + 1) the rows predicted positive by cell, then the branching nodes, of all trees that are split alike."""
    X, cells = rows.X, rows.cells
    yield _side(X[:, :0], cells, rows.min_leaf)
    for root in range(X.shape[1]):
        sides = [_side(X[X[:, root] == code], cells[X[:, root] == code], rows.min_leaf) for code in (0, 1)]
        if all(map(len, sides)):
            whole = (sides[0][:, None] + sides[1][None]).reshape(-1, cells.shape[1] + 1)
            whole[:, -1] += 1
            yield whole


def _side(X: Counts, cells: Counts, min_leaf: int) -> Counts:
    """The same of trees of depth at most one over some rows."""
    total = cells.sum(axis=0)
    if len(X) < min_leaf:
        return np.zeros((0, len(total) + 1), np.int64)
    ones, among = X.sum(axis=0), X.T @ cells
    part = among[(ones >= min_leaf) & (len(X) - ones >= min_leaf)]
    leaves, splits = [np.zeros_like(total), total], [np.zeros_like(part), part, total - part, total + 0 * part]
    nodes = np.concatenate([np.zeros(2, np.int64), np.ones(4 * len(part), np.int64)])
    return np.unique(np.column_stack([np.concatenate([leaves, *splits]), nodes]), axis=0)


# -- what they come to ---------------------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class Imbalances:
    """The signed sums of a notion, one for every kind of rate and pair of groups, whose share of a size is a gap."""

    factors: Counts
    """(2 G, q): the sums are the vectors of the trees times these."""
    sizes: tuple[int, ...]
    """(q,)"""

    @classmethod
    def of(cls, rows: Rows, notion: str) -> Imbalances:
        """Those of a notion on some data."""
        cells = rows.sizes
        columns, sizes = [], []
        for kind in KINDS[notion]:
            chosen = {"all": (0, 1), "positive": (1,), "negative": (0,)}[kind]
            counted = [int(sum(cells[2 * group + k] for k in chosen)) for group in range(len(cells) // 2)]
            for a, b in itertools.combinations(range(len(counted)), 2):
                column = np.zeros(len(cells), np.int64)
                for k in chosen:
                    column[2 * a + k], column[2 * b + k] = counted[b], -counted[a]
                columns.append(column)
                sizes.append(counted[a] * counted[b])
        return cls(np.stack(columns, axis=1), tuple(sizes))

    def within(self, vectors: Counts, limit: Fraction) -> NDArray[np.bool_]:
        """(m,) whether the gap is at most the limit."""
        most = np.array([math.floor(limit * size) for size in self.sizes])
        inside: NDArray[np.bool_] = (np.abs(vectors @ self.factors) <= most).all(axis=1)
        return inside

    @property
    def common(self) -> int:
        """The size of which all gaps are whole numbers."""
        return math.lcm(*self.sizes)

    def gaps(self, vectors: Counts) -> Counts:
        """(m,) the gaps times the common size, which must be less than 2**62."""
        gaps: Counts = (np.abs(vectors @ self.factors) * [self.common // size for size in self.sizes]).max(axis=1)
        return gaps


@attrs.frozen(eq=False)
class Errors:
    """The trees by their errors."""

    positives: int
    negatives: int
    missed: Counts
    """(m,) false negatives."""
    false: Counts
    """(m,) false positives."""
    nodes: Counts
    """(m,)"""

    @classmethod
    def of(cls, rows: Rows, vectors: Counts) -> Errors:
        """Those of the vectors of some trees."""
        negatives, positives = (int((rows.y == k).sum()) for k in (0, 1))
        missed = positives - vectors[:, 1:-1:2].sum(axis=1)
        return cls(positives, negatives, missed, vectors[:, 0:-1:2].sum(axis=1), vectors[:, -1])


@attrs.define(eq=False)
class Least:
    """The fewest false positives of trees, for every number of nodes and of false negatives."""

    table: Counts
    """(4, P + 1), NONE where there is no tree."""

    @classmethod
    def empty(cls, positives: int) -> Least:
        """That of no trees."""
        return cls(np.full((MOST_NODES + 1, positives + 1), NONE))

    def add(self, errors: Errors, chosen: NDArray[np.bool_]) -> None:
        """Takes some of the trees in."""
        at = errors.nodes[chosen] * self.table.shape[1] + errors.missed[chosen]
        np.minimum.at(self.table.reshape(-1), at, errors.false[chosen])

    def points(self) -> list[tuple[int, int, int]]:
        """(false negatives, false positives, nodes) of all that none beats in all three."""
        table = np.minimum.accumulate(np.minimum.accumulate(self.table, axis=0), axis=1)
        found = []
        for nodes, missed in np.argwhere(self.table < NONE).tolist():
            false = int(self.table[nodes, missed])
            before = table[nodes - 1, missed] if nodes else NONE
            left = table[nodes, missed - 1] if missed else NONE
            if false < before and false < left:
                found.append((missed, false, nodes))
        return found


# -- objectives ----------------------------------------------------------------------------------------------------

Rank = Callable[[int, int, int, int, int], Fraction | int]
"""(false negatives, false positives, positives, negatives, nodes) to what is maximised."""


@attrs.frozen(eq=False)
class Objective:
    """A task and, written down anew, what it maximises."""

    task: streed.Task
    rank: Rank


def _kappa(fn: int, fp: int, p: int, n: int, nodes: int) -> Fraction:
    tp, tn = p - fn, n - fp
    return Fraction(2 * (tp * tn - fn * fp), (tp + fp) * n + (tn + fn) * p)


def _matthews(fn: int, fp: int, p: int, n: int, nodes: int) -> Fraction:
    tp, tn = p - fn, n - fp
    above, below = tp * tn - fp * fn, p * n * (tp + fp) * (tn + fn)
    return Fraction(above * above, below) if above > 0 else Fraction(0)


OBJECTIVES = (
    Objective(tasks.Accuracy(), lambda fn, fp, p, n, nodes: -fn - fp),
    Objective(tasks.WeightedAccuracy({1: 3}), lambda fn, fp, p, n, nodes: -3 * fn - fp),
    Objective(tasks.SparseAccuracy(0.01), lambda fn, fp, p, n, nodes: -Fraction(fn + fp, p + n) - Fraction(nodes, 100)),
    Objective(tasks.BalancedAccuracy(), lambda fn, fp, p, n, nodes: -Fraction(fn, p) - Fraction(fp, n)),
    Objective(tasks.F1(), lambda fn, fp, p, n, nodes: Fraction(2 * (p - fn), 2 * (p - fn) + fn + fp)),
    Objective(tasks.FBeta(2), lambda fn, fp, p, n, nodes: Fraction(5 * (p - fn), 5 * (p - fn) + 4 * fn + fp)),
    Objective(tasks.CohenKappa(), _kappa),
    Objective(tasks.MatthewsCorrelation(), _matthews),
    Objective(tasks.GMean(), lambda fn, fp, p, n, nodes: Fraction((p - fn) * (n - fp), p * n)),
)


# -- solved and compared -------------------------------------------------------------------------------------------


def judge_limits(rows: Rows, notion: str, limits: Sequence[str], objectives: Sequence[Objective]) -> list[str]:
    """What is wrong, in words, with the objectives under each limit on a notion; empty strings for what is right."""
    imbalances = Imbalances.of(rows, notion)
    positives = int(rows.y.sum())
    least = {limit: Least.empty(positives) for limit in limits}
    for vectors in trees(rows):
        errors = Errors.of(rows, vectors)
        for limit, found in least.items():
            found.add(errors, imbalances.within(vectors[:, :-1], Fraction(limit)))
    return [
        _compare(rows, objective, getattr(tasks, notion)() <= Fraction(limit), imbalances, found.points())
        for limit, found in least.items()
        for objective in objectives
    ]


def _compare(
    rows: Rows, objective: Objective, limit: Any, imbalances: Imbalances, points: list[tuple[int, int, int]]
) -> str:
    size = positives, negatives = int(rows.y.sum()), int((rows.y == 0).sum())
    result = _solve(rows, objective.task.subject_to(limit))
    name = f"{objective.task} under {limit}"
    if not points:
        return "" if result.status == "infeasible" else f"{name}: no tree is feasible, but {result.status}"
    best = max(objective.rank(fn, fp, *size, nodes) for fn, fp, nodes in points)
    if result.tree is None or result.status != "optimal":
        return f"{name}: {result.status}"
    vector = _vector(rows, result.tree)
    errors = Errors.of(rows, vector)
    rank = objective.rank(int(errors.missed[0]), int(errors.false[0]), positives, negatives, int(errors.nodes[0]))
    if not imbalances.within(vector[:, :-1], Fraction(limit.limit))[0]:
        return f"{name}: the tree breaks the limit"
    return "" if rank == best else f"{name}: {rank}, not {best}"


def judge_trade(rows: Rows, notion: str) -> list[str]:
    """The same of the front of errors and gap; nothing if the gaps of so many groups have no common size in 62 bits."""
    imbalances = Imbalances.of(rows, notion)
    if imbalances.common >= 2**62:
        return []
    least = np.full(len(rows.y) + 1, NONE)
    for vectors in trees(rows):
        errors = Errors.of(rows, vectors)
        np.minimum.at(least, errors.missed + errors.false, imbalances.gaps(vectors[:, :-1]))
    result = _solve(rows, tasks.Accuracy() & getattr(tasks, notion)())
    found = []
    for _, tree in result.front:
        vector = _vector(rows, tree)
        errors = Errors.of(rows, vector)
        found.append((int((errors.missed + errors.false)[0]), int(imbalances.gaps(vector[:, :-1])[0])))
    return [_differing(f"errors and {notion}", result, found, _staircase(least))]


def judge_class_errors(rows: Rows) -> list[str]:
    """The same of the front of false negatives and false positives."""
    least = Least.empty(int(rows.y.sum()))
    for vectors in trees(rows):
        errors = Errors.of(rows, vectors)
        least.add(errors, np.ones(len(vectors), np.bool_))
    result = _solve(rows, tasks.ClassErrors())
    found = []
    for _, tree in result.front:
        errors = Errors.of(rows, _vector(rows, tree))
        found.append((int(errors.missed[0]), int(errors.false[0])))
    return [_differing("errors by class", result, found, _staircase(least.table.min(axis=0)))]


def _staircase(least: Counts) -> list[tuple[int, int]]:
    """(x, least[x]) where the second falls."""
    before = np.concatenate([[NONE], np.minimum.accumulate(least)[:-1]])
    return [(int(x), int(least[x])) for x in np.flatnonzero(least < before)]


def _differing(name: str, result: streed.Result, found: list[Any], wanted: list[Any]) -> str:
    if result.status != "optimal":
        return f"{name}: {result.status}"
    return "" if sorted(found) == wanted else f"{name}: the front is {sorted(found)}, not {wanted}"


def _solve(rows: Rows, task: streed.Task) -> streed.Result:
    return streed.solve(task, rows.X, rows.y, max_depth=2, min_leaf=rows.min_leaf, sensitive_features=rows.groups)


def _vector(rows: Rows, tree: streed.Tree) -> Counts:
    """(1, 2 G + 1) the vector of a tree by what it predicts."""
    predicted = np.asarray(tree.predict(rows.X)) == 1
    return np.append(rows.cells[predicted].sum(axis=0), tree.n_branches)[None]


def judge(rows: Rows, limits: Sequence[str] = LIMITS, objectives: Sequence[Objective] = OBJECTIVES) -> Counter[str]:
    """How many solves there were, by notion or front, and under "wrong" what was wrong with them, printed."""
    seen: Counter[str] = Counter()
    work = {"errors by class": functools.partial(judge_class_errors, rows)}
    for notion in KINDS:
        work[notion] = functools.partial(judge_limits, rows, notion, limits, objectives)
        work[f"front of {notion}"] = functools.partial(judge_trade, rows, notion)
    for name, judged in work.items():
        verdicts = judged()
        seen[name] += len(verdicts)
        for verdict in filter(None, verdicts):
            seen["wrong"] += 1
            print(verdict, flush=True)
    return seen


def read_rows(folder: Path, name: str, crossed: bool = False, min_leaf: int = 1) -> Rows:
    """A data set of the folder's fairness/; `crossed`: grouped by the sensitive and the first further column."""
    values = np.loadtxt(folder / "fairness" / f"{name}-binarized.csv", dtype=np.int64, ndmin=2)
    X, y, groups = np.ascontiguousarray(values[:, 2:]), values[:, 0], values[:, 1]
    if crossed:
        groups = np.unique(2 * groups + X[:, 0], return_inverse=True)[1]
    return Rows(X, y, groups, min_leaf)


def main(arguments: list[str] | None = None) -> int:
    """1 if an answer is wrong, else 0."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.differential.depth_two",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    shared = Path(__file__).resolve().parents[3] / "shared" / "data"
    parser.add_argument("--data", type=Path, default=shared, metavar="FOLDER", help="the folder with fairness/")
    parser.add_argument("--datasets", nargs="+", choices=DATASETS, default=list(DATASETS), help="(default: all)")
    parser.add_argument("--limits", nargs="+", default=list(LIMITS), metavar="GAP", help=f"(default: {LIMITS})")
    parser.add_argument("--min-leaf", type=int, default=1, metavar="ROWS", help="(default: 1)")
    parser.add_argument("--crossed", action="store_true", help="more groups: crossed with the first further column")
    options = parser.parse_args(arguments)
    wrong = total = 0
    for name in options.datasets:
        begin = time.perf_counter()
        seen = judge(read_rows(options.data, name, options.crossed, options.min_leaf), options.limits)
        wrong += seen.pop("wrong", 0)
        total += seen.total()
        counted = ", ".join(f"{kind} {count}" for kind, count in seen.items())
        print(f"{name}: {seen.total()} solves in {time.perf_counter() - begin:.0f} s: {counted}", flush=True)
    print(f"{total} solves, {wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
