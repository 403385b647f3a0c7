"""The kit, and broken tasks: each is rejected for the right law, with a counterexample that fits on a napkin."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest
from hypothesis import strategies as st

from streed.data import Dataset
from streed.drivers import drivers
from streed.errors import InputError, NotSeparableError, TaskError
from streed.problem import Driver, Outcome, Problem, SearchLimits
from streed.task import COMPONENTWISE, State, Task
from streed.tasks import Accuracy
from streed.testing import LAWS, Law, check_separable, datasets, find_violations, separability_suite
from streed.testing.laws import drivers_agree
from tests.processes import ended
from tests.property.broken_tasks import (
    FIRST,
    OTHERS,
    BeyondMachineIntegers,
    Broken,
    Counted,
    MeanOfChildren,
    ParityEverywhere,
    class_errors,
    counted,
    worst,
)
from tests.unit.outcomes import refused

FEW: dict[str, Any] = {"max_examples": 15, "drivers": False}


def only(name: str) -> tuple[Law, ...]:
    return tuple(law for law in LAWS if law.name == name)


test_suite_of_a_separable_task = separability_suite(Counted, **FEW)


def test_the_report_of_a_separable_task() -> None:
    report = check_separable(Counted, **FEW)
    assert report.holds
    assert report.violated == ()
    assert [each.law for each in report.findings] == [law for law in LAWS if not law.needs_engine]
    assert repr(report).startswith("Counted: no law violated\n  holds           leaf cost is Markovian ")
    assert report["limits are on states"].note == "the task has no limits"
    with pytest.raises(KeyError):
        report["no such law"]


def test_the_error_of_another_one() -> None:
    with pytest.raises(NotSeparableError) as caught:
        check_separable(MeanOfChildren, **FEW)
    report = caught.value.report
    assert not report.holds
    assert report["recursion equals enumeration"].verdict == "not checked"
    said = str(caught.value)
    assert said.startswith("MeanOfChildren breaks combine is associative\n\ncombine is associative (contract: combine)")
    assert "combine(combine(a, b), c)  " in said
    assert "  row  y\n    0  " in said
    document = json.loads(json.dumps(report.to_dict()))
    assert document["holds"] is False
    (broken,) = [each for each in document["findings"] if each["verdict"] == "violated"]
    assert broken["counterexample"]["rows"] == 3
    assert set(broken["counterexample"]["data"]) == {"x0", "y"}


def test_a_suite_tells_of_violated_laws() -> None:
    suite: Any = separability_suite(MeanOfChildren, **FEW)
    (marks,) = suite.pytestmark
    assert marks.args[0] == "law"
    assert marks.kwargs["ids"] == [law.name for law in LAWS if not law.needs_engine]
    (associative,) = only("combine is associative")
    with pytest.raises(NotSeparableError, match="grouped"):
        suite(associative)


ROWS = Dataset.make([[0], [1.5], [2.5], [1]] * 10, [0, 1, 1, 2] * 10, woman=[True, False] * 20)


def of_five_rows(draw: Any) -> Dataset:
    women = draw(st.lists(st.booleans(), min_size=5, max_size=5))
    return Dataset.make([[0], [1], [0], [1], [1]], [0, 1, 1, 2, 0], woman=women)


@pytest.mark.parametrize(
    "given",
    [
        {"row_data": {"woman": st.booleans()}},
        {"data": datasets(row_data={"woman": st.booleans()}, y=st.sampled_from(["no", "yes"]))},
        {"data": of_five_rows},
        {"data": ROWS},
    ],
    ids=["row data", "a strategy", "a function", "a data set"],
)
def test_data_of_ones_own(given: dict[str, Any]) -> None:
    report = find_violations(ParityEverywhere(), only("constraint is anti-monotone"), **given)
    found = report["constraint is anti-monotone"].counterexample
    assert found.rows <= 8
    assert "woman" in found.to_text()


class Refusing(Counted):
    def statistics(self, data: Dataset) -> Any:
        raise InputError("y", "it has no seven", "give one")


class Prudish(Counted):
    def statistics(self, data: Dataset) -> Any:
        if data.n_rows < 3:
            raise InputError("X", "it has too few rows", "give three")
        return super().statistics(data)


def test_a_task_that_refuses_data() -> None:
    with pytest.raises(TaskError, match=r"refuses all data that was drawn .*no seven"):
        check_separable(Refusing, **FEW)
    refused("time_limit", "> 0", call=lambda: check_separable(Refusing, time_limit=0))
    assert find_violations(Prudish, LAWS[:1], max_examples=15).holds


def test_a_task_that_breaks_the_contract_is_told_so_in_two_lines() -> None:
    class Wrong(Counted):
        def leaf_cost(self, s: State, k: int) -> Any:
            return str(k)

    with pytest.raises(TaskError) as caught:
        check_separable(Wrong, **FEW)
    assert not isinstance(caught.value, NotSeparableError)
    assert "Wrong.leaf_cost(State(rows=1, " in str(caught.value)
    assert str(caught.value).splitlines()[1].endswith(": return str(k)")


@attrs.frozen
class Slow(Counted):
    def leaf_cost(self, s: State, k: int) -> Any:
        np.linalg.eigh(np.eye(40))
        return super().leaf_cost(s, k)


def test_a_time_limit() -> None:
    import time

    begin = time.monotonic()
    report = find_violations(Slow, LAWS[:2], max_examples=100_000, time_limit=0.3)
    assert time.monotonic() - begin < 60  # it would take hours
    assert report.holds
    assert all("time was up after" in found.note and found.examples for found in report.findings)


def test_a_missing_package_is_named() -> None:
    code = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "import streed\n"
        "try: streed.testing.check_separable\n"
        "except streed.errors.MissingPackageError as error: print(error)"
    )
    done = ended("-c", code)
    assert done.stdout == "streed.testing needs hypothesis, which is not installed; pip install 'streed[testing]'\n"


MOST_ROWS = 8


def finding(law: str, task: Task, **options: Any) -> Any:
    """What the kit finds of one law."""
    (chosen,) = [each for each in LAWS if each.name == law]
    return find_violations(task, (chosen,), **options)[law]


def named(broken: Broken) -> str:
    return f"{type(broken.task).__name__}, {broken.said or broken.law}"


@pytest.mark.compiles
@pytest.mark.parametrize("broken", [*FIRST, *OTHERS], ids=named)
def test_the_law_finds_what_is_wrong(broken: Broken) -> None:
    found = finding(broken.law, broken.task, **broken.given)
    assert found.verdict == "violated"
    assert 1 <= found.counterexample.rows <= 3 * MOST_ROWS  # one bound is wrong beyond twenty rows only
    assert broken.said in found.counterexample.headline


@pytest.mark.compiles
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
        ("any label costs the same", Counted(), "not applicable"),
        ("native equals Python", Accuracy(), "not applicable"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_law_that_holds_or_does_not_concern_a_task(law: str, task: Task, verdict: str) -> None:
    assert finding(law, task, max_examples=20).verdict == verdict


@pytest.mark.compiles
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


@pytest.mark.compiles
def test_what_a_task_raises_is_told_with_its_line() -> None:
    found = finding("combine is associative", Raising())
    assert found.counterexample.headline == "the task raised ZeroDivisionError: too unequal"
    assert "test_testing_kit.py" in dict(found.counterexample.facts)["at"]
    assert 'raise ZeroDivisionError("too unequal")' in dict(found.counterexample.facts)["at"]


class Nothing(Driver):
    """A driver that proves that there is no tree."""

    name: ClassVar[str] = "nothing"

    def check(self, task: Task) -> None:
        pass

    def search(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        return Outcome((), None, None, {"nodes": 0})


@pytest.mark.compiles
def test_a_driver_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {**drivers(), "nothing": Nothing}
    monkeypatch.setattr("streed.drivers.drivers", lambda: known)
    report = find_violations(Accuracy, (drivers_agree,), max_examples=5)
    found = report["drivers equal recursion"]
    assert found.counterexample.headline == "the driver 'nothing' gives another optimum"
    searched = ", ".join(name for name in known if name != "fronts")
    assert found.note.startswith(f"searched by {searched}; fronts refuses it: ")


@pytest.mark.compiles
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


@pytest.mark.compiles
@pytest.mark.slow
def test_a_kernel_that_differs_from_python_is_rejected() -> None:
    found = finding("native equals Python", BeyondMachineIntegers())
    if found.note == "no native kernel":
        pytest.skip("no native kernel")
    assert found.verdict == "violated"
    assert found.counterexample.rows <= MOST_ROWS
