"""Generator expressions in methods that are compiled: loops that give what Python gives, or a refusal with the line."""

from __future__ import annotations

import types
from typing import Any

import attrs
import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.errors import TaskError
from streed.kernels.codegen.generators import without_generators
from streed.reference import optimum
from streed.task import State, Task

SCALE = 3


def squares(xs: Any) -> Any:
    return sum(x * x for x in xs)


def with_start_and_condition(xs: Any) -> Any:
    return sum((SCALE * x for x in xs if x > 1 if x < 9), 0.5)


def nested(xs: Any) -> Any:
    return max(sum(a * b for b in xs) for a in xs) - min(abs(a - b) for a in xs for b in xs)


def lazily(xs: Any) -> Any:
    return 0 if not any(x > 0 for x in xs) else sum(1 / x for x in xs if x) * all(x >= 0 for x in xs)


@pytest.mark.parametrize("function", [squares, with_start_and_condition, nested, lazily])
@pytest.mark.parametrize("xs", [(1, 2, 3), (0, 0), (4.5, -2, 0), (9, 1, 5, 5)])
def test_loops_give_what_the_expressions_give(function: types.FunctionType, xs: Any) -> None:
    rewritten = without_generators(function)
    assert rewritten is not function
    assert not any(isinstance(c, types.CodeType) for c in rewritten.__code__.co_consts)
    assert rewritten(xs) == function(xs)
    assert type(rewritten(xs)) is type(function(xs))


def to_a_list(xs: Any) -> Any:
    return len(list(x for x in xs))  # noqa: C400 - here: list


def largest_of_some(xs: Any) -> Any:
    return max(x for x in xs if x > 1)  # here: condition


def largest_by(xs: Any) -> Any:
    return max((x for x in xs), key=abs)  # here: key


def kept(xs: Any) -> Any:
    found = (x for x in xs)  # here: kept
    return sum(found)


@pytest.mark.parametrize(
    ("function", "why", "mark"),
    [
        (to_a_list, "not list", "here: list"),
        (largest_of_some, "may leave none", "here: condition"),
        (largest_by, "further arguments", "here: key"),
        (kept, "no argument", "here: kept"),
    ],
)
def test_others_are_refused_with_their_line(function: types.FunctionType, why: str, mark: str) -> None:
    with pytest.raises(TaskError) as caught:
        without_generators(function)
    first, second = str(caught.value).split("\n")
    assert function.__name__ in first
    assert why in first
    assert "write a loop" in first
    assert second.endswith(mark)


@attrs.frozen
class Impurity(Task):
    shares: tuple[float, ...] = (1.0, 2.0)

    def statistics(self, data: Dataset) -> Any:
        return {"n": (data.class_numbers[:, None] == np.arange(2)).astype(np.int64)}

    def leaf_cost(self, s: State, k: int) -> Any:
        return s.rows - sum(n * n * share for n, share in zip(s.n, self.shares) if n > 0) / s.rows  # noqa: B905


@pytest.mark.compiles
def test_a_task_with_a_generator_expression_is_solved_natively() -> None:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (30, 3))
    data = Dataset.make(X, X[:, 0] ^ (X[:, 1] & X[:, 2]))
    result = streed.solve(Impurity(), data, max_depth=2)
    assert result.stats["route"] == "generated"
    expected = optimum(Impurity(), data, max_depth=2)
    assert result.value == pytest.approx(expected[0])
