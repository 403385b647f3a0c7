"""What cannot be compiled, or would compute something else natively, is told in two lines or computed right."""

from __future__ import annotations

import math
from typing import Any

import attrs
import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.errors import TaskError
from streed.reference import optimum
from streed.task import State, Task

pytestmark = pytest.mark.compiles

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


# -- refused -----------------------------------------------------------------------------------------------------------


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


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_errors_at_states_that_were_not_tried() -> None:
    def leaf_cost(self: Any, s: Any, k: int) -> Any:
        if s.rows == 9:
            raise ValueError("nine")
        return s.rows - s.of[k] + 0.5

    with pytest.raises(TaskError, match="Mine raised an error at some state\nlet its methods return a number"):
        streed.solve(make(leaf_cost), data_of(), max_depth=3)


# -- computed right ----------------------------------------------------------------------------------------------------


def real_at_times(self: Any, s: Any, k: int) -> Any:
    return -1.5 * (s.rows - s.of[k]) if s.rows == 7 else s.rows - s.of[k]


def beyond_int64(self: Any, s: Any, k: int) -> Any:
    return s.a**5 // 10**12 + s.rows - s.of[k]


def of_every_size(self: Any, s: Any, k: int) -> Any:
    return 10.0 ** (s.rows - s.of[k])


def infinite_at_times(self: Any, s: Any, k: int) -> Any:
    return math.inf if s.rows > 12 else (s.rows - s.of[k]) % 5


def tiny(self: Any, s: Any, k: int) -> Any:
    return 1e-200 * (s.rows - s.of[k] + 0.5)


@pytest.mark.parametrize("leaf_cost", [real_at_times, beyond_int64, infinite_at_times, tiny, of_every_size])
def test_numbers_of_all_sizes(leaf_cost: Any) -> None:
    task, data = make(leaf_cost), data_of()
    best = optimum(task, data, max_depth=3)
    result = streed.solve(task, data, max_depth=3)
    assert result.stats["route"] == "generated"
    assert result.status == "optimal"
    assert result.value == pytest.approx(float(best[0]), rel=1e-9)


SQUARES = tuple(n * n for n in range(300))


def indexes(self: Any, s: Any, k: int) -> Any:
    return SQUARES[s.rows - s.of[k]] + s.a % 3


def shifts(self: Any, s: Any, k: int) -> Any:
    return (s.rows >> 1) + (s.of[k] & 3) + s.a % 3


@pytest.mark.parametrize("leaf_cost", [indexes, shifts])
@pytest.mark.parametrize("rows", [30, 200])
def test_whole_sums_stay_whole_when_rows_are_many(leaf_cost: Any, rows: int) -> None:
    """Beyond a few dozen different rows, sums are those of float64."""
    draw = np.random.default_rng(1)
    X = draw.integers(0, 2, (rows, 4))
    data = Dataset.make(X, draw.integers(0, 2, rows), a=draw.integers(0, 10_000, rows))
    native, python = (streed.solve(make(leaf_cost), data, max_depth=2, search=s) for s in ("depth-first", "general"))
    assert native.stats["route"] == "generated"
    assert native.value == python.value


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
