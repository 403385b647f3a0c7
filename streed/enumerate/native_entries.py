"""The native functions of this room that Python calls, by name: importing this imports no compiler.

Each is explained where it is defined.
"""

from __future__ import annotations

from streed.kernels.linking import Entry

_TABLE = "int64[:, ::1]"
_ROWS = "int64[::1]"

_ENTRIES = "streed.enumerate.entries"

thin = Entry(_ENTRIES, "thin", f"({_TABLE}, {_ROWS})")
unite = Entry(_ENTRIES, "unite", f"({_TABLE}, {_TABLE})")
combine = Entry(_ENTRIES, "combine", f"({_TABLE}, {_TABLE}, {_TABLE}, {_ROWS}, int64, int64)")
meet = Entry(_ENTRIES, "meet", f"({_TABLE}, {_TABLE}, {_TABLE}, {_TABLE}, {_ROWS}, {_ROWS}, int64)")
addends = Entry(_ENTRIES, "addends", f"({_TABLE}, {_TABLE}, {_ROWS})")

decode_keys = Entry("streed.enumerate.key_kernels", "decode_keys", f"({_TABLE}, {_TABLE}, {_TABLE}, {_ROWS})")

_SHALLOW = "streed.enumerate.shallow"
_PAIRS = "int64[:, :, ::1]"

enumerate_shallow = Entry(
    _SHALLOW, "enumerate_shallow", f"({_PAIRS}, {_ROWS}, {_ROWS}, {_ROWS}, int64, int64, int64, {_ROWS})"
)
find_shallow = Entry(_SHALLOW, "find_shallow", f"({_PAIRS}, {_ROWS}, {_ROWS}, int64, int64, {_ROWS})")

_NUMBERED = "streed.enumerate.numbered_kernels"

sum_pairs = Entry(_NUMBERED, "sum_pairs", f"({_ROWS}, {_ROWS}, {_ROWS}, {_TABLE}, {_TABLE}, int64, int64)")
optima_of_children = Entry(
    _NUMBERED,
    "optima_of_children",
    f"({_ROWS}, {_ROWS}, {_ROWS}, {_TABLE}, {_TABLE}, {_ROWS}, int64, int64, int64)",
)

_PACKED = "streed.enumerate.packed_kernels"
_BITS = "uint64[::1]"

count_pairs = Entry(_PACKED, "count_pairs", f"(int64, {_BITS}, int64, {_TABLE}, {_TABLE}, {_ROWS})")
enumerate_rows = Entry(
    _PACKED,
    "enumerate_rows",
    f"(int64, {_BITS}, int64, uint64, uint64, int64, {_TABLE}, {_TABLE}, {_ROWS}, {_ROWS}, {_ROWS})",
)
rank_columns = Entry(_PACKED, "rank_columns", f"(int64, {_BITS}, int64, uint64, uint64, int64, {_ROWS})")

_MEETING = "streed.enumerate.meeting"

meet_splits = Entry(
    _MEETING,
    "meet_splits",
    f"(int64, {_BITS}, {_TABLE}, int64, int64, int64, int64, {_TABLE}, {_TABLE}, {_ROWS}, {_ROWS}, {_ROWS},"
    f" {_TABLE}, {_TABLE}, {_ROWS}, {_ROWS}, {_ROWS})",
)
grow_shallow = Entry(
    _MEETING, "grow_shallow", f"(int64, {_BITS}, int64, {_ROWS}, {_TABLE}, {_TABLE}, {_ROWS}, {_ROWS})"
)
