"""Fronts: by sorting, by arrays and by comparing pairs, all the same; and what a result says of them."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streed.data import Dataset
from streed.dp import dominance
from streed.dp.dominance import Front, Gathering, nondominated_rows
from streed.dp.stop_monitor import StopMonitor
from streed.errors import InputError
from streed.problem import SearchLimits
from streed.result import Result
from streed.task import Task
from streed.tree import Tree
from streed.tree.verification import check
from tests.unit.unusual_tasks import ByOwnDominance, ErrorsByClass, FewOfEach, Lexicographic, general


def first_nondominated(values: list[tuple[Any, ...]]) -> list[int]:
    """The definition, pair by pair."""

    def dominates(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
        return a != b and all(x <= y for x, y in zip(a, b, strict=True))

    return [
        at
        for at, value in enumerate(values)
        if value not in values[:at] and not any(dominates(other, value) for other in values)
    ]


points = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[st.integers(-4, 4)] * width), min_size=1, max_size=40)
)


@given(values=points, scale=st.sampled_from((1, 0.1, 2**40)))
def test_sorting_finds_the_first_of_each_nondominated_value(values: list[tuple[int, ...]], scale: float) -> None:
    scaled = [tuple(scale * x for x in value) for value in values]
    expected = first_nondominated(scaled)
    assert nondominated_rows(np.array(scaled)).tolist() == expected
    assert dominance._first_nondominated(scaled) == expected
    fractions = [tuple(Fraction(x) / 3 for x in value) for value in values]
    assert dominance._first_nondominated(fractions) == expected
    for task in (FewOfEach(), Compared()):
        gathering = Gathering(task, StopMonitor(SearchLimits(), None), [])
        gathering.add([(value, at, None) for at, value in enumerate(scaled)])
        assert [at for _, at, _ in gathering.front.found] == expected


@pytest.mark.parametrize("largest", [3, 9, 10**6])
def test_sorting_many_values_of_three_components(largest: int) -> None:
    values = np.random.default_rng(largest).integers(0, largest, (9_000, 3))
    by_parts = nondominated_rows(values)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dominance, "_MANY", 10**9)
        assert nondominated_rows(values).tolist() == by_parts.tolist()
    kept = values[by_parts]
    assert all((kept <= value).all(axis=1).any() for value in values)
    assert len(np.unique(kept, axis=0)) == len(kept)


@attrs.frozen
class Compared(ErrorsByClass):
    """The componentwise order, said as an order of the task's own."""

    order: ClassVar[str] = "partial"

    def dominates(self, a: Any, b: Any) -> bool:
        return bool(a != b and all(x <= y for x, y in zip(a, b, strict=True)))


@attrs.frozen
class SumsOfPairs(ErrorsByClass):
    """Values of any length, added; feasible where the first component is at most `most`."""

    most: Any = None

    def feasible(self, value: Any) -> bool:
        return bool(self.most is None or value[0] <= self.most)


@attrs.frozen
class Unconstrained(ErrorsByClass):
    """The same without a bound."""


@pytest.mark.parametrize("block", [1, 7, 2**20])
@pytest.mark.parametrize("most", [None, -3, 0, 4, 9])
@given(seed=st.integers(0, 2**32))
def test_merging_arrays_is_merging_one_by_one(block: int, most: int | None, seed: int) -> None:
    draw = random.Random(seed)
    width, children = draw.choice((1, 2, 2, 3)), draw.choice((2, 2, 3))
    factor = draw.choice((1, 0.1))
    task: Task = Unconstrained() if most is None else SumsOfPairs(most)

    def front(least: int) -> list[tuple[Any, int, None]]:
        values = [tuple(factor * draw.randint(-6, 6) for _ in range(width)) for _ in range(draw.randint(least, 12))]
        return [(values[at], at, None) for at in first_nondominated(values)]

    old, thetas = front(0), [front(1) for _ in range(children)]
    old = [each for each in old if task.feasible(each[0])]
    cost = draw.choice((None, (1,) * width))
    results = []
    for few in (10**9, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(dominance, "_FEW", few)
            patch.setattr(dominance, "_BLOCK", block)
            patch.setattr(dominance, "_MOST_PEELS", draw.choice((1, 3)))
            gathering = Gathering(task, StopMonitor(SearchLimits(), None), list(old))
            gathering.merge(7, [Front(theta) for theta in thetas], cost)
            results.append({value: parts for value, _, parts in gathering.front.found})
    assert results[0].keys() == results[1].keys()
    for value, parts in results[1].items():
        if parts is not None:
            total = parts[0][0]
            for part in [*(each[0] for each in parts[1:]), *([] if cost is None else [cost])]:
                total = tuple(x + y for x, y in zip(total, part, strict=True))
            assert total == value


def test_numbers_that_do_not_add_up_exactly_in_arrays_stay_out_of_them() -> None:
    def array(*values: Any) -> Any:
        return Front([(value, 0, None) for value in values]).array()

    assert array((1, 2), (3, 4)).dtype == np.int64
    assert array((1, 0.5), (3, 4)).dtype == np.float64
    assert array((1e300, 0.5)).dtype == np.float64
    for odd in ((2**60, 1), (2**52, 0.5), (Fraction(1, 3), 1), (float("inf"), 1.0), (2**70, 1)):
        assert array(odd) is None
    assert array() is None
    assert array(3, 4) is None


# -- results -----------------------------------------------------------------------------------------------------------

X = [[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)] * 2
Y = [0, 1, 1, 0, 1, 0, 0, 1, 0, 0, 1, 1, 1, 1, 0, 1]


def solved(task: Task, **limits: Any) -> Result:
    return general(task, X, Y, **limits)


def test_the_front_by_hand() -> None:
    result = general(FewOfEach(), [[0], [0], [1], [1]], [0, 0, 0, 1])
    assert [value for value, _ in result.front] == [(0, 1), (1, 0)]
    assert result.status == "optimal"
    assert result.value == (0, 1)
    assert (result.lower_bound, result.upper_bound, result.gap) == (None, (0, 1), 0)
    assert [tree.n_branches for _, tree in result.front] == [0, 1]


def test_the_text_of_a_front() -> None:
    lines = str(solved(FewOfEach(), max_depth=1)).splitlines()
    assert lines[0] == "status  optimal"
    assert lines[1].startswith("value   (0, ")
    assert lines[2].startswith("front   ")
    assert lines[2].endswith(" nondominated values, of which this is the best")
    assert "cost (" in lines[-1]


def test_the_summary_of_a_front_is_json() -> None:
    result = solved(FewOfEach(), max_depth=1)
    summary = json.loads(json.dumps(result.summary(), allow_nan=False))
    assert summary["value"] == list(result.value)
    assert summary["front"] == [list(value) for value, _ in result.front]
    assert (summary["lower_bound"], summary["upper_bound"], summary["gap"]) == (None, list(result.value), 0)


def test_the_text_of_a_bound_that_is_not_known() -> None:
    task = Lexicographic()
    assert "bounds  unknown to (4, 1), gap unknown" in str(
        Result((4, 1), solved(task).tree, "feasible", None, (4, 1), {}, task)
    )


@pytest.mark.parametrize("task", [FewOfEach(), FewOfEach(3), ErrorsByClass(), ByOwnDominance(), Lexicographic()])
def test_every_tree_of_a_front_can_be_saved_and_checked(task: Task) -> None:
    data = Dataset.make(X, Y, sample_weight=[0.5, 1] * 8)
    result = general(task, data, max_depth=2)
    assert result.front
    for value, tree in result.front:
        again = Tree.from_json(tree.to_json())
        assert again == tree
        assert again.claims is not None
        assert (again.claims.value, again.claims.status) == (value, "optimal")
        checks = check(tree, data)
        assert all(each.holds for each in checks)
        assert tree.claims is not None
        for wrong in (0, (*value, 0), tuple(x + 1 for x in value)):
            lie = attrs.evolve(tree, claims=attrs.evolve(tree.claims, value=wrong, upper_bound=wrong))
            assert {each.what for each in check(lie, data) if not each.holds} >= {"value"}


def test_a_file_whose_values_are_neither_numbers_nor_lists_of_them() -> None:
    (value, tree), *_ = solved(FewOfEach(), max_depth=1).front
    document = json.loads(tree.to_json())
    assert document["claims"]["value"] == list(value)
    document["claims"]["value"] = [[1], 2]
    with pytest.raises(InputError, match="value"):
        Tree.from_json(json.dumps(document))


def test_an_infeasible_value_does_not_pass_the_check() -> None:
    data = Dataset.make(X, Y)
    best = general(FewOfEach(), data, max_depth=0).front[-1][1]
    assert best.claims is not None
    value = best.claims.value
    assert value[0] > 0
    strict = attrs.evolve(best, claims=attrs.evolve(best.claims, task=FewOfEach(value[0] - 1)))
    assert [each.what for each in check(strict, data) if not each.holds] == ["feasible value"]


@attrs.frozen
class BestProduct(ErrorsByClass):
    """The front of errors by class; its best solution has the least product, shown as a number to be maximised."""

    maximize: ClassVar[bool] = True

    def score(self, value: Any, totals: Any) -> Any:
        return -Fraction(value[0] * value[1]) / totals.rows


def test_the_score_chooses_from_the_front() -> None:
    result = solved(BestProduct(), max_depth=1)
    plain = solved(ErrorsByClass(), max_depth=1)
    assert len(result.front) == len(plain.front) > 1
    assert result.value == max(-a * b / 16 for (a, b, _), _ in plain.front)
    assert type(result.value) in {int, float}
    assert (result.lower_bound, result.upper_bound) == (result.value, None)
