"""The near-optimal trees of a task: counted, in order, drawn at random, and asked what they have in common."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, final

import attrs
import numpy as np

from streed.dp.recursion import StopMonitor
from streed.errors import InputError, MismatchError, brief
from streed.exact import Array, Range, readable
from streed.problem.known_tree import with_costs
from streed.rashomon.counting import Counted, Key
from streed.rashomon.question import limited_sums, quantity
from streed.rashomon.unranking import Fewest, Trees, fewest_columns
from streed.task.algebra import gain_sign
from streed.task.analysis.facts import positive_class
from streed.task.bounded_sums import RowSum
from streed.tree import Claims, Leaf, Tree
from streed.tree.evaluation import Inspector, leaf_displays
from streed.tree.nodes import TreeRows, route, used_columns, walk

MOST_ASKED = 100_000
"""Trees that are asked one by one unless the caller says how many."""

COMPLETE, STOPPED = "complete", "stopped"

_ROUNDING = Fraction(1, 10**9)
"""What floats of leaves may lose when they are added, as a part of the sum."""


@final
@attrs.frozen
class Best:
    """The best tree of a set by a quantity."""

    quantity: Any
    """The least that a tree of the set has,"""
    value: Any
    """the best value of such a tree,"""
    tree: Tree
    """one of them,"""
    ties: int
    """and how many there are of that quantity and value."""


@final
@attrs.frozen
class Importance:
    """What a column is to the trees of a set."""

    share: float
    """The part of the trees that ask it."""
    best_without: Any
    """The best value of a tree of the set that does not ask it; None if they all do."""


@final
@attrs.frozen(eq=False, repr=False)
class RashomonSet:
    """All trees whose value is within a budget, and the questions that they answer.

    `set[i]` is the i-th tree in order of value, the best first; `len` is not defined, as Python allows no length beyond
    2**63: ask `count`. A tree is a label, or a column and a tree for each of its answers, with rows on two sides at
    least; two trees differ if a column or a label differs anywhere, so different trees may predict alike.
    """

    counted: Counted
    limits: Callable[[], StopMonitor]
    """Gives the limits of a further count, which begins then."""
    _known: Any = None
    """The best value, where it is known though the count was stopped."""

    @property
    def optimum(self) -> Any:
        """The best value. None if not known or without trees."""
        levels = self.counted.levels
        return self.counted.question.shown(levels[0][1]) if levels else self._known

    @property
    def searched_over(self) -> str:
        """Of which splits the trees are."""
        return self.counted.question.data.extent

    # -- how many --------------------------------------------------------------------------------------------------

    @property
    def status(self) -> str:
        """Whether all trees are here: "complete", or "stopped" by a time limit, a memory limit or Ctrl-C."""
        return COMPLETE if self.counted.stopped is None else STOPPED

    @property
    def stopped(self) -> str | None:
        """What ended the count early: "time", "memory" or "interrupt"; None if nothing did."""
        return self.counted.stopped

    @property
    def count(self) -> int | None:
        """How many trees there are, exactly; None if the count was stopped, of which no trees are known."""
        return self._total if self.status == COMPLETE else None

    @property
    def _total(self) -> int:
        """How many trees were counted."""
        return self.counted.histogram.total

    @functools.cached_property
    def histogram(self) -> dict[Any, int]:
        """How many trees have each value, the best value first."""
        found: dict[Any, int] = {}
        for _, value, keys in self.counted.levels:
            shown = self.counted.question.shown(value)
            found[shown] = found.get(shown, 0) + sum(self.counted.histogram.table[key] for key in keys)
        return found

    @property
    def best_rank(self) -> Any:
        """The score of the best trees, an exact number; None if there are none."""
        return self.counted.levels[0][0] if self.counted.levels else None

    # -- trees -----------------------------------------------------------------------------------------------------

    def __getitem__(self, number: int) -> Tree:
        """The tree of that number in order of value; negative numbers count from the end."""
        number = Range(whole=True, meaning="of one tree at a time").read("number", number)
        total = self._total
        if not -total <= number < total:
            raise IndexError(f"tree {number} of {total}")
        return self._tree(*self._place(number % max(total, 1)))

    def __iter__(self) -> Iterator[Tree]:
        """The trees in order of value."""
        return itertools.starmap(self._tree, self._places())

    @property
    def _counts(self) -> Iterator[tuple[Key, int]]:
        """How many trees there are of each key, in order of value."""
        table = self.counted.histogram.table
        return ((key, table[key]) for *_, keys in self.counted.levels for key in keys)

    def _places(self) -> Iterator[tuple[Key, int]]:
        """Of every tree its key, and its number among those of the key."""
        return ((key, number) for key, count in self._counts for number in range(count))

    def _place(self, number: int) -> tuple[Key, int]:
        for key, count in self._counts:
            if number < count:
                return key, number
            number -= count
        raise AssertionError("unreachable")

    def sample(self, k: int, rng: Any = None) -> list[Tree]:
        """`k` trees drawn with replacement, each with the same chance.

        `rng`: a `random.Random`, a numpy generator, a seed, or None for a fresh one.
        """
        if Range(0, whole=True, meaning="of trees").read("k", k) and not self._total:
            raise InputError("k", "the set has no trees", "widen the budget")
        draw = drawing(rng)
        return [self[draw(self._total)] for _ in range(int(k))]

    @functools.cached_property
    def _trees(self) -> Trees:
        return Trees(self.counted)

    @functools.cached_property
    def _inspector(self) -> Inspector:
        return Inspector(self.counted.question.bound, self.counted.question.data)

    def _tree(self, key: Key, number: int) -> Tree:
        """The tree, evaluated from the raw data; raises MismatchError if it has not the value of its key."""
        question = self.counted.question
        task, data, bound = question.task, question.data, question.bound
        root = self._trees.tree(key, number)
        labels = tuple(bound.labels(data))
        found = self._inspector.inspect(Tree.grown(root, data, labels))
        value = self.counted.value(key)
        measured = bound.objective_of(found.value)
        if not self._is_worth(measured, value):
            raise MismatchError(f"tree {number} of value {value} is worth {measured} on the data; please report this")
        if found.broken or not bound.feasible(found.value):
            raise MismatchError(f"tree {number} of value {value} breaks a limit; please report this")
        root = with_costs(root, found)
        shown = question.shown(value)
        worst = (shown, self.optimum) if task.larger_is_better else (self.optimum, shown)
        # no tree of the task that is better than the set's best is left out
        whole = self.status == COMPLETE and question.trivial and not self.counted.banned and not self.counted.extra
        status = "optimal" if whole and question.rank(value) == self.best_rank else "feasible"
        said: dict[str, Any] = {"over": data.extent, "gains": gain_sign(task), "positive": positive_class(task, data)}
        said["max_cuts"] = data.max_cuts if isinstance(data.max_cuts, int) else None
        size = root.rows, question.max_depth, question.max_nodes, question.min_leaf
        claims = Claims(task, shown, *worst, status, *size, **said)  # type: ignore[arg-type]
        tree = Tree.grown(root, data, labels, claims=claims)
        shown = leaf_displays(tree, bound, data)
        return tree if shown is None else attrs.evolve(tree, shown=shown)

    def _is_worth(self, measured: Any, value: Any) -> bool:
        """Whether a tree is measured as it was counted: exactly, unless its leaves are measured in floats."""
        question = self.counted.question
        if isinstance(measured, (float, np.floating)):
            return bool(abs(Fraction(float(measured)) - value) <= _ROUNDING * max(1, abs(value)))
        if question.data.sample_weight is None or question.sums:
            return bool(question.rank(measured) == question.rank(value))
        return bool(measured == value)

    # -- what they have in common ----------------------------------------------------------------------------------

    def histogram_of(self, *quantities: Any) -> dict[tuple[Any, ...], int]:
        """How many trees have each value and each of further quantities, as {(value, quantity, ...): trees}.

        A quantity is a task of costs per row, such as Splits() or InstanceCosts(), or a gap, such as
        DemographicParity(). Values come the best first.
        """
        among, joint = self._joint(quantities)
        found: dict[tuple[Any, ...], int] = {}
        for rank, numbers in sorted(joint, key=lambda key: (self._sign * key[0], key[1])):
            key, count = joint[rank, numbers]
            name = (self.counted.question.shown(among.counted.value(key)), *map(readable, numbers))
            found[name] = found.get(name, 0) + count
        return found

    def best(self, by: Any) -> Best:
        """The tree of the least quantity, of these one of the best value; with how many tie in both."""
        self._check_not_empty()
        among, joint = self._joint((by,))
        rank, (least,) = min(joint, key=lambda key: (key[1], self._sign * key[0]))
        key, count = joint[rank, (least,)]
        value = self.counted.question.shown(among.counted.value(key))
        return Best(readable(least), value, among._tree(key, 0), count)

    def within(self, limit: Any) -> RashomonSet:
        """The trees of the set that keep a limit: `DemographicParity() <= 0.1`, `Splits() <= 3`."""
        return self._again(self.counted.banned, (*self.counted.extra, *limited_sums(limit, self.counted.question)))

    def without(self, *columns: Any) -> RashomonSet:
        """The trees of the set that do not ask these columns, given by name or number; the budget stays what it is.

        Of columns that part the rows alike, one that is left takes the place of one that is not.
        """
        return self._again(self.counted.banned | {self._column(each) for each in columns}, self.counted.extra)

    def needed(self, column: Any) -> bool:
        """Whether every tree of the set asks the column; False where there are trees without it.

        Raises InputError if the count was stopped before there was one without it.
        """
        self._check_not_empty()
        rest = self.without(column)
        if rest._total == 0 and rest.status != COMPLETE:
            raise InputError("column", "the count without it was stopped", "give it more time or memory")
        return rest._total == 0

    def importance(self) -> dict[str, Importance]:
        """By column: the share of the trees that ask it, and the best value of a tree of the set that does not.

        A count of its own for every column. Raises InputError if the set, or one of these counts, was stopped.
        """
        self._check_not_empty()
        found = {}
        for j, name in enumerate(self.counted.question.data.names):
            rest = self.without(j)
            if self.status != COMPLETE or rest.status != COMPLETE:
                raise InputError("time_limit", "the count was stopped, so shares are not known", "raise the limits")
            share = Fraction(self._total - rest._total, self._total)
            found[name] = Importance(float(share), next(iter(rest.histogram), None))
        return found

    def fewest_columns(self) -> Fewest:
        """The least number of distinct columns that a tree of the set asks, and such a tree.

        Several counts without columns. Raises InputError if the set has no trees, or a count was stopped.
        """
        self._check_not_empty()
        return fewest_columns(self)

    def predict_proba(self, X: Any = None, *, samples: int | None = None, rng: Any = None) -> Array:
        """(n, K) float64: the share of the trees that give each row of X each label, or class where leaves show these.

        `X`: a table as `Tree.predict` takes it; None for the rows of the data. All trees are asked; where there are
        more than 100,000 give `samples`, how many of them are asked, drawn by `rng` (as in `sample`). Raises InputError
        for an empty set, for more trees than that without `samples`, for rows that the trees cannot read, and for
        leaves that show neither, such as means.
        """
        self._check_not_empty()
        question = self.counted.question
        if samples is None and self._total > MOST_ASKED:
            many = f"there are {self._total:,} trees, more than {MOST_ASKED:,}"
            raise InputError("samples", many, "give samples=1000, say")
        drawn = range(0 if samples is None else Range(1, whole=True, meaning="of trees").read("samples", samples))
        draw, data = drawing(rng), question.data
        places = self._places() if samples is None else (self._place(draw(self._total)) for _ in drawn)
        if question.bound.overrides("leaf_label"):  # what follows from the rows
            trees = list(itertools.starmap(self._tree, places))
            roots, width = [tree.root for tree in trees], len(data.classes)
            try:
                numbers = [[data.classes.index(each) for each in tree.shows()] for tree in trees]
            except ValueError:
                shown = f"leaves of {type(question.task).__name__} show {brief(trees[0].shows()[0])}, no class of y"
                raise InputError("task", shown, "let trees of sample(k) predict") from None
        else:
            roots, width = list(itertools.starmap(self._trees.tree, places)), question.n_labels
            numbers = [[node.label for node in walk(root) if isinstance(node, Leaf)] for root in roots]
        asked = {j: data.column(j) for j in set().union(*map(used_columns, roots))}
        rows = TreeRows.of(data if X is None else X, asked, data.n_columns, data.recipe)
        votes, each = np.zeros((rows.n_rows, width)), np.arange(rows.n_rows)
        for root, labels in zip(roots, numbers, strict=True):
            votes[each, np.array(labels)[route(root, rows.sides, rows.n_rows)]] += 1
        return votes / len(roots)

    def distinct_predictions(self) -> int:
        """How many different predictions of the rows the trees make; raises InputError for too many trees."""
        if self._total > MOST_ASKED:
            raise InputError("count", f"there are {self._total:,} trees, more than {MOST_ASKED:,}", "lower epsilon")
        data = self.counted.question.data
        return len({tree.predict(data).tobytes() for tree in self})

    @property
    def _sign(self) -> int:
        return -1 if self.counted.question.task.larger_is_better else 1

    def _joint(
        self, quantities: Sequence[Any]
    ) -> tuple[RashomonSet, dict[tuple[Any, tuple[Any, ...]], tuple[Key, int]]]:
        """The set, told apart by quantities too; by exact score and quantities its first key, and how many trees."""
        question = self.counted.question
        made = [quantity(each, question) for each in quantities]
        sums = tuple(each for one in made for each in one.sums)
        among = self._again(self.counted.banned, (*self.counted.extra, *sums))
        counted = among.counted
        if counted.stopped is not None:
            raise InputError("time_limit", f"the joint count was stopped ({counted.stopped})", "raise the limits")
        found: dict[tuple[Any, tuple[Any, ...]], tuple[Key, int]] = {}
        for key, count in counted.histogram.table.items():
            totals = iter(counted.extras(key)[len(self.counted.extra) :])
            numbers = tuple(each.of([next(totals) for _ in each.sums]) for each in made)
            name = question.rank(counted.value(key)), numbers
            first, before = found.get(name, (key, 0))
            found[name] = first, before + count
        return among, found

    def _again(self, banned: frozenset[int], extra: Sequence[RowSum]) -> RashomonSet:
        """The same question with columns banned and further sums."""
        question, budget = self.counted.question, self.counted.budget
        if budget is None:
            return RashomonSet(Counted(question, stopped=self.stopped), self.limits)
        counted = Counted.of(question, budget, banned=banned, extra=extra, monitor=self.limits())
        return RashomonSet(counted, self.limits)

    def _column(self, given: Any) -> int:
        """The number of a column."""
        names = self.counted.question.data.names
        if isinstance(given, str) and given in names:
            return names.index(given)
        if isinstance(given, (int, np.integer)) and not isinstance(given, bool) and 0 <= given < len(names):
            return int(given)
        raise InputError("column", f"there is no column {given!r}", f"use one of {', '.join(names[:8])}")

    def _check_not_empty(self) -> None:
        if not self._total:
            raise InputError("trees", "the set has no trees", "widen the budget")

    def __reduce__(self) -> Any:
        raise TypeError("a RashomonSet holds the memory of a search, which cannot be pickled; save its trees instead")

    # -- what is shown ---------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        told = f"{self._total:,} trees" if self.status == COMPLETE else f"trees, stopped ({self.stopped}),"
        return f"<RashomonSet of {told} over {self.searched_over}, optimum {self.optimum}>"


def drawing(rng: Any) -> Callable[[int], int]:
    """A function from m to a random whole number below m, however large m is."""
    if isinstance(rng, np.random.Generator):
        rng = random.Random(rng.bytes(32))
    elif rng is None or isinstance(rng, (int, np.integer)):
        rng = random.Random(None if rng is None else int(rng))
    if not isinstance(rng, random.Random):
        raise InputError("rng", f"{rng!r} draws nothing", "give a seed, a random.Random or a numpy generator")
    return rng.randrange
