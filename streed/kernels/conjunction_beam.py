"""Heavy conjunctions of literals, quickly: by beam search, which may miss heavier ones, as conjunctions.py does not."""

from __future__ import annotations

import numpy as np
from numba import int8, int64, uint64

from streed.kernels.compiled import entry
from streed.kernels.conjunctions import NOTHING, store
from streed.kernels.simd import load_atomic
from streed.kernels.stopping import LONGEST, STOP
from streed.kernels.views import native


@native
def _random_words(n):  # type: ignore[no-untyped-def]
    """(n,) uint64, the same ones always (xorshift): sums of them tell sets apart."""
    words = np.empty(n, np.uint64)
    x = uint64(88172645463325252)
    for i in range(n):
        x ^= x << uint64(13)
        x ^= x >> uint64(7)
        x ^= x << uint64(17)
        words[i] = x
    return words


@entry
def heavy_conjunctions(  # type: ignore[no-untyped-def]
    masks,
    literals_allowed,
    weights,
    counts,
    least_rows,
    threshold,
    width,
    most_literals,
    control,
    values,
    found,
    lengths,
):
    """(the largest weight seen, conjunctions stored): by beam search, so that heavier ones may be missed.

    Arguments are those of `heaviest_conjunctions`; each level keeps `width` of all extensions, those of the largest
    weight with half their positive weight added, no two of the same rows.
    """
    n, m = masks.shape
    most_literals = min(most_literals, LONGEST)
    rows = np.empty((width, n), np.int32)
    rows2 = np.empty((width, n), np.int32)
    paths = np.zeros((width, LONGEST), np.int32)
    paths2 = np.zeros((width, LONGEST), np.int32)
    n_rows = np.zeros(width, np.int64)
    n_rows2 = np.zeros(width, np.int64)
    words = _random_words(n)
    positive = np.empty(m, np.int64)
    all_of = np.empty(m, np.int64)
    has = np.empty(m, np.int64)
    hashes = np.empty(m, np.uint64)
    scores = np.empty(width * 2 * m, np.int64)
    weigh = np.empty(width * 2 * m, np.int64)
    parents = np.empty(width * 2 * m, np.int32)
    added = np.empty(width * 2 * m, np.int32)
    marks = np.empty(width * 2 * m, np.uint64)
    q = 0
    for i in range(n):
        if weights[i] != 0 or least_rows > 1:
            rows[0, q] = i
            q += 1
    n_rows[0] = q
    beam = 1
    best = int64(NOTHING)
    stored = int64(0)
    for level in range(most_literals):
        if load_atomic(control, STOP) != 0:
            break
        c = 0
        for b in range(beam):
            positive[:] = 0
            all_of[:] = 0
            has[:] = 0
            hashes[:] = uint64(0)
            gain = int64(0)
            total = int64(0)
            count = int64(0)
            mark = uint64(0)
            for t in range(n_rows[b]):
                r = rows[b, t]
                weight = int64(weights[r])
                plus = max(weight, int64(0))
                gain += plus
                total += weight
                count += counts[r]
                mark += words[r]
                for f in range(m):
                    taken = int64(masks[r, f])
                    positive[f] += plus & taken
                    all_of[f] += weight & taken
                    has[f] += counts[r] & taken
                    hashes[f] += words[r] & uint64(taken)
            for literal in range(2 * m):
                if literals_allowed[literal] == 0:
                    continue
                f = literal >> 1
                kept = positive[f] if literal & 1 == 1 else gain - positive[f]
                rest = has[f] if literal & 1 == 1 else count - has[f]
                other = hashes[f] if literal & 1 == 1 else mark - hashes[f]
                if kept <= threshold or rest < least_rows or other == mark:
                    continue
                weigh[c] = all_of[f] if literal & 1 == 1 else total - all_of[f]
                scores[c] = -(2 * weigh[c] + kept)
                parents[c] = b
                added[c] = literal
                marks[c] = other
                c += 1
        if c == 0:
            break
        order = np.argsort(scores[:c])
        kept_marks = set([uint64(0)])  # noqa: C405 - a set display of this type is not compiled
        q = 0
        for j in order:
            if q >= width:
                break
            if marks[j] in kept_marks:
                continue
            kept_marks.add(marks[j])
            b = parents[j]
            want = int8(-(added[j] & 1))
            length = 0
            for t in range(n_rows[b]):
                r = rows[b, t]
                if masks[r, added[j] >> 1] == want:
                    rows2[q, length] = r
                    length += 1
            n_rows2[q] = length
            for k in range(level):
                paths2[q, k] = paths[b, k]
            paths2[q, level] = added[j]
            best = max(best, weigh[j])
            if weigh[j] > threshold:
                stored = store(values, found, lengths, stored, weigh[j], paths2[q], level + 1)
            q += 1
        beam = q
        rows, rows2 = rows2, rows
        paths, paths2 = paths2, paths
        n_rows, n_rows2 = n_rows2, n_rows
    return best, stored
