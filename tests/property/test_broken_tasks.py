"""The kit rejects broken tasks, each for the right law, with a counterexample that fits on a napkin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import strategies as st

from streed.errors import NotSeparableError
from streed.testing import LAWS, check_separable, find_violations
from tests.property import broken_tasks as broken

if TYPE_CHECKING:
    from streed.task import Task

MOST_ROWS = 8
LAW_OF_KERNELS = "native equals Python"

BROKEN: dict[str, tuple[type[Task], str, dict[str, Any]]] = {
    "parity required in every subtree": (
        broken.ParityEverywhere,
        "constraint is anti-monotone",
        {"row_data": {"woman": st.booleans()}},
    ),
    "F1 of each leaf, averaged": (broken.MeanLeafF1, "combine preserves order", {}),
    "combine is the mean of the children": (broken.MeanOfChildren, "combine is associative", {}),
    "a leaf cost that looks at the sibling": (broken.OtherLabelThanSibling, "leaf cost is Markovian", {}),
    "a leaf cost that looks at a counter": (broken.Counter, "leaf cost is Markovian", {}),
    "a limit over costs that may be negative": (broken.LimitedLoss, "combine is worsening under a limit", {}),
    "a comparison that is not transitive": (broken.MajorityOfClasses, "better is a strict order", {}),
    "an inadmissible lower bound": (broken.LeafAsLowerBound, "lower bound is admissible", {}),
    "a wrong subtract": (broken.MaxLessSibling, "subtract is a bound", {}),
    "statistics that are not additive": (broken.DistanceToMedian, "statistics are additive", {}),
    "epsilon-tolerant dominance": (broken.TolerantDominance, "better is a strict order", {}),
    "a depth-dependent cost in leaf_cost": (broken.DeepLeavesCostMore, "leaf cost ignores depth", {}),
}

QUICK = ("parity required in every subtree",)
"""The others are for the long run."""

CASES = [
    pytest.param(*case, marks=pytest.mark.compiles if name in QUICK else pytest.mark.slow, id=name)
    for name, case in BROKEN.items()
]


@pytest.mark.parametrize(("task", "law", "given"), CASES)
def test_a_broken_task_is_rejected_for_the_right_law(task: type[Task], law: str, given: dict[str, Any]) -> None:
    with pytest.raises(NotSeparableError) as caught:
        check_separable(task, **given, drivers=False)
    report = caught.value.report
    assert report.violated[0] == law, report
    counterexample = report[law].counterexample
    assert 1 <= counterexample.rows <= MOST_ROWS
    assert law in str(caught.value)
    assert counterexample.headline in str(caught.value)


@pytest.mark.slow
def test_a_kernel_that_differs_from_python_is_rejected() -> None:
    report = find_violations(broken.BeyondMachineIntegers, tuple(law for law in LAWS if law.name == LAW_OF_KERNELS))
    if report[LAW_OF_KERNELS].note == "no native kernel":
        pytest.skip("no native kernel")
    assert report.violated == (LAW_OF_KERNELS,)
    counterexample = report[LAW_OF_KERNELS].counterexample
    assert counterexample is not None
    assert counterexample.rows <= MOST_ROWS
