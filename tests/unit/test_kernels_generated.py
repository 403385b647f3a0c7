"""Sums of statistics and the values that generated kernels make of them, at nodes and their children."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streed.data import Dataset
from streed.encoding.generated import Scored
from streed.exact import Array
from streed.problem import Problem
from streed.reference import optimum
from streed.task import State, Task
from tests.unit.kernel_harness import Bench


@attrs.frozen
class Deviations(Task):
    """Squared deviations of real numbers, or of a few whole ones."""

    def statistics(self, data: Dataset) -> dict[str, Array]:
        z = data.row_data["z"]
        return {"z": z, "square": z * z}

    def labels(self, data: Dataset) -> Sequence[Any]:
        return ("mean",)

    def leaf_cost(self, s: State, k: int) -> Any:
        return s.square - s.z * s.z / s.rows


@attrs.frozen(eq=False)
class Posed:
    """What a bench needs: the data whose rows are packed, and all of them."""

    data: Dataset
    packed: Any

    def everything(self) -> Array:
        return np.ones(self.data.n_rows, bool)


def posed(rng: np.random.Generator, real: bool, columns: int, categorical: bool) -> Posed:
    """Rows that all differ, so that none are merged."""
    X = rng.integers(0, 2, (40, columns)).astype(np.uint8)
    if categorical:
        X[:, -1] = rng.integers(0, 3, len(X))
        X[:3, -1] = range(3)
    X = X[np.sort(np.unique(X, axis=0, return_index=True)[1])]
    z = rng.normal(size=len(X)) if real else rng.integers(-3, 4, len(X))
    data = Dataset.make(X, z=z, categorical=[columns - 1] if categorical else None)
    return Posed(data, Scored.of(Problem(data, Deviations(), None, None, 1)).packed)


def pairs_of(bench: Bench, field: str, having: Array, z: Array) -> None:
    """Assert that the record's pair sums j >= k are those of the statistics over the rows that have both columns."""
    lane = bench.workspace.lane_type
    stride, planes = int(bench.engine["stride"]), int(bench.engine["planes"])
    found = bench.view(field, lane, planes, stride, stride)
    one = having.astype(float)
    for plane, amounts in enumerate((z, z * z, np.ones(len(z)))):
        expected = one.T @ (one * amounts[:, None])
        kept = np.tril_indices(one.shape[1])
        assert found[plane][kept] == pytest.approx(expected[kept], abs=1e-9)


def least(data: Dataset, rows: Array, depth: int) -> float:
    """The optimum for some of the rows."""
    best = optimum(Deviations(), data.subset(np.flatnonzero(rows)), max_depth=depth)
    assert best is not None
    return float(best[0])


@pytest.mark.compiles
@pytest.mark.parametrize("real", [False, True])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32), categorical=st.booleans())
def test_sums_and_values_of_nodes_and_children(real: bool, seed: int, categorical: bool) -> None:
    rng = np.random.default_rng(seed)
    instance = posed(rng, real, int(rng.integers(2, 6)), categorical)
    data, scoring = instance.data, instance.packed.scoring
    z = np.asarray(data.row_data["z"], float)
    assert (scoring.row_values is not None) == real
    grid = scoring.numbers[:1].view(np.float64)[0]
    rows = rng.random(data.n_rows) < 0.8
    rows[:2] = True
    with Bench(instance, lane=scoring.lane) as bench:  # type: ignore[arg-type]
        bench.load(rows)
        bench.call("prepare")
        having = np.stack([bench.rows_with(f) for f in bench.active()], axis=1) if bench.active() else np.zeros((0, 0))
        if not bench.active():
            return
        pairs_of(bench, "pairs", having[rows], z[rows])
        assert int(bench.engine["upper"]) / grid == pytest.approx(least(data, rows, 0), abs=1e-6)
        for column in range(len(bench.active())):
            without, with_it = bench.sides(rows, column)
            if not with_it.any():  # a category that no row here has
                continue
            small = with_it if 2 * with_it.sum() <= rows.sum() or column >= bench.engine["n_binary"] else without
            cost0, cost1 = bench.solve_children(column)
            pairs_of(bench, "child_pairs", having[small], z[small])
            assert cost1 / grid == pytest.approx(least(data, with_it, 2), abs=1e-6)
            if column < bench.engine["n_binary"]:
                assert cost0 / grid == pytest.approx(least(data, without, 2), abs=1e-6)
