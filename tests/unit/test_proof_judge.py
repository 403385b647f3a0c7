"""The compiled judge of records says what `check.Proof` says, and the compiled prover finds what it accepts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from streed.exact import Array
from streed.proof import check, judge
from streed.proof.check import UNLIMITED, Costs, Limits, Proof, RejectedError, Sums
from streed.proof.compiled import CompiledSums
from streed.proof.counting import compiled
from streed.proof.format import encoded, numbers_of
from streed.proof.judge import Judge, prove_bound
from streed.proof.native_prover import NativeProver
from streed.proof.packed import make_work
from streed.proof.sides import open_sides

pytestmark = pytest.mark.compiles

CASES = [
    (rows, codes, labels, split)
    for rows in (5, 64, 130)
    for codes, labels in ((2, 2), (4, 2), (2, 3), (2, 6), (3, 5))
    for split in (1, 4)
]


def draw_problem(rows: int, codes: int, labels: int, split: int) -> tuple[Any, np.random.Generator]:
    draw = np.random.default_rng([rows, codes, labels, split])
    X = draw.integers(0, draw.integers(2, codes + 1, 6), (rows, 6)).astype(np.uint8)
    costs = draw.choice([0, 1, 1, 1, 3], (rows, labels if labels < 4 else 1)) * (
        np.arange(labels) != draw.integers(0, labels, rows)[:, None]
    )
    return (X, costs - costs.min(axis=1)[:, None], split, Limits(UNLIMITED)), draw


@compiled
def opened(p, rows, depth, sides, reached, allowed):  # type: ignore[no-untyped-def]
    return open_sides(p, rows, depth, True, make_work(p), sides, reached, allowed)[:3]


@pytest.mark.parametrize(("rows", "codes", "labels", "split"), CASES)
def test_what_is_known_of_sides_is_as_in_numpy(rows: int, codes: int, labels: int, split: int) -> None:
    given, draw = draw_problem(rows, codes, labels, split)
    plain, sums = Sums(*given), CompiledSums(*given)
    assert sums.is_compiled
    p, n_literals = sums.problem, len(plain.held)
    for m in (0, 1, 2, 3):
        path = draw.choice(n_literals, m, replace=False)
        mask = plain.held[path].all(0)
        i, here = np.flatnonzero(mask), np.bitwise_and.reduce(p.literals[path], axis=0) if m else p.everything
        floors, known = plain.floors(i), {3: plain.transfer(mask, i, mask, plain.optimum(i, 2))}
        known = {3: np.maximum(floors, known[3]), 4: floors, UNLIMITED: plain.lookahead(i, floors)}
        for depth, bounds in known.items():
            sides, reached = np.zeros((2, n_literals), np.int64)
            allowed = np.zeros(len(plain.starts), np.bool_)
            floor, leaf, weight = opened(p, here, depth, sides, reached, allowed)
            assert (floor, leaf, weight) == (plain.floor[i].sum(), plain.leaf(i), plain.w[i].sum())
            assert np.array_equal(sides, bounds)
            _, leaves, ones, _ = plain.sides(i)
            assert np.array_equal(reached, np.minimum(leaves, ones))
            assert np.array_equal(allowed, plain.by_column(floors, i) < plain.big)


def proved(given: Any, depth: int, target: int) -> tuple[Array, int, int]:
    """The numbers of the records that the prover finds, how many they are, and what they show."""
    prover = NativeProver(CompiledSums(*given))
    root = prover.prove(Limits(depth), target)
    return *prover.numbers([root]), prover.lower(root)


@pytest.mark.parametrize("depth", [3, 4, 5, UNLIMITED])
@pytest.mark.parametrize(("rows", "codes", "labels", "split"), CASES)
def test_both_judges_accept_what_is_found_and_refuse_one_more(
    rows: int, codes: int, labels: int, split: int, depth: int
) -> None:
    rows = min(rows, 40) if depth == UNLIMITED else rows  # numpy takes long for thousands of claims
    given, draw = draw_problem(rows, codes, labels, split)
    numbers, count, bound = proved(given, depth, 10**6)
    costs = Costs(given[1], split, Fraction(1))
    for by in (check.prove_bound, prove_bound):
        assert by(given[0], costs, Limits(depth), encoded(numbers)) == (Fraction(bound), count)
    records = check.read_records(numbers.tolist())
    plain, native = Proof(Sums(*given)), Judge(CompiledSums(*given))
    for record in records:
        wrong = record._replace(bound=record.bound + int(draw.integers(1, 3)))
        said = []
        for proof in (plain, native):
            try:
                proof.add(wrong)
                said.append("")
            except RejectedError as rejected:
                said.append(str(rejected))
                proof.add(record)
        assert said[0] == said[1]
    more = records[-1]._replace(bound=bound + 1, anchors=[back + 1 for back in records[-1].anchors])
    with pytest.raises(RejectedError, match="a tree may cost"):
        native.add(more)


def test_the_prover_stops_at_a_deadline_with_a_bound_that_holds() -> None:
    given, _ = draw_problem(130, 2, 6, 1)
    whole = proved(given, UNLIMITED, 10**6)[2]
    prover = NativeProver(CompiledSums(*given), deadline=-1.0)
    prover.found.counts[:] = 0
    root = prover.prove(Limits(UNLIMITED), 10**6)
    numbers, count = prover.numbers([root])
    assert 0 < prover.lower(root) <= whole
    found = prove_bound(given[0], Costs(given[1], 1, Fraction(1)), Limits(UNLIMITED), encoded(numbers))
    assert found == (Fraction(prover.lower(root)), count)


def test_records_that_are_cut_off_are_refused_alike() -> None:
    given, _ = draw_problem(64, 2, 3, 1)
    numbers, _, _ = proved(given, 4, 10**6)
    costs = Costs(given[1], 1, Fraction(1))
    for end in range(1, len(numbers)):
        said: list[Any] = []
        for by in (check.prove_bound, prove_bound):
            try:
                said.append(by(given[0], costs, Limits(4), encoded(numbers[:end])))
            except RejectedError as rejected:
                said.append(str(rejected))
        assert said[0] == said[1]


def test_more_records_than_one_call_takes() -> None:
    given, _ = draw_problem(130, 2, 3, 1)
    numbers, count, bound = proved(given, UNLIMITED, 10**6)
    many = np.concatenate([numbers] * (2 * judge.AT_ONCE // count + 1))
    costs = Costs(given[1], 1, Fraction(1))
    assert prove_bound(given[0], costs, Limits(UNLIMITED), encoded(many)) == (
        Fraction(bound),
        len(many) // len(numbers) * count,
    )


def test_numbers_are_read_as_they_were_written() -> None:
    numbers = np.array([0, 127, 128, 2**14 - 1, 2**14, 2**21, 2**56 - 1, 5])
    assert check.read_numbers(encoded(numbers)).tolist() == numbers.tolist()
    assert encoded(np.zeros(0, np.int64)) == b""
    assert list(numbers_of(check.Record([(1, 0)], 3, 9, [2], [4]))) == [1, 1, 0, 3, 9, 1, 2, 1, 4]
