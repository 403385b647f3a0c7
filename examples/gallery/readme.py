"""The pictures of README and of the documentation: `python -m examples.gallery.readme --out docs/pictures`."""

from __future__ import annotations

import streed
from examples.gallery.case import Options, read_options
from streed import plot
from streed.datasets import load
from streed.tasks import Accuracy, DemographicParity

LIMITS = (1, 0.4, 0.3, 0.2, 0.1, 0.05, 0.01)


def run(options: Options) -> None:
    """Draws a tree of yes/no questions, one with a child per category, a front, and the rates of groups."""
    boards = load("tic-tac-toe").dataset()
    result = streed.solve(Accuracy(), boards, max_depth=3)
    options.save("tree.svg", plot.tree_svg(result, boards, title="Tic-tac-toe: has x won? 216 errors, proved optimal"))
    table = load("berkeley").table
    features = {name: table[name] for name in ("gender", "department")}
    data = streed.Dataset.make(features, table["admitted"], sensitive_features=table["gender"])
    tasks = [Accuracy().subject_to(DemographicParity() <= limit) for limit in LIMITS]
    results = [streed.solve(task, data, max_depth=2) for task in tasks]
    free = results[0]
    options.save("multiway.svg", plot.tree_svg(free, data, title="Admissions at Berkeley, 1973", show_cost=False))
    front = plot.front_of(results, DemographicParity(), "error rate", X=data, chosen=results[3].tree)
    options.save("front.svg", plot.front_svg(front))
    options.save("rates.svg", plot.rates_svg(plot.rates_of(free, data)))


if __name__ == "__main__":
    run(read_options(__doc__))
