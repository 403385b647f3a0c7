"""Checks a proof that no tree within limits on sums is better: fairness, least rates, the number of nodes.

    python check_limits.py tree.proof table.csv --max-depth 3 --max-nodes 5
    python check_limits.py tree.proof table.csv --max-depth 3 --amounts "a 0" "a 1" --between -9 9

Needs `check.py` beside it, Python and numpy, and knows no solver either. A tree's amount is the sum, over the rows, of
what the column of the row's label says (`--amounts`, a column a label, whole numbers), and must be in an interval; that
of `--max-nodes` is its number of splits. Two rules more than in `check.py`, with proofs in docs/explanation/proofs.md:

PLANE     for any multipliers m, a tree within the limits costs at least the least c + sum_j m_j a_j of any tree, less
          the largest sum_j m_j z_j of amounts z within the limits. That least value is one of row costs and a price
          per split: FLOOR, COUNT, SPLIT and TRANSFER bound it.
LIST      where that is not enough, all trees of a depth whose c + sum_j m_j a_j is small enough for a better tree are
          listed as their costs and amounts, and none within the limits may be better.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

if __package__:
    from streed.proof import check
else:  # as a script beside it
    import check  # type: ignore[import-not-found,no-redef]

Array = np.ndarray[Any, Any]
MAGIC = b"streed proof within limits 1\n"
MOST_LISTED = 20_000_000
"""Costs and amounts of trees of a plane, those that are dropped included; more are not listed."""
_LARGEST = 2**60


class Amount(NamedTuple):
    """A sum that limits keep between two whole numbers; None where there is no end."""

    of_rows: Array
    """(n, K) int64: what a row with a label adds."""
    of_split: int
    least: int | None
    most: int | None


class Bounds:
    """What is known of a problem of row costs: claims, FLOOR and COUNT."""

    def __init__(self, sums: check.Sums, numbers: list[int]) -> None:
        self.sums = sums
        self.known: dict[tuple[bytes, int], int] = {}
        proof = check.Proof(sums)
        for record in check.read_records(numbers):
            proof.add(record)
        for packed, depth, bound, _ in proof.claims:
            key = packed.tobytes(), depth
            self.known[key] = max(bound, self.known.get(key, 0))
        self.claims = len(proof.claims)

    def lower(self, i: Array, depth: int) -> int:
        """A bound on the value of every tree of a depth for the rows i."""
        if depth <= 2:
            return int(self.sums.optimum(i, depth))
        mask = np.zeros(self.sums.n, np.bool_)
        mask[i] = True
        return max(int(self.sums.floor[i].sum()), self.known.get((np.packbits(mask).tobytes(), depth), 0))

    def whole(self, i: Array, depth: int) -> int:
        """As `lower`, and by the sides of every column."""
        least = self.lower(i, depth)
        if depth <= 2 or depth == check.UNLIMITED:
            return least
        return max(least, int(min([self.sums.leaf(i), *self.by_column(i, depth)])))

    def below(self, i: Array, depth: int) -> Array:
        """(Q,) bounds of all sides of the rows i at one depth less."""
        if depth <= 2:
            _, leaves, stumps, _ = self.sums.sides(i)
            return np.asarray(leaves if depth == 1 else np.minimum(leaves, stumps))
        sides = (i[held[i]] for held in self.sums.held)
        return np.array([self.lower(side, depth - 1) if len(side) else 0 for side in sides])

    def by_column(self, i: Array, depth: int) -> Array:
        """(P,) what a tree costs whose first split is by each column; infinite where that may not be."""
        if not depth or not len(self.sums.starts):
            return np.full(len(self.sums.starts), np.inf)
        total = self.sums.by_column(self.below(i, depth), i).astype(np.float64)
        return np.asarray(np.where(total < self.sums.big, total, np.inf))


class Plane(Bounds):
    """The problem of the least c + sum_j m_j a_j, in whole units, and what is known of it."""

    def __init__(
        self, X: Array, costs: check.Costs, amounts: list[Amount], limits: check.Limits, multipliers: list[Fraction],
        numbers: list[int], sums: type[check.Sums] = check.Sums,
    ) -> None:  # fmt: skip
        check.require(len(multipliers) == len(amounts), "a plane needs a multiplier for every amount")
        self.scale = math.lcm(1, *(m.denominator for m in multipliers))
        self.factors = [int(m * self.scale) for m in multipliers]
        self.allowed = 0  # the largest sum of multiplied amounts within the limits
        total, split = self.scale * costs.costs.astype(object), self.scale * costs.split
        for factor, amount in zip(self.factors, amounts, strict=True):
            end = amount.most if factor > 0 else amount.least
            check.require(factor == 0 or end is not None, "a multiplier of the wrong sign")
            self.allowed += factor * (end or 0)
            total, split = total + factor * amount.of_rows.astype(object), split + factor * amount.of_split
        size = max([abs(split), int(np.abs(total).max(1).sum()), *map(abs, [self.scale, *self.factors])])
        check.require(split >= 0 and size < _LARGEST, "a multiplier is too large, or too small")
        total = total.astype(np.int64)
        self.least = int(total.min(1).sum())
        self.limits = limits
        super().__init__(sums(X, total - total.min(1)[:, None], split, limits), numbers)

    def budget(self, reached: int) -> int:
        """What a tree within the limits that costs less than `reached` has at most, above the rows' least."""
        return self.scale * (reached - 1) + self.allowed - self.least

    def bound(self, value: int) -> int:
        """What every tree within the limits costs, if every tree has at least this value here."""
        return -((self.allowed - self.least - value) // self.scale)

    def value(self, points: Array) -> Array:
        """(m,) of costs and amounts (m, 1 + J), above nothing: the rows' least is not taken off."""
        return np.asarray(points @ np.array([self.scale, *self.factors], np.int64))


class Lists:
    """Costs and amounts of all trees that are small enough in a plane."""

    def __init__(self, plane: Plane, costs: check.Costs, amounts: list[Amount]) -> None:
        self.plane = plane
        self.of_rows = np.stack([costs.costs, *(a.of_rows for a in amounts)], axis=2)  # (n, K, 1 + J)
        self.of_split = np.array([costs.split, *(a.of_split for a in amounts)], np.int64)
        size = np.abs(self.of_rows.astype(object)).max(1).sum(0).max(initial=0)
        check.require(size < _LARGEST, "the costs or amounts are too large")
        self.of_row_least = plane.value(self.of_rows).min(1)
        self.listed = 0

    def leaves(self, i: Array) -> Array:
        """(m, 1 + J) of the leaves that may hold the rows i."""
        return np.asarray(self.of_rows[i].sum(0)[: None if len(i) >= self.plane.sums.min_leaf else 0])

    def trees(self, i: Array, depth: int, budget: int) -> Array:
        """(m, 1 + J) of the trees of a depth for the rows i whose value above the rows' least is within the budget."""
        least = int(self.of_row_least[i].sum())
        leaves = self.leaves(i)
        found = [leaves[self.plane.value(leaves) - least <= budget]]
        totals = self.plane.by_column(i, depth)
        found += [self.splits(i, depth, column, budget) for column in np.flatnonzero(totals <= budget).tolist()]
        return self._distinct(np.concatenate(found))

    def splits(self, i: Array, depth: int, column: int, budget: int) -> Array:
        """As `trees`, of those whose first split is by a column."""
        sums, plane = self.plane.sums, self.plane
        sides = [i[sums.held[q, i]] for q in sums.literals_of[sums.columns[column]]]
        sides = [side for side in sides if len(side)]
        bounds = [plane.lower(side, depth - 1) for side in sides]
        left = budget - int(sums.split) - sum(bounds)
        points, spent = self.of_split[None], 0
        for side, bound in zip(sides, bounds, strict=True):
            each = self.trees(side, depth - 1, left + bound)
            self.listed += len(points) * len(each) + 1000  # a list costs something, too
            check.require(self.listed <= MOST_LISTED, "more trees would have to be listed than is allowed")
            points = (points[:, None] + each[None]).reshape(-1, points.shape[1])
            spent += int(self.of_row_least[side].sum()) + bound
            # the sides that are still to come cost their bounds at least
            points = self._distinct(points[plane.value(points) - spent <= int(sums.split) + left])
        return points

    @staticmethod
    def _distinct(points: Array) -> Array:
        """The least cost of every vector of amounts."""
        points = points[np.lexsort(points.T)]
        new = np.ones(len(points), np.bool_)
        new[1:] = (points[1:, 1:] != points[:-1, 1:]).any(1)
        return np.asarray(points[new])


def prove_within(
    X: Array, costs: check.Costs, amounts: list[Amount], limits: check.Limits,
    planes: list[tuple[list[Fraction], list[int]]], reached: int, sums: type[check.Sums] = check.Sums,
    *, listing: bool = True,
) -> int:  # fmt: skip
    """What every tree within all limits costs at least, in whole units, and `reached` at most.

    `planes` are multipliers, and the numbers of the records about each plane; `listing`: whether LIST follows where
    PLANE is not enough. Raises RejectedError.
    """
    i, best = np.arange(len(X)), -(2**62)
    made = [Plane(X, costs, amounts, limits, multipliers, numbers, sums) for multipliers, numbers in planes]
    for plane in made:
        best = max(best, plane.bound(plane.whole(i, limits.depth)))
    if best >= reached or limits.depth == check.UNLIMITED or not made or not listing:
        return min(best, reached)
    # of each column the plane in which it costs most above the budget
    above = np.stack([plane.by_column(i, limits.depth) - plane.budget(reached) for plane in made])
    lists = [Lists(plane, costs, amounts) for plane in made]
    found = [lists[0].leaves(i)]
    for column, place in enumerate(above.argmax(0).tolist()):
        if above[place, column] <= 0:
            found.append(lists[place].splits(i, limits.depth, column, made[place].budget(reached)))
    points = np.concatenate(found)
    within = np.ones(len(points), np.bool_)
    for j, amount in enumerate(amounts, 1):
        within &= (amount.least is None or points[:, j] >= amount.least) & (
            amount.most is None or points[:, j] <= amount.most
        )
    return max(best, min(reached, int(points[within, 0].min(initial=reached))))


def amounts_of(given: argparse.Namespace, table: check.Table, n_labels: int) -> list[Amount]:
    """The sums of the call, those of columns first; raises UsageError."""
    if len(given.amounts) != len(given.between):
        raise check.UsageError("every --amounts needs its --between")
    made, n = [], len(table.y)
    for names, ends in zip(given.amounts, given.between, strict=True):
        if len(names) != n_labels:
            raise check.UsageError(f"--amounts needs {n_labels} columns, one for each label")
        columns = [[_whole(text, f"column {name!r}") for text in table.others[name]] for name in names]
        least, most = (None if end == "-" else _whole(end, "--between") for end in ends)
        made.append(Amount(np.array(columns, np.int64).T, 0, least, most))
    if given.max_nodes is not None:
        made.append(Amount(np.zeros((n, n_labels), np.int64), 1, None, given.max_nodes))
    if not made:
        raise check.UsageError("there is no limit on a sum: use check.py")
    return made


def _whole(text: str, what: str) -> int:
    if len(text) > 16 or not text.removeprefix("-").isdecimal():
        raise check.UsageError(f"{what}: {text[:40]!r} is no whole number of 15 digits or less")
    return int(text)


def check_amounts(amounts: list[Amount], chosen: list[int], splits: int) -> None:
    """Raises RejectedError unless a tree with these labels of the rows is within the limits."""
    for number, amount in enumerate(amounts):
        total = int(amount.of_rows[np.arange(len(chosen)), chosen].sum()) + amount.of_split * splits
        inside = (amount.least is None or amount.least <= total) and (amount.most is None or total <= amount.most)
        check.require(inside, f"the tree's amount {number} is {total}, beyond its limit")


def read_planes(header: dict[str, Any], body: bytes) -> list[tuple[list[Fraction], list[int]]]:
    """The multipliers of a file, and the numbers of the records about each plane."""
    planes, numbers, read = header.get("planes"), check.read_numbers(body).tolist(), []
    check.require(isinstance(planes, list) and 0 < len(planes) <= 64, "the header has no planes")
    for plane in planes or []:
        check.require(isinstance(plane, dict) and isinstance(plane.get("multipliers"), list), "a plane cannot be read")
        count = plane.get("numbers")
        check.require(type(count) is int and 0 <= count <= len(numbers), "a plane's records are cut off")
        try:
            multipliers = [check.fraction(str(text), "a multiplier") for text in plane["multipliers"]]
        except check.UsageError as error:
            raise check.RejectedError(str(error)) from None
        read.append((multipliers, numbers[:count]))
        numbers = numbers[count:]
    check.require(not numbers, "there are records of no plane")
    return read


def parser(program: str | None = None) -> Any:
    """Of the call, an `argparse.ArgumentParser`: that of `check.py`, and the limits."""
    made = check.parser(program)
    made.description = "Checks a proof that no decision tree within limits on sums is better."
    add: Any = made.add_argument
    add("--max-nodes", type=int, metavar="M", help="splits of a tree at most")
    each: Any = {"action": "append", "default": []}
    add(
        "--amounts", nargs="+", metavar="COLUMN", help="what each label adds to a limited sum, a column a label", **each
    )
    add("--between", nargs=2, metavar=("LEAST", "MOST"), help="of the sum; - is no end", **each)
    return made


def main(arguments: list[str] | None = None, program: str | None = None, sums: type[check.Sums] = check.Sums) -> int:
    """0 if the proof holds, 1 if not, 2 if the call cannot be used; says which, and what was proved."""
    given = parser(program).parse_args(arguments)
    try:
        if min(given.max_depth or 0, given.min_leaf - 1, given.max_nodes or 0) < 0:
            raise check.UsageError("--max-depth and --max-nodes are zero or more, --min-leaf one or more")
        limits = check.Limits(
            check.UNLIMITED if given.no_limit else min(given.max_depth, check.UNLIMITED), given.min_leaf
        )
        aside = [*given.costs, *itertools.chain.from_iterable(given.amounts)]
        read = argparse.Namespace(**{**vars(given), "costs": aside})
        table = check.parse_table(given.table.read_bytes(), read, given.table)
        header, body = check.read_file(given.proof.read_bytes(), MAGIC)
        goal = check.goal_of(given, table, limits, header.get("tree"))
        amounts = amounts_of(given, table, goal.costs.costs.shape[1])
        labels = list(given.costs) if given.task == "costs" else table.labels
        check_amounts(amounts, *check.follow(header.get("tree"), table.X, labels, limits))
        planes = read_planes(header, body)
        reached = int(goal.reached / goal.costs.unit)
        listing = header.get("listing") is not False
        found = prove_within(table.X, goal.costs, amounts, limits, planes, reached, sums, listing=listing)
        check.require(found >= reached or given.task not in check.SCORES, "a tree may score more than that of the file")
    except (check.UsageError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except check.RejectedError as error:
        print(f"REJECTED: {error}")
        return 1
    depth = "any depth" if given.no_limit else f"depth {given.max_depth} or less"
    verdict = "PROVED" if found >= reached else "BOUND ONLY"
    print(f"{verdict} by {len(planes)} planes, of trees of {depth}, {given.min_leaf} rows or more in a leaf,")
    for names, (least, most) in zip(given.amounts, given.between, strict=True):
        print(f"    whose amounts by the columns {', '.join(map(repr, names))} are between {least} and {most},")
    if given.max_nodes is not None:
        print(f"    of {given.max_nodes} splits at most,")
    less = (
        f"no tree costs less than {check.shown(found * goal.costs.unit)}; that of the file: {check.shown(goal.reached)}"
    )
    print(f"    {goal.words}, which the tree of the file has: it is optimal" if found >= reached else f"    {less}")
    size = f"{len(table.y)} rows, {table.X.shape[1]} columns, SHA-256 {table.digest}"
    print(f"The task is {given.task}, a split costs {given.price}; the table is {given.table}: {size}")
    return 0 if found >= reached else 3


if __name__ == "__main__":
    sys.exit(main())
