"""One problem drawn, solved and judged; the families that there are."""

from __future__ import annotations

import importlib
import random
import traceback
import zlib
from types import ModuleType
from typing import NamedTuple

import attrs
import numpy as np

from streed.errors import InputError, StreedError
from tests.differential.volume.draws import draw_scaling
from tests.differential.volume.problem import Problem
from tests.differential.volume.truth import Verdict, compare

FAMILIES = {
    "costs": "row_costs",
    "scores": "scores",
    "fairness": "fairness",
    "discounts": "discounts",
    "regression": "regression",
    "policies": "policies",
    "user-tasks": "user_tasks",
}
"""By name, the module of each: NAMES for task sources, draw_problem(draw, rng), judge(problem), and refused(problem,
error), which tells whether an error is the right answer."""

OTHERS = ("thresholds", "fronts", "near_optimal", "stops", "proofs", "claims", "exports", "hostile")
"""Modules with `wrong(seed, number)`: what is wrong, in words, with what they draw by these numbers."""


def family_of(name: str) -> ModuleType:
    """The module of a family."""
    return importlib.import_module(f"tests.differential.volume.families.{FAMILIES.get(name, name)}")


class Drawn(NamedTuple):
    """Which problem to draw."""

    family: str
    seed: int
    number: int

    def problem(self) -> Problem:
        """The problem that these belong to, always the same one; of FAMILIES only."""
        name = f"{self.family}/{self.seed}/{self.number}"
        rng = np.random.default_rng([self.seed, self.number, zlib.crc32(self.family.encode())])
        problem = family_of(self.family).draw_problem(random.Random(name), rng)
        assert isinstance(problem, Problem)
        return attrs.evolve(problem, scaling=draw_scaling(random.Random(f"{name}/scaling"), problem))


def judged(problem: Problem) -> Verdict:
    """The verdict on what `streed.solve` answers; an exception that is not the right answer is wrong."""
    family = family_of(problem.family)
    try:
        result = problem.solve(family.NAMES)
    except StreedError as error:
        kind = f"{type(error).__name__}({error.argument})" if isinstance(error, InputError) else type(error).__name__
        right = family.refused(problem, error)
        return Verdict(f"refused: {kind}", () if right else (f"solve raises {type(error).__name__}: {error}",))
    except Exception as error:  # noqa: BLE001 - reported as a mismatch, with its traceback
        return Verdict(f"raised: {type(error).__name__}", (traceback.format_exc(),))
    try:
        return compare(problem, family.judge(problem), result)
    except Exception:  # noqa: BLE001 - one judge at fault ends no run
        return Verdict("not judged", (traceback.format_exc(),))


def verdict_on(drawn: Drawn) -> Verdict:
    """Draws, solves and judges."""
    if drawn.family in FAMILIES:
        return judged(drawn.problem())
    try:
        wrong = family_of(drawn.family).wrong(drawn.seed, drawn.number)
    except Exception:  # noqa: BLE001 - reported, with its traceback
        wrong = [traceback.format_exc()]
    return Verdict("wrong" if wrong else "right", tuple(wrong))


def judge(drawn: Drawn) -> tuple[Drawn, Verdict]:
    """The same beside what was drawn; here, and not in the command, so that other processes find it."""
    return drawn, verdict_on(drawn)
