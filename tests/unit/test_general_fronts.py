"""Fronts: by sorting, by arrays and by comparing pairs, all the same; and what a result says of them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import attrs
import pytest

from streed.data import Dataset
from streed.result import Result
from streed.task import Task
from streed.tree import Tree
from streed.tree.verification import check
from tests.unusual_tasks import ByOwnDominance, ErrorsByClass, FewOfEach, Lexicographic, general

# -- results -----------------------------------------------------------------------------------------------------------

X = [[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)] * 2
Y = [0, 1, 1, 0, 1, 0, 0, 1, 0, 0, 1, 1, 1, 1, 0, 1]


def solved(task: Task, **limits: Any) -> Result:
    return general(task, X, Y, **limits)


@pytest.mark.parametrize("task", [FewOfEach(), FewOfEach(3), ErrorsByClass(), ByOwnDominance(), Lexicographic()])
def test_every_tree_of_a_front_can_be_saved_and_checked(task: Task) -> None:
    data = Dataset.make(X, Y, sample_weight=[0.5, 1] * 8)
    result = general(task, data, max_depth=2)
    assert result.front
    for value, tree in result.front:
        again = Tree.from_json(tree.to_json())
        assert again == tree
        assert (again.claims.value, again.claims.status) == (value, "optimal")
        checks = check(tree, data)
        assert all(each.holds for each in checks)
        assert tree.claims is not None
        for wrong in (0, (*value, 0), tuple(x + 1 for x in value)):
            lie = attrs.evolve(tree, claims=attrs.evolve(tree.claims, value=wrong, upper_bound=wrong))
            assert {each.what for each in check(lie, data) if not each.holds} >= {"value"}


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
