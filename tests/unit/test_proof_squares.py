"""Proofs about squared errors: what is found is proved by both checkers, and nothing more than is true is."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import streed
from streed import proof
from streed.errors import InputError, TaskError
from streed.exact import Array
from streed.proof import check, check_limits, check_squares
from streed.proof.checker import run_checker
from streed.proof.compiled_squares import CompiledSquares
from streed.tasks import SquaredError
from tests.unit.test_proofs import HOSTILE

pytestmark = pytest.mark.compiles


def _data(seed: int, n: int = 40, p: int = 5) -> tuple[Array, Array]:
    draw = np.random.default_rng(seed)
    return draw.integers(0, 2, (n, p)), (draw.integers(-4, 5, n) if seed % 2 else draw.normal(size=n).round(2))


CASES: list[tuple[SquaredError, dict[str, Any]]] = [
    (SquaredError(), {"max_depth": 0}),
    (SquaredError(), {"max_depth": 2}),
    (SquaredError(), {"max_depth": 3}),
    (SquaredError(), {"max_depth": 3, "min_leaf": 3}),
    (SquaredError(0.5), {"max_depth": 4}),
    (SquaredError(0.02, normalized=True), {"max_depth": 4}),
    (SquaredError(0.05, normalized=True), {"max_depth": None}),
]


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("task", "limits"), CASES)
def test_what_solve_finds_is_proved_by_both_checkers(
    task: SquaredError, limits: dict[str, Any], seed: int, tmp_path: Path, capsys: Any
) -> None:
    X, y = _data(seed)
    made = proof.prove(streed.solve(task, X, y, **limits), X, y)
    assert made.optimal
    files = [str(tmp_path / "tree.proof"), str(tmp_path / "table.csv")]
    made.save(*files)
    for compiled in (False, True):
        assert run_checker([*files, *made.arguments], compiled=compiled) == 0
        assert "it is optimal" in capsys.readouterr().out


def test_weights_copies_categories_and_thresholds() -> None:
    X, y = _data(3)
    X[:, 0] = np.arange(40) % 4
    weights = [0.5, 0.25, 2, 0] * 10
    result = streed.solve(SquaredError(), X, y, sample_weight=weights, categorical=[0], max_depth=3)
    assert proof.prove(result, X, y, sample_weight=weights, categorical=[0]).optimal
    copies = [1, 3] * 20
    result = streed.solve(SquaredError(), X[:, 1:], y, frequency=copies, max_depth=3)
    assert proof.prove(result, X[:, 1:], y, frequency=copies).optimal
    numbers = np.random.default_rng(4).normal(size=(40, 2)).round(1)
    result = streed.solve(SquaredError(), numbers, y, max_depth=2)
    assert proof.prove(result, numbers, y).optimal


def test_the_grid_alone_would_not_decide() -> None:
    """Costs that are thirds are rounded down; fractions of the leaves close what that leaves open."""
    X, y = np.array([[0], [0], [0], [1]]), np.array([0, 0, 1, 5])
    made = proof.prove(streed.solve(SquaredError(), X, y, max_depth=1), X, y)
    assert made.cost == made.bound == Fraction(2, 3)


def test_a_worse_tree_is_not_proved_optimal() -> None:
    X, y = _data(1)
    best = proof.prove(streed.solve(SquaredError(), X, y, max_depth=3), X, y)
    worse = proof.prove(streed.solve(SquaredError(), X, y, max_depth=1), X, y, limits={"max_depth": 3})
    assert not worse.optimal
    assert worse.bound == best.cost
    assert "no tree costs less than" in worse.check()
    stopped = proof.prove(streed.solve(SquaredError(), X, y, max_depth=4), X, y, time_limit=0)
    assert stopped.bound <= stopped.cost
    stopped.check()


def test_what_is_out_of_reach_is_refused(tmp_path: Path) -> None:
    X, y = _data(1)
    with pytest.raises(TaskError, match="limit on nodes"):
        proof.prove(streed.solve(SquaredError(), X, y, max_depth=2, max_nodes=2), X, y)
    fine = np.random.default_rng(0).normal(size=40)
    with pytest.raises(InputError, match="too fine"):
        proof.prove(streed.solve(SquaredError(), X, fine, max_depth=2), X, fine)
    with pytest.raises(InputError, match="too fine"):
        streed.solve(SquaredError(), X, [10**8 + 1, *y[1:]], max_depth=2, proof=tmp_path / "tree.proof")


def test_a_solve_writes_its_proof(tmp_path: Path) -> None:
    X, y = _data(1)
    result = streed.solve(SquaredError(), X, y, max_depth=3, proof=tmp_path / "tree.proof")
    assert result.stats["proof"]["optimal"]
    assert run_checker(result.stats["proof"]["check"][2:]) == 0


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, list[str]]:
    X, y = _data(1)
    made = proof.prove(streed.solve(SquaredError(), X, y, max_depth=4), X, y)
    made.save(tmp_path / "tree.proof", tmp_path / "table.csv")
    return tmp_path, list(made.arguments)


def test_the_checker_needs_the_two_files_beside_it_and_numpy(files: tuple[Path, list[str]]) -> None:
    folder, arguments = files
    for module in (check, check_limits, check_squares):
        shutil.copy(str(module.__file__), folder)
    script = (
        "import sys; sys.argv = sys.argv[1:]; import runpy; sys.path.insert(0, '.')\n"
        "sys.modules['streed'] = sys.modules['numba'] = None\n"
        "runpy.run_path('check_squares.py', run_name='__main__')\n"
    )
    call = [sys.executable, "-c", script, "check_squares.py", "tree.proof", "table.csv", *arguments]
    found = subprocess.run(call, cwd=folder, capture_output=True, text=True, check=False, timeout=600)
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith("PROVED")
    assert len(Path(str(check_squares.__file__)).read_text(encoding="utf-8").splitlines()) <= 400


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_end_in_a_message_soon(files: tuple[Path, list[str]], capsys: Any, name: str) -> None:
    folder, arguments = files
    (folder / "tree.proof").write_bytes(HOSTILE[name])
    began = time.process_time()
    code = check_squares.main([str(folder / "tree.proof"), str(folder / "table.csv"), *arguments])
    assert code == 1
    assert capsys.readouterr().out.startswith("REJECTED: ")
    assert time.process_time() - began < 60  # it would take hours


@pytest.mark.parametrize("n", [8, 31, 64, 65])
def test_compiled_sums_are_those_of_numpy(n: int) -> None:
    draw = np.random.default_rng(n)
    for split, min_leaf, codes in ((0, 1, 2), (3, 1, 4), (1, 3, 3)):
        X = draw.integers(0, codes, (n, 4)).astype(np.uint8)
        y, w = draw.integers(0, 9, n), draw.integers(0, 3, n)
        goal = check_squares.Goal(y, w, Fraction(split), Fraction(1), Fraction(0), "")
        limits = check.Limits(4, min_leaf)
        plain, compiled = check_squares.SquaredSums(X, goal, limits), CompiledSquares(X, goal, limits)
        for rows in (np.arange(n), np.flatnonzero(X[:, 0] == X[0, 0])):
            for one, other in zip(plain.sides(rows)[1:3], compiled.sides(rows)[1:3], strict=True):
                assert np.array_equal(np.minimum(one, plain.big), np.minimum(other, plain.big))


def test_too_many_sets_leave_what_the_claims_say(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = _data(0)
    monkeypatch.setattr(check_squares, "MOST_FOLLOWED", 0)
    made = proof.prove(streed.solve(SquaredError(), X, y, max_depth=4), X, y)
    assert not made.optimal
    assert float(made.cost - made.bound) < 1e-6


def test_leaves_without_rows_do_not_make_more_leaves_than_rows() -> None:
    X, y = [[0, 0], [1, 1], [2, 3], [0, 3]], [0, 5, 9, 2]
    result = streed.solve(SquaredError(), X, y, max_depth=3, categorical=[0, 1])
    assert result.tree is not None
    assert result.tree.n_leaves > len(X)
    made = proof.prove(result, X, y, categorical=[0, 1])
    assert made.optimal
    assert "it is optimal" in made.check()
