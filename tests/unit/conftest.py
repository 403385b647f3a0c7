"""What several files of tests are given."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.shell import PLAY


@pytest.fixture
def play(tmp_path: Path) -> str:
    path = tmp_path / "play.csv"
    path.write_text(PLAY, encoding="utf-8")
    return str(path)
