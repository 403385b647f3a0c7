"""Several sums of a tree in few whole numbers, the words of a key, which add up like them.

A word is a number in mixed radix whose digits are sums themselves, each with a span that no set of rows leaves. Where
the given sums do not fit one word, the digits are either those that do not determine the others, or the multiples of
each direction in which a row may move all sums together (three groups' rates move in three directions, the counts of
favourable predictions); whichever takes fewer bits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import final

import attrs
import numpy as np

from streed.enumerate.key_kernels import decode_keys
from streed.exact import Array
from streed.kernels.counting.equal_rows import find_classes

_BITS = 62
"""Of a word."""

_MOST_DIRECTIONS = 64

Row = list[Fraction]


@final
@attrs.frozen(eq=False)
class Digit:
    """A sum that stands in a key."""

    part: Array
    """(n, K) int64: what giving row i the label k adds to it."""
    split: int
    """What a branching node adds."""
    least: int
    """No sum over any rows is smaller."""
    span: int

    @property
    def bits(self) -> float:
        """How much of a key it takes."""
        return math.log2(self.span)


@final
@attrs.frozen(eq=False)
class KeyCode:
    """How keys are made of digits, and the sums of keys: `(digits @ factors) / divisors`."""

    digits: tuple[Digit, ...]
    factors: Array
    """(digits, q) int64."""
    divisors: Array
    """(q,) int64."""
    places: Array = attrs.field(init=False)
    """(digits, 4) int64: the word of each digit, what one of it is worth there, its span and its least."""

    def __attrs_post_init__(self) -> None:
        places = np.zeros((len(self.digits), 4), np.int64)
        word, worth = 0, 1
        for place, digit in zip(places, self.digits, strict=True):
            if worth > 1 and worth * digit.span >= 1 << _BITS:
                word, worth = word + 1, 1
            place[:] = word, worth, digit.span, digit.least
            worth *= digit.span
        object.__setattr__(self, "places", places)

    @property
    def words(self) -> int:
        """How many words a key has, at least one."""
        return int(self.places[:, 0].max(initial=0)) + 1

    @property
    def split(self) -> list[int]:
        """The key of a branching node, by word."""
        key = [0] * self.words
        for (word, worth, _, _), digit in zip(self.places.tolist(), self.digits, strict=True):
            key[word] += worth * digit.split
        return key

    def keys(self, shape: tuple[int, int]) -> Array:
        """(n, K, words) int64: what giving row i the label k adds to the key."""
        total = np.zeros((*shape, self.words), np.int64)
        for (word, worth, _, _), digit in zip(self.places.tolist(), self.digits, strict=True):
            total[:, :, word] += worth * digit.part
        return total

    def sums(self, keys: Array) -> Array:
        """(m, q) int64: the sums of keys (m, words)."""
        sums: Array = decode_keys(np.ascontiguousarray(keys), self.places, self.factors, self.divisors)
        return sums


def encode(parts: Sequence[Array], splits: Sequence[int], branches: int, sizes: Array | None = None) -> KeyCode:
    """The code for sums given by `parts`, (n, K) each, and `splits`, for trees of at most so many branching nodes.

    `sizes` (n,): how many rows each row of the parts stands for (default: itself).
    """
    sizes = np.ones(len(parts[0]) if parts else 0, np.int64) if sizes is None else sizes
    digits = tuple(_digit(part, split, branches, sizes) for part, split in zip(parts, splits, strict=True))
    plain = KeyCode(digits, np.eye(len(parts), dtype=np.int64), np.ones(len(parts), np.int64))
    if plain.words == 1:
        return plain
    codes = [_independent(parts, splits, branches, sizes), _directions(parts, splits, branches, sizes), plain]
    return min((code for code in codes if code is not None), key=lambda code: sum(digit.bits for digit in code.digits))


def _digit(part: Array, split: int, branches: int, sizes: Array) -> Digit:
    low = int(np.minimum(part.min(axis=1), 0) @ sizes) + min(0, split) * branches
    high = int(np.maximum(part.max(axis=1), 0) @ sizes) + max(0, split) * branches
    return Digit(part, split, low, high - low + 1)


def _moves(parts: Sequence[Array], splits: Sequence[int]) -> Array:
    """(t, q) the distinct ways in which a row or a branching node moves the sums."""
    flat = np.stack([part.ravel() for part in parts], axis=1) if parts else np.zeros((1, 0), np.int64)
    moves = np.ascontiguousarray(np.concatenate([flat, np.array([list(splits)], np.int64)]))
    distinct: Array = moves[find_classes(moves.view(np.uint8))[0]]
    return distinct


def _independent(parts: Sequence[Array], splits: Sequence[int], branches: int, sizes: Array) -> KeyCode | None:
    """The sums without those that are combinations of the others; None where combining them could overflow."""
    moves = [[Fraction(x) for x in row] for row in _moves(parts, splits).tolist()]
    chosen, combinations = _eliminate(moves, len(parts))
    divisors = [math.lcm(*(x.denominator for x in combination)) for combination in combinations]
    factors = [
        [int(combination[i] * divisor) for combination, divisor in zip(combinations, divisors, strict=True)]
        for i in range(len(chosen))
    ]
    digits = tuple(_digit(parts[j], splits[j], branches, sizes) for j in chosen)
    largest = [max(abs(digit.least), abs(digit.least + digit.span)) for digit in digits]
    if any(
        sum(abs(f) * x for f, x in zip(column, largest, strict=True)) >= 1 << 62
        for column in zip(*factors, strict=True)
    ):
        return None
    return KeyCode(
        digits,
        np.array(factors, np.int64).reshape(len(chosen), len(parts)),
        np.array(divisors, np.int64),
    )


def _eliminate(moves: list[Row], width: int) -> tuple[list[int], list[Row]]:
    """The columns that no earlier ones combine to, and each column as a combination of those."""
    rows = [list(row) for row in moves]
    chosen: list[int] = []
    for column in range(width):
        pivot = next((i for i in range(len(chosen), len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        at = len(chosen)
        rows[at], rows[pivot] = rows[pivot], rows[at]
        rows[at] = [x / rows[at][column] for x in rows[at]]
        for i, row in enumerate(rows):
            if i != at and row[column]:
                factor = row[column]
                rows[i] = [x - factor * y for x, y in zip(row, rows[at], strict=True)]
        chosen.append(column)
    return chosen, [[rows[i][column] for i in range(len(chosen))] for column in range(width)]


def _directions(parts: Sequence[Array], splits: Sequence[int], branches: int, sizes: Array) -> KeyCode | None:
    """The multiples of every direction of moves; None if there are too many directions."""
    numbers: dict[tuple[int, ...], int] = {}
    found: dict[tuple[int, ...], tuple[int, int]] = {}
    for move in _moves(parts, splits).tolist():
        divisor = math.gcd(*move)
        if divisor:
            divisor = divisor if next(x for x in move if x) > 0 else -divisor
            direction = tuple(x // divisor for x in move)
            found[tuple(move)] = numbers.setdefault(direction, len(numbers)), divisor
    if len(numbers) > _MOST_DIRECTIONS:
        return None
    shape = parts[0].shape if parts else (0, 0)
    multiples = np.zeros((len(numbers), *shape), np.int64)
    stacked = np.stack(parts, axis=-1) if parts else np.zeros((*shape, 0), np.int64)
    for move, (number, divisor) in found.items():
        multiples[number] += divisor * (stacked == np.array(move)).all(axis=-1)
    own = [0] * len(numbers)
    if tuple(splits) in found:
        number, own_multiple = found[tuple(splits)]
        own[number] = own_multiple
    digits = tuple(_digit(part, split, branches, sizes) for part, split in zip(multiples, own, strict=True))
    factors = np.array(list(numbers), np.int64).reshape(len(numbers), len(parts))
    return KeyCode(digits, factors, np.ones(len(parts), np.int64))
