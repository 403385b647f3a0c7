"""A sample of `python -m tests.differential.exports`: every form that can be run here, on hostile tables."""

from __future__ import annotations

import numpy as np
import pytest

from tests.differential.exports import CANNOT, FORMS, available, draw, main, mismatches

pytestmark = pytest.mark.compiles


@pytest.mark.parametrize("form", list(FORMS))
def test_exported_forms_answer_as_the_tree_does(form: str) -> None:
    if form not in available():
        pytest.skip(f"{form}: not installed")
    cases = [draw(np.random.default_rng([9, number])) for number in range(12)]
    assert [said for case in cases for said in mismatches(case, [form]) if said[1] != CANNOT] == []
    # Trees with questions, and rows without an answer, are among them.
    assert sum(case.tree.n_branches > 0 for case in cases) > 6
    assert any("no answer" in case.expected for case in cases)


def test_the_count_that_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--tables", "2", "--seed", "3"]) == 0
    told = capsys.readouterr().out
    assert "2 of 2 tables" in told
    assert "0 mismatches" in told
