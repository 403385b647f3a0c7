"""The kernels of a task: the text that is compiled for it, once per shape of task and body of its methods.

The text is written for the task's statistics, one array each, with its labels unrolled and its methods inlined, which
makes it as quick as one written by hand. It goes to a file that is named by a fingerprint of the text and of all
that the methods depend on, so numba's cache finds it in later processes and never finds an old one.
"""

from __future__ import annotations

import functools
import math
import os
import sys
import threading
import types
from collections import namedtuple
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from llvmlite import binding
from numba import cfunc, float64, int64, njit, uint8, uint64

from streed.engine import coding, records, scored, simd, values
from streed.engine.capture import compilable, fingerprint
from streed.engine.compiled import cache_directory, caching
from streed.engine.lowest import lowest
from streed.engine.pointers import KERNEL, engine_at
from streed.engine.scoring_text import SCORE
from streed.engine.sums import padded
from streed.engine.views import inline, keep_apart, matrix, native, vector

ROWS = -1
"""In place of the plane of a statistic that is 1 for every row: the plane of rows."""


@attrs.frozen
class TermShape:
    """What the text depends on of one of the terms whose weighted costs add up to the task's."""

    statistics: tuple[tuple[str, tuple[int, ...], bool], ...]
    """Name, planes, and whether it has several entries per row."""
    numbers: tuple[tuple[str, str], ...]
    """Name and kind of what the methods read from `self`."""
    weighted: bool
    """Whether its weight is anything but 1 or 0."""
    costs: bool
    """Whether its weight is not 0: a limit's term has statistics only."""
    any_label: bool
    called: bool
    """Whether its branching costs depend on more than the split: its method is called for each."""
    bounded: bool
    """Whether it has a lower bound of its own; else, if the task has one, it is 0."""


@attrs.frozen
class Shape:
    """What the text of the kernels depends on, besides the bodies of the task's methods."""

    terms: tuple[TermShape, ...]
    inputs: int
    """Planes of statistics."""
    labels: int
    lane: str
    """The type of pair sums."""
    real: bool
    """Whether costs are float64; else they are int64."""
    coding: str
    larger: bool
    """Whether larger values are better."""
    limits: tuple[tuple[int, tuple[tuple[str, str], ...]], ...]
    """Of each limit on leaves, the term whose statistics it is on and the numbers that it reads."""
    table: bool
    """Whether there are branching costs that depend on the split only."""
    members: tuple[str, ...]
    """The optional methods that the task has; of several terms, only lower bounds."""
    multiway: bool
    """Whether there are categorical columns."""
    floors: bool
    """Whether rows have lower bounds that add up."""
    counts: bool = False
    """Whether methods ask for whole numbers, as an index does: sums in float64 are given to them as int64 then."""
    wide: bool = False
    """Whether methods compute with whole numbers beyond int64: they are given sums as float64 then."""

    @property
    def planes(self) -> int:
        """Planes of pair sums: the statistics and rows."""
        return self.inputs + 1

    @property
    def called(self) -> bool:
        """Whether branching costs are asked of a term, split by split."""
        return any(term.called for term in self.terms)


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


_MOST_UNROLLED = 12
"""Labels beyond which a loop over them is compiled instead."""


def compile_kernels(shape: Shape, functions: Mapping[str, Callable[..., Any]]) -> Kernels:
    """The kernels for a shape and the methods by name.

    "leaf_cost0", "branching_cost0" and "lower_bound0" are those of the first term, and so on; "combine", "subtract" and
    "feasible" are the task's; "allows0" is that of its first limit.
    """
    text = _text(shape)
    name = fingerprint({"text": text, "engine": _engine(), **functions})
    if name not in _made:
        _made[name] = _compile(name, text, functions)
    return _made[name]


_made: dict[str, Kernels] = {}
"""By fingerprint, all that this process compiled or loaded."""


def _compile(name: str, text: str, functions: Mapping[str, Callable[..., Any]]) -> Kernels:
    _allow_alias_checks()
    path = _written(name, text)
    module = types.ModuleType(f"streed_kernels_{name}")
    sys.modules[module.__name__] = module  # where numba's cache looks for what the code names
    namespace = module.__dict__
    namespace.update(_NAMES)
    namespace.update({key: compilable(function, module.__name__) for key, function in functions.items()})
    exec(compile(text, str(path) if path else f"<{module.__name__}>", "exec"), namespace)
    kernels = []
    with caching() as is_kept:
        for kernel in ("score", "combine_values", "subtract_values", "find_floors"):
            made = namespace.get(kernel)
            cache = is_kept and path is not None
            kernels.append(None if made is None else cfunc(KERNEL, cache=cache, error_model="numpy")(made))
    addresses = [0 if kernel is None else kernel.address for kernel in kernels]
    costs_of = njit(error_model="numpy")(namespace["find_costs_of_labels"])
    return Kernels(tuple(kernels), costs_of, *addresses)


def _written(name: str, text: str) -> Path | None:
    """The file that holds the text, or None where none can be written."""
    directory = cache_directory()
    if directory is None:
        return None
    path = directory / "tasks" / f"kernels_{name}.py"
    if not path.exists():
        path.parent.mkdir(mode=0o700, exist_ok=True)
        scratch = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}.tmp")
        scratch.write_text(text)
        scratch.replace(path)
    return path


@functools.cache
def _engine() -> str:
    """What compiled kernels depend on in the engine: the name of the cache directory is a hash of its sources."""
    directory = cache_directory()
    return "" if directory is None else directory.name


@functools.cache
def _allow_alias_checks() -> None:
    """Lets LLVM check at run time that arrays do not overlap, however many there are: else it keeps to scalar code."""
    binding.set_option("streed", "-runtime-memory-check-threshold=2048")


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
    "uint64": uint64,
    "matrix": matrix,
    "vector": vector,
    "engine_at": engine_at,
    "first_one": simd.first_one,
    "real_of": coding.real_of,
    "whole": coding.whole,
    "next_whole": coding.next_whole,
    "INFINITE": records.INFINITE,
    "PRICE": coding.PRICE,
    "LOWEST": records.LOWEST,
    "NO_COST": records.NO_COST,
    "RAISED": records.RAISED,
    "NONE": records.NONE,
    **{name: getattr(scored, name) for name in ("LEAF1", "LEAF0", "SPLIT1", "SPLIT0", "WITH1", "WITH0", "COST")},
    "ROWS_OF_COSTS": scored.ROWS_OF_COSTS,
    **{f"V_{name}": getattr(values, name) for name in ("KEY", "LEAF1", "LEAF0", "SPLIT1", "SPLIT0", "COST", "LEAST1")},
    "ROWS_OF_VALUES": values.ROWS_OF_VALUES,
    **{f"encode_{name}": pair[0] for name, pair in coding.CODINGS.items()},
    **{f"decode_{name}": pair[1] for name, pair in coding.CODINGS.items()},
}
"""What the text may name."""


# -- the text ------------------------------------------------------------------------------------------------------


@functools.cache
def _text(shape: Shape) -> str:
    """The kernels' source."""
    inputs = [f"x{p}" for p in range(shape.inputs)]
    parts = [_head(shape, inputs), SCORE]
    text = "\n\n".join(parts)
    price = "math.inf" if shape.real else "PRICE"
    number = "float64" if (shape.lane == "float64" and not shape.counts) or shape.wide else "int64"
    sums = [*inputs, "rows"]
    fields = {
        "VALUE": "float64" if shape.real else "int64",
        "UP": "float64" if shape.real else "next_whole",
        "CHECKED": "float64" if shape.real else "whole",
        "LANE": {"int32": "np.int32", "int64": "np.int64", "float64": "np.float64"}[shape.lane],
        "TOTAL": "np.float64" if shape.lane == "float64" else "np.int64",
        "PLANES": str(shape.planes),
        "PADDED": str(padded.py_func(shape.planes)),
        "ROWS": str(shape.inputs),
        "PRICE": price,
        "ENCODE": f"encode_{shape.coding}",
        "DECODE": f"decode_{shape.coding}",
        "SIGN": "-" if shape.larger else "",
        "LOAD_T": "\n".join(f"t_{x} = {number}(totals[{p}])" for p, x in enumerate(sums)),
        "LOAD_K": "\n".join(f"k_{x} = {number}(sums[{p}, k])" for p, x in enumerate(sums)),
        "LOAD_J": "\n".join(f"j_{x} = {number}(sums[{p}, j])" for p, x in enumerate(sums)),
        "LOAD_B": "\n".join(f"b_{x} = {number}(pairs[{p} * stride + j, k])" for p, x in enumerate(sums)),
        "LOAD_C": "\n".join(
            f"b_{x} = {number}(pairs[{p} * stride + max(j, k), min(j, k)])" for p, x in enumerate(sums)
        ),
        "ARG_T": ", ".join(f"t_{x}" for x in sums),
        "ARG_P": ", ".join(f"{number}({x})" for x in [*(f"planes[i, {p}]" for p in range(shape.inputs)), "rows[i]"]),
        "ARG_F": ", ".join(f"{number}(rows_of[k, {p}])" for p in range(len(sums))),
        "ARG_K1": ", ".join(f"k_{x}" for x in sums),
        "ARG_K0": ", ".join(f"t_{x} - k_{x}" for x in sums),
        "ARG_11": ", ".join(f"b_{x}" for x in sums),
        "ARG_10": ", ".join(f"k_{x} - b_{x}" for x in sums),
        "ARG_01": ", ".join(f"j_{x} - b_{x}" for x in sums),
        "ARG_00": ", ".join(f"t_{x} - k_{x} - j_{x} + b_{x}" for x in sums),
    }
    switches = {
        "COSTS": shape.table or shape.called,
        "TABLE": shape.table and not shape.called,
        "BOTH": shape.table and shape.called,
        "CALLED": shape.called,
        "BOUND": "lower_bound" in shape.members,
        "FLOORS": shape.floors,
        "COMBINE": "combine" in shape.members,
        "SUBTRACT": "subtract" in shape.members,
        "MULTIWAY": shape.multiway,
    }
    return _fill(_choose(text, switches), fields)


def _choose(text: str, switches: Mapping[str, bool]) -> str:
    """The text without lines that are for other tasks: `#: NAME` ends one for tasks with NAME, `#: !NAME` without."""
    lines = []
    for line in text.splitlines():
        body, mark, conditions = line.partition("  #:")
        wanted = all(
            switches[condition.lstrip("!")] != condition.startswith("!") for condition in conditions.split() if mark
        )
        if wanted:
            lines.append(body.rstrip())
    return "\n".join(lines) + "\n"


def _fill(text: str, fields: Mapping[str, str]) -> str:
    """The text with its fields filled in; a field of several lines keeps the indentation of its place."""
    lines = []
    for line in text.splitlines():
        for name in sorted(fields, key=len, reverse=True):
            indent = line[: len(line) - len(line.lstrip())] if line.strip() == f"${name}" else ""
            line = line.replace(f"${name}", fields[name].replace("\n", f"\n{indent}"))
        lines.append(line)
    return "\n".join(lines) + "\n"


def _head(shape: Shape, inputs: list[str]) -> str:
    """The states, the parameters, and the functions of one state."""
    arguments = ", ".join([*inputs, "rows"])
    parts = [_tuples(shape), _unpacking(shape)]
    for i, term in enumerate(shape.terms):
        entries = [_entry(planes, several, inputs) for _, planes, several in term.statistics]
        parts.append(f"""
@inline
def state{i}_of({arguments}):
    return State{i}({", ".join(["rows", *entries])})
""")
    parts += [_cost_of_label(shape), _least_cost(shape, arguments), _leaf_of(shape, arguments), _joined(shape)]
    if "lower_bound" in shape.members:
        bounds = [
            f"{_weight(i, term)}lower_bound{i}(parameters[{i}], state{i}_of({arguments}))"
            for i, term in enumerate(shape.terms)
            if term.bounded
        ]
        parts.append(f"""
@inline
def bound_of(parameters, {arguments}):
    return $SIGN({" + ".join(bounds)})
""")
    if shape.called:
        costs = [
            f"{_weight(i, term)}branching_cost{i}(parameters[{i}], rows, path, split)"
            for i, term in enumerate(shape.terms)
            if term.called
        ]
        parts.append(f"""
@inline
def cost_of_split(parameters, rows, path, split):
    return $CHECKED($SIGN({" + ".join(costs)}))
""")
    return "\n".join(parts)


def _tuples(shape: Shape) -> str:
    """The types of states, parameters and limits."""
    lines = []
    for i, term in enumerate(shape.terms):
        names = [name for name, _ in term.numbers]
        lines.append(_tuple(f"State{i}", ["rows", *(name for name, _, _ in term.statistics)]))
        lines.append(_tuple(f"Parameters{i}", [*names, "the_weight"]))
    for i, (_, numbers) in enumerate(shape.limits):
        lines.append(_tuple(f"Limit{i}", [name for name, _ in numbers] or ["nothing"]))
    return "\n".join(lines)


def _tuple(name: str, fields: list[str]) -> str:
    """A type of tuples whose fields have any names: namedtuple itself refuses those that begin with an underscore."""
    return f"{name} = namedtuple({name!r}, {fields!r}, rename=True)\n{name}._fields = {tuple(fields)!r}"


def _entry(planes: tuple[int, ...], several: bool, inputs: list[str]) -> str:
    names = ["rows" if plane == ROWS else inputs[plane] for plane in planes]
    return f"({', '.join(names)},)" if several else names[0]


def _weight(i: int, term: TermShape) -> str:
    return f"parameters[{i}].the_weight * " if term.weighted else ""


def _cost_of_label(shape: Shape) -> str:
    """The cost of a leaf with a label, by the terms' methods."""
    states = ", ".join(f"s{i}" for i in range(len(shape.terms)))
    costs = [
        f"{_weight(i, term)}leaf_cost{i}(parameters[{i}], s{i}, {'int64(0)' if term.any_label else 'k'})"
        for i, term in enumerate(shape.terms)
        if term.costs
    ]
    check = "cost"
    if "feasible" in shape.members:
        known = "" if shape.real else "cost <= LOWEST or "
        check = f"cost if {known}feasible(parameters[0], $SIGNcost) else $PRICE"
    several = ", ".join([*(f"state{i}_of($ARG_P)" for i in range(len(shape.terms)))])
    return f"""
@inline
def any_cost(parameters, {states}, k):
    return $CHECKED($SIGN({" + ".join(costs)}))


@inline
def cost_of_label(parameters, {states}, k):
    cost = any_cost(parameters, {states}, k)
    return {check}


def find_costs_of_labels(numbers, planes, rows, found):
    parameters = parameters_of(numbers)
    for i in range(len(rows)):
        for k in range(found.shape[1]):
            found[i, k] = $SIGNany_cost(parameters, {several}, k)
"""


def _least_cost(shape: Shape, arguments: str) -> str:
    """The least cost over the labels, which are unrolled unless they are many."""
    states = ", ".join(f"s{i}" for i in range(len(shape.terms)))
    lines = [f"    s{i} = state{i}_of({arguments})" for i in range(len(shape.terms))]
    lines.append(f"    best = cost_of_label(parameters, {states}, int64(0))")
    if all(term.any_label for term in shape.terms):
        pass
    elif shape.labels <= _MOST_UNROLLED:
        for k in range(1, shape.labels):
            lines.append(f"    other = cost_of_label(parameters, {states}, int64({k}))")
            lines.append("    best = best if best <= other else other")
    else:
        lines.append(f"    for k in range(1, {shape.labels}):")
        lines.append(f"        other = cost_of_label(parameters, {states}, k)")
        lines.append("        best = best if best <= other else other")
    body = "\n".join(lines)
    return f"""
@inline
def least_cost(parameters, {arguments}):
{body}
    return best
"""


def _leaf_of(shape: Shape, arguments: str) -> str:
    """The cost of a leaf where one may stand, else the price of what is infeasible."""
    checks = "\n".join(
        f"    best = best if allows{i}(limits[{i}], state{term}_of({arguments})) else $PRICE"
        for i, (term, _) in enumerate(shape.limits)
    )
    return f"""
@inline
def leaf_of(parameters, limits, min_leaf, {arguments}):
    best = least_cost(parameters, {arguments})
{checks}
    return best if rows >= min_leaf else $PRICE
"""


def _joined(shape: Shape) -> str:
    """The value of two sides together."""
    if "combine" not in shape.members:
        return """
@inline
def joined(parameters, a, b):
    return a + b
"""
    known = "" if shape.real else "total <= LOWEST or "
    total = "total"
    if "feasible" in shape.members:
        total = f"total if {known}feasible(parameters[0], $SIGNtotal) else $VALUE($PRICE)"
    broken = "" if shape.real else "    if a <= LOWEST // 2 or b <= LOWEST // 2:\n        return int64(LOWEST)\n"
    return f"""
@inline
def joined(parameters, a, b):
    if a >= $PRICE or b >= $PRICE:
        return $VALUE($PRICE)
{broken}    total = $CHECKED($SIGNcombine(parameters[0], $SIGNa, $SIGNb))
    return {total}
"""


def _unpacking(shape: Shape) -> str:
    """The functions that read the numbers of the terms and of the limits; the first word is the worth of codes."""
    at = 1

    def read(kind: str) -> str:
        nonlocal at
        word = f"numbers[{at}]"
        kind, _, is_empty = kind.partition(" ")
        at += {"int": 1, "real": 1, "ints1": 2, "reals1": 2, "ints2": 3, "reals2": 3}[kind]
        dtype = "np.int64" if kind.startswith("int") else "np.float64"
        if kind in ("int", "real"):
            return word if kind == "int" else f"real_of({word})"
        # LLVM is told what is not empty, lest it computes both what a method does with entries and what it does without
        size = "{}" if is_empty else "max({}, 1)"
        sizes = ", ".join(size.format(f"numbers[{at - n}]") for n in range(int(kind[-1]), 0, -1))
        return f"{'vector' if kind.endswith('1') else 'matrix'}({word}, {sizes}, {dtype})"

    parameters = []
    for i, term in enumerate(shape.terms):
        fields = [read(kind) for _, kind in term.numbers]
        parameters.append(f"Parameters{i}({', '.join([*fields, read('real')])})")
    limits = []
    for i, (_, numbers) in enumerate(shape.limits):
        limits.append(f"Limit{i}({', '.join(read(kind) for _, kind in numbers) or '0'})")
    return f"""
WORDS = {at}


@inline
def parameters_of(numbers):
    return ({", ".join(parameters)},)


@inline
def limits_of(numbers):
    return {f"({', '.join(limits)},)" if limits else "0"}
"""
