"""The native functions of this room that Python calls, by name: importing this imports no compiler.

Each is explained where it is defined.
"""

from __future__ import annotations

from streed.kernels.linking import Entry

distinct_columns = Entry("streed.rashomon.compiled.columns", "distinct_columns", "(uint8[:, ::1],)")

_COUNTS = "streed.rashomon.compiled.counts"
_PROBLEM = "uint64[:, ::1], uint64[:, ::1], int64[:, ::1], int64[::1], int64[::1], int64[::1], readonly(uint64[::1])"

count_shallow = Entry(_COUNTS, "count_shallow", f"({_PROBLEM}, int64, int64, int64, boolean, float64[::1])")
count_three = Entry(
    _COUNTS, "count_three", f"({_PROBLEM}, int64[::1], int64, int64, int64, int64, boolean, float64[::1])"
)
convolve = Entry(
    _COUNTS,
    "convolve",
    "(int64[::1], int64[::1], int64[::1], int64[::1], int64, int64, int64, float64[::1])",
)
overlaps = Entry(_COUNTS, "overlaps", "(uint64[:, ::1], readonly(uint64[::1]), int64[::1])")
