"""From the text of a task's kernels to machine code, by numba."""

from __future__ import annotations

import math
import sys
import types
from collections import namedtuple
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numba import float64, int64, njit, uint8, uint32, uint64

from streed.kernels import coding, coding_kernels, records, simd, values
from streed.kernels.codegen.copies import compilable
from streed.kernels.compiled import entry, unit
from streed.kernels.ordered import record
from streed.kernels.ordered.orders import place_rows
from streed.kernels.ordered.pointers import record_at
from streed.kernels.pointers import KERNEL, engine_at
from streed.kernels.scoring import generated
from streed.kernels.scoring.lowest import lowest
from streed.kernels.views import inline, keep_apart, matrix, native, vector


class Compiler:
    """Compiles functions of a text, which is a module of this name, as they are asked for."""

    def __init__(self, name: str, text: str, functions: Mapping[str, Callable[..., Any]]) -> None:
        module = types.ModuleType(f"streed_kernels_{name}")
        sys.modules[module.__name__] = module  # where cached code looks for what it names
        self._namespace = module.__dict__
        self._namespace.update(_NAMES)
        self._namespace.update({key: compilable(function, module.__name__) for key, function in functions.items()})
        exec(compile(text, f"<{module.__name__}>", "exec"), self._namespace)

    def unit(self, kernel: str) -> Any:
        """The kernel, which takes the address of a record."""
        return unit(KERNEL, error_model="numpy")(self._namespace[kernel])

    def entry(self, name: str) -> Any:
        """The function, which Python calls; compiled when first called."""
        return entry(self._namespace[name], error_model="numpy")


_NAMES = {
    "namedtuple": namedtuple,
    "np": np,
    "math": math,
    "njit": njit,
    "inline": inline,
    "native": native,
    "keep_apart": keep_apart,
    "lowest": lowest,
    "int64": int64,
    "float64": float64,
    "uint8": uint8,
    "uint32": uint32,
    "record_at": record_at,
    "place_rows": place_rows,
    "NEW": record.NEW,
    "ROW": record.ROW,
    "SPLITS": record.SPLITS,
    "NEVER": record.INFEASIBLE,
    "LARGEST_CODE": float(coding.LARGEST_CODE),
    "uint64": uint64,
    "matrix": matrix,
    "vector": vector,
    "engine_at": engine_at,
    "first_one": simd.first_one,
    "real_of": coding_kernels.real_of,
    "whole": coding_kernels.whole,
    "next_whole": coding_kernels.next_whole,
    "INFINITE": records.INFINITE,
    "INFEASIBLE": coding.INFEASIBLE,
    "LOWEST": records.LOWEST,
    "NO_COST": records.NO_COST,
    "RAISED": records.RAISED,
    "NONE": records.NONE,
    **{name: getattr(generated, name) for name in ("LEAF1", "LEAF0", "SPLIT1", "SPLIT0", "WITH1", "WITH0", "COST")},
    "ROWS_OF_COSTS": generated.ROWS_OF_COSTS,
    **{f"V_{name}": getattr(values, name) for name in ("KEY", "LEAF1", "LEAF0", "SPLIT1", "SPLIT0", "COST", "LEAST1")},
    "ROWS_OF_VALUES": values.ROWS_OF_VALUES,
    **{f"encode_{name}": pair[0] for name, pair in coding_kernels.CODINGS.items()},
    **{f"decode_{name}": pair[1] for name, pair in coding_kernels.CODINGS.items()},
}
"""What the text may name."""
