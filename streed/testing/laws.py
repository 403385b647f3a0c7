"""All laws: those of the theorem, what weights count, what a task declares, and the same optimum by every way.

A row of weight w is w equal rows, and so are k equal rows of weight w / k each, whether that is whole or not; a row of
weight 0 adds nothing. So is a row of frequency f. What is declared prunes searches (STreeD, Appendix B).
"""

from __future__ import annotations

import itertools
import numbers
from typing import Any

import attrs
import numpy as np
from hypothesis import strategies as st

from streed.data import Dataset
from streed.data.rows import some_copies, weigh_copies
from streed.errors import InputError, MismatchError, TaskError
from streed.exact import Array, close, exact_number
from streed.problem import Driver
from streed.reference import Evaluation, best_trees, optimal_front
from streed.task import TOTAL, Task
from streed.testing import theorem
from streed.testing.cases import Case, Law, Violation, law, show, show_state
from streed.tree import Leaf

_WEIGHTS = (1, 2, 0, 3, 0.5, 1000, 0.25)

_PARTS = (1, 2, 4, 5)  # into how many equal rows a row may be cut: weights in parts are short decimals still

_FREQUENCIES = (1, 2, 3, 7)


@law("weights are copies", "contract: statistics", effort=0.6)
def _check_weights(case: Case) -> bool:
    """a row of weight w counts as w equal rows, in parts too."""
    n = case.data.n_rows
    weights = np.array([case.draw(st.sampled_from(_WEIGHTS)) for _ in range(n)], np.float64)
    parts = np.array([case.draw(st.sampled_from(_PARTS)) for _ in range(n)])
    weights[0] = weights[0] or 1.0
    kept = np.flatnonzero(weights)
    if len(np.unique(case.data.class_numbers[kept])) == len(np.unique(case.data.class_numbers)):
        parts[weights == 0] = 0
    origin = np.repeat(np.arange(n), parts)
    one = _weighed(case.data, weights)
    other = _weighed(case.data.subset(origin), (weights / np.maximum(parts, 1))[origin])
    rows = [row for row in case.rows() if weights[row]]
    known = 1 if other.weights is None else other.weights
    words = f"weights {weights.tolist()}", f"rows {origin.tolist()} of weights {known}"
    return _compare(case, (one, other), rows, origin, words, limits=False)


@law("frequencies are copies", "contract: Dataset.frequency", effort=0.6)
def _check_frequencies(case: Case) -> bool:
    """a row of frequency f counts as f equal rows."""
    data = case.data
    copies = np.array([case.draw(st.sampled_from(_FREQUENCIES)) for _ in range(data.n_rows)])
    each = data.weights if data.frequency is None else data.sample_weight
    weights, frequency = weigh_copies(each, copies), some_copies(copies)
    one = attrs.evolve(data, weights=weights, sample_weight=each, frequency=frequency)
    rows = case.rows()
    origin = np.repeat(np.arange(data.n_rows), copies)
    words = f"frequencies {copies.tolist()}", "as many equal rows"
    return _compare(case, (one, one.expanded()), rows, origin, words, limits=True)


_EQUAL = "the same; s.weight is what rows weigh, s.rows how many there are"
_NO_WEIGHTS = "the same; branching_cost is never told of weights: refuse those, by InputError in bind"


def _weighed(data: Dataset, weights: Any) -> Dataset:
    """The data with these weights, and without frequencies."""
    given = None if (weights == 1).all() else weights
    return attrs.evolve(data, weights=given, sample_weight=given, frequency=None)


def _compare(
    case: Case, on: tuple[Dataset, Dataset], rows: list[int], origin: Array, words: tuple[str, str], limits: bool
) -> bool:
    """Whether anything was asked; raises Violation where the task tells `rows` from those of the other data they are.

    `origin`: the number in the first data set of each row of the second.
    """
    if not rows:
        return False
    try:
        first, second = (Evaluation(case.given, each) for each in on)
        s, t = first.state(rows), second.state(np.flatnonzero(np.isin(origin, rows)).tolist())
        asked: list[tuple[str, Any, Any]] = []
        for k in range(len(first.labels)):
            name = f"leaf_cost(s, {k}) of {case.rows_text(rows)}"
            a, b = first.task.leaf_cost(s, k), second.task.leaf_cost(t, k)
            # in other units, it may be, that the score knows
            asked.append((name, a, b) if close(a, b) else (name, first.score(a), second.score(b)))
        if case.data.n_columns:
            path = case.draw_path(rows)
            split = case.draw(st.integers(0, case.data.n_columns - 1))
            prices = first.task.branching_cost(s.rows, path, split), second.task.branching_cost(t.rows, path, split)
            asked.append((f"branching_cost(rows, {path}, {split})", *prices))
        if limits:
            pairs = zip(first.task.limits, second.task.limits, strict=True)
            asked += [(f"{a!r}.allows(s)", a.allows(s), b.allows(t)) for a, b in pairs]
        whole = (each.score(each.cost(Leaf(0, 0, 0))) for each in (first, second))
        asked.append(("the score of a leaf of all rows", *whole))
    except InputError:  # the task refuses such data
        return False
    for what, a, b in asked:
        if not close(a, b):
            told = [
                (words[0], show(a)),
                (words[1], show(b)),
                ("expected", _NO_WEIGHTS if "branching" in what else _EQUAL),
            ]
            found = "depends on how often rows are written" if limits else "does not count rows by weight"
            raise Violation(f"{what} {found}", *told)
    return True


@law("subtract is a bound", "STreeD, Appendix B", sides=2, unconcerned="subtract gives no bounds")
def _check_subtract(case: Case, sides: list[list[int]]) -> bool:
    """if combine(x, b) is better than a, then x is better than subtract(a, b)."""
    whole = sorted(sides[0] + sides[1])
    beside = case.reach_beside(sides[1], whole)
    concerned = False
    for a, b, x in itertools.product(case.reach(whole), beside, case.reach(sides[0])):
        u = case.task.subtract(a.value, b.value)
        if u is None:
            continue
        concerned = True
        total = case.task.combine(x.value, b.value)
        if case.beats(total, a.value) and not case.task.better(x.value, u) and not close(x.value, u):
            told = [("a, to be beaten", str(a)), ("b, the sibling", str(b)), ("x", str(x))]
            told += [("combine(x, b)", f"{show(total)}, better than a"), ("subtract(a, b)", show(u))]
            told += [("expected", f"x better than subtract(a, b), but {show(x.value)} is not better than {show(u)}")]
            raise Violation("subtract prunes a part that the optimum may need", *told)
    return concerned


@law("lower bound is admissible", "STreeD, Eq. 47", unconcerned="lower_bound gives no bounds")
def _check_lower_bound(case: Case) -> bool:
    """no tree at a state is better than lower_bound of that state."""
    rows = case.rows()
    s = case.state(rows)
    bound = case.task.lower_bound(s)
    if bound is None:
        return False
    path = case.draw_path(rows)
    for value, tree in case.best_values(rows, path):
        if case.beats(value, bound):
            told = [("s", case.state_text(rows)), ("lower_bound(s)", show(bound))]
            told += [("tree", f"{show(value)}, of {case.tree_text(tree)}{f' below columns {path}' if path else ''}")]
            told += [("expected", "no tree at s is better than lower_bound(s)")]
            raise Violation("a tree is better than the lower bound", *told)
    return True


@law("worst cost per row holds", "STreeD, Eq. 49", sides=2, unconcerned="worst_per_row gives no bounds")
def _check_worst_per_row(case: Case, sides: list[list[int]]) -> bool:
    """one row more makes the best leaf dearer by at most worst_per_row, and never cheaper."""
    worst = case.task.worst_per_row(case.data)
    if worst is None:
        return False
    rows, i = sides[0], sides[1][0]
    weight = 1 if case.data.weights is None else exact_number(case.data.weights[i].item())
    w = exact_number(worst[i].item() if hasattr(worst[i], "item") else worst[i])
    less, more = case.least_cost(rows), case.least_cost(sorted([*rows, i]))
    facts = (
        ("g*(s)", f"{show(less)}, the least cost of a leaf at s = {case.state_text(rows)}"),
        ("g*(s and row i)", f"{show(more)}, with row {i} as well"),
        ("w[i]", f"{show(w)}, and row {i} weighs {show(weight)}"),
    )
    if w < 0:
        raise Violation("a worst cost is negative", *facts)
    if more < less and not close(more, less):
        raise Violation("a leaf costs less with one row more", *facts, ("expected", "g*(s) <= g*(s and row i)"))
    most = less + w * weight
    if more > most and not close(more, most):
        told = [*facts, ("expected", f"g*(s and row i) <= g*(s) + w[i] * weight = {show(most)}")]
        raise Violation("a row costs more than its worst", *told)
    return True


@law("superadditive holds", "contract: superadditive", sides=2, unconcerned="superadditive is not declared")
def _check_superadditive(case: Case, sides: list[list[int]]) -> bool:
    """a state costs as a leaf at least what its parts cost as leaves together."""
    if not case.task.superadditive or case.task.order != TOTAL:
        return False
    whole = case.least_cost(sides[0] + sides[1])
    parts = [case.least_cost(side) for side in sides]
    together = case.task.combine(*parts)
    if case.beats(whole, together):
        told = [("first part", f"{show(parts[0])}, the least cost of a leaf at {case.state_text(sides[0])}")]
        told += [("second part", f"{show(parts[1])}, at {case.state_text(sides[1])}"), ("combined", show(together))]
        told += [("both in one leaf", show(whole))]
        raise Violation("superadditive is declared, but a leaf costs less than its parts", *told)
    return True


_MOST_VALUES = 10


@law("any label costs the same", "contract: any_label", unconcerned="any_label is not declared")
def _check_any_label(case: Case) -> bool:
    """where any_label is declared, leaf_cost is the same for every label."""
    if not case.task.any_label:
        return False
    rows = case.rows()
    first, *others = (case.leaf_cost(rows, k) for k in range(len(case.labels)))
    for k, other in enumerate(others, start=1):
        if not close(first, other):
            told = [("s", case.state_text(rows)), ("leaf_cost(s, 0)", show(first)), (f"leaf_cost(s, {k})", show(other))]
            raise Violation("any_label is declared, but leaves cost more with one label than with another", *told)
    return True


@law("score keeps the order", "contract: score", unconcerned="of a front, the score chooses freely")
def _check_score(case: Case) -> bool:
    """of two values the better one has no worse score: no smaller one if larger is better, else no larger one."""
    if case.task.order != TOTAL:
        return False
    scored = [(each, case.score(each.value)) for each in case.reach_all(case.root_rows, _MOST_VALUES)]
    if not all(isinstance(shown, numbers.Real) for _, shown in scored):
        return False
    for (a, shown), (b, other) in itertools.permutations(scored, 2):
        better = shown > other if case.given.larger_is_better else shown < other
        if case.task.better(b.value, a.value) and better and not close(shown, other):
            aim = "a larger score is better" if case.given.larger_is_better else "a smaller score is better"
            told = [("a", str(a)), ("b", str(b)), ("score(a)", show(shown)), ("score(b)", show(other))]
            told += [("found", f"better(b, a), and {aim}")]
            raise Violation("the better value has the worse score", *told)
    return bool(scored)


_FEW_TREES = 6
"""Rows: of more, there are too many trees to try them all at every step of a search for a small counterexample."""


def compile_first() -> None:
    """Importing the drivers and compiling takes longer than any law; it is nobody's counterexample."""
    import streed
    from streed.tasks import Accuracy

    streed.solve(Accuracy(), [[0], [1]], [0, 1], max_depth=2)


@law("native equals Python", "contract: leaf_cost", unconcerned="no native kernel", needs_engine=True, effort=0.4)
def _check_native(case: Case) -> bool:
    """the compiled leaf_cost gives the numbers that the Python method gives."""
    from streed.encoding.generated import native_values

    states = [case.state(case.rows()), case.state(case.root_rows)]
    try:
        native = native_values(case.task, case.data, states)
    except TaskError:  # no kernel is made of it
        return False
    for s, costs in zip(states, native, strict=True):
        for k, compiled in enumerate(costs):
            python = case.task.leaf_cost(s, k)
            if not close(python, compiled):
                told = [("s", show_state(s)), (f"leaf_cost(s, {k}) in Python", show(python))]
                told += [("compiled", repr(compiled))]
                told += [("expected", "equal numbers; compiled integers have 64 bits, and there are no fractions")]
                raise Violation("leaf_cost gives another number when it is compiled", *told)
    return True


def _limits(case: Case) -> tuple[dict[str, Any], tuple[str, str]]:
    """Limits on trees, small enough to try all of them, and the same in words."""
    depth = case.draw(st.integers(0, 2 if len(case.labels) <= 4 else 1))
    limits = {"max_depth": depth, "min_leaf": min(case.draw(st.sampled_from((1, 1, 2))), case.data.n_rows)}
    return limits, ("limits", ", ".join(f"{name}={value}" for name, value in limits.items()))


@law("recursion equals enumeration", "STreeD, Thm 4.7 and Eq. 8", effort=0.4, max_rows=_FEW_TREES, after_all=True)
def _check_recursion(case: Case) -> bool:
    """solving subtree by subtree gives the optimum of all trees."""
    limits, told = _limits(case)
    by_recursion = [value for value, _ in optimal_front(case.given, case.data, **limits)]
    by_trees = best_trees(case.given, case.data, **limits)
    missed = [(v, tree) for v, tree in by_trees if not any(case.ties(v, found) for found in by_recursion)]
    wrong = [v for v in by_recursion if not any(case.ties(v, value) for value, _ in by_trees)]
    if missed or wrong:
        found = ", ".join(map(show, by_recursion)) or "nothing: no tree is feasible"
        facts = [told, ("by subtrees", f"optimal {found}")]
        facts += [("by trying all trees", f"{show(value)}, of {case.tree_text(tree)}") for value, tree in missed]
        facts += [("not optimal", show(value)) for value in wrong]
        raise Violation("solving subtree by subtree misses the optimum", *facts)
    return True


def accepting(task: Task) -> tuple[dict[str, type[Driver]], dict[str, str]]:
    """The drivers that accept the task by name, and why the others do not."""
    from streed.drivers import drivers

    accepted, refused = {}, {}
    for name, driver in drivers().items():
        try:
            driver().check(task)
        except TaskError as error:
            refused[name] = str(error)
        else:
            accepted[name] = driver
    return accepted, refused


@law(
    "drivers equal recursion",
    "STreeD, Eq. 8",
    unconcerned="no driver accepts the task",
    needs_engine=True,
    effort=4,
    after_all=True,
)
def drivers_agree(case: Case) -> bool:
    """every driver that accepts the task finds the optimum that the recursion finds."""
    import streed

    accepted, _ = accepting(case.given)
    limits, told = _limits(case)
    front = [case.score(value) for value, _ in optimal_front(case.given, case.data, **limits)]
    best = (max if case.given.larger_is_better else min)(front, default=None)
    for name in accepted:
        try:
            result = streed.solve(case.given, case.data, search=name, **limits)
        except MismatchError as error:
            headline = f"the driver {name!r} found a tree of another value than it says"
            raise Violation(headline, told, ("found", str(error))) from error
        facts = (
            told,
            (f"streed.solve(..., search={name!r})", f"{result.status}, {result.value!r}"),
            ("by the recursion", "infeasible" if best is None else show(best)),
        )
        if best is None:
            if result.status != "infeasible":
                raise Violation(f"the driver {name!r} finds a tree, and there is none", *facts)
            continue
        if result.status != "optimal" or not close(result.value, best):
            raise Violation(f"the driver {name!r} gives another optimum", *facts)
        for value, tree in result.front:
            if not any(close(value, each) for each in front):
                found = f"{show(value)}, of {case.tree_text(tree.root)}"
                raise Violation(f"the front of the driver {name!r} holds another value", *facts, ("found", found))
    return bool(accepted)


LAWS: tuple[Law, ...] = tuple(
    found for laws in (vars(theorem), globals()) for found in laws.values() if type(found) is Law
)
"""In the order in which they are reported: the causes first, what follows from them last."""
