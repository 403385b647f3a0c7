"""The judge notices: a solver that answers by the reference passes, and each way of lying is found out."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import pytest

from streed.data import Dataset
from streed.reference import optimum
from streed.result import Result
from streed.task import Totals
from streed.tasks import Accuracy
from streed.tree import Branch, Leaf, Node, Tree
from tests.differential.comparison import differences
from tests.differential.fuzz import Run, main
from tests.differential.instances import Instance, make_instance

if TYPE_CHECKING:
    from collections.abc import Callable

EXCLUSIVE_OR = Instance(
    name="by hand",
    task_source="Accuracy()",
    X=[[0, 0], [0, 1], [1, 0], [1, 1], [1, 1]],
    y=["no", "yes", "yes", "no", "no"],
    sample_weight=None,
    categorical=[],
    max_depth=2,
    max_nodes=3,
    min_leaf=1,
    exact=True,
    features=frozenset(),
)


def by_reference(task: Any, X: Any, y: Any, **options: Any) -> Result:
    """What a correct `solve` answers."""
    limits = {name: options[name] for name in ("max_depth", "max_nodes", "min_leaf")}
    rows = {name: options[name] for name in ("sample_weight", "categorical") if name in options}
    data = Dataset.make(X, y, **rows)
    found = optimum(task, data, **limits)
    if found is None:
        return Result(None, None, "infeasible", None, None, {}, task)
    value = task.score(found[0], Totals(task, data))
    tree = Tree.grown(found[1], data)
    return Result(value, tree, "optimal", value, value, {}, task, ((value, tree),))


def lying(lie: Callable[[Result], Result]) -> Callable[..., Result]:
    return lambda *arguments, **options: lie(by_reference(*arguments, **options))


def with_root(change: Callable[[Branch], Node]) -> Callable[[Result], Result]:
    def lie(result: Result) -> Result:
        assert result.tree is not None
        assert isinstance(result.tree.root, Branch)
        return attrs.evolve(result, tree=attrs.evolve(result.tree, root=change(result.tree.root)))

    return lie


LIES: dict[str, tuple[Callable[[Result], Result], str]] = {
    "value": (lambda r: attrs.evolve(r, value=1), "value 1, the optimum is 0"),
    "status": (lambda r: attrs.evolve(r, status="feasible"), "status 'feasible' with value 0"),
    "infeasible": (lambda r: attrs.evolve(r, status="infeasible", tree=None, value=None), "status 'infeasible'"),
    "lower bound": (lambda r: attrs.evolve(r, lower_bound=-1), "lower_bound -1 differs from the value 0"),
    "upper bound": (lambda r: attrs.evolve(r, upper_bound=2), "upper_bound 2 differs from the value 0"),
    "leaf for the tree": (with_root(lambda root: Leaf(0, 5, 2)), "the tree costs 2, the optimum is 0"),
    "labels swapped": (
        with_root(lambda root: Branch(0, (root.children[1], root.children[0]), 5)),
        "the tree costs 5, the optimum is 0",
    ),
    "rows": (with_root(lambda root: attrs.evolve(root, rows=4)), "the node at () says 4 rows, 5 reach it"),
    "no split": (
        with_root(lambda root: Branch(0, (Branch(0, (Leaf(0, 2, 0), Leaf(0, 0, 0)), 2), root.children[1]), 5)),
        "the tree does not fit the data",
    ),
}


@pytest.mark.parametrize(("lie", "reason"), LIES.values(), ids=LIES)
def test_a_lie_is_found_out(lie: Callable[[Result], Result], reason: str) -> None:
    assert differences(EXCLUSIVE_OR, by_reference) == []
    wrong = differences(EXCLUSIVE_OR, lying(lie))
    assert any(reason in words for words in wrong), wrong


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"max_depth": 1}, "depth 2 is more than 1"),
        ({"max_nodes": 2}, "3 branching nodes are more than 2"),
        ({"min_leaf": 2}, "the leaf at (0, 1) has 1 rows, fewer than 2"),
        ({"task_source": "Accuracy().subject_to(MinSupport(2))"}, "breaks MinSupport(min_rows=2)"),
    ],
)
def test_a_broken_limit_is_found_out(limits: dict[str, Any], reason: str) -> None:
    unlimited = by_reference(Accuracy(), EXCLUSIVE_OR.array(), EXCLUSIVE_OR.y, **EXCLUSIVE_OR.limits)
    wrong = differences(attrs.evolve(EXCLUSIVE_OR, **limits), lambda *arguments, **options: unlimited)
    assert any(reason in words for words in wrong), wrong


def test_a_tree_where_none_is_feasible_is_found_out() -> None:
    impossible = attrs.evolve(EXCLUSIVE_OR, min_leaf=6)
    assert differences(impossible, by_reference) == []
    wrong = differences(impossible, lying(lambda r: attrs.evolve(r, status="optimal", value=0)))
    assert "no tree is feasible" in wrong[0]


def test_the_fuzz_reports_mismatches_as_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--instances", "60", "--seed", "5", "--jobs", "0"], by_reference) == 0
    assert "60 instances (seed 5, from 0) by depth-first, threads=1" in capsys.readouterr().out
    liar = lying(lambda r: attrs.evolve(r, value=-1))
    assert main(["--instances", "3", "--seed", "5", "--first", "2", "--jobs", "0"], liar) == 1
    printed = capsys.readouterr().out
    assert "# value -1, the optimum is" in printed
    assert "3 mismatches" in printed
    for number in (2, 3, 4):
        assert make_instance(5, number).snippet(search="depth-first", threads=1) in printed


def hangs_on_five_columns(task: Any, X: Any, y: Any, **options: Any) -> Result:
    if np.shape(X)[1] == 5:
        time.sleep(600)
    return by_reference(task, X, y, **options)


@pytest.mark.slow
def test_no_answer_is_a_mismatch() -> None:
    numbers = range(4, 6)
    expected = [["no answer in 6 s"] if make_instance(0, i).array().shape[1] == 5 else [] for i in numbers]
    assert sum(map(len, expected)) == 1
    run = Run(seed=0, options={}, solve=hangs_on_five_columns)
    outcomes = list(run.outcomes(numbers, jobs=1, patience=6))
    assert [(outcome.number, outcome.wrong) for outcome in outcomes] == list(zip(numbers, expected, strict=True))


def test_an_exception_is_a_mismatch() -> None:
    def broken(*arguments: Any, **options: Any) -> Result:
        raise ZeroDivisionError("by the engine")

    (wrong,) = Run(seed=0, options={}, solve=broken).outcome(0).wrong
    assert "ZeroDivisionError: by the engine" in wrong


def test_instances_are_determined_by_seed_and_number() -> None:
    program = "from tests.differential.instances import make_instance; print(make_instance(3, 7).snippet())"
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=600
    ).stdout
    assert printed == make_instance(3, 7).snippet() + "\n"
    assert make_instance(3, 8).snippet() != make_instance(3, 7).snippet() != make_instance(4, 7).snippet()


def test_instances_cover_what_they_promise() -> None:
    covered = frozenset().union(*(make_instance(0, number).features for number in range(600)))
    assert covered >= {
        "plain", "large", "mixed", "multiway", "constant column", "duplicate column", "complementary column",
        "duplicate rows", "contradictory rows", "integer weights", "huge weights", "decimal weights", "real weights",
        "zero weights", "accuracy", "splits", "sparse", "class weights", "balanced", "MinSupport", "min_leaf",
        "max_nodes", "max_depth None", "max_depth 0", "max_depth 5", "1 classes", "2 classes", "5 classes",
    }  # fmt: skip
