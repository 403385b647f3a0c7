"""Whatever the shell is given: one line and exit code 2, standard input by "-", and exports of any name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from streed.cli.app import app
from tests.processes import ended

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
    source = "from streed.tasks import Accuracy as Counts\ntwice, number, nothing = Counts(), 3, dict\n"
    (made / "tasks.py").write_text(source, encoding="utf-8")
    (made / "raises.py").write_text(
        "class Raises:\n    def __init__(self):\n        raise KeyError(1)\n", encoding="utf-8"
    )
    return made


def run(*arguments: str, text: str | None = None) -> Result:
    return CliRunner().invoke(app, list(arguments), prog_name="streed", input=text)


SOLVE = ("solve", "play.csv", "--target", "play", "--max-depth", "1")

REFUSED: list[tuple[tuple[str, ...], str]] = [
    (("solve", "nowhere.csv"), "no file 'nowhere.csv'"),
    (("solve", "monks-1", "--task", "f9"), "there is no 'f9'"),
    (("solve", "monks-1", "--task", "sparse-accuracy"), "needs lam"),
    (("solve", "monks-1", "--task", "sparse-accuracy(-1)"), "lam: it is -1"),
    (("solve", "monks-1", "--task", "sparse-accuracy(1"), "cannot be read"),
    (("solve", "monks-1", "--lam", "0.1"), "accuracy has no parameter 'lam'"),
    (("solve", "monks-1", "--param", "lam"), "NAME=VALUE"),
    (("solve", "monks-1", "--target", "a9"), "there is no column 'a9'"),
    (("solve", "monks-1", "--weights", "class"), "is the target"),
    (("solve", "monks-1", "--categorical", "a9"), "there is no column 'a9'"),
    (("solve", "monks-1", "--max-depth", "-1"), "max_depth"),
    (("solve", "monks-1", "--memory-limit", "lots"), "memory_limit"),
    (("solve", "monks-1", "--out", "/nonexistent/tree.json", "--max-depth", "0"), "out"),
    (("solve", "digits.csv", "--target", "play"), "5,000 digits"),
    (("solve", "large.csv", "--target", "play"), "no float can hold"),
    (("solve", "play.csv", "--target", LONG), "no column"),
    ((*SOLVE, "--max-nodes", LONG), "--max-nodes"),
    ((*SOLVE, "--task", "sparse-accuracy", "--lam", LONG), "lam"),
    ((*SOLVE, "--task", "cost-sensitive", "--param", "costs=."), "directory"),
    ((*SOLVE, "--task", "weighted-accuracy('a')"), "maps no labels"),
    ((*SOLVE, "--subject-to", "min-support-of(1, 2)"), "by: 1"),
    ((*SOLVE, "--subject-to", "recall >= x"), "limit"),
    (("solve", "weights.csv", "--target", "play", "--weights", "w"), "sample_weight"),
    (("solve", "lines.csv", "--target", "b"), "a␊b"),
    (("solve", "long.csv", "--target", "play"), "field limit"),
    (("solve", "/dev/zero", "--target", "play"), "device"),
    (("solve", "x" * 5_000, "--target", "play"), "cannot be read"),
    ((*SOLVE, "--bogus"), "--bogus"),
    (("solve",), "DATA"),
    (("bogus",), "bogus"),
    (("tasks", "x"), "unexpected"),
    (("export", "/dev/zero", "--to", "svg"), "device"),
    (("export", ".", "--to", "svg"), "directory"),
    (("predict", "play.csv", "play.csv"), "no JSON"),
    (("verify", "-", "-"), "standard input"),
    (("check", "quits.py:Task"), "SystemExit"),
    (("check", "tasks.py:Nothing"), "its tasks: Counts, twice"),
    (("check", "tasks.py:number"), "'number' in 'tasks.py' is no Task"),
    (("check", "tasks.py:nothing()"), "name a task"),
    (("check", "tasks.py:Counts(1, 2)"), "give the arguments that it takes"),
    (("check", "raises.py:Raises()"), "KeyError"),
    (("report", "play.csv", "--target", "play", "--out", "none/x.html"), "no folder"),
]


@pytest.mark.parametrize(("arguments", "said"), REFUSED)
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
        done = ended("-m", "streed", *arguments, stdout=writing)
    finally:
        os.close(writing)
    assert done.stderr == ""
    assert done.returncode in (0, 1)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full disk")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_is_told_in_a_line(unbuffered: str) -> None:
    settings = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = ended("-m", "streed", "tasks", stdout=full, env=settings)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "No space left" in done.stderr
