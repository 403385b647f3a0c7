"""Checks a proof that a decision tree is optimal, from the table alone. Needs Python and numpy; knows no solver.

    python check.py tree.proof table.csv --max-depth 3
    python check.py tree.proof table.csv --no-limit --price 0.5 --categorical colour shape

Whoever checks says what the task, the limits and the table are; the file has the tree and the steps. The exit code is 0
if everything holds and no tree is better than the file's; 1 if a step does not; 2 if the call or a file cannot be used;
3 if everything holds, but shows a lower bound only: on other data, or within other limits, than the file was made for.
A tree branches by a column of codes 0, 1, 2, ..., one child for every code. A claim (S, d, L) says that every tree of
depth d or less costs at least L on the rows S, those with some codes. Costs are regrets (above the least cost of the
row), counted in whole units; a split costs s; w(A) is the sum of the worst regrets of the rows A. The rules, whose
proofs are in docs/explanation/proofs.md:

FLOOR     equal rows share a leaf: L is the sum, over classes of equal rows, of the least regret of one label.
COUNT     the optimum of depth two or less is computed outright. Without a limit on the depth: a side of the first split
          is a leaf, has one split (both computed), has two (2 s and a bound), or more (3 s and FLOOR).
LABELS    m splits into c sides at most show j = 1 + m (c - 1) labels at most, and save what the best j do on all of S.
SPLIT     the optimum of S is its leaf, or s and the sides' bounds, for the best column. Columns constant on S are left
          out: a tree without that split is as good. With --min-leaf, so are those with a side of fewer rows.
TRANSFER  for d' >= d, a tree for B costs on A at most w(A without B) more: the optimum of (B, d) is at least that of
          (A, d') less w(A without B). With --min-leaf, only if A has all of B, and with more than two codes no others.
"""

from __future__ import annotations

import argparse
import csv
import functools
import hashlib
import json
import math
import sys
import zlib
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

MAGIC = b"streed proof 1\n"
SCORES = ("f1", "fbeta", "jaccard")
UNLIMITED = 255
"""The depth of claims about trees of any depth."""
_HEADER, _BODY, _DEEPEST = 2**24, 2**25, 250
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
    """Codes (n, P), the labels' numbers (n,), labels, columns that are no features, and the SHA-256 of the file."""

    X: Array
    y: Array
    labels: list[str]
    others: dict[str, tuple[str, ...]]
    digest: str


class Costs(NamedTuple):
    """Whole costs (n, K) of a row and label, what a split costs, and the unit: a tree is worth its cost times that."""

    costs: Array
    split: int
    unit: Fraction


def parse_table(raw: bytes, given: argparse.Namespace, path: Any) -> Table:
    """The table of comma or space separated values; without a header, columns are named 0, 1, 2, ..."""
    try:
        lines = [line for line in raw.decode("utf-8-sig").split("\n") if line.strip()]
        rows = list(csv.reader(lines, strict=True)) if lines and "," in lines[0] else [line.split() for line in lines]
    except (UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path}: {error}") from None
    if not rows or len({len(row) for row in rows}) != 1:
        raise UsageError(f"{path}: rows of one length are needed")
    plain = all(field.isdigit() for field in rows[0])
    names = list(map(str, range(len(rows[0])))) if plain else rows.pop(0)
    if len(set(names)) != len(names) or not rows:
        raise UsageError(f"{path}: different names of columns, and rows, are needed")
    by_name = dict(zip(names, zip(*rows, strict=True), strict=True))
    target = given.target if given.target is not None else names[0] if plain else names[-1]
    aside = [target, *given.costs, *([given.weights] if given.weights else [])]
    for name in (*aside, *given.categorical):
        if name not in by_name:
            raise UsageError(f"{path} has no column {name!r}")
    columns = [name for name in names if name not in aside]
    X = np.zeros((len(rows), len(columns)), np.uint8)
    for j, name in enumerate(columns):
        most = 250 if name in given.categorical else 1
        if not all(code.isdecimal() and len(code) <= 3 and int(code) <= most for code in by_name[name]):
            raise UsageError(f"column {name!r} needs codes 0 to {most}" + (", or --categorical" if most == 1 else ""))
        X[:, j] = list(map(int, by_name[name]))
    labels = sorted(set(by_name[target]))
    y = np.searchsorted(labels, by_name[target])
    return Table(X, y, labels, {name: by_name[name] for name in aside}, hashlib.sha256(raw).hexdigest())


def fraction(text: str, what: str) -> Fraction:
    """The number that a short decimal or fraction says; raises UsageError."""
    try:
        if len(text) > 40 or len(text.lower().partition("e")[2]) > 3:
            raise ValueError
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"{what}: {text[:40]!r} is no number") from None


def whole_costs(rows: list[list[Fraction]], price: Fraction) -> Costs:
    """Fractions as whole numbers of the largest unit that holds them all."""
    each = {value for row in rows for value in row} | {price}
    denominator = math.lcm(*(value.denominator for value in each))
    divisor = math.gcd(*(int(value * denominator) for value in each)) or 1
    whole = {value: int(value * denominator) // divisor for value in each}
    if max(map(abs, whole.values())) >= 2**53:
        raise UsageError("the costs are too fine: 2**53 units at most")
    costs = np.array([[whole[value] for value in row] for row in rows], np.int64)
    return Costs(costs, whole[price], Fraction(divisor, denominator))


class Goal(NamedTuple):
    """The sum of costs that a proof is about, what it must reach so that the file's tree is the best, and words."""

    costs: Costs
    reached: Fraction
    words: str


def goal_of(given: argparse.Namespace, table: Table, limits: Limits, tree: Any) -> Goal:
    """What is to be proved of the tree of a file; raises RejectedError if it is none within the limits."""
    texts = ["1"] * len(table.y) if given.weights is None else table.others[given.weights]
    weights, y = [fraction(text, f"column {given.weights!r}") for text in texts], table.y.tolist()
    labels = list(given.costs) if given.task == "costs" else table.labels
    chosen, splits = follow(tree, table.X, labels, limits)
    price = fraction(given.price, "--price") if given.task not in SCORES else Fraction(0)
    if min(price, *weights) < 0 or (given.task == "costs" and not labels):
        raise UsageError("--price and weights are zero or more, and --task costs needs --costs COLUMN ...")
    if given.task not in SCORES:
        if given.task == "costs":
            each = [[fraction(text, f"column {name!r}") for text in table.others[name]] for name in labels]
            rows = [[w * column[r] for column in each] for r, w in enumerate(weights)]
        else:
            rows = [[w * (k != of) for k in range(len(labels))] for w, of in zip(weights, y, strict=True)]
        cost = sum((row[k] for row, k in zip(rows, chosen, strict=True)), splits * price)
        return Goal(whole_costs(rows, price), cost, f"no tree costs less than {shown(cost)}")
    # a score is N / D, D > 0; no tree has more than f if and only if f D - N >= 0 for every tree: a sum of costs
    total = {(of, k): Fraction(0) for of in (True, False) for k in (True, False)}
    yes = labels.index(given.positive) if given.positive in labels else -1
    for w, of, k in zip(weights, y, chosen, strict=True):
        total[of == yes, k == yes] += w
    missed, wrong, positive = total[True, False], total[False, True], total[True, True] + total[True, False]
    if len(labels) != 2 or not positive:
        raise UsageError("--positive names one of two labels, and its rows weigh something")
    beta = fraction(given.beta, "--beta") ** 2
    above: Any = (positive, -1, 0) if given.task == "jaccard" else ((1 + beta) * positive, -1 - beta, 0)
    below: Any = (positive, 0, 1) if given.task == "jaccard" else ((1 + beta) * positive, -1, 1)
    f = Fraction(above[0] + above[1] * missed) / (below[0] + below[1] * missed + below[2] * wrong)
    needed, miss, hit = (f * b - a for a, b in zip(above, below, strict=True))
    rows = [[w * (miss if of == yes else hit) * (k != of) for k in (0, 1)] for w, of in zip(weights, y, strict=True)]
    return Goal(whole_costs(rows, price), -needed, f"no tree scores more than {shown(f)}")


class Record(NamedTuple):
    """One claim: columns and codes that lead to its rows, anchors (how many records back), columns at depth three."""

    path: list[tuple[int, int]]
    depth: int
    bound: int
    anchors: list[int]
    columns: list[int]


def read_file(raw: bytes, magic: bytes = MAGIC) -> tuple[dict[str, Any], bytes]:
    """The header and the body of a proof."""
    require(raw.startswith(magic), "this is no proof, or of another kind or version")
    begin = len(magic) + 4
    end = begin + int.from_bytes(raw[len(magic) : begin], "little")
    require(end - begin <= _HEADER, "the header is too long")
    stream = zlib.decompressobj()
    try:
        header, body = json.loads(raw[begin:end]), stream.decompress(raw[end:], _BODY)
    except (ValueError, RecursionError, zlib.error):
        raise RejectedError("the file is damaged") from None
    require(isinstance(header, dict) and stream.eof, "the file is cut off, or its claims are too long")
    return header, body


def read_numbers(body: bytes) -> Array:
    """Unsigned numbers, seven bits a byte, low ones first, the last byte of each below 128."""
    raw = np.frombuffer(body, np.uint8)
    ends = np.flatnonzero(raw < 128)
    require(len(raw) == 0 or (len(ends) and ends[-1] == len(raw) - 1), "the claims are cut off")
    starts = np.concatenate([[0], ends + 1])[:-1].astype(np.intp)
    place = np.arange(len(raw)) - np.repeat(starts, ends - starts + 1)
    require(place.max(initial=0) < 8, "a number is too long")
    return np.asarray(np.add.reduceat((raw & 127).astype(np.int64) << (7 * place), starts))


def read_records(numbers: list[int]) -> list[Record]:
    """The claims in the order of the file."""
    records, at = [], 0

    def take(count: int) -> list[int]:
        nonlocal at
        require(count <= len(numbers) - at, "a record is cut off")
        at += count
        return numbers[at - count : at]

    while at < len(numbers):
        codes = take(2 * take(1)[0])
        depth, bound = take(2)
        anchors = take(take(1)[0])
        columns = take(take(1)[0]) if depth == 3 else []
        records.append(Record(list(zip(codes[::2], codes[1::2], strict=True)), depth, bound, anchors, columns))
    return records


def follow(tree: Any, X: Array, labels: list[str], limits: Limits) -> tuple[list[int], int]:
    """(each row's label in a header's tree, its splits); checks that it is a tree within the limits."""
    chosen = np.full(len(X), -1)
    splits, stack = 0, [(tree, np.arange(len(X)), 0)]
    while stack:
        node, rows, above = stack.pop()
        require(isinstance(node, dict), "the header's tree cannot be read")
        if "label" in node:
            require(node["label"] in labels, "a leaf shows no label of the table")
            require(len(rows) >= limits.min_leaf, "a leaf has too few rows")
            chosen[rows] = labels.index(node["label"])
            continue
        column, children = node.get("column"), node.get("children")
        known = type(column) is int and 0 <= column < X.shape[1] and isinstance(children, dict)
        require(known, "the tree asks for no column of the table")
        require(above < min(limits.depth, _DEEPEST), "the tree is too deep")
        codes = np.unique(X[rows, column]).tolist()
        require(all(str(code) in children for code in codes), "the tree has no child for a code of the table")
        splits += 1
        stack += [(children[str(code)], rows[X[rows, column] == code], above + 1) for code in codes]
    return chosen.tolist(), splits


class Limits(NamedTuple):
    """Of trees: their depth (UNLIMITED if any), and how many rows a leaf has."""

    depth: int
    min_leaf: int = 1


class Sums:
    """Sums over rows, as floats that are whole numbers small enough to be exact in any order.

    A literal is a code of a column. Of columns that part all rows alike, and so those of any claim, the first stands.
    """

    def __init__(self, X: Array, regrets: Array, split: int, limits: Limits) -> None:
        worst = regrets.max(1)
        largest = int(worst.sum()) + 8 * split
        require(largest < 2**51, "the costs are too large: 2**51 units in all at most")
        kind: Any = np.float32 if largest < 2**23 else np.float64
        self.big = kind(2.0 ** (24 if kind is np.float32 else 52))
        self.n, self.min_leaf = len(X), limits.min_leaf
        seen: dict[bytes, int] = {}
        T = np.ascontiguousarray(X.T)
        parts, most = (T[:, :1] != T).any(1), T.max(1, initial=0).tolist()
        for c, x in enumerate(T):
            rank = {code: k for k, code in enumerate(dict.fromkeys(x.tolist()))} if most[c] > 1 else {}
            seen.setdefault((x ^ x[0]).tobytes() if not rank else bytes(map(rank.__getitem__, x.tolist())), c)
        self.columns = [c for c in seen.values() if parts[c]]
        codes = [most[c] + 1 for c in self.columns]
        self.spread = max(codes, default=2) - 1
        self.starts, self.binary = np.cumsum([0, *codes])[:-1].astype(np.intp), self.spread == 1
        pairs = [(c, v) for c, k in zip(self.columns, codes, strict=True) for v in range(k)]
        self.literal = {pair: q for q, pair in enumerate(pairs)}
        of_literal = np.array(pairs, np.intp).reshape(-1, 2)
        self.held = T[of_literal[:, 0]] == of_literal[:, 1:]  # (Q, n)
        self.of_column = np.repeat(np.arange(len(codes)), codes)
        self.literals_of = {c: np.flatnonzero(self.of_column == k).tolist() for k, c in enumerate(self.columns)}
        # a leaf costs (w - gain) / u; of two labels one signed sum is enough, as |a - b| = 2 max(a, b) - (a + b)
        self.two, profits = regrets.shape[1] == 2, worst[:, None] - regrets
        self.split, self.w, self.u = kind(split), worst.astype(kind), kind(2 if self.two else 1)
        self.v = (profits[:, :1] - profits[:, 1:] if self.two else profits).astype(kind)
        rows, first = np.zeros((self.n, len(self.columns) + 1), np.uint8), dict[bytes, int]()
        rows[:, :-1] = X[:, self.columns]  # FLOOR of a class of equal rows stands at its first row
        of_row = [first.setdefault(row, r) for r, row in enumerate(rows.view(f"S{rows.shape[1]}")[:, 0].tolist())]
        self.floor = np.min([np.bincount(of_row, each, self.n) for each in regrets.T], 0).astype(kind)
        self.solved: dict[bytes, Any] = {}

    L = functools.cached_property(lambda self: self.held.T.astype(type(self.big), order="C"))  # (n, Q), to be summed

    def gain(self, sums: Array) -> Array:
        """Of sums (K, ...) of profits: what the best label gains."""
        return np.asarray(np.abs(sums[0]) if self.two else sums.max(0))

    def rows(self, path: list[tuple[int, int]]) -> Array:
        """(n,) bool: the rows with these codes."""
        require(all(literal in self.literal for literal in path), "a claim's code is none of the columns that stand")
        return np.asarray(self.held[[self.literal[x] for x in path]].all(0))

    def floors(self, i: Array) -> Array:
        """(Q,) FLOOR of every side of the rows i."""
        costly = i[self.floor[i] > 0]
        return np.asarray(self.floor[costly] @ self.L[costly])

    def leaf(self, i: Array) -> Any:
        """What the best leaf of the rows i costs."""
        if 0 < len(i) < self.min_leaf:
            return self.big
        return (self.w[i].sum() - self.gain(self.v[i].sum(0)[:, None])[0]) / self.u

    def by_column(self, lower: Array, i: Array) -> Array:
        """(P,) s and the sum of the sides' bounds (Q,), or `big` where a column does not split the rows as it must."""
        sizes = self.L[i].sum(0)
        allowed = np.add.reduceat(sizes > 0, self.starts, dtype=np.int64) >= 2
        allowed &= np.logical_and.reduceat((sizes == 0) | (sizes >= self.min_leaf), self.starts)
        total = self.split + np.add.reduceat(np.where(sizes > 0, lower, 0), self.starts)
        return np.asarray(np.where(allowed, total, self.big))

    def sides(self, i: Array) -> tuple[Array, Array, Array, Array]:
        """Of every side of the rows i: its weight, its leaf, its best tree of one split, gains by pair of literals."""
        x, v = self.L[i], self.v[i]
        pairs = np.stack([(x * v[:, k, None]).T @ x for k in range(v.shape[1])])
        single, gains = self.gain(v.T @ x), self.gain(pairs)
        weight = self.w[i] @ x
        if self.min_leaf > 1:
            sizes, both = x.sum(0), x.T @ x
            single = np.where((sizes > 0) & (sizes < self.min_leaf), -self.big, single)
            gains = np.where((both > 0) & (both < self.min_leaf), -self.big, gains)
        best = np.add.reduceat(gains, self.starts, axis=1).max(1)
        return weight, (weight - single) / self.u, self.split + (weight - best) / self.u, gains

    def optimum(self, i: Array, depth: int) -> Any:
        """The least cost of a tree of depth two or less for the rows i."""
        if (key := i.tobytes() + bytes([depth])) not in self.solved:
            best = self.leaf(i)
            if depth and len(self.starts) and len(i):
                _, leaves, ones, _ = self.sides(i)
                below = leaves if depth == 1 else np.minimum(leaves, ones)
                best = min(best, self.by_column(below, i).min())
            self.solved[key] = best
        return self.solved[key]

    def lookahead(self, i: Array, floors: Array) -> Array:
        """(Q,) bounds of all sides, whatever their depth: the second half of COUNT."""
        (weight, leaves, ones, gains), x = self.sides(i), self.L[i]
        weights = (x * self.w[i, None]).T @ x
        quarters = (weights - gains) / self.u
        best = np.minimum(leaves, ones - self.split) if self.binary or self.min_leaf == 1 else np.zeros_like(leaves)
        # all parts but one are leaves, and one has a split: by TRANSFER from the side, less the others' weight
        inner = np.maximum(0, best[:, None] - weight[:, None] + weights)
        two = (np.add.reduceat(quarters, self.starts, axis=1)[:, self.of_column] - quarters + inner).min(1)
        # LABELS, of the last number of splits also for more: what they save is as large as it can be
        gain = -np.sort(-self.v[i].T @ x, axis=0)
        few = [weight - gain[: 1 + m * self.spread].sum(0) for m in range(2, max(4, len(gain)))]
        few = [0 * weight, 0 * weight] if self.two else few
        few[0] = np.maximum(few[0], two)
        more = [m * self.split + np.maximum(floors, least) for m, least in enumerate(few, 2)]
        return np.asarray(np.minimum.reduce([leaves, ones, *more]))

    def transfer(self, mask: Array, i: Array, anchor: Array, bound: Any) -> Array:
        """(Q,) TRANSFER from an anchor (bool, n), bounded by a number, or (Q,) by sides, to the sides of the rows i."""
        shared, lost = np.flatnonzero(mask & anchor), np.flatnonzero(anchor & ~mask)
        by_sides = isinstance(bound, np.ndarray)
        outside = self.w[lost] @ self.L[lost] if by_sides else self.w @ anchor - self.w[shared] @ self.L[shared]
        known = bound - outside
        if self.min_leaf > 1:  # only where the anchor has all rows of the side, and no others that may need a leaf
            here, had = self.L[shared].sum(0), (self.L[anchor] if by_sides else anchor).sum(0)
            known = np.where((here == self.L[i].sum(0)) & (self.binary | (here == had)), known, 0)
        return np.asarray(known)

    def from_columns(self, mask: Array, i: Array, columns: list[int]) -> Array:
        """(Q,) TRANSFER from all sides of some columns of the rows `mask`, solved by COUNT."""
        known = np.zeros(len(self.held))
        for side in (mask & self.held[q] for c in columns for q in self.literals_of[c]):
            known = np.maximum(known, self.transfer(mask, i, side, self.optimum(np.flatnonzero(side), 2)))
        return known


class Proof:
    """The claims that hold so far."""

    def __init__(self, sums: Sums) -> None:
        self.sums = sums
        self.claims: list[tuple[Array, int, int, Array | None]] = []
        """Rows, depth and bound; of claims of depth three the bounds of their sides at depth two."""

    def add(self, record: Record) -> None:
        """Checks the next claim; raises RejectedError if it does not follow."""
        sums, number = self.sums, len(self.claims)
        path, depth, bound, anchors, _ = record
        require(bound < sums.big / 2, f"claim {number}: the bound is too large")
        require(3 <= depth <= UNLIMITED, f"claim {number}: of depth below three there are no records")
        require(depth < UNLIMITED or sums.split > 0, f"claim {number}: splits need a price without a depth limit")
        require(all(0 < back <= number for back in anchors), f"claim {number}: an anchor that is not before it")
        mask = sums.rows(path)
        lower, known = self._follows(mask, record)
        require(float(known) >= bound, f"claim {len(self.claims)}: a tree may cost {known:.0f}, less than {bound}")
        self.claims.append((np.packbits(mask), depth, bound, lower if depth == 3 else None))

    def _follows(self, mask: Array, record: Record) -> tuple[Any, Any]:
        """The bounds of the sides of a claim's rows at one depth less, and the bound that follows for all its rows."""
        sums, i, (_, depth, bound, anchors, columns) = self.sums, np.flatnonzero(mask), record
        floor = sums.floor[i].sum()
        if (floor >= bound and depth > 3) or not len(sums.starts):
            return None, floor if floor >= bound else sums.leaf(i)
        lower = sums.lookahead(i, sums.floors(i)) if depth == UNLIMITED else sums.floors(i)
        if depth == 3:
            lower = np.maximum(lower, sums.transfer(mask, i, mask, sums.optimum(i, 2)))
        for back in anchors:
            there, deep, whole, sides = self.claims[-back]
            require(deep >= depth - (3 < depth < UNLIMITED), f"claim {len(self.claims)}: an anchor of too little depth")
            require(depth > 3 or sides is not None, f"claim {len(self.claims)}: an anchor without bounds of its sides")
            anchor = np.unpackbits(there, count=sums.n).view(bool)
            lower = np.maximum(lower, sums.transfer(mask, i, anchor, sides if depth == 3 else whole))
        require(all(c in sums.literals_of for c in columns), f"claim {len(self.claims)}: a column that does not stand")
        lower = np.maximum(lower, sums.from_columns(mask, i, columns))
        return lower, max(floor, min([sums.leaf(i), *sums.by_column(lower, i)]))


def prove_bound(X: Array, given: Costs, limits: Limits, body: bytes, sums: type[Sums] = Sums) -> tuple[Fraction, int]:
    """What every tree within the limits costs at least, and the number of claims; raises RejectedError."""
    least = given.costs.min(1)
    counted = sums(X, given.costs - least[:, None], given.split, limits)
    best = int(counted.floor.sum(dtype=np.float64))
    if limits.depth <= 2:
        best = max(best, int(counted.optimum(np.arange(len(X)), limits.depth)))
    proof = Proof(counted)
    for record in read_records(read_numbers(body).tolist()):
        proof.add(record)
        if not record.path and record.depth >= limits.depth:
            best = max(best, record.bound)
    return (int(least.sum()) + best) * given.unit, len(proof.claims)


def shown(number: Fraction) -> str:
    """A number as one reads it, exactly."""
    return str(number) if number.denominator == 1 else f"{number} (about {float(number):.9g})"


def parser(program: str | None = None, tasks: tuple[str, ...] = ("accuracy", "costs", *SCORES)) -> Any:
    """Of the call: files, task and limits; an `argparse.ArgumentParser`."""
    made = argparse.ArgumentParser(program, description="Checks a proof that a decision tree is optimal.")
    add: Any = made.add_argument
    columns: Any = {"metavar": "COLUMN", "nargs": "+", "default": []}
    add("proof", type=Path)
    add("table", type=Path)
    add("--task", choices=tasks, default=tasks[0], help="accuracy: what errors weigh")
    limit = made.add_mutually_exclusive_group(required=True).add_argument
    limit("--max-depth", type=int, metavar="D")
    limit("--no-limit", action="store_true", help="trees of any depth; splits need a price")
    add("--min-leaf", type=int, default=1, metavar="N")
    add("--price", default="0", metavar="X", help="of a split, where an error costs 1")
    add("--target", metavar="COLUMN", help="the labels' (default: the last, or the first where there is no header)")
    add("--categorical", help="columns of more than two codes", **columns)
    add("--weights", metavar="COLUMN")
    add("--costs", help="of --task costs: what each label costs, a column a label", **columns)
    add("--positive", metavar="LABEL", help="of scores")
    add("--beta", default="1", metavar="X", help="of fbeta")
    return made


def main(arguments: list[str] | None = None, program: str | None = None, prove: Any = prove_bound) -> int:
    """0 if the tree is proved optimal, 1 if a step is wrong, 2 if the call is, 3 for a bound; says what was proved."""
    given = parser(program).parse_args(arguments)
    try:
        if min(given.max_depth or 0, given.min_leaf - 1) < 0:
            raise UsageError("--max-depth is zero or more, --min-leaf one or more")
        limits = Limits(UNLIMITED if given.no_limit else min(given.max_depth, UNLIMITED), given.min_leaf)
        table = parse_table(given.table.read_bytes(), given, given.table)
        header, body = read_file(given.proof.read_bytes())
        goal = goal_of(given, table, limits, header.get("tree"))
        bound, claims = prove(table.X, goal.costs, limits, body)
        optimal = bound >= goal.reached
        require(optimal or given.task not in SCORES, "a tree may score more than that of the file")
    except (UsageError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except RejectedError as error:
        print(f"REJECTED: {error}")
        return 1
    depth = "any depth" if given.no_limit else f"depth {given.max_depth} or less"
    verdict = "PROVED" if optimal else "BOUND ONLY"
    print(f"{verdict} by {claims} claims, of trees of {depth}, {given.min_leaf} rows or more in a leaf:")
    less = f"no tree costs less than {shown(bound)}; the tree of the file costs {shown(goal.reached)}"
    print(f"    {goal.words}, which the tree of the file has: it is optimal" if optimal else f"    {less}")
    size = f"{len(table.y)} rows, {table.X.shape[1]} columns, SHA-256 {table.digest}"
    print(f"The task is {given.task}, a split costs {given.price}; the table is {given.table}: {size}")
    return 0 if optimal else 3


if __name__ == "__main__":
    sys.exit(main())
