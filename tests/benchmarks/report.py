"""The tables of a page, from the files that the benchmarks wrote with `--json`.

    python -m tests.benchmarks.report accuracy.json sparse.json ...

Each file's table goes between the markers `<!-- NAME -->` and `<!-- /NAME -->` of the page, NAME being the benchmark:
accuracy, anytime, costs, f1, fairness, sparse, sparse-scores, known-optima, startup, stopping; a table of accuracy for
a restricted instruction set goes to accuracy-avx2 and the like, the parts of anytime to anytime-stops and so on.
Everything else on the page stays as it is.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.benchmarks import (
    accuracy,
    anytime,
    costs,
    f1,
    fairness,
    harness,
    known_optima,
    sparse,
    sparse_scores,
    startup,
    stopping,
    user_tasks,
)

PAGE = harness.ROOT / "docs" / "explanation" / "performance.md"

RENDERERS: dict[str, Callable[[harness.Record], str]] = {
    "accuracy": accuracy.render,
    "anytime": anytime.render,
    "costs": costs.render,
    "f1": f1.render,
    "fairness": fairness.render,
    "known-optima": known_optima.render,
    "sparse": sparse.render,
    "sparse-scores": sparse_scores.render,
    "startup": startup.render,
    "stopping": stopping.render,
    "user-tasks": user_tasks.render,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when the page has been written; 2 if a file or the page is not usable."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.report",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE.json")
    parser.add_argument("--page", type=Path, default=PAGE, help=f"(default: {PAGE})")
    options = parser.parse_args(arguments)
    try:
        text = options.page.read_text(encoding="utf-8")
        for path in options.files:
            record = json.loads(path.read_text(encoding="utf-8"))
            text = fill(text, marker_of(record), section(record))
    except (OSError, ValueError, KeyError) as error:
        harness.fail(f"{type(error).__name__}: {error}")
    options.page.write_text(text, encoding="utf-8")
    return harness.FINE


def marker_of(record: harness.Record) -> str:
    """The name of the markers between which a record's table goes."""
    name = str(record["benchmark"])
    if name not in RENDERERS:
        raise ValueError(f"{name!r} is no benchmark")
    if "what" in record:
        name = f"{name}-{record['what']}"
    return f"{name}-{record['machine']['instructions'].split()[0]}" if record["machine"]["restricted"] else name


def section(record: harness.Record) -> str:
    """What stands between the markers: the machine and the tables."""
    return f"{harness.machine_line(record['machine'])}\n\n{RENDERERS[record['benchmark']](record)}"


def fill(text: str, marker: str, content: str) -> str:
    """The page with `content` between the markers; raises ValueError unless it has them, once, in this order."""
    pattern = re.compile(rf"(<!-- {re.escape(marker)} -->\n).*?(<!-- /{re.escape(marker)} -->)", re.DOTALL)
    filled, count = pattern.subn(lambda found: f"{found[1]}\n{content}\n\n{found[2]}", text)
    if count != 1:
        raise ValueError(f"the page has {count} places between <!-- {marker} --> and <!-- /{marker} -->, not one")
    return filled


if __name__ == "__main__":
    sys.exit(main())
