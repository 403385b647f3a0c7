"""Kinds of rows: those of which every leaf needs some, and the groups that fairness compares.

Minimum support: no leaf has fewer rows than a given number, in all or of every class, group or treatment.

Anti-monotone (STreeD, Def. 4.5 and the remark after it): whatever stands above a leaf that is too small, the tree
still holds that leaf. An empty leaf, as a category without rows leaves it under a multiway split, is no leaf here.

Groups are the rows by the values of sensitive columns, which are no columns of X but row data, `sensitive_features`:
one column of any kind, or a table with named ones.

>>> import streed
>>> from streed.tasks import Accuracy, MinSupport
>>> X, y = [[0], [0], [0], [1]], [0, 0, 0, 1]
>>> streed.solve(Accuracy().subject_to(MinSupport(2)), X, y, max_depth=1).value
1
>>> from streed.tasks import MinSupportOf
>>> task = Accuracy().subject_to(MinSupportOf("sex", 1))
>>> streed.solve(task, X, y, sex=["f", "m", "m", "m"], max_depth=1).value
1
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, final

import attrs
import numpy as np

from streed.data import Dataset, row_array
from streed.data.column import distinct
from streed.data.ordered import distinct_numbers
from streed.errors import InputError, check_kind, check_known, listed
from streed.exact import LARGEST_TOTAL, Array, Range
from streed.task import Limit, State
from streed.task.bounded_sums import integer_weights, sums_too_large
from streed.task.states import kept_by_data

CLASS = "class"
"""The name by which `MinSupportOf` knows the classes of y."""

_ROWS = Range(1, whole=True, meaning="the rows that a leaf needs")


@final
@attrs.frozen
class MinSupport(Limit):
    """At least `min_rows` rows in every leaf, counted without their weights."""

    min_rows: int = attrs.field(validator=_ROWS)

    def allows(self, s: State) -> bool:
        return s.rows >= self.min_rows

    @property
    def support(self) -> int:
        return self.min_rows


def _listed(values: Any) -> tuple[Any, ...] | None:
    remedy = "give the kinds that a leaf needs rows of, or None for all"
    found = None if values is None else listed("values", values, remedy)
    if found == ():
        raise InputError("values", "it is empty", remedy)
    return found


@final
@attrs.frozen
class MinSupportOf(Limit):
    """At least `min_rows` rows of every kind in every leaf, counted without their weights.

    `by`: "class", the classes of y, or the name of row data, such as a treatment or a sensitive feature; of a table,
    the kinds are the combinations that occur. `values`: only these kinds. Raises InputError for what the data lack.
    """

    by: str = attrs.field(validator=lambda _, __, value: check_kind("by", value, str))
    min_rows: int = attrs.field(validator=_ROWS)
    values: Any = attrs.field(default=None, converter=_listed)

    def statistics(self, data: Dataset) -> dict[str, Array]:
        numbers_, kinds = _kinds(self.by, data)
        for value in self.values or ():
            if value not in kinds:
                raise InputError(self.by, f"no row is {value!r}", f"use kinds of {kinds!r}")
        wanted = [place for place, kind in enumerate(kinds) if self.values is None or kind in self.values]
        return {"counts": (numbers_[:, None] == np.array(wanted)).astype(np.int64)}

    def allows(self, s: State) -> bool:
        return bool(min(s.counts) >= self.min_rows)


def _kinds(by: str, data: Dataset) -> tuple[Array, list[Any]]:
    """(n,) the number of each row's kind, and the kinds, sorted."""
    if by == CLASS:
        return data.class_numbers, list(data.class_labels)
    held = row_array(data, by, "MinSupportOf").tolist()
    kinds, numbers_ = distinct([tuple(kind) if isinstance(kind, list) else kind for kind in held], by, "it")
    return numbers_, list(kinds)


ROW_DATA = "sensitive_features"


@final
@attrs.frozen(eq=False)
class Groups:
    """The groups that the rows are in."""

    names: tuple[str, ...]
    number: Array
    """(n,) int64: which group each row is in."""

    def sizes(self, counted: Array, weights: Array | None) -> list[int]:
        """What the rows of each group weigh that are `counted` (n,) bool. `weights` (n,): whole numbers."""
        if weights is None:
            return [int(size) for size in np.bincount(self.number, counted, len(self.names))]
        found = np.zeros(len(self.names), np.int64)
        np.add.at(found, self.number[counted], weights[counted])
        return found.tolist()


@kept_by_data
def present_groups(data: Dataset, name: str, feature: Any) -> Groups:
    """The groups that have rows, in sorted order of the sensitive columns' values, for a notion of that name."""
    groups: list[tuple[Any, ...]] = [()]
    number = np.zeros(data.n_rows, np.int64)
    for column in _columns(data, name, feature):
        values, codes = distinct(column, ROW_DATA, "it", lambda value: (isinstance(value, str), str(value)))
        both = number * len(values) + codes
        present, number = distinct_numbers(both) if groups[0] else (np.arange(len(values)), codes)
        pairs = [divmod(each, len(values)) for each in present.tolist()]
        groups = [(*groups[at], values[code]) for at, code in pairs]
    names = [", ".join(map(str, values)) for values in groups]
    if len(set(names)) < len(names):
        names = [", ".join(map(repr, values)) for values in groups]
    return Groups(tuple(names), number)


Shares = Mapping[tuple[str, str], int]
"""What an event counts for, by its kind and the group of the row."""


@final
@attrs.frozen(eq=False)
class RowKinds:
    """Rows of one kind are of one group and weight, and the same events happen to them."""

    events: dict[str, Array]
    """By event (k, K) int64: 1 where it happens to rows of a kind that count, by their label."""
    places: dict[str, int]
    """By group, its number,"""
    of_group: Array
    """(k,) and that of each kind."""
    number: Array
    """(n,) the kind of each row."""
    sizes: Array
    """(k,) how many rows are of each kind."""
    weights: Array | None
    """(k,) what each of them weighs; None where all weigh 1."""

    def costs(self, wanted: Sequence[Shares]) -> Array:
        """(m, k, K) what rows add to sums of shares by their label, without their weights."""
        weights, places = self.sizes if self.weights is None else self.sizes * self.weights, self.places
        totals = {x: np.bincount(self.of_group, weights * each.sum(axis=1)).tolist() for x, each in self.events.items()}
        known = [[(x, places[name], each) for (x, name), each in one.items() if name in places] for one in wanted]
        # what nothing has may be worth anything
        known = [[(x, at, each) for x, at, each in own if totals[x][at]] for own in known]
        if any(sum(abs(each) * totals[x][at] for x, at, each in own) >= LARGEST_TOTAL for own in known):
            raise sums_too_large(self.weights is not None)
        found: Array = np.zeros((), np.int64)
        for event, happens in self.events.items():
            worth = np.zeros((len(wanted), len(places)), np.int64)
            for number, own in enumerate(known):
                for at, each in [(at, each) for x, at, each in own if x == event]:
                    worth[number, at] = each
            found = found + worth[:, self.of_group, None] * happens
        return found


def row_kinds(data: Dataset, of: Any) -> RowKinds:
    """The kinds of rows for some events, as `streed.tasks.rates` has them."""
    groups, weights, n = of.groups(data), integer_weights(data)[0], data.n_rows
    labels, happens = [np.full(n, label) for label in range(of.n_labels(data))], {}
    for x in of.rates:
        counted = of.counted(x, data)
        happens[x] = [counted & of.happens(x, each, data) for each in labels]
    number = groups.number
    for each in itertools.chain([] if weights is None else [distinct_numbers(weights)[1]], *happens.values()):
        if 0 < np.count_nonzero(each) < n:
            number = distinct_numbers((int(each.max()) + 1) * number + each)[1]
    sizes = np.bincount(number)
    first = np.zeros(len(sizes), np.int64)
    first[number] = np.arange(n)
    places = {name: at for at, name in enumerate(groups.names)}
    events = {x: np.array([each[first] for each in by_label], np.int64).T for x, by_label in happens.items()}
    return RowKinds(events, places, groups.number[first], number, sizes, None if weights is None else weights[first])


def _columns(data: Dataset, name: str, feature: Any) -> list[Array]:
    """The sensitive columns that the notion is about."""
    table = row_array(data, ROW_DATA, name)
    wanted = feature if isinstance(feature, tuple) else (feature,)
    if table.dtype.names is not None:
        named = {label: table[label] for label in table.dtype.names}
        if feature is None and len(named) > 1:
            raise InputError(ROW_DATA, f"it has the columns {', '.join(named)}", f'name one or several: {name}("...")')
        chosen = list(named) if feature is None else list(wanted)
        check_known(ROW_DATA, chosen, named, "column")
        return [named[label] for label in chosen]
    if table.ndim == 2 and table.shape[1] == 1:
        table = table[:, 0]
    if table.ndim != 1:
        raise InputError(ROW_DATA, f"its {table.shape[1]} columns have no names", "give a table or dict with names")
    if feature is not None:
        found = f"it is one column without a name, not a table with {feature!r}"
        raise InputError(ROW_DATA, found, f"write {name}()")
    if table.dtype.kind == "f" and np.isnan(table).any():
        found = f"row {int(np.isnan(table).argmax())} has no group"
        raise InputError(ROW_DATA, found, "fill it in, or leave the row out")
    return [table]
