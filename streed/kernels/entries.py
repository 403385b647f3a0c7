"""The native functions of this room that Python calls, by name: importing this imports no compiler.

Each is explained where it is defined.
"""

from __future__ import annotations

from streed.kernels.linking import Entry

_COUNTING = "streed.kernels.counting"

pack_columns = Entry(
    f"{_COUNTING}.columns", "pack_columns", "(uint8[:, ::1], int64[::1], int64[::1], int64, boolean, int8[::1])"
)
find_rows = Entry(f"{_COUNTING}.columns", "find_rows", "(int64[::1], int64)")

find_classes = Entry(f"{_COUNTING}.equal_rows", "find_classes", "(uint8[:, ::1],)")
find_floors = Entry(
    f"{_COUNTING}.equal_rows", "find_floors", "(int32[:, ::1], int64[::1], int64[::1], int64[:, ::1], int64)"
)

common_divisor = Entry(f"{_COUNTING}.group_kernels", "common_divisor", "(int64[:, ::1], int64)")
find_groups = Entry(f"{_COUNTING}.group_kernels", "find_groups", "(int64[:, ::1], int64, boolean, int64)")
slice_costs = Entry(f"{_COUNTING}.group_kernels", "slice_costs", "(int64[:, ::1], int64, boolean)")
effort_of_slices = Entry(f"{_COUNTING}.group_kernels", "effort_of_slices", "(int64[:, ::1], int64, int64)")
find_equal = Entry(f"{_COUNTING}.group_kernels", "find_equal", "(int64[:, ::1], int64)")
place_groups = Entry(f"{_COUNTING}.group_kernels", "place_groups", "(int64[::1], int64)")

set_prices = Entry(
    f"{_COUNTING}.group_costs", "set_prices", "(int64[:, ::1], int64[::1], int64, int64[:, ::1], int64[:, ::1])"
)

sum_distinct = Entry(
    f"{_COUNTING}.distinct_row_kernels",
    "sum_distinct",
    "(uint8[:, ::1], int64[:, ::1], int64, boolean, int64[::1], int64[::1], int64)",
)

count_copies = Entry(f"{_COUNTING}.multiplicity_kernels", "count_copies", "(int64[::1], int64[::1], int64[::1], int64)")
place_copies = Entry(f"{_COUNTING}.multiplicity_kernels", "place_copies", "(int64[:, ::1], int64[:, ::1])")

_ROUTING = "streed.kernels.routing"

route_rows = Entry(_ROUTING, "route_rows", "(int64[::1], uint8[:, ::1], int64[::1])")
measure_tree = Entry(_ROUTING, "measure_tree", "(int64[::1], uint8[:, ::1], int64[::1], int64[:, ::1])")
weigh_tree = Entry(
    _ROUTING,
    "weigh_tree",
    "(int64[::1], uint8[:, ::1], int64[::1], int64[::1], int64[:, ::1], int64[:, :, ::1])",
)
weigh_leaves = Entry(
    _ROUTING,
    "weigh_leaves",
    "(int64[::1], uint8[:, ::1], int64[::1], int64[::1], int64[::1], int64[:, :, ::1])",
)
count_kinds = Entry(_ROUTING, "count_kinds", "(int64, uint64[::1], int64[::1], int64[::1])")

_CONJUNCTIONS = "streed.kernels.conjunctions"

heaviest_conjunctions = Entry(
    _CONJUNCTIONS,
    "heaviest_conjunctions",
    "(int8[:, ::1], uint8[::1], int32[::1], int64[::1], int64, int64, int64, int64, int64[::1], int64[::1],"
    " int32[:, ::1], int64[::1])",
)
heavy_conjunctions = Entry(
    "streed.kernels.conjunction_beam",
    "heavy_conjunctions",
    "(int8[:, ::1], uint8[::1], int32[::1], int64[::1], int64, int64, int64, int64, int64[::1], int64[::1],"
    " int32[:, ::1], int64[::1])",
)
