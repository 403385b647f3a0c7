"""Tests that cost money: which questions are worth asking, and what a prediction costs.

Run it with `python examples/cost_sensitive.py`. With a folder of Lomax's data (`--data FOLDER`, holding for each NAME
`NAME-train-1.csv`, `NAME-test-1.csv` and `NAME-LEVEL-costs.csv`) it also shows the rows of STreeD's cost table (Table
3) that are there.
"""

from __future__ import annotations

import argparse
from fractions import Fraction
from pathlib import Path

import numpy as np

import streed
from streed.tasks import CostSensitive
from streed.tasks.cost_tables import CostTable, TestCost
from streed.tasks.expected_costs import cost_report, costs_by_frequency

TESTS = (
    TestCost("history", 1, columns=[0, 1]),
    TestCost("blood count", 12, 4, "blood", columns=2),
    TestCost("liver panel", 20, 12, "blood", columns=[3, 4]),
    TestCost("scan", 90, columns=5),
)


def patients(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Answers to six questions about made-up patients, and whether they are ill."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n_rows, 6)) < (0.5, 0.3, 0.4, 0.3, 0.5, 0.4)).astype(int)
    ill = (X[:, 2] & (X[:, 3] | X[:, 0])) | (X[:, 5] & X[:, 1])
    X[:, 5] ^= rng.random(n_rows) < 0.02
    return X, np.where(rng.random(n_rows) < 0.05, 1 - ill, ill)


def main() -> None:
    """Prints what is asked, and what it costs, as errors grow dear."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    options = parser.parse_args()
    X, y = patients(400, 1)
    fresh, truth = patients(400, 2)
    print("an error costs   training   held out   normalised   tests per patient")
    for name, level in (("1/6 of all tests", Fraction(1, 6)), ("1/3", Fraction(1, 3)), ("as much", Fraction(1))):
        table = costs_by_frequency(y, TESTS, level)
        result = streed.solve(CostSensitive(table), X, y, max_depth=4)
        assert result.tree is not None
        held_out = cost_report(result.tree, table, fresh, truth)
        print(
            f"{name:16} {result.value / len(y):8.2f} {held_out.expected:10.2f} {held_out.normalized:12.1%} "
            f"{held_out.average_tests:19.2f}"
        )
    if options.data is not None:
        literature(options.data)


PAPER = {
    "car": (9.8, 14.0, 20.5),
    "glass": (10.9, 13.8, 18.5),
    "heart": (4.0, 7.2, 16.7),
    "nursery": (0.1, 0.1, 0.1),
}
"""STreeD, Table 3: normalised costs on held-out rows in percent, of low, middle and high misclassification costs."""


def literature(folder: Path) -> None:
    """Normalised costs on held-out rows beside those of the paper, whose figures are means of many divisions.

    As there, the size of trees is tuned: here the depth, by the costs of five parts of the training rows in turns.
    """
    print("data, costs       depth   tests per row   normalised    paper")
    for path in sorted(folder.rglob("*-costs.csv")):
        name, level, _ = path.name.rsplit("-", 2)
        table = CostTable.read(path)
        train, test = (np.loadtxt(path.with_name(f"{name}-{part}-1.csv"), dtype=int) for part in ("train", "test"))
        depth = min(range(5), key=lambda depth: held_out_cost(table, train, depth))
        result = streed.solve(CostSensitive(table), train[:, 1:], train[:, 0], max_depth=depth)
        assert result.tree is not None
        report = cost_report(result.tree, table, test[:, 1:], test[:, 0])
        known = PAPER.get(name)
        paper = "" if known is None else f"{known[('low', 'middle', 'high').index(level)]:.1f}%"
        label = f"{name}, {level}"
        print(f"{label:16} {depth:6} {report.average_tests:15.2f} {report.normalized:12.1%} {paper:>8}")


def held_out_cost(table: CostTable, rows: np.ndarray, depth: int, parts: int = 5) -> float:
    """What trees of the depth, grown on all parts but one, cost on that one, all together."""
    part_of = np.random.default_rng(0).permutation(len(rows)) % parts
    total = 0.0
    for part in range(parts):
        grown, held = rows[part_of != part], rows[part_of == part]
        tree = streed.solve(CostSensitive(table), grown[:, 1:], grown[:, 0], max_depth=depth).tree
        assert tree is not None
        total += cost_report(tree, table, held[:, 1:], held[:, 0]).total
    return total


if __name__ == "__main__":
    main()
