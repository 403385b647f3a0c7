"""Proofs by row prices: they are accepted if every leaf allows it, bounds are true, the rest is refused."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import streed
from streed import proof
from streed.cli.app import app
from streed.errors import InputError, TaskError
from streed.proof import by_prices, check, check_prices
from streed.proof.format import to_bytes
from streed.tasks import F1, Accuracy, DemographicParity, SparseAccuracy, SquaredError
from tests.differential.proof_prices import judge
from tests.unit.specimens import labels

pytestmark = pytest.mark.compiles


def test_prices_are_accepted_if_and_only_if_no_leaf_is_charged_too_much() -> None:
    seen: Counter[str] = Counter()
    for number in range(400):
        tried, wrong = judge(17, number)
        assert not wrong
        seen += tried
    assert min(seen["accepted"], seen["rejected"]) > 60


CASES: list[tuple[float, dict[str, Any], dict[str, Any]]] = [
    (0.02, {}, {}),
    (0.05, {"min_leaf": 4}, {}),
    (0.03, {"max_depth": 3}, {}),
    (0.02, {}, {"categorical": [0]}),
]


@pytest.mark.parametrize(("price", "limits", "given"), CASES)
def test_bounds_are_proved_and_true(
    price: float, limits: dict[str, Any], given: dict[str, Any], tmp_path: Path
) -> None:
    X, y = labels()
    if given:
        X = X.astype(int)
        X[:, 0] += X[:, 1] * X[:, 2]
    result = streed.solve(SparseAccuracy(price), X, y, **limits, **given)
    made = proof.prove(result, X, y, row_prices=True, **given)
    assert 0 < made.bound <= made.cost
    assert by_prices.FLAG in made.arguments
    code, verdict = (0, "PROVED") if made.bound == made.cost else (3, "BOUND ONLY")
    assert verdict in made.check()
    made.save(tmp_path / "bound.proof", tmp_path / "table.csv")
    files = ["bound.proof", "table.csv"]
    words = [each for each in made.arguments if each != by_prices.FLAG]
    for name in ("check.py", "check_prices.py"):
        shutil.copy(Path(check_prices.__file__).with_name(name), tmp_path)
    alone = subprocess.run(
        [sys.executable, "check_prices.py", *files, *words],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert alone.returncode == code, alone.stderr
    assert alone.stdout.splitlines()[:2] == made.check().splitlines()[:2]
    compiled = CliRunner().invoke(
        app, ["check-proof", "--compiled", *(str(tmp_path / each) for each in files), *made.arguments]
    )
    assert compiled.exit_code == code, compiled.output


def test_a_program_without_a_gap_proves_the_optimum() -> None:
    X = np.array([[a, b] for a in (0, 1) for b in (0, 1)] * 10, np.uint8)
    y = X[:, 0] ^ X[:, 1]
    task = SparseAccuracy(0.05)
    made = proof.prove(streed.solve(task, X, y), X, y, row_prices=True)
    assert made.bound == made.cost == 6
    assert made.optimal


def test_changed_files_prove_nothing_that_is_not_true(tmp_path: Path) -> None:
    X, y = labels()
    result = streed.solve(SparseAccuracy(0.02), X, y)
    made = proof.prove(result, X, y, row_prices=True)
    header, body = check.read_file(made.data)
    codes = check.read_numbers(body)
    rng, accepted = np.random.default_rng(5), 0
    (tmp_path / "table.csv").write_bytes(made.table)
    arguments = [str(tmp_path / "bound.proof"), str(tmp_path / "table.csv"), *made.arguments]
    for _ in range(30):
        changed = codes.copy()
        changed[rng.integers(1, len(codes), 3)] += rng.integers(0, 200, 3) * 2
        (tmp_path / "bound.proof").write_bytes(to_bytes(header, changed))
        code = by_prices.main(arguments, compiled=True)
        accepted += code == 0
        assert code in (0, 1)
        assert code == 1 or changed.tolist() == codes.tolist() or made.bound <= made.cost
    for raw, meant in ((made.data[:-3], 1), (b"nothing", 1), (to_bytes(header, codes[:-1]), 1)):
        (tmp_path / "bound.proof").write_bytes(raw)
        assert by_prices.main(arguments) == meant
    assert accepted < 30


@pytest.mark.parametrize(
    "task", [Accuracy(), F1(), SquaredError(), SparseAccuracy(0.02).subject_to(DemographicParity() <= 0.2)]
)
def test_what_has_no_row_prices_is_refused(task: Any) -> None:
    X, y = labels()
    extra = {"sensitive_features": X[:, 0]} if task.limits or "Parity" in repr(task) else {}
    result = streed.solve(task, X, y, max_depth=2, **extra)
    with pytest.raises(TaskError, match="price"):
        proof.prove(result, X, y, row_prices=True, **extra)


def test_many_different_rows_are_refused() -> None:
    X = ((np.arange(2100)[:, None] >> np.arange(12)) & 1).astype(np.uint8)
    y = X[:, 0]
    result = streed.solve(SparseAccuracy(0.1), X, y)
    with pytest.raises(InputError, match="2,000"):
        proof.prove(result, X, y, row_prices=True)
