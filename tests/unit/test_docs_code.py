"""The code in the documentation, README and the examples runs, and says what it is meant to say."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import runpy
import shlex
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner

import streed
from streed.cli.app import app
from streed.data import Dataset
from streed.reference import best_trees
from streed.task import Task, Totals
from streed.task.objective import record_of
from tests.conftest import ROOT

PAGES = sorted((ROOT / "docs").rglob("*.md"))

LONG = "applications deep-trees equally-good-trees estimators five-more-jobs policies task your-first-task"
"""Pages whose code runs for many seconds."""

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Block(NamedTuple):
    """A fenced block: its language, its text, and the number of the line before its first."""

    language: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [Block(m[1], m[2], text[: m.start(2)].count("\n")) for m in _FENCE.finditer(text)]


def run(page: Path) -> int:
    """Runs the page's python blocks in order; asserts that each prints the text block that follows it, if one does."""
    namespace: dict[str, object] = {"__name__": "docs"}
    found = blocks(page)
    done = 0
    for place, block in enumerate(found):
        if block.language != "python":
            continue
        printed = io.StringIO()
        # Empty lines put the code where it is on the page, so that errors show its lines.
        code = compile("\n" * block.line + block.text, str(page), "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, namespace)
        done += 1
        after = found[place + 1] if place + 1 < len(found) else None
        if after is not None and after.language == "text":
            said = printed.getvalue()
            assert doctest.OutputChecker().check_output(after.text, said, _OPTIONS), said
    return done


def _pages() -> list[Any]:
    marks: dict[Path, Any] = {page: pytest.mark.compiles if page.stem in LONG.split() else () for page in PAGES}
    marks |= {page: pytest.mark.slow for page in PAGES if page.name == "is-my-task-separable.md"}
    return [pytest.param(page, marks=marks[page], id=str(page.relative_to(ROOT))) for page in PAGES]


@pytest.mark.parametrize("page", _pages())
def test_the_code_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a checkout; but what a page writes does not stay in this one."""
    for entry in ROOT.iterdir():
        (tmp_path / entry.name).symlink_to(entry)
    monkeypatch.chdir(tmp_path)
    page = tmp_path / page.relative_to(ROOT)
    assert run(page) == sum(block.language == "python" for block in blocks(page))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["five-jobs.md", "five-more-jobs.md"])
def test_each_job_of_a_tutorial_stands_alone(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By itself, in an empty folder: its commands first, then its code, as its reader has them."""
    text = (ROOT / "docs" / "tutorial" / name).read_text(encoding="utf-8")
    jobs = re.split(r"^## \d\. ", text, flags=re.MULTILINE)[1:]
    assert len(jobs) == 5
    for number, job in enumerate(jobs, 1):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        for block in _FENCE.finditer(job):
            if block[1] == "bash":
                for line in block[2].replace("\\\n", " ").splitlines():
                    program, *arguments = shlex.split(line.partition(" > ")[0], comments=True)
                    done = CliRunner().invoke(app, arguments)
                    assert (program, done.exit_code) == ("streed", 0), f"{line}: {done.output}"
        page = folder / name
        page.write_text(job, encoding="utf-8")
        assert run(page) >= 1


def test_fences_are_closed_and_named() -> None:
    for page in PAGES:
        assert page.read_text(encoding="utf-8").count("\n```") % 2 == 0, page
        assert all(block.language for block in blocks(page)), page


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page}: {target}"


README = (ROOT / "README.md").read_text(encoding="utf-8")


def shown(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def test_the_python_example_prints_what_its_comments_say(capsys: pytest.CaptureFixture[str]) -> None:
    namespace: dict[str, object] = {"__name__": "readme"}
    for code in shown("python"):
        exec(compile(code, "README.md", "exec"), namespace)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "0 optimal"
    assert "['yes']" in printed
    assert {"optimal 0 0 0", "0.5"} <= set(printed)
    assert printed[-1] == "END"


def test_there_is_one_command_for_the_main_job_and_one_for_the_tests() -> None:
    main, _, tests = shown("bash")
    assert main.startswith("pip install -e . && streed solve ")
    assert main.count("\n") == tests.count("\n") == 1
    assert tests.startswith("pip install -e ")
    assert "python -m pytest" in tests


def test_the_main_job_on_bundled_data() -> None:
    """pystreed 1.4.0 proves 216 errors for the same 27 binary columns at depth 3."""
    command = shown("bash")[0].partition("&& streed ")[2]
    result = CliRunner().invoke(app, shlex.split(command))
    assert result.exit_code == 0, result.output
    assert "status  optimal\nvalue   216  misclassified rows\nbounds  216 to 216, gap 0\n" in result.output


EXAMPLES = Path(__file__).parents[2] / "examples"


def test_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "sizes.py"), run_name="__main__")
    errors = [int(line.split()[1]) for line in capsys.readouterr().out.splitlines()[1:]]
    assert (len(errors), errors[0], errors) == (8, 332, sorted(errors, reverse=True))


@pytest.mark.compiles
def test_user_tasks(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "user_tasks.py"), run_name="__main__")
    assert capsys.readouterr().out == "two splits 108.0\nworst leaf 54.0\nodds 146.0\npaid 104.64\n"


def test_fair_admissions(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "fair_admissions.py"), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    accuracies = [float(line.split()[-3].rstrip(",")) for line in lines if "proved optimal" in line]
    gaps = [float(line.split()[2]) for line in lines if line.split()[:1] == ["DemographicParity"]]
    assert accuracies == sorted(accuracies, reverse=True)
    assert accuracies[0] == pytest.approx(1 - 1331 / 4526, abs=1e-4)
    assert gaps[0] > 0.2 >= gaps[1] > 0.01 >= gaps[2]


def test_to_production(capsys: pytest.CaptureFixture[str]) -> None:
    for needed in ("sklearn", "pandas", "onnxruntime"):
        pytest.importorskip(needed)
    runpy.run_path(str(EXAMPLES / "to_production.py"), run_name="__main__")
    said = capsys.readouterr().out
    found = re.search(r"gap (0\.\d+), proved optimal: True", said)
    assert float(found[1]) <= 0.05
    assert said.endswith("the same: True\n")


def test_pictures_of_the_documentation(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    runpy.run_path(str(EXAMPLES / "pictures.py"))["main"](tmp_path)
    drawn = {path.name for path in tmp_path.iterdir()}
    assert drawn == {path.name for path in (EXAMPLES.parent / "docs" / "pictures").glob("*.svg")}


TASKS: dict[str, Task] = runpy.run_path(str(ROOT / "examples" / "user_tasks.py"))["TASKS"]


def some_data(seed: int) -> Dataset:
    rng = np.random.default_rng(seed)
    return Dataset.make(rng.integers(0, 2, (7, 3)), [0, 1, *rng.integers(0, 2, 5).tolist()])


def same(found: list[Any], expected: list[Any]) -> bool:
    """Whether both are the same values, in any order; real numbers to rounding."""
    rows = [sorted(np.atleast_1d(np.array(v, dtype=float)).tolist() for v in side) for side in (found, expected)]
    return len(rows[0]) == len(rows[1]) and np.allclose(rows[0], rows[1], rtol=1e-12, atol=1e-12)


@pytest.mark.compiles
@pytest.mark.parametrize("name", TASKS)
def test_solve_finds_what_enumeration_finds(name: str) -> None:
    task = TASKS[name]
    for data in map(some_data, range(4)):
        every = [value for value, _ in best_trees(task, data, max_depth=2)]
        result = streed.solve(task, data, max_depth=2)
        totals = Totals(task, data)
        if not every:
            assert result.status == "infeasible"
        elif task.order == "total" or record_of(task).most:  # of limited tasks the best is asked
            best = (max if task.larger_is_better else min)(task.score(value, totals) for value in every)
            assert result.status == "optimal"
            assert same([result.value], [best])
        else:
            assert same([value for value, _ in result.front], [task.score(value, totals) for value in every])
