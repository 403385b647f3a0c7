"""solve_many(): many independent solves, of one task on a list of data, or of any problems."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, final

import attrs

from streed.data import Dataset
from streed.drivers.depth_first import DepthFirst
from streed.errors import InputError
from streed.problem import Driver, Outcome, Problem, SearchLimits
from streed.result import Result
from streed.solve import rows_needed, solve, whole_limit
from streed.task import TOTAL, Task
from streed.task.algebra import objective

_OF_DATA = frozenset({"X", "y", "sample_weight"})
"""Arguments of `solve` with which they may be done ahead, for data of one's own."""

_SIZES = frozenset({"max_depth", "max_nodes", "min_leaf"})
"""Arguments with which searches may be done ahead, many in one native call."""


def solve_many(
    problems: Task | Iterable[Mapping[str, Any]],
    data: Iterable[Any] | None = None,
    *,
    n_jobs: int | None = None,
    **shared: Any,
) -> list[Result]:
    """The results of independent solves, in their order: what `solve` gives for each.

    `solve_many(task, data, max_depth=3)`: of one task on a list of data, each a pair (X, y), a `Dataset`, or a dict of
    the arguments of `solve` that are of the data, such as `X`, `y` and `sample_weight`: folds, bootstraps, subgroups.
    They are solved in this process, and what is surely short by one native call for many where native code is prebuilt.

    `solve_many(problems)`: each a dict of the arguments of `solve`, "task" and "X" among them, such as paths over
    parameters or several tasks on the same data. `shared` are the arguments of all that do not say otherwise.

    `n_jobs` is the number of processes of joblib that share the work (-1: one for each core), the default for a list of
    problems; joblib's own backends, such as Dask's, apply. Raises InputError for what is no such dict, and where joblib
    is needed and not installed; and what a solve raises.
    """
    if isinstance(problems, Task):
        given = [_arguments(place, each) for place, each in enumerate(_listed(data))]
        if n_jobs is None:
            return _solved_here(problems, given, shared)
        problems = [{"task": problems, **each} for each in given]
    elif data is not None:
        raise InputError("data", "it is given beside a list of problems", "give a task and a list of data, or problems")
    return _solved_by_joblib(problems, -1 if n_jobs is None else n_jobs, shared)


def _listed(data: Iterable[Any] | None) -> Iterable[Any]:
    if data is None or isinstance(data, (Dataset, Mapping)) or not isinstance(data, Iterable):
        raise InputError("data", f"it is {data!r}"[:200], "give a list of pairs (X, y), Datasets or dicts")
    return data


def _arguments(place: int, each: Any) -> dict[str, Any]:
    """The arguments of `solve` for the data of this place in the list."""
    if isinstance(each, Mapping) and "X" in each:
        return dict(each)
    if isinstance(each, Dataset):
        return {"X": each}
    if isinstance(each, (tuple, list)) and len(each) == 2:
        return {"X": each[0], "y": each[1]}
    raise InputError("data", f"number {place} is {each!r}"[:200], 'give pairs (X, y), Datasets, or dicts with "X"')


def _solved_by_joblib(problems: Iterable[Mapping[str, Any]], n_jobs: int, shared: dict[str, Any]) -> list[Result]:
    try:
        from joblib import Parallel, delayed
    except ImportError:
        raise InputError("joblib", "it is not installed", 'pip install "streed[cluster]"') from None
    asked = []
    for place, problem in enumerate(problems):
        given = {**shared, **problem} if isinstance(problem, Mapping) else {}
        if not {"task", "X"} <= set(given):
            found = f"problem {place} is {problem!r}"[:200]
            raise InputError("problems", found, 'give dicts of the arguments of solve, with "task" and "X"')
        asked.append(given)
    return list(Parallel(n_jobs=n_jobs)(delayed(solve)(**given) for given in asked))


def _solved_here(task: Task, given: list[dict[str, Any]], shared: dict[str, Any]) -> list[Result]:
    """The results in this process; searches that many can share a call are done ahead."""
    ahead: dict[int, _Ahead] = {}
    if set(shared) <= _SIZES and task.order == TOTAL and not objective(task).vector_form.of_sums:
        ahead = _searched_ahead(task, given, **shared)
    results = []
    for place, each in enumerate(given):
        known = ahead.pop(place, None)
        if known is None:
            results.append(solve(task, **{**shared, **each}))
        else:
            results.append(solve(task, known.data, search=known, **shared))
    return results


@final
@attrs.frozen(eq=False)
class _Ahead(Driver):
    """A driver whose search is done."""

    data: Dataset
    outcome: Outcome
    name: ClassVar[str] = DepthFirst.name

    def check(self, task: Task) -> None:
        """Takes the task that was searched."""

    def search(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        return self.outcome


def _searched_ahead(
    task: Task, given: list[dict[str, Any]], max_depth: Any = None, max_nodes: Any = None, min_leaf: Any = 1
) -> dict[int, _Ahead]:
    """By their places in the list, the searches that were done: those that are surely short."""
    from streed.bnb.short_searches import posed, search_each

    procedure = DepthFirst.procedure
    places, problems = [], []
    for place, each in enumerate(given):
        begin = time.perf_counter()
        try:
            data = Dataset.make(**each) if set(each) <= _OF_DATA else None
            if data is None or data.ordered or data.frequency is not None:
                continue
            bound, leaf_rows = task.bind(data), whole_limit("min_leaf", min_leaf, 1, None)
            depth, nodes = (whole_limit("size", size, 0, data.n_rows) for size in (max_depth, max_nodes))
            problem = Problem(data, bound, depth, nodes, rows_needed(bound, leaf_rows, data))
            found = posed(problem, procedure, begin)
        except Exception:  # noqa: BLE001 - solve, which comes to it in its turn, raises it again
            continue
        if found is not None:
            places.append(place)
            problems.append(found)
    outcomes = search_each(problems, procedure)
    pairs = zip(places, problems, outcomes, strict=True)
    return {place: _Ahead(each.problem.data, outcome) for place, each, outcome in pairs if outcome is not None}
