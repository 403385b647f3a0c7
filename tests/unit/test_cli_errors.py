"""Whatever the shell is given: one line and exit code 2, standard input by "-", and exports of any name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from streed.cli.app import app

LONG = "9" * 5_000
PLAY = "outlook,windy,play\na,0,no\nb,1,yes\na,1,no\nb,0,yes\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("shell")
    (made / "play.csv").write_text(PLAY, encoding="utf-8")
    (made / "latin.csv").write_bytes("a,play\ncafé,no\n".encode("latin-1"))
    (made / "digits.csv").write_text(f"a,play\n{LONG},no\n1,yes\n", encoding="utf-8")
    (made / "large.csv").write_text(f"a,play\n{LONG[:3_000]},no\n1,yes\n2,no\n", encoding="utf-8")
    (made / "weights.csv").write_text("a,w,play\n1,x,no\n2,y,yes\n3,z,no\n", encoding="utf-8")
    (made / "lines.csv").write_text('"a\nb",play\n1,no\n', encoding="utf-8")
    (made / "long.csv").write_text("a,play\n" + "x" * 200_000 + ",no\nb,yes\n", encoding="utf-8")
    (made / "quits.py").write_text("raise SystemExit(0)\n", encoding="utf-8")
    (made / "raises.py").write_text(
        "class Raises:\n    def __init__(self):\n        raise KeyError(1)\n", encoding="utf-8"
    )
    return made


def run(*arguments: str, text: str | None = None) -> Result:
    return CliRunner().invoke(app, list(arguments), prog_name="streed", input=text)


SOLVE = ("solve", "play.csv", "--target", "play", "--max-depth", "1")

REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "a whole number of 5,000 digits": (("solve", "digits.csv", "--target", "play"), "5,000 digits"),
    "a whole number beyond floats": (("solve", "large.csv", "--target", "play"), "no float can hold"),
    "a target of 5,000 digits": (("solve", "play.csv", "--target", LONG), "no column"),
    "an option of 5,000 digits": ((*SOLVE, "--max-nodes", LONG), "--max-nodes"),
    "a parameter of 5,000 digits": ((*SOLVE, "--task", "sparse-accuracy", "--lam", LONG), "lam"),
    "an argument of 5,000 digits": ((*SOLVE, "--task", f"sparse-accuracy({LONG})"), "cannot be read"),
    "a memory of 5,000 digits": ((*SOLVE, "--memory-limit", LONG), "memory_limit"),
    "costs of a folder": ((*SOLVE, "--task", "cost-sensitive", "--param", "costs=."), "directory"),
    "costs of Latin-1": ((*SOLVE, "--task", "cost-sensitive", "--param", "costs=latin.csv"), "UTF-8"),
    "costs of nothing": ((*SOLVE, "--task", "cost-sensitive", "--param", "costs=none"), "no file"),
    "a weight of letters": ((*SOLVE, "--task", "weighted-accuracy('a')"), "maps no labels"),
    "a weight without a number": ((*SOLVE, "--task", "weighted-accuracy({'no': 'x'})"), "number >= 0"),
    "a prior of letters": ((*SOLVE, "--task", "bayesian-tree('a')"), "concentration"),
    "a prior beyond reason": ((*SOLVE, "--task", "bayesian-tree(1e308)"), "concentration"),
    "a confidence that is a list": ((*SOLVE, "--task", "pessimistic-error([])"), "confidence"),
    "columns that are a number": ((*SOLVE, "--task", "monotone-errors(5.5)"), "names no columns"),
    "labels that are a number": ((*SOLVE, "--task", "instance-costs(5)"), "is no list"),
    "costs that are text": ((*SOLVE, "--subject-to", "min-support-of(1, 2)"), "by: 1"),
    "a rate that is text": ((*SOLVE, "--subject-to", "recall >= x"), "limit"),
    "weights that are text": (("solve", "weights.csv", "--target", "play", "--weights", "w"), "sample_weight"),
    "names with line breaks": (("solve", "lines.csv", "--target", "b"), "a␊b"),
    "a cell beyond all limits": (("solve", "long.csv", "--target", "play"), "field limit"),
    "a device": (("solve", "/dev/zero", "--target", "play"), "device"),
    "a path beyond all limits": (("solve", "x" * 5_000, "--target", "play"), "cannot be read"),
    "an unknown option": ((*SOLVE, "--bogus"), "--bogus"),
    "no argument": (("solve",), "DATA"),
    "no such command": (("bogus",), "bogus"),
    "too many arguments": (("tasks", "x"), "unexpected"),
    "a tree that is a device": (("export", "/dev/zero", "--to", "svg"), "device"),
    "a tree that is a folder": (("export", ".", "--to", "svg"), "directory"),
    "a tree that is a table": (("predict", "play.csv", "play.csv"), "no JSON"),
    "one input for two": (("verify", "-", "-"), "standard input"),
    "a task that ends Python": (("check", "quits.py:Task"), "SystemExit"),
    "a task that raises": (("check", "raises.py:Raises()"), "KeyError"),
    "a report into a folder": (("report", "play.csv", "--target", "play", "--out", "none/x.html"), "no folder"),
    "an explanation of nothing": (("explain", "weighted-accuracy('a')"), "maps no labels"),
}


@pytest.mark.parametrize(("arguments", "said"), REFUSED.values(), ids=REFUSED)
def test_every_error_is_one_line(
    arguments: tuple[str, ...], said: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    answer = run(*arguments)
    assert answer.exit_code == 2, (answer.output, answer.exception)
    told = [line for line in answer.stderr.splitlines() if not line.startswith(("made questions", "  "))]
    assert answer.stdout == ""
    assert len(told) == 1
    assert told[0].startswith("error: ")
    assert said in told[0]
    assert len(told[0]) < 1_100


def test_standard_input(folder: Path, tmp_path: Path) -> None:
    play, tree = str(folder / "play.csv"), str(tmp_path / "tree.json")
    arguments = ("--target", "play", "--max-depth", "1")
    assert run("solve", "-", *arguments, "--out", tree, text=PLAY).exit_code == 0
    saved = Path(tree).read_text(encoding="utf-8")
    assert run("predict", tree, "-", text=PLAY).stdout.split() == ["no", "yes", "no", "yes"]
    assert run("predict", "-", play, text=saved).stdout.split() == ["no", "yes", "no", "yes"]
    assert run("verify", tree, "-", text=PLAY).exit_code == 0
    assert run("verify", "-", play, text="\ufeff" + saved).exit_code == 0
    for form in ("python", "sql", "dot", "svg", "text"):
        assert run("export", "-", "--to", form, text=saved).stdout == run("export", tree, "--to", form).stdout != ""
    page = tmp_path / "page.html"
    assert run("report", play, "--tree", "-", "--out", str(page), text=saved).exit_code == 0
    assert run("solve", "-", *arguments, text="").exit_code == 2


@pytest.mark.parametrize("arguments", [("tasks",), ("tasks", "--json"), ("datasets",), ("--help",)])
def test_a_broken_pipe_is_silent(arguments: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "streed", *arguments],
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=600,
        )
    finally:
        os.close(writing)
    assert ended.stderr == ""
    assert ended.returncode in (0, 1)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full disk")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_is_told_in_a_line(unbuffered: str) -> None:
    command = [sys.executable, "-m", "streed", "tasks"]
    settings = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        ended = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=settings, timeout=600
        )
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert "No space left" in ended.stderr
