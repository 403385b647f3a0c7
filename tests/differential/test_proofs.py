from __future__ import annotations

from pathlib import Path

import pytest

from tests.differential import proof_files, proofs


@pytest.mark.parametrize("block", range(3))
def test_whatever_the_checker_accepts_is_true(block: int) -> None:
    for number in range(25 * block, 25 * (block + 1)):
        _, wrong = proofs.judge(7, number)
        assert not wrong


@pytest.mark.compiles
@pytest.mark.parametrize("number", range(12))
def test_proofs_of_every_kind_and_changed_files_say_what_is_true(number: int, tmp_path: Path) -> None:
    _, wrong = proof_files.judge(7, number, tmp_path)
    assert not wrong
