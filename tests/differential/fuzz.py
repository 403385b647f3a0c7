"""Many random instances, engine against reference: `python -m tests.differential.fuzz --instances 20000 --seed 0`.

Prints how many instances had which feature, and the first mismatches as programs that reproduce them. The exit code is
1 if there was a mismatch.
"""

from __future__ import annotations

import argparse
import collections
import multiprocessing
import sys
import time
import traceback
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest import mock

import attrs

import streed
from streed.bnb import workspace
from tests.differential.comparison import Solver, differences
from tests.differential.instances import make_instance

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHOWN = 3


class Outcome(NamedTuple):
    """What came of one instance."""

    number: int
    features: frozenset[str]
    wrong: list[str]


@attrs.frozen
class Run:
    """A sequence of instances and the options under which the engine solves them."""

    seed: int
    options: dict[str, Any]
    solve: Solver

    def outcome(self, number: int) -> Outcome:
        """The outcome of instance `number`; an exception of any kind is a mismatch."""
        instance = make_instance(self.seed, number)
        # searches so small look for similar nodes only if they are told to
        similar_from = 1 if number % 2 else workspace.SIMILAR_FROM
        try:
            with mock.patch.object(workspace, "SIMILAR_FROM", similar_from):
                wrong = differences(instance, self.solve, **self.options)
        except Exception:  # noqa: BLE001 - reported as a mismatch, with its traceback
            wrong = [traceback.format_exc()]
        return Outcome(number, instance.features, wrong)

    def outcomes(self, numbers: range, jobs: int, patience: float) -> Iterator[Outcome]:
        """The outcomes of all the instances, in order; with no jobs in this process, where nothing ends a hang.

        A solve that gives no answer within `patience` seconds, because it hangs or its process died, is a mismatch.
        """
        if jobs == 0:
            yield from map(self.outcome, numbers)
            return
        rest = numbers
        while rest:
            with multiprocessing.get_context("spawn").Pool(jobs) as pool:
                outcomes = pool.imap(self.outcome, rest)
                for number in rest:
                    rest = rest[1:]
                    try:
                        yield outcomes.next(timeout=patience)
                    except multiprocessing.TimeoutError:
                        yield Outcome(number, make_instance(self.seed, number).features, [f"no answer in {patience} s"])
                        break


def main(arguments: list[str] | None = None, solve: Solver | None = None) -> int:
    """1 if an instance was solved wrongly, else 0; `solve` stands in for `streed.solve`."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential.fuzz", description=__doc__)
    parser.add_argument("--instances", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first instance")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes; 0 to stay in this one")
    parser.add_argument("--patience", type=float, default=120, help="seconds for an answer, compilation included")
    parser.add_argument("--stop-after", type=int, default=10, help="mismatches after which to stop")
    parser.add_argument("--search", default="depth-first")
    parser.add_argument("--threads", type=int, default=1, help="threads of each solve")
    options = parser.parse_args(arguments)
    run = Run(options.seed, {"search": options.search, "threads": options.threads}, solve or streed.solve)
    numbers = range(options.first, options.first + options.instances)

    began = time.perf_counter()
    covered: collections.Counter[str] = collections.Counter()
    mismatches = []
    solved = 0
    for outcome in run.outcomes(numbers, options.jobs, options.patience):
        solved += 1
        covered.update(outcome.features)
        if outcome.wrong:
            mismatches.append(outcome)
            if len(mismatches) == options.stop_after:
                break
    seconds = time.perf_counter() - began

    for mismatch in mismatches[:_SHOWN]:
        print("\n".join(f"# {line}" for reason in mismatch.wrong for line in reason.splitlines()))
        print(make_instance(run.seed, mismatch.number).snippet(**run.options), end="\n\n")
    for mismatch in mismatches[_SHOWN:]:
        print(f"instance {run.seed}/{mismatch.number}: {mismatch.wrong[0].splitlines()[-1]}")
    print("covered: " + ", ".join(f"{feature} {count}" for feature, count in sorted(covered.items())))
    print(
        f"{solved} instances (seed {run.seed}, from {options.first}) by {options.search}, "
        f"threads={options.threads}, in {seconds:.0f} s: {len(mismatches)} mismatches"
    )
    return 1 if mismatches else 0


if __name__ == "__main__":
    sys.exit(main())
