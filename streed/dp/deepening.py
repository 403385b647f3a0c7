"""The recursion for trees of more and more levels, so that a search that is stopped knows lower trees.

Behind depth two or three a rolling lookahead makes trees of the whole depth. Of equally good trees it is the shallowest
kind that is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from streed.dp.dominance import nondominated
from streed.dp.least import Least
from streed.dp.recursion import Limits, Option, Path, Recursion

if TYPE_CHECKING:
    from streed.dp.states import Cell, Found
    from streed.problem import Problem
    from streed.task import Value

_FIRST_DEPTHS = 3
"""Where the depth is not limited, trees of less depth than this are looked for first."""

_TRIED = 3
"""How many splits of its exact trees a lookahead tries at each node."""


@final
class Deepening:
    """The search for one problem by the best tree or the front; `run` it once."""

    def __init__(self, recursion: Recursion, problem: Problem, beat: Value | None) -> None:
        self.recursion = recursion
        self._beat = beat
        """Only trees of a better value than this are looked for."""
        self._root = recursion.states.root
        self._limits = recursion.useful(self._root, problem.max_depth, problem.max_nodes)
        self._found: list[Found] = []
        self._ahead: Any = None
        """What is in the making by a lookahead."""

    def run(self) -> bool:
        """Searches until the answer is proved, which it says, or the monitor stops it."""
        recursion, (deepest, nodes) = self.recursion, self._limits
        for depth in [*range(_FIRST_DEPTHS if deepest is None else deepest), deepest]:
            bound = None
            if recursion.algebra is Least:
                if depth == deepest:
                    self._found = self.solutions
                bound = self._found[0][0] if self._found else self._beat
            found = recursion.trees(self._root, recursion.useful(self._root, depth, nodes), (), bound)
            self._found = nondominated(recursion.values, [*self._found, *found])
            if depth in recursion.algebra.looks and depth != deepest and not recursion.monitor.stopped:
                self.look_ahead(self._root, self._limits, (), depth)
            if recursion.monitor.stopped:
                return False
        return True

    @property
    def solutions(self) -> list[Found]:
        """What is known of the answer."""
        recursion = self.recursion
        known = [*self._found]
        for making in (self._ahead, recursion.whole):
            known += [] if making is None else making.found
        if self._beat is not None:
            known = [each for each in known if recursion.values.better(each[0], self._beat)]
        return nondominated(recursion.values, known)

    def bound(self) -> Value | None:
        """A value that no tree is better than, or None; for a search that was stopped."""
        return self.recursion.states.floor(self._root) if self.recursion.algebra is Least else None

    def look_ahead(self, cell: Cell, limits: Limits, path: Path, look: int) -> list[Found]:
        """Good trees within the useful limits: split as some of the exact ones of `look` levels are, and rolled on.

        Branching nodes are shared by rows.
        """
        recursion, (depth, nodes) = self.recursion, limits
        levels = look if depth is None else min(depth, look)
        exact: list[Found] = recursion.trees(cell, recursion.useful(cell, levels, nodes), path)
        tried = [found[1] for found in exact if found[2] is not None]
        if not tried or levels == depth or recursion.monitor.stopped:
            return exact
        key = (look, limits, path)
        known: list[Found] | None = cell.memo.get(key)
        if known is not None:
            return known
        making: Any = recursion.algebra(recursion, cell, None)
        making.add(exact)
        if cell is self._root:
            self._ahead = making
        below = None if depth is None else depth - 1
        chosen = {tried[at * (len(tried) - 1) // (_TRIED - 1)] for at in range(_TRIED)}
        for split, children in [each for each in recursion.states.splits(cell) if each[0] in chosen]:
            under = recursion.states.below(path, split)
            shares = [None if nodes is None else (nodes - 1) * child.n_rows // cell.n_rows for child in children]
            limited = [recursion.useful(child, below, share) for child, share in zip(children, shares, strict=True)]
            option = Option(split, children, limited, under, recursion.states.price(cell, path, split))
            parts = [
                self.look_ahead(child, limits, under, look) for child, limits in zip(children, limited, strict=True)
            ]
            if all(parts):
                making.put(option, parts)
            if recursion.monitor.stopped:
                break
        cell.memo[key] = known = making.found
        return known
