"""Every source file that the documentation or a docstring names by its path is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT

SOURCES = [
    path.relative_to(ROOT).as_posix()
    for name in ("streed", "tasks", "tests", "docs", "examples")
    for path in (ROOT / name).rglob("*.py")
]

TEXTS = [
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted(path for path in (ROOT / "streed").rglob("*.py")),
    ROOT / "CONTRIBUTING.md",
]

_NAMED = re.compile(r"(?<![\w/.-])((?:\w+/)+\w+\.py)\b")
"""A file in a folder; a bare name may be one of the reader's own."""


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_named_files_are_there(text: Path) -> None:
    named = set(_NAMED.findall(text.read_text(encoding="utf-8")))
    assert [name for name in sorted(named) if not any(f"/{source}".endswith(f"/{name}") for source in SOURCES)] == []
