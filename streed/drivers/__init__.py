"""The drivers: native ones, with one search (bnb/native_search.py) in one of two orders, fronts, and any task.

Depth-first search is in STreeD's order (NeurIPS 2023), best-first search AO* over the and-or graph of splits and their
sides (Chaouki, Read, Bifet, "Branches: efficiently seeking optimal sparse decision trees via AO*", ICML 2025).

Where there are many thresholds, a task of costs per row goes to the ordered search (`streed/ordered/`). Otherwise
ordered columns become questions, `x <= t` for every threshold, which any driver searches as 0/1 columns. A task whose
costs depend on the columns goes the general route, which knows ordered columns itself.
"""

from __future__ import annotations

import functools
import numbers
import time
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, final

import attrs
import numpy as np

from streed.bnb.native_search import BEST_FIRST, DEPTH_FIRST, search_native
from streed.data import Dataset
from streed.dp.search import search_general
from streed.dp.solutions import nondominated_at_root
from streed.drivers.closing import close_by_near_optimal
from streed.encoding.certificate import ask, can_ask, settled
from streed.errors import InputError, TaskError
from streed.exact import Array
from streed.kernels.compilation import clock
from streed.kernels.counting.groups import MOST_GROUPS
from streed.kernels.records import SHALLOW
from streed.ordered.in_order import search_in_order
from streed.ordered.search import OrderedOracle, is_for_thresholds, search_generated, search_ordered
from streed.problem import Driver, Outcome, Problem, SearchLimits, SearchStopped, Solution, process_memory
from streed.problem.linear_oracle import LinearOracle
from streed.tables.fronts import measured, search_vectors
from streed.tables.row_sets import EnumeratingOracle
from streed.tables.vector_trees import EvaluatedTree, Trees, Vector
from streed.task import TOTAL, Task, state_of
from streed.task.base import objective
from streed.task.bounded_sums import RowSum, values_of
from streed.task.objective import record_of

_MOST_KINDS, _ROWS_OF_KIND = 512, 256
"""So many kinds of rows are counted kind by kind, if each has about as many rows, which fill most of their words."""

_MANY_SPLITS = 150
"""Where more may pay, best-first search was behind at any time, in value and in bound."""


def by_thresholds(problem: Problem, search_limits: SearchLimits, name: str) -> Outcome | None:
    """The outcome, as of the driver of that name, of a search over thresholds; None where there are few."""
    if not is_for_thresholds(problem):
        return None
    return search_ordered(problem, search_limits, name) or search_generated(problem, search_limits, name)


@attrs.frozen
class Native(Driver):
    """The native search in the order of its name; tasks of which no kernels can be made go another way."""

    def search(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        found = search_in_order(problem, search_limits, self.name)
        if found is None and problem.questions is None:
            found = by_thresholds(problem, search_limits, self.name)
        if found is not None:
            return found
        began = clock()
        outcome = search_native(problem, search_limits, self.name)
        if outcome is None:
            return self.without_kernels(problem, search_limits)
        if outcome.stopped == "rounding":
            return close_by_near_optimal(problem, outcome, search_limits.after(clock() - began), self)
        return outcome

    def without_kernels(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        """The outcome for a task of which no kernels can be made: by the front engine, or else by the general route."""
        outcome = search_fronts(problem, search_limits, self)
        return search_general(problem, search_limits) if outcome is None else outcome

    def linear_oracle(
        self, problem: Problem, kinds: Array, n_labels: int, splits: bool, search_limits: SearchLimits
    ) -> LinearOracle | None:
        """Takes problems of few kinds of rows; with many thresholds by the ordered search."""
        n_kinds = int(kinds.max(initial=0)) + 1
        if n_kinds > max(MOST_GROUPS, min(_MOST_KINDS, len(kinds) // _ROWS_OF_KIND)):
            return None

        def native() -> LinearOracle:
            return EnumeratingOracle(problem, kinds, n_labels, splits, search_limits, self.name)

        if is_for_thresholds(problem):
            return OrderedOracle(problem, kinds, self.name, native)
        return native()


@final
@attrs.frozen
class DepthFirst(Native):
    """Depth-first branch and bound with depth-three work units, shared subproblems and similarity bounds."""

    name: ClassVar[str] = DEPTH_FIRST


@final
@attrs.frozen
class Branches(Native):
    """Best-first search: of all partial trees, one of least lower bound is looked at next."""

    name: ClassVar[str] = BEST_FIRST

    def check(self, task: Task) -> None:
        """Raises TaskError for tasks whose order is not total: there is no best partial tree to go on with."""
        if task.order != TOTAL:
            found = f"{type(objective(task)).__name__} has a partial order, and best-first search needs a total one"
            raise TaskError(f'{found}\nuse search="depth-first", which finds the front')

    def without_kernels(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        outcome = search_general(problem, search_limits, best_first=True)
        return attrs.evolve(outcome, stats={**outcome.stats, "search": self.name})


@final
@attrs.frozen
class General(Driver):
    """Dynamic programming in Python over any separable task, with fronts where the order is partial."""

    like: Driver | None = None
    """The driver whose order of search it takes, and whose name."""
    name: ClassVar[str] = "general"
    reduces: ClassVar[bool] = False

    def search(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        outcome = search_general(problem, search_limits, best_first=isinstance(self.like, Branches))
        name = self.name if self.like is None else self.like.name
        return attrs.evolve(outcome, stats={"search": name, **outcome.stats})


@final
@attrs.frozen
class Fronts(Driver):
    """The front DP: by compiled units where values are sums of whole costs, else by the general route."""

    name: ClassVar[str] = "fronts"
    reduces: ClassVar[bool] = False

    def check(self, task: Task) -> None:
        if task.order == TOTAL:
            found = f"{type(objective(task)).__name__} has one optimum and no front"
            raise TaskError(f'{found}; join it with another by &, or leave out search="fronts"')

    def search(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        return DepthFirst().without_kernels(problem, search_limits)


@final
@attrs.frozen
class Auto(Driver):
    """Depth-first or best-first search, by the problem; `stats` says which in `search`, and why in `chosen`."""

    name: ClassVar[str] = "auto"

    def search(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        driver, reason = choose(problem, search_limits)
        outcome = driver.search(problem, search_limits)
        return attrs.evolve(outcome, stats={"search": driver.name, **outcome.stats, "chosen": reason})

    def linear_oracle(
        self, problem: Problem, kinds: Array, n_labels: int, splits: bool, search_limits: SearchLimits
    ) -> LinearOracle | None:
        """That of depth-first search where the depth is limited; else each solve is by what its costs choose."""
        if problem.max_depth is None:
            return None
        return DepthFirst().linear_oracle(problem, kinds, n_labels, splits, search_limits)


def choose(problem: Problem, search_limits: SearchLimits) -> tuple[Driver, str]:
    """(the driver, the reason in words)."""
    task, data = problem.task, problem.data
    if task.order != TOTAL:
        return DepthFirst(), "the order is partial"
    if problem.max_depth is not None:
        return DepthFirst(), "the depth is limited: subproblems are shallow, and solved by counting"
    splits = _most_splits(task, data, problem.sums)
    if splits is None:
        return DepthFirst(), "splits cost nothing, or nobody knows how many pay: bounds of partial trees say little"
    if splits > _MANY_SPLITS:
        return DepthFirst(), f"up to {splits:.0f} splits may pay: depth-first search is the first to find large trees"
    if search_limits.within_gap is not None or search_limits.time_limit is not None:
        return Branches(), f"at most {splits:.0f} splits pay, and the search may be stopped"
    return DepthFirst(), "the proof is wanted, and comes sooner"


def _most_splits(task: Task, data: Dataset, sums: dict[str, Array]) -> float | None:
    """How many splits cost as much as all rows in one leaf, about kappa of Branches' Theorem 4.4; None if not known."""
    costs = [task.branching_cost(data.size, (), split) for split in range(data.n_columns)]
    prices = [abs(float(cost)) for cost in costs if isinstance(cost, numbers.Real) and cost]
    if not prices or task.larger_is_better:
        return None
    whole = state_of(sums, slice(data.n_rows), data, task)
    leaves = [task.leaf_cost(whole, label) for label in range(len(task.labels(data)))]
    return min((abs(float(leaf)) for leaf in leaves if isinstance(leaf, numbers.Real)), default=0.0) / min(prices)


_SEARCH, _AHEAD = 0.65, 0.15
"""Of the time: the engine's search, and if that is stopped, the scalar solves; the rest is for finding its trees."""

_STEEP = 64
"""So many times another component, by how far labels move each, one component weighs in the steepest direction."""

_DRAWN = 256
"""Directions, the same ones every time."""


def search_fronts(problem: Problem, search_limits: SearchLimits, driver: Driver) -> Outcome | None:
    """The front by the engine, and where that is stopped by its time, points of deeper trees; None as of the engine.

    A search that is stopped knows whole fronts of lower trees only: what is left of its time goes to a rolling
    lookahead for one weighted sum after another. A point that is the least in every component is the whole front.
    """
    seconds = search_limits.time_limit
    if seconds is None or (problem.max_depth is not None and problem.max_depth <= SHALLOW):
        return search_vectors(problem, search_limits)
    outcome = search_vectors(problem, attrs.evolve(search_limits, time_limit=_SEARCH * seconds))
    if outcome is None or outcome.stopped != "time":
        return outcome
    sums = problem.vector_costs
    assert sums is not None
    ahead = _ahead(problem, sums, driver, attrs.evolve(search_limits, time_limit=_AHEAD * seconds, report=None))
    known = [*outcome.solutions, *ahead]
    known.sort(key=lambda solution: solution.value)
    kept = tuple(known[at] for at in nondominated_at_root(problem.task, [solution.value for solution in known]))
    least = [each["bound"] for each in outcome.stats["missing"]]  # those of single components come first
    if len(kept) == 1 and all(x <= bound for x, bound in zip(kept[0].value, least, strict=False)):
        stats = {key: value for key, value in outcome.stats.items() if key != "missing"}
        return attrs.evolve(outcome, solutions=kept, stopped=None, stats=stats, score_bound=None)
    return attrs.evolve(outcome, solutions=kept)


def _ahead(problem: Problem, sums: Sequence[RowSum], driver: Driver, search_limits: SearchLimits) -> Iterator[Solution]:
    """Trees of small weighted sums that keep the limits, as many as are found in time."""
    found: dict[Vector, EvaluatedTree] = {}
    costs, splits = np.stack([each.costs for each in sums]), tuple(each.split for each in sums)
    trees = Trees(problem, costs, splits, driver, search_limits)
    try:
        with trees.ahead():
            for weights in _directions(trees):
                tree = trees.cheapest(weights) if trees.is_summable(weights) else None
                if tree is not None:
                    found.setdefault(tree.vector, tree)
    except SearchStopped as stop:
        if stop.tree is not None:
            found.setdefault(stop.tree.vector, stop.tree)
    except KeyboardInterrupt:
        pass  # what is found stands, and the search is called stopped anyhow
    finally:
        trees.close()
    for vector, tree in found.items():
        if all(each.holds(x) for x, each in zip(vector, sums, strict=True)):
            yield measured(problem, sums, (tree.preorder, tree.labels), values_of(sums, vector), exact=True)


def _directions(trees: Trees) -> Iterator[list[int]]:
    """Weights of the components, whole numbers of 1 or more: one component after the other first, then drawn ones."""
    moved = [max(most - least, 1) for least, most in trees.value_ranges]
    unit = [_STEEP * max(moved) // each for each in moved]
    drawn = np.random.default_rng(0).uniform(-1, 1, (_DRAWN, len(unit)))
    for tilts in np.concatenate([np.eye(len(unit)), drawn]).tolist():
        yield [max(1, int(each * _STEEP**x)) for each, x in zip(unit, tilts, strict=True)]


_MOST_QUESTIONS = 2_000
"""So many are asked once more, where rounding left open over thresholds which tree is the best."""

_ENTRY = 4
"""Bytes of an entry of a search's pair counts, which has one for every two questions and label."""


@final
@attrs.frozen(eq=False)
class OverOrdered(Driver):
    """A driver for data that have ordered columns; in the place of `own`, whose order of search the general one takes.

    That searches what cannot be asked as 0/1 columns.
    """

    driver: Driver
    own: Driver
    name: ClassVar[str] = "ordered"

    def knows_gap(self, task: Task) -> bool:
        return self.driver.knows_gap(task)

    def check(self, task: Task) -> None:
        self.driver.check(task)

    def search(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        """Raises InputError where there are so many thresholds that their questions do not fit into memory."""
        began, is_native = time.perf_counter(), isinstance(self.driver, (Native, Auto))
        ahead = search_in_order(problem, search_limits, self.driver.name) if is_native else None
        if ahead is not None:  # of what reads columns no questions can be asked
            return ahead
        if isinstance(self.driver, General) or not can_ask(problem):
            return settled(General(self.own).search(problem, search_limits), problem.data)
        ahead = by_thresholds(problem, search_limits, self.driver.name) if is_native else None
        if ahead is not None:
            if ahead.is_proved or ahead.stopped or problem.data.n_questions > _MOST_QUESTIONS:
                return ahead
            search_limits = search_limits.after(time.perf_counter() - began)
        _check_size(problem, search_limits)
        asked, questions = ask(problem)
        outcome = settled(self.driver.search(asked, search_limits), problem.data, questions)
        route = f"{outcome.stats.get('route', 'reduction')} by questions"
        stats = {**outcome.stats, "route": route, "questions": asked.data.n_columns}
        return attrs.evolve(outcome, stats=stats)


def _check_size(problem: Problem, search_limits: SearchLimits) -> None:
    """Raises InputError where the questions, or the counts of their pairs where they will be made, take too much."""
    questions, needed = problem.data.n_questions, problem.data.n_rows * problem.data.n_questions
    if problem.max_depth not in (0, 1) and not record_of(problem.task).of_sums:
        needed += _ENTRY * questions**2 * max(len(problem.task.labels(problem.data)) - 1, 1)
    limit, room = search_limits.memory_limit, process_memory.free()
    allowed = room if limit is None else min(room, limit - process_memory.resident())
    found = f"{questions:,} questions take about {needed / 1e9:.1f} GB, and {max(allowed, 0) / 1e9:.1f} are free"
    if needed > room:
        raise InputError("max_cuts", found, "give the most thresholds of a column, such as 50, or fewer columns")
    if needed > allowed:
        remedy = "raise it, or give fewer thresholds (max_cuts) or columns"
        raise InputError("memory_limit", f"{limit:,} bytes; {found}", remedy)


@functools.cache
def drivers() -> Mapping[str, type[Driver]]:
    """All drivers by name."""
    return MappingProxyType({each.name: each for each in (DepthFirst, Branches, Auto, Fronts, General)})
