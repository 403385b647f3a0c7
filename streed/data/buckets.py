"""Numbers and times that a database cuts at quantiles, and the ordered columns that they become.

A bucket holds the values between two thresholds. Its rows are told apart no further, so only thresholds between buckets
are asked for: exactly halfway between the largest value of one and the smallest of the next, as everywhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from streed.data.column import Column
from streed.data.ordered import OrderedValues
from streed.data.reading import read_column
from streed.exact import Array

if TYPE_CHECKING:
    from streed.data.dataset import Dataset


@attrs.frozen(eq=False)
class Thresholds:
    """Where a column is cut: the SQL of a row's bucket, with a placeholder for each threshold."""

    sql: str
    thresholds: tuple[Any, ...]


def find_thresholds(
    fetch: Callable[..., dict[str, Array]], source: str, names: Sequence[str], max_cuts: int | None
) -> dict[str, Thresholds]:
    """The columns that have more values than cuts are wanted for, with values at about their quantiles.

    The quantiles are those of a sketch, so the cuts are near them; what they ask of a row is exact. None: no column.
    """
    if max_cuts is None or not names:
        return {}
    steps = ", ".join(repr(step / (max_cuts + 1)) for step in range(1, max_cuts + 1))
    found: dict[str, Thresholds] = {}
    counted = ", ".join(f"approx_count_distinct({quoted(name)}) AS c{at}" for at, name in enumerate(names))
    many = fetch(f"SELECT {counted} FROM {source}")
    wanted = [name for name, count in zip(names, many.values(), strict=True) if int(count[0]) > max_cuts + 1]
    if not wanted:
        return {}
    asked = ", ".join(f"approx_quantile({quoted(name)}, [{steps}]) AS c{at}" for at, name in enumerate(wanted))
    for name, values in zip(wanted, fetch(f"SELECT {asked} FROM {source}").values(), strict=True):
        cuts = sorted(set(np.asarray(values[0]).tolist()))
        column = quoted(name)
        sql = "(" + " + ".join(f"CAST({column} > ? AS SMALLINT)" for _ in cuts) + ")"
        found[name] = Thresholds(sql, tuple(cuts))
    return found


def quoted(name: str) -> str:
    """A column's name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


@attrs.frozen(eq=False)
class Buckets:
    """A column that was cut: which bucket each row is in, and the smallest and largest value of every bucket."""

    shown: Any
    """(n,) the largest value of each row's bucket; masked where the row has none."""
    least: Array
    most: Array
    """(b,) of the buckets that have rows, ascending."""

    @classmethod
    def of(cls, bucket: Array, least: Array, most: Array) -> Buckets:
        """Of a grouped column: the buckets of the groups and the ends of the values in each group, masked if NULL."""
        missing = np.ma.getmaskarray(bucket)
        numbers = np.asarray(np.ma.filled(bucket, 0), np.int64)
        low, high = (np.asarray(np.ma.getdata(each)) for each in (least, most))
        present, place = np.unique(numbers[~missing], return_inverse=True)
        order = np.argsort(place, kind="stable")
        begins = np.searchsorted(place[order], np.arange(len(present)))
        lows = np.minimum.reduceat(low[~missing][order], begins) if len(present) else low[:0]
        highs = np.maximum.reduceat(high[~missing][order], begins) if len(present) else high[:0]
        shown = np.zeros(len(numbers), highs.dtype)
        shown[~missing] = highs[place]
        return cls(np.ma.MaskedArray(shown, mask=missing), lows, highs)


def with_buckets(data: Dataset, buckets: Mapping[str, Buckets]) -> Dataset:
    """The data, whose columns hold the largest value of each row's bucket, with thresholds between the buckets only."""
    if not buckets:
        return data
    codes = data.X.astype(np.int32)
    ordered, coded = dict(data.ordered), {j: data.column(j) for j in range(data.n_columns)}
    for j, name in enumerate(data.names):
        if name not in buckets:
            continue
        found = buckets[name]
        least, read = (read_column(each, f"column {name!r}") for each in (found.least, found.most))
        known = ordered.get(j)
        scale = known.scale if known is not None else read.kind
        has_gaps = known is not None and known.has_gaps
        values, cuts = _ends(np.asarray(least.values), np.asarray(read.values))
        places = np.append(cuts, len(values) - 1)
        codes[:, j] = np.append(places, len(values))[codes[:, j]]
        ordered[j] = OrderedValues(values, scale, has_gaps, cuts)
        coded[j] = Column(name, (), False, scale, has_gaps)
    return attrs.evolve(data, X=codes, ordered=dict(sorted(ordered.items())), coded=coded)


def _ends(least: Array, most: Array) -> tuple[Array, Array]:
    """(the smallest and largest values of all buckets in order, the places of the largest but the last one's)."""
    both = np.stack([least, most], axis=1).ravel()
    kept = np.ones(len(both), bool)
    kept[1::2] = least != most
    places = np.cumsum(kept)[1::2] - 1
    return both[kept], places[:-1].astype(np.int64)
