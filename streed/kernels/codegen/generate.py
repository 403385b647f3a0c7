"""The kernels of a task: the text that is compiled for it, once per spec of task and body of its methods.

The text is written for the task's statistics, one array each, with its labels unrolled and its methods inlined, which
makes it as quick as one written by hand. Its module is named by a fingerprint of the text and of all that the methods
depend on, so the cache finds its code in later processes and never finds an old one.
"""

from __future__ import annotations

import functools
import hashlib
import math
import sys
import types
from collections import namedtuple
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import numpy as np
from numba import float64, int64, njit, uint8, uint32, uint64

from streed.kernels import coding, records, simd, values
from streed.kernels.codegen.capture import compilable, fingerprint
from streed.kernels.codegen.render import render
from streed.kernels.codegen.spec import KernelSpec
from streed.kernels.compiled import entry, unit
from streed.kernels.ordered import record
from streed.kernels.ordered.orders import place_rows
from streed.kernels.pointers import KERNEL, engine_at
from streed.kernels.scoring import generated
from streed.kernels.scoring.lowest import lowest
from streed.kernels.views import inline, keep_apart, matrix, native, vector


@attrs.frozen(eq=False)
class Kernels:
    """Addresses of a task's compiled kernels; zero for those that it does not need."""

    kept: tuple[Any, ...]
    """What holds the code in memory."""
    costs_of: Callable[..., None]
    """(numbers, planes (m, S), rows (m,), found (m, K)): writes native costs of leaves; compiled when first called."""
    score: int
    combine: int
    subtract: int
    floor: int


def compile_kernels(spec: KernelSpec, functions: Mapping[str, Callable[..., Any]]) -> Kernels:
    """The kernels for a spec and the methods by name.

    "leaf_cost0", "branching_cost0" and "lower_bound0" are those of the first term, and so on; "combine", "subtract" and
    "feasible" are the task's; "allows0" is that of its first limit.
    """
    text, digest = _text_of(spec)
    name = fingerprint({"text": digest, **functions})
    if name not in _made:
        _made[name] = _compile(name, text, functions)
    return _made[name]


@attrs.frozen(eq=False)
class ThresholdKernels:
    """The compiled kernels of a task in the search over thresholds."""

    kept: tuple[Any, ...]
    """What holds the code in memory."""
    costs_of: Callable[..., None]
    """As that of `Kernels`."""
    score: int
    stump: int


def compile_threshold_kernels(spec: KernelSpec, functions: Mapping[str, Callable[..., Any]]) -> ThresholdKernels:
    """Those of a task whose values are added, with nothing but sums in its methods; see `compile_kernels`."""
    text, digest = _text_of(spec, True)
    name = fingerprint({"text": digest, **functions})
    if name not in _made_for_thresholds:
        namespace = _namespace(name, text, functions)
        made = [unit(KERNEL, error_model="numpy")(namespace[kernel]) for kernel in _OF_THRESHOLDS]
        costs_of = entry(namespace["find_costs_of_labels"], error_model="numpy")
        _made_for_thresholds[name] = ThresholdKernels(tuple(made), costs_of, *(kernel.address for kernel in made))
    return _made_for_thresholds[name]


_OF_THRESHOLDS = ("score_thresholds", "find_stump_of_thresholds")

_made_for_thresholds: dict[str, ThresholdKernels] = {}
"""As `_made`."""


@functools.cache
def _text_of(spec: KernelSpec, ordered: bool = False) -> tuple[str, str]:
    """The text, and a hash of it."""
    text = render(spec, ordered)
    return text, hashlib.sha256(text.encode()).hexdigest()


_made: dict[str, Kernels] = {}
"""By fingerprint, all that this process compiled or loaded."""


def _namespace(name: str, text: str, functions: Mapping[str, Callable[..., Any]]) -> dict[str, Any]:
    """The names of the module that the text makes."""
    module = types.ModuleType(f"streed_kernels_{name}")
    sys.modules[module.__name__] = module  # where cached code looks for what it names
    namespace = module.__dict__
    namespace.update(_NAMES)
    namespace.update({key: compilable(function, module.__name__) for key, function in functions.items()})
    exec(compile(text, f"<{module.__name__}>", "exec"), namespace)
    return namespace


def _compile(name: str, text: str, functions: Mapping[str, Callable[..., Any]]) -> Kernels:
    namespace = _namespace(name, text, functions)
    kernels = []
    for kernel in ("score", "combine_values", "subtract_values", "find_floors"):
        made = namespace.get(kernel)
        kernels.append(None if made is None else unit(KERNEL, error_model="numpy")(made))
    addresses = [0 if kernel is None else kernel.address for kernel in kernels]
    costs_of = entry(namespace["find_costs_of_labels"], error_model="numpy")
    return Kernels(tuple(kernels), costs_of, *addresses)


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
    "record_at": record.record_at,
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
    "real_of": coding.real_of,
    "whole": coding.whole,
    "next_whole": coding.next_whole,
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
    **{f"encode_{name}": pair[0] for name, pair in coding.CODINGS.items()},
    **{f"decode_{name}": pair[1] for name, pair in coding.CODINGS.items()},
}
"""What the text may name."""
