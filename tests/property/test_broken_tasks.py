"""The kit rejects broken tasks, each for the right law, with a counterexample that fits on a napkin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from streed.drivers import drivers
from streed.errors import NotSeparableError
from streed.problem import Driver, Outcome, Problem, SearchLimits
from streed.task import COMPONENTWISE, Task
from streed.tasks import Accuracy
from streed.testing import LAWS, check_separable, find_violations
from streed.testing.laws.agreement import drivers_agree
from tests.property.broken_tasks import (
    FIRST,
    OTHERS,
    BeyondMachineIntegers,
    Broken,
    Counted,
    class_errors,
    counted,
    worst,
)

if TYPE_CHECKING:
    from streed.data import Dataset
    from streed.task import State

pytestmark = pytest.mark.compiles

MOST_ROWS = 8


def finding(law: str, task: Task, **options: Any) -> Any:
    """What the kit finds of one law."""
    (chosen,) = [each for each in LAWS if each.name == law]
    return find_violations(task, (chosen,), **options)[law]


def named(broken: Broken) -> str:
    return f"{type(broken.task).__name__}, {broken.said or broken.law}"


@pytest.mark.parametrize("broken", [*FIRST, *OTHERS], ids=named)
def test_the_law_finds_what_is_wrong(broken: Broken) -> None:
    found = finding(broken.law, broken.task, **broken.given)
    assert found.verdict == "violated"
    assert 1 <= found.counterexample.rows <= 3 * MOST_ROWS  # one bound is wrong beyond twenty rows only
    assert broken.said in found.counterexample.headline


@pytest.mark.slow
@pytest.mark.parametrize("broken", FIRST, ids=named)
def test_a_broken_task_is_rejected_for_the_right_law(broken: Broken) -> None:
    with pytest.raises(NotSeparableError) as caught:
        check_separable(broken.task, **broken.given, drivers=False)
    report = caught.value.report
    assert report.violated[0] == broken.law, report
    counterexample = report[broken.law].counterexample
    assert 1 <= counterexample.rows <= MOST_ROWS
    assert broken.law in str(caught.value)
    assert counterexample.headline in str(caught.value)


@pytest.mark.parametrize(
    ("law", "task", "verdict"),
    [
        ("combine preserves order", counted("WorstLeaf", combine=lambda self, a, b: max(a, b)), "holds"),
        ("combine is associative", counted("WorstLeaf", combine=lambda self, a, b: max(a, b)), "holds"),
        ("combine is commutative", counted("WorstLeaf", combine=lambda self, a, b: max(a, b)), "not applicable"),
        ("worst cost per row holds", worst(1), "holds"),
        ("worsening holds", counted("Declared", worsening=True), "holds"),
        ("superadditive holds", counted("Declared", superadditive=True), "holds"),
        ("score keeps the order", Counted(), "holds"),
        *[(law, Counted(), "not applicable") for law in ("worsening holds", "superadditive holds")],
        *[(law, Counted(), "not applicable") for law in ("any label costs the same", "prices are the costs")],
        ("native equals Python", Accuracy(), "not applicable"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_law_that_holds_or_does_not_concern_a_task(law: str, task: Task, verdict: str) -> None:
    assert finding(law, task, max_examples=20).verdict == verdict


def test_fronts_keep_the_laws() -> None:
    front = counted("Front", order=COMPONENTWISE, leaf_cost=class_errors)
    report = find_violations(front, tuple(law for law in LAWS if not law.needs_engine), max_examples=15)
    assert report.holds, report
    assert report["recursion equals enumeration"].examples > 0


class Raising(Counted):
    def combine(self, a: Any, b: Any) -> Any:
        if b > a + 2:  # more than check_contract tries
            raise ZeroDivisionError("too unequal")
        return a + b


def test_what_a_task_raises_is_told_with_its_line() -> None:
    found = finding("combine is associative", Raising())
    assert found.counterexample.headline == "the task raised ZeroDivisionError: too unequal"
    assert "test_broken_tasks.py" in dict(found.counterexample.facts)["at"]
    assert 'raise ZeroDivisionError("too unequal")' in dict(found.counterexample.facts)["at"]


class Nothing(Driver):
    """A driver that proves that there is no tree."""

    name: ClassVar[str] = "nothing"

    def check(self, task: Task) -> None:
        pass

    def search(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        return Outcome((), None, None, {"nodes": 0})


def test_a_driver_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {**drivers(), "nothing": Nothing}
    monkeypatch.setattr("streed.drivers.drivers", lambda: known)
    report = find_violations(Accuracy, (drivers_agree,), max_examples=5)
    found = report["drivers equal recursion"]
    assert found.counterexample.headline == "the driver 'nothing' gives another optimum"
    searched = ", ".join(name for name in known if name != "fronts")
    assert found.note.startswith(f"searched by {searched}; fronts refuses it: ")


@pytest.mark.parametrize(("off_by", "verdict"), [(0, "holds"), (1, "violated")])
def test_a_kernel_is_compared_with_python(monkeypatch: pytest.MonkeyPatch, off_by: int, verdict: str) -> None:
    def kernel(task: Task, data: Dataset, states: list[State]) -> Any:
        return [[float(task.leaf_cost(s, k)) + off_by * (k == 1) for k in range(data.n_classes)] for s in states]

    monkeypatch.setattr("streed.encoding.generated.native_values", kernel)
    found = finding("native equals Python", Counted())
    assert found.verdict == verdict
    if off_by:
        facts = dict(found.counterexample.facts)
        assert float(facts["compiled"]) == 1 + float(facts[next(name for name in facts if name.endswith("in Python"))])


@pytest.mark.slow
def test_a_kernel_that_differs_from_python_is_rejected() -> None:
    found = finding("native equals Python", BeyondMachineIntegers())
    if found.note == "no native kernel":
        pytest.skip("no native kernel")
    assert found.verdict == "violated"
    assert found.counterexample.rows <= MOST_ROWS
