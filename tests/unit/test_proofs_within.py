"""Proofs under limits on sums: proved as enumeration says, stood by a checker alone, and safe against hostile files."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import time
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import streed
from streed import proof
from streed.cli.app import app
from streed.errors import InputError, TaskError
from streed.proof import check, check_limits
from streed.tasks import (
    F1,
    Accuracy,
    DemographicParity,
    EqualizedOdds,
    EqualOpportunity,
    SparseAccuracy,
    Splits,
    WeightedAccuracy,
)
from tests.differential.proofs_within import judge
from tests.unit.algebra_tasks import most

pytestmark = pytest.mark.compiles


def sample(rows: int = 60, columns: int = 5) -> tuple[Any, Any, Any]:
    draw = np.random.default_rng(7)
    X = draw.integers(0, 2, (rows, columns))
    y = ((X[:, 0] & X[:, 1]) ^ (draw.random(rows) < 0.2)).astype(int)
    return X, y, draw.integers(0, 2, rows)


PLAIN: list[tuple[Any, dict[str, Any]]] = [
    (Accuracy(), {"max_depth": 3, "max_nodes": 2}),
    (Accuracy(), {"max_depth": 4, "max_nodes": 4}),
    (SparseAccuracy(0.01), {"max_depth": 3, "max_nodes": 3}),
    (F1(), {"max_depth": 3, "max_nodes": 2}),
    (Accuracy().subject_to(most(Splits(), 2)), {"max_depth": 3}),
    (Accuracy().subject_to(most(WeightedAccuracy({1: 3}), 30)), {"max_depth": 3}),
]

FAIR: list[tuple[Any, dict[str, Any]]] = [
    (DemographicParity() <= 0.05, {"max_depth": 0}),
    (DemographicParity() <= 0.05, {"max_depth": 3}),
    (DemographicParity() <= 0.02, {"max_depth": 4, "min_leaf": 2}),
    (EqualOpportunity() <= 0.1, {"max_depth": 2, "max_nodes": 2}),
    (EqualizedOdds() <= 0.1, {"max_depth": 3}),
    (DemographicParity().ratio >= 0.8, {"max_depth": 3}),
]


def _is_proved(task: Any, limits: dict[str, Any], **row_data: Any) -> None:
    X, y, _ = sample()
    made = proof.prove(streed.solve(task, X, y, **limits, **row_data), X, y, **row_data)
    assert made.optimal
    assert made.cost == made.bound
    assert "it is optimal" in made.check()


@pytest.mark.parametrize(("task", "limits"), PLAIN)
def test_what_solve_finds_is_proved(task: Any, limits: dict[str, Any]) -> None:
    _is_proved(task, limits)


@pytest.mark.parametrize(("limit", "limits"), FAIR)
def test_what_solve_finds_under_limits_on_groups_is_proved(limit: Any, limits: dict[str, Any]) -> None:
    _is_proved(Accuracy().subject_to(limit), limits, sensitive_features=sample()[2])


@pytest.mark.parametrize("number", range(6))
def test_proofs_agree_with_enumeration(number: int) -> None:
    assert judge(5, number)[1] == []


def test_nothing_is_proved_of_a_worse_tree_or_a_broken_limit() -> None:
    X, y, _ = sample()
    leaf = streed.solve(Accuracy(), X, y, max_depth=0)
    made = proof.prove(leaf, X, y, limits={"max_depth": 3, "max_nodes": 2})
    assert not made.optimal
    assert made.bound == streed.solve(Accuracy(), X, y, max_depth=3, max_nodes=2).value
    assert "it is optimal" not in made.check()
    deep = streed.solve(Accuracy(), X, y, max_depth=3)
    assert deep.tree is not None
    with pytest.raises(InputError, match="beyond its limit"):
        proof.prove(deep, X, y, limits={"max_depth": 3, "max_nodes": 1})


def test_where_lists_are_too_long_a_bound_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, group = sample()
    task = Accuracy().subject_to(DemographicParity() <= 0.05)
    result = streed.solve(task, X, y, max_depth=3, sensitive_features=group)
    monkeypatch.setattr(check_limits, "MOST_LISTED", 0)
    made = proof.prove(result, X, y, sensitive_features=group)
    assert made.bound <= made.cost
    assert made.check().startswith("PROVED")


def test_fronts_cannot_be_proved() -> None:
    X, y, group = sample()
    result = streed.solve(Accuracy() & DemographicParity(), X, y, max_depth=1, sensitive_features=group)
    with pytest.raises(TaskError, match="front"):
        proof.prove(result, X, y, sensitive_features=group)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, list[str]]:
    X, y, _ = sample()
    made = proof.prove(streed.solve(Accuracy(), X, y, max_depth=4, max_nodes=4), X, y)
    made.save(tmp_path / "tree.proof", tmp_path / "table.csv")
    return tmp_path / "tree.proof", tmp_path / "table.csv", list(made.arguments)


def test_the_checker_needs_one_file_beside_it(files: tuple[Path, Path, list[str]], tmp_path: Path) -> None:
    alone = tmp_path / "alone"
    alone.mkdir()
    for checker in (check, check_limits):
        shutil.copy(str(checker.__file__), alone)
    script = (
        "import sys; sys.argv = sys.argv[1:]; import runpy\n"
        "sys.modules['streed'] = sys.modules['numba'] = None\n"
        "sys.path.insert(0, '.')\n"
        "runpy.run_path('check_limits.py', run_name='__main__')\n"
    )
    call = [sys.executable, "-c", script, "check_limits.py", str(files[0]), str(files[1]), *files[2]]
    found = subprocess.run(call, cwd=alone, capture_output=True, text=True, check=False, timeout=600)
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith("PROVED")
    assert "of 4 splits at most" in found.stdout


def _said(files: tuple[Path, Path, list[str]], capsys: Any, *more: str) -> tuple[int, str]:
    code = check_limits.main([str(files[0]), str(files[1]), *files[2], *more])
    streams = capsys.readouterr()
    return code, streams.out + streams.err


def _file(header: Any, numbers: bytes = b"") -> bytes:
    head = header if isinstance(header, bytes) else json.dumps(header).encode()
    return check_limits.MAGIC + len(head).to_bytes(4, "little") + head + zlib.compress(numbers)


TREE = {"label": "0"}

HOSTILE = {
    "of the other kind": check.MAGIC + (2).to_bytes(4, "little") + b"{}" + zlib.compress(b""),
    "no planes": _file({"tree": TREE}),
    "too many planes": _file({"tree": TREE, "planes": [{"multipliers": ["1"], "numbers": 0}] * 65}),
    "no multipliers": _file({"tree": TREE, "planes": [{"numbers": 0}]}),
    "too many multipliers": _file({"tree": TREE, "planes": [{"multipliers": ["1"] * 2, "numbers": 0}]}),
    "a price below nothing": _file({"tree": TREE, "planes": [{"multipliers": ["-1"], "numbers": 0}]}),
    "a large multiplier": _file({"tree": TREE, "planes": [{"multipliers": ["1e999"], "numbers": 0}]}),
    "a fine multiplier": _file({"tree": TREE, "planes": [{"multipliers": [f"1/{2**100}"], "numbers": 0}]}),
    "no number": _file({"tree": TREE, "planes": [{"multipliers": [None], "numbers": 0}]}),
    "records that are not there": _file({"tree": TREE, "planes": [{"multipliers": ["1"], "numbers": 9}]}),
    "records of no plane": _file({"tree": TREE, "planes": [{"multipliers": ["1"], "numbers": 0}]}, b"\x00"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_end_in_a_message_soon(files: tuple[Path, Path, list[str]], capsys: Any, name: str) -> None:
    files[0].write_bytes(HOSTILE[name])
    began = time.process_time()
    code, said = _said(files, capsys)
    assert code == 1, said
    assert said.startswith("REJECTED: ")
    assert time.process_time() - began < 60  # it would take hours


def test_lists_have_an_end(capsys: Any, tmp_path: Path) -> None:
    draw = np.random.default_rng(3)
    X, y = draw.integers(0, 2, (300, 14)), draw.integers(0, 2, 300)
    leaf = streed.solve(Accuracy(), X, y, max_depth=0)
    amounts = {"amounts": draw.integers(0, 10**6, (300, 2))}
    table = ["label," + ",".join(map(str, range(14))) + ",a,b"]
    table += [
        f"{k},{','.join(map(str, x))},{a},{b}" for k, x, (a, b) in zip(y, X.tolist(), amounts["amounts"], strict=True)
    ]
    (tmp_path / "table.csv").write_text("\n".join(table), encoding="utf-8")
    assert leaf.tree is not None
    label = str(leaf.tree.predict(X[:1])[0])
    (tmp_path / "tree.proof").write_bytes(
        _file({"tree": {"label": label}, "planes": [{"multipliers": ["0"], "numbers": 0}]})
    )
    arguments = ["--target", "label", "--max-depth", "3", "--amounts", "a", "b", "--between", "-", "1000000000"]
    began = time.process_time()
    code, said = _said((tmp_path / "tree.proof", tmp_path / "table.csv", arguments), capsys)
    assert (code, said) == (1, "REJECTED: more trees would have to be listed than is allowed\n")
    assert time.process_time() - began < 60


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--amounts", "label", "label"], "needs its --between"),
        (["--amounts", "label", "--between", "0", "1"], "2 columns"),
        (["--amounts", "label", "label", "--between", "0", "x"], "no whole number"),
        (["--amounts", "nowhere", "label", "--between", "0", "1"], "no column"),
        (["--max-nodes", "-1"], "zero or more"),
    ],
)
def test_calls_that_cannot_be_used(
    files: tuple[Path, Path, list[str]], capsys: Any, more: list[str], said: str
) -> None:
    code, found = _said(files, capsys, *more)
    assert code == 2
    assert found.startswith("error: ")
    assert said in found


def test_a_wider_limit_is_another_statement(files: tuple[Path, Path, list[str]], capsys: Any) -> None:
    assert _said(files, capsys)[0] == 0
    code, said = _said(files, capsys, "--max-nodes", "9")
    assert code == 1 or "it is optimal" not in said
    code, said = _said(files, capsys, "--max-nodes", "1")
    assert code == 1
    assert "beyond its limit" in said


def test_the_shell_proves_and_checks_limits(tmp_path: Path) -> None:
    runner = CliRunner()
    rows = ["play,windy,outlook"] + ["no,0,sunny", "no,1,sunny", "yes,0,rain", "no,1,rain", "yes,1,overcast"] * 3
    (tmp_path / "play.csv").write_text("\n".join(rows), encoding="utf-8")
    data, tree = str(tmp_path / "play.csv"), str(tmp_path / "tree.json")
    given = ["--target", "play", "--max-depth", "2", "--max-nodes", "1", "--out", tree]
    assert runner.invoke(app, ["solve", data, *given]).exit_code == 0
    made = runner.invoke(app, ["prove", tree, data, "--out", str(tmp_path / "tree.proof")])
    assert made.exit_code == 0, made.output
    command = made.output.partition("check   streed ")[2].strip()
    for how in ([], ["--compiled"]):
        checked = runner.invoke(app, [*shlex.split(command)[:1], *how, *shlex.split(command)[1:]])
        assert checked.exit_code == 0, checked.output
        assert "of 1 splits at most" in checked.output
