"""Many random cases of generated kernels: `python -m tests.differential.fuzz_generated --instances 2000 --seed 0`.

Prints the first cases that are solved wrongly. The exit code is 1 if there are any.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback

from tests.differential.generated_cases import KINDS, make_case
from tests.differential.test_generated import wrong_in


def main(arguments: list[str] | None = None) -> int:
    """1 if a case was solved wrongly, else 0."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential.fuzz_generated", description=__doc__)
    parser.add_argument("--instances", type=int, default=2_000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first instance")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", action="append", help="only this kind; may be repeated")
    parser.add_argument("--threads", type=int, default=1, help="threads of each solve")
    parser.add_argument("--search", default="depth-first")
    parser.add_argument("--plain", action="store_true", help="only the shapes of the suite, which compile less")
    parser.add_argument("--stop-after", type=int, default=5, help="mismatches after which to stop")
    options = parser.parse_args(arguments)
    kinds = options.kind or list(KINDS)
    began = time.perf_counter()
    mismatches = solved = 0
    for number in range(options.first, options.first + options.instances):
        case = make_case(kinds[number % len(kinds)], f"{options.seed}/{number}", options.plain)
        try:
            wrong = wrong_in(case, threads=options.threads, search=options.search)
        except Exception:  # noqa: BLE001 - reported as a mismatch, with its traceback
            wrong = [traceback.format_exc()]
        solved += 1
        if wrong:
            mismatches += 1
            print("\n".join([f"# instance {options.seed}/{number}", *wrong, str(case)]), end="\n\n")
            if mismatches == options.stop_after:
                break
    seconds = time.perf_counter() - began
    print(f"{solved} instances of {len(kinds)} kinds (seed {options.seed}) in {seconds:.0f} s: {mismatches} mismatches")
    return 1 if mismatches else 0


if __name__ == "__main__":
    sys.exit(main())
