"""A sample of `python -m tests.differential.exports`: every form that can be run here, on hostile tables."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.differential.export_forms import CANNOT, FORMS, Form, available, mismatches, other_python
from tests.differential.exports import compare, draw, main

pytestmark = pytest.mark.compiles


@pytest.mark.parametrize("form", list(FORMS))
def test_exported_forms_answer_as_the_tree_does(form: str) -> None:
    if form not in available():
        pytest.skip(f"{form}: not installed")
    cases = [draw(np.random.default_rng([9, number])) for number in range(12)]
    assert [said for case in cases for said in mismatches(case, {form: FORMS[form]}) if said[1] != CANNOT] == []
    # Trees with questions, and rows without an answer, are among them.
    assert sum(case.tree.n_branches > 0 for case in cases) > 6
    assert any("no answer" in case.expected for case in cases)


def test_the_count_that_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = tmp_path / "exports.json"
    assert main(["--tables", "2", "--seed", "3", "--json", str(written)]) == 0
    told = capsys.readouterr().out
    assert "0 mismatches" in told
    rows = {row["form"]: row for row in json.loads(written.read_text(encoding="utf-8"))["rows"]}
    assert rows["JSON"]["tables"] == rows["JSON"]["same"] == 2
    assert rows["JSON"]["rows"] == 60


def test_a_wrong_form_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = Form(lambda case: ["another", *case.expected[1:]])
    found = compare({"wrong": wrong}, tables=2, seed=3)
    assert found["mismatches"] == 2
    assert (found["rows"][0]["same"], found["rows"][0]["rows"]) == (0, 0)
    assert "table 1, wrong: row" in capsys.readouterr().out


def test_another_interpreter_answers_as_the_tree_does() -> None:
    name, form = other_python(sys.executable)
    case = draw(np.random.default_rng([9, 1]))
    assert list(mismatches(case, {name: form})) == []
    assert form.version.startswith("Python 3.")
