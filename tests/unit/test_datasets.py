"""The bundled data: the published counts, and the same data where they stand beside the repository."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from streed import datasets
from streed.data import Column
from streed.datasets.reading import read_table
from tests.unit.refusal import refused

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"

needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the real data stand in a folder 'shared' beside the repository, which is not here"
)

SIZES = {
    "balance-scale": (625, 4, {"B": 49, "L": 288, "R": 288}),
    "berkeley": (4526, 2, {"no": 2771, "yes": 1755}),
    "monks-1": (432, 6, {0: 216, 1: 216}),
    "monks-2": (432, 6, {0: 290, 1: 142}),
    "monks-3": (432, 6, {0: 204, 1: 228}),
    "tic-tac-toe": (958, 9, {"negative": 332, "positive": 626}),
}
"""Rows, attributes and class counts, as published (UCI; for Berkeley the sums of the table)."""


def rows_of(table: dict[str, list[Any]]) -> list[tuple[Any, ...]]:
    return list(zip(*table.values(), strict=True))


def shared_rows(file: str) -> list[tuple[Any, ...]]:
    return rows_of(read_table(SHARED / file)[0])


def test_names() -> None:
    assert datasets.names() == tuple(SIZES)
    refused("name", "'iris'", "berkeley", call=lambda: datasets.load("iris"))


@pytest.mark.parametrize("name", SIZES)
def test_published_sizes_and_class_counts(name: str) -> None:
    bundled = datasets.load(name)
    rows, attributes, classes = SIZES[name]
    assert bundled.name == name
    assert len(bundled.description) > 20
    assert len(bundled.source) > 20
    for one_hot in (False, True):
        data = bundled.dataset(one_hot=one_hot)
        assert data.n_rows == rows
        assert dict(zip(data.classes, data.class_totals(), strict=True)) == classes
        assert data.n_columns == attributes or one_hot


@pytest.mark.parametrize("name", [name for name in SIZES if name != "berkeley"])
def test_no_case_occurs_twice(name: str) -> None:
    rows = rows_of(datasets.load(name).table)
    assert len({row[:-1] for row in rows}) == len(rows)


def test_each_load_is_its_own() -> None:
    datasets.load("berkeley").table["gender"][0] = "changed"
    assert datasets.load("berkeley").table["gender"][0] == "male"


# -- the two forms of a bundled data set -------------------------------------------------------------------------------


def test_multiway_columns() -> None:
    data = datasets.load("berkeley").dataset(one_hot=False)
    assert data.columns == (
        Column("gender", ("female", "male"), False),
        Column("department", ("A", "B", "C", "D", "E", "F"), True),
    )
    monks = datasets.load("monks-1").dataset(one_hot=False)
    assert monks.categorical == (0, 1, 3, 4)
    assert monks.column(4) == Column("a5", (1, 2, 3, 4), True)
    assert monks.column(2) == Column("a3", (1, 2), False)


def test_one_hot_columns() -> None:
    bundled = datasets.load("berkeley")
    data = bundled.dataset()
    assert data.names == ("gender=male", *(f"department={d}" for d in "ABCDEF"))
    assert data.categorical == ()
    for j, name in enumerate(data.names):
        column, _, value = name.partition("=")
        assert data.X[:, j].tolist() == [int(v == value) for v in bundled.table[column]]
    assert datasets.load("monks-1").dataset().names[6:9] == ("a3=2", "a4=1", "a4=2")
    assert datasets.load("tic-tac-toe").dataset().n_columns == 27


def test_one_hot_of_binary_and_constant_columns() -> None:
    table: dict[str, list[Any]] = {"bit": [0, 1], "flag": [True, False], "two": ["b", "a"], "same": ["q", "q"]}
    assert datasets.one_hot(table) == {"bit": [0, 1], "flag": [1, 0], "two=b": [1, 0], "same=q": [1, 1]}


def test_another_target() -> None:
    data = datasets.load("berkeley").dataset("department", one_hot=False)
    assert data.names == ("gender", "admitted")
    assert data.classes == ("A", "B", "C", "D", "E", "F")
    assert data.class_totals() == [933, 585, 918, 792, 584, 714]
    refused("target", "'dept'", "department", call=lambda: datasets.load("berkeley").dataset("dept"))


# -- the published rules and tables ------------------------------------------------------------------------------------


def test_berkeley_totals() -> None:
    bundled = datasets.load("berkeley")
    assert bundled.sensitive == ("gender",)
    counts = Counter(zip(bundled.table["gender"], bundled.table["admitted"], strict=True))
    assert counts == {
        ("male", "yes"): 1198,
        ("male", "no"): 1493,
        ("female", "yes"): 557,
        ("female", "no"): 1278,
    }
    cells = Counter(rows_of(bundled.table))
    assert cells["male", "A", "no"] == 313
    assert cells["female", "A", "yes"] == 89
    assert cells["female", "C", "no"] == 391
    assert cells["male", "F", "yes"] == 22
    assert len(cells) == 24


def test_tic_tac_toe_boards() -> None:
    def full(board: str, mark: str) -> bool:
        lines = [board[i : i + 3] for i in (0, 3, 6)] + [board[i::3] for i in range(3)] + [board[::4], board[2:8:2]]
        return mark * 3 in lines

    outcomes: Counter[str] = Counter()
    for row in rows_of(datasets.load("tic-tac-toe").table):
        board = "".join(row[:9])
        x_wins, o_wins = full(board, "x"), full(board, "o")
        more = board.count("x") - board.count("o")
        assert not (x_wins and o_wins)
        assert more == (0 if o_wins else 1)
        assert x_wins or o_wins or "b" not in board
        assert (row[9] == "positive") == x_wins
        outcomes["x" if x_wins else "o" if o_wins else "draw"] += 1
    assert outcomes == {"x": 626, "o": 316, "draw": 16}


@pytest.mark.parametrize(
    ("name", "case", "expected"),
    [
        ("monks-1", (2, 2, 1, 1, 4, 1), 1),
        ("monks-1", (1, 2, 1, 1, 1, 1), 1),
        ("monks-1", (1, 2, 1, 1, 2, 1), 0),
        ("monks-2", (1, 1, 2, 2, 2, 2), 1),
        ("monks-2", (1, 1, 1, 2, 2, 2), 0),
        ("monks-2", (1, 2, 2, 2, 2, 2), 0),
        ("monks-3", (1, 3, 1, 1, 3, 1), 1),
        ("monks-3", (1, 2, 1, 2, 3, 1), 1),
        ("monks-3", (1, 2, 1, 2, 4, 1), 0),
        ("monks-3", (1, 3, 1, 1, 2, 1), 0),
    ],
)
def test_monks_cases(name: str, case: tuple[int, ...], expected: int) -> None:
    assert (*case, expected) in rows_of(datasets.load(name).table)


def test_balance_scale_cases() -> None:
    rows = rows_of(datasets.load("balance-scale").table)
    assert {(1, 1, 1, 1, "B"), (2, 3, 3, 2, "B"), (5, 1, 1, 4, "L"), (1, 4, 5, 1, "R")} <= set(rows)


# -- the same data beside the repository -------------------------------------------------------------------------------


@needs_shared
def test_tic_tac_toe_is_the_real_data() -> None:
    rows = rows_of(datasets.load("tic-tac-toe").table)
    one_hot = [(int(row[9] == "positive"), *(int(v == w) for v in row[:9] for w in "box")) for row in rows]
    assert Counter(one_hot) == Counter(shared_rows("classification/tic-tac-toe.csv"))
    codes = [(*("box".index(v) for v in row[:9]), int(row[9] == "positive")) for row in rows]
    assert Counter(codes) == Counter(shared_rows("sparse/tictactoe-o.txt"))


@needs_shared
def test_tic_tac_toe_one_hot_is_the_real_data_as_a_dataset() -> None:
    data = datasets.load("tic-tac-toe").dataset()
    ours = Counter((int(label), *row) for label, row in zip(data.class_numbers.tolist(), data.X.tolist(), strict=True))
    assert ours == Counter(shared_rows("classification/tic-tac-toe.csv"))


@needs_shared
@pytest.mark.parametrize(("name", "training", "noisy"), [("monks-1", 124, 0), ("monks-2", 169, 0), ("monks-3", 122, 6)])
def test_monks_hold_the_training_rows(name: str, training: int, noisy: int) -> None:
    cases = {tuple(v - 1 for v in row[:6]): row[6] for row in rows_of(datasets.load(name).table)}
    rows = shared_rows(f"sparse/{name.replace('monks-', 'monk')}-o.txt")
    assert len(rows) == training
    assert sum(cases[row[:6]] != row[6] for row in rows) == noisy


@needs_shared
def test_balance_scale_is_the_real_data() -> None:
    real = Counter(shared_rows("sparse/balance-o.txt"))  # the right side's columns stand first
    rows = rows_of(datasets.load("balance-scale").table)
    ours = [(*(row[i] - 1 for i in (3, 2, 1, 0)), "BLR".index(row[4])) for row in rows]
    assert Counter(ours) == real
    swapped = [(*row[:4], {0: 0, 1: 2, 2: 1}[row[4]]) for row in real]
    assert Counter(swapped) != real, "the sides are told apart"


@needs_shared
def test_one_hot_balance_scale_is_the_real_data_as_a_dataset() -> None:
    data = datasets.load("balance-scale").dataset()
    order = list(itertools.chain.from_iterable(range(5 * i, 5 * i + 5) for i in (3, 2, 1, 0)))
    ours = Counter(
        (*row, label) for row, label in zip(data.X[:, order].tolist(), data.class_numbers.tolist(), strict=True)
    )
    assert ours == Counter(shared_rows("sparse/balance.txt"))
