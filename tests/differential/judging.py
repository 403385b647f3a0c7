"""The command of a program that draws problems by number, and judges each."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable


def run(
    program: str,
    description: str | None,
    judge: Callable[[int, int], tuple[Counter[str], list[str]]],
    arguments: list[str] | None = None,
    count: int = 200,
) -> int:
    """1 if a problem was judged wrong, else 0; `judge` takes a seed and a number, and tells what it saw, and faults."""
    parser = argparse.ArgumentParser(
        prog=f"python -m tests.differential.{program}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--count", type=int, default=count, metavar="N", help="problems (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    options = parser.parse_args(arguments)
    seen: Counter[str] = Counter()
    faults = 0
    for number in range(options.count):
        tried, wrong = judge(options.seed, number)
        seen += tried
        faults += len(wrong)
        for line in wrong:
            print(line, flush=True)
    print("; ".join(f"{times} {what}" for what, times in sorted(seen.items())), f"{faults} wrong", sep="; ")
    return int(faults > 0)
