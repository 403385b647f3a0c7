"""Made-up trials of two treatments, whose outcomes are known under both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

from streed.errors import InputError
from streed.exact import Array, Range


@attrs.frozen(eq=False)
class Trial:
    """Rows with the outcomes of both treatments, of which the past shows one."""

    features: Array
    """(n, f) float64: independent, of distribution N(0, 1)."""
    outcomes: Array
    """(n, 2) float64: under treatment 0 and 1."""
    treatment: Array
    """(n,) int64: the one that was given."""
    propensity: Array
    """(n,) float64: how probable it was that this one was given."""

    @property
    def outcome(self) -> Array:
        """(n,) what was seen."""
        seen: Array = self.outcomes[np.arange(len(self.treatment)), self.treatment]
        return seen

    def worth(self, prescribed: Any) -> float:
        """The mean outcome of a policy, which only made-up data can tell."""
        return float(self.outcomes[np.arange(len(self.treatment)), np.asarray(prescribed)].mean())


def make_trial(n_rows: int, n_features: int, best: float = 0.5, *, seed: int = 0) -> Trial:
    """A trial by STreeD, Eq. 66 and Table 5, for 2, 10 or 20 features.

    Outcomes are phi(x) + (2 k - 1) / 2 * kappa(x) plus noise N(0, 0.1); the past gave the better of the two treatments
    with probability `best`.
    """
    if n_features not in (2, 10, 20):
        raise InputError("n_features", f"{n_features}", "give 2, 10 or 20 (Table 5)")
    Range(above=0, below=1, meaning="a probability").read("best", best)
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, n_features))
    if n_features == 2:
        mean, effect = x[:, 0] / 2 + x[:, 1], x[:, 0] / 2
    else:
        many = 2 if n_features == 10 else 4
        rest = x[:, 2:6] if n_features == 10 else x[:, 4:8]
        mean = x[:, :many].sum(axis=1) / 2 + rest.sum(axis=1)
        effect = np.maximum(x[:, :many], 0).sum(axis=1)
    noise = rng.normal(scale=0.1, size=n_rows)
    outcomes = np.stack([mean - effect / 2 + noise, mean + effect / 2 + noise], axis=1)
    better = outcomes.argmax(axis=1)
    is_best = rng.random(n_rows) < best
    return Trial(x, outcomes, np.where(is_best, better, 1 - better), np.where(is_best, best, 1 - best))


def bins(features: Any, edges: Sequence[Array] | None = None, n_bins: int = 10) -> tuple[Array, list[Array]]:
    """((n, columns) 0/1 columns `feature <= edge`, the edges): quantiles of the features, unless edges are given."""
    x = np.asarray(features, dtype=np.float64)
    if edges is None:
        shares = np.arange(1, n_bins) / n_bins
        edges = [np.unique(np.quantile(column, shares)) for column in x.T]
    columns = [x[:, [j]] <= cuts[None, :] for j, cuts in enumerate(edges)]
    return np.hstack(columns).astype(np.uint8), list(edges)
