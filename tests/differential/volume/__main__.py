"""Random problems of every family, judged by the reference, and a line of a table for each family.

    python -m tests.differential.volume --minutes 10                         # all families in turn, from a fresh seed
    python -m tests.differential.volume --family scores --count 20000 --seed 0 --jobs 2

Prints every mismatch, of a call of `streed.solve` as small as it could be made, which `--save` writes to `cases/`,
where the tests try it again. The exit code is 1 if there was any.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import secrets
import sys
import time
from collections import Counter
from pathlib import Path

from tests.differential.volume.judge import OTHERS, Drawn, Verdict, judge_drawn, smaller
from tests.differential.volume.kinds import KINDS
from tests.differential.volume.problem import to_text

CASES = Path(__file__).with_name("cases")

_SHOWN = 5
"""Mismatches of a family that are printed in full."""


def main(arguments: list[str] | None = None) -> int:
    """1 if a problem was answered wrongly, else 0."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.differential.volume",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    every = [*KINDS, *OTHERS]
    parser.add_argument("--family", nargs="+", choices=every, default=every, help="(default: all)")
    parser.add_argument("--count", type=int, default=1000, metavar="N", help="of each family (default: 1000)")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="the number of the first (default: 0)")
    parser.add_argument("--minutes", type=float, metavar="N", help="instead of a count")
    parser.add_argument("--seed", type=int, metavar="N", help="(default: a fresh one, which is printed)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (default: 1, this one)")
    parser.add_argument("--save", type=Path, nargs="?", const=CASES, metavar="FOLDER", help="write mismatches there")
    options = parser.parse_args(arguments)
    seed = secrets.randbelow(2**32) if options.seed is None else options.seed
    print(f"seed {seed}\n{'family':12} {'problems':>8} {'wrong':>6} {'seconds':>8}  what came of them", flush=True)
    wrong = 0
    for family in options.family:
        seconds = 60 * options.minutes / len(options.family) if options.minutes else None
        numbers = range(options.first, options.first + (options.count if seconds is None else 10**9))
        wrong += _run(family, seed, numbers, seconds, options)
    return int(wrong > 0)


def _run(family: str, seed: int, numbers: range, most: float | None, options: argparse.Namespace) -> int:
    """How many problems of a family were answered wrongly; prints its line."""
    began = time.perf_counter()
    seen: Counter[str] = Counter()
    wrong: list[tuple[Drawn, Verdict]] = []
    drawn = (Drawn(family, seed, number) for number in numbers)
    pool = None if options.jobs == 1 else multiprocessing.get_context("spawn").Pool(options.jobs)
    for each, verdict in (
        map(judge_drawn, drawn) if pool is None else pool.imap_unordered(judge_drawn, drawn, chunksize=20)
    ):
        seen[verdict.outcome] += 1
        if verdict.wrong:
            wrong.append((each, verdict))
        if most is not None and time.perf_counter() - began > most:
            break
    if pool is not None:
        pool.terminate()
    for each, verdict in sorted(wrong)[:_SHOWN]:
        print(f"# {each}: {'; '.join(verdict.wrong)}", flush=True)
        if family in KINDS:
            text = to_text(smaller(each.problem()).to_plain())
            print(text)
            if options.save is not None:
                options.save.mkdir(exist_ok=True)
                name = f"{family}-{hashlib.sha256(text.encode()).hexdigest()[:10]}.json"
                (options.save / name).write_text(text + "\n", encoding="utf-8")
    counted = ", ".join(f"{name} {count}" for name, count in seen.most_common())
    seconds = time.perf_counter() - began
    print(f"{family:12} {seen.total():8} {len(wrong):6} {seconds:8.0f}  {counted}", flush=True)
    return len(wrong)


if __name__ == "__main__":
    sys.exit(main())
