"""Rare events: the tree of best F1 for 277 patients in 3,247 whose thyroid is ill, and what accuracy makes of them.

Data: R. Quinlan, Thyroid Disease, UCI Machine Learning Repository, CC BY 4.0; `classification/hypothyroid.csv` of the
benchmarks. Elsewhere: scales that balance, 49 in 625, which ship with streed (Siegler, 1976).
"""

from __future__ import annotations

import streed
from examples.gallery.case import Absent, Options, read_numbers, read_options
from streed import plot
from streed.datasets import load
from streed.plot.measures import Rows, measure
from streed.tasks import F1, Accuracy


def read(options: Options) -> streed.Dataset:
    """Rows whose second label in sorted order is the rare one."""
    try:
        rows = read_numbers(options.find("classification/hypothyroid.csv")).astype(int)
    except Absent:
        scales = load("balance-scale")
        balanced = ["yes" if label == "B" else "no" for label in scales.table["class"]]
        return streed.Dataset.make(scales.dataset().X, balanced, names=scales.dataset().names)
    return streed.Dataset.make(rows[:, 1:], ["healthy" if common else "ill" for common in rows[:, 0]])


def run(options: Options) -> list[streed.Result]:
    """The trees of best accuracy and of best F1, of depth 3."""
    data = read(options)
    rows = Rows.make(data)
    results = []
    for task in (Accuracy(), F1()):
        result = streed.solve(task, data, max_depth=3)
        assert result.tree is not None
        missed, alarms = (measure([result.tree], what, rows)[0] for what in ("false negatives", "false positives"))
        print(f"{type(task).__name__:8} {float(result.value):10.4f}: {missed:.0f} missed, {alarms:.0f} false alarms")
        results.append(result)
    options.save("rare-tree.svg", plot.tree_svg(results[1], data, title="The best F1 of depth 3"))
    return results


if __name__ == "__main__":
    run(read_options(__doc__))
