"""What a solve gives back, the value, the tree, and how far they are proved; and how far it has come, while it runs.

The one who waits for the search reports, never the search itself, to a callable or to a live line.
"""

from __future__ import annotations

import html
import json
import math
import numbers
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from streed.data.strict_json import describe
from streed.errors import InputError, escaped
from streed.task import TOTAL, Task
from streed.tree import MOST_SHOWN, Tree, number, size_text, tree_html


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
        tree = self.tree
        size = tree and {"n_branches": tree.n_branches, "n_leaves": tree.n_leaves, "depth": tree.depth}
        limits = {"limits": [str(limit) for limit in self.tightest]} if self.tightest else {}
        positive = {} if self.positive_class is None else {"positive_class": _plain(self.positive_class)}
        front = {"front": [_plain(value) for value, _ in self.front]} if self._is_front else {}
        return {
            "task": describe(self.task),
            "status": self.status,
            **{name: _plain(getattr(self, name)) for name in ("value", "lower_bound", "upper_bound", "gap")},
            "unit": self.task.value_unit,
            **positive,
            **front,
            **limits,
            "tree": size,
            "stats": {key: _plain(value) for key, value in self.stats.items()},
        }

    def to_text(self) -> str:
        """The outcome in a few lines, then the tree."""
        if self.tree is None:
            reasons = {"infeasible": "no tree meets the limits", "no better": "no tree is better than the upper bound"}
            reason = reasons.get(self.status, "stopped before a tree was found")
            return "\n".join([f"status  {self.status}: {reason}", *(f"limit   {limit}" for limit in self.tightest)])
        size = size_text(self.tree)
        if self._is_front:
            known = f"front   {len(self.front)} nondominated values, of which this is the best"
            ideal = self.upper_bound if self.task.larger_is_better else self.lower_bound
            if self.status != "optimal":
                bound = "bound unknown" if ideal is None else f"no tree is better than {number(ideal)} in any component"
                known += f"; {bound}"
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
        extent, bound = self.stats.get("searched_over", ""), self.stats.get("bound_over_all_thresholds")
        return extent_text(extent, bound, self.task.larger_is_better)

    @property
    def _is_front(self) -> bool:
        bounds = (self.lower_bound, self.upper_bound)
        unknown = any(bound is None or isinstance(bound, tuple) for bound in bounds)
        return self.task.order != TOTAL and (unknown or len(self.front) > 1)

    def _repr_html_(self) -> str:
        """The outcome as a notebook shows it: how far it is proved, the tree, and the front if there is one."""
        if self.tree is None:
            return f"<pre>{escaped(self.to_text())}</pre>"
        value, over = f"{number(self.value)} {self.task.value_unit}", self.searched_over
        verdict = f"\N{CHECK MARK} proved optimal: value {value}"
        if self.status != "optimal":
            gap = "unknown" if self.gap is None else number(self.gap)
            bounds = " to ".join("?" if each is None else number(each) for each in (self.lower_bound, self.upper_bound))
            verdict = f"\N{WARNING SIGN} stopped early: value {value}, the optimum lies in {bounds} (gap {gap})"
        shown = tree_html(self.tree, verdict + (f"; over {over}" if over else ""))
        return shown + (_front_html(self.front) if len(self.front) > 1 else "")

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        over = f" over {self.searched_over}" if self.tree is not None and self.searched_over else ""
        return f"<Result: {self.status}{over}, value {self.value}, bounds {self.lower_bound} to {self.upper_bound}>"


def _front_html(front: Sequence[tuple[Any, Tree]]) -> str:
    """The values of a front and the sizes of their trees, as a table."""
    cells = [(escaped(number(value)), escaped(size_text(tree))) for value, tree in front[:MOST_SHOWN]]
    lines = "".join(f"<tr><td>{value}</td><td>{size}</td></tr>" for value, size in cells)
    rest = f"<tr><td>... ({len(front):,})</td><td></td></tr>" if len(front) > MOST_SHOWN else ""
    head = "<tr><th>value</th><th>tree</th></tr>"
    return f'<table class="streed-front"><caption>nondominated</caption>{head}{lines}{rest}</table>'


def extent_text(extent: str, bound: Any, maximize: bool) -> str:
    """Among which splits a tree is the best, and what no tree over all thresholds is better than, if that is known."""
    if bound is None:
        return extent
    return f"{extent}; no tree over all thresholds is worth {'more' if maximize else 'less'} than {number(bound)}"


def _plain(x: Any) -> Any:
    """A statistic as JSON holds it; one that is no number as text."""
    if x is None or isinstance(x, (bool, int, str)):
        return x
    if isinstance(x, float):
        return x if math.isfinite(x) else json.dumps(x)
    if isinstance(x, Mapping):
        return {str(key): _plain(value) for key, value in x.items()}
    if hasattr(x, "item"):
        return _plain(x.item())
    return [_plain(value) for value in x] if isinstance(x, (list, tuple)) else str(x)


INTERVAL = 0.25
"""Seconds between reports."""

_PATIENCE = 0.4  # seconds before the live line appears: a shorter solve needs none


@attrs.frozen
class Progress:
    """Where a solve stands."""

    incumbent: Any
    """The value of the best tree so far; None before there is one."""
    lower_bound: Any
    """The proved bound on the optimum: from below if minimised, from above if maximised; None before there is one."""
    gap: Any
    nodes: int
    """Nodes of the search expanded so far."""
    elapsed: float
    """Seconds since the solve began."""
    phase: str
    """What is being done, such as "compiling" or "searching"."""


class Reporter:
    """Tells a listener where the solve stands, at most every `INTERVAL` seconds and once at the end.

    Use it as a context manager around the search. `due()` is cheap; whoever waits for the search asks it, makes a
    `Progress` and calls `tell`. What a listener raises ends the solve and reaches its caller.
    """

    def __init__(self, progress: Any) -> None:
        """`progress`: None or False, True for a live line, or a callable that takes a `Progress`; else InputError."""
        if progress is not None and not isinstance(progress, bool) and not callable(progress):
            remedy = "give True, or a function of a Progress"
            raise InputError("progress", f"{progress!r} is neither True nor callable", remedy)
        self._listener: Callable[[Progress], object] | None = LiveLine() if progress is True else progress or None
        self._next = 0.0
        self._last: Progress | None = None

    @property
    def silent(self) -> bool:
        """Whether nobody listens."""
        return self._listener is None

    def due(self) -> bool:
        """Whether it is time for another report."""
        return self._listener is not None and time.monotonic() >= self._next

    def tell(self, progress: Progress) -> None:
        """Hands `progress` to the listener now."""
        if self._listener is not None:
            self._next = time.monotonic() + INTERVAL
            self._last = progress
            self._listener(progress)

    def finish(self, progress: Progress) -> None:
        """The last report of a solve: told even if another has just been, unless it says the same."""
        if progress != self._last:
            self.tell(progress)

    def __enter__(self) -> Reporter:
        return self

    def __exit__(self, *raised: object) -> None:
        if isinstance(self._listener, LiveLine):
            self._listener.close()


class LiveLine:
    """One line, gone when the solve ends: below a notebook's cell, or at the bottom of a terminal (standard error).

    Nothing elsewhere.
    """

    def __init__(self) -> None:
        self._handle: Any = None
        """Of a notebook's output, which needs no widgets."""
        self._is_shown = False
        self._show = self._in_notebook if "ipykernel" in sys.modules else _in_terminal if _is_terminal() else None

    def __call__(self, progress: Progress) -> None:
        if self._show is not None and (self._is_shown or progress.elapsed >= _PATIENCE):
            self._is_shown = True
            self._show(line(progress))

    def close(self) -> None:
        """Takes the line away."""
        if self._show is not None and self._is_shown:
            self._show("")
            self._handle, self._is_shown = None, False

    def _in_notebook(self, said: str) -> None:
        from IPython.display import display

        shown = {"text/plain": said, "text/html": f"<pre>{html.escape(said)}</pre>" if said else ""}
        if self._handle is None:
            self._handle = display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)


def _in_terminal(said: str) -> None:
    width = shutil.get_terminal_size().columns - 1
    sys.stderr.write(f"\r{said[:width].ljust(width)}\r")
    sys.stderr.flush()


def line(progress: Progress) -> str:
    """The progress as one line of text."""
    minutes, seconds = divmod(int(progress.elapsed), 60)
    known = f"incumbent {_shown(progress.incumbent)}  lower bound {_shown(progress.lower_bound)}"
    rest = f"gap {_shown(progress.gap)}  nodes {progress.nodes:,}  {minutes}:{seconds:02d}"
    return f"{progress.phase}  {known}  {rest}"


def _shown(x: Any) -> str:
    if x is None or (isinstance(x, float) and not math.isfinite(x)):
        return "-"
    return f"{x:.6g}" if isinstance(x, float) else str(x)


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
