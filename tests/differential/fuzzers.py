"""All fuzzers by name: each draws the problem of a seed and a number, solves it and says what is wrong.

To add one, add a line to FUZZERS. `python -m tests.differential.explore` runs them with fresh seeds; what it finds is
written to `cases/`, where `test_cases` tries it again in every run of the tests.
"""

from __future__ import annotations

import collections
import functools
import random
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import streed
from streed.errors import TaskError
from tests.differential import (
    applications,
    comparison,
    depth_two,
    fuzz_fronts,
    generated_cases,
    hostile,
    instances,
    ordered,
    rashomon,
    reduced,
    stop_routes,
    stops,
)
from tests.differential.test_generated import wrong_in
from tests.differential.volume import runner
from tests.differential.volume.problem import Problem
from tests.differential.volume.smaller import smaller
from tests.searches import CHOSEN, NATIVE, TOTAL_ONLY

Case = Mapping[str, Any]
"""A case as it is written down: "fuzzer" and what that needs to try it again, of JSON's types."""


class Fuzzer(NamedTuple):
    """How to try problems of one kind."""

    wrong: Callable[[int, int], list[str]]
    """What is wrong with the problem of (seed, number), in words; empty if nothing is."""
    describe: Callable[[int, int], Case] = lambda seed, number: {"seed": seed, "number": number}
    """What is written down of a problem that is answered wrongly: by default where it came from, best its data."""
    again: Callable[[Case], list[str]] | None = None
    """What is wrong with a case that was written down; needed with a `describe` of one's own."""

    def replay(self, case: Case) -> list[str]:
        """What is wrong with a case that was written down."""
        return self.wrong(case["seed"], case["number"]) if self.again is None else self.again(case)


def _one(seed: int, number: int) -> int:
    """A seed that belongs to both."""
    return random.Random(f"{seed}/{number}").getrandbits(48)


def _engine(seed: int, number: int) -> list[str]:
    options = {"search": CHOSEN[number % len(CHOSEN)], "threads": 2 if number % 4 == 3 else 1}
    return comparison.differences(instances.make_instance(seed, number), streed.solve, **options)


def _generated(seed: int, number: int) -> list[str]:
    kinds = list(generated_cases.KINDS)
    case = generated_cases.make_case(kinds[number % len(kinds)], f"{seed}/{number}", number % 5 > 0)
    return wrong_in(case, threads=2 if number % 4 == 3 else 1)


def _fronts(seed: int, number: int) -> list[str]:
    kinds = fuzz_fronts.KINDS
    return fuzz_fronts.judge(fuzz_fronts.make_posed(_one(seed, number), kinds[number % len(kinds)]))[1]


def _reduced(seed: int, number: int) -> list[str]:
    kinds = reduced.KINDS
    return reduced.judge(reduced.make_reduced(_one(seed, number), kinds[number % 4]), NATIVE[number % len(NATIVE)])[1]


def _applications(seed: int, number: int) -> list[str]:
    families = list(applications.FAMILIES)
    search, every = NATIVE[number // len(families) % len(NATIVE)], number // len(families) % 5 == 4
    try:
        return applications.differences(families[number % len(families)], seed, number, search, every=every)
    except TaskError as refused:
        if search in TOTAL_ONLY and "partial order" in str(refused):
            return []
        raise


def _depth_two(seed: int, number: int) -> list[str]:
    draw = np.random.default_rng([seed, number])
    n = int(draw.integers(8, 140))
    X = draw.integers(0, 2, (n, int(draw.integers(2, 6))))
    y = (X[:, 0] & X[:, 1]) ^ (draw.random(n) < 0.25)
    rows = depth_two.Rows(X, y.astype(np.int64), draw.integers(0, 2, n), int(draw.integers(1, 4)))
    notion = list(depth_two.KINDS)[number % len(depth_two.KINDS)]
    cells = rows.cells.sum(axis=0)
    if cells.min() == 0:
        return []
    limit = depth_two.LIMITS[number // 4 % len(depth_two.LIMITS)]
    return [*filter(None, depth_two.judge_limits(rows, notion, (limit,), depth_two.OBJECTIVES))]


def _stops(seed: int, number: int) -> list[str]:
    names = list(stop_routes.ROUTES)
    return stops.judge(stop_routes.make_posed(names[number % len(names)], _one(seed, number)))[1]


def _rashomon(seed: int, number: int) -> list[str]:
    kinds = list(rashomon.KINDS)
    return rashomon.differences(rashomon.make_posed(kinds[number % len(kinds)], f"{seed}/{number}"))


@functools.cache
def _bench() -> hostile.Bench:
    return hostile.Bench.build(Path(tempfile.mkdtemp()))


def _hostile(seed: int, number: int) -> list[str]:
    bench = _bench()
    faults = bench.table_faults if number % 3 == 2 else bench.tree_faults
    return [fault for fault, _ in faults(seed, number, collections.Counter())]


def _of_volume(family: str) -> Fuzzer:
    def wrong(seed: int, number: int) -> list[str]:
        return list(runner.outcome_of(runner.Drawn(family, seed, number)).verdict.wrong)

    def describe(seed: int, number: int) -> Case:
        return smaller(runner.Drawn(family, seed, number).problem()).to_plain()

    def again(case: Case) -> list[str]:
        plain = {name: value for name, value in case.items() if name != "fuzzer"}
        return list(runner.judged(Problem.from_plain(plain)).wrong)

    return Fuzzer(wrong, describe, again)


FUZZERS: dict[str, Fuzzer] = {
    "engine": Fuzzer(_engine),
    "generated": Fuzzer(_generated),
    "fronts": Fuzzer(_fronts),
    "reduced": Fuzzer(_reduced),
    "applications": Fuzzer(_applications),
    "depth two": Fuzzer(_depth_two),
    "stops": Fuzzer(_stops),
    "hostile": Fuzzer(_hostile),
    "ordered": Fuzzer(ordered.wrong_in),
    "rashomon": Fuzzer(_rashomon),
    **{f"volume {family}": _of_volume(family) for family in runner.FAMILIES},
}
