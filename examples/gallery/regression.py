"""Regression: how far diabetes has gone after a year, for 442 patients.

Data: B. Efron, T. Hastie, I. Johnstone, R. Tibshirani: Least angle regression, Annals of Statistics 32 (2004), which
ship with scikit-learn.
"""

from __future__ import annotations

import numpy as np

import streed
from examples.gallery.case import Absent, Options, read_options
from streed import plot
from streed.tasks import SquaredError


def run(options: Options) -> list[streed.Result]:
    """The trees of least squared error with 1 to 7 branching nodes."""
    try:
        from sklearn.datasets import load_diabetes
    except ImportError:
        raise Absent("scikit-learn, which brings the data, is not installed") from None
    found = load_diabetes(scaled=False)
    columns = {}
    for j, name in enumerate(found.feature_names):
        cuts = np.unique(np.quantile(found.data[:, j], (0.2, 0.4, 0.6, 0.8), method="nearest"))
        for cut in cuts[cuts < found.data[:, j].max()]:
            columns[f"{name} <= {cut:.4g}"] = (found.data[:, j] <= cut).astype(int)
    results = []
    for nodes in range(1, 8):
        result = streed.solve(SquaredError(), columns, found.target, max_depth=3, max_nodes=nodes)
        assert result.tree is not None
        spread = float(((found.target - found.target.mean()) ** 2).sum())
        print(f"{nodes} nodes: R² {1 - result.value / spread:.4f}, {result.status}")
        results.append(result)
    title = "Progression of diabetes after a year"
    options.save("regression-tree.svg", plot.tree_svg(results[4], columns, found.target, title=title))
    errors = {result.tree: float(result.value) for result in results}

    def squared_error(tree: streed.Tree) -> float:
        return errors[tree]

    options.save("regression-front.svg", plot.front_svg(plot.front_of(results, "nodes", squared_error)))
    return results


if __name__ == "__main__":
    run(read_options(__doc__))
