"""Floats as the decimals that Python prints for them, in whole numbers of any size."""

from __future__ import annotations

import itertools
import operator
from decimal import Decimal

_MANY_DIGITS = 40
"""Beyond so many zeros, numbers are not written out."""


def decimals_of(numbers: list[float]) -> tuple[list[int], int]:
    """Whole numbers, and the power of ten by which they are to be divided: the decimals that Python prints."""
    if not numbers:
        return [], 1
    text = repr(numbers)[1:-1]
    if "e" in text:
        written = text.split(", ")
        powers = [at for at, each in enumerate(written) if "e" in each]
        if any(abs(int(written[at].partition("e")[2])) > _MANY_DIGITS for at in powers):
            return _powers([_decimal(each) for each in written])
        for at in powers:
            plain = format(Decimal(written[at]), "f")
            written[at] = plain if "." in plain else f"{plain}.0"
        text = ", ".join(written)
    pieces = text.replace(", ", ".").split(".")
    before, behind = pieces[::2], pieces[1::2]
    most = max(map(len, behind))
    padded = map(str.ljust, behind, itertools.repeat(most), itertools.repeat("0"))
    return list(map(int, map(operator.add, before, padded))), 10**most


def _powers(decimals: list[tuple[int, int]]) -> tuple[list[int], int]:
    """As `decimals_of`, of figures and the powers of ten that they are multiplied by."""
    digits = max([0, *(-power for _, power in decimals)])
    powers = {power: 10 ** (power + digits) for _, power in decimals}
    return [figures * powers[power] for figures, power in decimals], 10**digits


def _decimal(written: str) -> tuple[int, int]:
    """(figures, power): the number is written as figures * 10**power."""
    written, _, power = written.partition("e")
    whole, _, rest = written.partition(".")
    return int(whole + rest), int(power or 0) - len(rest)
