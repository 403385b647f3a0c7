"""Every example runs, and says what it is meant to say."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "sizes.py"), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    errors = [int(line.split()[1]) for line in lines[1:]]
    assert len(errors) == 8
    assert errors[0] == 332
    assert errors == sorted(errors, reverse=True)


@pytest.mark.compiles
def test_user_tasks(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "user_tasks.py"), run_name="__main__")
    lines = dict(re.split(r" {2,}", line, maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert len(lines) == 11
    assert lines["most errors in a leaf"] == "1.0"
    assert lines["errors by group"] == "(0, 2) (1, 1)"
    assert lines["errors in two splits"] == "2.0"


def test_fair_admissions(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "fair_admissions.py"), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    accuracies = [float(line.split()[-3].rstrip(",")) for line in lines if "proved optimal" in line]
    gaps = [float(line.split()[2]) for line in lines if line.split()[:1] == ["DemographicParity"]]
    assert accuracies == sorted(accuracies, reverse=True)
    assert accuracies[0] == pytest.approx(1 - 1331 / 4526, abs=1e-4)
    assert gaps[0] > 0.2 >= gaps[1] > 0.01 >= gaps[2]


def run(name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines that an example with options prints."""
    monkeypatch.setattr(sys, "argv", [name])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    return capsys.readouterr().out.splitlines()


@pytest.mark.compiles
def test_cost_sensitive(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    lines = run("cost_sensitive.py", capsys, monkeypatch)[1:]
    tests = [float(line.split()[-1]) for line in lines]
    assert len(tests) == 3
    assert tests == sorted(tests), "the dearer an error, the more tests"


@pytest.mark.compiles
def test_policy(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sklearn")
    lines = run("policy.py", capsys, monkeypatch)
    truths = [float(line.split()[-1]) for line in lines[1:4]]
    constant = max(float(value) for value in re.findall(r"-?\d\.\d+", lines[4]))
    assert min(truths) > constant + 0.1
    treated = {int(room): int(used) for room, used in re.findall(r"room for +(\d+): +(\d+)", "\n".join(lines))}
    assert len(treated) == 3
    assert all(used <= room for room, used in treated.items())


def test_survival(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    lines = run("survival.py", capsys, monkeypatch)
    rows = [line.split() for line in lines if line.split()[:1] and line.split()[0].isdigit()]
    assert [row[0] for row in rows] == ["0", "1", "2", "3"]
    losses = [float(row[1]) for row in rows]
    assert losses == sorted(losses, reverse=True)


def test_from_csv_to_production(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("pandas")
    monkeypatch.setattr(sys, "argv", ["from_csv_to_production.py", str(tmp_path)])
    runpy.run_path(str(EXAMPLES / "from_csv_to_production.py"), run_name="__main__")
    said = capsys.readouterr().out
    assert "tuned: {" in said
    assert "proved optimal: True" in said
    found = re.search(r"gap (0\.\d+)", said)
    assert found is not None
    assert float(found[1]) <= 0.02
    assert "after pickle are the same: True\nafter JSON: True\n" in said
    assert "after ONNX: True" in said or "skipped: ONNX" in said
    files = {path.name for path in tmp_path.iterdir()} - {"tree.onnx"}
    assert files == {"loans.csv", "tree.json", "tree.pickle", "tree.sql", "tree.svg"}


def test_pictures_of_the_documentation(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    runpy.run_path(str(EXAMPLES / "pictures.py"))["main"](tmp_path)
    drawn = {path.name for path in tmp_path.iterdir()}
    assert drawn == {path.name for path in (EXAMPLES.parent / "docs" / "pictures").glob("*.svg")} - {"rooms.svg"}


def test_every_example_is_tested() -> None:
    tested = [
        *("cost_sensitive.py", "fair_admissions.py", "from_csv_to_production.py"),
        *("pictures.py", "policy.py", "sizes.py", "survival.py", "user_tasks.py"),
    ]
    assert [path.name for path in sorted(EXAMPLES.glob("*.py"))] == tested
