"""Trees that say most in fewest bits: minimum description length, and Bayesian trees.

Minimum description length: the shortest message that says the tree and the classes of the rows.

    minimise sum over leaves of (bits of the leaf + bits of its rows' classes) + sum over branching nodes of their bits

Quinlan and Rivest send the rows of a leaf that are not of its majority class as exceptions: with n rows, e of them
exceptions, and at most b (for two classes (n + 1) / 2, rounded down, else n),

    log2(b + 1) + log2 C(n, e) + e log2(K - 1).

Mehta, Rissanen and Agrawal send them by their frequencies, at the stochastic complexity

    sum over k of n_k log2(n / n_k) + (K - 1) / 2 log2(n / 2) + log2(pi^(K/2) / Gamma(K/2)).

The tree itself takes 1 bit per node for its kind, log2 K bits for the class at a leaf, and log2 p bits for the column
at a branching node, unless `tree_bits` is False (pystreed's "mdl-quinlan", and its "mdl-mehta" in nats). Separable:
sums over nodes (STreeD, Eq. 4). References: J. R. Quinlan, R. L. Rivest: Inferring Decision Trees Using the Minimum
Description Length Principle, Information and Computation 80, 1989; M. Mehta, J. Rissanen, R. Agrawal: MDL-Based
Decision Tree Pruning, KDD 1995.

Bayesian trees: the tree of largest posterior probability.

    minimise - log P(tree) - sum over leaves of log P(classes of the leaf's rows)

with a Dirichlet prior of equal `concentration` a on the class probabilities of every leaf, integrated out,

    P(classes) = Gamma(K a) / Gamma(n + K a) * product over k of Gamma(n_k + a) / Gamma(a)

and a prior P(tree) proportional to `growth` to the power of the branching nodes. Separable: sums over nodes (STreeD,
Eq. 4). pystreed's "bayes" is a = 2.5, growth = 1. References: W. Buntine: Learning Classification Trees, Statistics and
Computing 2, 1992; C. Sullivan, M. Tiwari, S. Thrun: MAPTree, AAAI 2024.

>>> import streed
>>> from streed.reference import optimum
>>> from streed.tasks import BayesianTree, QuinlanMDL
>>> data = streed.Dataset.make([[0], [0], [0], [1], [1], [1]], [0, 0, 0, 1, 1, 1])
>>> [round(optimum(task, data, max_depth=1)[0], 6) for task in (QuinlanMDL(tree_bits=False), BayesianTree())]
[3.169925, 2.772589]
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from streed.exact import Array, Range
from streed.task import State, Task, bound
from streed.tasks.impurity import MajorityLeaves, largest, total

if TYPE_CHECKING:
    from streed.data import Dataset


def log2_choose(n: Any, k: Any) -> float:
    """log2 of the number of ways to choose k of n; of Gamma functions where weights are not whole."""
    return (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)) / math.log(2)


def tree_code(data: Dataset, tree_bits: bool) -> tuple[float, float]:
    """The bits that say a leaf with its class, and a branching node with its question."""
    if not tree_bits:
        return 0.0, 0.0
    return 1 + math.log2(len(data.class_labels)), 1 + math.log2(max(data.n_questions, 1))


@attrs.frozen
class PricedLeaves(MajorityLeaves):
    """Majority leaves below branching nodes of one price."""

    split_cost: float = bound(0.0)

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return self.split_cost


@final
@attrs.frozen
class QuinlanMDL(PricedLeaves):
    """Bits to say the tree, and in every leaf which rows are not of its majority class (Quinlan and Rivest)."""

    worsening: ClassVar[bool] = True

    tree_bits: bool = True
    n_classes: int = bound(2)
    leaf_bits: float = bound(0.0)

    def bind(self, data: Dataset) -> Task:
        leaf, split = tree_code(data, self.tree_bits)
        classes = data.class_labels
        return attrs.evolve(self, classes=classes, n_classes=len(classes), leaf_bits=leaf, split_cost=split)

    def leaf_cost(self, s: State, k: int) -> Any:
        rows = total(s.counts)
        exceptions = rows - largest(s.counts)
        most = math.floor((rows + 1) / 2) if self.n_classes == 2 else rows
        bits = self.leaf_bits + math.log2(most + 1) + log2_choose(rows, exceptions)
        if self.n_classes > 2:
            bits += exceptions * math.log2(self.n_classes - 1)
        return bits

    def worst_per_row(self, data: Dataset) -> Array | None:
        """1 + log2 N + log2(K - 1), of rows without weights.

        A further row at most doubles b + 1, and makes C(n, e) at most N times as large and adds one exception.
        """
        if data.sample_weight is not None:
            return None
        classes = max(len(data.class_labels) - 1, 1)
        return np.full(data.n_rows, 1 + math.log2(data.size) + math.log2(classes))

    def lower_bound(self, s: State) -> Any:
        """A tree has one leaf at least."""
        return self.leaf_bits


@final
@attrs.frozen
class MehtaMDL(PricedLeaves):
    """Bits to say the tree, and in every leaf the classes of its rows at their stochastic complexity (Mehta et al.)."""

    tree_bits: bool = True
    half: float = bound(0.5)
    """(K - 1) / 2."""
    leaf_bits: float = bound(0.0)
    """With the constant of the stochastic complexity."""
    least: float = bound(-math.inf)
    """No leaf costs less."""

    def bind(self, data: Dataset) -> Task:
        leaf, split = tree_code(data, self.tree_bits)
        n_classes = len(data.class_labels)
        half = (n_classes - 1) / 2
        leaf += (n_classes / 2 * math.log(math.pi) - math.lgamma(n_classes / 2)) / math.log(2)
        least = leaf - half if data.sample_weight is None else -math.inf
        return attrs.evolve(self, classes=data.class_labels, half=half, leaf_bits=leaf, split_cost=split, least=least)

    def leaf_cost(self, s: State, k: int) -> Any:
        rows = total(s.counts)
        bits = self.leaf_bits
        if rows > 0:
            bits += self.half * math.log2(rows / 2)
        for count in s.counts:
            if count > 0:
                bits += count * math.log2(rows / count)
        return bits

    def lower_bound(self, s: State) -> Any:
        """One leaf's least cost, or that of a leaf per row where it is negative (many classes)."""
        return self.least if self.least >= 0 else self.least * s.rows


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
    whole: float = bound(2.0)
    """K times the concentration."""

    def bind(self, data: Dataset) -> Task:
        classes = data.class_labels
        return attrs.evolve(self, classes=classes, whole=len(classes) * self.concentration)

    def leaf_cost(self, s: State, k: int) -> Any:
        cost = math.lgamma(total(s.counts) + self.whole) - math.lgamma(self.whole)
        for count in s.counts:
            cost -= math.lgamma(count + self.concentration) - math.lgamma(self.concentration)
        return cost

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return -math.log(self.growth)

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
