"""The text of a task's kernels: `template.py` filled in for a spec of task, and the functions that it calls."""

from __future__ import annotations

from collections.abc import Mapping

from streed.kernels.codegen.spec import ROWS, KernelSpec, TermSpec
from streed.kernels.codegen.template import SCORE
from streed.kernels.codegen.thresholds_template import THRESHOLDS
from streed.kernels.records import FOUR

_MOST_UNROLLED = 12
"""Labels beyond which a loop over them is compiled instead."""


def render(spec: KernelSpec, ordered: bool = False) -> str:
    """The kernels' source: of those that score questions, or thresholds if `ordered`."""
    inputs = [f"x{p}" for p in range(spec.inputs)]
    parts = [_head(spec, inputs), THRESHOLDS if ordered else SCORE]
    text = "\n\n".join(parts)
    infeasible = "math.inf" if spec.real else "INFEASIBLE"
    number = "float64" if (spec.lane == "float64" and not spec.counts) or spec.wide else "int64"
    sums = [*inputs, "rows"]
    fields = {
        "VALUE": "float64" if spec.real else "int64",
        "UP": "float64" if spec.real else "next_whole",
        "CHECKED": "float64" if spec.real else "whole",
        "LANE": {"int32": "np.int32", "int64": "np.int64", "float64": "np.float64"}[spec.lane],
        "TOTAL": "np.float64" if spec.lane == "float64" else "np.int64",
        "PLANES": str(spec.planes),
        "PADDED": str(-(-spec.planes // FOUR) * FOUR),
        "ROWS": str(spec.inputs),
        "INFEASIBLE": infeasible,
        "ENCODE": f"encode_{spec.coding}",
        "DECODE": f"decode_{spec.coding}",
        "SIGN": "-" if spec.larger else "",
        "LOAD_T": "\n".join(f"t_{x} = {number}(totals[{p}])" for p, x in enumerate(sums)),
        "LOAD_K": "\n".join(f"k_{x} = {number}(sums[{p}, k])" for p, x in enumerate(sums)),
        "LOAD_J": "\n".join(f"j_{x} = {number}(sums[{p}, j])" for p, x in enumerate(sums)),
        "LOAD_B": "\n".join(f"b_{x} = {number}(pairs[{p} * stride + j, k])" for p, x in enumerate(sums)),
        "LOAD_C": "\n".join(
            f"b_{x} = {number}(pairs[{p} * stride + max(j, k), min(j, k)])" for p, x in enumerate(sums)
        ),
        "LOAD_PASSED": "\n".join(f"p_{x} = {number}(passed[{p}])" for p, x in enumerate(sums)),
        "LOAD_SIDES": "\n".join(
            f"{side[0]}_{x} = {number}({side}[{p}, l])" for p, x in enumerate(sums) for side in ("left", "right")
        ),
        "LOAD_ON_LEFT": "\n".join(f"b_{x} = {number}(on_left[{p}, l])" for p, x in enumerate(sums)),
        "ARG_L": ", ".join(f"l_{x}" for x in sums),
        "ARG_R": ", ".join(f"r_{x}" for x in sums),
        "ARG_L1": ", ".join(f"b_{x}" for x in sums),
        "ARG_L0": ", ".join(f"l_{x} - b_{x}" for x in sums),
        "ARG_R1": ", ".join(f"p_{x} - b_{x}" for x in sums),
        "ARG_R0": ", ".join(f"r_{x} - p_{x} + b_{x}" for x in sums),
        "ARG_PASSED": ", ".join(f"p_{x}" for x in sums),
        "ARG_BEHIND": ", ".join(f"t_{x} - p_{x}" for x in sums),
        "ARG_T": ", ".join(f"t_{x}" for x in sums),
        "ARG_P": ", ".join(f"{number}({x})" for x in [*(f"planes[i, {p}]" for p in range(spec.inputs)), "rows[i]"]),
        "ARG_F": ", ".join(f"{number}(rows_of[k, {p}])" for p in range(len(sums))),
        "ARG_K1": ", ".join(f"k_{x}" for x in sums),
        "ARG_K0": ", ".join(f"t_{x} - k_{x}" for x in sums),
        "ARG_11": ", ".join(f"b_{x}" for x in sums),
        "ARG_10": ", ".join(f"k_{x} - b_{x}" for x in sums),
        "ARG_01": ", ".join(f"j_{x} - b_{x}" for x in sums),
        "ARG_00": ", ".join(f"t_{x} - k_{x} - j_{x} + b_{x}" for x in sums),
    }
    switches = {
        "COSTS": spec.table or spec.called,
        "TABLE": spec.table and not spec.called,
        "BOTH": spec.table and spec.called,
        "CALLED": spec.called,
        "BOUND": "lower_bound" in spec.members,
        "FLOORS": spec.floors,
        "COMBINE": "combine" in spec.members,
        "SUBTRACT": "subtract" in spec.members,
        "MULTIWAY": spec.multiway,
        "WHOLE": not spec.real,
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


def _head(spec: KernelSpec, inputs: list[str]) -> str:
    """The states, the parameters, and the functions of one state."""
    arguments = ", ".join([*inputs, "rows"])
    parts = [_tuples(spec), _unpacking(spec)]
    for i, term in enumerate(spec.terms):
        given = [f"{x} / parameters[{len(spec.terms)}]" for x in inputs] if spec.scaled else inputs
        entries = [_entry(planes, several, given) for _, planes, several in term.statistics]
        parts.append(f"""
@inline
def state{i}_of(parameters, {arguments}):
    return State{i}({", ".join(["rows", *entries])})
""")
    parts += [_cost_of_label(spec), _least_cost(spec, arguments), _leaf_of(spec, arguments), _joined(spec)]
    if "lower_bound" in spec.members:
        bounds = [
            f"{_weight(i, term)}lower_bound{i}(parameters[{i}], state{i}_of(parameters, {arguments}))"
            for i, term in enumerate(spec.terms)
            if term.bounded
        ]
        parts.append(f"""
@inline
def bound_of(parameters, {arguments}):
    return $SIGN({" + ".join(bounds)})
""")
    if spec.called:
        costs = [
            f"{_weight(i, term)}branching_cost{i}(parameters[{i}], rows, path, split)"
            for i, term in enumerate(spec.terms)
            if term.called
        ]
        parts.append(f"""
@inline
def cost_of_split(parameters, rows, path, split):
    return $CHECKED($SIGN({" + ".join(costs)}))
""")
    return "\n".join(parts)


def _tuples(spec: KernelSpec) -> str:
    """The types of states, parameters and limits."""
    lines = []
    for i, term in enumerate(spec.terms):
        names = [name for name, _ in term.numbers]
        lines.append(_tuple(f"State{i}", ["rows", *(name for name, _, _ in term.statistics)]))
        lines.append(_tuple(f"Parameters{i}", [*names, "the_weight"]))
    for i, (_, numbers) in enumerate(spec.limits):
        lines.append(_tuple(f"Limit{i}", [name for name, _ in numbers] or ["nothing"]))
    return "\n".join(lines)


def _tuple(name: str, fields: list[str]) -> str:
    """A type of tuples whose fields have any names: namedtuple itself refuses those that begin with an underscore."""
    return f"{name} = namedtuple({name!r}, {fields!r}, rename=True)\n{name}._fields = {tuple(fields)!r}"


def _entry(planes: tuple[int, ...], several: bool, inputs: list[str]) -> str:
    names = ["rows" if plane == ROWS else inputs[plane] for plane in planes]
    return f"({', '.join(names)},)" if several else names[0]


def _weight(i: int, term: TermSpec) -> str:
    return f"parameters[{i}].the_weight * " if term.weighted else ""


def _cost_of_label(spec: KernelSpec) -> str:
    """The cost of a leaf with a label, by the terms' methods."""
    states = ", ".join(f"s{i}" for i in range(len(spec.terms)))
    costs = [
        f"{_weight(i, term)}leaf_cost{i}(parameters[{i}], s{i}, {'int64(0)' if term.any_label else 'k'})"
        for i, term in enumerate(spec.terms)
        if term.costs
    ]
    check = "cost"
    if "feasible" in spec.members:
        known = "" if spec.real else "cost <= LOWEST or "
        check = f"cost if {known}feasible(parameters[0], $SIGNcost) else $INFEASIBLE"
    several = ", ".join([*(f"state{i}_of(parameters, $ARG_P)" for i in range(len(spec.terms)))])
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


def _least_cost(spec: KernelSpec, arguments: str) -> str:
    """The least cost over the labels, which are unrolled unless they are many."""
    states = ", ".join(f"s{i}" for i in range(len(spec.terms)))
    lines = [f"    s{i} = state{i}_of(parameters, {arguments})" for i in range(len(spec.terms))]
    lines.append(f"    best = cost_of_label(parameters, {states}, int64(0))")
    if all(term.any_label for term in spec.terms):
        pass
    elif spec.labels <= _MOST_UNROLLED:
        for k in range(1, spec.labels):
            lines.append(f"    other = cost_of_label(parameters, {states}, int64({k}))")
            lines.append("    best = best if best <= other else other")
    else:
        lines.append(f"    for k in range(1, {spec.labels}):")
        lines.append(f"        other = cost_of_label(parameters, {states}, k)")
        lines.append("        best = best if best <= other else other")
    body = "\n".join(lines)
    return f"""
@inline
def least_cost(parameters, {arguments}):
{body}
    return best
"""


def _leaf_of(spec: KernelSpec, arguments: str) -> str:
    """The cost of a leaf where one may stand, else the price of what is infeasible."""
    checks = "\n".join(
        f"    best = best if allows{i}(limits[{i}], state{term}_of(parameters, {arguments})) else $INFEASIBLE"
        for i, (term, _) in enumerate(spec.limits)
    )
    return f"""
@inline
def leaf_of(parameters, limits, min_leaf, {arguments}):
    best = least_cost(parameters, {arguments})
{checks}
    return best if rows >= min_leaf else $INFEASIBLE
"""


def _joined(spec: KernelSpec) -> str:
    """The value of two sides together."""
    if "combine" not in spec.members:
        return """
@inline
def combined(parameters, a, b):
    return a + b
"""
    known = "" if spec.real else "total <= LOWEST or "
    total = "total"
    if "feasible" in spec.members:
        total = f"total if {known}feasible(parameters[0], $SIGNtotal) else $VALUE($INFEASIBLE)"
    broken = "" if spec.real else "    if a <= LOWEST // 2 or b <= LOWEST // 2:\n        return int64(LOWEST)\n"
    return f"""
@inline
def combined(parameters, a, b):
    if a >= $INFEASIBLE or b >= $INFEASIBLE:
        return $VALUE($INFEASIBLE)
{broken}    total = $CHECKED($SIGNcombine(parameters[0], $SIGNa, $SIGNb))
    return {total}
"""


def _unpacking(spec: KernelSpec) -> str:
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
    for i, term in enumerate(spec.terms):
        fields = [read(kind) for _, kind in term.numbers]
        parameters.append(f"Parameters{i}({', '.join([*fields, read('real')])})")
    limits = []
    for i, (_, numbers) in enumerate(spec.limits):
        limits.append(f"Limit{i}({', '.join(read(kind) for _, kind in numbers) or '0'})")
    if spec.scaled:
        parameters.append(read("real"))
    return f"""
WORDS = {at}


@inline
def parameters_of(numbers):
    return ({", ".join(parameters)},)


@inline
def limits_of(numbers):
    return {f"({', '.join(limits)},)" if limits else "0"}
"""
