"""Proofs by row prices: bounds on trees of any depth, which `check_prices.py` checks by pricing every leaf again.

The prices are those of the linear program (streed/row_prices); nothing of it is trusted. A large table is priced again
by the kernel that made the prices, which is quick, and not independent of it; a small one by numpy alone.
"""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Any

import numpy as np

from streed.errors import InputError, TaskError
from streed.exact import Array
from streed.kernels.conjunctions import heaviest_conjunctions
from streed.kernels.control import LONGEST, ROWS_OF_CONTROL
from streed.proof import check, check_prices
from streed.proof.check_prices import Priced, equal_rows, literals_of
from streed.proof.claim import ProofClaim
from streed.proof.format import to_bytes
from streed.row_prices.generation import Generation
from streed.row_prices.leaves import Leaves
from streed.row_prices.prices import Prices

FLAG = "--row-prices"
"""Of `streed check-proof`: the file is for `check_prices.py`."""

MOST_CLASSES = 2_000
"""Classes of equal rows: the linear program has a row for each."""


def prove_by_prices(made: ProofClaim, deadline: float | None) -> tuple[bytes, Fraction, int]:
    """(the file, the bound, how many prices) for a claim; the deadline is one of `time.monotonic`, in seconds.

    Raises TaskError where splits cost nothing or sums are limited, InputError for too many different rows.
    """
    costs = made.goal.costs
    if made.amounts or not costs.split:
        raise TaskError("row prices are of trees of which every split has a price, without limits on sums or nodes")
    first, of_row = equal_rows(made.X)
    if len(first) > MOST_CLASSES:
        found = f"{len(first):,} different rows"
        raise InputError("X", found, f"prices are made of {MOST_CLASSES:,} at most: leave out columns")
    regrets = np.zeros((len(first), costs.costs.shape[1]), np.int64)
    np.add.at(regrets, of_row, costs.costs - costs.costs.min(1)[:, None])
    literals, sides = literals_of(made.X)
    bits, allowed = _bits(made.X[first], literals)
    counts, due = np.bincount(of_row, minlength=len(first)), Fraction(costs.split, sides)
    leaves = Leaves(bits, regrets, counts, allowed, due, made.limits.min_leaf, most_literals=2**30)
    best: list[Prices] = []
    goal = float(made.reached - int(costs.costs.min(1).sum()))
    generation = Generation(leaves, np.zeros(ROWS_OF_CONTROL, np.int64), best.append, lambda: goal)
    generation.run(None if deadline is None else time.perf_counter() + deadline - time.monotonic())
    numbers = _numbers(best[-1]) if best else np.zeros(1 + len(first), np.int64)
    written = to_bytes({"tree": made.tree, "arguments": [*made.arguments, FLAG]}, numbers)
    body = check.read_file(written)[1]
    bound, count = check_prices.prove_bound(made.X, costs, made.limits, body, look_compiled)
    return written, min(bound, made.goal.reached), count


def _bits(X: Array, literals: list[tuple[int, int]]) -> tuple[Array, Array]:
    """((N, F) uint8 the bit columns of rows, (2 F,) uint8 which literals branches have): one for a column of two codes.

    Of more codes there is one for each, and branches have only that a row is of it.
    """
    codes: dict[int, list[int]] = {}
    for column, code in literals:
        codes.setdefault(column, []).append(code)
    bits, allowed = [np.zeros((len(X), 0), np.uint8)], []
    for column, each in codes.items():
        shown = each[1:] if len(each) <= 2 else each
        bits.append((X[:, [column]] == np.array(shown, X.dtype)).view(np.uint8))
        allowed += [1 if len(each) == 2 else 0, 1] * len(shown)
    return np.ascontiguousarray(np.hstack(bits)), np.array(allowed, np.uint8)


def _numbers(prices: Prices) -> Array:
    """What the file has of prices: how many binary digits they have behind the point, and each, signs last."""
    shift = max(prices.shift, 0)
    units = prices.units << (shift - prices.shift)
    return np.concatenate([np.array([shift], np.int64), (units << 1) ^ (units >> 63)])


def look_compiled(made: Priced, min_leaf: int) -> None:
    """As `check_prices.look_at_leaves`, by the kernel."""
    masks = np.ascontiguousarray(-(made.held.T.astype(np.int8)))
    allowed = np.tile(np.array([0, 1], np.uint8), len(made.held))
    places: Any = np.zeros(1, np.int64), np.zeros((1, LONGEST), np.int32), np.zeros(1, np.int64)
    for weights in made.weights:
        # no leaf with a class of less weight than all others have above zero is heavy, however little that class weighs
        room = int(weights[weights > 0].sum())
        if room <= made.most:
            continue
        exact = np.maximum(weights, -room - 1)
        if room - int(exact[exact < 0].sum()) + made.most >= 2**30:
            raise check.UsageError("the prices are too fine for compiled code: check without --compiled")
        heaviest, _, ended, _ = heaviest_conjunctions(
            masks, allowed, exact.astype(np.int32), made.counts, min_leaf, made.most, 2**30, 2**62,
            np.zeros(ROWS_OF_CONTROL, np.int64), *places,
        )  # fmt: skip
        if not ended:
            raise check.UsageError("there are leaves of too many literals to look at")
        check.require(heaviest <= made.most, "a leaf is charged more than it costs")


def main(arguments: list[str], program: str | None = None, *, compiled: bool = False) -> int:
    """As `check_prices.main`; with `compiled`, leaves are looked at by the kernel."""
    given = [each for each in arguments if each != FLAG]
    return check_prices.main(given, program, look_compiled if compiled else check_prices.look_at_leaves)
