"""What cannot be compiled, or would compute something else natively, is told in two lines or computed right."""

from __future__ import annotations

import math
import types
from typing import Any

import attrs
import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.errors import TaskError
from streed.kernels.codegen.capture import without_generators
from streed.reference import optimum
from streed.task import State, Task

rng = np.random.default_rng(0)
X = rng.integers(0, 2, (40, 4)).astype(np.uint8)
Y = rng.integers(0, 3, 40)
A = rng.integers(1, 1000, 40)


class Base(Task):
    def statistics(self, data: Dataset) -> dict[str, Any]:
        return {"of": data.class_numbers[:, None] == np.arange(data.n_classes), "a": data.row_data["a"]}


def make(leaf_cost: Any, **more: Any) -> Task:
    kind = type("Mine", (Base,), {"leaf_cost": leaf_cost, **more})
    task = kind()
    assert isinstance(task, Task)
    return task


def data_of(rows: int = 40) -> Dataset:
    return Dataset.make(X[:rows], Y[:rows], a=A[:rows])


def helper(self: Any, s: State) -> Any:
    return s.rows * 0.5


def calls_a_method(self: Any, s: Any, k: int) -> Any:
    return self.helper(s) + s.of[k] * s.a


def reads_a_text(self: Any, s: Any, k: int) -> Any:
    return s.a * s.a if self.mode == "square" else s.a


def looks_up(self: Any, s: Any, k: int) -> Any:
    return NAMES["one"] * s.a * s.of[k]


NAMES = {"one": 1, "two": "2"}

REFUSED: dict[str, tuple[Any, dict[str, Any], str | None]] = {
    "a method of its own": (calls_a_method, {"helper": helper}, None),
    "a text": (reads_a_text, {"mode": "square"}, None),
    "a dict of anything": (looks_up, {}, 'return NAMES["one"] * s.a * s.of[k]'),
}


@pytest.mark.compiles
@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_compile_is_told_in_two_lines(name: str) -> None:
    leaf_cost, more, line = REFUSED[name]
    with pytest.raises(TaskError) as caught:
        streed.solve(make(leaf_cost, **more), data_of(), max_depth=2)
    lines = str(caught.value).splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("Mine.")
    if line is not None:
        number = leaf_cost.__code__.co_firstlineno + 1
        assert lines[1].endswith(f"test_generated_errors.py:{number}: {line}")


@pytest.mark.compiles
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_errors_at_states_that_were_not_tried() -> None:
    def leaf_cost(self: Any, s: Any, k: int) -> Any:
        if s.rows == 7:
            raise ValueError("seven")
        return s.rows - s.of[k] + 0.5

    with pytest.raises(TaskError, match="Mine raised an error at some state\nlet its methods return a number"):
        streed.solve(make(leaf_cost), data_of(), max_depth=3)


SIZES: dict[str, Any] = {
    "real at times": lambda self, s, k: -1.5 * (s.rows - s.of[k]) if s.rows == 7 else s.rows - s.of[k],
    "beyond int64": lambda self, s, k: s.a**5 // 10**12 + s.rows - s.of[k],
    "infinite at times": lambda self, s, k: math.inf if s.rows > 12 else (s.rows - s.of[k]) % 5,
    "tiny": lambda self, s, k: 1e-200 * (s.rows - s.of[k] + 0.5),
    "of every size": lambda self, s, k: 10.0 ** (s.rows - s.of[k]),
}


@pytest.mark.compiles
@pytest.mark.parametrize("name", SIZES)
def test_numbers_of_all_sizes(name: str) -> None:
    task, data = make(SIZES[name]), data_of()
    best = optimum(task, data, max_depth=3)
    result = streed.solve(task, data, max_depth=3)
    assert result.stats["route"] == "generated"
    assert result.status == "optimal"
    assert result.value == pytest.approx(float(best[0]), rel=1e-9)


SQUARES = tuple(n * n for n in range(300))
WHOLE: dict[str, Any] = {
    "indexes": lambda self, s, k: SQUARES[s.rows - s.of[k]] + s.a % 3,
    "shifts": lambda self, s, k: (s.rows >> 1) + (s.of[k] & 3) + s.a % 3,
}


@pytest.mark.compiles
@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("rows", [30, 200])
def test_whole_sums_stay_whole_when_rows_are_many(name: str, rows: int) -> None:
    """Beyond a few dozen different rows, sums are those of float64."""
    draw = np.random.default_rng(1)
    X = draw.integers(0, 2, (rows, 4))
    data = Dataset.make(X, draw.integers(0, 2, rows), a=draw.integers(0, 10_000, rows))
    native, python = (streed.solve(make(WHOLE[name]), data, max_depth=2, search=s) for s in ("depth-first", "general"))
    assert native.stats["route"] == "generated"
    assert native.value == python.value


@pytest.mark.compiles
def test_bounds_of_whole_products_are_rounded_up() -> None:
    """7 / 2: what 3 times 2 is better than 7, though 3 is not below the whole part of 3.5."""
    task = make(
        lambda self, s, k: 1 + s.rows - s.of[k],
        combine=lambda self, a, b: a * b,
        subtract=lambda self, a, b: a / b,
        lower_bound=lambda self, s: 1,
    )
    for rows in (9, 12, 15, 20):
        data = data_of(rows)
        best = optimum(task, data, max_depth=3)
        assert streed.solve(task, data, max_depth=3).value == best[0]


@pytest.mark.compiles
def test_small_remainders_of_large_sums() -> None:
    """Squared deviations of numbers far from zero: both sides round, so the tree's own value is what is told."""

    @attrs.frozen
    class Deviations(Task):
        def statistics(self, data: Dataset) -> dict[str, Any]:
            z = 1e7 + data.row_data["a"] / 1000
            return {"z": z, "square": z * z}

        def labels(self, data: Dataset) -> tuple[str, ...]:
            return ("mean",)

        def leaf_cost(self, s: Any, k: int) -> Any:
            return s.square - s.z * s.z / s.rows

    result = streed.solve(Deviations(), data_of(), max_depth=3)
    assert result.status == "optimal"
    assert 0 <= abs(result.value) < 40


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
        return {"n": data.class_numbers[:, None] == np.arange(2), "nothing": np.zeros((data.n_rows, 0))}

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
