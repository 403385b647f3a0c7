"""The least number of distinct columns that a tree of a set asks: some columns are taken in, others are left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import attrs

from streed.errors import InputError
from streed.tree import Tree, used_columns

if TYPE_CHECKING:
    from streed.rashomon.rashomon_set import RashomonSet


@final
@attrs.frozen
class Fewest:
    """A tree of a set that asks as few distinct columns as any."""

    columns: tuple[str, ...]
    tree: Tree


def fewest_columns(trees: RashomonSet) -> Fewest:
    """A tree of the set, which is not empty, that asks as few distinct columns as any.

    Raises InputError if a count is stopped.
    """
    best = trees[0]
    for size in range(len(used_columns(best.root))):
        found = _within(trees, best, frozenset(), size)
        if found is not None:
            best = found
            break
    names = trees.counted.question.data.names
    return Fewest(tuple(names[j] for j in sorted(used_columns(best.root))), best)


def _within(trees: RashomonSet, tree: Tree, taken: frozenset[int], size: int) -> Tree | None:
    """A tree of the set of at most so many columns, those taken in counted; None if there is none.

    `tree` is one of the set. A tree that is looked for leaves out a column of its that is not taken, or asks it.
    """
    used = used_columns(tree.root)
    if len(used | taken) <= size:
        return tree
    if len(taken) > size:
        return None
    for column in sorted(used - taken):
        rest = trees.without(column)
        if rest.stopped is not None:
            raise InputError("time_limit", f"a count without columns was stopped ({rest.stopped})", "raise the limits")
        if rest.count:
            found = _within(rest, rest[0], taken, size)
            if found is not None:
                return found
        taken = taken | {column}
        if len(taken) > size:
            return None
    return None
