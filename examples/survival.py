"""Optimal survival trees by depth: their loss, and on held-out rows concordance and integrated Brier score.

Run it with `python examples/survival.py`, on made-up patients, or with `--data FILE` of rows `time event column ...`,
separated by blanks. The two scores are scikit-survival's (`pip install "streed[examples]"`); without it, only the
losses are shown.
"""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

import streed
from streed.tasks import RelativeRisk
from streed.tasks.survival import nelson_aalen, survival_functions

PARTS = 5


def patients(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(columns, times, events) of made-up patients: three columns of eight set their risk, a third are censored."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n_rows, 8)) < 0.5).astype(int)
    risk = np.exp(1.2 * X[:, 0] + 0.8 * X[:, 1] * X[:, 2] - 0.6 * X[:, 3])
    died, left = rng.exponential(1 / risk), rng.exponential(1.5, n_rows)
    return X, np.ceil(365 * np.minimum(died, left)), (died <= left).astype(int)


def scores(train: tuple[Any, Any], test: tuple[Any, Any], risks: Any) -> tuple[float, float]:
    """(Harrell's concordance, integrated Brier score) of held-out rows whose relative risks are predicted.

    The Brier score is integrated from the 10th to the 80th percentile of the times of `test`, where censoring, which is
    estimated from `train`, leaves rows; of rows that outlive all of `train` it knows no censoring, and leaves them out.
    """
    from sksurv.metrics import concordance_index_censored, integrated_brier_score
    from sksurv.util import Surv

    times, events = test
    grid = np.unique(np.percentile(times, np.arange(10, 81, 5)))
    grid = grid[(grid > times.min()) & (grid < min(times.max(), train[0].max()))]
    survival = survival_functions(risks, nelson_aalen(*train), grid)
    within = times < train[0].max()
    known = Surv.from_arrays(train[1] > 0, train[0])
    asked = Surv.from_arrays(events[within] > 0, times[within])
    concordance = concordance_index_censored(events > 0, times, risks)[0]
    return float(concordance), float(integrated_brier_score(known, asked, survival[within], grid))


def main() -> None:
    """Prints a line per depth: the mean loss on the rows that the trees were grown on, and both scores, held out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--depths", type=int, nargs="+", default=[0, 1, 2, 3])
    options = parser.parse_args()
    if options.data is None:
        X, times, events = patients(400, 1)
    else:
        values = np.loadtxt(options.data)
        X, times, events = values[:, 2:].astype(int), values[:, 0], values[:, 1].astype(int)
    part_of = np.random.default_rng(0).permutation(len(X)) % PARTS
    has_scores = importlib.util.find_spec("sksurv") is not None
    print("depth   loss" + ("   concordance   Brier" if has_scores else "   (install scikit-survival for more)"))
    for depth in options.depths:
        losses, found = [], []
        for part in range(PARTS):
            grown, held = part_of != part, part_of == part
            result = streed.solve(RelativeRisk(), X[grown], times[grown], event=events[grown], max_depth=depth)
            assert result.tree is not None
            losses.append(result.value)
            if has_scores:
                train, test = (times[grown], events[grown]), (times[held], events[held])
                found.append(scores(train, test, result.tree.predict(X[held])))
        line = f"{depth:5} {np.mean(losses):6.3f}"
        if has_scores:
            concordance, brier = np.mean(found, axis=0)
            line += f" {concordance:13.3f} {brier:7.3f}"
        print(line)


if __name__ == "__main__":
    main()
