"""Admissions at Berkeley, 1973: what does it cost to admit men and women at ever more alike rates?

Data: Bickel, Hammel and O'Connell (1975), which ship with streed.
"""

from __future__ import annotations

import streed
from examples.gallery.case import Options, read_options
from streed import plot
from streed.datasets import load
from streed.tasks import Accuracy, DemographicParity

LIMITS = (1, 0.4, 0.3, 0.2, 0.1, 0.05, 0.01)


def run(options: Options) -> list[streed.Result]:
    """The optimal trees on gender and department under ever tighter limits, the loosest first."""
    table = load("berkeley").table
    features = {name: table[name] for name in ("gender", "department")}
    data = streed.Dataset.make(features, table["admitted"], sensitive_features=table["gender"])
    results = []
    for limit in LIMITS:
        result = streed.solve(Accuracy().subject_to(DemographicParity() <= limit), data, max_depth=2)
        assert result.status == "optimal"
        results.append(result)
        print(f"gap at most {limit:4}: {result.value} of {data.n_rows} rows wrong, proved")
    options.save("admissions-tree.svg", plot.tree_svg(results[3], data, title="Gap in admission rates at most 0.2"))
    found = plot.front_of(results, DemographicParity(), "error rate", X=data)
    options.save("admissions-front.svg", plot.front_svg(found))
    options.save("admissions-rates.svg", plot.rates_svg(plot.rates_of(results[3], data)))
    return results


if __name__ == "__main__":
    run(read_options(__doc__))
