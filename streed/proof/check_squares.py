"""Checks a proof that no regression tree has smaller squared errors, with a price per split.

    python check_squares.py tree.proof table.csv --target y --max-depth 3
    python check_squares.py tree.proof table.csv --target y --max-depth 4 --normalized --price 0.01

Needs `check.py` and `check_limits.py` beside it, Python and numpy, and knows no solver either. A leaf predicts the mean
of its rows and costs sum w y^2 - (sum w y)^2 / sum w, a fraction. Its grid cost is this, rounded down to a multiple of
1 / F of the unit, so a tree's grid costs are at most its costs, and whole numbers. Claims are about grid costs. The
rules of `check.py` hold of them, with classes of equal rows in FLOOR, sums of (w, w y, w y^2) by pairs of codes in
COUNT, and in TRANSFER w(A) as the sum, over the rows of A, of F w times the squared distance to the farthest target.
Proofs of all this are in docs/explanation/proofs.md. One rule is added:

NEAR      a tree that costs less than V has grid costs below F V. Only columns whose sides' bounds leave room below that
          are followed, down to the leaves, which are added up as fractions: none may be less than V.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

if __package__:
    from streed.proof import check, check_limits
else:  # as a script beside them
    import check  # type: ignore[import-not-found,no-redef]
    import check_limits  # type: ignore[import-not-found,no-redef]

Array = np.ndarray[Any, Any]
TASKS = ("squared-error",)
MOST_FOLLOWED = 20_000
"""Sets of rows that NEAR looks at; where more would be needed, the claims' bound stands."""
_LARGEST, _LARGEST_PRODUCT = 2**46, 2**62


class Goal(NamedTuple):
    """Targets, weights and price in whole units, what a unit is worth, what the file's tree costs, and words."""

    targets: Array
    """(n,) int64: of the least target nothing."""
    weights: Array
    """(n,) int64."""
    price: Fraction
    unit: Fraction
    reached: Fraction
    words: str


class TooManyError(Exception):
    """NEAR would look at more sets of rows than it may."""


def _whole(texts: list[str], what: str) -> tuple[Array, Fraction]:
    """Numbers (n,) as whole ones, and their unit."""
    made = check.whole_costs([[check.fraction(text, what)] for text in texts], Fraction(0))
    return made.costs[:, 0], made.unit


def goal_of(given: argparse.Namespace, table: check.Table, limits: check.Limits, tree: Any) -> Goal:
    """What is to be proved of the tree of a file; raises RejectedError if it is none within the limits."""
    n = len(table.y)
    numbers, unit = _whole(table.labels, "the target")
    targets = (numbers - numbers.min())[table.y]
    weights, worth = np.ones(n, np.int64), Fraction(1)
    if given.weights is not None:
        weights, worth = _whole(list(table.others[given.weights]), f"column {given.weights!r}")
    price = check.fraction(given.price, "--price")
    if min(price, weights.min()) < 0:
        raise check.UsageError("--price and weights are zero or more")
    each = 1 / (_squares(targets, weights) or Fraction(1)) if given.normalized else worth * unit * unit
    # the leaves of the file's tree are numbered; if two have one number, its cost is taken as no less than it is
    leaf, splits = check.follow(tree, table.X, list(map(str, range(n))), limits)
    leaves = np.array(leaf)
    cost = splits * price + each * sum(_squares(targets[leaves == k], weights[leaves == k]) for k in set(leaf))
    words = f"no tree's {'share of the ' if given.normalized else ''}squared errors, with the price of its splits,"
    return Goal(targets, weights, price / each, each, cost, f"{words} are less than {check.shown(cost)}")


def _squares(targets: Array, weights: Array) -> Fraction:
    """The squared errors of the mean."""
    pairs = list(zip(targets.tolist(), weights.tolist(), strict=True))
    size, total, squares = (sum(w * y**k for y, w in pairs) for k in range(3))
    return Fraction(squares) - Fraction(total * total, size or 1)


class SquaredSums(check.Sums):
    """Grid costs of sets of rows: what `check.Proof` asks of them.

    Moments are (w, w y, w y^2, 1), summed over rows; those of a class of equal rows stand at its first row.
    """

    def __init__(self, X: Array, goal: Goal, limits: check.Limits) -> None:
        w, y = goal.weights, goal.targets
        most, size = int(y.max(initial=0)), max(1, sum(w.tolist()))
        if size * size * most * most >= _LARGEST_PRODUCT or size * most * most >= _LARGEST:
            raise check.UsageError("the targets or weights are too fine: round them to fewer digits")
        self.factor = 1
        while 4 * size * size * max(1, most) ** 2 * self.factor < _LARGEST_PRODUCT and (
            2 * size * max(1, most) ** 2 * self.factor < _LARGEST
        ):
            self.factor *= 2
        worst = self.factor * w * np.maximum(y, most - y) ** 2
        self.price = goal.price
        # a split that costs more than all rows together never pays, however much more
        split = min(int(goal.price * self.factor), int(worst.sum()) + 1)
        super().__init__(X, worst[:, None], split, limits)
        first: dict[bytes, int] = {}
        of_row = [first.setdefault(row.tobytes(), r) for r, row in enumerate(np.ascontiguousarray(X[:, self.columns]))]
        self.moments = np.zeros((len(X), 4), np.int64)
        np.add.at(self.moments, of_row, np.stack([w, w * y, w * y * y, np.ones_like(w)], axis=1))
        self.floor = self.grid(*self.moments.T[:3]).astype(np.float64)

    def grid(self, w: Any, wy: Any, wyy: Any) -> Any:
        """What leaves cost by their moments, int64, rounded down."""
        return (w * wyy - wy * wy) * self.factor // np.maximum(w, 1)

    def leaf(self, i: Array) -> Any:
        w, wy, wyy, size = self.moments[i].sum(0).tolist()
        return self.big if 0 < size < self.min_leaf else np.float64(self.grid(w, wy, wyy))

    def sides(self, i: Array) -> tuple[Array, Array, Array, Array]:
        """As `check.Sums` has it, without gains."""
        i = i[self.moments[i, 3] > 0]
        x, moments = self.L[i].astype(np.float64), self.moments[i].astype(np.float64)
        w, wy, wyy, size = (((x * moment[:, None]).T @ x).astype(np.int64) for moment in moments.T)
        costs = self.grid(w, wy, wyy).astype(np.float64)
        costs[(size > 0) & (size < self.min_leaf)] = self.big
        best = np.add.reduceat(costs, self.starts, axis=1).min(1)
        return np.zeros(0), costs.diagonal(), self.split + best, np.zeros(0)

    def lookahead(self, i: Array, floors: Array) -> Array:
        """(Q,) bounds of all sides, whatever their depth: a leaf, one split, or two at least."""
        _, leaves, stumps, _ = self.sides(i)
        return np.asarray(np.minimum(np.minimum(leaves, stumps), 2 * self.split + floors))

    def exact(self, i: Array) -> Fraction:
        """What the leaf of the rows i costs, without a price of its size."""
        w, wy, wyy, _ = self.moments[i].sum(0).tolist()
        return Fraction(w * wyy - wy * wy, max(w, 1))


class Near(check_limits.Bounds):
    """NEAR: the least cost of trees as a fraction, by the claims and the grid where they are enough."""

    def __init__(self, sums: SquaredSums, numbers: list[int]) -> None:
        super().__init__(sums, numbers)
        self.squares = sums
        self.followed = 0
        self.least_of: dict[tuple[bytes, int], tuple[Fraction, Fraction]] = {}

    def least(self, i: Array, depth: int, below: Fraction) -> Fraction:
        """The least cost of a tree of a depth for the rows i, or `below` if none costs less; raises TooManyError."""
        key = i.tobytes(), depth
        if key in self.least_of:
            asked, found = self.least_of[key]
            if found < asked or below <= asked:
                return min(found, below)
        sums = self.squares
        if self.lower(i, depth) >= below * sums.factor:
            return below
        self.followed += 1
        if self.followed > MOST_FOLLOWED:
            raise TooManyError
        best = min(below, sums.exact(i)) if len(i) >= sums.min_leaf else below
        if depth and len(sums.starts):
            best = self._by_splits(i, depth, best)
        self.least_of[key] = below, best
        return best

    def _by_splits(self, i: Array, depth: int, best: Fraction) -> Fraction:
        """The least of `best` and what trees with a split cost."""
        sums = self.squares
        depth -= depth < check.UNLIMITED
        if depth < 2:
            quick = self.below(i, depth + 1)
        else:
            quick = sums.lookahead(i, sums.floors(i)) if depth == check.UNLIMITED else sums.floors(i)
        totals = sums.by_column(quick, i)
        for place in np.argsort(totals, kind="stable").tolist():
            if totals[place] >= min(best * sums.factor, sums.big):
                break
            literals = sums.literals_of[sums.columns[place]]
            parts = [(part, int(quick[q])) for q in literals if len(part := i[sums.held[q, i]])]
            lower = [Fraction(max(known, self.lower(part, depth)), sums.factor) for part, known in parts]
            left = best - sums.price - sum(lower)
            for (part, _), bound in zip(parts, lower, strict=True):
                found = self.least(part, depth, bound + left) if left > 0 else bound + left
                left -= found - bound
            best -= max(left, Fraction(0))
        return best


def prove_bound(
    X: Array, goal: Goal, limits: check.Limits, body: bytes, sums: type[SquaredSums] = SquaredSums, *, near: bool = True
) -> tuple[Fraction, int]:
    """What every tree within the limits costs at least, `goal.reached` at most, and the number of claims.

    `near`: whether NEAR follows where claims are not enough. Raises RejectedError.
    """
    counted = sums(X, goal, limits)
    known = Near(counted, check.read_numbers(body).tolist())
    everything = np.arange(len(X))
    bound = Fraction(max(int(counted.floor.sum()), known.known.get(_all_rows(len(X), limits.depth), 0)), counted.factor)
    wanted = goal.reached / goal.unit
    if near and bound < wanted and (limits.depth < check.UNLIMITED or counted.split > 0):
        with contextlib.suppress(TooManyError, RecursionError):  # then the claims' bound stands
            bound = known.least(everything, limits.depth, wanted)
    return min(bound * goal.unit, goal.reached), known.claims


def _all_rows(n: int, depth: int) -> tuple[bytes, int]:
    return np.packbits(np.ones(n, np.bool_)).tobytes(), depth


def parser(program: str | None = None) -> Any:
    """Of the call: an `argparse.ArgumentParser`."""
    made = check.parser(program, TASKS)
    made.description = "Checks a proof that no regression tree has smaller squared errors."
    made.add_argument("--normalized", action="store_true", help="squared errors as shares of those of the mean")
    return made


def main(arguments: list[str] | None = None, program: str | None = None, sums: type[SquaredSums] = SquaredSums) -> int:
    """0 if the proof holds, 1 if not, 2 if the call cannot be used; says which, and what was proved."""
    given = parser(program).parse_args(arguments)
    try:
        if min(given.max_depth or 0, given.min_leaf - 1) < 0:
            raise check.UsageError("--max-depth is zero or more, --min-leaf one or more")
        if given.costs:
            raise check.UsageError("--costs are not of this task")
        depth = check.UNLIMITED if given.no_limit else min(given.max_depth, check.UNLIMITED)
        limits = check.Limits(depth, given.min_leaf)
        table = check.parse_table(given.table.read_bytes(), given, given.table)
        header, body = check.read_file(given.proof.read_bytes())
        goal = goal_of(given, table, limits, header.get("tree"))
        bound, claims = prove_bound(table.X, goal, limits, body, sums, near=header.get("near") is not False)
    except (check.UsageError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except check.RejectedError as error:
        print(f"REJECTED: {error}")
        return 1
    said = "any depth" if given.no_limit else f"depth {given.max_depth} or less"
    verdict = "PROVED" if bound >= goal.reached else "BOUND ONLY"
    print(f"{verdict} by {claims} claims, of trees of {said}, {given.min_leaf} rows or more in a leaf:")
    less = f"no tree costs less than {check.shown(bound)}; the tree of the file costs {check.shown(goal.reached)}"
    print(
        f"    {goal.words}, which the tree of the file has: it is optimal" if bound >= goal.reached else f"    {less}"
    )
    size = f"{len(table.y)} rows, {table.X.shape[1]} columns, SHA-256 {table.digest}"
    print(f"The task is {given.task}, a split costs {given.price}; the table is {given.table}: {size}")
    return 0 if bound >= goal.reached else 3


if __name__ == "__main__":
    sys.exit(main())
