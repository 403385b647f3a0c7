"""The kit's doors: check_separable, separability_suite, the strategies, the report."""

from __future__ import annotations

import json
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import strategies as st

from streed.data import Dataset
from streed.errors import InputError, NotSeparableError, TaskError
from streed.task import State
from streed.testing import LAWS, Law, check_separable, datasets, find_violations, separability_suite
from tests.processes import ended
from tests.property.broken_tasks import Counted, MeanOfChildren, ParityEverywhere

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


ROWS = Dataset.make([[0], [1]] * 20, [0, 1, 1, 2] * 10, woman=[True, False] * 20)


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
    report = find_violations(Slow, LAWS[:1], max_examples=100_000, time_limit=0.3)
    assert time.monotonic() - begin < 60  # it would take hours
    assert report.holds


def test_a_missing_package_is_named() -> None:
    code = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "import streed.testing\n"
        "try: streed.testing.check_separable\n"
        "except streed.errors.MissingPackageError as error: print(error)"
    )
    done = ended("-c", code)
    assert done.stdout == "streed.testing needs hypothesis, which is not installed; pip install 'streed[testing]'\n"
