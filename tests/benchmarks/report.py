"""The pages of tables, from the files that the benchmarks wrote with `--json`.

    python -m tests.benchmarks.report accuracy.json sparse.json ...

Each file becomes a page of `docs/explanation/measurements/`, named after the benchmark: accuracy.md, costs.md and so
on; accuracy for a restricted instruction set goes to accuracy-avx2.md and the like, the parts of anytime to
anytime-stops.md and so on. `--suffix depth-5` keeps a further run beside the first.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.benchmarks import (
    accuracy,
    anytime,
    binarised,
    costs,
    estimator_checks,
    f1,
    fairness,
    harness,
    held_out,
    known_optima,
    machines,
    peers,
    policies,
    proofs,
    rashomon,
    scale,
    sparse,
    sparse_scores,
    startup,
    stopping,
    threads,
    threshold_tasks,
    thresholds,
    user_tasks,
    versions,
)
from tests.differential import exports

NOTE = "Written by `tests.benchmarks.report`; what the numbers mean is told in [Performance](../performance.md)."

FOLDER = harness.ROOT / "docs" / "explanation" / "measurements"

PAGES: dict[str, tuple[str, Callable[[harness.Record], str]]] = {
    "accuracy": ("Misclassified rows, depth by depth", accuracy.render),
    "anytime": ("Anytime", anytime.render),
    "costs": ("Costs, policies, regression and survival", costs.render),
    "estimator-checks": ("scikit-learn's checks of the estimators", estimator_checks.render),
    "exports": ("Exported trees, run", exports.render),
    "f1": ("F1", f1.render),
    "fairness": ("Errors under a limit on unfairness", fairness.render),
    "held-out": ("Rows that were held out", held_out.render),
    "known-optima": ("Optima that others proved", known_optima.render),
    "machines": ("Many machines", machines.render),
    "peers": ("Other exact solvers beside ours", peers.render),
    "policies": ("Policies of many rows", policies.render),
    "proofs": ("Proofs beside their solves", proofs.render),
    "rashomon": ("Every near-optimal tree", rashomon.render),
    "scale": ("Many rows", scale.render),
    "sparse": ("Sparse trees of any depth", sparse.render),
    "sparse-scores": ("A price for every node, and no limit on the depth", sparse_scores.render),
    "startup": ("Starting", startup.render),
    "stopping": ("Stopping", stopping.render),
    "threads": ("Threads", threads.render),
    "thresholds": ("All thresholds of raw numbers", thresholds.render),
    "binarised": ("Binary columns that are thresholds of a few numbers", binarised.render),
    "threshold-tasks": ("All thresholds: other tasks, and many rows", threshold_tasks.render),
    "user-tasks": ("Tasks of users", user_tasks.render),
    "versions": ("Two versions", versions.render),
}
"""For each benchmark, its title and what makes its tables."""


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when the pages have been written; 2 if a file is not usable."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.report",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE.json")
    parser.add_argument("--folder", type=Path, default=FOLDER, help=f"(default: {FOLDER})")
    parser.add_argument("--suffix", help="put after each page's name")
    options = parser.parse_args(arguments)
    try:
        for path in options.files:
            record = json.loads(path.read_text(encoding="utf-8"))
            name = "-".join(filter(None, [name_of(record), options.suffix]))
            (options.folder / f"{name}.md").write_text(page(record), encoding="utf-8")
    except (OSError, ValueError, KeyError) as error:
        harness.fail(f"{type(error).__name__}: {error}")
    return harness.FINE


def name_of(record: harness.Record) -> str:
    """The name of a record's page."""
    name = str(record["benchmark"])
    if name not in PAGES:
        raise ValueError(f"{name!r} is no benchmark")
    if "what" in record:
        name = f"{name}-{record['what']}"
    return f"{name}-{record['machine']['instructions'].split()[0]}" if record["machine"]["restricted"] else name


def page(record: harness.Record) -> str:
    """The page: its title, the machine and the tables."""
    title, render = PAGES[record["benchmark"]]
    machine = harness.machine_line(record["machine"])
    return f"# {title}\n\n{NOTE}\n\n{machine}\n\n{render(record).rstrip()}\n"


if __name__ == "__main__":
    sys.exit(main())
