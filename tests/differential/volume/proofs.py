"""Proofs of every kind beside the reference, and changed files of them: whatever the checker says is true.

Small problems are solved by the reference, and the optimum is proved, also of worse trees. Then the bytes of the proof,
its tree, its claims, the table or the statement (the arguments of the checker) are changed at random. The checker must
end soon, and what it says must be true of the changed table and statement, of which all trees are enumerated anew.
"""

from __future__ import annotations

import contextlib
import csv
import functools
import io
import itertools
import json
import random
import re
import tempfile
import time
import zlib
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from streed import proof, reference
from streed.data import Dataset
from streed.proof.check import MAGIC
from streed.proof.check import main as check
from streed.task import Totals
from streed.tasks import F1, Accuracy, CostSensitive, DemographicParity, FBeta, InstanceCosts, Jaccard, SparseAccuracy
from streed.tasks.cost_tables import CostTable, TestCost
from streed.tree import Tree

CHANGES = 20
"""Of each problem."""

SECONDS = 1.0
"""Processor time that the checker may take for a changed file of such a size."""

_SAID = re.compile(r"(less|no tree scores more|may score more) than (-?\d+(?:/\d+)?)")

KINDS = ("accuracy", "weights", "price", "no limit", "nodes", "costs", "tests", "score", "parity")


class Case:
    """A proof, its table and its statement."""

    def __init__(self, draw: random.Random) -> None:
        self.kind = kind = draw.choice(KINDS)
        n, p = draw.randint(4, 12), draw.randint(1, 3)
        X = np.array([[draw.randrange(2) for _ in range(p)] for _ in range(n)])
        wide = [0] if draw.random() < 0.3 else None
        if wide:
            X[:, 0] = [draw.randrange(3) for _ in range(n)]
        y: Any = [draw.randrange(2) for _ in range(n)]
        y[:2] = [0, 1]
        limits: dict[str, Any] = {"max_depth": draw.choice((2, 3, 3)), "min_leaf": draw.choice((1, 1, 2))}
        tests = tuple(
            TestCost(f"t{j}", draw.randint(1, 3), draw.choice((0, 1)), draw.choice((None, "g")), (j,)) for j in range(p)
        )
        task: Any = {
            "price": SparseAccuracy(0.05),
            "no limit": SparseAccuracy(0.04),
            "costs": InstanceCosts(),
            "tests": CostSensitive(CostTable([[0, 9], [7, 0]], tests)),
            "score": draw.choice((F1(), FBeta(2), Jaccard(positive=0))),
            "parity": Accuracy().subject_to(DemographicParity() <= draw.choice((0.1, 0.3))),
        }.get(kind, Accuracy())
        more: dict[str, Any] = {"categorical": wide}
        if kind in ("weights", "costs", "score", "parity") and draw.random() < 0.6:
            more["sample_weight"] = [draw.choice((0.5, 1, 2, 1.25)) for _ in range(n)]
        if kind == "costs":
            y, more["costs"] = None, [[draw.randint(-2, 6) / 2 for _ in range(3)] for _ in range(n)]
        elif kind == "nodes":
            limits["max_nodes"] = draw.choice((1, 2, 3))
        elif kind == "no limit":
            limits |= {"max_depth": None, "min_leaf": 1}
        elif kind == "parity":
            more["sensitive_features"] = [0, 1] + [draw.randrange(2) for _ in range(n - 2)]
        data = Dataset.make(X, y, **more)
        totals = Totals(task, data)

        def best(**within: Any) -> Any:
            """The best score and its tree; None if there is none."""
            front = [(task.score(each, totals), root) for each, root in reference.optimal_front(task, data, **within)]
            return (max if kind == "score" else min)(front, key=lambda each: each[0], default=None)

        lower = draw.random() < 0.3
        found = best(**(limits | ({"max_depth": 1} if lower else {})))
        self.found = found is not None
        if found is None:
            return
        tree = Tree.grown(found[1], data, tuple(task.bind(data).labels(data)))
        made = proof.prove(tree, data, task=task, limits=limits)
        self.data, self.table, self.arguments = made.data, made.table, list(made.arguments)
        # a score is the nearest float64
        value = Fraction(best(**limits)[0]).limit_denominator(10**6) * (n if kind in ("price", "no limit") else 1)
        if kind == "score":
            right = made.optimal == (made.cost == value)
        else:
            right = made.bound == value or (kind in ("parity", "nodes") and lower and made.bound <= value)
        if not right:
            raise AssertionError(f"{made} of {kind}: the optimum is {value}")


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
            numbers = [found.start() for found in re.finditer(rb"\d", text[text.index(b"claims") :])]
            at = text.index(b"claims") + draw.choice(numbers or [0])
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
        if numbers and draw.random() < 0.8:
            at = draw.choice(numbers)
            arguments[at] = str(max(0, int(arguments[at]) + draw.choice((-1, 1, 1, 2))))
        else:
            arguments += [draw.choice(("--max-nodes", "--min-leaf")), str(draw.randint(1, 3))]
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


def _read(arguments: list[str]) -> dict[str, list[list[str]]]:
    """The values of each option, each time that it is given."""
    given: dict[str, list[list[str]]] = {}
    for text in arguments:
        name, _, value = text.partition("=")
        if text.startswith("--"):
            given.setdefault(name, []).append([value] if value else [])
            last = name
        else:
            given[last][-1].append(text)
    return given


def optimum(table: bytes, arguments: list[str]) -> Fraction | None:
    """The least cost or the largest score of a tree by a table and a statement, read anew; None if there is no tree."""
    names, *rows = list(csv.reader(io.StringIO(table.decode())))
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    given = _read(arguments)

    def last(name: str, default: str) -> str:
        return given[name][-1][0] if name in given else default

    target, task, price = columns.pop(names[-1]), last("--task", "accuracy"), Fraction(last("--price", "0"))
    weights = [Fraction(x) for x in columns.pop("weight", ("1",) * len(rows))]
    of_costs = [columns.pop(name) for name in given.get("--costs", [[]])[-1]]
    of_amounts = [[columns.pop(name) for name in each] for each in given.get("--amounts", [])]
    labels = sorted(set(target)) if task != "costs" else [*map(str, range(len(of_costs)))]
    yes = last("--positive", "")
    vectors: Any = []  # of rows and labels: cost, or what is missed and what is found wrongly; amounts; splits
    for i, w in enumerate(weights):
        vectors.append([])
        for k, label in enumerate(labels):
            wrong = w * (target[i] != label)
            cost = w * Fraction(of_costs[k][i]) if task == "costs" else wrong * (target[i] == yes or not yes)
            more = [Fraction(each[k][i]) for each in of_amounts]
            vectors[i].append((cost, wrong * (target[i] != yes) if yes else 0, *more, 0))
    table_of = {name: test for test in given.get("--test", []) for name in test[3:]}
    X = {name: [int(code) for code in codes] for name, codes in columns.items()}
    least = int(last("--min-leaf", "1"))

    def add(a: Any, b: Any) -> Any:
        return tuple(map(sum, zip(a, b, strict=True)))

    @functools.cache
    def trees(rows: tuple[int, ...], depth: int, asked: frozenset[str]) -> set[Any]:
        found = set()
        if len(rows) >= least:
            found = {functools.reduce(add, (vectors[i][k] for i in rows)) for k in range(len(labels))}
        for name, codes in X.items() if depth else ():
            sides = [tuple(i for i in rows if codes[i] == code) for code in sorted({codes[i] for i in rows})]
            test, known = table_of.get(name), [table_of[other] for other in asked if other in table_of]
            paid = Fraction(0)
            if test is not None and test not in known:
                paid = Fraction(test[1] if any(test[2] == other[2] != "-" for other in known) else test[0])
            if len(sides) > 1:
                split = (price + paid * len(rows), *(0 for _ in range(len(vectors[0][0]) - 2)), 1)
                below = [trees(side, depth - 1, asked | ({name} if table_of else set())) for side in sides]
                found |= {functools.reduce(add, parts, split) for parts in itertools.product(*below)}
        if yes:
            return found
        cheapest: dict[Any, Any] = {}  # of every vector of amounts
        for cost, *others in found:
            key = tuple(others if "--max-nodes" in given else others[:-1])
            cheapest[key] = min(cheapest.get(key, (cost, *others)), (cost, *others))
        return set(cheapest.values())

    found = trees(tuple(range(len(rows))), min(int(last("--max-depth", "9")), len(X)), frozenset())
    found = {each for each in found if each[-1] <= int(last("--max-nodes", "99"))}
    for j, (low, high) in enumerate(given.get("--between", []), 2):
        found = {v for v in found if (low == "-" or v[j] >= Fraction(low)) and (high == "-" or v[j] <= Fraction(high))}
    if not yes:
        return min((v[0] for v in found), default=None)
    size = sum(w for w, label in zip(weights, target, strict=True) if label == yes)
    b = {"f1": Fraction(1), "jaccard": Fraction(0)}.get(task, Fraction(last("--beta", "1")) ** 2)
    scores = []
    for missed, wrong, *_ in found:
        part = size - missed
        whole = part + missed + wrong if task == "jaccard" else (1 + b) * part + b * missed + wrong
        scores.append((part if task == "jaccard" else (1 + b) * part) / whole)
    return max(scores, default=None)


def said(folder: Path, data: bytes, table: bytes, arguments: list[str]) -> tuple[int, str, float]:
    """The exit code of the checker, what it says, and its processor time."""
    files = [folder / "tree.proof", folder / "table.csv"]
    for file, raw in zip(files, (data, table), strict=True):
        file.write_bytes(raw)
    out, began = io.StringIO(), time.process_time()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = check([*map(str, files), *arguments])
    return code, out.getvalue(), time.process_time() - began


def wrong(seed: int, number: int) -> list[str]:
    """What is wrong with one problem's proof, and with what is said of changes of it."""
    draw = random.Random(f"{seed}/{number}")
    case = Case(draw)
    if not case.found:
        return []
    told = list[str]()
    for change in range(CHANGES):
        what, data, table, arguments = changed(draw, case)
        with tempfile.TemporaryDirectory() as folder:
            code, words, seconds = said(Path(folder), data, table, arguments)
        where = f"change {change} of the {what} of {case.kind}"
        if seconds > SECONDS:
            told.append(f"{where}: {seconds:.1f} s")
        if code in (0, 3):
            found = _SAID.search(words)
            true = optimum(table, arguments)
            if found is None or (found[1] == "less" and true is not None and Fraction(found[2]) > true):
                told.append(f"{where}: {found}; the optimum is {true}")
            elif found[1] == "no tree scores more" and true is not None and Fraction(found[2]) < true:
                told.append(f"{where}: {found}; the best score is {true}")
    return told
