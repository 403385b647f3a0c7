"""What has a tree: a tree itself, the result of a solve, and an estimator that is fitted."""

from __future__ import annotations

from typing import Any

from streed.errors import InputError
from streed.tree.tree import Tree


def tree_of(model: Any) -> Tree:
    """The tree of a Tree, a Result, or a fitted estimator; raises InputError where there is none."""
    for name in (None, "tree_", "tree"):
        found = model if name is None else getattr(model, name, None)
        if isinstance(found, Tree):
            return found
    raise InputError(
        "tree",
        f"{model!r} has no tree",
        "give a Tree, a Result whose status is not infeasible, or an estimator after fit",
    )
