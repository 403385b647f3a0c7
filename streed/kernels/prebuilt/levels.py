"""Levels of processors: what machine code is built for, from what all processors have to what the newest ones have.

A processor runs the code of its own level and of all below it. Levels matter to this engine by how fast they count bits
in vectors: of 120 columns and 2,000 rows, depth four takes 1.1 s on the lowest and 0.15 s on the highest one.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping

import attrs


@attrs.frozen
class Level:
    """A set of instructions, by the names that LLVM has for them."""

    name: str
    cpu: str
    """What code is generated for,"""
    features: str
    """and what beyond that."""
    needs: frozenset[str]
    """What a processor must have to run it."""


_V2 = frozenset({"cx16", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"})
_V3 = _V2 | {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}
_V4 = _V3 | {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"}
_COUNTING = ("avx512bitalg", "avx512vbmi", "avx512vbmi2", "avx512vpopcntdq")

_X86 = (
    Level("x86-64-v2", "x86-64-v2", "", _V2),
    Level("x86-64-v3", "x86-64-v3", "", _V3),
    Level("x86-64-v4", "x86-64-v4", "", _V4),
    # wider vectors make the whole processor slower
    Level("ice-lake", "x86-64-v4", ",".join(f"+{each}" for each in (*_COUNTING, "prefer-256-bit")), _V4 | {*_COUNTING}),
)

_OF_MACHINES = {"x86_64": _X86, "amd64": _X86}


def levels() -> tuple[Level, ...]:
    """The levels of this kind of machine, the lowest first; none if nothing was tried on it."""
    return _OF_MACHINES.get(platform.machine().lower(), ()) if sys.platform == "linux" else ()


def runnable(features: Mapping[str, bool]) -> list[Level]:
    """The levels that a processor with these features runs, the highest first."""
    return [level for level in reversed(levels()) if all(features.get(need, False) for need in level.needs)]


def this_platform() -> str:
    """What a library must have been built for, beside the level."""
    return f"{sys.platform} {platform.machine().lower()}"
