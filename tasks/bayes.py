"""Bayesian trees: the tree of largest posterior probability.

    minimise - log P(tree) - sum over leaves of log P(classes of the leaf's rows)

with a Dirichlet prior of equal `concentration` a on the class probabilities of every leaf, integrated out,

    P(classes) = Gamma(K a) / Gamma(n + K a) * product over k of Gamma(n_k + a) / Gamma(a)

and a prior P(tree) proportional to `growth` to the power of the branching nodes. Separable: sums over nodes (STreeD,
Eq. 4). pystreed's "bayes" is a = 2.5, growth = 1. References: W. Buntine: Learning Classification Trees, Statistics and
Computing 2, 1992; C. Sullivan, M. Tiwari, S. Thrun: MAPTree, AAAI 2024.

>>> import streed
>>> from streed.reference import optimum
>>> from streed.tasks import BayesianTree
>>> data = streed.Dataset.make([[0]] * 4, [1] * 4)
>>> round(optimum(BayesianTree(), data)[0], 6)  # one class only: certain
0.0
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from streed.exact import Array, Range
from streed.task import State, Task, bound
from streed.tasks.majority import MajorityLeaves, total

if TYPE_CHECKING:
    from streed.data import Dataset


_LEAST = 1e-9
"""Of the concentration; far beyond, sums of logarithms of gamma functions are differences of huge numbers."""


def _concentration(value: Any) -> float:
    return float(Range(_LEAST, 1 / _LEAST, meaning="of which 1 is uniform").read("concentration", value))


def _growth(value: Any) -> float:
    return float(Range(above=0, most=1, meaning="of which 1 prefers no size of tree").read("growth", value))


@final
@attrs.frozen
class BayesianTree(MajorityLeaves):
    """Minus the logarithm of a tree's posterior probability, up to a constant of the data set."""

    worsening: ClassVar[bool] = True

    concentration: float = attrs.field(default=1.0, converter=_concentration)
    growth: float = attrs.field(default=1.0, converter=_growth)
    split_cost: float = attrs.field(init=False, repr=False)
    whole: float = bound(2.0)
    """K times the concentration."""

    @split_cost.default
    def _split_cost(self) -> float:
        return -math.log(self.growth)

    def bind(self, data: Dataset) -> Task:
        classes = data.class_labels
        return attrs.evolve(self, classes=classes, whole=len(classes) * self.concentration)

    def leaf_cost(self, s: State, k: int) -> Any:
        cost = math.lgamma(total(s.counts) + self.whole) - math.lgamma(self.whole)
        for count in s.counts:
            cost -= math.lgamma(count + self.concentration) - math.lgamma(self.concentration)
        return cost

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return self.split_cost

    def worst_per_row(self, data: Dataset) -> Array | None:
        """log((N - 1 + K a) / a), of rows without weights: minus the log probability of a class never seen before."""
        if data.sample_weight is not None:
            return None
        whole = len(data.class_labels) * self.concentration
        return np.full(data.n_rows, math.log((data.size - 1 + whole) / self.concentration))

    def lower_bound(self, s: State) -> Any:
        """The cost of all rows in one class: that is concave in the rows, so parts cost no less."""
        rows = total(s.counts)
        most = math.lgamma(rows + self.concentration) - math.lgamma(self.concentration)
        return math.lgamma(rows + self.whole) - math.lgamma(self.whole) - most
