"""solve_many(): many independent solves, of one task on a list of data, or of any problems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from streed.data import Dataset
from streed.errors import InputError
from streed.result import Result
from streed.solve import solve
from streed.task import Task


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
    They are solved in this process.

    `solve_many(problems)`: each a dict of the arguments of `solve`, "task" and "X" among them, such as paths over
    parameters or several tasks on the same data. `shared` are the arguments of all that do not say otherwise.

    `n_jobs` is the number of processes of joblib that share the work (-1: one for each core), the default for a list of
    problems; joblib's own backends, such as Dask's, apply. Raises InputError for what is no such dict, and where joblib
    is needed and not installed; and what a solve raises.
    """
    if isinstance(problems, Task):
        given = [_arguments(place, each) for place, each in enumerate(_listed(data))]
        if n_jobs is None:
            return [solve(problems, **{**shared, **each}) for each in given]
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
