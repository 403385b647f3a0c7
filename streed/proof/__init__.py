"""Proofs that a tree is optimal, which a stranger can check with Python and numpy alone.

    import streed
    from streed import proof

    result = streed.solve(task, X, y, max_depth=3)
    made = proof.prove(result, X, y)
    made.save("tree.proof", "tree.csv")

Then, by whoever doubts it, `python check.py tree.proof tree.csv --max-depth 3`: `streed/proof/check.py` is a file that
stands alone. Where the time is over, a bound is proved. What a proof is, and its bytes: docs/reference/proof-format.md.

The prover makes claims about sets of rows, and improves each as far as others ask. It forms its sums by `check.Sums`,
is lazier than a search, as it knows the value to reach, and need not be trusted.
"""

from __future__ import annotations

import contextlib
import io
import json
import shlex
import tempfile
import time
import zlib
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from types import NoneType
from typing import Any, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.data.strict_json import rebuild
from streed.errors import InputError, MismatchError, check_kind, escaped, path_of
from streed.exact import Array, Range
from streed.proof import check
from streed.proof.check import BIG, MAGIC, UNLIMITED, Goal, Part, Record, Sums
from streed.proof.statement import Statement
from streed.result import Progress, Reporter
from streed.task import Task
from streed.tree import Tree, tree_of
from streed.tree.evaluation import check as verify

__all__ = ["Proof", "prove"]


_NO_END = 2**50
"""No sum is beyond."""

_LARGEST = 2.0**48
"""Of the sums of a relaxed problem, which are then summed quickly."""


@final
@attrs.frozen(eq=False, repr=False)
class Proof:
    """That no tree within the limits is better than a bound, as bytes that `check.py` reads, and its table."""

    data: bytes
    """The file of the proof."""
    table: bytes
    """The table of codes that it is about, as comma separated values."""
    arguments: tuple[str, ...]
    """What `check.py` is to be called with, behind the two files: the task and the limits."""
    bound: Fraction
    """Every tree costs at least this much, in the units that the checker names; or no tree scores more."""
    cost: Fraction
    """What the tree costs, or its score."""
    words: str
    """What is proved, as the checker says it."""
    claims: int
    """How many the proof has beside what needs none."""
    seconds: float
    """How long proving took, and checking the proof."""

    @property
    def optimal(self) -> bool:
        """Whether the bound is the tree's cost; else the time was over, or there are better trees."""
        return self.bound == self.cost

    @property
    def said(self) -> str:
        """What is proved, and what the tree has if that is another number."""
        return self.words + ("" if self.optimal else f", and the tree has {check.shown(self.cost)}")

    def __repr__(self) -> str:
        return f"<Proof: {self.said}; {self.claims} claims, {len(self.data)} bytes>"

    def _repr_html_(self) -> str:
        """What was proved, and how to check it, as a notebook shows it."""
        command = shlex.join(self.command("tree.proof", "tree.csv"))
        return f"<p>{escaped(repr(self)[1:-1])}</p><pre>{escaped(command)}</pre>"

    def command(self, proof: str | Path, table: str | Path) -> list[str]:
        """The command of the shell that checks it, once it is saved."""
        return ["streed", "check-proof", str(proof), str(table), *self.arguments]

    def save(self, proof: str | Path, table: str | Path) -> None:
        """Writes both files."""
        path_of("proof", proof).write_bytes(self.data)
        path_of("table", table).write_bytes(self.table)

    def check(self) -> str:
        """What `check.py` says of it; raises MismatchError if it does not hold."""
        with tempfile.TemporaryDirectory() as folder:
            files = [str(Path(folder, name)) for name in ("tree.proof", "tree.csv")]
            self.save(files[0], files[1])
            said = io.StringIO()
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                code = check.main([*files, *self.arguments])
        if code != (0 if self.optimal else 3):
            raise MismatchError(f"the proof does not hold ({said.getvalue().strip()}); please report this")
        return said.getvalue()


def prove(
    tree: Any,
    X: Any,
    y: Any = None,
    *,
    task: Task | None = None,
    sample_weight: Any = None,
    frequency: Any = None,
    categorical: Any = None,
    max_cuts: int | str | None = None,
    time_limit: float | None = None,
    limits: Mapping[str, Any] | None = None,
    progress: Any = None,
    **row_data: Any,
) -> Proof:
    """A proof that a tree is optimal, or, where it is not or `time_limit` (seconds) or Ctrl-C ends it, of a bound.

    `tree` is a result of `streed.solve`, a fitted estimator, or a tree with claims; `X` (n, p) or a table or a
    `Dataset`, `y` (n,), `sample_weight` (n,), `frequency` (n,), `categorical` and the row data are those of its solve,
    and the raw ones of its `fit` for an estimator; so is `max_cuts`, which the claims of a tree know (None). Task and
    limits are the tree's own claims unless `task` or `limits` (a mapping with max_depth, max_nodes and min_leaf) are
    given, so that a tree from anywhere can be proved. `progress` is as of `streed.solve`. The rules, and why they are
    sound, are in docs/reference/proof-format.md. Raises InputError for data that is not the tree's, for numbers that
    are too fine, for more than 4,096 codes and for other limits than max_depth, max_nodes and min_leaf, TaskError for
    tasks that are neither costs per row and label, with prices of splits or tests, nor F1, F-beta or Jaccard, alone or
    with limits on sums.
    """
    began = time.monotonic()
    Range(0, optional=True, meaning="seconds").read("time_limit", time_limit)
    check_kind("limits", limits, (Mapping, NoneType))
    grown = tree_of(tree)
    given = {"sample_weight": sample_weight, "frequency": frequency, "categorical": categorical, "max_cuts": max_cuts}
    more = {name: value for name, value in {**given, **row_data}.items() if value is not None}
    recipe = None if isinstance(X, Dataset) else grown.recipe
    if not isinstance(X, Dataset) and hasattr(tree, "training_data"):  # an estimator
        data = tree.training_data(X, y, **more)
    else:
        data = Dataset.make(X, y, **more) if recipe is None else recipe.dataset(recipe.encode(X), y, **more)
    claims, within = grown.claims, dict(limits or {})
    if claims is not None:
        data = claims.cut(data)
        within = {"max_depth": claims.max_depth, "min_leaf": claims.min_leaf, "max_nodes": claims.max_nodes} | within
        for each in verify(grown, data) if task is None else ():
            if not each.holds and each.what in ("rows of the data", "labels", "value"):
                found = f"the tree claims of its data: {each.what} {each.claimed}, and on these it is {each.found}"
                remedy = "give rows, weights and frequencies of its solve, or what is to be proved: task="
                raise InputError("X", found, remedy)
        if task is None:
            task = rebuild(claims.task) if isinstance(claims.task, dict) else claims.task
    if not isinstance(task, Task):
        raise InputError("task", "the tree does not say what it is the best for", "give the task")
    asked = within.pop("max_depth", None), within.pop("min_leaf", 1), within.pop("max_nodes", None)
    if within:
        found = f"{', '.join(sorted(within))} cannot be proved"
        raise InputError("limits", found, "give max_depth, max_nodes and min_leaf only")
    with Reporter(progress) as listener:
        return prove_statement(Statement.of(task, data, *asked), grown, time_limit, began, listener)


def prove_statement(statement: Statement, tree: Tree, seconds: float | None, began: float, listener: Reporter) -> Proof:
    """The proof of a tree, or of a bound where the time is over; `began` is a time of `time.monotonic`."""
    (tree_of_proof, goal), amounts = statement.claim(tree), statement.amounts
    deadline = None if seconds is None else began + 0.8 * float(seconds)  # the rest is for the checker's steps
    multipliers = find_multipliers(statement, goal, deadline) if amounts else []
    problem = Sums(statement.table.X, goal.costs, statement.limits, amounts, multipliers)

    def tell(lower: int, claims: int) -> None:
        if listener.due():
            bound = -((problem.allowed - lower) // problem.factors[0])
            cost, unit = goal.reached, goal.costs.unit
            best, least = float(cost * unit), float(min(bound, cost) * unit)
            listener.tell(Progress(best, least, best - least, claims, time.monotonic() - began, "proving"))

    records = find_records(problem, goal.reached, deadline, tell)
    for record in records:  # the checker's own steps, which know already what the prover counted
        problem.add(record)
    found = check.prove(problem, amounts, goal.reached)
    written = to_bytes({"tree": tree_of_proof, "arguments": list(statement.arguments)}, multipliers, records)
    bound, words = found * goal.costs.unit, goal.words(found)
    if goal.is_score:
        bound = goal.worth if found >= goal.reached else Fraction(1)
    proved = statement.arguments, bound, goal.worth, words, len(records), time.monotonic() - began
    return Proof(written, statement.text, *proved)


def find_multipliers(statement: Statement, goal: Goal, deadline: float | None) -> list[Fraction]:
    """Those of the search's own relaxation whose bound is highest, one an amount; any would do, and none is trusted."""
    from streed.drivers import DepthFirst
    from streed.problem import Problem, SearchLimits, SearchStopped
    from streed.problem.linear_oracle import FixedCosts
    from streed.reductions.lagrangian import Relaxation
    from streed.tables.vector_trees import Trees

    costs, amounts, limits, X = goal.costs, statement.amounts, statement.limits, statement.table.X
    parts = np.stack([costs.costs, *(amount.of_rows for amount in amounts)])
    splits = (costs.split, *(amount.of_split for amount in amounts))
    windows = [(-_NO_END if a.least is None else a.least, _NO_END if a.most is None else a.most) for a in amounts]
    wide = np.flatnonzero(X.max(axis=0, initial=0) > 1).tolist()
    data = Dataset.make(X.astype(np.int64), None, categorical=wide)
    depth = None if limits.depth == UNLIMITED else limits.depth
    problem = Problem(data, FixedCosts(parts[0], costs.split), depth, None, limits.min_leaf)
    left = None if deadline is None else max(0.0, deadline - time.monotonic())
    with contextlib.closing(Trees(problem, parts, splits, DepthFirst(), SearchLimits(left))) as trees:
        relaxation = Relaxation(trees, [1], windows, goal.reached)
        try:
            relaxation.raise_bound(counting=False)
        except SearchStopped as stopped:  # the multipliers found so far are as good as any
            if stopped.reason == "interrupt":
                raise KeyboardInterrupt from None
    sizes = np.abs(parts).max(axis=2).sum(axis=1, dtype=np.float64)
    total = sizes[0] + sum(abs(float(m)) * x for m, x in zip(relaxation.multipliers, sizes[1:], strict=True)) + 1
    denominator = max(1, int(_LARGEST / total))
    return [Fraction(round(m * denominator), denominator) for m in relaxation.multipliers]


@final
class StoppedError(Exception):
    """The time is over; claims hold what was shown so far."""


@attrs.define(eq=False)
class Claim:
    """That every tree of a depth costs at least `lower` on some rows, while it is being improved."""

    part: Part
    path: tuple[int, ...]
    """The literals that lead to its rows."""
    depth: int
    lower: int = 0
    """Shown so far."""
    upper: int = BIG
    """What some tree costs."""
    leaf: int = 0
    price: Array | None = None
    """(P,) what a split by each column costs without its sides, BIG where it may not be; None until it is improved."""
    sides: Array = attrs.field(factory=lambda: np.zeros(0, np.int64))
    """(Q,) bounds of its sides at one depth less."""
    reached: Array = attrs.field(factory=lambda: np.zeros(0, np.int64))
    """(Q,) what some tree costs on each side."""
    used: dict[Claim, None] = attrs.field(factory=dict)
    """The claims about sides that raised a bound, in order."""
    below: dict[int, Claim] = attrs.field(factory=dict)
    """Claims about its sides, by literal."""


@final
class Prover:
    """Claims about one problem; `deadline` is a time of `time.monotonic`, `tell` hears the root's bound."""

    def __init__(self, sums: Sums, deadline: float | None, tell: Callable[[int, int], None]) -> None:
        self.sums, self.deadline, self.tell = sums, deadline, tell
        self.claims: dict[tuple[bytes, int], Claim] = {}
        self.root = self.claim(sums.root, sums.depth, ())

    def claim(self, part: Part, depth: int, path: tuple[int, ...]) -> Claim:
        """The claim about some rows, made once; of depth two or less it is counted."""
        key = self.sums.key(part), depth
        if key not in self.claims:
            made = self.claims[key] = Claim(part, path, depth)
            if depth <= 2 or not len(self.sums.starts) or not part.mask.any():
                made.lower = made.upper = self.sums.lower(part, min(depth, 2))
        return self.claims[key]

    def side(self, claim: Claim, q: int) -> Claim:
        """The claim about a side of another one."""
        if q not in claim.below:
            depth = claim.depth - (claim.depth < UNLIMITED)
            claim.below[q] = self.claim(self.sums.side(claim.part, q), depth, (*claim.path, q))
        return claim.below[q]

    def improve(self, claim: Claim, target: int) -> None:
        """Afterwards the claim's bound is `target` at least, or the optimum; raises StoppedError at the deadline."""
        while claim.lower < min(target, claim.upper):
            if self.deadline is not None and time.monotonic() > self.deadline:
                raise StoppedError
            if claim.price is None:
                self._open(claim)
                continue
            goal = min(target, claim.upper)
            totals, best = self._by_column(claim, claim.sides), self._by_column(claim, claim.reached)
            open_columns = (totals < goal).nonzero()[0]
            column = int(open_columns[np.lexsort((totals[open_columns], best[open_columns]))[0]])
            literals = (self.sums.of_column == column).nonzero()[0]
            literals = literals[claim.reached[literals] > claim.sides[literals]]
            # the side whose bound is nearest to its best tree: what is soon shown need not be asked of the others
            q = int(literals[np.argmin((claim.reached - claim.sides)[literals])])
            wanted = goal - int(totals[column]) + int(claim.sides[q])
            side = self.side(claim, q)
            try:
                self.improve(side, wanted)
            finally:
                claim.reached[q] = min(claim.reached[q], side.upper)
                known = self.sums.transfer(claim.part, side.part, side.lower)
                if (known > claim.sides).any():
                    claim.used[side] = None
                    claim.sides = np.maximum(claim.sides, known)
                self._settle(claim)

    def _open(self, claim: Claim) -> None:
        sums, part = self.sums, claim.part
        claim.leaf = sums.leaf(part)
        claim.reached = sums.counted(part, 1)
        claim.sides = np.minimum(claim.reached, 2 * sums.split if claim.depth == UNLIMITED else 0)
        claim.price = sums.by_column(part, np.zeros_like(claim.sides))
        self._settle(claim)

    def _settle(self, claim: Claim) -> None:
        """The claim's bounds, as they follow from those of the sides."""
        claim.upper = min(claim.upper, claim.leaf, int(self._by_column(claim, claim.reached).min()))
        claim.lower = max(claim.lower, min(claim.leaf, int(self._by_column(claim, claim.sides).min())))
        if claim is self.root:
            self.tell(claim.lower, len(self.claims))

    def _by_column(self, claim: Claim, sides: Array) -> Array:
        """(P,) what a split by each column costs by its sides."""
        assert claim.price is not None
        return np.asarray(np.where(claim.price < BIG, claim.price + np.add.reduceat(sides, self.sums.starts), BIG))

    def records(self, roots: Iterable[Claim]) -> list[Record]:
        """The claims that the roots' bounds need, each after those that it rests on."""
        place: dict[Claim, int] = {}
        made: list[Record] = []
        names = list(self.sums.literal)
        stack = list(roots)[::-1]
        while stack:
            claim = stack[-1]
            needed = list(claim.used) if claim.lower else []
            ahead = [anchor for anchor in needed if anchor not in place]
            stack += ahead
            if ahead or stack.pop() in place:
                continue
            place[claim] = len(made)
            back = [len(made) - place[anchor] for anchor in needed]
            made.append(Record([names[q] for q in claim.path], claim.depth, int(claim.lower), back))
        return made


def find_records(problem: Sums, reached: int, deadline: float | None, tell: Any) -> list[Record]:
    """Claims from which follows, as time and Ctrl-C allow, that no tree costs less; of first splits too, for LIST."""
    budget = problem.budget(reached)
    if problem.depth <= 2 or not len(problem.starts):
        return []
    prover = Prover(problem, deadline, tell)
    roots = [root := prover.root]
    with contextlib.suppress(StoppedError, KeyboardInterrupt):
        prover.improve(root, budget + 1)
        if len(problem.of_split) > 1 and 3 < problem.depth < UNLIMITED and root.lower <= budget:
            for column, price in enumerate(root.price.tolist() if root.price is not None else ()):
                sides = [prover.side(root, q) for q in np.flatnonzero(problem.of_column == column).tolist()]
                for side in sides if price < BIG else ():
                    prover.improve(side, budget + 1 - price - sum(each.lower for each in sides if each is not side))
                    roots.append(side)
    return prover.records(roots)


def to_bytes(said: dict[str, Any], multipliers: list[Fraction], records: list[Record]) -> bytes:
    """The file of a proof: what it says of itself, its tree among it, multipliers and claims."""
    listed = {"multipliers": list(map(str, multipliers)), "claims": [[sum(r.path, ()), *r[1:]] for r in records]}
    text = json.dumps(said | listed, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return MAGIC + zlib.compress(text.encode())


def proof_paths(path: Any) -> tuple[Path, Path]:
    """(the file of a proof, the table beside it); raises InputError where they cannot be written."""
    proof = path_of("proof", path)
    if not proof.parent.is_dir():
        raise InputError("proof", f"there is no directory {str(proof.parent)!r}", "make it first")
    if proof.suffix == ".csv":
        raise InputError("proof", f"{str(proof)!r} is a table by its name", "use the suffix .proof")
    return proof, proof.with_suffix(".csv")


def write_proof(paths: tuple[Path, Path], statement: Statement, tree: Tree, time_limit: float | None) -> dict[str, Any]:
    """Proves the tree and writes both files; what `stats` have of it."""
    made = prove_statement(statement, tree, time_limit, time.monotonic(), Reporter(None))
    made.save(*paths)
    numbers = {"bound": made.bound, "cost": made.cost, "claims": made.claims, "bytes": len(made.data)}
    return {"optimal": made.optimal, **numbers, "seconds": made.seconds, "check": made.command(*paths)}
