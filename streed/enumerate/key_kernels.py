"""From keys back to the sums that they hold, compiled (see `keys.py`)."""

from __future__ import annotations

import numpy as np

from streed.kernels.compiled import entry


@entry
def decode_keys(keys, places, factors, divisors):  # type: ignore[no-untyped-def]
    """(m, q) the sums of keys (m, words); places (digits, 4): word, worth, span and least of every digit."""
    sums = np.zeros((len(keys), factors.shape[1]), np.int64)
    shift = np.zeros(keys.shape[1], np.int64)
    for d in range(len(places)):
        shift[places[d, 0]] += places[d, 1] * places[d, 3]
    for i in range(len(keys)):
        for d in range(len(places)):
            word = keys[i, places[d, 0]] - shift[places[d, 0]]
            digit = word // places[d, 1] % places[d, 2] + places[d, 3]
            for q in range(factors.shape[1]):
                sums[i, q] += digit * factors[d, q]
        for q in range(factors.shape[1]):
            sums[i, q] //= divisors[q]
    return sums
