"""The shell on files of numbers, texts, gaps and dates, from the file to predictions for new rows."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from streed.tree import Tree
from tests.unit.shell import run


def write(path: Path, n: int = 120) -> Path:
    """Passengers of a ship, of whom women, and children, were saved."""
    rng = np.random.default_rng(1)
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["name", "survived", "class", "sex", "age", "fare", "cabin", "port", "boarded"])
        for i in range(n):
            sex, age = str(rng.choice(["female", "male"])), round(float(rng.uniform(1, 70)), 1)
            cabin = f"C{rng.integers(500)}" if rng.random() < 0.3 else ""
            known = "" if rng.random() < 0.2 else age
            fare, port = round(float(rng.lognormal(3, 1)), 2), rng.choice(["S", "C", "Q", ""], p=[0.6, 0.2, 0.15, 0.05])
            saved = int(sex == "female" or age <= 12)
            rows.writerow(
                [f"n{i}", saved, rng.integers(1, 4), sex, known, fare, cabin, port, f"1912-04-{1 + i % 9:02}"]
            )
    return path


@pytest.mark.parametrize("options", [(), ("--cuts", "4")], ids=["default", "cuts"])
def test_solve_verify_predict(tmp_path: Path, options: tuple[str, ...]) -> None:
    data, saved = str(write(tmp_path / "ship.csv")), str(tmp_path / "tree.json")
    arguments = ("solve", data, "--target", "survived", "--max-depth", "3", "--out", saved, "--json", *options)
    said = run(*arguments)
    answer, told = json.loads(said.stdout), said.stderr
    assert answer["status"] == "optimal"
    assert answer["value"] <= 4
    assert "age (" in told
    assert "boarded (" in told
    assert "sex" not in told  # texts are no numbers to cut
    assert "MISMATCH" not in run("verify", saved, data).stdout
    predicted = list(map(int, run("predict", saved, data).stdout.split()))
    with Path(data).open(encoding="utf-8") as file:
        truth = [int(row["survived"]) for row in csv.DictReader(file)]
    assert sum(p != t for p, t in zip(predicted, truth, strict=True)) == answer["value"]
    text = Path(saved).read_text(encoding="utf-8")
    assert Tree.from_json(text).to_json(indent=1) + "\n" == text


def test_predictions_refuse_what_the_tree_does_not_know(tmp_path: Path) -> None:
    data, saved, new = tmp_path / "a.csv", str(tmp_path / "tree.json"), tmp_path / "new.csv"
    data.write_text("age,y\n1.5,0\n2.5,0\n7.5,1\n9.5,1\n", encoding="utf-8")
    run("solve", str(data), "--target", "y", "--max-depth", "1", "--out", saved)
    new.write_text("age\n3\n8\n", encoding="utf-8")
    assert run("predict", saved, str(new)).stdout.split() == ["0", "1"]
    new.write_text("age\n3\n\nNA\n", encoding="utf-8")
    said = run("predict", saved, str(new))
    assert said.stdout.split() == ["0", "0"]
    assert said.stderr == (
        "warning: column 'age' has a missing value in row 1 (counted from 0), which its data did not have; "
        "1 such values take the branch of more rows\n"
    )
    for text in ("size\n3\n", "age\nold\n"):
        new.write_text(text, encoding="utf-8")
        assert "'age'" in run("predict", saved, str(new), code=2).stderr
