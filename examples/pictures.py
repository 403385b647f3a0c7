"""The pictures of README and of the documentation: `python -m examples.pictures docs/pictures`."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

import streed
from streed import plot
from streed.datasets import load
from streed.tasks import Accuracy, DemographicParity

LIMITS = (1, 0.4, 0.3, 0.2, 0.1, 0.05, 0.01)


def main(folder: Path) -> None:
    """Draws a tree of yes/no questions, one with a child per category, a front, and the rates of groups."""
    boards = load("tic-tac-toe").dataset()
    result = streed.solve(Accuracy(), boards, max_depth=3)
    save(folder / "tree.svg", plot.tree_svg(result, boards, title="Tic-tac-toe: has x won? 216 errors, optimal"))
    table = load("berkeley").table
    features = {name: table[name] for name in ("gender", "department")}
    data = streed.Dataset.make(features, table["admitted"], sensitive_features=table["gender"])
    tasks = [Accuracy().subject_to(DemographicParity() <= limit) for limit in LIMITS]
    results = [streed.solve(task, data, max_depth=2) for task in tasks]
    save(
        folder / "multiway.svg", plot.tree_svg(results[0], data, title="Admissions at Berkeley, 1973", show_cost=False)
    )
    for name in ("front", "rates"):
        figure = Figure(figsize=(5.6, 3.8), layout="constrained")
        ax = figure.subplots()
        if name == "front":
            plot.front(results, DemographicParity(), "error rate", X=data, chosen=results[3].tree, ax=ax)
        else:
            plot.rates(results[0], data, ax=ax)
        with mpl.rc_context({"svg.hashsalt": "streed", "svg.fonttype": "none"}):
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None})


def save(path: Path, svg: str) -> None:
    """Writes a picture."""
    path.write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
