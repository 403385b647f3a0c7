"""Many random problems of a family, judged apart from the engine, and a line of a table for each family.

    python -m tests.differential.volume --family scores --count 20000 --seed 0 --jobs 1

Prints every mismatch with the problem as JSON, as small as it could be made. The exit code is 1 if there was any.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.differential.explore import save
from tests.differential.volume.problem import to_text
from tests.differential.volume.runner import FAMILIES, Drawn, Outcome, outcome_of
from tests.differential.volume.smaller import smaller

_HEAD = f"{'family':12} {'instances':>9} {'mismatches':>10} {'seconds':>8}  what came of them"


def main(arguments: list[str] | None = None) -> int:
    """1 if a problem was answered wrongly, else 0."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.differential.volume",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--family", nargs="+", choices=FAMILIES, default=list(FAMILIES), help="(default: all)")
    parser.add_argument("--count", type=int, default=1000, metavar="N", help="of each family (default: 1000)")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="the number of the first (default: 0)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="(default: 0)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (default: 1, this one)")
    parser.add_argument("--shown", type=int, default=5, metavar="N", help="mismatches printed in full (default: 5)")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="write those mismatches there as cases")
    options = parser.parse_args(arguments)
    tasks = [
        Drawn(family, options.seed, number)
        for family in options.family
        for number in range(options.first, options.first + options.count)
    ]
    wrong = 0
    print(_HEAD, flush=True)
    for family in options.family:
        chosen = [task for task in tasks if task.family == family]
        wrong += _run(family, chosen, options)
    return int(wrong > 0)


def _run(family: str, tasks: list[Drawn], options: argparse.Namespace) -> int:
    """How many problems of a family were answered wrongly; prints its line."""
    began = time.perf_counter()
    seen: Counter[str] = Counter()
    wrong: list[Outcome] = []
    outcomes: Iterator[Outcome]
    if options.jobs == 1:
        outcomes = map(outcome_of, tasks)
    else:
        pool = multiprocessing.get_context("spawn").Pool(options.jobs)
        outcomes = pool.imap_unordered(outcome_of, tasks, chunksize=50)
    for outcome in outcomes:
        seen[outcome.verdict.outcome] += 1
        if outcome.verdict.wrong:
            wrong.append(outcome)
    seconds = time.perf_counter() - began
    for outcome in sorted(wrong, key=lambda each: each.drawn.number)[: options.shown]:
        problem = smaller(outcome.problem())
        print(f"# {outcome.drawn}: {'; '.join(outcome.verdict.wrong)}\n{to_text(problem.to_plain())}\n", flush=True)
        if options.save is not None:
            print(f"# saved as {save(options.save, f'volume {family}', problem.to_plain())}")
    counted = ", ".join(f"{name} {count}" for name, count in seen.most_common())
    print(f"{family:12} {len(tasks):9} {len(wrong):10} {seconds:8.0f}  {counted}", flush=True)
    return len(wrong)


if __name__ == "__main__":
    sys.exit(main())
