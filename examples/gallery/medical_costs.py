"""Medical costs: which tests to make for heart disease, when tests cost money and a miss costs more.

Data: A. Janosi and others, Heart Disease, UCI Machine Learning Repository, CC BY 4.0; costs of tests by P. Turney,
of misses by S. Lomax (2013); `cost-sensitive/heart` of the benchmarks. Elsewhere: biopsies of breast tumours (W.
Wolberg and others, 1995), which ship with scikit-learn, where a missed tumour costs ten false alarms.
"""

from __future__ import annotations

import attrs
import numpy as np

import streed
from examples.gallery.case import Absent, Options, read_numbers, read_options
from streed import plot
from streed.tasks import CostSensitive
from streed.tasks.cost_tables import CostTable


def run(options: Options) -> list[streed.Result]:
    """The optimal trees for low, middle and high costs of a miss; for one matrix where there are no prices of tests."""
    try:
        home = options.find("cost-sensitive/heart")
    except Absent:
        return [tumours(options)]
    rows = read_numbers(home / "heart-train-1.csv").astype(int)
    test = read_numbers(home / "heart-test-1.csv").astype(int)
    results = []
    for costs in ("low", "middle", "high"):
        table = attrs.evolve(CostTable.read(home / f"heart-{costs}-costs.csv"), classes=("healthy", "ill"))
        names = named(table, rows.shape[1] - 1)
        data = streed.Dataset.make(rows[:, 1:], [("healthy", "ill")[k] for k in rows[:, 0]], names=names)
        result = streed.solve(CostSensitive(table), data, max_depth=3)
        assert result.tree is not None
        found = np.array(result.tree.predict(test[:, 1:])) == np.array(("healthy", "ill"))[test[:, 0]]
        print(
            f"{costs:6} costs: {result.value} in all, {result.tree.n_branches} questions, {found.mean():.1%} held out"
        )
        results.append(result)
    options.save("medical-tree.svg", plot.tree_svg(results[1], data, title="Heart disease, middle costs"))
    return results


def named(table: CostTable, width: int) -> list[str]:
    """The columns' names: those of the tests that they are made of."""
    names = [f"column {j}" for j in range(width)]
    for test in table.tests:
        columns = [j for j in test.columns or () if isinstance(j, int)]
        for number, j in enumerate(columns):
            names[j] = test.name if len(columns) == 1 else f"{test.name} ({number + 1})"
    return names


def tumours(options: Options) -> streed.Result:
    """The optimal tree for biopsies, by thresholds of ten measurements."""
    try:
        from sklearn.datasets import load_breast_cancer
    except ImportError:
        raise Absent("scikit-learn, which brings the biopsies, is not installed") from None
    found = load_breast_cancer()
    columns = {}
    for j, name in enumerate(found.feature_names[:10]):
        for cut in np.quantile(found.data[:, j], (0.25, 0.5, 0.75)):
            columns[f"{name} > {cut:.4g}"] = (found.data[:, j] > cut).astype(int)
    labels = [("malignant", "benign")[k] for k in found.target]
    # Rows are the truth: benign, malignant; columns what is said.
    result = streed.solve(CostSensitive([[0, 1], [10, 0]]), columns, labels, max_depth=3)
    assert result.tree is not None
    print(f"biopsies: cost {result.value}, {result.tree.n_branches} questions, {result.status}")
    options.save("medical-tree.svg", plot.tree_svg(result, columns, labels, title="A miss costs ten false alarms"))
    return result


if __name__ == "__main__":
    run(read_options(__doc__))
