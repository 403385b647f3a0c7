"""Checks a proof that a decision tree is optimal, from the table alone. Needs Python and numpy; knows no solver.

    python check.py tree.proof tree.csv --max-depth 3
    python check.py tree.proof tree.csv --no-limit --price 0.5 --categorical colour shape
    python check.py tree.proof tree.csv --max-depth 4 --max-nodes 5 --amounts "parity 0" "parity 1" --between -9 9

Whoever checks says what the task, the limits and the table are; the file has the tree and the steps. The exit code is 0
if the tree is proved to be the best; 1 if a step does not hold; 2 if the call or a file cannot be used; 3 if all steps
hold, and show a bound only: on other data, or within other limits, than the file was made for.

A tree branches by a column of codes 0, 1, 2, ..., one child for every code. A split costs s, and with --test a price
for each of its rows, which is less below other splits. Amounts, sums over rows (--amounts) and the number of splits,
may have to be in intervals. A proof has a multiplier m_j for every amount a_j, and claims about c + sum_j m_j a_j,
where c is the cost. Equal rows share a leaf, so they are one row here, and what its best label costs is taken off
(FLOOR): costs are 0 or more, whole units. A claim (S, d, L) says that every tree of depth d or less costs at least L on
the rows S, those with some codes, below splits by these columns; w(A) is the most that the rows A can cost. The rules,
whose proofs are in docs/reference/proof-format.md:

COUNT     the optimum of depth two or less is computed outright. Without a limit on the depth a side of the first split
          is a leaf or has one split, both computed, or pays for two.
SPLIT     the optimum of S is its leaf, or a split and the sides' bounds, for the best column. Columns constant on S are
          left out: a tree without that split is as good. With --min-leaf, so are those with a side of fewer rows.
TRANSFER  for d' >= d, a tree for B costs on A at most w(A without B) more: the optimum of (B, d) is at least that of
          (A, d') less w(A without B), if no split is dearer at A. With --min-leaf, only if A has all of B, and with
          more than two codes no others.
DUALITY   trees within the limits cost no less than the least c + sum_j m_j a_j of any tree, less the largest of
          sum_j m_j z_j for amounts z within the limits.
LIST      else all trees whose c + sum_j m_j a_j is small enough for a better tree are listed by costs and amounts.
"""

from __future__ import annotations

import argparse
import csv
import functools
import hashlib
import itertools
import json
import math
import sys
import zlib
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

MAGIC = b"streed proof 3\n"
SCORES = ("f1", "fbeta", "jaccard")
UNLIMITED = 255
"""The depth of claims about trees of any depth."""
BIG = 2**61
"""Costs more than any tree; sums are below half of it."""
MOST_LISTED = 20_000_000
"""Costs and amounts of trees that LIST makes, those that are dropped included."""
LONGEST = 2**25
Array = np.ndarray[Any, Any]


class UsageError(Exception):
    """The call or the table cannot be used."""


class RejectedError(Exception):
    """A step does not hold, or the file is no proof."""


def require(condition: Any, message: str) -> None:
    """Raises RejectedError unless the condition holds."""
    if not condition:
        raise RejectedError(message)


class Table(NamedTuple):
    """Codes (n, P), their names, the labels' numbers (n,), labels, all columns as texts, and the file's SHA-256."""

    X: Array
    names: list[str]
    y: Array
    labels: list[str]
    texts: dict[str, tuple[str, ...]]
    digest: str


class Limits(NamedTuple):
    """Of trees: their depth (UNLIMITED if any), and how many rows a leaf has."""

    depth: int
    min_leaf: int = 1


class Tests(NamedTuple):
    """Prices of splits per row: the test of each column that is not free, and of each (price, discounted, group)."""

    of: dict[int, int]
    tests: list[tuple[Any, Any, str]]

    def price(self, column: int, asked: Iterable[int]) -> Any:
        """What a split costs each of its rows below splits by other columns: nothing if its test was made there."""
        made = {self.of[other] for other in asked if other in self.of}
        if column not in self.of or self.of[column] in made:
            return 0
        full, discounted, group = self.tests[self.of[column]]
        return discounted if any(group == self.tests[test][2] != "-" for test in made) else full


class Costs(NamedTuple):
    """Whole costs (n, K) of a row and label, what a split costs, what a unit is worth, and prices of tests."""

    costs: Array
    split: int
    unit: Fraction = Fraction(1)
    tests: Tests = Tests({}, [])


class Amount(NamedTuple):
    """A limited sum: what a row with a label adds (n, K), what a split does, and the ends; None is no end."""

    of_rows: Array
    of_split: int
    least: int | None
    most: int | None


Tree = tuple[Array, list[tuple[int, int, tuple[int, ...]]]]
"""The tree of a file: each row's label (n,), and of every split its rows, column, and the columns asked above."""


class Goal(NamedTuple):
    """Costs, what the file's tree has of them in whole units, and its cost or score, whichever is compared."""

    costs: Costs
    reached: int
    worth: Fraction
    is_score: bool

    def words(self, bound: int) -> str:
        """What is shown if no tree costs less than so many units, `reached` at most."""
        if self.is_score:
            return f"{'no tree scores' if bound == self.reached else 'a tree may score'} more than {shown(self.worth)}"
        return f"no tree costs less than {shown(bound * self.costs.unit)}"


def shown(number: Fraction) -> str:
    """A number as one reads it, exactly."""
    return str(number) if number.denominator == 1 else f"{number} (about {float(number):.9g})"


def parse_table(raw: bytes, given: argparse.Namespace, path: Any) -> Table:
    """The table of comma separated values with a line of names."""
    try:
        names, *rows = csv.reader(filter(str.strip, raw.decode("utf-8-sig").split("\n")), strict=True)
    except (ValueError, csv.Error) as error:
        raise UsageError(f"{path} is no table: it is no CSV file of UTF-8 with a line of names ({error})") from None
    if len(set(names)) != len(names) or {len(row) for row in rows} != {len(names)}:
        raise UsageError(f"{path}: different names of columns, and rows of that length, are needed")
    texts = dict(zip(names, zip(*rows, strict=True), strict=True))
    target = names[-1] if given.target is None else given.target
    aside = {target, *given.costs, *itertools.chain.from_iterable(given.amounts), given.weights or target}
    features = [name for name in names if name not in aside]
    if missing := {*aside, *given.categorical} - set(names):
        raise UsageError(f"{path} has no column {min(missing)!r}")
    X = np.zeros((len(rows), len(features)), np.uint8)
    for j, name in enumerate(features):
        most, codes = 250 if name in given.categorical else 1, set(texts[name])
        if not all(code.isdecimal() and len(code) <= 3 and int(code) <= most for code in codes):
            raise UsageError(f"column {name!r} needs codes 0 to {most}" + (", or --categorical" if most == 1 else ""))
        X[:, j] = list(map({code: int(code) for code in codes}.__getitem__, texts[name]))
    labels = sorted(set(texts[target]))
    y = np.searchsorted(labels, texts[target])
    labels = list(given.costs) if given.task == "costs" else labels
    return Table(X, features, y, labels, texts, hashlib.sha256(raw).hexdigest())


def fraction(text: str, what: str) -> Fraction:
    """The number that a short decimal or fraction says; raises UsageError."""
    try:
        if len(text) > 40 or len(text.lower().partition("e")[2]) > 3:
            raise ValueError
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"{what}: {text[:40]!r} is no number") from None


def fractions(table: Table, name: str) -> list[Fraction]:
    """A column of numbers."""
    known = {text: fraction(text, f"column {name!r}") for text in set(table.texts[name])}
    return [known[text] for text in table.texts[name]]


def whole_costs(rows: list[list[Fraction]], price: Fraction, tests: Tests) -> Costs:
    """Fractions as whole numbers of the largest unit that holds them all."""
    of_tests = itertools.chain.from_iterable(test[:2] for test in tests.tests)
    each = {value for row in rows for value in row} | {price, *of_tests}
    denominator = math.lcm(*(value.denominator for value in each))
    divisor = math.gcd(*(int(value * denominator) for value in each)) or 1
    whole = {value: int(value * denominator) // divisor for value in each}
    if max(map(abs, whole.values())) * (len(rows) + 8) >= BIG // 4:
        raise UsageError("the costs are too fine: those of all rows are below 2**59 units; round them")
    tests = Tests(tests.of, [(whole[full], whole[less], group) for full, less, group in tests.tests])
    costs = np.array([[whole[value] for value in row] for row in rows], np.int64)
    return Costs(costs, whole[price], Fraction(divisor, denominator), tests)


def goal_of(given: argparse.Namespace, table: Table, tree: Tree) -> Goal:
    """What is to be proved of the tree of a file."""
    y, labels = table.y.tolist(), table.labels
    weights = [Fraction(1)] * len(y) if given.weights is None else fractions(table, given.weights)
    price, tests, score = fraction(given.price, "--price"), tests_of(given, table), None
    if min(price, *weights) < 0 or not labels or (given.task in SCORES and (price or tests.of)):
        raise UsageError("--price and weights are zero or more, costs need --costs, and scores have no prices")
    if given.task == "costs":
        each = [fractions(table, name) for name in labels]
        rows = [[w * cost for cost in of_row] for w, *of_row in zip(weights, *each, strict=True)]
    else:
        wrong = [Fraction(1)] * len(labels)
        if given.task in SCORES:
            score, wrong = linear_score(given, labels, list(zip(weights, y, tree[0].tolist(), strict=True)))
        rows = [[w * wrong[of] * (k != of) for k in range(len(labels))] for w, of in zip(weights, y, strict=True)]
    costs = whole_costs(rows, price, tests)
    paid = sum(costs.split + n * costs.tests.price(c, above) for n, c, above in tree[1])
    reached = int(costs.costs[np.arange(len(y)), tree[0]].sum()) + paid
    return Goal(costs, reached, reached * costs.unit if score is None else score, score is not None)


def linear_score(given: argparse.Namespace, labels: list[str], rows: list[Any]) -> tuple[Fraction, list[Fraction]]:
    """The score f of a tree, by each row's weight, label and the tree's, and what a wrong row of each label costs.

    With found, missed and wrongly found rows, of weights F, M, W, a score is g F / (g F + b M + W), and F + M is fixed.
    No tree has more than f if and only if f (b M + W) - (1 - f) g F >= 0 for every tree: a sum of costs.
    """
    yes = labels.index(given.positive) if len(labels) == 2 and given.positive in labels else -1
    pairs = [(w, of == yes, k == yes) for w, of, k in rows]
    kinds = [True, True], [True, False], [False, True]
    found, missed, wrong = (sum(w for w, *pair in pairs if pair == kind) for kind in kinds)
    b = fraction(given.beta, "--beta") ** 2 if given.task == "fbeta" else Fraction(1)
    g = Fraction(1) if given.task == "jaccard" else 1 + b
    if not b or not found + missed:
        raise UsageError("--positive names one of two labels, whose rows weigh something, and --beta is not zero")
    f = g * found / (g * found + b * missed + wrong)
    return f, [f * b + (1 - f) * g if k == yes else f for k in (0, 1)]


def tests_of(given: argparse.Namespace, table: Table) -> Tests:
    """The tests of the call, with prices as fractions."""
    made = Tests({}, [])
    for number, test in enumerate(given.test):
        prices = [fraction(text, "--test") for text in test[:2]]
        columns = {table.names.index(name) for name in test[3:] if name in table.names} - set(made.of)
        if len(test) < 4 or len(columns) < len(test) - 3 or not 0 <= prices[1] <= prices[0]:
            raise UsageError("--test: a price, one that is no larger, a group and features of no other test are needed")
        made.tests.append((*prices, test[2]))
        made.of.update(dict.fromkeys(columns, number))
    return made


def amounts_of(given: argparse.Namespace, table: Table) -> list[Amount]:
    """The limited sums of the call, the number of splits last."""
    made, shape = [], (len(table.y), len(table.labels))
    for names, ends in itertools.zip_longest(given.amounts, given.between, fillvalue=()):
        numbers = [fractions(table, name) for name in names]
        least, most = (None if end == "-" else fraction(end, "--between") for end in ends or "--")
        each = [*itertools.chain.from_iterable(numbers), least or Fraction(0), most or Fraction(0)]
        if len(names) != shape[1] or not ends or any(x.denominator > 1 or abs(x) > 2**50 for x in each):
            raise UsageError(f"--amounts needs {shape[1]} columns of whole numbers, one a label, and its --between")
        made.append(Amount(np.array(numbers, np.int64).T, 0, *(x if x is None else int(x) for x in (least, most))))
    if given.max_nodes is not None:
        made.append(Amount(np.zeros(shape, np.int64), 1, None, given.max_nodes))
    return made


def follow(tree: Any, table: Table, limits: Limits, amounts: Sequence[Amount]) -> Tree:
    """A header's tree; raises RejectedError unless it is one within the limits."""
    chosen, splits = np.full(len(table.X), -1), list[tuple[int, int, tuple[int, ...]]]()
    stack: list[tuple[Any, Array, tuple[int, ...]]] = [(tree, np.arange(len(table.X)), ())]
    while stack:
        node, rows, asked = stack.pop()
        require(isinstance(node, dict) and len(asked) <= limits.depth, "the tree is too deep, or no tree")
        if "label" in node:
            require(node["label"] in table.labels and len(rows) >= limits.min_leaf, "a leaf of no label, or few rows")
            chosen[rows] = table.labels.index(node["label"])
            continue
        column, children = node.get("column"), node.get("children")
        require(type(column) is int and 0 <= column < len(table.names), "the tree asks for no column of the table")
        codes = table.X[rows, column]
        there = set(codes.tolist())
        require(isinstance(children, dict) and {*map(str, there)} <= {*children}, "the tree has no child for a code")
        splits.append((len(rows), column, asked))
        stack += [(children[str(code)], rows[codes == code], (*asked, column)) for code in there]
    for number, (of_rows, of_split, least, most) in enumerate(amounts):
        total = int(of_rows[np.arange(len(of_rows)), chosen].sum()) + of_split * len(splits)
        inside = (least is None or least <= total) and (most is None or total <= most)
        require(inside, f"the tree's amount {number} is {total}, beyond its limit")
    return chosen, splits


class Record(NamedTuple):
    """A claim: columns and codes that lead to its rows, depth and bound, and how many claims back its anchors are."""

    path: list[tuple[int, int]]
    depth: int
    bound: int
    anchors: list[int]


def read_file(raw: bytes) -> tuple[dict[str, Any], list[Fraction], list[Record]]:
    """What a proof says, its multipliers, one for every amount, and its claims."""
    require(raw.startswith(MAGIC), "this is no proof, or of another version")
    stream = zlib.decompressobj()
    try:
        text = stream.decompress(raw[len(MAGIC) :], LONGEST)
        require(stream.eof, "the file is cut off, or too long")
        said = json.loads(text)
        multipliers, claims = said["multipliers"], said["claims"]
        require(all(isinstance(m, str) for m in multipliers), "the multipliers cannot be read")
        numbers = itertools.chain.from_iterable((*path, depth, bound, *back) for path, depth, bound, back in claims)
        require(all(type(x) is int and x >= 0 for x in numbers), "a claim has other than whole numbers")
        records = [Record(list(zip(p[::2], p[1::2], strict=True)), d, bound, back) for p, d, bound, back in claims]
        return said, [fraction(m, "a multiplier") for m in multipliers], records
    except (ValueError, TypeError, KeyError, RecursionError, UsageError, zlib.error) as error:
        raise RejectedError(f"the file is damaged ({type(error).__name__})") from None


# -- the rules ---------------------------------------------------------------------------------------------------------
class Part(NamedTuple):
    """Some rows (m,) bool, and what a split by each column costs one of them (P,)."""

    mask: Array
    prices: Array


class Sums:
    """Sums of c + sum_j m_j a_j in whole units above FLOOR, exact in any order, and the claims that hold so far.

    Equal rows are one of m. There are Q literals, a code of a column each. Of columns that part all rows alike, and so
    those of any claim, the first stands; those of other tests differ.
    """

    def __init__(
        self, X: Array, costs: Costs, limits: Limits, amounts: Sequence[Amount], multipliers: Sequence[Fraction]
    ) -> None:
        self.depth, self.min_leaf = limits
        full, given = self._find_rows(X, costs.tests)
        each = np.stack([costs.costs, *(amount.of_rows for amount in amounts)], axis=2)
        self.parts = np.zeros((self.m, *each.shape[1:]), np.int64)  # (m, K, 1 + J)
        np.add.at(self.parts, self.of_row, each)
        self.of_split = [costs.split, *(amount.of_split for amount in amounts)]
        require(len(multipliers) == len(amounts), "a proof needs a multiplier for every amount")
        scale = math.lcm(1, *(m.denominator for m in multipliers))
        self.factors = [scale, *(int(m * scale) for m in multipliers)]
        self.allowed = 0  # the largest sum of multiplied amounts within the limits
        for factor, amount in zip(self.factors[1:], amounts, strict=True):
            end = amount.most if factor > 0 else amount.least
            require(factor == 0 or end is not None, "a multiplier of the wrong sign")
            self.allowed += factor * (end or 0)
        self.split = sum(map(int.__mul__, self.factors, self.of_split))
        fine = self.split >= 0 and max(map(abs, [*self.factors, self.allowed])) < BIG / 4
        require(fine, "a multiplier is too large, too fine, or lets a split earn something")
        tests = sum(full for full, _, _ in costs.tests.tests) * scale
        most = 2 * np.abs(each).max(1).sum(0, dtype=np.float64) + 8 * np.abs(np.array(self.of_split, np.float64))
        largest = float(most @ np.abs(np.array(self.factors, np.float64))) + float(len(X)) * (1 + tests)
        require(largest < 2**53, "the costs are too large, or too fine: round them to fewer digits")
        values = self.value(self.parts)
        self.floor, self.w = values.min(1), values.max(1) - values.min(1)
        self.allowed -= int(self.floor.sum())
        self.v = values.max(1)[:, None] - values  # what each label saves
        self.full, self.given = full * scale, given * scale
        tests = min(tests, min(self.depth, len(self.starts)) * int(self.full.max(initial=0)))
        self.lost = self.w + self.size * tests  # the most that a row may cost, tests included
        self.L = self.held.T.astype(np.float32 if largest < 2**24 else np.float64, order="C")  # (m, Q), to be summed
        self.V = np.column_stack([self.size, self.w, self.v]).astype(self.L.dtype)
        self.solved: dict[Any, int] = {}
        self.claims: list[tuple[Array, Array, int, int]] = []  # rows, packed, prices, depth and bound
        self.known: dict[bytes, dict[int, int]] = {}  # bounds by rows and depth
        self.listed = 0
        self.root = Part(np.ones(self.m, np.bool_), self.full)

    def _find_rows(self, X: Array, tests: Tests) -> tuple[Array, Array]:
        """What a split costs a row: (P,) below no others, and (P, P) below one by each column, (P, 1) if nothing."""
        seen: dict[Any, int] = {}
        for c, raw in enumerate(x.tobytes() for x in np.ascontiguousarray(X.T)):
            codes = bytes(dict.fromkeys(raw))
            if len(codes) > 1:
                parted = raw.translate(bytes.maketrans(codes, bytes(range(len(codes)))))
                seen.setdefault((parted, tests.of.get(c)), c)
        columns = list(seen.values())
        rows = np.zeros((len(X), len(columns) + 1), np.uint8)
        rows[:, :-1] = X[:, columns]
        equal = np.unique(rows.view(f"V{rows.shape[1]}")[:, 0], return_index=True, return_inverse=True)
        self.of_row, self.m = equal[2].reshape(-1), len(equal[1])
        self.size = np.bincount(self.of_row, minlength=self.m)
        codes_of = [int(X[:, c].max()) + 1 for c in columns]
        self.starts = np.cumsum([0, *codes_of])[:-1].astype(np.intp)
        self.of_column = np.repeat(np.arange(len(codes_of)), codes_of)
        pairs = [(c, v) for c, k in zip(columns, codes_of, strict=True) for v in range(k)]
        self.literal = {pair: q for q, pair in enumerate(pairs)}
        self.held = np.array([X[equal[1], c] == v for c, v in pairs], np.bool_).reshape(-1, self.m)
        if not tests.of:
            return np.zeros(len(columns), np.int64), np.zeros((len(columns), 1), np.int64)
        each = [[tests.price(c, above) for c in columns] for above in ((), *((a,) for a in columns))]
        return np.array(each[0], np.int64), np.array(each[1:], np.int64)

    def side(self, part: Part, q: int) -> Part:
        """The rows with a literal, below a split by its column."""
        return Part(part.mask & self.held[q], np.minimum(part.prices, self.given[self.of_column[q]]))

    def key(self, part: Part) -> bytes:
        """Tells parts apart."""
        return np.packbits(part.mask).tobytes() + part.prices.tobytes()

    def summed(self, values: Array, mask: Array, *, pairs: bool = False) -> Array:
        """(Q,) sums of whole values (m,) over the rows of some that each literal has, or (Q, Q) that two have."""
        some = (values * mask).nonzero()[0]
        y: Array = self.L[some]
        z: Array = values[some].astype(y.dtype)
        return np.asarray(((y * z[:, None]).T @ y if pairs else z @ y).astype(np.int64))

    def totals(self, part: Part) -> Array:
        """(2 + K, Q) of every side of some rows: how many they are, the most that they cost, and what labels save."""
        i = part.mask.nonzero()[0]
        return np.asarray((self.V[i].T @ self.L[i]).astype(np.int64))

    def leaf(self, part: Part) -> int:
        """What the best leaf of some rows costs."""
        if 0 < int(self.size @ part.mask) < self.min_leaf:
            return BIG
        return int(self.w @ part.mask) - int(self.v[part.mask].sum(0).max())

    def counted(self, part: Part, depth: int) -> Array:
        """(Q,) COUNT: the least costs of every side of some rows at depth 0, else 1."""
        size, worst, *saved = self.totals(part)
        leaf = np.where((size > 0) & (size < self.min_leaf), BIG, worst - np.maximum.reduce(saved))
        if depth == 0:
            return np.asarray(leaf)
        gains = functools.reduce(np.maximum, (self.summed(each, part.mask, pairs=True) for each in self.v.T))
        price = self.split + size[:, None] * np.minimum(part.prices, self.given[self.of_column])
        split = price + worst[:, None] - np.add.reduceat(gains, self.starts, axis=1)  # (Q, P): two leaves
        if self.min_leaf > 1:
            both = self.summed(self.size, part.mask, pairs=True)
            split[~np.logical_and.reduceat((both == 0) | (both >= self.min_leaf), self.starts, axis=1)] = BIG
        return np.asarray(np.minimum(leaf, split.min(1)))

    def by_column(self, part: Part, lower: Array) -> Array:
        """(P,) SPLIT: a split and bounds of its sides (Q,), or BIG where it does not part the rows as it must."""
        starts, size = self.starts, self.totals(part)[0]
        allowed = np.add.reduceat(size > 0, starts, dtype=np.int64) >= 2
        allowed &= np.logical_and.reduceat((size == 0) | (size >= self.min_leaf), starts)
        price = self.split + part.prices * int(self.size @ part.mask)
        return np.asarray(np.where(allowed, price + np.add.reduceat(np.where(size > 0, lower, 0), starts), BIG))

    def transfer(self, part: Part, anchor: Part, bound: int) -> Array:
        """(Q,) TRANSFER from an anchor to the sides of some rows."""
        shared = part.mask & anchor.mask
        known = bound - int(self.lost @ anchor.mask) + self.summed(self.lost, shared)
        if self.full.any():
            known[(anchor.prices > np.minimum(part.prices, self.given)).any(1)[self.of_column]] = 0
        if self.min_leaf > 1:  # only where the anchor has all rows of the side, and no others that may need a leaf
            here, had = self.summed(self.size, shared), int(self.size @ anchor.mask)
            no_others = (len(here) == 2 * len(self.starts)) | (here == had)
            known = np.where((here == self.totals(part)[0]) & no_others, known, 0)
        return known

    def add(self, record: Record) -> None:
        """Checks the next claim; raises RejectedError if it does not follow."""
        number, part = len(self.claims), self.root
        path, depth, bound, anchors = record
        require(depth <= UNLIMITED and bound < BIG, f"claim {number}: the depth or the bound is too large")
        require(all(0 < back <= number for back in anchors), f"claim {number}: an anchor that is not before it")
        for literal in path:
            require(literal in self.literal, f"claim {number}: a code of none of the columns that stand")
            part = self.side(part, self.literal[literal])
        found = self.lower(part, depth) if depth <= 2 else self.leaf(part)
        if depth > 2 and len(self.starts):
            lower = (
                np.minimum(self.counted(part, 1), 2 * self.split) if depth == UNLIMITED else 0 * self.totals(part)[0]
            )
            for back in anchors:
                rows, prices, deep, least = self.claims[-back]
                require(deep >= depth - (depth < UNLIMITED), f"claim {number}: an anchor of too little depth")
                anchor = Part(np.unpackbits(rows, count=self.m).view(bool), prices)
                lower = np.maximum(lower, self.transfer(part, anchor, least))
            found = min([found, *self.by_column(part, lower).tolist()])
        require(found >= bound, f"claim {number}: a tree may cost {found}, less than {bound}")
        self.claims.append((np.packbits(part.mask), part.prices, depth, bound))
        self.known.setdefault(self.key(part), {})[depth] = bound

    def lower(self, part: Part, depth: int) -> int:
        """A bound on what trees of a depth cost on some rows: at two or less the optimum by COUNT, else as claimed."""
        key = self.key(part)
        if depth > 2:
            return max([0, *(bound for deep, bound in self.known.get(key, {}).items() if deep >= depth)])
        if (key, depth) not in self.solved:
            self.solved[key, depth] = min([self.leaf(part), *self.splits(part, depth).tolist()])
        return self.solved[key, depth]

    def splits(self, part: Part, depth: int) -> Array:
        """(P,) what a tree of a depth costs at least whose first split is by each column."""
        if not depth or not len(self.starts) or not part.mask.any():
            return np.full(len(self.starts), BIG)
        if depth <= 2:
            return self.by_column(part, self.counted(part, depth - 1))
        below = [self.lower(self.side(part, q), depth - 1) for q in range(len(self.held))]
        return self.by_column(part, np.array(below))

    def value(self, points: Array) -> Array:
        """(...) of costs and amounts (..., 1 + J)."""
        return np.asarray(points @ np.array(self.factors, np.int64))

    def budget(self, reached: int) -> int:
        """What a tree within the limits that costs less than `reached` has at most, above FLOOR."""
        return self.factors[0] * (reached - 1) + self.allowed

    def trees(self, part: Part, depth: int, budget: int) -> Array:
        """LIST: (k, 1 + J) of the trees of a depth for some rows whose value above FLOOR is within the budget."""
        leaves = self.parts[part.mask].sum(0) if self.leaf(part) < BIG else self.parts[0, :0]
        found = [leaves[self.value(leaves) - int(self.floor @ part.mask) <= budget]]
        columns = np.flatnonzero(self.splits(part, depth) <= budget).tolist()
        return _distinct(np.concatenate([*found, *(self.first(part, depth, column, budget) for column in columns)]))

    def first(self, part: Part, depth: int, column: int, budget: int) -> Array:
        """As `trees`, of those whose first split is by a column."""
        paid = int(self.size @ part.mask) * int(part.prices[column])
        each = [self.side(part, q) for q in np.flatnonzero(self.of_column == column).tolist()]
        sides = [(side, self.lower(side, depth - 1)) for side in each if side.mask.any()]
        left = budget - self.split - paid - sum(bound for _, bound in sides)
        points, spent = np.array([self.of_split], np.int64), 0
        points[0, 0] += paid // self.factors[0]
        for side, bound in sides:
            found = self.trees(side, depth - 1, left + bound)
            self.listed += len(points) * len(found) + 1000  # a list costs something, too
            if self.listed > MOST_LISTED:
                raise MemoryError
            points = (points[:, None] + found[None]).reshape(-1, points.shape[1])
            spent += int(self.floor @ side.mask) + bound
            # the sides that are still to come cost their bounds at least
            points = _distinct(points[self.value(points) - spent <= self.split + paid + left])
        return points


def _distinct(points: Array) -> Array:
    """The least cost of every vector of amounts."""
    points = points[np.lexsort(points.T)]
    new = np.ones(len(points), np.bool_)
    new[1:] = (points[1:, 1:] != points[:-1, 1:]).any(1)
    return np.asarray(points[new])


def prove(made: Sums, amounts: Sequence[Amount], reached: int) -> int:
    """What every tree within the limits costs at least, in whole units; LIST is about those of less than `reached`."""
    root, depth, budget = made.root, made.depth, made.budget(reached)
    best = -((made.allowed - made.lower(root, depth)) // made.factors[0])  # DUALITY
    if best >= reached or depth == UNLIMITED or not amounts:
        return min(best, reached)
    try:
        points = made.trees(root, depth, budget)
    except MemoryError:
        return best
    within = np.ones(len(points), np.bool_)
    for j, (_, _, least, most) in enumerate(amounts, 1):
        within &= (least is None or points[:, j] >= least) & (most is None or points[:, j] <= most)
    return max(best, int(points[within, 0].min(initial=reached)))


def parser(program: str | None = None) -> Any:
    """Of the call: files, task and limits; an `argparse.ArgumentParser`."""
    made = argparse.ArgumentParser(program, description="Checks a proof that a decision tree is optimal.")
    add: Any = made.add_argument
    columns: Any = {"metavar": "COLUMN", "nargs": "+", "default": []}
    each: Any = {"action": "append", "default": []}
    add("proof", type=Path)
    add("table", type=Path)
    add("--task", choices=("accuracy", "costs", *SCORES), default="accuracy", help="accuracy: what errors weigh")
    limit = made.add_mutually_exclusive_group(required=True).add_argument
    limit("--max-depth", type=int, metavar="D")
    limit("--no-limit", action="store_true", help="trees of any depth")
    add("--min-leaf", type=int, default=1, metavar="N")
    add("--max-nodes", type=int, metavar="M", help="splits of a tree at most")
    add("--price", default="0", metavar="X", help="of a split, where an error costs 1")
    add("--target", metavar="COLUMN", help="the labels' (default: the last)")
    add("--categorical", help="columns of more than two codes", **columns)
    add("--weights", metavar="COLUMN")
    add("--costs", help="of --task costs: what each label costs, a column a label", **columns)
    add("--positive", metavar="LABEL", help="of scores")
    add("--beta", default="1", metavar="X", help="of fbeta")
    add("--test", nargs="+", metavar="...", help="PRICE DISCOUNTED GROUP COLUMN ...: splits are paid by row", **each)
    add("--amounts", nargs="+", metavar="COLUMN", help="what labels add to a limited sum, a column a label", **each)
    add("--between", nargs=2, metavar=("LEAST", "MOST"), help="of the sum; - is no end", **each)
    return made


def said(given: argparse.Namespace, table: Table, goal: Goal, found: int, claims: int) -> str:
    """What was proved, of what, in lines."""
    proved = found == goal.reached
    trees = ["any depth" if given.no_limit else f"depth {given.max_depth} or less"]
    trees += [] if given.max_nodes is None else [f"{given.max_nodes} splits at most"]
    trees += [f"{given.min_leaf} rows or more in a leaf"] if given.min_leaf > 1 else []
    for names, (least, most) in zip(given.amounts, given.between, strict=True):
        trees.append(f"a sum of {', '.join(map(repr, names))} between {least} and {most}")
    has = "which the tree of the file has: it is optimal" if proved else f"the tree of the file has {shown(goal.worth)}"
    of_tests = f", {len(given.test)} tests are paid for" if given.test else ""
    return (
        f"{'PROVED' if proved else 'BOUND ONLY'} by {claims} claims, of trees of {', '.join(trees)}:\n"
        f"    {goal.words(found)}, {has}\n"
        f"The task is {given.task}, a split costs {given.price}{of_tests}; the table: {len(table.y)} rows, "
        f"{len(table.names)} columns, SHA-256 {table.digest}"
    )


def main(arguments: list[str] | None = None, program: str | None = None) -> int:
    """0 if the tree is proved optimal, 1 if a step is wrong, 2 if the call is, 3 for a bound; says what was proved."""
    given = parser(program).parse_args(arguments)
    try:
        if min(given.max_depth or 0, given.min_leaf - 1, given.max_nodes or 0) < 0:
            raise UsageError("--max-depth and --max-nodes are zero or more, --min-leaf one or more")
        limits = Limits(UNLIMITED if given.no_limit else min(given.max_depth, UNLIMITED), given.min_leaf)
        table = parse_table(given.table.read_bytes(), given, given.table)
        header, multipliers, claims = read_file(given.proof.read_bytes())
        amounts = amounts_of(given, table)
        goal = goal_of(given, table, follow(header.get("tree"), table, limits, amounts))
        sums = Sums(table.X, goal.costs, limits, amounts, multipliers)
        for record in claims:
            sums.add(record)
        found = prove(sums, amounts, goal.reached)
    except (UsageError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except RejectedError as error:
        print(f"REJECTED: {error}")
        return 1
    print(said(given, table, goal, found, len(claims)))
    if found < goal.reached and isinstance(made_for := header.get("arguments"), list):
        print(f"The file says that it was made for: {ascii(' '.join(map(str, made_for)))[:300]}")
    return 0 if found == goal.reached else 3


if __name__ == "__main__":
    sys.exit(main())
