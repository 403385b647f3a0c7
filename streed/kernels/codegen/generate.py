"""The kernels of a task: compiled for it, once per spec of task and body of its methods.

The functions of `leaves.py` and of `score.py` or `thresholds.py` are made anew for it, with the task's methods inlined,
its labels unrolled and a tuple of sums in place of a loop over its statistics: as quick as a kernel that is written by
hand. The module that they are made in is named by a fingerprint of all that the methods depend on, so the cache finds
its code in later processes and never finds an old one.

Numba makes machine code of them, and of copies of the task's methods: all that they call is compiled as well. What
depends on how many planes, labels and terms there are is written as text (`render`); the rest is `leaves.py`.
"""

from __future__ import annotations

import builtins
import importlib.util
import math
import numbers
import sys
import types
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import attrs
from numba import float64, int32, int64, njit

from streed.errors import TaskError
from streed.kernels import coding, records
from streed.kernels.codegen.capture import (
    Function,
    attributes_of,
    dependencies,
    fingerprint,
    global_names,
    module_parts,
    without_generators,
)
from streed.kernels.compiled import entry, unit
from streed.kernels.views import KERNEL

_inline = njit(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model="numpy")
"""For what only generated kernels call."""


class _Copies:
    """Copies of functions for numba, one of each, in the module of a name; helper functions are compiled as well."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._made: dict[int, Any] = {}
        self._kept: list[Any] = []
        """Functions by whose `id` others are known: those of helpers live no longer than their own."""

    def copy(self, function: Callable[..., Any]) -> Any:
        assert isinstance(function, Function)
        if id(function) in self._made:
            if self._made[id(function)] is None:
                code = function.__code__
                raise TaskError(
                    f"{function.__name__} calls itself, which cannot be compiled; write a loop\n"
                    f"  {code.co_filename}:{code.co_firstlineno}"
                )
            return self._made[id(function)]
        self._made[id(function)] = None
        self._kept.append(function)
        original, function = function, without_generators(function)
        code = function.__code__
        attributes = attributes_of(code)
        names = {name: self._value(value, attributes) for name, value in dependencies(function)}
        namespace = {name: names[name] for name in global_names(code) if name in function.__globals__}
        namespace |= {"__builtins__": builtins, "__name__": self._module}
        cells = tuple(types.CellType(names[name]) for name in code.co_freevars)
        made = Function(code, namespace, function.__name__, function.__defaults__, cells)
        made.__kwdefaults__ = function.__kwdefaults__
        self._made[id(original)] = _inline(made)
        return self._made[id(original)]

    def _value(self, value: Any, names: Collection[str]) -> Any:
        if isinstance(value, Function):
            return self.copy(value)
        if isinstance(value, types.ModuleType):
            parts = dict(module_parts(value, names))
            if not parts:
                return value
            shadow = types.ModuleType(value.__name__)
            vars(shadow).update({name: self._value(part, names) for name, part in parts.items()})
            return shadow
        return (
            float(value) if isinstance(value, numbers.Rational) and not isinstance(value, numbers.Integral) else value
        )


@attrs.frozen(eq=False)
class Kernels:
    """A task's native kernels; their code lasts as long as this does."""

    units: Mapping[str, Any]
    """What is called by its address, by name."""
    costs_of: Any
    """(numbers, sums (m, P), found (m, K)): writes native costs of leaves; compiled when first called."""

    def address(self, unit: str) -> int:
        """That of a kernel; zero for one that the task does not need."""
        return self.units[unit].address if unit in self.units else 0


def compile_kernels(spec: KernelSpec, functions: Mapping[str, Callable[..., Any]]) -> Kernels:
    """The kernels for a spec and the methods by name, for the search over thresholds or for any other.

    "leaf_cost0", "branching_cost0" and "lower_bound0" are those of the first term, and so on; "combine", "subtract" and
    "feasible" are the task's; "allows0" is that of its first limit.
    """
    name = fingerprint({"spec": repr(spec), **functions})
    if name not in _kept:
        made = vars(_module(f"streed_kernels_{name}", spec, functions, "thresholds" if spec.ordered else "score"))
        names = ["score_thresholds", "find_stump_of_thresholds"] if spec.ordered else ["score"]
        names += ["combine_values"] if "combine" in spec.members else []
        names += ["subtract_values"] if "subtract" in spec.members else []
        names += ["find_floors"] if spec.floors else []
        units = {each: unit(KERNEL, error_model="numpy")(made[each]) for each in names}
        _kept[name] = Kernels(units, entry(made["find_costs_of_labels"], error_model="numpy"))
    return _kept[name]


_kept: dict[str, Kernels] = {}
"""By fingerprint, all that this process compiled or loaded."""


def _module(name: str, spec: KernelSpec, functions: Mapping[str, Callable[..., Any]], kind: str) -> types.ModuleType:
    """The module of a task's kernels, none of them compiled yet."""
    task = types.ModuleType(name)
    sys.modules[name] = task  # where cached code looks for what it names
    for part in ("leaves", kind):
        source: Any = importlib.util.find_spec(f"streed.kernels.codegen.{part}")
        exec(source.loader.get_code(source.name), vars(task))
    vars(task).update(_traits(spec), task=task)
    copies = _Copies(name)
    vars(task).update({key: copies.copy(function) for key, function in functions.items()})
    exec(compile(render(spec), f"<{name}>", "exec"), vars(task))
    return task


def _traits(spec: KernelSpec) -> dict[str, Any]:
    """What kernels are told of the task."""
    encode, decode = coding.CODINGS[spec.coding]
    lanes = {"int32": int32, "int64": int64, "float64": float64}
    return {
        "VALUE": float64 if spec.real else int64,  # the type of costs
        "CHECKED": float64 if spec.real else coding.whole,  # what makes one of what a method returns,
        "UP": float64 if spec.real else coding.next_whole,  # and of a bound
        "SIGN": -1 if spec.larger else 1,
        "INFEASIBLE": math.inf if spec.real else coding.INFEASIBLE,
        "encode": encode,
        "decode": decode,
        "LANE": lanes[spec.lane],  # of pair sums
        "TOTAL": float64 if spec.lane == "float64" else int64,
        "PLANES": spec.planes,
        "PADDED": -(-spec.planes // records.FOUR) * records.FOUR,
        "WHOLE": not spec.real,
        "COSTS": spec.table or spec.called,  # whether splits have costs,
        "TABLE": spec.table and not spec.called,  # all of them in a table,
        "CALLED": spec.called,  # or the task is asked,
        "BOTH": spec.table and spec.called,  # and what it says added to the table's
        "LIMITED": bool(spec.limits),
        "FEASIBLE": "feasible" in spec.members,
        "COMBINE": "combine" in spec.members,
        "BOUND": "lower_bound" in spec.members,
        "FLOORS": spec.floors,
        "MULTIWAY": spec.multiway,
    }


# -- what kernels depend on, and what their shape makes of them as text -----------------------------------------------


ROWS = -1
"""In place of the plane of a statistic that is 1 for every row: the plane of rows."""


@attrs.frozen
class TermSpec:
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
class KernelSpec:
    """What the text of the kernels depends on, besides the bodies of the task's methods."""

    terms: tuple[TermSpec, ...]
    inputs: int
    """Planes of statistics."""
    labels: int
    lane: str
    """The type of pair sums."""
    real: bool
    """Whether costs are float64; else they are int64."""
    coding: str
    ordered: bool = False
    """Whether they are for the search over thresholds."""
    larger: bool = False
    """Whether larger values are better."""
    limits: tuple[tuple[int, tuple[tuple[str, str], ...]], ...] = ()
    """Of each limit on leaves, the term whose statistics it is on and the numbers that it reads."""
    table: bool = False
    """Whether there are branching costs that depend on the split only."""
    members: tuple[str, ...] = ()
    """The optional methods that the task has; of several terms, only lower bounds."""
    multiway: bool = False
    """Whether there are categorical columns."""
    floors: bool = False
    """Whether rows have lower bounds that add up."""
    counts: bool = False
    """Whether methods ask for whole numbers, as an index does: sums in float64 are given to them as int64 then."""
    scaled: bool = False
    """Whether sums are whole numbers of a unit, by which they are divided before methods see them."""
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


_MOST_UNROLLED = 12
"""Labels beyond which a loop over them is compiled instead."""


def render(spec: KernelSpec) -> str:
    """The source of the types of states, parameters and limits, and of functions, each of which is an expression."""
    words = _Words()
    parameters = [
        f"Parameters{i}({', '.join(map(words.read, (*_kinds(term.numbers), 'real')))})"
        for i, term in enumerate(spec.terms)
    ]
    limits = [
        f"Limit{i}({', '.join(map(words.read, _kinds(numbers))) or '0'})" for i, (_, numbers) in enumerate(spec.limits)
    ]
    parameters += [words.read("real")] if spec.scaled else []
    number = "float64" if (spec.lane == "float64" and not spec.counts) or spec.wide else "int64"
    best = [f"task.cost_of_label(parameters, states, int64({k}))" for k in range(spec.labels)]
    if all(term.any_label for term in spec.terms):
        best = best[:1]
    elif spec.labels > _MOST_UNROLLED:
        best = [f"task.cost_of_any_label(parameters, states, {spec.labels})"]
    called = " + ".join(
        f"{_weight(i, term)}branching_cost{i}(parameters[{i}], rows, path, split)"
        for i, term in enumerate(spec.terms)
        if term.called
    )
    functions = {
        "entries(sums)": _each(spec, f"{number}(sums[{{p}}])"),
        "at(sums, k)": _each(spec, f"{number}(sums[{{p}}, k])"),
        "pair_at(pairs, stride, j, k)": _each(spec, f"{number}(pairs[{{p}} * stride + j, k])"),
        "plus(a, b)": _each(spec, "a[{p}] + b[{p}]"),
        "minus(a, b)": _each(spec, "a[{p}] - b[{p}]"),
        "parameters_of(numbers)": f"({', '.join(parameters)},)",
        "limits_of(numbers)": f"({', '.join(limits)},)" if limits else "0",
        "states_of(parameters, sums)": f"({', '.join(_state(spec, i) for i in range(len(spec.terms)))},)",
        "cost_of_leaf(parameters, states, k)": " + ".join(
            f"{_weight(i, term)}leaf_cost{i}(parameters[{i}], states[{i}], {'int64(0)' if term.any_label else 'k'})"
            for i, term in enumerate(spec.terms)
            if term.costs
        ),
        "cost_of_best_leaf(parameters, states)": f"min({', '.join(best)})" if len(best) > 1 else best[0],
        "bound_of_state(parameters, states)": " + ".join(
            f"{_weight(i, term)}lower_bound{i}(parameters[{i}], states[{i}])"
            for i, term in enumerate(spec.terms)
            if term.bounded and "lower_bound" in spec.members
        ),
        "cost_of_split(parameters, rows, path, split)": f"CHECKED(SIGN * ({called}))" if called else "",
        "allows(limits, states)": " and ".join(
            f"allows{i}(limits[{i}], states[{term}])" for i, (term, _) in enumerate(spec.limits)
        ),
    }
    written = [f"@inline\ndef {head}:\n    return {body}\n" for head, body in functions.items() if body]
    return "\n".join(["from collections import namedtuple", *_tuples(spec), f"WORDS = {words.count}\n", *written])


def _kinds(numbers: tuple[tuple[str, str], ...]) -> Iterator[str]:
    return (kind for _, kind in numbers)


def _each(spec: KernelSpec, form: str) -> str:
    """A tuple of an expression for each plane."""
    return f"({', '.join(form.format(p=p) for p in range(spec.planes))},)"


def _weight(i: int, term: TermSpec) -> str:
    return f"parameters[{i}].the_weight * " if term.weighted else ""


def _tuples(spec: KernelSpec) -> Iterator[str]:
    """The types of states, parameters and limits."""
    for i, term in enumerate(spec.terms):
        yield _tuple(f"State{i}", ["rows", *(name for name, _, _ in term.statistics)])
        yield _tuple(f"Parameters{i}", [*(name for name, _ in term.numbers), "the_weight"])
    for i, (_, read) in enumerate(spec.limits):
        yield _tuple(f"Limit{i}", [name for name, _ in read] or ["nothing"])


def _tuple(name: str, fields: list[str]) -> str:
    """A type of tuples whose fields have any names: namedtuple itself refuses those that begin with an underscore."""
    return f"{name} = namedtuple({name!r}, {fields!r}, rename=True)\n{name}._fields = {tuple(fields)!r}"


def _state(spec: KernelSpec, i: int) -> str:
    """The state of a term at some sums."""
    scale = f" / parameters[{len(spec.terms)}]" if spec.scaled else ""
    entries = ["sums[-1]"]
    for _, planes, several in spec.terms[i].statistics:
        names = ["sums[-1]" if plane == ROWS else f"sums[{plane}]{scale}" for plane in planes]
        entries.append(f"({', '.join(names)}{',' * bool(names)})" if several else names[0])
    return f"State{i}({', '.join(entries)})"


class _Words:
    """The words of a task's numbers, the first of which is the worth of codes."""

    def __init__(self) -> None:
        self.count = 1

    def read(self, kind: str) -> str:
        """The expression of the next number or array."""
        word, at = f"numbers[{self.count}]", self.count + 1
        kind, _, is_empty = kind.partition(" ")
        if kind in ("int", "real"):
            self.count = at
            return word if kind == "int" else f"real_of({word})"
        self.count = at + int(kind[-1])
        # LLVM is told what is not empty, lest it computes both what a method does with entries and what it does without
        sizes = [f"numbers[{n}]" if is_empty else f"max(numbers[{n}], 1)" for n in range(at, self.count)]
        dtype = "int64" if kind.startswith("int") else "float64"
        return f"{'vector' if kind.endswith('1') else 'matrix'}({word}, {', '.join(sizes)}, {dtype})"
