"""Checks that no tree is better by a task's own methods, or that the trees of a front weakly dominate every tree.

    python check_methods.py tree.proof table.csv --methods task.py:Mine --labels 2 --statistics x.0 x.1 --max-depth 2

Needs `check.py` beside it, Python and numpy. Whoever checks gives the file of the methods, which is run. `Mine` is an
object, or a class that is called without arguments, and has

    leaf_cost(s, k)                    what a leaf of label number k costs: `s.rows` is how many rows it has, `s.x` the
                                       sum of the column `x`, or of columns `x.0`, `x.1`, ... the tuple of their sums
    branching_cost(rows, path, split)  optional: what a split by a column costs at so many rows below splits by others
    combine(a, b)                      optional (default: the sum); it must keep the order of values
    order, dominates(a, b)             optional: "total" (default: less is better), "componentwise", or "partial"

One rule is used, SPLIT: the best values of a set of rows are among those of its leaves and, for every column that parts
it, the combined best values of the sides. So sets of rows are enumerated, which is for few columns or little depth;
more than 100,000 sets are refused. Of the file only the trees are taken. Sums are exact; what the methods do with
floats is what they do. Why this is sound, and what it needs, is in docs/explanation/proofs.md.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import importlib.util
import itertools
import sys
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

if __package__:
    from streed.proof import check
else:  # as a script beside it
    import check  # type: ignore[import-not-found,no-redef]

Array = np.ndarray[Any, Any]
MAGIC = b"streed proof by methods 1\n"
MOST_SETS, MOST_VALUES, MOST_TREES = 100_000, 5_000_000, 1000
"""Of rows, of values that are combined, and of trees of a file."""


class Methods:
    """A task's methods, with defaults for what they leave out, and the statistics of the rows."""

    def __init__(self, task: Any, statistics: dict[str, list[Fraction]], labels: int) -> None:
        self.task, self.labels = task, labels
        self.statistics = statistics
        self.combine = getattr(task, "combine", _added)
        self.price = getattr(task, "branching_cost", lambda rows, path, split: None)
        order = getattr(task, "order", "total")
        self.dominates = _less if order == "total" else getattr(task, "dominates", _componentwise)

    def leaves(self, i: Array) -> list[Any]:
        """What leaves of the rows i cost, by the number of their label."""
        sums: dict[str, Any] = {"weight": len(i)}
        for name, column in self.statistics.items():
            total = sum((column[r] for r in i.tolist()), Fraction(0))
            number = int(total) if total.denominator == 1 else total
            whole, _, place = name.partition(".")
            sums[whole] = (*sums.get(whole, ()), number) if place else number
        state = SimpleNamespace(**sums, rows=len(i))
        return [self.task.leaf_cost(state, k) for k in range(self.labels)]

    def split(self, values: Sequence[Any], rows: int, path: tuple[int, ...], column: int) -> Any:
        """What a tree costs whose sides cost these values."""
        value, price = functools.reduce(self.combine, values), self.price(rows, path, column)
        return value if price is None else self.combine(value, price)

    def best(self, values: Iterable[Any]) -> list[Any]:
        """The different values that none dominates."""
        front: list[Any] = []
        for value in values:
            if not any(other == value or self.dominates(other, value) for other in front):
                front = [*(other for other in front if not self.dominates(value, other)), value]
        return front


def _added(a: Any, b: Any) -> Any:
    return tuple(x + y for x, y in zip(a, b, strict=True)) if isinstance(a, tuple) else a + b


def _less(a: Any, b: Any) -> bool:
    return bool(a < b)


def _componentwise(a: Any, b: Any) -> bool:
    return bool(a != b and all(x <= y for x, y in zip(a, b, strict=True)))


class Enumeration:
    """The best values of sets of rows, by SPLIT."""

    def __init__(self, X: Array, methods: Methods, min_leaf: int) -> None:
        self.X, self.methods, self.min_leaf = X, methods, min_leaf
        self.known: dict[tuple[bytes, int, tuple[int, ...]], list[Any]] = {}
        self.combined = 0
        self.keeps_path = hasattr(methods.task, "branching_cost")

    def trees(self, i: Array, depth: int, path: tuple[int, ...] = ()) -> list[Any]:
        """The values of trees of a depth for the rows i that no other tree's dominates, below splits of a path."""
        key = i.tobytes(), depth, path
        if key not in self.known:
            check.require(len(self.known) < MOST_SETS, "there are more sets of rows than are enumerated")
            leaves = self.methods.leaves(i) if len(i) >= self.min_leaf else []
            self.known[key] = self.methods.best(itertools.chain(leaves, self._splits(i, depth, path)))
        return self.known[key]

    def _splits(self, i: Array, depth: int, path: tuple[int, ...]) -> Iterable[Any]:
        for column in range(self.X.shape[1] if depth else 0):
            sides = parts(self.X, i, column)
            if len(sides) < 2:
                continue
            below = tuple(sorted({*path, column})) if self.keeps_path else ()
            lists = [self.trees(side, depth - 1, below) for side in sides.values()]
            for values in itertools.product(*lists):
                self.combined += 1
                check.require(self.combined <= MOST_VALUES, "there are more values than are combined")
                yield self.methods.split(values, len(i), path, column)


def parts(X: Array, i: Array, column: int) -> dict[int, Array]:
    """The rows i by their code in a column, where there are any."""
    codes = X[i, column]
    return {code: i[codes == code] for code in np.unique(codes).tolist()}


def value_of(node: Any, X: Array, methods: Methods, i: Array, path: tuple[int, ...] = ()) -> Any:
    """What a header's tree costs, which `check.follow` has read before; its splits part their rows."""
    if "label" in node:
        return methods.leaves(i)[int(node["label"])]
    column = node["column"]
    sides = parts(X, i, column)
    check.require(len(sides) > 1, "a split of the tree parts nothing")
    below = tuple(sorted({*path, column}))
    values = [value_of(node["children"][str(code)], X, methods, side, below) for code, side in sides.items()]
    return methods.split(values, len(i), path, column)


def load(where: str) -> tuple[Any, str]:
    """The object that FILE:NAME names, and the SHA-256 of the file; runs the file. Raises UsageError."""
    file, _, name = where.rpartition(":")
    path = Path(file)
    if not path.is_file():
        raise check.UsageError(f"--methods {where}: give FILE:NAME, a file of Python and a name in it")
    spec = importlib.util.spec_from_file_location(f"methods_of_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise check.UsageError(f"--methods {where}: this is no file of Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    found = getattr(module, name, None)
    found = found() if isinstance(found, type) else found
    if not hasattr(found, "leaf_cost"):
        raise check.UsageError(f"--methods {where}: {name} has no leaf_cost")
    return found, hashlib.sha256(path.read_bytes()).hexdigest()


def prove_front(X: Array, methods: Methods, limits: check.Limits, trees: list[Any]) -> tuple[list[Any], list[Any], int]:
    """(the best values of all trees, those of the file's trees, sets of rows); raises RejectedError."""
    i, labels = np.arange(len(X)), list(map(str, range(methods.labels)))
    check.require(0 < len(trees) <= MOST_TREES, f"the header has no trees, or more than {MOST_TREES}")
    reached = []
    for tree in trees:
        check.follow(tree, X, labels, limits)
        reached.append(value_of(tree, X, methods, i))
    enumeration = Enumeration(X, methods, limits.min_leaf)
    return enumeration.trees(i, min(limits.depth, X.shape[1])), reached, len(enumeration.known)


def is_proved(methods: Methods, best: list[Any], reached: list[Any]) -> bool:
    """Whether each of the best values is one of the trees', or dominated by one."""
    return all(any(mine == value or methods.dominates(mine, value) for mine in reached) for value in best)


def parser(program: str | None = None) -> Any:
    """Of the call: an `argparse.ArgumentParser`."""
    made = check.parser(program, ("methods",))
    made.description = "Checks that no tree is better by a task's own methods."
    made.add_argument(
        "--methods", required=True, metavar="FILE:NAME", help="the task, in a file of Python, which is run"
    )
    made.add_argument("--labels", type=int, required=True, metavar="K", help="how many labels a leaf may have")
    made.add_argument("--statistics", nargs="+", default=[], metavar="COLUMN", help="of numbers that states sum")
    return made


def methods_of(given: argparse.Namespace, table: check.Table) -> tuple[Methods, str]:
    """The methods of a call, and the SHA-256 of their file."""
    task, digest = load(given.methods)
    each = {name: [check.fraction(text, name) for text in table.others[name]] for name in given.statistics}
    return Methods(task, each, given.labels), digest


def main(arguments: list[str] | None = None, program: str | None = None) -> int:
    """0 if the proof holds, 1 if not, 2 if the call cannot be used; says which, and what was proved."""
    given = parser(program).parse_args(arguments)
    try:
        if min(given.max_depth or 0, given.min_leaf - 1, given.labels - 1) < 0:
            raise check.UsageError("--max-depth is zero or more, --min-leaf and --labels one or more")
        aside = argparse.Namespace(**{**vars(given), "costs": given.statistics})
        table = check.parse_table(given.table.read_bytes(), aside, given.table)
        header, _ = check.read_file(given.proof.read_bytes(), MAGIC)
        trees = header.get("trees")
        check.require(isinstance(trees, list), "the header has no trees")
        methods, digest = methods_of(given, table)
        depth = check.UNLIMITED if given.no_limit else min(given.max_depth, check.UNLIMITED)
        limits = check.Limits(depth, given.min_leaf)
        best, reached, sets = prove_front(table.X, methods, limits, trees or [])
        check.require(is_proved(methods, best, reached), f"a tree costs {best[0]!r}, no tree of the file is as good")
    except (check.UsageError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except check.RejectedError as error:
        print(f"REJECTED: {error}")
        return 1
    said = "any depth" if given.no_limit else f"depth {given.max_depth} or less"
    print(f"PROVED by {sets} sets of rows, of trees of {said}, {given.min_leaf} rows or more in a leaf:")
    if len(best) == 1:
        print(f"    no tree is better than {best[0]!r}, which a tree of the file has: it is optimal")
    else:
        print(f"    every tree has the value of one of the file's {len(reached)} trees, or is dominated by one")
    print(f"By the methods {given.methods}, SHA-256 {digest}, which must keep the order of values;")
    print(f"the table is {given.table}: {len(table.y)} rows, {table.X.shape[1]} columns, SHA-256 {table.digest}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
