"""Changed files of proofs: whatever the checkers still say of the changed statement is true by enumeration.

    python -m tests.differential.proof_files --count 300 --seed 0

Trees of small problems are proved, and the bytes of the proof, its tree, its claims, the table or the statement (the
arguments of the checker) are changed at random. Both checkers must say the same and end soon, and a bound that they
print must not be above the optimum of what they were asked, computed from the changed table and arguments alone. The
exit code is 1 if something is wrong.
"""

from __future__ import annotations

import contextlib
import csv
import functools
import io
import json
import random
import re
import sys
import tempfile
import time
import zlib
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import streed
from streed import proof
from streed.exact import Array
from streed.proof.checker import run_checker
from streed.tasks import Accuracy, InstanceCosts, SparseAccuracy, SquaredError
from tests.differential import judging
from tests.differential.volume.best import INFEASIBLE, Best, LeafCosts, least_label

CHANGES = 20
"""Of each problem."""

SECONDS = 1.0
"""Processor time that a checker in numpy may take for a changed file of such a size."""

_SAID = re.compile(r"less than (-?\d+(?:/\d+)?)")


class Case:
    """A proof, its table and its statement."""

    def __init__(self, draw: random.Random) -> None:
        n, p = draw.randint(4, 20), draw.randint(1, 4)
        X = np.array([[draw.randrange(2) for _ in range(p)] for _ in range(n)])
        wide = [0] if draw.random() < 0.3 else None
        if wide:
            X[:, 0] = [draw.randrange(3) for _ in range(n)]
        y: Any = [draw.randrange(2) for _ in range(n)]
        limits: dict[str, Any] = {"max_depth": draw.choice((2, 3, 3, 4)), "min_leaf": draw.choice((1, 1, 2))}
        kind = draw.choice(("accuracy", "price", "nodes", "costs", "squares", "squares"))
        task: Any = {"price": SparseAccuracy(0.05), "costs": InstanceCosts()}.get(kind, Accuracy())
        more: dict[str, Any] = {"categorical": wide}
        if kind == "costs":
            y, more["costs"] = None, [[draw.randint(-2, 6) for _ in range(3)] for _ in range(n)]
        elif kind == "squares":
            task, y = SquaredError(draw.choice((0, 0, 1))), [draw.randint(-3, 9) for _ in range(n)]
        elif kind == "nodes":
            limits["max_nodes"] = draw.choice((1, 2, 3))
        made = proof.prove(streed.solve(task, X, y, **limits, **more), X, y, **more)
        self.kind = kind
        self.data, self.table, self.arguments = made.data, made.table, list(made.arguments)
        if not made.optimal:
            raise AssertionError(f"{made} of {kind}")


def changed(draw: random.Random, case: Case) -> tuple[str, bytes, bytes, list[str]]:
    """(what was changed, the proof, the table, the arguments)."""
    what = draw.choice(("bytes", "tree", "claims", "claims", "table", "table", "statement", "statement"))
    data, table, arguments = case.data, case.table, list(case.arguments)
    begin = data.index(b"\n") + 5
    end = begin + int.from_bytes(data[begin - 4 : begin], "little")
    header, body = json.loads(data[begin:end]), bytearray(zlib.decompress(data[end:]))
    if what == "bytes":
        raw = bytearray(data)
        for _ in range(draw.randint(1, 3)):
            raw[draw.randrange(len(raw))] ^= 1 << draw.randrange(8)
        data = bytes(raw[: draw.choice((len(raw), len(raw), draw.randrange(len(raw))))])
    elif what in ("tree", "claims"):
        if what == "tree":
            _change_tree(draw, header["tree"])
        elif body:
            at, other = draw.randrange(len(body)), [draw.choice((0, 1, 2, 3, 127)) for _ in range(draw.randint(0, 2))]
            body[at : at + draw.randint(0, 2)] = bytes(other)
        head = json.dumps(header).encode()
        data = data[: begin - 4] + len(head).to_bytes(4, "little") + head + zlib.compress(bytes(body))
    elif what == "table":
        rows = list(csv.reader(io.StringIO(table.decode())))
        at = draw.randrange(1, len(rows))
        if draw.random() < 0.3 and len(rows) > 3:
            del rows[at]
        else:
            place = draw.randrange(len(rows[0]))
            rows[at][place] = draw.choice([row[place] for row in rows[1:]])
        table = "".join(",".join(row) + "\n" for row in rows).encode()
    else:
        numbers = [k for k, text in enumerate(arguments) if text.isdigit()]
        at = draw.choice(numbers)
        arguments[at] = str(max(0, int(arguments[at]) + draw.choice((-1, 1, 1, 2))))
    return what, data, table, arguments


def _change_tree(draw: random.Random, node: dict[str, Any]) -> None:
    while "children" in node and draw.random() < 0.7:
        node = draw.choice(list(node["children"].values()))
    if "column" in node and draw.random() < 0.5:
        node["column"] = draw.randrange(4)
    else:
        label = draw.choice(("0", "1", "2", "cost of 1"))
        node.clear()
        node["label"] = label


def optimum(table: bytes, arguments: list[str]) -> Any:
    """The least cost of a tree by a table and a statement, read anew."""
    rows = list(csv.reader(io.StringIO(table.decode())))
    columns = dict(zip(rows[0], zip(*rows[1:], strict=True), strict=True))
    given: dict[str, list[str]] = {}
    for text in arguments:
        name, _, value = text.partition("=")
        if text.startswith("--"):
            given[name] = [value] if value else []
            last = name
        else:
            given[last].append(text)
    task = given.get("--task", ["accuracy"])[0]
    target = columns.pop(given["--target"][0])
    costs = [columns.pop(name) for name in given.get("--costs", [])]
    X = np.array([list(map(int, column)) for column in columns.values()]).T
    price = Fraction(given.get("--price", ["0"])[0])
    if task == "squared-error":
        y = [Fraction(text) for text in target]
        leaf: LeafCosts = functools.partial(_least_squares, y)
    else:
        each = [[int(text) for text in row] for row in zip(*costs, strict=True)] if costs else None
        each = each or [[int(label != text) for label in sorted(set(target))] for text in target]
        leaf = least_label(np.array(each, object))
    least = int(given.get("--min-leaf", ["1"])[0])
    best = Best(X, np.ones(len(X), np.int64), leaf, lambda size, path: [price] * X.shape[1], least)
    nodes = given.get("--max-nodes")
    return best.optimum(int(given["--max-depth"][0]), None if nodes is None else int(nodes[0]))


def _least_squares(y: list[Fraction], sets: Array) -> Array:
    return np.array([_squares([y[r] for r in np.flatnonzero(rows)]) for rows in sets], object)


def _squares(y: list[Fraction]) -> Fraction:
    return sum((value * value for value in y), Fraction(0)) - sum(y, Fraction(0)) ** 2 / max(1, len(y))


def said(folder: Path, data: bytes, table: bytes, arguments: list[str], *, compiled: bool) -> tuple[int, str, float]:
    """The exit code of a checker, what it says, and its processor time."""
    files = [folder / "tree.proof", folder / "table.csv"]
    for file, raw in zip(files, (data, table), strict=True):
        file.write_bytes(raw)
    out, began = io.StringIO(), time.process_time()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = run_checker([*map(str, files), *arguments], compiled=compiled)
    return code, out.getvalue(), time.process_time() - began


def judge(seed: int, number: int, folder: Path) -> tuple[Counter[str], list[str]]:
    """(what was tried, what is wrong) of one problem."""
    draw = random.Random(f"{seed}/{number}")
    case = Case(draw)
    seen, wrong = Counter[str](), []
    for change in range(CHANGES):
        what, data, table, arguments = changed(draw, case)
        code, words, seconds = said(folder, data, table, arguments, compiled=False)
        where = f"{seed}/{number}, change {change} of the {what} of {case.kind}"
        if seconds > SECONDS:
            wrong.append(f"{where}: {seconds:.1f} s")
        if (code, words) != said(folder, data, table, arguments, compiled=True)[:2]:
            wrong.append(f"{where}: the checkers differ")
        seen[f"{what}: {('accepted', 'rejected', 'unusable', 'bound only')[code]}"] += 1
        if code in (0, 3):
            found = _SAID.search(words)
            true = optimum(table, arguments)
            if found is None or (true != INFEASIBLE and Fraction(found[1]) > true):
                wrong.append(f"{where}: {words.splitlines()[1].strip()}; the optimum is {true}")
    return seen, wrong


def main(arguments: list[str] | None = None) -> int:
    """1 if something false was accepted, the checkers differ or take long, else 0."""
    with tempfile.TemporaryDirectory() as folder:
        judge_here = functools.partial(judge, folder=Path(folder))
        return judging.run("proof_files", __doc__, judge_here, arguments, count=50)


if __name__ == "__main__":
    sys.exit(main())
