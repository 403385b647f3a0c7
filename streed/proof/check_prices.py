"""Checks that no tree of any depth costs less than the prices of its rows add up to, by pricing every leaf again.

    python check_prices.py bound.proof table.csv --no-limit --price 0.5

Needs `check.py` beside it, Python and numpy, and knows no solver either. A leaf is the set of rows that a conjunction
of literals (column = code) holds of. The file has a price for every class of equal rows, of any sign. One rule:

PRICES    let m be the most codes of a column, less one. If no leaf L of at least --min-leaf rows is charged more than
          its least regret and s / m, then every tree costs at least what all rows are charged, less s / m: a tree of k
          splits has at most 1 + k m leaves with rows, which part the rows (docs/explanation/row-prices.md).

Every leaf is looked at, or left out by a bound. Rows weigh their price less their regret under one label. Of a
conjunction, some rows can be kept out by literals that are still free, and the others cannot: the rows of positive
weight and those of negative weight that stay weigh at least as much as any leaf below. If all free literals that keep a
row of negative weight out keep out one of positive weight, too, it stays with that one, and what both weigh, up to the
lesser, may be set against each other, each part of a weight once. Where what is left is too much, a row of negative
weight is kept out by one free literal after the other, or stays, with none of these literals used any more.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

if __package__:
    from streed.proof import check
else:  # as a script beside it
    import check  # type: ignore[import-not-found,no-redef]

Array = np.ndarray[Any, Any]
MOST_LOOKED_AT = 300_000
"""Sets of rows; where more would be needed, whoever checks has to compile."""
_LARGEST, _FINEST = 2**61, 40


class Priced(NamedTuple):
    """The leaves of a table and the prices of a file, in whole numbers."""

    held: Array
    """(Q, N) bool: which class of equal rows each literal holds of."""
    weights: Array
    """(K, N) int64: the price of a class less its regret, by label."""
    counts: Array
    """(N,) int64: the rows of each class."""
    most: int
    """What no leaf may weigh more than."""
    bound: int
    """What every tree costs at least, above the sum of the rows' least costs, in whole units."""


def equal_rows(X: Array) -> tuple[Array, Array]:
    """(the first row of each class of equal rows, in the order of the table; the class of each row)."""
    first: dict[bytes, int] = {}
    of_row = np.array([first.setdefault(row.tobytes(), len(first)) for row in np.ascontiguousarray(X)], np.intp)
    return np.unique(of_row, return_index=True)[1], of_row


def literals_of(X: Array) -> tuple[list[tuple[int, int]], int]:
    """((column, code) of all literals, the most codes of a column less one)."""
    codes = [np.unique(column).tolist() for column in X.T]
    return [(c, code) for c, each in enumerate(codes) for code in each], max([1, *(len(each) - 1 for each in codes)])


def priced(X: Array, given: check.Costs, numbers: list[int]) -> Priced:
    """What is to be checked; raises RejectedError where the file has no such prices."""
    first, of_row = equal_rows(X)
    check.require(len(numbers) == 1 + len(first), f"the file has no prices of {len(first)} classes of equal rows")
    shift, *codes = numbers
    check.require(shift <= _FINEST, "the prices are too fine")
    prices = [(code >> 1) ^ -(code & 1) for code in codes]  # 0, -1, 1, -2, ...
    literals, sides = literals_of(X)
    spans = given.costs.max(1) - given.costs.min(1)
    check.require(sum(spans.tolist()) < 2**51, "the costs are too large: 2**51 units in all at most")
    regrets = np.zeros((given.costs.shape[1], len(first)), np.int64)
    for label, column in enumerate((given.costs - given.costs.min(1)[:, None]).T):
        np.add.at(regrets[label], of_row, column)
    largest = sides * (sum(map(abs, prices)) + (int(regrets.max(0).sum()) << shift)) + (given.split << shift)
    check.require(largest < _LARGEST, "the prices are too large")
    weights = sides * (np.array(prices, np.int64) - (regrets << shift))
    held = np.array([X[first, column] == code for column, code in literals], bool).reshape(-1, len(first))
    total = Fraction(sum(prices), 2**shift) - Fraction(given.split, sides)
    counts = np.bincount(of_row, minlength=len(first))
    return Priced(held, weights, counts, given.split << shift, max(0, -(-total.numerator // total.denominator)))


def look_at_leaves(made: Priced, min_leaf: int) -> None:
    """Raises RejectedError if a leaf of so many rows weighs too much."""
    looked_at = 0
    for weights in made.weights:
        stack = [(np.arange(len(weights)), np.arange(len(made.held)))]
        while stack:
            inside, free = stack.pop()
            looked_at += 1
            if looked_at > MOST_LOOKED_AT:
                raise check.UsageError("there are too many leaves to look at here: `streed check-proof --compiled`")
            weight = weights[inside]
            room = int(weight[weight > 0].sum())
            if room <= made.most or int(made.counts[inside].sum()) < min_leaf:
                continue
            negative = inside[weight < 0]
            keeps_out = ~made.held[np.ix_(free, negative)]
            ways = keeps_out.sum(0)
            room += int(weights[negative[ways == 0]].sum())
            if room <= made.most or _is_set_off(made, weights, inside, free, room - made.most):
                continue
            check.require(ways.any(), "a leaf is charged more than it costs")
            # few ways first, and of as few ways the row of largest weight
            ways = np.where(ways == 0, len(free) + 1, ways)
            at = np.lexsort((weights[negative], ways))[0]
            out = keeps_out[:, at]
            stack.append((inside, free[~out]))
            used = np.flatnonzero(out)
            kept = made.held[np.ix_(free[used], inside)]
            rooms = kept @ np.maximum(weight, 0)
            for number in np.flatnonzero(rooms > made.most).tolist():
                left = np.ones(len(free), bool)
                left[used[: number + 1]] = False
                stack.append((inside[kept[number]], free[left]))


def _is_set_off(made: Priced, weights: Array, inside: Array, free: Array, excess: int) -> bool:
    """Whether rows of negative weight take the excess off those of positive weight with which they stay."""
    outs = (~made.held[np.ix_(free, inside)]).astype(np.float32)
    weight = weights[inside]
    minus, left = outs[:, weight < 0], weight[weight > 0]
    ways = minus.sum(0)
    minus, owed = minus[:, ways > 0], -weight[weight < 0][ways > 0]
    stays = minus.T @ outs[:, weight > 0] == ways[ways > 0, None]  # sums of ones, exact below 2^24
    for r in np.argsort(stays.sum(1), kind="stable").tolist():
        upto = np.minimum(np.cumsum(np.where(stays[r], left, 0)), owed[r])
        left = left - np.diff(upto, prepend=0)
        excess -= int(upto[-1]) if len(upto) else 0
        if excess <= 0:
            return True
    return False


def prove_bound(
    X: Array, given: check.Costs, limits: check.Limits, body: bytes, look: Any = look_at_leaves
) -> tuple[Fraction, int]:
    """What every tree costs at least, and the number of prices; raises RejectedError. Limits only make trees fewer."""
    check.require(given.split > 0, "splits need a price")
    made = priced(X, given, check.read_numbers(body).tolist())
    look(made, limits.min_leaf)
    return (int(given.costs.min(1).sum()) + made.bound) * given.unit, len(made.counts)


def main(arguments: list[str] | None = None, program: str | None = None, look: Any = look_at_leaves) -> int:
    """0 if the bound holds, 1 if not, 2 if the call cannot be used; says which, and what was proved."""

    def prove(X: Array, given: check.Costs, limits: check.Limits, body: bytes) -> tuple[Fraction, int]:
        return prove_bound(X, given, limits, body, look)

    return int(check.main(arguments, program, prove))


if __name__ == "__main__":
    sys.exit(main())
