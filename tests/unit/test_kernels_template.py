"""The text of generated kernels for every combination of traits that a task may have: Python, nothing undefined."""

from __future__ import annotations

import ast
import builtins
import functools
import itertools
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from streed.kernels import coding, coding_kernels
from streed.kernels.codegen.compiling import _NAMES
from streed.kernels.codegen.render import render
from streed.kernels.codegen.spec import ROWS, KernelSpec, TermSpec
from streed.kernels.codegen.template import SCORE

OPERATORS = [(), ("combine",), ("combine", "subtract"), ("combine", "feasible"), ("combine", "feasible", "subtract")]
MEMBERS = [(*bound, *operators) for bound in ((), ("lower_bound",)) for operators in OPERATORS]
"""The optional methods: whoever limits values or takes them apart says how they are put together, too."""

PLAIN = TermSpec(
    statistics=(("weight", (0,), False), ("each", (1, 2, ROWS), True)),
    numbers=(("price", "real"), ("table", "ints2"), ("row", "reals1 empty")),
    weighted=False,
    costs=True,
    any_label=False,
    called=False,
    bounded=False,
)


def spec(called: bool, members: tuple[str, ...], **others: Any) -> KernelSpec:
    term = attrs.evolve(PLAIN, called=called, bounded="lower_bound" in members)
    plain = KernelSpec(
        terms=(term,),
        inputs=3,
        labels=3,
        lane="int32",
        real=False,
        coding=coding.WHOLE,
        larger=False,
        limits=(),
        table=False,
        members=tuple(sorted(members)),
        multiway=False,
        floors=False,
    )
    return attrs.evolve(plain, **others)


def of_switches(every: bool) -> Iterator[KernelSpec]:
    """Every combination of the switches of the template, for whole and for real costs; not every one of the members."""
    flags = (False, True)
    for called, table, multiway, floors, real in itertools.product(flags, repeat=5):
        alike = called == table == multiway == floors == real
        for members in MEMBERS if every or alike else (MEMBERS[0], MEMBERS[-1]):
            lane, kind = ("float64", coding.BITS) if real else ("int32", coding.WHOLE)
            others = {"table": table, "multiway": multiway, "floors": floors, "real": real}
            yield spec(called, members, lane=lane, coding=kind, **others)


def of_fields() -> Iterator[KernelSpec]:
    """What the other fields may be, each beside plain ones."""
    limits = ((0, ()), (0, (("least", "int"), ("most", "reals2"))))
    for lane, coded in itertools.product(("int32", "int64", "float64"), sorted(coding_kernels.CODINGS)):
        yield spec(False, (), lane=lane, coding=coded)
    fields: tuple[dict[str, Any], ...] = (
        {"limits": limits},
        {"larger": True},
        {"larger": True, "real": True, "lane": "float64", "members": MEMBERS[-1]},
        {"labels": 1},
        {"labels": 40},
        {"counts": True, "lane": "float64"},
        {"scaled": True, "real": True, "lane": "int64"},
        {"wide": True, "real": True, "lane": "int64"},
        {"inputs": 0, "terms": (attrs.evolve(PLAIN, statistics=(("n", (ROWS,), False),)),)},
        {"terms": (attrs.evolve(PLAIN, any_label=True),)},
    )
    for others in fields:
        yield spec(False, others.pop("members", ()), **others)
    watched = attrs.evolve(PLAIN, costs=False, numbers=())
    several = (attrs.evolve(PLAIN, weighted=True, called=True, bounded=True), PLAIN, watched)
    yield spec(False, ("lower_bound",), terms=several, table=True, limits=limits)


@functools.cache
def texts(every: bool) -> dict[KernelSpec, str]:
    """The text of every one of these."""
    return {made: render(made) for made in (*of_switches(every), *of_fields())}


EVERY = [False, pytest.param(True, marks=pytest.mark.slow)]
"""Whether every combination of switches and members is tried."""


def methods(made: KernelSpec) -> set[str]:
    """What the text may name beside `_NAMES`: the methods of the task that it is written for."""
    names = {f"{kind}{i}" for i in range(len(made.terms)) for kind in ("leaf_cost", "branching_cost", "lower_bound")}
    return names | {"combine", "feasible", "subtract"} | {f"allows{i}" for i in range(len(made.limits))}


def names_of(tree: ast.Module) -> tuple[set[str], set[str]]:
    """(the names that are read, those that are made) in a module, whatever their scope."""
    nodes = list(ast.walk(tree))
    named = [node for node in nodes if isinstance(node, ast.Name)]
    made = {node.id for node in named if isinstance(node.ctx, ast.Store)}
    made |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    made |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    return {node.id for node in named if isinstance(node.ctx, ast.Load)}, made


@pytest.mark.parametrize("every", EVERY)
def test_every_text_is_python_that_names_what_there_is(every: bool) -> None:
    for made, text in texts(every).items():
        assert "$" not in text
        assert "#:" not in text
        tree = ast.parse(text)
        compile(tree, "<kernels>", "exec")
        read, written = names_of(tree)
        assert read <= written | set(_NAMES) | set(dir(builtins)) | methods(made)
        kernels = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert {"score", "find_costs_of_labels", "leaf_of", "combined"} <= kernels
        assert ("combine_values" in kernels) == ("combine" in made.members)
        assert ("subtract_values" in kernels) == ("subtract" in made.members)
        assert ("find_floors" in kernels) == made.floors
    assert len(set(texts(every).values())) > (300 if every else 80)  # the traits do change the text


@pytest.mark.parametrize("every", EVERY)
def test_the_text_for_thresholds_is_python_that_names_what_there_is(every: bool) -> None:
    for made in texts(every):
        text = render(made, True)
        assert "$" not in text
        assert "#:" not in text
        tree = ast.parse(text)
        read, written = names_of(tree)
        assert read <= written | set(_NAMES) | set(dir(builtins)) | methods(made)
        kernels = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert {"score_thresholds", "find_stump_of_thresholds", "find_costs_of_labels"} <= kernels
        # whole costs that turn out not to be whole are noticed
        assert ("else int64(LOWEST)" in text) != made.real


def test_every_line_of_the_template_is_in_some_text_and_its_traits_are_known() -> None:
    conditions = {each for line in SCORE.splitlines() for each in line.partition("  #:")[2].split()}
    assert conditions <= {"COSTS", "TABLE", "BOTH", "CALLED", "BOUND", "FLOORS", "COMBINE", "SUBTRACT", "MULTIWAY"} | {
        f"!{name}"
        for name in ("COSTS", "TABLE", "BOTH", "CALLED", "BOUND", "FLOORS", "COMBINE", "SUBTRACT", "MULTIWAY")
    }
    seen: set[str] = set()
    for text in texts(False).values():
        seen |= {line.strip() for line in text.splitlines()}
    for line in SCORE.splitlines():
        body = line.partition("  #:")[0].strip()
        if body and "$" not in body:
            assert body in seen


@pytest.mark.skipif(shutil.which("ruff") is None, reason="ruff is not installed")
@pytest.mark.parametrize("every", EVERY)
def test_no_text_has_what_a_linter_objects_to(every: bool, tmp_path: Path) -> None:
    """Undefined names, names that are defined twice, comparisons and statements without effect: of every text."""
    known = set(_NAMES)
    for number, (made, text) in enumerate(texts(every).items()):
        known |= methods(made)
        (tmp_path / f"kernels_{number}.py").write_text(text)
    ruff = shutil.which("ruff")
    assert ruff is not None
    options = ["--isolated", "--no-cache", "--select", "F,E7,E9,B,PLE", "--ignore", "F841,B007"]
    given = f"builtins = {sorted(known)!r}"
    done = subprocess.run(
        [ruff, "check", *options, "--config", given, "--output-format", "concise", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[:3000] + done.stderr[:500]
