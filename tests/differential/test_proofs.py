from __future__ import annotations

from pathlib import Path

import pytest

from tests.differential import proof_claims, proof_files
from tests.differential.proofs import judge

pytestmark = pytest.mark.compiles


@pytest.mark.parametrize("block", range(4))
def test_whatever_the_checker_accepts_is_true(block: int) -> None:
    for number in range(15 * block, 15 * (block + 1)):
        _, wrong = judge(7, number)
        assert not wrong


@pytest.mark.parametrize("block", range(4))
def test_no_claim_can_be_pushed_above_the_optimum(block: int) -> None:
    for number in range(15 * block, 15 * (block + 1)):
        _, wrong = proof_claims.judge(7, number)
        assert not wrong


def test_leaves_of_few_rows_and_columns_of_three_codes() -> None:
    _, wrong = proof_claims.judge(0, 3300)  # once pushed above the optimum
    assert not wrong


@pytest.mark.parametrize("number", range(12))
def test_changed_files_prove_nothing_that_is_false(number: int, tmp_path: Path) -> None:
    _, wrong = proof_files.judge(7, number, tmp_path)
    assert not wrong
