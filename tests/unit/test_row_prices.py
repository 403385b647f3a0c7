"""Row prices: what pricing finds, that prices are feasible and bounds admissible, and that they change no answer."""

import itertools
import sys
import threading
import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.optimize

import streed
from streed import tasks
from streed.bnb import pricing_beside
from streed.drivers.branches import Branches
from streed.drivers.depth_first import DepthFirst
from streed.encoding.row_costs import RowCosts
from streed.exact import Array
from streed.kernels import notices
from streed.kernels.conjunction_beam import heavy_conjunctions
from streed.kernels.conjunctions import heaviest_conjunctions
from streed.kernels.control import LONGEST, ROWS_OF_CONTROL, STOP
from streed.row_prices import master
from streed.row_prices.cover import least_cover
from streed.row_prices.generation import Generation
from streed.row_prices.leaves import Leaves
from streed.row_prices.master import Master
from streed.row_prices.pricing import Pricing
from tests.differential.row_prices import (
    KINDS,
    Posed,
    conjunctions,
    faults_of_prices,
    faults_of_solves,
    pose,
    pose_score,
    prices_first,
)

CAP = 400


def arrays() -> tuple[Array, Array, Array]:
    return np.zeros(CAP, np.int64), np.zeros((CAP, LONGEST), np.int32), np.zeros(CAP, np.int64)


def leaves_of(posed: Posed) -> Leaves:
    encoding = RowCosts.of(posed.problem())
    assert encoding is not None
    found = encoding.leaves(posed.problem())
    assert found is not None
    return found[0]


def test_the_classes_of_conjunctions_are_those_of_plain_numpy() -> None:
    rng = np.random.default_rng(90)
    for _ in range(100):
        n, columns = int(rng.integers(1, 40)), int(rng.integers(1, 9))
        bits = rng.integers(0, 2, (n, columns)).astype(np.uint8)
        ones = np.ones(2 * columns, np.uint8)
        leaves = Leaves(bits, np.zeros((n, 2), np.int64), np.ones(n, np.int64), ones, Fraction(1), 1, columns)
        literals_of = [tuple(rng.integers(0, 2 * columns, length).tolist()) for length in rng.integers(0, 5, 20)]
        plain = [
            np.all([bits[:, each >> 1] == each & 1 for each in literals] or [np.ones(n, bool)], axis=0)
            for literals in literals_of
        ]
        np.testing.assert_array_equal(leaves.members(literals_of), np.unique(plain, axis=0))
        assert leaves.members([]).shape == (0, n)


def every(bits: Array, allowed: Array, counts: Array, least_rows: int, most_literals: int) -> list[Array]:
    """The members of all conjunctions, by plain numpy."""
    found: dict[bytes, Array] = {}
    choices: list[list[int | None]] = [[None] + [v for v in (0, 1) if allowed[2 * f + v]] for f in range(bits.shape[1])]
    for chosen in itertools.product(*choices):
        if sum(v is not None for v in chosen) > most_literals:
            continue
        inside = np.ones(len(bits), bool)
        for f, v in enumerate(chosen):
            if v is not None:
                inside &= bits[:, f] == v
        if inside.any() and counts[inside].sum() >= least_rows:
            found[inside.tobytes()] = inside
    return list(found.values())


@pytest.mark.parametrize("number", range(60))
def test_the_heaviest_conjunction_is_found(number: int) -> None:
    rng = np.random.default_rng((7, number))
    n, m = int(rng.integers(1, 30)), int(rng.integers(1, 6))
    bits = rng.integers(0, 2, (n, m)).astype(np.uint8)
    allowed = (rng.random(2 * m) < 0.85).astype(np.uint8)
    weights = rng.integers(-60, 60, n).astype(np.int32)
    counts = rng.integers(1, 4, n)
    least_rows = int(rng.choice([1, 1, 3]))
    most_literals = int(rng.choice([2**30, 2, 3]))
    threshold = int(rng.integers(0, 100))
    masks = np.ascontiguousarray(-bits.astype(np.int8))
    control = np.zeros(ROWS_OF_CONTROL, np.int64)
    sets = every(bits, allowed, counts, least_rows, most_literals)
    heaviest = max(int(weights[inside].sum()) for inside in sets) if sets else -(10**9)
    values, found, lengths = arrays()
    best, _, complete, stored = heaviest_conjunctions(
        masks, allowed, weights, counts, least_rows, threshold, most_literals, 10**6, control, values, found, lengths
    )
    assert complete
    assert max(best, threshold) == max(heaviest, threshold)
    assert (stored > 0) == (heaviest > threshold)
    values2, found2, lengths2 = arrays()
    good, stored2 = heavy_conjunctions(
        masks, allowed, weights, counts, least_rows, threshold, 20, most_literals, control, values2, found2, lengths2
    )
    assert good <= heaviest or stored2 == 0
    for value, literals, length in [
        *zip(values[:stored], found[:stored], lengths[:stored], strict=True),
        *zip(values2[:stored2], found2[:stored2], lengths2[:stored2], strict=True),
    ]:
        inside = np.ones(n, bool)
        assert length <= most_literals
        for literal in literals[:length]:
            assert allowed[literal]
            inside &= bits[:, literal >> 1] == (literal & 1)
        assert weights[inside].sum() == value > threshold
        assert counts[inside].sum() >= least_rows


@pytest.mark.parametrize("number", range(24))
def test_the_heaviest_conjunction_of_very_many_literals_is_found(number: int) -> None:
    rng = np.random.default_rng((8, number))
    n, m = int(rng.integers(2, 11)), int(rng.integers(30, 150))
    bits = (rng.random((n, m)) < rng.choice([0.1, 0.5])).astype(np.uint8)
    weights = rng.integers(-60, 60, n).astype(np.int32)
    counts = rng.integers(1, 4, n)
    least_rows = int(rng.choice([1, 1, 3]))
    heaviest = -(10**9)
    for subset in range(1, 2**n):
        inside = (subset >> np.arange(n)) & 1 == 1
        alike = (bits[inside] == bits[inside][0]).all(axis=0)
        inside = (bits[:, alike] == bits[inside][0][alike]).all(axis=1)
        if counts[inside].sum() >= least_rows:
            heaviest = max(heaviest, int(weights[inside].sum()))
    threshold = int(rng.integers(0, 60))
    masks, control = np.ascontiguousarray(-bits.astype(np.int8)), np.zeros(ROWS_OF_CONTROL, np.int64)
    allowed = np.ones(2 * m, np.uint8)
    best, _, complete, stored = heaviest_conjunctions(
        masks, allowed, weights, counts, least_rows, threshold, 2**30, 10**7, control, *arrays()
    )
    assert complete
    assert max(best, threshold) == max(heaviest, threshold)
    assert (stored > 0) == (heaviest > threshold)


def test_with_little_room_the_heaviest_conjunctions_stay() -> None:
    rng = np.random.default_rng(9)
    bits = rng.integers(0, 2, (60, 8)).astype(np.uint8)
    weights = rng.integers(-30, 60, 60).astype(np.int32)
    masks, control = np.ascontiguousarray(-bits.astype(np.int8)), np.zeros(ROWS_OF_CONTROL, np.int64)
    answers = []
    for room in (2000, 5):
        values = np.zeros(room, np.int64)
        best, nodes, complete, stored = heaviest_conjunctions(
            masks, np.ones(16, np.uint8), weights, np.ones(60, np.int64), 1, 100, 2**30, 10**7, control,
            values, np.zeros((room, LONGEST), np.int32), np.zeros(room, np.int64),
        )  # fmt: skip
        assert complete
        answers.append((best, nodes, stored, values.max()))
    assert answers[0][0] == answers[0][3] == answers[1][0] == answers[1][3]
    assert answers[0][2] > answers[1][2] == 5
    assert answers[1][1] < answers[0][1]


def test_a_node_limit_or_a_stop_ends_an_enumeration_that_says_so() -> None:
    rng = np.random.default_rng(3)
    masks = np.ascontiguousarray(-rng.integers(0, 2, (200, 20)).astype(np.int8))
    weights = rng.integers(-60, 60, 200).astype(np.int32)
    given = masks, np.ones(40, np.uint8), weights, np.ones(200, np.int64), 1, 0, 2**30
    control = np.zeros(ROWS_OF_CONTROL, np.int64)
    assert not heaviest_conjunctions(*given, 50, control, *arrays())[2]
    control[STOP] = 1
    _, nodes, complete, _ = heaviest_conjunctions(*given, 10**9, control, *arrays())
    assert not complete
    assert nodes < 100


def test_the_least_cover_covers() -> None:
    rng = np.random.default_rng(5)
    sets = rng.random((6, 12)) < 0.4
    sets[:, 0] = True
    needs = rng.integers(1, 50, 6)
    cover = least_cover(sets, needs, np.full(12, 100.0))
    assert np.all(sets @ cover >= needs - 1e-6)
    assert cover.sum() <= needs.max() + 1e-6
    wider = sets | (np.arange(12) < 2)
    most = np.full(12, needs.max() / 1.5)
    cover = least_cover(wider, needs, most)
    assert np.all(wider @ cover >= needs - 1e-6)
    assert np.all(cover <= most + 1e-6)


def test_the_program_keeps_its_value_when_it_forgets_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    leaves = leaves_of(pose(1, 0))
    every_leaf = conjunctions(leaves)
    values = []
    monkeypatch.setattr(master, "_LOOSE", 0.0)
    for many in (4000, 4):
        monkeypatch.setattr(master, "_MANY", many)
        program = Master(leaves, lambda: False)
        program.add(every_leaf)
        before = len(program)
        solved = program.solve()
        assert solved is not None
        prices, value = solved
        assert value == pytest.approx(prices.sum() - float(leaves.due), rel=1e-2)
        assert (len(program) < before) == (many < 4000)
        values.append(value)
    assert values[0] == values[1]


def test_prices_leave_their_box_where_new_leaves_need_it() -> None:
    leaves = leaves_of(pose(1, 0))
    every_leaf = conjunctions(leaves)
    program = Master(leaves, lambda: False)
    program.add(every_leaf[:1])
    program.draw(leaves.costs.max(axis=1) * 1.2, 0.01)
    program.add(every_leaf)
    solved = program.solve()
    assert solved is not None
    prices, _ = solved
    assert np.all(every_leaf @ prices <= leaves.costs_of(every_leaf) * 1.01)


@pytest.mark.parametrize("method", ["simplex", "interior point"])
def test_a_program_is_solved_by_either_method_and_says_what_a_wider_box_could_give(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(master, "_FEW", 10**6 if method == "simplex" else 0)
    tolerance = 0.02
    for number in range(4):
        leaves = leaves_of(pose(number, 0))
        every_leaf = conjunctions(leaves)
        centre = leaves.costs.max(axis=1) * 0.3
        program = Master(leaves, lambda: False)
        program.add(every_leaf)
        free = program.solve()
        assert free is not None
        costs = leaves.costs_of(every_leaf)
        best = scipy.optimize.linprog(costs, A_eq=every_leaf.T.astype(float), b_eq=np.ones(leaves.n_classes))
        scale = float(best.fun)
        assert free[1] == pytest.approx(best.fun - float(leaves.due), abs=tolerance * scale)
        values: list[float] = []
        for reach in (0.05, 0.4):
            program.draw(centre, reach)
            if values:
                assert program.most(centre, reach) >= values[-1] - tolerance * scale
            promised = program.most(centre, 0.4)
            solved = program.solve()
            assert solved is not None
            values.append(solved[1])
            assert program.most(centre, reach) == pytest.approx(solved[1])
        assert values[0] <= values[1] + tolerance * scale
        assert values[1] <= promised + tolerance * scale


def test_a_program_that_is_called_impossible_is_a_failure() -> None:
    program = Master(leaves_of(pose(1, 0)), lambda: False)
    n = program._highs.getNumCol()
    program._highs.changeColsBounds(n, np.arange(n, dtype=np.int32), np.zeros(n), np.zeros(n))
    with pytest.raises(RuntimeError, match="Infeasible"):
        program.solve()


def test_prices_of_a_bound_far_from_the_best_tree_promise_nothing() -> None:
    leaves = leaves_of(pose(3, 0, rows=120, columns=8))
    control = np.zeros(ROWS_OF_CONTROL, np.int64)
    rests: list[float] = []
    plain = Generation(leaves, control, lambda prices: None, rest=rests.append)
    plain.run()
    assert plain.best is not None
    assert plain.rounds > 1
    assert len(rests) >= 2 * plain.rounds
    assert min(rests) >= 0
    poor = Generation(leaves, control, lambda prices: None, goal=lambda: 10.0**9)
    poor.run()
    assert poor.promises is False


@pytest.mark.parametrize("kind", KINDS)
def test_prices_are_feasible_and_bounds_admissible(kind: str) -> None:
    for number in range(12):
        assert not faults_of_prices(pose(11, number * len(KINDS) + KINDS.index(kind)))


@pytest.mark.parametrize("kind", KINDS)
def test_prices_change_no_answer(kind: str) -> None:
    for number in range(3):
        assert not faults_of_solves(pose(12, number * len(KINDS) + KINDS.index(kind), rows=120, columns=8))


@pytest.mark.parametrize("number", range(6))
def test_prices_change_no_score_and_no_limit(number: int) -> None:
    assert not faults_of_solves(pose_score(14, number))


def test_scalar_solves_are_helped_and_begin_with_the_leaves_of_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    run = Generation.run

    def noted(self: Generation, deadline: float | None = None) -> None:
        begun.append(0 if self.known is None else len(self.known))
        run(self, deadline)

    monkeypatch.setattr(Generation, "run", noted)
    posed = pose_score(14, 1)
    with prices_first():
        result = streed.solve(posed.task, posed.X, posed.y, search=Branches(), **posed.options)
    assert result.status == "optimal"
    assert result.stats["row_prices"]["rounds"] >= 1
    assert begun[0] == 0
    assert min(begun[1:]) > 0


def test_rows_of_one_label_have_no_prices() -> None:
    X = np.array([[0, 1], [1, 0], [1, 1]])
    posed = Posed("errors", tasks.SparseAccuracy(0.1), X, np.zeros(3, int), {}, 1, None)
    assert not faults_of_prices(posed)


@pytest.mark.parametrize("number", [633, 1527])
def test_rows_that_stand_for_several_make_no_leaf_too_small(number: int) -> None:
    assert not faults_of_solves(pose(102, number, rows=200, columns=9))


def test_columns_that_part_nothing_have_no_prices() -> None:
    posed = Posed("errors", tasks.SparseAccuracy(0.1), np.ones((4, 2), int), np.arange(4) % 2, {}, 1, None)
    encoding = RowCosts.of(posed.problem())
    assert encoding is not None
    assert encoding.leaves(posed.problem()) is None


def test_lowered_prices_overcharge_none_of_the_leaves() -> None:
    leaves = leaves_of(pose(1, 0))
    pricing = Pricing(leaves)
    units = pricing.in_units(leaves.costs.max(axis=1) * 1.2)
    columns = conjunctions(leaves)
    lowered = pricing.lowered(units, columns)
    unit = 2.0**pricing.shift
    assert np.all(columns @ lowered <= (columns @ leaves.costs).min(axis=1) * unit + float(leaves.due) * unit)
    assert lowered.sum() < units.sum()
    assert pricing.exactly(lowered, 0, 10**6, 50).worst <= 0


def test_a_stop_ends_generation_at_once() -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (300, 30))
    y = (X[:, 0] ^ X[:, 1]) ^ (rng.random(300) < 0.3)
    posed = Posed("errors", tasks.SparseAccuracy(0.01), X, y.astype(int), {}, 1, None)
    leaves = leaves_of(posed)
    begin = time.perf_counter()
    Generation(leaves, np.zeros(ROWS_OF_CONTROL, np.int64), lambda prices: None).run(deadline=begin + 0.2)
    assert time.perf_counter() - begin < 30


@pytest.mark.parametrize("driver", [DepthFirst, Branches])
def test_a_search_that_is_stopped_keeps_the_bound_of_its_prices(driver: Any) -> None:
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, (90, 14))
    y = ((X[:, 0] & X[:, 1]) ^ (rng.random(90) < 0.3)).astype(int)
    with prices_first():
        result = streed.solve(tasks.SparseAccuracy(0.02), X, y, time_limit=0.2, search=driver())
    prices = result.stats["row_prices"]
    assert prices["rounds"] >= 1
    assert prices["bound"] <= result.lower_bound <= result.value


def test_a_long_search_is_helped_and_the_thread_ends_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pricing_beside, "PATIENCE", 0.1)
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, (400, 60))  # of random labels, which take far longer than the limit
    y = rng.integers(0, 2, 400)
    before = threading.active_count()
    result = streed.solve(tasks.SparseAccuracy(0.003), X, y, time_limit=1)
    assert "row_prices" in result.stats
    assert threading.active_count() <= before
    assert result.status == "feasible"


def test_a_failure_of_the_linear_programs_loses_nothing(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    monkeypatch.setattr(notices, "_said", set())
    posed = pose(12, 0, rows=120, columns=8)
    plain = streed.solve(posed.task, posed.X, posed.y, search=DepthFirst(row_prices=False), **posed.options)
    with prices_first():
        result = streed.solve(posed.task, posed.X, posed.y, **posed.options)
    assert (result.status, result.value) == ("optimal", plain.value)
    assert "highspy" in result.stats["row_prices"]["failed"]
    assert "the search goes on without them" in capfd.readouterr().err


def test_nothing_is_priced_under_a_depth_limit_or_a_memory_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pricing_beside, "PATIENCE", 0.0)
    X, y = np.eye(6, dtype=int), np.arange(6) % 2
    assert "row_prices" not in streed.solve(tasks.SparseAccuracy(0.01), X, y, max_depth=3).stats
    assert "row_prices" not in streed.solve(tasks.SparseAccuracy(0.01), X, y, memory_limit=2**32).stats
