"""The text of a task's kernels: `scoring_text.py` filled in for a shape of task, and the functions that it calls."""

from __future__ import annotations

from collections.abc import Mapping

from streed.engine.scoring_text import SCORE
from streed.engine.shapes import ROWS, Shape, TermShape
from streed.engine.sums import padded

_MOST_UNROLLED = 12
"""Labels beyond which a loop over them is compiled instead."""


def kernel_text(shape: Shape) -> str:
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
        given = [f"{x} / parameters[{len(shape.terms)}]" for x in inputs] if shape.scaled else inputs
        entries = [_entry(planes, several, given) for _, planes, several in term.statistics]
        parts.append(f"""
@inline
def state{i}_of(parameters, {arguments}):
    return State{i}({", ".join(["rows", *entries])})
""")
    parts += [_cost_of_label(shape), _least_cost(shape, arguments), _leaf_of(shape, arguments), _joined(shape)]
    if "lower_bound" in shape.members:
        bounds = [
            f"{_weight(i, term)}lower_bound{i}(parameters[{i}], state{i}_of(parameters, {arguments}))"
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
    several = ", ".join([*(f"state{i}_of(parameters, $ARG_P)" for i in range(len(shape.terms)))])
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
    lines = [f"    s{i} = state{i}_of(parameters, {arguments})" for i in range(len(shape.terms))]
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
        f"    best = best if allows{i}(limits[{i}], state{term}_of(parameters, {arguments})) else $PRICE"
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
    if shape.scaled:
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
