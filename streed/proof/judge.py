"""All records of a proof at once, by compiled code: the rules of `check.Proof` on rows as words.

It says which record is the first that does not follow. What is wrong with that one is left to `check.Proof`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple, final

import numpy as np

from streed.exact import Array
from streed.proof import check
from streed.proof.check import Costs, Limits, Proof, Record
from streed.proof.compiled import CompiledSums
from streed.proof.counting import compiled, count_column, count_ones, native, scratch_for
from streed.proof.format import numbers_of
from streed.proof.packed import counts_of, make_work, sum_floors, sum_weights
from streed.proof.sides import ENDLESS, UNLIMITED, open_sides


@compiled
def parse(numbers, starts):  # type: ignore[no-untyped-def]
    """How many records there are, -1 if one is cut off; writes where each begins (at most as many as fit)."""
    at, count, end = 0, 0, len(numbers)
    while at < end:
        if count < len(starts):
            starts[count] = at
        count += 1
        if numbers[at] > (end - at - 1) // 2:
            return -1
        at += 1 + 2 * numbers[at]
        if end - at < 3 or numbers[at + 2] > end - at - 3:
            return -1
        depth = numbers[at]
        at += 3 + numbers[at + 2]
        if depth == 3:
            if end - at < 1 or numbers[at] > end - at - 1:
                return -1
            at += 1 + numbers[at]
    return count


@native
def lend_sides(p, sides, there, here, w, lower):  # type: ignore[no-untyped-def]
    """Raises bounds (Q,) of the sides of rows `here` (V,) by TRANSFER from those of other rows, side by side."""
    for at in range(len(p.words)):
        w.outside[at] = there[at] & ~here[at]
    sum_weights(p, w.outside, w.sizes, w.wide)
    for q in range(len(lower)):
        lower[q] = max(lower[q], sides[q] - w.wide[q])


@native
def lend_bound(p, bound, weight, there, here, w, lower):  # type: ignore[no-untyped-def]
    """Raises bounds (Q,) of the sides of rows `here` by TRANSFER from other rows of a weight, and their bound."""
    for at in range(len(p.words)):
        w.outside[at] = there[at] & here[at]
    sum_weights(p, w.outside, w.sizes, w.wide)
    for q in range(len(lower)):
        lower[q] = max(lower[q], w.wide[q] - weight + bound)


@native
def least_split(p, sides, allowed):  # type: ignore[no-untyped-def]
    """What a tree costs at least that has a split, by the bounds of the sides (Q,)."""
    least, q = ENDLESS, 0
    for column in range(len(allowed)):
        total = p.split
        for _ in range(p.firsts[column + 1] - p.firsts[column] + 1):
            total += sides[q]
            q += 1
        if allowed[column]:
            least = min(least, total)
    return least


@native
def weigh(p, rows):  # type: ignore[no-untyped-def]
    """The worst regrets of a set (V,) together."""
    weight = 0
    for at in range(len(p.words)):
        if rows[at] != 0:
            weight += p.worst[p.kind_of_word[at], 0] * count_ones(rows[at])
    return weight


class Claims(NamedTuple):
    """The records that hold so far, M, and room for more."""

    rows: Array
    """(M, V) uint64"""
    depths: Array
    """(M,)"""
    bounds: Array
    """(M,)"""
    weights: Array
    """(M,) the worst regrets of their rows."""
    places: Array
    """(M,) where the sides of those of depth three are."""
    sides: Array
    """(as many as have depth three, Q) bounds of sides at depth two."""


@compiled
def judge(p, numbers, starts, place_of, most, first, n_sides, claims):  # type: ignore[no-untyped-def]
    """(the number of the first record that does not follow, or how many there are; how many have depth three).

    Records are read from `starts` in the numbers of a file, from the number `first`; those before hold. `place_of`
    says which column of the problem one of the table is, -1 of none; bounds are below half of `most`.
    """
    n_literals, n_columns = len(p.literals), len(p.firsts) - 1
    w = make_work(p)
    lower, reached = np.empty(n_literals, np.int64), np.empty(n_literals, np.int64)
    known, cost = np.empty(n_literals, np.int64), np.empty(n_literals, np.int64)
    allowed = np.empty(n_columns, np.bool_)
    for number in range(first, first + len(starts)):
        at, here = starts[number - first], claims.rows[number]
        m = numbers[at]
        here[:] = p.everything
        for k in range(m):
            column, code = numbers[at + 1 + 2 * k], numbers[at + 2 + 2 * k]
            if column >= len(place_of) or place_of[column] < 0:
                return number, n_sides
            place = place_of[column]
            if code > p.firsts[place + 1] - p.firsts[place]:
                return number, n_sides
            literal = p.literals[p.firsts[place] + place + code]
            for v in range(len(here)):
                here[v] &= literal[v]
        at += 1 + 2 * m
        depth, bound, n_anchors = numbers[at], numbers[at + 1], numbers[at + 2]
        at += 3
        if 2 * bound >= most or depth < 3 or depth > UNLIMITED or (depth == UNLIMITED and p.split == 0):
            return number, n_sides
        claims.depths[number], claims.bounds[number], claims.weights[number] = depth, bound, weigh(p, here)
        for k in range(n_anchors):
            back = numbers[at + k]
            if back < 1 or back > number:
                return number, n_sides
        if depth > 3 and sum_floors(p, here, lower) >= bound:
            continue
        floor, leaf, weight, n_words = open_sides(p, here, depth, False, w, lower, reached, allowed)
        for k in range(n_anchors):
            a = number - numbers[at + k]
            if claims.depths[a] < depth - (3 < depth < UNLIMITED) or (depth == 3 and claims.depths[a] != 3):
                return number, n_sides
            if depth == 3:
                lend_sides(p, claims.sides[claims.places[a]], claims.rows[a], here, w, lower)
            else:
                lend_bound(p, claims.bounds[a], claims.weights[a], claims.rows[a], here, w, lower)
        at += n_anchors
        if depth == 3:
            if numbers[at] > 0:
                c = counts_of(p, w, n_words, weight)
                known[:] = 0
                scratch = scratch_for(c)
                for k in range(numbers[at]):
                    column = numbers[at + 1 + k]
                    if column >= len(place_of) or place_of[column] < 0:
                        return number, n_sides
                    count_column(c, place_of[column], scratch, cost, known)
                for q in range(n_literals):
                    lower[q] = max(lower[q], known[q])
            claims.places[number] = n_sides
            claims.sides[n_sides] = lower
            n_sides += 1
        if max(floor, min(leaf, least_split(p, lower, allowed))) < bound:
            return number, n_sides - (depth == 3)
    return first + len(starts), n_sides


AT_ONCE = 4096
"""Records of one call."""


@final
class Judge:
    """The claims that hold so far, as `check.Proof` has them."""

    def __init__(self, sums: CompiledSums) -> None:
        self.sums, self.count, self.n_sides = sums, 0, 0
        self.problem = sums.problem
        self.place_of = np.full(max(sums.columns) + 1, -1)
        self.place_of[sums.columns] = np.arange(len(sums.columns))
        n_words, n_literals = len(self.problem.everything), len(self.problem.literals)
        none: Array = np.empty(0, np.int64)
        sides = np.empty((0, n_literals), np.int64)
        self.claims = Claims(np.empty((0, n_words), np.uint64), none, none, none, none, sides)

    def add(self, record: Record) -> None:
        """Checks the next record; raises RejectedError if it does not follow."""
        self.add_all(np.array(list(numbers_of(record)), np.int64), np.zeros(1, np.int64))

    def add_all(self, numbers: Array, starts: Array) -> None:
        """Checks the records that begin at some of the numbers; raises RejectedError if one does not follow."""
        for begin in range(0, len(starts), AT_ONCE):
            some = starts[begin : begin + AT_ONCE]
            self._make_room(len(some))
            most, wanted = int(self.sums.big), self.count + len(some)
            about = self.problem, numbers, some, self.place_of, most, self.count, self.n_sides, self.claims
            self.count, self.n_sides = judge(*about)
            if self.count < wanted:
                at = begin + self.count - wanted + len(some)
                end = starts[at + 1] if at + 1 < len(starts) else len(numbers)
                self._reject(check.read_records(numbers[starts[at] : end].tolist())[0])

    def _make_room(self, more: int) -> None:
        def grown(array: Array, used: int) -> Array:
            if used + more <= len(array):
                return array
            made = np.empty((max(used + more, 2 * used), *array.shape[1:]), array.dtype)
            made[:used] = array[:used]
            return made

        sides = grown(self.claims.sides, self.n_sides)
        self.claims = Claims._make([*(grown(each, self.count) for each in self.claims[:-1]), sides])

    def _reject(self, record: Record) -> None:
        """Says by `check.Proof` what is wrong with the next record."""
        proof = Proof(self.sums)
        nothing: Any = None
        proof.claims = [nothing] * self.count
        for back in record.anchors:
            if 0 < back <= self.count:
                proof.claims[-back] = self._claim(self.count - back)
        proof.add(record)
        raise AssertionError(f"claim {self.count} follows by one checker only")

    def _claim(self, number: int) -> tuple[Array, int, int, Array | None]:
        depth = int(self.claims.depths[number])
        bits = np.unpackbits(self.claims.rows[number, : len(self.problem.words)].view(np.uint8), bitorder="little")
        sides = self.claims.sides[self.claims.places[number]].astype(np.float64) if depth == 3 else None
        return np.packbits(bits[self.sums.place]), depth, int(self.claims.bounds[number]), sides


def prove_bound(X: Array, given: Costs, limits: Limits, body: bytes) -> tuple[Fraction, int]:
    """`check.prove_bound`, by compiled code where rows are of few kinds and leaves of any size."""
    least = given.costs.min(1)
    sums = CompiledSums(X, given.costs - least[:, None], given.split, limits)
    if not sums.is_compiled or limits.depth <= 2:
        return check.prove_bound(X, given, limits, body, CompiledSums)
    best = int(sums.floor.sum(dtype=np.float64))
    numbers = check.read_numbers(body)
    starts = np.empty(len(numbers) // 4 + 1, np.int64)
    count = parse(numbers, starts)
    if count < 0:
        check.read_records(numbers.tolist())
    starts = starts[:count]
    Judge(sums).add_all(numbers, starts)
    about_all = starts[numbers[starts] == 0]
    depth = np.minimum(limits.depth, UNLIMITED)
    best = max([best, *numbers[about_all + 2][numbers[about_all + 1] >= depth].tolist()])
    return (int(least.sum()) + best) * given.unit, count
