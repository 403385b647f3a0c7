from __future__ import annotations

import pytest

from tests.differential.proofs import judge


@pytest.mark.parametrize("block", range(4))
def test_whatever_the_checker_accepts_is_true(block: int) -> None:
    for number in range(15 * block, 15 * (block + 1)):
        _, wrong = judge(7, number)
        assert not wrong
