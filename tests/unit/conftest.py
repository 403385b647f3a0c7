"""The shell as tests call it: in this process, on a small table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from streed.cli.app import app

PLAY = """outlook,windy,humidity,times,play
sunny,0,70,1,no
sunny,1,70,1,no
overcast,0,70,2,yes
rain,0,70,1,yes
rain,0,80,1,yes
rain,1,80,1,no
overcast,1,80,3,yes
"""


def run(*arguments: str, code: int = 0, text: str | None = None) -> Result:
    result = CliRunner().invoke(app, list(arguments), prog_name="streed", input=text)
    assert result.exit_code == code, (result.output, result.exception)
    return result


def run_json(*arguments: str, code: int = 0) -> Any:
    return json.loads(run(*arguments, "--json", code=code).stdout)


def refused(*arguments: str) -> str:
    result = run(*arguments, code=2)
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


def solve(*arguments: str, code: int = 0) -> Any:
    return run_json("solve", *arguments, code=code)


def saved(play: str, tmp_path: Path) -> tuple[Path, Any]:
    path = tmp_path / "tree.json"
    solve(play, "--target", "play", "--weights", "times", "--task", "sparse-accuracy(0.01)", "--out", str(path))
    return path, json.loads(path.read_text(encoding="utf-8"))


def change_leaf(document: Any, **changes: Any) -> None:
    next(node for node in document["nodes"] if "label" in node).update(changes)


@pytest.fixture
def play(tmp_path: Path) -> str:
    path = tmp_path / "play.csv"
    path.write_text(PLAY, encoding="utf-8")
    return str(path)
