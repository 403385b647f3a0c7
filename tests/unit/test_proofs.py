"""Proofs: what is proved is true and said whole, what is changed is rejected, and what cannot be proved is refused."""

from __future__ import annotations

import json
import shlex
import shutil
import time
import zlib
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.base import clone

import streed
from streed import proof
from streed.cli.app import app
from streed.drivers import DepthFirst
from streed.errors import InputError, TaskError
from streed.estimators import CostSensitiveTreeClassifier, FairTreeClassifier, OptimalTreeClassifier
from streed.export import to_json
from streed.proof import check
from streed.proof.statement import Statement
from streed.task.algebra import at_most
from streed.tasks import Accuracy, DemographicParity, Gini, InstanceCosts, SparseAccuracy, Splits
from tests.processes import ended
from tests.unit.outcomes import refused
from tests.unit.specimens import labels, sample

GROUPS = np.random.default_rng(7).integers(0, 2, 50)


def test_a_stopped_prover_leaves_a_bound() -> None:
    X, y = sample(200, 9)
    result = streed.solve(SparseAccuracy(0.001), X, y)
    made = proof.prove(result, X, y, time_limit=0)
    assert made.bound <= made.cost
    made.check()


@pytest.mark.compiles
def test_what_cannot_be_proved_is_refused() -> None:
    X, y = labels()
    with pytest.raises(TaskError, match="not of this task"):
        proof.prove(streed.solve(Gini(), X, y, max_depth=2), X, y)
    refused("tree", "has no tree", call=lambda: proof.prove(3, X, y))
    refused("X", "tree", call=lambda: proof.prove(streed.solve(Accuracy(), X, y, max_depth=2), X[:, :1], y))
    front = streed.solve(Accuracy() & DemographicParity(), X, y, max_depth=1, sensitive_features=GROUPS)
    with pytest.raises(TaskError, match="front"):
        proof.prove(front, X, y, sensitive_features=GROUPS)
    costs = np.random.default_rng(0).random((50, 2))
    with pytest.raises(InputError, match="digits"):
        proof.prove(streed.solve(InstanceCosts(), X, None, costs=costs, max_depth=2), X, None, costs=costs)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, list[str]]:
    X, y = labels()
    made = proof.prove(streed.solve(Accuracy(), X, y, max_depth=4), X, y)
    made.save(tmp_path / "tree.proof", tmp_path / "tree.csv")
    return tmp_path / "tree.proof", tmp_path / "tree.csv", list(made.arguments)


def test_the_checker_stands_alone(files: tuple[Path, Path, list[str]], tmp_path: Path) -> None:
    written, table, arguments = files
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(check.__file__, alone / "check.py")
    script = (
        "import sys; sys.argv = sys.argv[1:]; import runpy\n"
        "sys.modules['streed'] = sys.modules['numba'] = None\n"
        "runpy.run_path('check.py', run_name='__main__')\n"
    )
    found = ended("-c", script, "check.py", str(written), str(table), *arguments, cwd=alone)
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith("PROVED")
    assert "SHA-256" in found.stdout
    assert len(Path(check.__file__).read_text(encoding="utf-8").splitlines()) <= 650


def _said(files: tuple[Path, Path, list[str]], capsys: Any, *more: str) -> tuple[int, str]:
    written, table, arguments = files
    code = check.main([str(written), str(table), *arguments, *more])
    streams = capsys.readouterr()
    return code, streams.out + streams.err


def _file(said: Any, multipliers: Any = (), claims: Any = ()) -> bytes:
    whole = said if isinstance(said, bytes) else said | {"multipliers": multipliers, "claims": claims}
    text = whole if isinstance(whole, bytes) else json.dumps(whole).encode()
    return check.MAGIC + zlib.compress(text)


TREE = {"tree": {"label": "0"}}
DEEP = b'{"tree": ' + b'{"column": 0, "children": {"0": {"label": "0"}, "1": ' * 300 + b"3" + b"}}" * 300

HOSTILE = {
    "nothing": b"",
    "no text": check.MAGIC,
    "another version": b"streed proof 2\n" + _file(TREE)[15:],
    "a bomb": check.MAGIC + zlib.compress(b" " * 2**26),
    "no JSON": _file(b"tree"),
    "text nested too deeply": _file(b'{"tree": ' + b"[" * 100_000),
    "a deep tree": _file(DEEP + b', "multipliers": [], "claims": []}'),
    "a list": _file(b"[]"),
    "no claims": check.MAGIC + zlib.compress(b'{"multipliers": []}'),
    "multipliers that are none": _file(TREE, 3),
    "no tree": _file({}),
    "numbers for names": _file({"tree": {"column": True, "children": []}}),
    "children in a list": _file({"tree": {"column": 0, "children": ["0", "1"]}}),
    "a column that is not there": _file({"tree": {"column": 99, "children": {}}}),
    "a label that is none": _file({"tree": {"label": ["0"]}}),
    "too many multipliers": _file(TREE, ["1"]),
    "a multiplier that is no text": _file(TREE, [1]),
    "a large bound": _file(TREE, [], [[[], 4, 10**30, []]]),
    "a bound below nothing": _file(TREE, [], [[[], 4, -1, []]]),
    "a bound that is no number": _file(TREE, [], [[[], 4, 1.5, []]]),
    "a bound that is not shown": _file(TREE, [], [[[], 4, 1, []]]),
    "an anchor ahead": _file(TREE, [], [[[], 4, 0, [1]]]),
    "itself": _file(TREE, [], [[[], 4, 0, [0]]]),
    "an anchor of too little depth": _file(TREE, [], [[[], 3, 0, []], [[], 5, 0, [1]]]),
    "too large a depth": _file(TREE, [], [[[], 256, 0, []]]),
    "a code that is not there": _file(TREE, [], [[[0, 7], 4, 0, []]]),
    "half a code": _file(TREE, [], [[[0], 4, 0, []]]),
}


def test_a_tree_with_too_small_a_leaf_is_none(files: tuple[Path, Path, list[str]], capsys: Any) -> None:
    code, said = _said(files, capsys, "--min-leaf", "26")
    assert (code, "a leaf of no label, or few rows" in said) == (1, True)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_end_in_a_message_soon(files: tuple[Path, Path, list[str]], capsys: Any, name: str) -> None:
    files[0].write_bytes(HOSTILE[name])
    began = time.process_time()
    code, said = _said(files, capsys)
    assert code == 1, said
    assert said.startswith("REJECTED: ")
    assert time.process_time() - began < 20  # it would take hours


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "tree.csv"),
        ("label,a\nx,0\ny\n", "rows of that length"),
        ("label,label\nx,0\n", "different names"),
        ("label,a\nx,2\n", "codes 0 to 1"),
        ("label,a\nx,-1\n", "codes 0 to 1"),
        ('label,"a\nx,1\n', "tree.csv"),
        ("label,a\n", "and rows"),
    ],
)
def test_tables_that_cannot_be_used(files: tuple[Path, Path, list[str]], capsys: Any, text: str, said: str) -> None:
    files[1].write_text(text, encoding="utf-8")
    code, found = _said(files, capsys)
    assert code == 2
    assert found.startswith("error: ")
    assert said in found


def test_another_table_task_or_limit_is_another_statement(files: tuple[Path, Path, list[str]], capsys: Any) -> None:
    assert _said(files, capsys)[0] == 0
    code, said = _said(files, capsys, "--max-depth", "5")
    assert (code, said.split(" by ")[0]) == (3, "BOUND ONLY")  # the claims are about depth 4
    code, said = _said(files, capsys, "--max-nodes", "1")
    assert code == 1
    assert "beyond its limit" in said
    lines = files[1].read_text(encoding="utf-8").splitlines()
    files[1].write_text("\n".join([*lines[:1], *[line[:-1] + "0" for line in lines[1:]]]), encoding="utf-8")
    code, said = _said(files, capsys)
    assert code == 1 or "it is optimal" not in said


def test_prices_of_tests_and_ends_of_amounts_by_hand() -> None:
    tests = check.Tests({0: 0, 1: 1, 2: 2, 3: 3}, [(5, 2, "g"), (4, 1, "g"), (3, 1, "-"), (3, 1, "-")])
    assert [tests.price(1, asked) for asked in ((), (0,), (2,), (0, 1))] == [4, 1, 4, 0]
    assert tests.price(3, (2,)) == 3  # no group is none
    X, nothing = np.array([[0], [1]], np.uint8), np.zeros((2, 2), np.int64)
    amount = check.Amount(nothing, 0, -3, 5)
    for multiplier, allowed in ((2, 10), (-2, 6)):
        sums = check.Sums(X, check.Costs(nothing, 0), check.Limits(1), [amount], [Fraction(multiplier)])
        assert sums.allowed == allowed
    for least, most in ((1, 1), (1, 2), (0, 1)):  # the split has 1 of the amount, and costs nothing
        at_ends = [check.Amount(np.array([[0, 1], [0, 1]]), 0, least, most)]
        costs = check.Costs(1 - np.eye(2, dtype=np.int64), 0)
        sums = check.Sums(X, costs, check.Limits(1), at_ends, [Fraction(0)])
        assert check.prove(sums, at_ends, 2) == 0


def test_a_claim_about_more_rows_says_nothing_where_a_leaf_of_few_may_be_needed() -> None:
    for codes, known in ((2, [99, 99]), (3, [0, 0, 0])):
        X = np.arange(6, dtype=np.uint8)[:, None] % codes
        costs = check.Costs(np.array([[0, 1]] * 6, np.int64), 0)
        sums = check.Sums(X, costs, check.Limits(3, 2), [], [])
        assert sums.transfer(sums.root, sums.root, 102).tolist() == known


def test_of_two_limits_on_splits_the_smaller_one_is_proved() -> None:
    for most, nodes in ((1, 5), (5, 1)):
        stated = Statement.of(
            Accuracy().subject_to(at_most(Splits(), most)), streed.Dataset.make(*labels()), 3, 1, nodes
        )
        assert stated.arguments[2:4] == ("--max-nodes", "1")


def test_the_shell_proves_and_checks(tmp_path: Path) -> None:
    runner = CliRunner()
    rows = ["play,windy,outlook"] + ["no,0,sunny", "no,1,sunny", "yes,0,rain", "no,1,rain", "yes,1,overcast"] * 3
    (tmp_path / "play.csv").write_text("\n".join(rows), encoding="utf-8")
    data, tree = str(tmp_path / "play.csv"), str(tmp_path / "tree.json")
    solved = runner.invoke(app, ["solve", data, "--target", "play", "--max-depth", "1", "--out", tree])
    assert solved.exit_code == 0, solved.output
    made = runner.invoke(app, ["prove", tree, data, "--out", str(tmp_path / "tree.proof")])
    assert made.exit_code == 0, made.output
    command = made.output.partition("check   streed ")[2].strip()
    checked = runner.invoke(app, shlex.split(command))
    assert checked.exit_code == 0, checked.output
    assert runner.invoke(app, ["check-proof", tree, data, "--max-depth", "2"]).exit_code == 2  # words, not codes
    assert runner.invoke(app, [*shlex.split(command), "--max-depth", "2"]).exit_code == 3  # a bound only
    over = runner.invoke(app, ["prove", tree, data, "--out", str(tmp_path / "play.proof")])  # its table is play.csv
    assert over.exit_code == 2
    assert "would be written over" in over.output


def estimated() -> tuple[pd.DataFrame, Any]:
    draw = np.random.default_rng(0)
    columns = {"a": draw.normal(size=60).round(2), "b": draw.choice(list("uvw"), 60), "c": draw.integers(0, 9, 60)}
    return pd.DataFrame(columns), np.where(draw.random(60) < 0.4, "yes", "no")


ESTIMATORS: list[tuple[Any, dict[str, Any], list[str]]] = [
    (OptimalTreeClassifier(max_depth=2, cuts="all"), {}, []),
    (OptimalTreeClassifier("f1", max_depth=2, cuts=4), {"frequency": np.arange(60) % 3}, ["--frequency", "n"]),
    (OptimalTreeClassifier(max_depth=1), {"sample_weight": np.arange(60) % 3 + 1}, ["--weights", "n"]),
    (CostSensitiveTreeClassifier([[0, 1], [3, 0]], max_depth=2), {}, []),
    (FairTreeClassifier(max_depth=2, sensitive="b", limit=0.3), {}, ["--sensitive", "b"]),
]


@pytest.mark.compiles
@pytest.mark.parametrize(("model", "rows", "options"), ESTIMATORS)
def test_fitted_estimators_are_proved_by_their_raw_table(
    model: Any, rows: dict[str, Any], options: list[str], tmp_path: Path
) -> None:
    X, y = estimated()
    model = clone(model).fit(X, y, **rows)
    assert model.optimal_
    made = proof.prove(model, X, y, **rows)
    assert made.optimal
    assert "it is optimal" in made.check()
    tree, data = tmp_path / "tree.json", tmp_path / "data.csv"
    tree.write_text(to_json(model), encoding="utf-8")
    beside = {"n": next(iter(rows.values()))} if rows else {}
    X.assign(**beside, label=y).to_csv(data, index=False)
    call = [str(tree), str(data), "--target", "label", *options]
    for command in (["verify", *call], ["prove", *call, "--out", str(tmp_path / "made.proof")]):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output


def test_a_limit_beyond_the_depths_of_claims_needs_claims_about_any_depth(
    files: tuple[Path, Path, list[str]], capsys: Any
) -> None:
    # claims about depth 4 say nothing of deeper trees
    for depth in ("254", "255", "100000"):
        code, said = _said(files, capsys, "--max-depth", depth)
        assert code in (1, 3)
        assert "it is optimal" not in said
    X, y = labels()
    result = streed.solve(SparseAccuracy(0.02), X, y)
    deep = proof.prove(result, X, y, limits={"max_depth": 300})
    assert "of depth 300 or less" in deep.check()
    assert deep.optimal
    made = proof.prove(result, X, y, limits={"max_depth": 254})
    made.save(files[0], files[1])
    given = list(made.arguments)
    given[given.index("254")] = "300"
    assert "it is optimal" in made.check()
    assert "it is optimal" not in _said((files[0], files[1], given), capsys)[1]


def test_a_solve_writes_its_proof(tmp_path: Path, capsys: Any) -> None:
    X, y = labels()
    result = streed.solve(Accuracy(), X, y, max_depth=3, proof=tmp_path / "tree.proof")
    said = result.stats["proof"]
    assert said["optimal"]
    assert said["bound"] == said["cost"] == result.value
    assert check.main(said["check"][2:]) == 0
    assert "it is optimal" in capsys.readouterr().out
    ended = streed.solve(Accuracy(), X, y, max_depth=3, upper_bound=0, proof=str(tmp_path / "other.proof"))
    assert ended.tree is None
    assert ended.stats["proof"] is None
    assert not (tmp_path / "other.proof").exists()
    assert "proof" not in streed.solve(Accuracy(), X, y, max_depth=1).stats


def test_proofs_that_cannot_be_are_refused_before_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = labels()
    monkeypatch.setattr(DepthFirst, "search", None)  # nothing is searched
    for path, found in (("a\0", "no path"), (tmp_path, "directory"), (tmp_path / "no" / "x.proof", "no directory")):
        with pytest.raises(InputError, match=found):
            streed.solve(Accuracy(), X, y, max_depth=3, proof=path)
    with pytest.raises(InputError, match="table by its name"):
        streed.solve(Accuracy(), X, y, max_depth=3, proof=tmp_path / "x.csv")
    with pytest.raises(TaskError, match="not of this task"):
        streed.solve(Gini(), X, y, max_depth=3, proof=tmp_path / "x.proof")
