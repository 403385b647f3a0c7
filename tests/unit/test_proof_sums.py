"""The compiled sums of proofs are those of numpy, for any number of codes and labels, weights and sizes of words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from streed.exact import Array
from streed.proof.check import Limits, Sums
from streed.proof.compiled import MOST_KINDS, CompiledSums
from streed.proof.prover_sums import ProverSums

pytestmark = pytest.mark.compiles


def problem(seed: int, rows: int, *, codes: int = 2, labels: int = 2, split: int = 0) -> tuple[Sums, ProverSums, Any]:
    draw = np.random.default_rng([seed, rows, codes, labels])
    X = draw.integers(0, draw.integers(2, codes + 1, 6), (rows, 6)).astype(np.uint8)
    costs = draw.choice([0, 0, 1, 3], (rows, labels))
    regrets = costs - costs.min(axis=1)[:, None]
    given: Any = X, regrets, split, Limits(3)
    return Sums(*given), ProverSums(*given), draw


CASES = [(n, codes, labels) for n in (1, 2, 63, 64, 65, 130) for codes, labels in ((2, 2), (4, 2), (2, 3), (3, 4))]


@pytest.mark.parametrize(("rows", "codes", "labels"), CASES)
@pytest.mark.parametrize("split", [0, 2])
def test_they_are_those_of_numpy(rows: int, codes: int, labels: int, split: int) -> None:
    plain, compiled, draw = problem(1, rows, codes=codes, labels=labels, split=split)
    if not len(plain.starts):
        assert not compiled.is_compiled
        return
    assert compiled.is_compiled
    for share in (1, 0.5, 0.1, 0):
        mask = draw.random(rows) < share
        anchor = draw.random(rows) < draw.random()
        i = np.flatnonzero(mask)
        weight, leaves, ones, _ = plain.sides(i)
        found = compiled.shallow(i)
        assert (found[0], found[1]) == (plain.leaf(i), plain.optimum(i, 2))
        assert np.array_equal(found[2], leaves)
        assert np.array_equal(found[3], ones)
        assert compiled.leaf(i) == plain.leaf(i)
        assert [compiled.optimum(i, depth) for depth in range(3)] == [plain.optimum(i, depth) for depth in range(3)]
        floors = plain.floor[i] @ plain.L[i]
        assert np.array_equal(compiled.lookahead(i, floors), plain.lookahead(i, floors))
        assert np.array_equal(compiled.by_column(floors, i), plain.by_column(floors, i))
        columns = plain.columns[::2]
        assert np.array_equal(
            compiled.from_columns(mask, i, columns), np.maximum(plain.from_columns(mask, i, columns), 0)
        )
        for bound in (5, weight + 3):
            assert np.array_equal(compiled.transfer(mask, i, anchor, bound), plain.transfer(mask, i, anchor, bound))


@pytest.mark.parametrize("rows", [5, 70])
def test_what_is_not_compiled_is_left_to_numpy(rows: int) -> None:
    draw = np.random.default_rng(rows)
    X = draw.integers(0, 2, (rows, 4)).astype(np.uint8)
    weights = np.arange(rows) + 1
    regrets = np.stack([weights * (draw.random(rows) < 0.5), np.zeros(rows, np.int64)], axis=1).astype(np.int64)
    i = np.arange(rows)
    for limits in (Limits(3), Limits(3, min_leaf=2)):
        plain, found = Sums(X, regrets, 0, limits), CompiledSums(X, regrets, 0, limits)
        kinds = len(np.unique(regrets[:, 0]))
        assert found.is_compiled == (kinds <= MOST_KINDS and limits.min_leaf == 1)
        assert found.optimum(i, 2) == plain.optimum(i, 2)
    many = Sums(X, regrets * np.arange(1, 1 + rows)[:, None], 0, Limits(3)), np.ones(rows, np.bool_)
    assert np.array_equal(many[0].transfer(many[1], i, many[1], 7), many[0].w @ many[0].L - many[0].w.sum() + 7)


@pytest.mark.parametrize(("codes", "labels"), [(2, 2), (3, 2), (2, 3)])
def test_columns_are_counted_until_the_target_is_reached(codes: int, labels: int) -> None:
    plain, compiled, _ = problem(2, 90, codes=codes, labels=labels)
    mask = np.ones(90, np.bool_)
    i = np.arange(90)

    class Claim:
        rows = i
        sides = plain.floor @ plain.L
        reached = np.minimum(*plain.sides(i)[1:3])
        splits = plain.by_column(np.zeros(plain.L.shape[1]), i) < plain.big
        leaf = upper = float(plain.leaf(i))
        lower = 0.0

    claim: Any = Claim()
    used, known, upper = compiled.improve_by_columns(claim, float("inf"))
    columns = [plain.columns[place] for place in used.tolist()]
    each: list[Array] = [np.maximum(plain.from_columns(mask, i, [column]), 0) for column in columns]
    assert np.array_equal(known, np.array(each))
    assert np.array_equal(claim.sides, np.max([Claim.sides, *each], axis=0))
    best = [sum(plain.optimum(np.flatnonzero(plain.L[:, q] == 1), 2) for q in plain.literals_of[c]) for c in columns]
    assert upper == min([Claim.upper, *best])
    # nothing is left to gain: every column that may split costs at least the best tree of depth three
    assert plain.by_column(claim.sides, i).min() >= min(best)


def test_rows_outside_are_weighed() -> None:
    for rows in (10, 200):
        plain, compiled, draw = problem(3, rows)
        masks = draw.random((5, rows)) < 0.5
        packed = [compiled.packed(np.flatnonzero(mask)) for mask in masks]
        found = compiled.weights_outside(np.array(packed[1:]), packed[0])
        assert np.array_equal(found, (masks[1:] & ~masks[0]) @ plain.w)
