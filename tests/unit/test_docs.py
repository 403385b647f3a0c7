"""The code in the documentation runs, top to bottom."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT

PAGES = ["docs/tutorial/your-first-task.md", "docs/reference/task.md"]


def blocks(page: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_runs(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = blocks(page)
    assert len(found) >= 5
    names: dict[str, object] = {"__name__": "page"}
    for code in found:
        exec(compile(code, page, "exec"), names)
    assert "cost per row and label" in capsys.readouterr().out


def test_the_applications_run(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {"__name__": "page"}
    for code in blocks("docs/how-to/applications.md"):
        exec(compile(code, "applications.md", "exec"), names)
    assert capsys.readouterr().out.split() == ["250", "12.5", "1.0", "0.05353319057815846", "2.25", "2"]


def test_the_tutorial_says_why_a_limit_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {"__name__": "page"}
    for code in blocks(PAGES[0]):
        exec(compile(code, PAGES[0], "exec"), names)
    assert "Def. A.2" in capsys.readouterr().out


def test_links_lead_somewhere() -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page}: {link}"
