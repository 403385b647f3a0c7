"""What README shows is what happens."""

from __future__ import annotations

import re
import shlex

import pytest
from click.testing import CliRunner

from streed.cli.app import app
from tests.conftest import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def test_the_python_example_prints_what_its_comments_say(capsys: pytest.CaptureFixture[str]) -> None:
    namespace: dict[str, object] = {"__name__": "readme"}
    for code in blocks("python"):
        exec(compile(code, "README.md", "exec"), namespace)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "0 optimal"
    assert "['yes']" in printed
    assert {"optimal 0 0 0", "0.5"} <= set(printed)
    assert printed[-1] == "END"


def test_there_is_one_command_for_the_main_job_and_one_for_the_tests() -> None:
    main, _, tests = blocks("bash")
    assert main.startswith("pip install -e . && streed solve ")
    assert main.count("\n") == tests.count("\n") == 1
    assert tests.startswith("pip install -e ")
    assert "python -m pytest" in tests


def test_the_main_job_on_bundled_data() -> None:
    """pystreed 1.4.0 proves 216 errors for the same 27 binary columns at depth 3."""
    command = blocks("bash")[0].partition("&& streed ")[2]
    result = CliRunner().invoke(app, shlex.split(command))
    assert result.exit_code == 0, result.output
    assert "status  optimal\nvalue   216  misclassified rows\nbounds  216 to 216, gap 0\n" in result.output
