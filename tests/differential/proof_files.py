"""Changed files of proofs: whatever the checker still says of the changed statement is true by enumeration.

    python -m tests.differential.proof_files --count 300 --seed 0

Trees of small problems are proved, and the bytes of the proof, its tree, its claims, the table or the statement (the
arguments of the checker) are changed at random. The checker must end soon, and a bound that it prints must not be above
the optimum of what it was asked, computed from the changed table and arguments alone. The exit code is 1 if something
is wrong.
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
from streed.proof.check import MAGIC
from streed.proof.check import main as check
from streed.tasks import Accuracy, InstanceCosts, SparseAccuracy
from tests.differential import judging
from tests.differential.volume.best import INFEASIBLE, Best, least_label

CHANGES = 20
"""Of each problem."""

SECONDS = 1.0
"""Processor time that the checker may take for a changed file of such a size."""

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
        kind = draw.choice(("accuracy", "price", "nodes", "costs"))
        task: Any = {"price": SparseAccuracy(0.05), "costs": InstanceCosts()}.get(kind, Accuracy())
        more: dict[str, Any] = {"categorical": wide}
        if kind == "costs":
            y, more["costs"] = None, [[draw.randint(-2, 6) for _ in range(3)] for _ in range(n)]
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
    said = json.loads(zlib.decompress(data[len(MAGIC) :]))
    if what == "bytes":
        raw = bytearray(data)
        for _ in range(draw.randint(1, 3)):
            raw[draw.randrange(len(raw))] ^= 1 << draw.randrange(8)
        data = bytes(raw[: draw.choice((len(raw), len(raw), draw.randrange(len(raw))))])
    elif what in ("tree", "claims"):
        if what == "tree":
            _change_tree(draw, said["tree"])
        text = bytearray(json.dumps(said).encode())
        if what == "claims":
            numbers = [found.start() for found in re.finditer(rb"\d", text[text.index(b"planes") :])]
            at = text.index(b"planes") + draw.choice(numbers or [0])
            text[at : at + draw.randint(0, 2)] = draw.choice((b"", b"0", b"1", b"2", b"7", b"77", b"-1", b"0, 1"))
        data = MAGIC + zlib.compress(bytes(text))
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
    target = columns.pop(rows[0][-1])
    costs = [columns.pop(name) for name in given.get("--costs", [])]
    X = np.array([list(map(int, column)) for column in columns.values()]).T
    price = Fraction(given.get("--price", ["0"])[0])
    each = [[int(text) for text in row] for row in zip(*costs, strict=True)] if task == "costs" else None
    each = each or [[int(label != text) for label in sorted(set(target))] for text in target]
    leaf = least_label(np.array(each, object))
    least = int(given.get("--min-leaf", ["1"])[0])
    best = Best(X, np.ones(len(X), np.int64), leaf, lambda size, path: [price] * X.shape[1], least)
    nodes = given.get("--max-nodes")
    return best.optimum(int(given["--max-depth"][0]), None if nodes is None else int(nodes[0]))


def said(folder: Path, data: bytes, table: bytes, arguments: list[str]) -> tuple[int, str, float]:
    """The exit code of the checker, what it says, and its processor time."""
    files = [folder / "tree.proof", folder / "table.csv"]
    for file, raw in zip(files, (data, table), strict=True):
        file.write_bytes(raw)
    out, began = io.StringIO(), time.process_time()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = check([*map(str, files), *arguments])
    return code, out.getvalue(), time.process_time() - began


def judge(seed: int, number: int, folder: Path) -> tuple[Counter[str], list[str]]:
    """(what was tried, what is wrong) of one problem."""
    draw = random.Random(f"{seed}/{number}")
    case = Case(draw)
    seen, wrong = Counter[str](), []
    for change in range(CHANGES):
        what, data, table, arguments = changed(draw, case)
        code, words, seconds = said(folder, data, table, arguments)
        where = f"{seed}/{number}, change {change} of the {what} of {case.kind}"
        if seconds > SECONDS:
            wrong.append(f"{where}: {seconds:.1f} s")
        seen[f"{what}: {('proved', 'rejected', 'unusable', 'bound')[code]}"] += 1
        if code in (0, 3):
            found = _SAID.search(words)
            true = optimum(table, arguments)
            if found is None or (true != INFEASIBLE and Fraction(found[1]) > true):
                wrong.append(f"{where}: {found}; the optimum is {true}")
    return seen, wrong


def main(arguments: list[str] | None = None) -> int:
    """1 if something false was accepted or the checker takes long, else 0."""
    with tempfile.TemporaryDirectory() as folder:
        judge_here = functools.partial(judge, folder=Path(folder))
        return judging.run("proof_files", __doc__, judge_here, arguments, count=50)


if __name__ == "__main__":
    sys.exit(main())
