"""Pair lookahead: what it says of the sides of a split, exactly or as a lower bound, against the reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streed.data import Dataset
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


def test_the_bound_of_two_splits_is_the_same_by_class() -> None:
    instance = _two_labels(np.random.default_rng(3), 200, 12, "errors")
    found = []
    for by_class in (False, True):
        with Bench(instance, by_class=by_class) as bench:
            found.append(_expand(bench, instance.everything())[[values.TWO1, values.TWO0], :12])
    assert np.array_equal(found[0], found[1])
    assert found[0].min() > 0


def test_categories_show_more_labels_than_two_splits_of_binary_columns() -> None:
    # the label is the category, in one half the next one: three splits and as many leaves as there are labels, twice
    half, category = np.divmod(np.arange(48) % 12, 6)
    best = (category + half) % 6
    instance = Instance(
        Dataset.make(np.column_stack([half, category, np.arange(48) % 2]), categorical=[1]),
        (best[:, None] != np.arange(6)).astype(np.int64),
    )
    assert instance.optimum(half == 0, 1) == 0
    _check(instance, instance.everything())
    with Bench(instance) as bench:
        assert bench.search() == (0, 0)
    with Bench(instance) as bench:
        assert bench.search(nodes=3) == (0, 0)


def _rare_category() -> tuple[Instance, Array]:
    """An instance in which a categorical column may split part of a side, but not the side, and that side.

    A leaf needs five rows. In the side, category 4 has one row; the others are solved by column 1, then the categories.
    Columns 3 and 4 give a tree of three splits that errs a few times.
    """
    table = [(0, 1, c, int(c > 1)) for c in range(4) for _ in range(50)]
    table += [(0, 0, c, 1) for c in range(2) for _ in range(30)] + [(0, 0, 4, 1)]
    table += [(1, j, c, 0) for j in range(2) for c in (2, 3) for _ in range(30)]
    X, best = np.array(table)[:, :3], np.array(table)[:, 3]
    a = np.random.default_rng(0).integers(0, 2, len(X))
    b = a ^ best ^ (np.arange(len(X)) % 29 == 0)
    costs = (best[:, None] != [0, 1]).astype(np.int64)
    return Instance(Dataset.make(np.column_stack([X, a, b]), categorical=[2]), costs, 0, 5), X[:, 0] == 0


def test_a_category_that_is_rare_in_a_side_and_absent_from_part_of_it() -> None:
    instance, side = _rare_category()
    assert instance.optimum(side, None, 2) == 0
    assert instance.optimum(side, None, 1) > 0
    with Bench(instance) as bench:
        found = _expand(bench, instance.everything())
        column = next(k for k in range(len(bench.active())) if (bench.sides(instance.everything(), k)[0] == side).all())
        assert bounds_of_side(found, column, 1, UNLIMITED, 2)[0] == 0
    with Bench(instance) as bench:
        assert bench.search(nodes=3) == (0, 0)
