"""Classification by all near-optimal trees together: what most of them say, and how many say otherwise.

>>> from streed.estimators import RashomonTreeClassifier
>>> table = [[22.0, "m"], [38.0, "f"], [26.0, "f"], [35.0, "m"], [54.0, "f"], [31.0, "m"]]
>>> model = RashomonTreeClassifier(max_depth=1, cost_complexity=0.1, epsilon=1)
>>> model.fit(table, ["no", "yes", "yes", "no", "yes", "yes"]).rashomon_.count
11
>>> model.predict([[60.0, "f"]]).tolist(), model.predict_proba([[60.0, "f"]]).tolist()
(['yes'], [[0.0, 1.0]])
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import streed
from streed.data import Dataset
from streed.estimators.classifier import OptimalTreeClassifier
from streed.exact import Array, Range
from streed.result import Result


class RashomonTreeClassifier(OptimalTreeClassifier):
    """The optimal tree for a task, and with it all trees whose value is within `epsilon` of it, which vote.

    `epsilon`: a part of the optimal value, see `streed.rashomon`. `samples`: so many trees vote, drawn with equal
    chance by the seed `random_state`, where there are more; all of them otherwise. `predict` gives the class that most
    of them give, ties to the first, and `predict_proba` the share of the trees for each class: a share near one half
    means that equally good trees disagree on a row. All else, and `tree_`, is as in `OptimalTreeClassifier`.

    Fitted: `rashomon_`, the set (`streed.RashomonSet`), which a pickle leaves out, and `voters_`, the trees that vote.
    """

    def __init__(
        self,
        task: Any = None,
        *,
        epsilon: Any = 0.05,
        samples: int = 1000,
        random_state: int = 0,
        class_weight: Any = None,
        max_depth: int | None = 3,
        min_leaf: int = 1,
        cost_complexity: Any = 0,
        limits: Any = (),
        binarizer: Any = "auto",
        cuts: Any = None,
        time_limit: float | None = None,
        memory_limit: int | None = None,
    ) -> None:
        super().__init__(
            task,
            class_weight=class_weight,
            max_depth=max_depth,
            min_leaf=min_leaf,
            cost_complexity=cost_complexity,
            limits=limits,
            binarizer=binarizer,
            cuts=cuts,
            time_limit=time_limit,
            memory_limit=memory_limit,
        )
        self.epsilon = epsilon
        self.samples = samples
        self.random_state = random_state

    def predict(self, X: Any) -> Array:
        """(m,) the class that most of the trees give each row."""
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]  # type: ignore[no-any-return]

    def predict_proba(self, X: Any) -> Array:
        """(m, K) the share of the trees that give each row each class."""
        encoded = self._encoded(X)
        votes: Array = np.zeros((0, len(self.classes_)))
        for tree in self.voters_:
            classes = self._class_places(tree.shows())[tree.apply(encoded)]
            if not len(votes):
                votes = np.zeros((len(classes), len(self.classes_)))
            votes[np.arange(len(classes)), classes] += 1
        return votes / len(self.voters_)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "rashomon_"}

    def _accept(self, result: Result, data: Dataset) -> None:
        super()._accept(result, data)
        Range(1, whole=True).read("samples", self.samples)
        self.rashomon_ = streed.rashomon(
            result.task,
            data,
            max_depth=self.max_depth,
            min_leaf=self.min_leaf,
            epsilon=self.epsilon,
            time_limit=self.time_limit,
            memory_limit=self.memory_limit,
        )
        size = self.rashomon_.lower_count
        if size == 0:
            self.voters_ = [self.tree_]
        elif size <= self.samples:
            self.voters_ = list(self.rashomon_)
        else:
            self.voters_ = self.rashomon_.sample(int(self.samples), random.Random(self.random_state))
