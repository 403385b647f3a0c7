"""What a solve gives back: the value, the tree, and how far they are proved."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import Any

import attrs

from streed.data.strict_json import plain_value
from streed.task import TOTAL, Task
from streed.tree import Tree


@attrs.frozen
class TightestLimit:
    """A limit on the value of a task, and the tightest one that some tree meets."""

    task: Task
    limit: Any
    least: Any
    """The least value of any tree that meets the limits on leaves; None where there is none, or it was not proved."""

    @property
    def is_met(self) -> bool:
        """Whether some tree meets the limit, if it need meet no other one."""
        return self.least is not None and not self.task.better(self.limit, self.least)

    def __str__(self) -> str:
        from streed.tree.text import number

        asked = f"{self.task!r} <= {self.limit}"
        if self.least is None:
            return asked
        told = "some trees meet it alone" if self.is_met else "no tree meets it"
        return f"{asked}: {told}; the tightest limit that is met is {number(self.least)}"


@attrs.frozen(eq=False, repr=False)
class Result:
    """The outcome of a solve.

    `status` is "optimal" where the bounds met, "feasible" where the solve stopped early with a tree, "infeasible" where
    no tree meets the limits, "no better" where none that does is better than the `upper_bound` to beat, and "unknown"
    where it stopped before it found one; `value` and `tree` then are None. Of costs per row, bounds meet exactly or not
    at all: if numbers had to be rounded, and the proof ends within that rounding, the tree is "feasible" and
    `stats["stopped"]` is "rounding". Where costs are real numbers, "optimal" is up to their rounding,
    `stats["rounding"]`, and the bound is then the value. The value is always the tree's own, from the raw data, rounded
    once. No tree within the limits has a value below `lower_bound` or above `upper_bound`: a minimised
    task's incumbent is the upper one, a maximised task's the lower; None is not known. Of a front, value and tree are
    those of the best score, and "optimal" says that the front is complete. One that is "feasible" may lack points, and
    hold points dominated by those that it lacks; its bound is the ideal point, which no tree is better than in any
    component, and stands where a bound on the optimum would: `lower_bound` if the first component is minimised,
    `upper_bound` if it is maximised.
    """

    value: Any
    """The tree's value in the task's own units."""
    tree: Tree | None
    status: str
    lower_bound: Any
    upper_bound: Any
    stats: Mapping[str, Any]
    """Seconds of compiling and searching, nodes expanded, bytes used, and the like."""
    task: Task
    front: tuple[tuple[Any, Tree], ...] = ()
    """Every nondominated value with its tree, best first: one where values have a total order, none without a tree."""
    tightest: tuple[TightestLimit, ...] = ()
    """Where infeasible: for every limit on the value of a task, the tightest one that some tree meets."""

    @property
    def positive_class(self) -> Any:
        """The label that the task, or a limit of it, calls positive, as F1 does; None if it calls none so."""
        return None if self.tree is None else self.tree.positive

    @property
    def gap(self) -> Any:
        """`upper_bound - lower_bound`; None if infeasible or if bounds are unknown or tuples, 0 if these met.

        Where optimal it is 0, or what the rounding of a task's real numbers leaves open.
        """
        if self.tree is None:
            return None
        if not all(isinstance(bound, numbers.Real) for bound in (self.lower_bound, self.upper_bound)):
            return 0 if self.status == "optimal" else None
        return self.upper_bound - self.lower_bound

    def summary(self) -> dict[str, Any]:
        """The outcome as plain data that JSON holds: the task, status, value, bounds, gap, size of the tree, stats."""
        from streed.tree.description import describe

        tree = self.tree
        size = tree and {"n_branches": tree.n_branches, "n_leaves": tree.n_leaves, "depth": tree.depth}
        limits = {"limits": [str(limit) for limit in self.tightest]} if self.tightest else {}
        positive = {} if self.positive_class is None else {"positive_class": _plain(self.positive_class)}
        front = {"front": [plain_value(value) for value, _ in self.front]} if self._is_front else {}
        return {
            "task": describe(self.task),
            "status": self.status,
            **{name: plain_value(getattr(self, name)) for name in ("value", "lower_bound", "upper_bound", "gap")},
            "unit": self.task.value_unit,
            **positive,
            **front,
            **limits,
            "tree": size,
            "stats": {key: _plain(value) for key, value in self.stats.items()},
        }

    def to_text(self) -> str:
        """The outcome in a few lines, then the tree."""
        from streed.tree.text import number, size_text

        if self.tree is None:
            reasons = {"infeasible": "no tree meets the limits", "no better": "no tree is better than the upper bound"}
            reason = reasons.get(self.status, "stopped before a tree was found")
            return "\n".join([f"status  {self.status}: {reason}", *(f"limit   {limit}" for limit in self.tightest)])
        size = size_text(self.tree)
        if self._is_front:
            known = f"front   {len(self.front)} nondominated values, of which this is the best"
            ideal = self.upper_bound if self.task.larger_is_better else self.lower_bound
            if self.status != "optimal" and ideal is not None:
                known += f"; no tree is better than {number(ideal)} in any component"
        else:
            each = ("unknown" if x is None else number(x) for x in (self.lower_bound, self.upper_bound, self.gap))
            known = "bounds  {} to {}, gap {}".format(*each)
        status = self.status
        if self.stats.get("stopped") == "rounding":
            status += ": the search ended, and rounding keeps the bounds apart"
        elif self.status == "optimal" and self.stats.get("rounding"):
            status += f" within {number(self.stats['rounding'])}, the rounding of real numbers"
        lines = [f"status  {status}", f"value   {number(self.value)}  {self.task.value_unit}", known, f"tree    {size}"]
        lines += [f"over    {self.searched_over}"] if self.searched_over else []
        return "\n".join([*lines, "", self.tree.to_text()])

    @property
    def searched_over(self) -> str:
        """Among which splits the tree is best, and what is known of the others."""
        from streed.tree.description import extent_text

        extent, bound = self.stats.get("searched_over", ""), self.stats.get("bound_over_all_thresholds")
        return extent_text(extent, bound, self.task.larger_is_better)

    @property
    def _is_front(self) -> bool:
        bounds = (self.lower_bound, self.upper_bound)
        unknown = any(bound is None or isinstance(bound, tuple) for bound in bounds)
        return self.task.order != TOTAL and (unknown or len(self.front) > 1)

    def _repr_html_(self) -> str:
        """The outcome as a notebook shows it: how far it is proved, the tree, and the front if there is one."""
        from streed.data.visible import escaped
        from streed.tree.text import front_html, tree_html, verdict_html

        if self.tree is None:
            return f"<pre>{escaped(self.to_text())}</pre>"
        bounds = (self.lower_bound, self.upper_bound, self.gap)
        verdict = verdict_html(
            self.value, self.status == "optimal", *bounds, unit=self.task.value_unit, over=self.searched_over
        )
        return tree_html(self.tree, verdict) + (front_html(self.front) if len(self.front) > 1 else "")

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        over = f" over {self.searched_over}" if self.tree is not None and self.searched_over else ""
        return f"<Result: {self.status}{over}, value {self.value}, bounds {self.lower_bound} to {self.upper_bound}>"


def _plain(x: Any) -> Any:
    """A statistic as JSON holds it; one that is no number as text."""
    if x is None or isinstance(x, (bool, int, str)):
        return x
    if isinstance(x, float):
        return x if math.isfinite(x) else str(x)
    if isinstance(x, Mapping):
        return {str(key): _plain(value) for key, value in x.items()}
    if hasattr(x, "item"):
        return _plain(x.item())
    return [_plain(value) for value in x] if isinstance(x, (list, tuple)) else str(x)
