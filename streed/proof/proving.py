"""Proving that a tree is optimal: from a tree and its data to a proof, or to a bound where the time is over."""

from __future__ import annotations

import contextlib
import io
import math
import shlex
import tempfile
import time
from collections.abc import Mapping
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.data.visible import escaped
from streed.errors import InputError, MismatchError, TaskError
from streed.exact import Array
from streed.proof import check, check_limits, check_squares
from streed.proof.by_methods import prove_by_methods
from streed.proof.by_prices import FLAG, prove_by_prices
from streed.proof.check import Record
from streed.proof.checker import run_checker
from streed.proof.claim import ProofClaim, SquaresClaim, Statement
from streed.proof.compiled import CompiledSums
from streed.proof.compiled_squares import CompiledSquares
from streed.proof.format import numbers_of, to_bytes
from streed.proof.judge import prove_bound
from streed.proof.native_prover import NativeProver
from streed.proof.planes import find_planes, side_records
from streed.proof.prover import Prover
from streed.proof.prover_sums import ProverSquares, ProverSums
from streed.task import Task
from streed.tree import Tree
from streed.tree.description import rebuild
from streed.tree.models import tree_of


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
    bound: Any
    """Every tree costs at least this much, a fraction in the units that the checker names; by methods, their values."""
    cost: Any
    """What the tree costs."""
    claims: int
    """How many the proof has beside what needs none; by methods, how many sets of rows were enumerated; by row prices,
    how many prices."""
    seconds: float
    """How long proving took, and checking the proof."""

    @property
    def optimal(self) -> bool:
        """Whether the bound is the tree's cost; else the time was over, or there are better trees."""
        return bool(self.bound >= self.cost)

    def __repr__(self) -> str:
        cost, bound = (check.shown(x) if isinstance(x, Fraction) else repr(x) for x in (self.cost, self.bound))
        said = f"no tree costs less than {bound}" + ("" if self.optimal else f", the tree costs {cost}")
        return f"<Proof: {said}; {self.claims} claims, {len(self.data)} bytes>"

    def _repr_html_(self) -> str:
        """What was proved, and how to check it, as a notebook shows it."""
        command = shlex.join(["streed", "check-proof", "tree.proof", "table.csv", *self.arguments])
        return f"<p>{escaped(repr(self)[1:-1])}</p><pre>{escaped(command)}</pre>"

    def save(self, proof: str | Path, table: str | Path) -> None:
        """Writes both files."""
        Path(proof).write_bytes(self.data)
        Path(table).write_bytes(self.table)

    def check(self) -> str:
        """What `check.py` says of it; raises MismatchError if it does not hold."""
        with tempfile.TemporaryDirectory() as folder:
            files = [str(Path(folder, name)) for name in ("tree.proof", "table.csv")]
            self.save(files[0], files[1])
            said = io.StringIO()
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                code = run_checker([*files, *self.arguments])
        if code not in (0, 3):
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
    methods: str | None = None,
    row_prices: bool = False,
    **row_data: Any,
) -> Proof:
    """A proof that a tree is optimal, or, where it is not or `time_limit` (seconds) is over, of a bound.

    `tree` is a result of `streed.solve`, a fitted estimator, or a tree with claims; `X` (n, p) or a table or a
    `Dataset`, `y` (n,), `sample_weight` (n,), `frequency` (n,), `categorical` and the row data are those of its solve,
    and the raw ones of its `fit` for an estimator; so is `max_cuts`, which the claims of a tree know (None). Task and
    limits are the tree's own claims unless `task` or `limits` (a mapping with max_depth, max_nodes and min_leaf)
    are given, so that a tree from anywhere can be proved. With `methods`, "FILE:NAME", the checker runs the methods
    that it finds in a file of Python, and enumerates: for any separable task and fronts, of few columns or little
    depth. With `row_prices`, a bound on trees of any depth whose splits have a price is proved by prices of rows, which
    the checker tries on every leaf (docs/explanation/row-prices.md). The rules, and why they are sound, are in
    docs/explanation/proofs.md: the equivalent-points bound, STreeD's separability and depth-two counting, and a
    similarity bound. Raises InputError for data that is not the tree's, for numbers that are too fine, for more than
    4,096 codes and for other limits than max_depth, max_nodes and min_leaf, TaskError for tasks that are
    neither costs per row and label nor F1, F-beta or Jaccard, alone or with limits on sums, nor squared errors.
    """
    began = time.monotonic()
    grown = tree_of(tree)
    given = {"sample_weight": sample_weight, "frequency": frequency, "categorical": categorical, "max_cuts": max_cuts}
    data = data_of(tree, X, y, **given, **row_data)
    data = data if grown.claims is None else grown.claims.cut(data)
    if methods is not None:
        own, within = _asked(grown, task, limits)
        trees = [each for _, each in getattr(tree, "front", ())] or [grown]
        written, table, arguments, best, sets = prove_by_methods(trees, data, own, within, methods)
        value = best[0] if len(best) == 1 else best
        return Proof(written, table, arguments, value, value, sets, time.monotonic() - began)
    claim = claim_by_tree(grown, data, task, limits)
    if not row_prices:
        return prove_claim(claim, time_limit, began)
    if isinstance(claim, SquaresClaim):
        raise TaskError("there are no row prices for squared errors: only for costs per row and label")
    written, bound, count = prove_by_prices(claim, None if time_limit is None else began + time_limit)
    arguments = (*claim.arguments, FLAG)
    return Proof(written, claim.table, arguments, bound, claim.goal.reached, count, time.monotonic() - began)


def data_of(model: Any, X: Any, y: Any = None, **more: Any) -> Dataset:
    """The data set of a tree, result or fitted estimator, from what its solve or fit was given.

    The columns are those that the model asks about: an estimator's, and by its recipe those of a tree that one grew.
    """
    if isinstance(X, Dataset):
        return Dataset.make(X, y, **more)
    more = {name: value for name, value in more.items() if value is not None}
    if hasattr(model, "training_data"):
        made: Dataset = model.training_data(X, y, **more)
        return made
    recipe = tree_of(model).recipe
    return Dataset.make(X, y, **more) if recipe is None else recipe.dataset(recipe.encode(X), y, **more)


def prove_claim(made: ProofClaim | SquaresClaim, time_limit: float | None, began: float) -> Proof:
    """The proof of a claim, or of a bound where the time is over; `began` is a time of `time.monotonic`."""
    deadline = None if time_limit is None else began + time_limit
    if isinstance(made, SquaresClaim):
        return _prove_squares(made, deadline, began)
    if made.amounts:
        return _prove_within(made, deadline, began)
    header = {"tree": made.tree, "arguments": list(made.arguments)}
    written = to_bytes(header, numbers_of_claim(made, deadline))
    body = check.read_file(written)[1]
    bound, claims = prove_bound(made.X, made.goal.costs, made.limits, body)
    return Proof(written, made.table, made.arguments, bound, made.goal.reached, claims, time.monotonic() - began)


def numbers_of_claim(made: ProofClaim, deadline: float | None) -> Array:
    """The numbers of the records of a claim about costs per row and label, or of a bound at the deadline."""
    least = made.goal.costs.costs.min(1)
    try:
        sums = ProverSums(made.X, made.goal.costs.costs - least[:, None], made.goal.costs.split, made.limits)
    except check.RejectedError as error:
        raise InputError("costs", str(error), "give numbers of fewer digits") from error
    # trees of any depth without a price part all rows that differ: FLOOR is enough
    if made.limits.depth <= 2 or (made.limits.depth == check.UNLIMITED and not sums.split):
        return np.zeros(0, np.int64)
    target = made.reached - int(least.sum())
    if sums.is_compiled:
        native = NativeProver(sums, deadline)
        return native.numbers([native.prove(made.limits, target)])[0]
    prover = Prover(sums, deadline)
    records = prover.records(prover.prove(made.limits, target)[0])
    return np.array([number for record in records for number in numbers_of(record)], np.int64)


def _prove_squares(made: SquaresClaim, deadline: float | None, began: float) -> Proof:
    """The proof of a claim about squared errors."""
    goal, limits = made.goal, made.limits
    records, near = squares_records(made, deadline)
    written = to_bytes({"tree": made.tree, "arguments": list(made.arguments), "near": near}, records)
    body = check.read_file(written)[1]
    bound, claims = check_squares.prove_bound(made.X, goal, limits, body, CompiledSquares, near=near)
    return Proof(written, made.table, made.arguments, bound, goal.reached, claims, time.monotonic() - began)


def squares_records(made: SquaresClaim, deadline: float | None) -> tuple[list[Record], bool]:
    """The claims, and whether they are enough for the checker to follow what the grid leaves open."""
    sums = ProverSquares(made.X, made.goal, made.limits)
    wanted = math.ceil(made.goal.reached / made.goal.unit * sums.factor)
    return side_records(sums, made.limits, wanted - 1, deadline)


def _prove_within(made: ProofClaim, deadline: float | None, began: float) -> Proof:
    """The proof of a claim about trees that keep limits on sums."""
    amounts = list(made.amounts)
    planes = find_planes(made.X, made.goal.costs, amounts, made.limits, made.reached, deadline)
    given = [plane.given() for plane in planes]
    about = (made.X, made.goal.costs, amounts, made.limits, given, made.reached, CompiledSums)
    listing = True
    try:
        found = check_limits.prove_within(*about)
    except check.RejectedError:  # more trees would have to be listed than the checker lists
        listing = False
        found = check_limits.prove_within(*about, listing=False)
    header = {"tree": made.tree, "arguments": list(made.arguments), "planes": [plane.header() for plane in planes]}
    records = chain.from_iterable(plane.records for plane in planes)
    written = to_bytes(header | {"listing": listing}, records, check_limits.MAGIC)
    claims = sum(len(plane.records) for plane in planes)
    bound = found * made.goal.costs.unit
    return Proof(written, made.table, made.arguments, bound, made.goal.reached, claims, time.monotonic() - began)


def claim_by_tree(
    tree: Tree, data: Dataset, task: Task | None = None, limits: Mapping[str, Any] | None = None
) -> ProofClaim | SquaresClaim:
    """What is to be proved, by the tree's own claims where nothing else is said; raises InputError, TaskError."""
    task, within = _asked(tree, task, limits)
    return Statement.of(task, data, *within).claim(tree)


def _asked(
    tree: Tree, task: Task | None, limits: Mapping[str, Any] | None
) -> tuple[Task, tuple[int | None, int, int | None]]:
    """The task, and max_depth, min_leaf and max_nodes."""
    claims, limits = tree.claims, dict(limits or {})
    if claims is not None:
        limits = {"max_depth": claims.max_depth, "min_leaf": claims.min_leaf, "max_nodes": claims.max_nodes} | limits
        task = task or (rebuild(claims.task) if isinstance(claims.task, dict) else claims.task)
    if not isinstance(task, Task):
        raise InputError("task", "the tree does not say what it is the best for", "give the task")
    unknown = set(limits) - {"max_depth", "min_leaf", "max_nodes"}
    if unknown:
        found = f"{', '.join(sorted(unknown))} cannot be proved"
        raise InputError("limits", found, "give max_depth, max_nodes and min_leaf only")
    return task, (limits.get("max_depth"), limits.get("min_leaf", 1), limits.get("max_nodes"))
