"""Row prices: what pricing finds, that prices are feasible and bounds admissible, and that they change no answer."""

import itertools
import time

import numpy as np
import pytest

import streed
from streed import tasks
from streed.bnb import native_search
from streed.drivers.branches import Branches
from streed.drivers.depth_first import DepthFirst
from streed.encoding.row_costs import RowCosts
from streed.kernels.control import LONGEST, ROWS_OF_CONTROL, STOP
from streed.kernels.entries import heaviest_conjunctions, heavy_conjunctions
from streed.row_prices.cover import least_cover
from streed.row_prices.generation import Generation
from streed.row_prices.pricing import Pricing
from tests.differential.row_prices import KINDS, Posed, conjunctions, faults_of_prices, faults_of_solves, pose

CAP = 400


def arrays():
    return np.zeros(CAP, np.int64), np.zeros((CAP, LONGEST), np.int32), np.zeros(CAP, np.int64)


def every(bits, allowed, counts, least_rows, most_literals):
    """{members: None} of all conjunctions, by plain numpy."""
    found = {}
    choices = [[None] + [v for v in (0, 1) if allowed[2 * f + v]] for f in range(bits.shape[1])]
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
def test_the_heaviest_conjunction_is_found(number):
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


def test_a_node_limit_or_a_stop_ends_an_enumeration_that_says_so():
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


def test_the_least_cover_covers():
    rng = np.random.default_rng(5)
    sets = rng.random((6, 12)) < 0.4
    sets[:, 0] = True
    needs = rng.integers(1, 50, 6)
    cover = least_cover(sets, needs)
    assert np.all(sets @ cover >= needs - 1e-6)
    assert cover.sum() <= needs.max() + 1e-6


@pytest.mark.parametrize("kind", KINDS)
def test_prices_are_feasible_and_bounds_admissible(kind):
    for number in range(12):
        assert not faults_of_prices(pose(11, number * len(KINDS) + KINDS.index(kind)))


@pytest.mark.parametrize("kind", KINDS)
def test_prices_change_no_answer(kind):
    for number in range(3):
        assert not faults_of_solves(pose(12, number * len(KINDS) + KINDS.index(kind), rows=120, columns=8))


def test_lowered_prices_overcharge_none_of_the_leaves():
    leaves = RowCosts.of(pose(1, 0).problem()).leaves(pose(1, 0).problem())[0]
    pricing = Pricing(leaves)
    units = pricing.in_units(leaves.costs.max(axis=1) * 1.2)
    columns = conjunctions(leaves)
    lowered = pricing.lowered(units, columns)
    unit = 2.0**pricing.shift
    assert np.all(columns @ lowered <= (columns @ leaves.costs).min(axis=1) * unit + float(leaves.due) * unit)
    assert lowered.sum() < units.sum()
    assert pricing.exactly(lowered, 0, 10**6, 50).worst <= 0


def test_a_stop_ends_generation_at_once():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (300, 30))
    y = (X[:, 0] ^ X[:, 1]) ^ (rng.random(300) < 0.3)
    posed = Posed("errors", tasks.SparseAccuracy(0.01), X, y.astype(int), {}, 1, None)
    leaves = RowCosts.of(posed.problem()).leaves(posed.problem())[0]
    begin = time.perf_counter()
    Generation(leaves, np.zeros(ROWS_OF_CONTROL, np.int64), lambda prices: None).run(deadline=begin + 0.2)
    assert time.perf_counter() - begin < 30


@pytest.mark.parametrize("driver", [DepthFirst, Branches])
def test_a_search_that_is_stopped_keeps_the_bound_of_its_prices(driver, monkeypatch):
    monkeypatch.setattr(native_search, "_PATIENCE", 0.0)
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, (400, 24))
    y = ((X[:, 0] & X[:, 1]) ^ (rng.random(400) < 0.25)).astype(int)
    X[:, 2:] &= X[:, :1] | rng.integers(0, 2, (400, 22))
    result = streed.solve(tasks.SparseAccuracy(0.01), X, y, time_limit=4, search=driver())
    assert result.lower_bound <= result.value
    prices = result.stats["row_prices"]
    assert prices["rounds"] >= 1
    if prices["bound"] is not None:
        assert prices["bound"] <= result.value
        assert result.lower_bound >= prices["bound"]
