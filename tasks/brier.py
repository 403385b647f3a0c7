"""Brier score: leaves whose class shares are as near to what happens as they can be.

    minimise 1/N * sum over rows (x, y) of w * sum over classes k of (p_k(leaf of x) - [y = k])^2

with p_k the share of class k in the leaf's weight, which no other prediction scores better than, and N the weight of
all rows; 0 is the best score, and below 2 is every score. A leaf of weight n with n_k of class k pays
(n - (sum over k of n_k^2) / n) / N, so the best trees are those of `Gini`; of two classes it is twice the mean squared
error of the share of one of them. Leaves show the class of most. Separable: a sum over leaves (STreeD, Eq. 4;
additivity implies Def. 4.4). Superadditive, as the shares of all rows are among the predictions for each part of them.
Reference: G. W. Brier: Verification of Forecasts Expressed in Terms of Probability, Monthly Weather Review 78, 1950.

>>> import streed
>>> from streed.reference import optimum
>>> from streed.tasks import BrierScore
>>> data = streed.Dataset.make([[0], [0], [1], [1]], [0, 1, 1, 1])
>>> optimum(BrierScore(), data, max_depth=0)[0], optimum(BrierScore(), data, max_depth=1)[0]
(0.375, 0.25)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import attrs

from streed.task import Task
from streed.tasks.gini import GiniLeaves

if TYPE_CHECKING:
    from streed.data import Dataset


@final
@attrs.frozen
class BrierScore(GiniLeaves):
    """The mean over rows of the squared distance between the class shares of the leaf and the row's class."""

    def bind(self, data: Dataset) -> Task:
        return attrs.evolve(self, classes=data.class_labels, scale=1 / float(sum(data.class_totals())))
