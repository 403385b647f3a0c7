"""The gallery's cases are proved and drawn, and the pictures of README are those that its code draws.

Of several optimal trees a later version may find another, so pictures are compared by what they say of rows and values.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from types import ModuleType

import pytest

from examples.gallery import admissions, credit, medical_costs, policy, rare_events, readme, regression
from examples.gallery.case import Absent, Options
from tests.conftest import ROOT

SHARED = ROOT.parent / "shared" / "data"
DATA = SHARED if SHARED.is_dir() else None

SVG = "{http://www.w3.org/2000/svg}"

PAGE = (ROOT / "docs" / "gallery" / "index.md").read_text(encoding="utf-8")


def run(case: ModuleType, out: Path) -> list[str]:
    """The pictures that a case writes; skips where its data are not here."""
    try:
        results = case.run(Options(DATA, out))
    except Absent as reason:
        pytest.skip(str(reason))
    # Real costs that were rounded are proved to within what rounding leaves.
    proofs = [(result.status, result.stats.get("stopped")) for result in results]
    assert set(proofs) <= {("optimal", None), ("feasible", "rounding")}
    return sorted(path.name for path in out.iterdir())


def headline(picture: Path) -> tuple[str | None, str | None]:
    """A picture's title, and of a tree what is written on its root below the question: rows and classes."""
    root = ET.parse(picture).getroot()
    first = root.find(f".//{SVG}g/{SVG}g/{SVG}title")
    return root.findtext(f"{SVG}title"), None if first is None else (first.text or "").partition(": ")[2]


@pytest.mark.slow
@pytest.mark.parametrize("case", [admissions, credit, medical_costs, policy, rare_events, regression])
def test_a_case(case: ModuleType, tmp_path: Path) -> None:
    for name in run(case, tmp_path):
        assert f"({name})" in PAGE
        if DATA is not None:
            assert headline(tmp_path / name) == headline(ROOT / "docs" / "gallery" / name)


@pytest.mark.slow
def test_the_pictures_of_readme(tmp_path: Path) -> None:
    readme.run(Options(None, tmp_path))
    made = {path.name: headline(path) for path in tmp_path.iterdir()}
    kept = {path.name: headline(path) for path in (ROOT / "docs" / "pictures").iterdir()}
    kept.pop("rooms.svg")  # of the packages' imports, by docs/site/rooms.py
    assert made == kept


def test_every_picture_of_the_page_is_there() -> None:
    pictures = set(re.findall(r"\(([\w-]+\.svg)\)", PAGE))
    assert pictures == {path.name for path in (ROOT / "docs" / "gallery").glob("*.svg")}
    assert len(pictures) >= 6


def test_a_case_without_its_data_says_so(tmp_path: Path) -> None:
    with pytest.raises(Absent, match="give --data FOLDER"):
        policy.run(Options(tmp_path, None))
