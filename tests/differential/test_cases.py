"""Cases that were once answered wrongly, as `explore` wrote them down, are answered rightly; and it finds and keeps them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.differential import explore
from tests.differential.fuzzers import FUZZERS, Fuzzer

CASES = sorted(explore.CASES.glob("*.json"))


@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_a_case_that_once_failed(path: Path) -> None:
    case = json.loads(path.read_text(encoding="utf-8"))
    assert FUZZERS[case["fuzzer"]].replay(case) == []


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


@pytest.mark.parametrize("name", [name for name in FUZZERS if name not in ("generated", "applications", "volume user-tasks")])
def test_every_fuzzer_draws_the_same_problem_again(name: str) -> None:
    found: list[Any] = [FUZZERS[name].wrong(11, number) for number in (0, 1)]
    assert found == [[], []]
