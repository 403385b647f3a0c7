"""Trees whose depth and size are chosen by cross-validation.

For each fold and depth, the optimal trees of every size, or for every cost of a branching node, are found once, with
one binarisation of the fold; what each choice scores on the rows held out is then looked up, as Breiman et al. (1984,
Section 11.5) have it for pruned trees. Here each tree is the optimum.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs
import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils.parallel import Parallel, delayed

from streed.data.rows import weigh_copies
from streed.errors import InputError, brief
from streed.estimators.base import OptimalTree
from streed.estimators.classifier import OptimalTreeClassifier
from streed.estimators.paths import Step, at_cost, at_size, complexity_path, size_path
from streed.estimators.reading import FREQUENCY, as_array, forget, present_rows, take_rows
from streed.estimators.regressor import OptimalTreeRegressor
from streed.exact import Range

BY = ("cost_complexity", "max_nodes", "max_depth")


@attrs.frozen
class Choice:
    """A depth, and a cost per node or a number of nodes; `n_nodes` are those of the tree on all rows."""

    max_depth: int
    n_nodes: int
    cost_complexity: Any = 0
    max_nodes: int | None = None

    def step(self, steps: list[Step]) -> Step:
        """The tree of this choice on another path of that depth."""
        return at_cost(steps, self.cost_complexity) if self.max_nodes is None else at_size(steps, self.max_nodes)


class _Tuned(OptimalTree):
    """What both tuned estimators share."""

    def __init__(
        self,
        task: Any = None,
        *,
        by: str = "cost_complexity",
        max_depths: Any = (1, 2, 3, 4),
        cv: Any = 5,
        scoring: Any = None,
        one_standard_error: bool = False,
        n_jobs: int | None = None,
        min_leaf: int = 1,
        limits: Any = (),
        search: Any = "depth-first",
        binarizer: Any = "auto",
        cuts: Any = None,
        time_limit: float | None = None,
        memory_limit: int | None = None,
        threads: int = 1,
    ) -> None:
        super().__init__(
            task,
            min_leaf=min_leaf,
            limits=limits,
            search=search,
            binarizer=binarizer,
            cuts=cuts,
            time_limit=time_limit,
            memory_limit=memory_limit,
            threads=threads,
        )
        self.by = by
        self.max_depths = max_depths
        self.cv = cv
        self.scoring = scoring
        self.one_standard_error = one_standard_error
        self.n_jobs = n_jobs

    def _grow(self, X: Any, y: Any, sample_weight: Any, row_data: Mapping[str, Any]) -> None:
        if self.by not in BY:
            raise InputError("by", f"{self.by!r}", f"use one of {', '.join(BY)}")
        if isinstance(self.max_depths, str) or not isinstance(self.max_depths, Iterable) or not list(self.max_depths):
            raise InputError("max_depths", brief(self.max_depths), "give a list of depths, such as (1, 2, 3)")
        for depth in self.max_depths:
            Range(0, whole=True).read("max_depths", depth)
        forget(self)
        X, y, sample_weight, row_data = present_rows(X, y, sample_weight, row_data)
        data = self._prepare(X, y, sample_weight, row_data)
        choices = [choice for depth in self.max_depths for choice in self._choices(self._path(data, depth), depth)]
        scores = np.array(list(self._scores(X, y, sample_weight, row_data.get(FREQUENCY), choices))).T
        means = scores.mean(axis=1)
        spread = scores.std(axis=1, ddof=1) / math.sqrt(scores.shape[1])
        # The simplest of the best; or of those that chance does not tell from the best.
        best = int(np.argmax(means))
        least = means[best] - (spread[best] if self.one_standard_error else 1e-12)
        chosen = min(
            (place for place in range(len(choices)) if means[place] >= least),
            key=lambda place: (choices[place].n_nodes, choices[place].max_depth, -means[place]),
        )
        self.cv_results_ = {
            "params": [self._named(choice) for choice in choices],
            "n_nodes": np.array([choice.n_nodes for choice in choices]),
            "mean_test_score": means,
            "std_test_score": scores.std(axis=1),
            "fold_test_scores": scores,
        }
        self.best_index_, self.best_score_ = chosen, float(means[chosen])
        self.best_params_ = self._named(choices[chosen])
        self._accept(self._solve(data, **self.best_params_), data)

    def _path(self, data: Any, depth: int) -> list[Step]:
        def solve(**given: Any) -> Any:
            return self._solve(data, max_depth=depth, **given)

        if self.by == "max_depth":
            return size_path(solve)[-1:]
        return complexity_path(solve) if self.by == "cost_complexity" else size_path(solve)

    def _choices(self, steps: list[Step], depth: int) -> Iterator[Choice]:
        """What is to be compared: each size, or a cost in the middle of each interval in which a tree is optimal."""
        for place, step in enumerate(steps):
            if self.by != "cost_complexity":
                yield Choice(depth, step.n_nodes, max_nodes=None if self.by == "max_depth" else place)
                continue
            low = float(step.from_cost)
            high = float(steps[place + 1].from_cost) if place + 1 < len(steps) else 2 * low
            middle = math.sqrt(low * high) if low > 0 else high / 2
            yield Choice(depth, step.n_nodes, float(f"{middle:.6g}"))

    def _named(self, choice: Choice) -> dict[str, Any]:
        if self.by == "cost_complexity":
            return {"max_depth": choice.max_depth, "cost_complexity": choice.cost_complexity}
        return {"max_depth": choice.max_depth, "max_nodes": choice.max_nodes}

    def _scores(
        self, X: Any, y: Any, sample_weight: Any, frequency: Any, choices: list[Choice]
    ) -> Iterator[list[float]]:
        """For each fold, what each choice scores on its rows when the others are learned from.

        All that a row of some frequency stands for is in one fold.
        """
        labels = np.asarray(y)
        splits = check_cv(self.cv, labels, classifier=is_classifier(self))
        table = X if hasattr(X, "columns") or isinstance(X, np.ndarray) else as_array(X)

        def fold(others: Any, held_out: Any) -> list[float]:
            member = clone(self)
            weights = None if sample_weight is None else np.asarray(sample_weight)
            data = member._prepare(
                take_rows(table, others),
                labels[others],
                None if weights is None else weights[others],
                {} if frequency is None else {FREQUENCY: frequency[others]},
            )
            paths = {depth: member._path(data, depth) for depth in self.max_depths}
            rows, truth = take_rows(table, held_out), labels[held_out]
            masses = weigh_copies(weights, frequency)
            held = {} if masses is None else {"sample_weight": masses[held_out]}
            score = check_scoring(member, self.scoring)
            found: dict[int, float] = {}
            scores = []
            for choice in choices:
                step = choice.step(paths[choice.max_depth])
                if id(step) not in found:
                    member._accept(step.result, data)
                    found[id(step)] = float(score(member, rows, truth, **held))
                scores.append(found[id(step)])
            return scores

        # The search lets go of Python's lock, and threads share what is compiled.
        parallel = Parallel(n_jobs=self.n_jobs, prefer="threads")
        yield from parallel(delayed(fold)(*rows) for rows in splits.split(np.zeros(len(labels)), labels))


class TunedOptimalTreeClassifier(_Tuned, OptimalTreeClassifier):
    """An `OptimalTreeClassifier` whose depth and size are chosen by cross-validation.

    `by`: what is chosen beside the depth, of `max_depths`: "cost_complexity" (from all intervals in which a tree is
    optimal), "max_nodes" (from every number), or nothing, "max_depth". `cv`, `scoring`: as in scikit-learn.
    `one_standard_error`: take the smallest tree that is within a standard error of the best, not the best. `n_jobs`:
    how many folds are worked on at once, in threads.

    Fitted: `best_params_`, `best_score_`, `best_index_`, `cv_results_`, and what `OptimalTreeClassifier` says.
    """


class TunedOptimalTreeRegressor(_Tuned, OptimalTreeRegressor):
    """An `OptimalTreeRegressor` whose depth and size are chosen by cross-validation.

    Parameters and what is fitted are those of `TunedOptimalTreeClassifier`.
    """
