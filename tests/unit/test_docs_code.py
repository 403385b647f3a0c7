"""The code in the documentation and README runs, page by page, and prints what the page says."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

from streed.cli.app import app
from tests.conftest import ROOT

PAGES = sorted((ROOT / "docs").rglob("*.md"))

LONG = ("applications.md", "equally-good-trees.md", "five-more-jobs.md", "policies.md")
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
    marks: dict[Path, Any] = {page: pytest.mark.compiles if page.name in LONG else () for page in PAGES}
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
