"""Counting by tables against matrix products in numpy, and the choice between it and counting bits, on every level."""

from __future__ import annotations

import itertools
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llvmlite import binding

from streed.exact import Array
from streed.kernels import target
from streed.kernels.compiled import entry
from streed.kernels.counting.look_up import AGAINST, look_up_bytes, look_up_tile
from streed.kernels.counting.pair_counts import MOST_UNITS, count_split, count_units
from streed.kernels.counting.units import build_nibbles, build_units, fill_up, split_words
from streed.kernels.pointers import engine_at
from streed.kernels.records import CHUNK, LANES, NIBBLE, UNIT_BYTES, UNIT_ROWS, WORD_ROWS
from streed.kernels.scoring.few_rows import are_few
from streed.kernels.simd import store
from streed.kernels.target import compresses, shuffled_bytes
from tests.unit.compacted import unpack_units
from tests.unit.kernel_harness import Bench, Instance, make_instance

shuffles = pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64"), reason="the tables need an instruction of x86"
)

tables = pytest.mark.skipif(
    not target.shuffles(target.this_machine()), reason="the tables need an instruction that the target does not have"
)


# -- the choice ----------------------------------------------------------------------------------------------------


def _machine(cpu: str, features: str = "") -> Any:
    return binding.Target.from_triple("x86_64-unknown-linux-gnu").create_target_machine(cpu=cpu, features=features)


BITALG = "+avx512bitalg,+avx512vpopcntdq"


@shuffles
@pytest.mark.parametrize(
    ("cpu", "features", "shuffled", "compressed"),
    [
        ("x86-64", "", 0, False),
        ("x86-64-v2", "", 16, False),
        ("haswell", "", 32, False),
        ("x86-64-v3", "", 32, False),
        ("x86-64-v4", "", 32, True),
        ("skylake-avx512", "", 32, True),
        ("icelake-client", "", 0, True),
        ("znver4", "", 0, True),
        ("x86-64-v4", BITALG, 0, True),
        ("x86-64-v4", f"{BITALG},+prefer-256-bit", 0, True),
    ],
)
def test_what_processors_can_do(cpu: str, features: str, shuffled: int, compressed: bool) -> None:
    machine = _machine(cpu, features)
    assert (shuffled_bytes(machine), compresses(machine)) == (shuffled, compressed)
    assert target.shuffles(machine) == (cpu != "x86-64")


# -- units ---------------------------------------------------------------------------------------------------------


@entry
def _build(rows, row_bits, blocks, units, unit):  # type: ignore[no-untyped-def]
    return build_units(rows, 0, len(rows), row_bits, blocks, units, unit)


@entry
def _split(words, begin, end, units):  # type: ignore[no-untyped-def]
    return split_words(words, begin, end, words.shape[1], units)


@entry
def _tile(units, begin, end, j, k, out):  # type: ignore[no-untyped-def]
    a0, a1, a2, a3 = look_up_tile(units, begin, end, j, k)
    store(out, 0, 0, a0)
    store(out, 1, 0, a1)
    store(out, 2, 0, a2)
    store(out, 3, 0, a3)


@entry
def _mixed(rows, of_first, row_bits, blocks, units, j, k, out):  # type: ignore[no-untyped-def]
    """What is added to the counts of the first rows, less those of the others, in out: bytes (4, 32)."""
    used = build_nibbles(rows, 0, of_first, row_bits, blocks, units, 0, 0)
    others = build_nibbles(rows, of_first, len(rows) - of_first, row_bits, blocks, units, used, AGAINST)
    b0, b1, b2, b3 = look_up_bytes(units, 0, fill_up(units, used + others, blocks), j, k)
    store(out, 0, 0, b0)
    store(out, 1, 0, b1)
    store(out, 2, 0, b2)
    store(out, 3, 0, b3)
    return NIBBLE * others


@entry
def _pairs(units, begins, columns, multipliers, pairs, stride):  # type: ignore[no-untyped-def]
    count_units(units, begins, len(begins) - 1, columns, multipliers, multipliers.shape[1], pairs, stride)


@entry
def _pairs_of_words(words, begins, columns, multipliers, pairs, units):  # type: ignore[no-untyped-def]
    groups = len(begins) - 1
    count_split(words, begins, groups, columns, multipliers, multipliers.shape[1], pairs, words.shape[1], units)


def _draw(rng: np.random.Generator, rows: int, columns: int) -> tuple[Array, Array]:
    """0/1 (rows, columns padded to lanes), and the same as bits (rows, blocks) int32."""
    stride = -(-max(columns, 1) // LANES) * LANES
    bits = np.zeros((rows, stride), np.uint8)
    bits[:, :columns] = rng.random((rows, columns)) < rng.uniform(0, 1, columns)
    return bits, np.packbits(bits, axis=1, bitorder="little").view(np.int32)


def _room(units: int, stride: int) -> Array:
    return np.full((units, UNIT_BYTES * stride), 99, np.int8)


def _words_of(bits: Array, begins: list[int]) -> tuple[Array, Array]:
    """Words (w, stride) int16 of the rows, every group from a word of its own, and where groups begin in them."""
    words, starts = [np.zeros((0, bits.shape[1]), np.uint16)], [0]
    for begin, end in itertools.pairwise(begins):
        group = np.zeros((-(-(end - begin) // WORD_ROWS) * WORD_ROWS, bits.shape[1]), np.uint16)
        group[: end - begin] = bits[begin:end]
        group = group.reshape(-1, WORD_ROWS, bits.shape[1]) << np.arange(WORD_ROWS, dtype=np.uint16)[None, :, None]
        words.append(group.sum(axis=1, dtype=np.uint16))
        starts.append(starts[-1] + len(words[-1]))
    return np.concatenate(words).view(np.int16), np.array(starts)


SIZES = [0, 1, 3, 4, 5, 11, 12, 13, 16, 47, 48, 240, 251, 252, 253, 500]


@tables
@pytest.mark.parametrize("rows", SIZES)
def test_units_hold_the_rows(rows: int) -> None:
    rng = np.random.default_rng(rows)
    bits, packed = _draw(rng, max(rows, 1), 70)
    chosen = rng.permutation(rows).astype(np.int32)
    units = _room(3 + rows // UNIT_ROWS, 96)
    used = _build(chosen, packed, 3, units, 1)
    assert used == -(-rows // UNIT_ROWS)
    assert (units[0] == 99).all()
    assert (units[1 + used :] == 99).all()
    assert (unpack_units(units[1 : 1 + used], np.array([0, used]), [rows]) == bits[chosen]).all()


@tables
@pytest.mark.parametrize("words", [0, 1, 2, 3, 14, 15])
def test_words_are_split(words: int) -> None:
    bits, _ = _draw(np.random.default_rng(words), WORD_ROWS * 20, 40)
    split, _ = _words_of(bits, [0, len(bits)])
    units = _room(CHUNK, 64)
    used = _split(split, 2, 2 + words, units)
    assert used == -(-words * WORD_ROWS // UNIT_ROWS)
    found = unpack_units(units[:used], np.array([0, used]), [words * WORD_ROWS])
    assert (found == bits[2 * WORD_ROWS : (2 + words) * WORD_ROWS]).all()


@tables
@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("full", [False, True])
def test_tiles_are_counts(rows: int, full: bool) -> None:
    rng = np.random.default_rng(rows)
    bits, packed = _draw(rng, max(rows, 1), 64)
    if full:
        bits[:], packed[:] = 1, -1
    units = _room(1 + rows // UNIT_ROWS, 64)
    used = _build(np.arange(rows, dtype=np.int32), packed, 2, units, 0)
    expected = bits[:rows].T.astype(np.int64) @ bits[:rows]
    out = np.zeros((4, LANES), np.int16)
    for j in range(0, 64, 4):
        for k in (0, 32):
            _tile(units, 0, used, j, k, out)
            assert (out == expected[j : j + 4, k : k + LANES]).all()


@tables
def test_tiles_count_up_to_the_most_that_16_bits_hold() -> None:
    units = _room(MOST_UNITS, 32)
    rows = MOST_UNITS * UNIT_ROWS
    assert _build(np.arange(rows, dtype=np.int32), np.full((rows, 1), -1, np.int32), 1, units, 0) == MOST_UNITS
    out = np.zeros((4, LANES), np.int16)
    _tile(units, 0, MOST_UNITS, 4, 0, out)
    assert (out == rows).all()
    assert rows <= np.iinfo(np.int16).max < rows + UNIT_ROWS


@tables
@pytest.mark.parametrize("rows", [1, 12, 100, 251, 252])
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("full", [False, True])
def test_rows_for_and_against_meet_in_a_byte(rows: int, share: float, full: bool) -> None:
    rng = np.random.default_rng(rows)
    bits, packed = _draw(rng, rows, 60)
    if full:
        bits[:, :60], packed[:] = 1, [-1, 2**28 - 1]
    first = int(share * rows)
    if rows == 252 and share == 0.5:
        first = 128  # whole nibbles of both, or 252 rows take more than a byte holds
    signs = np.where(np.arange(rows) < first, 1, -1)
    expected = bits.T.astype(np.int64) @ (bits * signs[:, None])
    units = _room(rows // UNIT_ROWS + 2, 64)
    out = np.zeros((4, LANES), np.int8)
    for j in range(0, 64, 4):
        for k in (0, 32):
            added = _mixed(np.arange(rows, dtype=np.int32), first, packed, 2, units, j, k, out)
            assert added == -(-(rows - first) // NIBBLE) * NIBBLE
            assert (out.view(np.uint8).astype(np.int64) - added == expected[j : j + 4, k : k + LANES]).all()


@tables
@pytest.mark.parametrize("lane", [np.int16, np.int32, np.int64])
@given(seed=st.integers(0, 2**32))
@settings(deadline=None, max_examples=12)
def test_pair_sums_of_units_and_words_are_matrix_products(lane: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = int(rng.choice([1, 4, 31, 33, 64]))
    begins = [0, *np.cumsum(rng.choice([0, 1, 12, 30, 241, 300], rng.integers(1, 4))).tolist()]
    bits, packed = _draw(rng, max(begins[-1], 1), columns)
    multipliers = rng.integers(-3, 4, (len(begins) - 1, 2))
    stride = bits.shape[1]
    amounts = np.repeat(multipliers, np.diff(begins), axis=0)
    having = bits[: begins[-1]].astype(np.int64)
    expected = np.stack([having.T @ (having * amount[:, None]) for amount in amounts.T])
    units = _room(begins[-1] // UNIT_ROWS + len(begins), stride)
    starts = [0]
    for begin, end in itertools.pairwise(begins):
        starts.append(
            starts[-1] + _build(np.arange(begin, end, dtype=np.int32), packed, stride // 32, units, starts[-1])
        )
    pairs = np.full((2 * stride, stride), 77, lane)
    _pairs(units, np.array(starts), columns, multipliers, pairs, stride)
    assert (pairs.reshape(2, stride, stride)[:, :columns] == expected[:, :columns]).all()
    words, starts_of_words = _words_of(bits[: begins[-1]], begins)
    pairs[:] = 77
    _pairs_of_words(words, starts_of_words, columns, multipliers, pairs, _room(CHUNK, stride))
    assert (pairs.reshape(2, stride, stride)[:, :columns] == expected[:, :columns]).all()


# -- children of few rows ------------------------------------------------------------------------------------------


@entry
def _are_few(engine, column, side):  # type: ignore[no-untyped-def]
    return are_few(engine_at(engine), np.int16, column, side)


def _instance_of(rng: np.random.Generator, rows: int, small: int, labels_cost: int = 1) -> Instance:
    """An instance of which `small` rows have column 0."""
    instance = make_instance(rng, rows=rows, binary=9)
    instance.data.X[:, 0] = rng.permutation(np.arange(rows) < small)
    instance.costs[:] *= labels_cost
    return instance


@pytest.mark.parametrize(("small", "cost", "few"), [(244, 1, True), (245, 1, False), (1, 1, True), (100, 2, False)])
def test_what_few_rows_are(small: int, cost: int, few: bool) -> None:
    instance = _instance_of(np.random.default_rng(small), 600, small, cost)
    with Bench(instance) as bench:
        bench.load()
        assert int(bench.engine["groups"]) == 2
        column = bench.active().index(0)
        assert _are_few(bench.engine.address, column, 1) == few
        assert not _are_few(bench.engine.address, column, 0)


@pytest.mark.parametrize(("weight", "few"), [(2**15 - 1 - 252, True), (2**15 - 252, False)])
def test_few_rows_need_room_in_the_lanes(weight: int, few: bool) -> None:
    instance = _instance_of(np.random.default_rng(0), 300, 50)
    with Bench(instance) as bench:
        bench.load()
        bench.engine["weight"] = weight
        assert _are_few(bench.engine.address, bench.active().index(0), 1) == few


@pytest.mark.parametrize("lane", [np.int16, np.int32, np.int64])
@pytest.mark.parametrize("small", [1, 5, 130, 243, 244, 245, 300])
def test_children_around_what_a_byte_holds(lane: Any, small: int) -> None:
    instance = _instance_of(np.random.default_rng(small), 620, small)
    with Bench(instance, lane=lane) as bench:
        bench.load()
        bench.call("prepare")
        everything = instance.everything()
        for column in range(len(bench.active())):
            sides = bench.sides(everything, column)
            assert bench.solve_children(column) == tuple(instance.optimum(side, 2) for side in sides)


@pytest.mark.parametrize("label", [0, 1])
def test_children_with_one_label_only(label: int) -> None:
    rng = np.random.default_rng(label)
    instance = _instance_of(rng, 300, 120)
    instance.costs[instance.data.X[:, 0] == 1] = [label, 1 - label]
    with Bench(instance) as bench:
        bench.load()
        bench.call("prepare")
        column = bench.active().index(0)
        without, having = bench.sides(instance.everything(), column)
        assert bench.solve_children(column) == (instance.optimum(without, 2), 0)
        assert having.sum() == 120


# -- levels --------------------------------------------------------------------------------------------------------


LEVELS = [
    pytest.param("x86-64", "sse2", marks=pytest.mark.slow),
    pytest.param("x86-64-v2", "ssse3", marks=pytest.mark.slow),
    pytest.param("x86-64-v3", "avx2", marks=pytest.mark.compiles),
    pytest.param("x86-64-v4", "avx512vl", marks=pytest.mark.slow),
]
"""With what each needs. Each compiles all these kernels anew, so all but one are for the long run."""


@shuffles
@pytest.mark.parametrize(("cpu", "needed"), LEVELS)
def test_kernels_of_other_processors(cpu: str, needed: str, tmp_path: Path) -> None:
    if not binding.get_host_cpu_features().get(needed, False):
        pytest.skip(f"this processor does not run code for {cpu}")
    room = Path(__file__).parent
    files = [room / f"test_kernels_{name}.py" for name in ("pair_counts", "rows", "depth_two", "look_up", "set_bits")]
    environment = os.environ | {"NUMBA_CPU_NAME": cpu, "NUMBA_CPU_FEATURES": "", "STREED_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *map(str, files)]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=600)
    assert found.returncode == 0, found.stdout[-3000:]
