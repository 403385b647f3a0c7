"""The ordered route, over all thresholds of ordered columns, from problem to outcome; and its linear oracle.

Costs are given per row and label, or made of sums by the task's own methods. For the oracle rows are put in order once,
and each solve brings its own costs. Its problem has a column per question (`Questions`), in which its trees are told;
the search reads the ranks of the columns that the questions are about. Few questions are searched by counting pairs of
them instead.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, final

import attrs
import numpy as np

from streed.data.questions import Questions
from streed.encoding.certificate import measure_costs, measure_methods, measure_widely, settled
from streed.encoding.generated import TOLERANCE
from streed.errors import MismatchError
from streed.exact import Array, as_float, fraction_of
from streed.kernels.compilation import clock
from streed.kernels.counting.equal_rows import find_equal
from streed.kernels.ordered import INFEASIBLE, NEW, ROW, WORDS, sort_rows
from streed.kernels.records import LEAF
from streed.kernels.stopping import Trace
from streed.ordered.rows import Codes, Features, SearchedRows, generated_rows, merged_rows, ordered_rows
from streed.ordered.session import Inexact, OrderedAnswer, OrderedSession, find_stump
from streed.problem import Outcome, Problem, SearchLimits, Solution, process_memory
from streed.problem.linear_oracle import Answer, LinearOracle, RowSets
from streed.task import Value
from streed.task.states import sums_by
from streed.whole_costs import IntegerCosts

FEW = 250
"""Questions up to which counting pairs of them is the quicker way."""

WIDE, PER_ROW = 4096, 4
"""Binary columns from which on, and as many for each row, counts of their pairs take far more memory than the rows."""


def takes_categories(problem: Problem) -> bool:
    """Whether the search takes the categorical columns of the problem, if it has any.

    A limit on the number of splits would have to be shared among many children; and where leaves need several rows,
    one that has none could get too few.
    """
    data = problem.data if problem.questions is None else problem.questions.source
    return not data.categorical or (problem.max_nodes is None and problem.min_leaf <= 1)


def is_for_thresholds(problem: Problem) -> bool:
    """Whether the search over thresholds takes the problem's columns, and there are so many that it is quicker.

    The columns are either those of the data, or already the questions about them. Binary ones have one threshold.
    """
    asked = problem.questions
    data = problem.data if asked is None else asked.source
    if asked is None and not data.ordered:
        return WIDE <= data.n_columns >= PER_ROW * data.n_rows and takes_categories(problem)
    if not data.ordered or (asked is not None and asked.data.X is not problem.data.X):
        return False
    return data.n_questions > FEW and takes_categories(problem)


_ROUNDED = 1_000
"""Thresholds up to which costs that are rounded are counted by questions, where near-optimal trees are compared."""

NO_TREE = 2**62
"""In place of a cost."""


def _preorder(features: Features, session: OrderedSession, plan: Array) -> list[tuple[int, int, int] | None]:
    """The tree of a plan in preorder: the question of each branching node, None for leaves, also of no rows."""
    entries = iter(plan[1 : 1 + WORDS * int(plan[0])].reshape(-1, WORDS).tolist())

    def grow(rows: Array) -> Any:
        column, rank, _ = next(entries)
        if column >= 0:
            return split(rows, column, rank, grow)
        found = None if rank == 0 else _stump(session, rows)
        return [None] if found is None else split(rows, *found, lambda _: [None])

    def split(rows: Array, column: int, rank: int, below: Callable[[Array], Any]) -> Any:
        """The tree of a split of some rows (m,): up to a rank or, below 0, by codes."""
        ranks, feature = session.ranks[column, rows], int(session.columns[column])
        codes = range(0 if rank >= 0 else len(features.data.column(int(features.column[feature])).categories))
        sides = [ranks <= rank, ranks > rank] if rank >= 0 else [ranks == code for code in codes]
        parts = [below(rows[side]) if side.any() else [None] for side in sides]
        told = parts[::-1] if features.is_turned(feature, rank) else parts
        return [features.question(feature, rank), *itertools.chain.from_iterable(told)]

    found: list[tuple[int, int, int] | None] = grow(np.arange(session.rows.n_rows))
    return found


def _stump(session: OrderedSession, rows: Array) -> tuple[int, int] | None:
    """(column, rank) of the best single split of some rows; None if a leaf is as good."""
    ranks = session.ranks[:, rows]
    ids = np.flatnonzero(ranks.max(axis=1) > ranks.min(axis=1))
    if not len(ids):
        return None
    orders = sort_rows(ranks[ids])
    orders[:, :-1] = rows[orders[:, :-1] & np.uint32(ROW)] | (orders[:, :-1] & np.uint32(NEW))
    answer = np.zeros(4, np.int64)
    find_stump(session.record.address, orders, len(rows), ids, answer)
    leaf, cost, best, position = answer.tolist()
    if cost + session.rows.price >= leaf:
        return None
    if ids[best] >= session.n_ordered:
        return int(ids[best]), -1
    return int(ids[best]), int(session.ranks[ids[best], orders[best, position - 1] & np.uint32(ROW)])


def _stats(features: Features, session: OrderedSession) -> dict[str, Any]:
    """What is said of the last search of a session over these columns."""
    thresholds, lane = sum(map(len, features.limits)) - features.categories, str(session.arrays["amounts"].dtype)
    said = {"route": "thresholds", "threads": 1, "peak_bytes": process_memory.peak(), "kernel": session.rows.kind}
    return said | {"columns": len(features.ranks), "thresholds": thresholds, "lane": lane}


@final
class Run:
    """One search of some rows: its session, its trace, and what is told of it. `meaning` says what its numbers are."""

    def __init__(
        self,
        problem: Problem,
        search_limits: SearchLimits,
        features: Features,
        rows: SearchedRows,
        meaning: IntegerCosts | Codes,
    ) -> None:
        self.features, self.session = features, OrderedSession(rows)
        self._problem, self._search_limits, self._meaning = problem, search_limits, meaning
        self._trace = Trace()
        self._begun = self._searched = time.perf_counter()

    def search(self, started: float, below: int | None = None) -> OrderedAnswer:
        """Searches until the optimum is proved, or that no tree costs less than `below`, or a limit says stop.

        `started`: when the seconds of the limit began.
        """
        self._begun, problem, search_limits = time.perf_counter(), self._problem, self._search_limits
        answer = self.session.solve(
            problem.max_depth, problem.max_nodes, search_limits.after(clock() - started), below=below, look=self._note
        )
        self._searched = time.perf_counter()
        cost = NO_TREE if answer.cost is None else answer.cost
        self._trace.note(self._searched - self._begun, cost, answer.lower, answer.nodes)
        return answer

    def _note(self, lower: int, upper: int | None, nodes: int) -> str | None:
        """Tells how far the search is; "gap" if that is enough."""
        limits, cost = self._search_limits, NO_TREE if upper is None else upper
        self._trace.note(time.perf_counter() - self._begun, cost, lower, nodes)
        is_enough = limits.tell(self._value(cost), self._meaning.lower(lower), nodes)
        return "gap" if is_enough and upper is not None and lower < upper else None

    def _value(self, total: int) -> Value | None:
        """The value of a cost, the least one of those that are rounded to it; None if it stands for no tree."""
        return None if total >= NO_TREE else self._meaning.lower(total)

    def posed(self, answer: OrderedAnswer) -> tuple[Problem, Questions, Array]:
        """The problem of no columns but what the tree asks, these questions, and the tree over them in preorder."""
        problem, nodes = self._problem, _preorder(self.features, self.session, answer.plan)
        asked = sorted({node for node in nodes if node is not None})
        questions = Questions.about(problem.data, np.array(asked, np.int64).reshape(-1, 3))
        numbers: dict[Any, int] = {None: LEAF} | {node: q for q, node in enumerate(asked)}
        preorder = np.array([numbers[node] for node in nodes], np.int64)
        return attrs.evolve(problem, data=questions.data), questions, preorder

    def stats(self, name: str, answer: OrderedAnswer, began: float, rounding: float) -> dict[str, Any]:
        """What is said of the search, as of the driver of that name."""
        return {
            **_stats(self.features, self.session),
            "search": name,
            "seconds_setup": self._begun - began,
            "seconds_search": self._searched - self._begun,
            "seconds_check": time.perf_counter() - self._searched,
            "nodes": answer.nodes,
            "rows": self.session.rows.n_rows,
            "rounding": rounding,
            "trace": self._trace.decoded(self._value, self._meaning.lower),
        }


def search_ordered(problem: Problem, search_limits: SearchLimits, name: str) -> Outcome | None:
    """The outcome, as of the driver of that name; None for what this search does not take.

    It takes costs per row and label, rounded where they do not fit 64 bits and there are many thresholds; with
    categorical columns, any number of splits, and leaves of any size.
    """
    began, started = time.perf_counter(), clock()
    data, costs = problem.data, problem.row_costs
    wide = None if costs is None else costs.wide
    if costs is None or (wide is not None and data.n_questions <= _ROUNDED):
        return None
    features = Features.of(data)
    frequency = data.frequency if problem.min_leaf > 1 else None
    limits = frequency, problem.min_leaf, features.categories
    rows = merged_rows(features.ranks, costs.costs, costs.split, *limits, always=problem.max_depth is None)
    if int(rows.worst.sum()) >= INFEASIBLE:
        return None
    run = Run(problem, search_limits, features, rows, costs)
    below = None if search_limits.beat is None else costs.above(search_limits.beat)
    answer = run.search(started, below)
    solutions: tuple[Solution, ...] = ()
    lower, stopped, rounding, questions = costs.lower(answer.lower), answer.stopped, Fraction(0), None
    if answer.cost is not None and (below is None or answer.cost < below):
        asked, questions, preorder = run.posed(answer)
        total, root = measure_costs(asked, costs, preorder)
        if total != answer.cost:
            raise MismatchError(f"the tree costs {total}, the search claimed {answer.cost}; please report this")
        solution = Solution(costs.value(total), root)
        if wide is not None:
            solution = measure_widely(asked, wide, preorder)
            rounding = wide.rounding(int(np.count_nonzero(preorder != LEAF)))
            if stopped is None and solution.value > lower:
                stopped = "rounding"
        elif stopped is None:
            lower = solution.value
        solutions = (solution,)
    stats = {**run.stats(name, answer, began, float(rounding)), "exact": costs.wide is None}
    real = costs.unit.denominator > 1 or wide is not None
    outcome = Outcome(solutions, lower, stopped, stats, real)
    return settled(outcome, data, questions)


def search_generated(problem: Problem, search_limits: SearchLimits, name: str) -> Outcome | None:
    """The outcome, as of the driver of that name; None for what this search does not take.

    It takes tasks whose values are added, with nothing but sums in their methods, that say what a row costs at worst.
    """
    begin, started = time.perf_counter(), clock()
    data = problem.data
    if data.categorical:
        return None
    features = Features.of(data)
    found = generated_rows(problem, features.ranks)
    outcome = None if found is None else _searched(problem, search_limits, name, features, found, (begin, started))
    if outcome is not None and outcome.stopped is None and not outcome.is_proved:
        found = generated_rows(problem, features.ranks, outcome.solutions[0].value)
        finer = None if found is None else _searched(problem, search_limits, name, features, found, (begin, started))
        outcome = outcome if finer is None or not finer.solutions else finer
    return outcome


def _searched(
    problem: Problem,
    search_limits: SearchLimits,
    name: str,
    features: Features,
    found: tuple[SearchedRows, Codes],
    clocks: tuple[float, float],
) -> Outcome | None:
    """The outcome on the grid of the rows; `clocks` are when all began, by both clocks."""
    (began, started), (rows, codes) = clocks, found
    run = Run(problem, search_limits, features, rows, codes)
    try:
        answer = run.search(started)
    except Inexact:
        return None
    solutions: tuple[Solution, ...] = ()
    lower, rounding, questions = codes.lower(answer.lower), 0.0, None
    if answer.cost is not None:
        asked, questions, preorder = run.posed(answer)
        solution = measure_methods(asked, problem, preorder)
        solutions = (solution,)
        claimed = codes.lower(answer.cost)
        apart = abs(solution.value - claimed)
        steps = len(preorder) * codes.lower(2)
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
    stats = {**run.stats(name, answer, began, rounding), "exact": rows.whole}
    real = not rows.whole or codes.scale != 1.0
    # costs per row and label that are too fine for 64 bits are exact numbers, however they are searched
    rounds = codes.is_real and not rows.whole and problem.row_costs is None
    outcome = Outcome(solutions, lower, answer.stopped, stats, real, size=0 if rounds else None)
    return settled(outcome, problem.data, questions)


@final
class OrderedOracle(LinearOracle):
    """A session of the ordered search for a problem of questions."""

    def __init__(self, problem: Problem, kinds: Array, name: str, native: Callable[[], LinearOracle]) -> None:
        """`kinds` (n,): which kind each row is; `native` makes an oracle that has sets of rows, which takes memory."""
        questions = Questions.of(problem.data) if problem.questions is None else problem.questions
        features = Features.of(questions.source)
        keys = (each.tolist() for each in (questions.column, questions.limit, questions.gaps))
        self._questions = {key: q for q, key in enumerate(zip(*keys, strict=True))}
        self._features = features
        self._problem = problem
        self._kinds = kinds
        self._name = name
        self._make_native = native
        self._native: LinearOracle | None = None
        first, self._place = find_equal(features.ranks.T)
        self._ranks = np.ascontiguousarray(features.ranks[:, first])
        self._frequency: Array | None = None
        if problem.min_leaf > 1:
            self._frequency = sums_by(self._place, problem.data.counts, len(first))
        self._session: OrderedSession | None = None
        self._seconds = 0.0
        self._nodes = 0

    def solve(
        self, costs: Array, split: int, search_limits: SearchLimits, *, below: int | None = None, ahead: bool = False
    ) -> Answer:
        begin = time.perf_counter()
        problem = self._problem
        summed = sums_by(self._place, costs[self._kinds], self._ranks.shape[1])
        rows = ordered_rows(self._ranks, summed, split, self._frequency, problem.min_leaf, self._features.categories)
        if self._session is None:
            self._session = OrderedSession(rows)
        else:
            self._session.reprice(rows)
        session = self._session

        def look(lower: int, upper: int | None, nodes: int) -> None:
            if search_limits.report is not None:
                search_limits.report(upper, lower, nodes, "searching")

        answer = session.solve(problem.max_depth, problem.max_nodes, search_limits, below=below, ahead=ahead, look=look)
        self._seconds = time.perf_counter() - begin
        self._nodes = answer.nodes
        if answer.cost is None or (answer.stopped is None and below is not None and answer.lower >= below):
            return Answer(answer.lower, None, None, answer.stopped, answer.nodes)
        nodes = _preorder(self._features, session, answer.plan)
        preorder = np.array([LEAF if node is None else self._questions[node] for node in nodes], np.int64)
        return Answer(answer.lower, answer.cost, preorder, answer.stopped, answer.nodes)

    def row_sets(self, entries: Array, split: Array, time_limit: float | None) -> RowSets | None:
        if self._native is None:
            self._native = self._make_native()
        return self._native.row_sets(entries, split, time_limit)

    def stats(self) -> Mapping[str, Any]:
        said = {"threads": 1} if self._session is None else _stats(self._features, self._session)
        return {**said, "search": self._name, "seconds_search": self._seconds, "nodes": self._nodes, "exact": True}

    def close(self) -> None:
        self._session = None
        if self._native is not None:
            self._native.close()
