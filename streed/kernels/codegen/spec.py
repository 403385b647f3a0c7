"""What a task's kernels depend on, besides the bodies of its methods; as text, what its shape makes of them.

The text has what depends on how many planes, labels and terms there are; the rest is `leaves.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

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
        f"Parameters{i}({_listed(*map(words.read, (*_kinds(term.numbers), 'real')))})"
        for i, term in enumerate(spec.terms)
    ]
    limits = [
        f"Limit{i}({_listed(*map(words.read, _kinds(numbers))) or '0'})" for i, (_, numbers) in enumerate(spec.limits)
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
        "parameters_of(numbers)": f"({_listed(*parameters)},)",
        "limits_of(numbers)": f"({_listed(*limits)},)" if limits else "0",
        "states_of(parameters, sums)": f"({_listed(*(_state(spec, i) for i in range(len(spec.terms))))},)",
        "cost_of_leaf(parameters, states, k)": " + ".join(
            f"{_weight(i, term)}leaf_cost{i}(parameters[{i}], states[{i}], {'int64(0)' if term.any_label else 'k'})"
            for i, term in enumerate(spec.terms)
            if term.costs
        ),
        "cost_of_best_leaf(parameters, states)": f"min({_listed(*best)})" if len(best) > 1 else best[0],
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
    return "\n".join([*_tuples(spec), f"WORDS = {words.count}\n", *written])


def _kinds(numbers: tuple[tuple[str, str], ...]) -> Iterator[str]:
    return (kind for _, kind in numbers)


def _listed(*parts: str) -> str:
    return ", ".join(parts)


def _each(spec: KernelSpec, form: str) -> str:
    """A tuple of an expression for each plane."""
    return f"({_listed(*(form.format(p=p) for p in range(spec.planes)))},)"


def _weight(i: int, term: TermSpec) -> str:
    return f"parameters[{i}].the_weight * " if term.weighted else ""


def _tuples(spec: KernelSpec) -> Iterator[str]:
    """The types of states, parameters and limits."""
    for i, term in enumerate(spec.terms):
        yield _tuple(f"State{i}", ["rows", *(name for name, _, _ in term.statistics)])
        yield _tuple(f"Parameters{i}", [*(name for name, _ in term.numbers), "the_weight"])
    for i, (_, numbers) in enumerate(spec.limits):
        yield _tuple(f"Limit{i}", [name for name, _ in numbers] or ["nothing"])


def _tuple(name: str, fields: list[str]) -> str:
    """A type of tuples whose fields have any names: namedtuple itself refuses those that begin with an underscore."""
    return f"{name} = namedtuple({name!r}, {fields!r}, rename=True)\n{name}._fields = {tuple(fields)!r}"


def _state(spec: KernelSpec, i: int) -> str:
    """The state of a term at some sums."""
    scale = f" / parameters[{len(spec.terms)}]" if spec.scaled else ""
    entries = ["sums[-1]"]
    for _, planes, several in spec.terms[i].statistics:
        names = ["sums[-1]" if plane == ROWS else f"sums[{plane}]{scale}" for plane in planes]
        entries.append(f"({_listed(*names)},)" if several else names[0])
    return f"State{i}({_listed(*entries)})"


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
        return f"{'vector' if kind.endswith('1') else 'matrix'}({word}, {_listed(*sizes)}, {dtype})"
