"""All fuzzers with a fresh seed, time shared alike among them: `python -m tests.differential.explore --minutes 10`.

A problem that is answered wrongly is printed and written to `cases/`, where `test_cases` tries it in every run of the
tests. The exit code is 1 if there was any.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import itertools
import secrets
import sys
import time
import traceback
from collections.abc import Mapping
from pathlib import Path

from tests.differential.fuzzers import FUZZERS, Case, Fuzzer
from tests.differential.volume.problem import to_text

CASES = Path(__file__).with_name("cases")

MOST_SAVED = 5
"""Of one fuzzer in one run."""


def main(arguments: list[str] | None = None, fuzzers: Mapping[str, Fuzzer] = FUZZERS) -> int:
    """1 if a problem was answered wrongly, else 0."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.differential.explore",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--minutes", type=float, default=10, metavar="N", help="(default: 10)")
    parser.add_argument("--seed", type=int, metavar="N", help="(default: a fresh one, which is printed)")
    parser.add_argument("--fuzzers", nargs="+", choices=fuzzers, default=list(fuzzers), help="(default: all)")
    parser.add_argument(
        "--cases", type=Path, default=CASES, metavar="FOLDER", help="(default: tests/differential/cases)"
    )
    options = parser.parse_args(arguments)
    seed = secrets.randbelow(2**32) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    spent = dict.fromkeys(options.fuzzers, 0.0)
    tried: collections.Counter[str] = collections.Counter()
    failed: collections.Counter[str] = collections.Counter()
    deadline = time.monotonic() + 60 * options.minutes
    for _ in itertools.count():
        began = time.monotonic()
        if began >= deadline:
            break
        name = min(spent, key=lambda each: spent[each])
        wrong = try_one(fuzzers[name], seed, tried[name])
        if wrong:
            failed[name] += 1
            print(f"{name}, seed {seed}, number {tried[name]}: " + "; ".join(wrong), flush=True)
            if failed[name] <= MOST_SAVED:
                print(f"saved as {save(options.cases, name, fuzzers[name].describe(seed, tried[name]))}", flush=True)
        tried[name] += 1
        spent[name] += time.monotonic() - began
    for name in options.fuzzers:
        print(f"{name:20} {tried[name]:8} tried {failed[name]:6} wrong {spent[name]:8.0f} s")
    return int(failed.total() > 0)


def try_one(fuzzer: Fuzzer, seed: int, number: int) -> list[str]:
    """What is wrong with one problem; an exception of any kind is."""
    try:
        return fuzzer.wrong(seed, number)
    except Exception:  # noqa: BLE001 - reported, with its traceback
        return [traceback.format_exc()]


def save(folder: Path, name: str, case: Case) -> Path:
    """Writes a case of a fuzzer to a file of its own."""
    text = to_text({"fuzzer": name, **case})
    path = folder / f"{name.replace(' ', '-')}-{hashlib.sha256(text.encode()).hexdigest()[:10]}.json"
    folder.mkdir(exist_ok=True)
    path.write_text(text + "\n", encoding="utf-8")
    return path


if __name__ == "__main__":
    sys.exit(main())
