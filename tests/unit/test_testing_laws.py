"""Every law of the kit finds the fault that it is about; `tests/property/broken_tasks.py` has the usual ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np
import pytest

from streed.drivers import drivers
from streed.problem import Driver, Outcome, Problem, SearchLimits
from streed.task import COMPONENTWISE, PARTIAL, Limit, State, Task
from streed.tasks import Accuracy
from streed.testing import LAWS, find_violations
from streed.testing.laws.agreement import drivers_agree
from tests.property.broken_tasks import Counted

if TYPE_CHECKING:
    from streed.data import Dataset

pytestmark = pytest.mark.compiles


def finding(law: str, task: Task | type[Task], **options: Any) -> Any:
    """What the kit finds of one law."""
    (chosen,) = [each for each in LAWS if each.name == law]
    return find_violations(task, (chosen,), **options)[law]


def headline(law: str, task: Task | type[Task], **options: Any) -> str:
    """What the kit says of a law that it must find violated, by at most eight rows."""
    found = finding(law, task, **options)
    assert found.verdict == "violated"
    assert 1 <= found.counterexample.rows <= 8
    return str(found.counterexample.headline)


_asked = [0]


class ForgetfulPrice(Counted):
    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        _asked[0] += 1
        return _asked[0] % 2


class MoodyCombine(Counted):
    def combine(self, a: Any, b: Any) -> Any:
        _asked[0] += 1
        return a + b + _asked[0] % 2


def test_a_branching_cost_that_counts_its_calls() -> None:
    assert "two answers" in headline("branching cost is Markovian", ForgetfulPrice)


def test_a_combine_that_counts_its_calls() -> None:
    assert "two answers" in headline("operators are functions", MoodyCombine)


class Reflexive(Counted):
    def better(self, a: Any, b: Any) -> bool:
        return bool(a <= b)


class Mutual(Counted):
    def better(self, a: Any, b: Any) -> bool:
        return bool(a != b)


class Lexicographic(Counted):
    order: ClassVar[str] = COMPONENTWISE

    def leaf_cost(self, s: State, k: int) -> Any:
        return (sum(s.n) - s.n[k], k)

    def better(self, a: Any, b: Any) -> bool:
        return bool(a < b)


def test_orders_that_are_none() -> None:
    assert headline("better is a strict order", Reflexive) == "a value is better than itself"
    assert headline("better is a strict order", Mutual) == "each of two values is better than the other"
    assert "not the declared order" in headline("better is the declared order", Lexicographic)


class NegatedOther(Counted):
    """The left child counts against the right one."""

    def combine(self, a: Any, b: Any) -> Any:
        return a - b


class Nearer(Counted):
    """(errors, leaves): fewer errors are better, and at most two leaves are allowed."""

    def leaf_cost(self, s: State, k: int) -> Any:
        return (sum(s.n) - s.n[k], 1)

    def better(self, a: Any, b: Any) -> bool:
        return bool(a[0] < b[0])

    def feasible(self, value: Any) -> bool:
        return bool(value[1] <= 2)


def test_order_preservation() -> None:
    assert headline("combine preserves order", NegatedOther) == "combining turns the order round"
    assert headline("combine preserves order", Nearer) == "the better part makes the whole infeasible"


class WorstLeaf(Counted):
    def combine(self, a: Any, b: Any) -> Any:
        return max(a, b)


@final
@attrs.frozen
class Front(Counted):
    order: ClassVar[str] = COMPONENTWISE

    def leaf_cost(self, s: State, k: int) -> Any:
        others = sum(s.n) - s.n[0]
        return (s.n[0] * (k != 0), others - s.n[k] * (k != 0))


def test_the_maximum_preserves_order_though_it_makes_ties() -> None:
    assert finding("combine preserves order", WorstLeaf).verdict == "holds"
    assert finding("combine is associative", WorstLeaf).verdict == "holds"


@pytest.mark.compiles
def test_fronts_keep_the_laws() -> None:
    report = find_violations(Front, tuple(law for law in LAWS if not law.needs_engine), max_examples=15)
    assert report.holds, report
    assert report["recursion equals enumeration"].examples > 0


class KeepFirst(Counted):
    """Associative, not commutative: the first child decides, and so does what subtract gives."""

    def combine(self, a: Any, b: Any) -> Any:
        return a

    def subtract(self, a: Any, b: Any) -> Any:
        return a


def test_a_subtract_beside_a_combine_that_does_not_commute() -> None:
    assert finding("combine is associative", KeepFirst).verdict == "holds"
    assert "order of the children" in headline("combine is commutative", KeepFirst)
    assert finding("combine is commutative", WorstLeaf).verdict == "not applicable"


@attrs.frozen
class Wavering(Limit):
    def allows(self, s: State) -> bool:
        _asked[0] += 1
        return bool(_asked[0] % 2)


@attrs.frozen
class Boastful(Limit):
    @property
    def support(self) -> int:
        return 3

    def allows(self, s: State) -> bool:
        return s.rows >= 2


def test_limits() -> None:
    assert "two answers for one state" in headline("limits are on states", Counted().subject_to(Wavering()))
    assert "asks for 3 rows" in headline("limits are on states", Counted().subject_to(Boastful()))


@attrs.frozen
class Worst(Counted):
    worst: float

    def worst_per_row(self, data: Dataset) -> Any:
        return np.full(data.n_rows, self.worst)


class Worse(Worst):
    def leaf_cost(self, s: State, k: int) -> Any:
        return 5 - s.rows


def test_worst_costs_per_row() -> None:
    assert finding("worst cost per row holds", Worst(1)).verdict == "holds"
    assert headline("worst cost per row holds", Worst(0.5)) == "a row costs more than its worst"
    assert headline("worst cost per row holds", Worst(-1)) == "a worst cost is negative"
    assert headline("worst cost per row holds", Worse(1)) == "a leaf costs less with one row more"


class ProfitOfRightRows(Counted):
    worsening: ClassVar[bool] = True

    def leaf_cost(self, s: State, k: int) -> Any:
        return -s.n[k]


class DeclaredWorsening(Counted):
    worsening: ClassVar[bool] = True


def test_worsening_that_is_declared() -> None:
    assert "becomes better by being combined" in headline("worsening holds", ProfitOfRightRows)
    assert finding("worsening holds", DeclaredWorsening).verdict == "holds"
    assert finding("worsening holds", Counted).verdict == "not applicable"


class Declared(Counted):
    superadditive: ClassVar[bool] = True


class PricePerLeaf(Declared):
    def leaf_cost(self, s: State, k: int) -> Any:
        return 1


def test_superadditivity() -> None:
    assert finding("superadditive holds", Declared).verdict == "holds"
    assert "costs less than its parts" in headline("superadditive holds", PricePerLeaf)
    assert finding("superadditive holds", Counted).verdict == "not applicable"


class Renaming(Counted):
    def statistics(self, data: Dataset) -> Any:
        return {**super().statistics(data), **{f"row{row}": np.ones(data.n_rows) for row in range(data.n_rows)}}


class Widening(Counted):
    def statistics(self, data: Dataset) -> Any:
        return {**super().statistics(data), "m": np.ones((data.n_rows, data.n_rows))}


def test_statistics() -> None:
    assert "other names on some" in headline("statistics are additive", Renaming)
    assert "another width on some" in headline("statistics are additive", Widening)


class Raising(Counted):
    def combine(self, a: Any, b: Any) -> Any:
        if b > a + 2:  # more than check_contract tries
            raise ZeroDivisionError("too unequal")
        return a + b


def test_what_a_task_raises_is_told_with_its_line() -> None:
    found = finding("combine is associative", Raising)
    assert found.counterexample.headline == "the task raised ZeroDivisionError: too unequal"
    assert "test_testing_laws.py" in dict(found.counterexample.facts)["at"]
    assert 'raise ZeroDivisionError("too unequal")' in dict(found.counterexample.facts)["at"]


class OnlyTogether(Counted):
    """Feasible are values without errors, and (not anti-monotone) those of at least two."""

    order: ClassVar[str] = PARTIAL

    def better(self, a: Any, b: Any) -> bool:
        return bool(a < b)

    def feasible(self, value: Any) -> bool:
        return bool(value != 1)


def test_the_recursion_misses_what_enumeration_finds() -> None:
    assert "misses the optimum" in headline("recursion equals enumeration", OnlyTogether, max_examples=400)


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
    assert found.counterexample is not None
    assert found.counterexample.headline == "the driver 'nothing' gives another optimum"
    searched = ", ".join(name for name in known if name != "fronts")
    assert found.note.startswith(f"searched by {searched}; fronts refuses it: ")


@pytest.mark.parametrize(("off_by", "verdict"), [(0, "holds"), (1, "violated")])
def test_a_kernel_is_compared_with_python(monkeypatch: pytest.MonkeyPatch, off_by: int, verdict: str) -> None:
    def kernel(task: Task, data: Dataset, states: list[State]) -> Any:
        return [[float(task.leaf_cost(s, k)) + off_by * (k == 1) for k in range(data.n_classes)] for s in states]

    monkeypatch.setattr("streed.encoding.generated.native_values", kernel)
    found = finding("native equals Python", Counted)
    assert found.verdict == verdict
    if off_by:
        facts = dict(found.counterexample.facts)
        assert float(facts["compiled"]) == 1 + float(facts[next(name for name in facts if name.endswith("in Python"))])


def test_a_task_without_a_kernel_of_its_own() -> None:
    found = finding("native equals Python", Accuracy, max_examples=5)
    assert (found.verdict, found.note) == ("not applicable", "no native kernel")
