"""The shell in one process: one tree, fronts, and one line for every error."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import streed
import streed.tasks
from streed.datasets import load
from streed.errors import MismatchError
from tests.processes import ended
from tests.unit.conftest import refused, run, run_json, solve


def test_solve_a_file(play: str) -> None:
    answer = solve(play, "--target", "play", "--weights", "times", "--max-depth", "2")
    assert (answer["status"], answer["value"], answer["lower_bound"], answer["gap"]) == ("optimal", 0, 0, 0)
    assert answer["data"] == {"name": play, "rows": 7, "columns": 3, "classes": 2}
    assert answer["tree"]["depth"] == 2
    names = {column["name"] for column in answer["document"]["columns"]}
    assert names <= {"outlook", "windy", "humidity"}


def test_bundled_data_by_name(tmp_path: Path) -> None:
    """MONK's 1 is (a1 = a2) or (a5 = 1), which children for each value tell apart."""
    out = tmp_path / "tree.json"
    answer = solve("monks-1", "--multiway", "--out", str(out))
    assert (answer["status"], answer["value"], answer["data"]["columns"]) == ("optimal", 0, 6)
    assert run_json("verify", str(out), "monks-1")["holds"] is True
    assert run("predict", str(out), "monks-1").stdout.split()[:2] == ["1", "1"]


def test_limits_and_tasks(play: str) -> None:
    base = (play, "--target", "play", "--weights", "times")
    assert solve(*base, "--max-depth", "1", "--min-leaf", "2")["value"] == 1
    assert solve(*base, "--max-depth", "1", "--min-leaf", "3")["value"] == 3
    assert solve(*base, "--subject-to", "splits <= 1", "--subject-to", "min-support(3)")["value"] == 3
    assert solve(*base, "--task", "sparse-accuracy", "--lam", "0.5")["value"] == 0.3
    assert solve(*base, "--task", "sparse-accuracy(0.5)")["value"] == 0.3
    assert solve(*base, "--task", "sparse-accuracy", "--param", "lam=0.5")["value"] == 0.3
    weighted = solve(*base, "--task", "weighted-accuracy", "--param", "class_weight={'no': 4}", "--max-depth", "0")
    assert weighted["value"] == 7
    balanced = solve(*base, "--task", "balanced-accuracy")
    assert balanced["value"] == 1


@pytest.mark.compiles
def test_columns_of_what_a_task_asks_for(play: str, tmp_path: Path) -> None:
    out, base = str(tmp_path / "tree.json"), (play, "--target", "humidity", "--task")
    solve(*base, "relative-risk", "--row-data", "event=windy", "--max-depth", "0", "--out", out)
    run("verify", out, play)
    assert "leave out --row-data" in run("verify", out, play, "--row-data", "event=times", code=2).stderr
    costs = solve(*base, "instance-costs", "--row-data", "costs=times", "--row-data", "costs=windy")
    assert (costs["value"], costs["document"]["labels"]) == (3, ["times", "windy"])


def test_no_tree_meets_the_limits(play: str) -> None:
    answer = solve(play, "--target", "play", "--weights", "times", "--subject-to", "min-support(8)", code=4)
    assert (answer["status"], answer["value"], answer["document"]) == ("infeasible", None, None)


def test_stopped_early_is_told_by_the_exit_code(tmp_path: Path) -> None:
    """The search cannot end within this time, and a single leaf is there from the start."""
    out = tmp_path / "tree.json"
    arguments = ("tic-tac-toe", "--max-depth", "6", "--time-limit", "0.001", "--out", str(out))
    answer = solve(*arguments, code=3)
    assert answer["status"] == "feasible"
    assert answer["lower_bound"] <= answer["value"] == answer["upper_bound"] <= 332
    assert answer["gap"] > 0
    assert run_json("verify", str(out), "tic-tac-toe")["holds"] is True


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [(KeyboardInterrupt(), 130, "interrupted: no tree yet\n"), (MismatchError("it costs 2"), 1, "error: it costs 2\n")],
)
def test_without_an_answer(error: BaseException, code: int, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(streed, "solve", ended)
    result = run("solve", "monks-1", code=code)
    assert (result.stdout, result.stderr) == ("", said)


def test_every_task_and_limit_is_listed() -> None:
    answer = run_json("tasks")
    listed = {entry["name"] for entry in answer["tasks"]}
    assert {"accuracy", "balanced-accuracy", "sparse-accuracy", "splits", "weighted-accuracy"} <= listed
    assert [entry["name"] for entry in answer["limits"]] == ["min-support", "min-support-of", "treatment-equality"]
    notions = {entry["name"] for entry in answer["notions"]}
    assert {"demographic-parity", "equal-opportunity", "equalized-odds", "predictive-equality"} < notions
    assert {entry["name"] for entry in answer["rates"]} == {"recall", "precision", "specificity"}
    of_python_only = {"TreatmentParity"}  # parity of policies: the shell has no option for it
    shipped = {name for name in streed.tasks.__all__ if isinstance(getattr(streed.tasks, name), type)}
    assert len(listed) + len(answer["limits"]) + len(notions) + len(answer["rates"]) == len(shipped - of_python_only)
    sparse = next(entry for entry in answer["tasks"] if entry["name"] == "sparse-accuracy")
    assert sparse["parameters"] == {"lam": "required"}
    assert all(entry["summary"] for kind in answer.values() for entry in kind)
    assert "sparse-accuracy(lam)" in run("tasks").stdout


def test_help_and_version_load_nothing_heavy() -> None:
    heavy = "{'numba', 'numpy', 'jsonschema', 'pydantic'}"
    code = (
        "import sys\nfrom streed.cli.app import app\ntry:\n    app(sys.argv[1:])\n"
        f"except SystemExit:\n    pass\nprint(sorted({heavy} & set(sys.modules)))"
    )
    for arguments in (["--help"], ["solve", "--help"], ["verify", "--help"], ["--version"]):
        done = ended("-c", code, *arguments)
        assert done.stdout.splitlines()[-1] == "[]", arguments


FAIR = ("solve", "berkeley", "--target", "admitted", "--task", "accuracy", "--max-depth", "3")


def test_fairness_between_the_groups_of_a_column() -> None:
    text = run(*FAIR, "--sensitive", "gender", "--demographic-parity", "0.2").stdout
    lines = {line.split()[0]: line.split(maxsplit=1)[-1] for line in text.splitlines() if line.strip()}
    assert (lines["status"], lines["value"]) == ("optimal", "1600  misclassified rows")
    assert lines["data"] == "berkeley: 4,526 rows, 6 columns, 2 classes"
    assert lines["DemographicParity:"] == (
        "gap 0.1945 of at most 0.2; favourable label yes; "
        "rate of favourable predictions: female 0.01362 (25 of 1835), male 0.2081 (560 of 2691)"
    )
    odds = run(*FAIR, "--sensitive", "gender", "--equalized-odds", "0.3", "--equal-opportunity", "0.25").stdout
    assert "EqualOpportunity: gap" in odds
    assert "EqualizedOdds: gap" in odds
    assert "false positive rate: female" in odds


def test_rows_that_are_not_seen(play: str, tmp_path: Path) -> None:
    asked = ("solve", play, "--target", "play", "--weights", "times", "--max-depth", "2")
    text = run(*asked, "--test", play).stdout
    assert "unseen  7 rows: 100.00% are predicted right\n\ntime    " in text
    assert "expansions" not in text
    assert "seconds_total" in run(*asked, "--stats").stdout
    first = run(*asked, "--test-share", "0.3").stdout.rpartition("time")[0]
    assert first == run(*asked, "--test-share", "0.3").stdout.rpartition("time")[0]
    assert ": 5 rows, " in first
    assert "unseen  2 rows: " in first
    squared = run("solve", play, "--target", "times", "--task", "absolute-error", "--max-depth", "0", "--test", play)
    assert "the root mean squared error is 0.845" in squared.stdout
    for share in ("0", "1", "-1", "nan", "0.01"):
        assert "test_share" in refused(*asked, "--test-share", share)
    refused(*asked, "--test-share", "0.3", "--test", play)


def test_categories_that_the_data_did_not_have(play: str, tmp_path: Path) -> None:
    tree, new = str(tmp_path / "tree.json"), tmp_path / "new.csv"
    run("solve", play, "--target", "play", "--weights", "times", "--max-depth", "2", "--out", tree)
    new.write_text("outlook,windy,humidity\nsnow,0,70\n", encoding="utf-8")
    assert "'snow'" in run("predict", tree, str(new)).stderr
    assert run("predict", tree, str(new), "--unseen", "ignore").stderr == ""
    assert "'snow'" in refused("predict", tree, str(new), "--unseen", "error")


ERRORS = ("front", "tic-tac-toe", "--max-depth", "2")


@pytest.mark.compiles
def test_errors_by_class_with_their_trees() -> None:
    text = run(*ERRORS).stdout.splitlines()
    found = run_json(*ERRORS)
    heads = [*found["quantities"][:2], "branches", "depth"]
    assert heads[:2] == ["errors on negative", "errors on positive"]
    assert text[:2] == [f"status  optimal: {len(found['points'])} nondominated points", "over    27 questions"]
    assert [line.split() for line in text[3:]] == [[str(point[head]) for head in heads] for point in found["points"]]
    data = load("tic-tac-toe").dataset()
    for point, document in zip(found["points"], found["trees"], strict=True):
        wrong = data.y[streed.Tree.from_json(json.dumps(document)).predict(data) != data.y].tolist()
        assert [wrong.count("negative"), wrong.count("positive")] == [point[head] for head in heads[:2]]


def test_it_tells_versions_and_places() -> None:
    told = run_json("doctor")
    assert set(told) >= {"streed", "python", "numba", "llvmlite", "numpy", "processor", "cache"}
    assert told["streed"].startswith(streed.__version__)


FEW = ("--no-engine", "--examples", "15")

SOURCE = """
import attrs
import numpy as np
from hypothesis import strategies as st
from streed import Task
from streed.testing import datasets
import beside_my_tasks

two_labels = datasets(y=st.booleans())

@attrs.frozen
class Counts(Task):
    weight: float = 1

    def statistics(self, data):
        return {"n": (data.class_numbers[:, None] == np.arange(data.n_classes)).astype(int)}

    def leaf_cost(self, s, k):
        return self.weight * (sum(s.n) - s.n[k]) + beside_my_tasks.NOTHING

class Wrong(Counts):
    def leaf_cost(self, s, k):
        return s.m[k]

twice = Counts(2)
"""


@pytest.fixture
def file(tmp_path: Path) -> Iterator[str]:
    path, before = tmp_path / "my_tasks.py", list(sys.path)
    path.write_text(SOURCE, encoding="utf-8")
    (tmp_path / "beside_my_tasks.py").write_text("NOTHING = 0\n", encoding="utf-8")
    yield str(path)
    sys.path[:] = before
    for name in ("my_tasks", "my_tasks_checked", "beside_my_tasks"):
        sys.modules.pop(name, None)


@pytest.mark.compiles
@pytest.mark.parametrize("name", ["Counts", "Counts(0.5)", "Counts(weight=2)", "twice"])
def test_a_separable_task(file: str, name: str) -> None:
    assert run("check", f"{file}:{name}", *FEW).stdout.startswith("Counts: no law violated\n  holds ")


@pytest.mark.compiles
def test_a_shipped_task_and_the_engine() -> None:
    findings = run_json("check", "sparse-accuracy(0.1)", "--examples", "3")["findings"]
    found = {each["law"]: each for each in findings}
    assert found["drivers equal recursion"]["verdict"] == "holds"
    assert "depth-first" in found["drivers equal recursion"]["note"]


@pytest.mark.compiles
def test_a_task_that_breaks_the_contract(file: str) -> None:
    result = run("check", f"{file}:Wrong", *FEW, code=2)
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: Wrong.leaf_cost(State(rows=1, n=(1,)), 0) raised this state has no statistic 'm'")
    assert line.endswith("my_tasks.py:23: return s.m[k]")


LONG = "9" * 5_000
ROWS = "outlook,windy,play\na,0,no\nb,1,yes\na,1,no\nb,0,yes\n"


FILES = {
    "play.csv": ROWS,
    "digits.csv": f"a,play\n{LONG},no\n1,yes\n",
    "large.csv": f"a,play\n{LONG[:3_000]},no\n1,yes\n2,no\n",
    "weights.csv": "a,w,play\n1,x,no\n2,y,yes\n3,z,no\n",
    "lines.csv": '"a\nb",play\n1,no\n',
    "long.csv": f"a,play\n{'x' * 200_000},no\nb,yes\n",
    "quits.py": "raise SystemExit(0)\n",
    "tasks.py": "from streed.tasks import Accuracy as Counts\ntwice, number, nothing = Counts(), 3, dict\n",
    "raises.py": "class Raises:\n    def __init__(self):\n        raise KeyError(1)\n",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


SOLVE = ("solve", "play.csv", "--target", "play", "--max-depth", "1")

REFUSED: list[tuple[tuple[str, ...], str]] = [
    (("front", "tic-tac-toe", "--task", "accuracy"), "--against"),
    (("front", "tic-tac-toe", "--task", "accuracy", "--against", "equal-opportunity"), "--sensitive"),
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
    (("solve", "monks-1", "--row-data", "y=a1"), "row_data: 'y=a1' is no NAME=COLUMN"),
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
    ((*SOLVE, "--subject-to", "min-support-of(1, 2)"), "by: it is 1"),
    ((*SOLVE, "--subject-to", "recall >= x"), "subject_to: in"),
    (("solve", "weights.csv", "--target", "play", "--weights", "w"), "weights"),
    (("solve", "lines.csv", "--target", "b"), "a␊b"),
    (("solve", "long.csv", "--target", "play"), "field limit"),
    (("solve", "/dev/zero", "--target", "play"), "device"),
    (("solve", "x" * 5_000, "--target", "play"), "cannot be read"),
    ((*SOLVE, "--bogus"), "--bogus"),
    (("solve",), "DATA"),
    (("bogus",), "bogus"),
    (("prove", "play.csv", "play.csv", "--out", ""), "is a folder"),
    (("export", "/dev/zero", "--to", "svg"), "device"),
    (("export", ".", "--to", "svg"), "directory"),
    (("predict", "play.csv", "play.csv"), "no JSON"),
    (("verify", "none.json", "monks-1"), "there is no file"),
    (("verify", "-", "-"), "standard input"),
    (("check", "quits.py:Task"), "SystemExit"),
    (("check", "tasks.py:Nothing"), "its tasks: Counts, twice"),
    (("check", "tasks.py:number"), "'number' in 'tasks.py' is no Task"),
    (("check", "tasks.py:nothing()"), "name a task"),
    (("check", "tasks.py:Counts(1, 2)"), "give the arguments that it takes"),
    (("check", "raises.py:Raises()"), "KeyError"),
    (("report", "play.csv", "--target", "play", "--out", "none/x.html"), "no folder"),
]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("arguments", "said"), REFUSED)
def test_every_error_is_one_line(arguments: tuple[str, ...], said: str) -> None:
    answer = run(*arguments, code=2)
    told = [line for line in answer.stderr.splitlines() if not line.startswith(("made questions", "  "))]
    assert answer.stdout == ""
    assert len(told) == 1
    assert told[0].startswith("error: ")
    assert said in told[0]
    assert len(told[0]) < 1_100


@pytest.mark.usefixtures("folder")
def test_standard_input() -> None:
    arguments = ("--target", "play", "--max-depth", "1")
    run("solve", "-", *arguments, "--out", "tree.json", text=ROWS)
    saved = Path("tree.json").read_text(encoding="utf-8")
    assert run("predict", "tree.json", "-", text=ROWS).stdout.split() == ["no", "yes", "no", "yes"]
    assert run("predict", "-", "play.csv", text=saved).stdout.split() == ["no", "yes", "no", "yes"]
    run("verify", "tree.json", "-", text=ROWS)
    run("verify", "-", "play.csv", text="\ufeff" + saved)
    assert "weights: it is 'none'" in run("verify", "-", "play.csv", "--weights", "wind", text=saved, code=2).stderr
    for form in ("python", "sql", "dot", "svg", "text"):
        assert run("export", "-", "--to", form, text=saved).stdout == run("export", "tree.json", "--to", form).stdout
    run("report", "play.csv", "--tree", "-", "--out", "page.html", text=saved)
    run("solve", "-", *arguments, text="", code=2)


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
