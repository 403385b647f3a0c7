"""Small native functions, as the engine's are declared, for tests of prebuilt libraries."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from streed.kernels.compiled import entry


@entry
def sums_of_rows(values, scale):  # type: ignore[no-untyped-def]
    """((n,) the sums of the rows times the scale, the largest, whether there are any, their mean)."""
    sums = np.zeros(len(values), np.int64)
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            sums[i] += values[i, j] * scale
    largest = sums[0] if len(sums) else np.int64(-(2**63))
    for each in sums:
        largest = max(largest, each)
    return sums, largest, len(sums) > 0, sums.sum() / max(1, len(sums))


@entry
def order_of(values):  # type: ignore[no-untyped-def]
    """The places of the values from the least one on: sorting makes a list inside."""
    return np.argsort(values)


@entry
def table_of(values, columns):  # type: ignore[no-untyped-def]
    """The values in rows of so many columns; an error if they do not fill them."""
    return values.reshape(len(values) // columns, columns).copy()


@entry
def count_distinct(values):  # type: ignore[no-untyped-def]
    """How many different values there are, by a set that grows, and of how many nothing was seen before."""
    seen = set([values[0]])  # noqa: C405 - a set display is not compiled
    new = 1
    for each in values:
        if each not in seen:
            seen.add(each)
            new += 1
    return len(seen), new


@entry
def write_row(table, row, values):  # type: ignore[no-untyped-def]
    """Nothing: the values stand in the row; an error, with a message made then, if they are more or fewer."""
    table[row] = values


@entry
def double(values):  # type: ignore[no-untyped-def]
    """Nothing: the values are doubled where they are."""
    for i in range(len(values)):
        values[i] *= 2


@entry
def largest_allowed(size):  # type: ignore[no-untyped-def]
    """The size; an error if there is no memory for so many numbers."""
    return len(np.ones(size, np.float64))


@entry
def last_word(flag):  # type: ignore[no-untyped-def]
    """The largest word, or half of it."""
    return np.uint64(0xFFFFFFFFFFFFFFFF) if flag else np.uint64(0x7FFFFFFFFFFFFFFF)


@entry
def next_word(word):  # type: ignore[no-untyped-def]
    """The word after this one."""
    return word + np.uint64(1)


class Factors(NamedTuple):
    """What values are multiplied by: all, and each column."""

    all: int
    columns: np.ndarray[tuple[int], np.dtype[np.int64]]


class Terms(NamedTuple):
    """A table and its factors."""

    factors: Factors
    values: np.ndarray[tuple[int, int], np.dtype[np.int64]]


@entry
def add_up(terms, more):  # type: ignore[no-untyped-def]
    """The sum of all values, multiplied, and of `more`."""
    total = more
    for i in range(terms.values.shape[0]):
        for j in range(terms.values.shape[1]):
            total += terms.factors.all * terms.factors.columns[j] * terms.values[i, j]
    return total


SIGNATURES = {
    "next_word": ("(uint64,)",),
    "add_up": ("(Terms, int64)", "(with_field(Terms, 'values', int32[:, ::1]), int64)"),
    "sums_of_rows": ("(uint8[:, ::1], int64)",),
    "order_of": ("(int64[::1],)",),
    "table_of": ("(int64[::1], int64)",),
    "count_distinct": ("(int64[::1],)",),
    "write_row": ("(int64[:, ::1], int64, readonly(int64[::1]))",),
    "double": ("(int64[::1],)",),
    "largest_allowed": ("(int64,)",),
    "last_word": ("(boolean,)",),
}
