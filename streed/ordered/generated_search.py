"""The ordered route for a task whose costs are made of sums by its own methods, from problem to outcome."""

from __future__ import annotations

import time
from fractions import Fraction

import attrs
import numpy as np

from streed.bnb.trace import Trace
from streed.encoding.certificate import measure_exactly, measure_task
from streed.encoding.generated import TOLERANCE
from streed.encoding.ordered import side_of_gaps
from streed.errors import MismatchError, StreedError
from streed.exact import Array, as_float, fraction_of
from streed.kernels.compilation import clock
from streed.kernels.records import LEAF
from streed.ordered.features import Features
from streed.ordered.generated import GeneratedRows, generated_rows
from streed.ordered.rebuild import Cut, OrderedNode
from streed.ordered.search import NO_TREE, run_session
from streed.ordered.session import Inexact, OrderedSession
from streed.problem import Outcome, Problem, SearchLimits, Solution, process_memory
from streed.task import Value
from streed.task.analysis.linear_form import row_cost_form
from streed.task.constrained import objective
from streed.tree import Branch, Leaf, Node
from streed.tree.rows import sides_in


def search_generated(problem: Problem, search_limits: SearchLimits, name: str) -> Outcome | None:
    """The outcome, as of the driver of that name; None for what this search does not take.

    It takes tasks whose values are added, with nothing but sums in their methods, that say what a row costs at worst.
    """
    begin, started = time.perf_counter(), clock()
    data = problem.data
    if data.categorical:
        return None
    features = Features.of(data)
    rows = generated_rows(problem, features.ranks)
    outcome = None if rows is None else _searched(problem, search_limits, name, features, rows, (begin, started))
    if outcome is not None and outcome.stopped is None and not outcome.is_proved:
        rows = generated_rows(problem, features.ranks, outcome.solutions[0].value)
        finer = None if rows is None else _searched(problem, search_limits, name, features, rows, (begin, started))
        outcome = outcome if finer is None or not finer.solutions else finer
    return outcome


def _searched(
    problem: Problem,
    search_limits: SearchLimits,
    name: str,
    features: Features,
    rows: GeneratedRows,
    clocks: tuple[float, float],
) -> Outcome | None:
    """The outcome on the grid of the rows; `clocks` are when all began, by both clocks."""
    begin, started = clocks
    session = OrderedSession(rows)
    trace = Trace()

    def bound(code: int) -> Value:
        native = code if rows.scale == 1.0 else code / rows.scale
        return native if rows.unit == 1 else Fraction(native) * rows.unit

    def value(code: int) -> Value | None:
        return None if code >= NO_TREE else bound(code)

    prepared = time.perf_counter()
    try:
        answer = run_session(session, problem, search_limits.after(clock() - started), trace, value, bound)
    except Inexact:
        return None
    searched = time.perf_counter()
    solutions: tuple[Solution, ...] = ()
    lower, rounding = bound(answer.lower), 0.0
    if answer.tree is not None:
        assert answer.cost is not None
        solution = _measured(problem, features, answer.tree)
        solutions = (solution,)
        claimed = bound(answer.cost)
        apart = abs(solution.value - claimed)
        steps = (2 * _branches(answer.tree) + 1) * bound(2)
        if apart > (0 if rows.whole else max(steps, TOLERANCE * max(abs(solution.value), abs(claimed)))):
            raise MismatchError(
                f"the tree is worth {as_float(solution.value)!r} by the task's Python methods and "
                f"{as_float(claimed)!r} by its native ones; a method that depends on more than the sums could be why"
            )
        if not rows.whole:
            lower = min(fraction_of(lower), fraction_of(solution.value))
            rounding = as_float(apart)
        elif answer.stopped is None:
            lower = solution.value
    stats = {
        "search": name,
        "route": "thresholds",
        "threads": 1,
        "seconds_setup": prepared - begin,
        "seconds_search": searched - prepared,
        "seconds_check": time.perf_counter() - searched,
        **session.counters(),
        "nodes": answer.nodes,
        "peak_bytes": process_memory.peak(),
        "columns": len(features.ranks),
        "thresholds": features.thresholds,
        "rows": rows.n_rows,
        "lane": "float64",
        "kernel": rows.kind,
        "exact": rows.whole,
        "rounding": rounding,
        "trace": trace.decoded(value, bound),
    }
    real = not rows.whole or rows.scale != 1.0
    # costs per row and label that are too fine for 64 bits are exact numbers, however they are searched
    rounds = rows.is_real and not rows.whole and row_cost_form(problem.task, problem.data) is None
    return Outcome(solutions, lower, answer.stopped, stats, 1, real, size=0 if rounds else None)


def _branches(tree: OrderedNode) -> int:
    return 1 + _branches(tree.left) + _branches(tree.right) if isinstance(tree, Cut) else 0


def _measured(problem: Problem, features: Features, tree: OrderedNode) -> Solution:
    """The tree in the data's columns, measured by the task's Python methods at exact sums of the raw rows.

    Every branch is a column of its own here, 0 for the rows that go left; elsewhere than below it, any number.
    """
    data = problem.data
    preorder: list[int] = []
    branches: list[Branch] = []
    answers: list[Array] = []

    def list_nodes(node: OrderedNode, rows: Array) -> None:
        if not isinstance(node, Cut):
            preorder.append(LEAF)
            return
        branch = features.branch(data, node.column, node.rank, len(rows))
        sides = sides_in(data, branch, rows)
        if branch.cut is not None:
            gaps = side_of_gaps(data, branch, rows, sides)
            branch = attrs.evolve(branch, cut=attrs.evolve(branch.cut, gaps=gaps))
        preorder.append(len(branches))
        branches.append(branch)
        answer = np.zeros(data.n_rows, np.uint8)
        answer[rows] = sides
        answers.append(answer)
        is_turned = features.is_turned(node.column, node.rank)
        list_nodes(node.right if is_turned else node.left, rows[sides == 0])
        list_nodes(node.left if is_turned else node.right, rows[sides == 1])

    list_nodes(tree, np.arange(data.n_rows))
    codes = np.ascontiguousarray(np.column_stack(answers) if answers else np.zeros((data.n_rows, 1), np.uint8))
    names = tuple(f"b{j}" for j in range(codes.shape[1]))
    asked = attrs.evolve(data, X=codes, names=names, coded={}, categorical=(), pair=(0, 1), ordered={})
    solution = _worth(attrs.evolve(problem, data=asked), problem, np.array(preorder, np.int64), codes)

    def in_columns(node: Node) -> Node:
        if isinstance(node, Leaf):
            return node
        return attrs.evolve(branches[node.column], children=tuple(map(in_columns, node.children)), rows=node.rows)

    return attrs.evolve(solution, root=in_columns(solution.root))


def _worth(asked: Problem, problem: Problem, preorder: Array, codes: Array) -> Solution:
    """The tree with its value, exact wherever the task's methods take fractions."""
    data = problem.data
    whole = all(values.dtype.kind in "iu" for values in problem.sums.values())
    if whole and not objective(problem.task).overrides("exact_cost"):
        return measure_task(asked, preorder, codes, problem.sums, data.counts)
    try:
        return measure_exactly(asked, preorder, codes, problem.exact_sums, data.counts)
    except StreedError:
        raise
    except Exception:  # noqa: BLE001 - methods that need floats, such as those that call numpy, get floats
        return measure_exactly(asked, preorder, codes, problem.exact_sums, data.counts, exact=False)
