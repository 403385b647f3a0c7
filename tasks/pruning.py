"""What leaves are charged beside their errors: for bits, for doubt, and for what rules of pruning expect of them.

Each is a sum over leaves and branching nodes, so separable (STreeD, Eq. 4), and minimised; in quotes: pystreed's names.

MinimumError, the errors that are expected of a leaf's class k on new rows, with p_k believed as firmly as by m rows:

    n * (n - n_k + (1 - p_k) m) / (n + m)

by Laplace's rule m = K and p_k = 1 / K ("min-error"; T. Niblett, I. Bratko: Learning Decision Rules in Noisy Domains,
1986), else any m, and the classes' shares of all rows (B. Cestnik, I. Bratko: On Estimating Probabilities in Tree
Pruning, EWSL 1991).

PessimisticError, n * U(e, n) for e errors among n rows, with U the upper confidence limit of a binomial proportion as
C4.5 computes it: 1 - CF^(1/n) without errors, else by the normal approximation with continuity correction. C4.5 prunes
by it; here it is the objective of the whole tree ("pessimistic-binomial"; J. R. Quinlan: C4.5, 1993, Section 4.2; its
source, function AddErrs).

QuinlanMDL and MehtaMDL, the shortest message that says the tree and the classes of the rows. The first sends those not
of the majority class as exceptions ("mdl-quinlan"; J. R. Quinlan, R. L. Rivest, Information and Computation 80, 1989):
with e of them among n rows, and at most b (for two classes (n + 1) / 2, rounded down, else n),

    log2(b + 1) + log2 C(n, e) + e log2(K - 1),

the second by their frequencies, at the stochastic complexity ("mdl-mehta" in nats; M. Mehta, J. Rissanen, R. Agrawal:
MDL-Based Decision Tree Pruning, KDD 1995)

    sum over k of n_k log2(n / n_k) + (K - 1) / 2 log2(n / 2) + log2(pi^(K/2) / Gamma(K/2)).

The tree takes 1 bit per node for its kind, log2 K for the class at a leaf, and log2 p for the column at a branching
node, unless `tree_bits` is False.

BayesianTree, - log P(tree) - sum over leaves of log P(classes of the leaf's rows), with P(tree) proportional to
`growth` to the power of the branching nodes, and a Dirichlet prior of equal `concentration` a, integrated out:

    P(classes) = Gamma(K a) / Gamma(n + K a) * product over k of Gamma(n_k + a) / Gamma(a)

("bayes" is a = 2.5, growth = 1; W. Buntine: Learning Classification Trees, Statistics and Computing 2, 1992; C.
Sullivan, M. Tiwari, S. Thrun: MAPTree, AAAI 2024).

>>> import streed
>>> from streed.reference import optimum
>>> from streed.tasks import BayesianTree, MinimumError, PessimisticError, QuinlanMDL
>>> data = streed.Dataset.make([[0]] * 10, [0] * 3 + [1] * 7)
>>> [round(float(optimum(task, data)[0]), 6) for task in (MinimumError(), PessimisticError())]
[3.333333, 4.591274]
>>> data = streed.Dataset.make([[0], [0], [0], [1], [1], [1]], [0, 0, 0, 1, 1, 1])
>>> [round(optimum(task, data, max_depth=1)[0], 6) for task in (QuinlanMDL(tree_bits=False), BayesianTree())]
[3.169925, 2.772589]
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.exact import Array, Range
from streed.task import State, Task, bound
from streed.tasks.impurity import ClassCounts, MajorityLeaves

_MOST_ROWS = 1e15  # beyond it, the rows at hand are lost in rounding


@final
@attrs.frozen
class MinimumError(ClassCounts):
    """The expected errors of every leaf's class, summed over leaves, by Laplace's rule or the m-estimate."""

    value_unit: ClassVar[str] = "expected errors"
    worsening: ClassVar[bool] = True

    m: float | None = attrs.field(default=None, validator=Range(above=0, most=_MOST_ROWS, optional=True))
    strength: float = bound(0.0)
    """m."""
    against: Any = bound(None)
    """(K,) float64: (1 - p_k) m."""
    least: float = bound(0.0)
    """The least entry of `against`."""

    def bind(self, data: Dataset) -> Task:
        totals = [float(x) for x in data.class_totals()]
        n_classes = len(totals)
        strength = float(n_classes if self.m is None else self.m)
        shares = [1 / n_classes] * n_classes if self.m is None else [x / sum(totals) for x in totals]
        against = np.array([(1 - share) * strength for share in shares])
        return attrs.evolve(self, strength=strength, against=against, least=float(against.min()))

    def leaf_cost(self, s: State, k: int) -> Any:
        rows = sum(s.counts)
        return rows * (rows - s.counts[k] + self.against[k]) / (rows + self.strength)

    def worst_per_row(self, data: Dataset) -> Array:
        """1: by a row of another class, the cost grows at the rate n / (n + m) + m (e + (1 - p) m) / (n + m)^2 <= 1."""
        return np.ones(data.n_rows)

    def lower_bound(self, s: State) -> Any:
        """The cost of all rows in one leaf without errors: that is concave in the rows, so parts cost no less."""
        rows = sum(s.counts)
        return rows * self.least / (rows + self.strength)


_CONFIDENCES = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00)
_DEVIATIONS = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00)
"""C4.5's table of the normal distribution, between whose entries it interpolates."""


def _confidence(value: Any) -> float:
    return float(Range(0.0001, 1).read("confidence", value))


def by_normal(errors: Any, rows: Any, variance: float) -> Any:
    """The pessimistic errors by the normal approximation, for one error or more."""
    if errors + 0.5 >= rows:
        return errors + 0.67 * (rows - errors)
    middle = errors + 0.5
    spread = math.sqrt(variance * (middle * (1 - middle / rows) + variance / 4))
    return rows * (middle + variance / 2 + spread) / (rows + variance)


def without_errors(rows: Any, confidence: float) -> Any:
    """The pessimistic errors of a leaf that has none."""
    return rows * (1 - math.exp(math.log(confidence) / rows)) if rows > 0 else 0.0


@final
@attrs.frozen
class PessimisticError(ClassCounts):
    """The misclassified rows of every leaf at the upper limit of their confidence interval, summed over leaves."""

    value_unit: ClassVar[str] = "errors at their upper confidence limit"
    worsening: ClassVar[bool] = True

    confidence: float = attrs.field(default=0.25, converter=_confidence)
    variance: float = attrs.field(init=False, repr=False)
    """The square of the normal deviate of the confidence."""

    @variance.default
    def _variance(self) -> float:
        return float(np.interp(self.confidence, _CONFIDENCES, _DEVIATIONS)) ** 2

    def leaf_cost(self, s: State, k: int) -> Any:
        rows = sum(s.counts)
        errors = rows - s.counts[k]
        none = without_errors(rows, self.confidence)
        if errors < 1:
            return none + errors * (by_normal(1.0, rows, self.variance) - none) if errors > 0 else none
        return by_normal(errors, rows, self.variance)

    def lower_bound(self, s: State) -> Any:
        """The least of three functions of the rows n: f(n) of `without_errors`, and, of n > 0,

            g(n) = 0.33 + 0.67 n    and    h(n) = n (1.5 + v) / (n + v), with v = `variance`.

        Each is concave and not negative, so their least is, and where parts share n rows, theirs add up to no less.
        And no leaf of n rows with e errors costs less than one of them:

        - e < 1: its cost lies between f(n) and that of one error, which is in the cases below (with e = 1).
        - e >= 1, e + 1/2 >= n: it costs 0.67 n + 0.33 e >= g(n). For whole n, not otherwise, g(n) >= f(n) there.
        - e >= 1, e + 1/2 < n: with m = e + 1/2 < n the root in `by_normal` is at least v / 2, so that the leaf costs at
          least n (m + v) / (n + v), which grows with m >= 1.5: at least h(n).
        """
        rows = sum(s.counts)
        if rows <= 0:
            return 0.0
        certain = without_errors(rows, self.confidence)
        few = 0.33 + 0.67 * rows
        many = rows * (1.5 + self.variance) / (rows + self.variance)
        return float(min(certain, few, many))


def log2_choose(n: Any, k: Any) -> float:
    """log2 of the number of ways to choose k of n; of Gamma functions where weights are not whole."""
    return (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)) / math.log(2)


@attrs.frozen
class CodedLeaves(MajorityLeaves):
    """Bits to say the tree, unless `tree_bits` is False, and the classes of the rows of every leaf."""

    value_unit: ClassVar[str] = "bits"

    tree_bits: bool = True
    leaf_bits: float = bound(0.0)
    """Of a leaf with its class."""
    split_cost: float = bound(0.0)
    """Of a branching node with its question."""

    def bind(self, data: Dataset) -> Any:
        leaf, split = 1 + math.log2(len(data.class_labels)), 1 + math.log2(max(data.n_questions, 1))
        bits: Any = {"leaf_bits": leaf, "split_cost": split} if self.tree_bits else {}
        return attrs.evolve(self, classes=data.class_labels, **bits)

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return self.split_cost


@final
@attrs.frozen
class QuinlanMDL(CodedLeaves):
    """Bits to say the tree, and in every leaf which rows are not of its majority class (Quinlan and Rivest)."""

    worsening: ClassVar[bool] = True

    def leaf_cost(self, s: State, k: int) -> Any:
        rows = sum(s.counts)
        exceptions = rows - max(s.counts)
        most = math.floor((rows + 1) / 2) if len(s.counts) == 2 else rows
        bits = self.leaf_bits + math.log2(most + 1) + log2_choose(rows, exceptions)
        if len(s.counts) > 2:
            bits += exceptions * math.log2(len(s.counts) - 1)
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
class MehtaMDL(CodedLeaves):
    """Bits to say the tree, and in every leaf the classes of its rows at their stochastic complexity (Mehta et al.).

    Bound, `leaf_bits` are with the constant of that.
    """

    least: float = bound(-math.inf)
    """No leaf costs less."""

    def bind(self, data: Dataset) -> Any:
        found, n_classes = super().bind(data), len(data.class_labels)
        leaf = found.leaf_bits + (n_classes / 2 * math.log(math.pi) - math.lgamma(n_classes / 2)) / math.log(2)
        least = leaf - (n_classes - 1) / 2 if data.sample_weight is None else -math.inf
        return attrs.evolve(found, leaf_bits=leaf, least=least)

    def leaf_cost(self, s: State, k: int) -> Any:
        rows = sum(s.counts)
        bits = self.leaf_bits
        if rows > 0:
            bits += (len(s.counts) - 1) / 2 * math.log2(rows / 2)
        for count in s.counts:
            if count > 0:
                bits += count * math.log2(rows / count)
        return bits

    def lower_bound(self, s: State) -> Any:
        """One leaf's least cost, or that of a leaf per row where it is negative (many classes)."""
        return self.least if self.least >= 0 else self.least * s.rows


def _concentration(value: Any) -> float:
    # far beyond 10^9, sums of logarithms of gamma functions are differences of huge numbers
    return float(Range(1e-9, 1e9, meaning="of which 1 is uniform").read("concentration", value))


def _growth(value: Any) -> float:
    return float(Range(above=0, most=1, meaning="of which 1 prefers no size of tree").read("growth", value))


@final
@attrs.frozen
class BayesianTree(MajorityLeaves):
    """Minus the logarithm of a tree's posterior probability, up to a constant of the data set."""

    value_unit: ClassVar[str] = "minus the logarithm of the posterior"
    worsening: ClassVar[bool] = True

    concentration: float = attrs.field(default=1.0, converter=_concentration)
    growth: float = attrs.field(default=1.0, converter=_growth)

    def leaf_cost(self, s: State, k: int) -> Any:
        whole = len(s.counts) * self.concentration
        cost = math.lgamma(sum(s.counts) + whole) - math.lgamma(whole)
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
        rows, whole = sum(s.counts), len(s.counts) * self.concentration
        most = math.lgamma(rows + self.concentration) - math.lgamma(self.concentration)
        return math.lgamma(rows + whole) - math.lgamma(whole) - most
