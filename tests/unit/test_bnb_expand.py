"""Pair lookahead: what it says of the sides of a split, exactly or as a lower bound, against the reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streed.exact import Array
from streed.kernels import values
from streed.kernels.records import INFINITE, UNLIMITED
from tests.unit.kernel_harness import KINDS, Bench, Instance, bounds_of_side, make_instance

LIMITS = [(0, None), (1, None), (2, None), (3, None), (None, None), (None, 0), (None, 1), (None, 2), (None, 3), (3, 5)]
"""(depth, branching nodes) that are left to a side."""


def _expand(bench: Bench, rows: Array) -> Array:
    """The matrix of `streed.kernels.values` after the expansion of the rows."""
    row_set = bench.place(rows)
    bench.engine["asked_rows"] = row_set.ctypes.data
    bench.call("expand")
    return bench.values()


def _exactly(instance: Instance, rows: Array, splits: int, cache: dict[tuple[bytes, int], int]) -> int:
    """The least cost of a tree for the rows with exactly so many branching nodes; INFINITE if there is none."""
    if splits == 0 or not rows.any():
        return instance.optimum(rows, 0) if splits == 0 else INFINITE
    key = (rows.tobytes(), splits)
    if key not in cache:
        cache[key] = INFINITE
        for column, codes in enumerate(instance.data.X.T):
            sides = [rows & (codes == code) for code in range(len(instance.data.column(column).categories))]
            if sum(side.any() for side in sides) >= 2:
                costs = {0: instance.split}
                for side in sides:
                    shared = [
                        (have + more, cost + _exactly(instance, side, more, cache))
                        for have, cost in costs.items()
                        for more in range(splits - have)
                    ]
                    costs = {have: min(c for h, c in shared if h == have) for have, _ in shared}
                cache[key] = min(cache[key], costs.get(splits - 1, INFINITE))
    return cache[key]


def _check(instance: Instance, rows: Array) -> None:
    """Compares all that the expansion of the rows answers with the reference."""
    with Bench(instance) as bench:
        found = _expand(bench, rows)
        assert int(bench.engine["upper"]) == instance.optimum(rows, 0)
        cache: dict[tuple[bytes, int], int] = {}
        for k in range(len(bench.active())):
            for without in range(2):
                side = bench.sides(rows, k)[1 - without]
                if not side.any() or (without and k >= bench.engine["n_binary"]):
                    continue
                leaf, split, two, more = (
                    int(found[row + without, k]) for row in (values.LEAF1, values.SPLIT1, values.TWO1, values.MORE1)
                )
                assert leaf == instance.optimum(side, 0)
                assert min(leaf, split) == instance.optimum(side, 1)
                assert split <= _exactly(instance, side, 1, cache)
                assert two <= _exactly(instance, side, 2, cache)
                assert more <= min(_exactly(instance, side, 3, cache), _exactly(instance, side, 4, cache))
                for depth, nodes in LIMITS:
                    limits = (UNLIMITED if depth is None else depth, UNLIMITED if nodes is None else nodes)
                    lower, upper = bounds_of_side(found, k, without, *limits)
                    assert lower <= instance.optimum(side, depth, nodes) <= upper


def _instance(rng: np.random.Generator, categories: list[int], min_leaf: int) -> Instance:
    return make_instance(
        rng,
        rows=int(rng.integers(8, 30)),
        binary=int(rng.integers(1, 5)),
        categories=categories,
        labels=int(rng.integers(2, 7)),
        kind=str(rng.choice(KINDS)),
        split=int(rng.choice([0, 1, 2, 5])),
        min_leaf=min_leaf,
    )


@given(seed=st.integers(0, 2**32), min_leaf=st.sampled_from([1, 1, 2, 4]))
@settings(max_examples=40, deadline=None)
def test_sides_of_binary_columns(seed: int, min_leaf: int) -> None:
    rng = np.random.default_rng(seed)
    instance = _instance(rng, [], min_leaf)
    _check(instance, rng.random(instance.data.n_rows) < rng.choice([1.0, 0.7]))


@given(seed=st.integers(0, 2**32), min_leaf=st.sampled_from([1, 1, 2, 4]))
@settings(max_examples=40, deadline=None)
def test_sides_of_categorical_columns(seed: int, min_leaf: int) -> None:
    rng = np.random.default_rng(seed)
    instance = _instance(rng, rng.integers(3, 6, rng.integers(1, 3)).tolist(), min_leaf)
    _check(instance, rng.random(instance.data.n_rows) < rng.choice([1.0, 0.7]))


def _two_labels(rng: np.random.Generator, rows: int, binary: int, kind: str) -> Instance:
    """Two labels and binary columns; `kind`: errors, a weight for each, or few weights that have a common divisor."""
    instance = make_instance(rng, rows=rows, binary=binary, kind="errors", split=int(rng.choice([1, 2, 5])))
    if kind != "errors":
        weights = rng.integers(1, 200, rows) if kind == "weights" else 300 * rng.integers(1, 4, rows)
        instance.costs = instance.costs * weights[:, None]
    return instance


@given(seed=st.integers(0, 2**32), kind=st.sampled_from(["errors", "weights", "divisor"]))
@settings(max_examples=40, deadline=None)
def test_sides_counted_by_class(seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    instance = _two_labels(rng, int(rng.integers(8, 30)), int(rng.integers(1, 5)), kind)
    with Bench(instance) as bench:
        assert bench.workspace.expansion("signed")[0] == "classes"
    _check(instance, rng.random(instance.data.n_rows) < rng.choice([1.0, 0.7]))


@pytest.mark.parametrize("kind", ["errors", "weights", "divisor"])
@pytest.mark.parametrize(("rows", "binary"), [(60, 40), (3000, 33), (40_000, 5), (200, 70)])
def test_classes_say_what_labels_say(rows: int, binary: int, kind: str) -> None:
    # more than one vector of columns, more rows than sixteen bits count, columns that are constant in the node
    rng = np.random.default_rng(rows)
    instance = _two_labels(rng, rows, binary, kind)
    node = instance.data.X[:, 0] == 1
    found = []
    for by_class in (False, True):
        with Bench(instance, by_class=by_class) as bench:
            values_ = _expand(bench, node)
            n = int(bench.engine["n_active"])
            found.append((int(bench.engine["upper"]), bench.active(), values_[:, :n]))
    by_label, by_class_ = found
    assert by_label[:2] == by_class_[:2]
    same = [values.LEAF1, values.LEAF0, values.SPLIT1, values.SPLIT0, values.MORE1, values.MORE0]
    np.testing.assert_array_equal(by_label[2][same], by_class_[2][same])
    two = [values.TWO1, values.TWO0]
    assert (by_label[2][two] <= by_class_[2][two]).all()
