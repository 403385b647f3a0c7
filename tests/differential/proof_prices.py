"""Random prices of rows for small tables: accepted if and only if no leaf is charged too much, by both checkers.

Leaves are enumerated: every choice of a code, or of none, for each column. Tables have up to three codes a column and
any number of labels; prices of both signs are near to what leaves cost.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np

from streed.exact import Array
from streed.proof import by_prices, check, check_prices
from streed.proof.format import to_bytes
from tests.differential import judging

CHECKERS: dict[str, Any] = {"numpy": check_prices.look_at_leaves, "compiled": by_prices.look_compiled}


def main(arguments: list[str] | None = None) -> int:
    """1 if a checker was wrong, else 0."""
    return judging.run("proof_prices", __doc__, judge, arguments, count=5000)


def judge(seed: int, number: int) -> tuple[Counter[str], list[str]]:
    """What both checkers say of one draw, and what is wrong with it."""
    rng = np.random.default_rng([seed, number])
    X, given, min_leaf = _table(rng)
    shift = int(rng.integers(0, 3))
    prices = rng.integers(-2 << shift, (3 << shift) + 1, len(check_prices.equal_rows(X)[0])).tolist()
    codes = [2 * p if p >= 0 else -2 * p - 1 for p in prices]
    body = check.read_file(to_bytes({}, np.array([shift, *codes], np.int64)))[1]
    sides = max([1, *(len(np.unique(column)) - 1 for column in X.T)])
    charged = Fraction(sum(prices), 2**shift) - Fraction(given.split, sides)
    bound = int(given.costs.min(1).sum()) + max(0, -(-charged.numerator // charged.denominator))
    expected = None if _is_overcharged(X, given, min_leaf, shift, prices) else bound
    wrong = []
    for name, look in CHECKERS.items():
        try:
            said = check_prices.prove_bound(X, given, check.Limits(check.UNLIMITED, min_leaf), body, look)[0]
        except check.RejectedError:
            said = None
        if said != expected:
            wrong.append(f"{number}: {name} said {said}, not {expected}")
    return Counter({"rejected" if expected is None else "accepted": 1}), wrong


def _table(rng: np.random.Generator) -> tuple[Array, check.Costs, int]:
    """Codes, costs with a price of splits, and how many rows a leaf has."""
    n, columns, n_labels = int(rng.integers(1, 12)), int(rng.integers(1, 5)), int(rng.integers(1, 4))
    X = rng.integers(0, rng.integers(1, 4, columns), (n, columns)).astype(np.uint8)
    costs = rng.integers(0, 6, (n, n_labels))
    return X, check.Costs(costs, int(rng.integers(1, 6)), Fraction(1)), int(rng.integers(1, 4))


def _is_overcharged(X: Array, given: check.Costs, min_leaf: int, shift: int, prices: list[int]) -> bool:
    """Whether some leaf is charged more than its least regret and its due."""
    codes = [np.unique(column).tolist() for column in X.T]
    due = Fraction(given.split, max([1, *(len(each) - 1 for each in codes)]))
    of_row = check_prices.equal_rows(X)[1]
    regrets = given.costs - given.costs.min(1)[:, None]
    for chosen in itertools.product(*([None, *each] for each in codes)):
        inside = np.all([np.ones(len(X), bool), *(X[:, c] == v for c, v in enumerate(chosen) if v is not None)], axis=0)
        charged = Fraction(sum(prices[k] for k in set(of_row[inside].tolist())), 2**shift)
        if inside.sum() >= max(min_leaf, 1) and charged > int(regrets[inside].sum(0).min()) + due:
            return True
    return False


if __name__ == "__main__":
    sys.exit(main())
