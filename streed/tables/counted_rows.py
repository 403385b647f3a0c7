"""Rows of few kinds, however often each of them occurs: numbers of copies are written in binary.

Rows that agree in every column go to the same leaf of every tree. If their parts are 3 and 5 times the same vector,
they count as 8 copies of one row with it. 13 copies are three rows, of 8, 4 and 1 times the vector, since there would
be a kind for every number that occurs.
"""

from __future__ import annotations

import attrs
import numpy as np

from streed.data import Dataset
from streed.exact import Array
from streed.kernels.counting.equal_rows import find_classes
from streed.kernels.counting.groups import MANY_ROWS, MOST_GROUPS, often_equal
from streed.task.row_sums import sums_by

_SHARE = 4
"""Rows without frequencies are counted where at most one for so many of them remains."""


def count_rows(data: Dataset, parts: Array) -> tuple[Dataset, Array, Array] | None:
    """(r rows, their parts (m, r, K), place (n,)) with the same sums of parts (m, n, K) int64 in every leaf.

    `place` is one of the rows that agree with each of those they stand for. None where that gives no fewer kinds or
    rows: worth its time where frequencies make many kinds, or where many of very many rows are equal.
    """
    m, n, labels = parts.shape
    given = data.frequency
    if data.X.dtype != np.uint8 or (given is None and (n < MANY_ROWS or not often_equal(data.X))):
        return None
    words = np.ascontiguousarray(parts.transpose(1, 2, 0)).reshape(n, m * labels)
    told_apart = words if given is None else np.hstack([words, given[:, None]])
    # all that is asked of rows below is asked of one row of each of these, which are few
    firsts, which = find_classes(told_apart.view(np.uint8))
    if given is not None and len(firsts) <= MOST_GROUPS:
        return None
    distinct = words[firsts]
    copies = np.gcd.reduce(distinct, axis=1)
    if given is not None:
        copies = np.gcd(copies, given[firsts])
    copies = np.maximum(copies, 1)
    vectors = distinct // copies[:, None]
    if given is not None:
        vectors = np.hstack([vectors, (given[firsts] // copies)[:, None]])
    kinds, kind = find_classes(vectors.view(np.uint8))
    if len(kinds) > MOST_GROUPS:
        return None
    first, place = find_classes(np.hstack([data.X, kind.astype(np.uint8)[which][:, None]]))
    totals = sums_by(place, copies[which], len(first))
    classes, digits = np.nonzero(totals[:, None] >> np.arange(int(totals.max()).bit_length()) & 1)
    if given is None and len(classes) * _SHARE > n:
        return None
    times = 1 << digits
    begins = np.searchsorted(classes, np.arange(len(first)))
    chosen = first[classes]
    copy = copies[which[chosen]]
    frequency = times if given is None else times * (given[chosen] // copy)
    counted = attrs.evolve(data.subset(chosen), weights=None, sample_weight=None, frequency=frequency)
    rows = (words[chosen] // copy[:, None] * times[:, None]).reshape(len(chosen), labels, m)
    return counted, np.ascontiguousarray(rows.transpose(2, 0, 1)), begins[place]
