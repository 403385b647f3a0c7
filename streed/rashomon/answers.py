"""What a set of trees answers when it is asked for the best by a quantity, and what a column is to it."""

from __future__ import annotations

from typing import Any, final

import attrs

from streed.tree import Tree


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
