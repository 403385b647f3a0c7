"""Cases that were once answered wrongly, as `explore` wrote them down, and how it finds and keeps them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.differential import explore
from tests.differential.fuzzers import FUZZERS, Fuzzer

pytestmark = pytest.mark.compiles

CASES = sorted(explore.CASES.glob("*.json"))


def test_cases_that_once_failed() -> None:
    for path in CASES:
        case = json.loads(path.read_text(encoding="utf-8"))
        assert FUZZERS[case["fuzzer"]].replay(case) == [], path.name


def test_exploring_writes_a_case_that_can_be_tried_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def wrong(seed: int, number: int) -> list[str]:
        return ["too large"] if number == 2 else []

    fuzzers = {"found": Fuzzer(wrong), "sound": Fuzzer(lambda seed, number: [])}
    arguments = ["--minutes", "0.002", "--seed", "7", "--cases", str(tmp_path)]
    assert explore.main(arguments, fuzzers) == 1
    (path,) = tmp_path.glob("*.json")
    case = json.loads(path.read_text(encoding="utf-8"))
    assert case == {"fuzzer": "found", "seed": 7, "number": 2}
    assert fuzzers["found"].replay(case) == ["too large"]
    assert "seed 7" in capsys.readouterr().out


def test_an_exception_is_wrong() -> None:
    def broken(seed: int, number: int) -> list[str]:
        raise ZeroDivisionError

    assert "ZeroDivisionError" in explore.try_one(Fuzzer(broken), 0, 0)[0]


MARKS: dict[str, Any] = {"volume costs": (), "engine": pytest.mark.compiles}
"""The others compile more."""


@pytest.mark.parametrize("name", [pytest.param(k, marks=MARKS.get(k, pytest.mark.slow)) for k in FUZZERS])
def test_every_fuzzer_finds_nothing_in_a_few_problems(name: str) -> None:
    assert [found for number in range(4) if (found := FUZZERS[name].wrong(11, number))] == []
