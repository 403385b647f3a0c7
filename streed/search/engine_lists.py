"""Lists of trees in the workspace of a repriced problem, see `lists.py`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, final

import numpy as np

from streed.engine.control import STOP
from streed.engine.listing import COST, VALUE
from streed.engine.records import INFINITE, NO_TREE, NONE
from streed.exact import Array
from streed.search import memory, watch
from streed.search.driver import Orders
from streed.search.expand import SHALLOW
from streed.search.lists import FULL, MOST_KEY, MOST_VALUE, SPACE, THIN, find_best, find_tree, list_root
from streed.search.repriced import RepricedEngine
from streed.search.repricing import Interrupted, ListSpec, TreeLists

_SHARE = 0.25
"""Of the memory that is left: what one list may take, while others wait for it."""

_COPIES = 6
"""Words that an entry takes at most for each of its own, while its table grows."""

_FEWEST = 2**12


@final
class EngineLists(TreeLists):
    """Costs in the entries are codes of the engine beyond what every tree pays, budgets are translated."""

    def __init__(self, engine: RepricedEngine, spec: ListSpec, orders: Orders) -> None:
        self._engine = engine
        self._spec = spec
        self._deadline = None if orders.time_limit is None else time.perf_counter() + orders.time_limit
        self._costs = np.ascontiguousarray(spec.entries[:, :, COST])
        self._split_cost = int(spec.split[COST])
        self._base, self._divisor = engine.price(self._costs, self._split_cost)
        engine.priced_for = self
        least = self._costs.min(axis=1, keepdims=True)
        entries = spec.entries.copy()
        entries[:, :, COST] = (self._costs - least) // self._divisor
        self._split = spec.split.copy()
        self._split[COST] = self._split_cost // self._divisor
        kinds, _, width = entries.shape
        profits = (entries[:, 1:] - entries[:, :1]).reshape(kinds, -1)
        self._weights = np.ascontiguousarray(np.concatenate([np.ones((kinds, 1), np.int64), profits], axis=1))
        self._under = np.ascontiguousarray(entries[:, 0])
        columns = int(engine.workspace.engine["width"])
        self._scratch = np.empty(self._weights.shape[1] * columns * columns, np.int64)
        self._bounds = np.zeros(5, np.int64)
        self._bounds[MOST_KEY] = INFINITE if spec.most_key is None else spec.most_key
        self._bounds[MOST_VALUE] = INFINITE if spec.most_value is None else spec.most_value
        self._bounds[THIN] = spec.staircase
        self._bounds[SPACE] = _space(orders, width)
        self._depth = engine.limits(None)[0]

    def every(self, budget: int) -> Array:
        listed: Array = self._run(list_root, self._depth, self._code(budget))
        listed[:, COST] = self._base + self._divisor * listed[:, COST]
        return listed

    def best(self, budget: int, below: int) -> tuple[int, tuple[Array, Array]] | None:
        spec = self._spec
        windows = np.ascontiguousarray(spec.windows.T)
        target, column = self._run(
            find_best, self._depth, self._code(budget), np.int64(below),
            after=(spec.places, spec.factors, spec.divisors, windows[0], windows[1]),
        )  # fmt: skip
        if column == NO_TREE:
            return None
        return int(target[VALUE]), self._tree(target, column)

    def tree(self, entry: Array) -> tuple[Array, Array]:
        target = entry.copy()
        target[COST] = self._code(int(entry[COST]))
        return self._tree(target, NONE)

    def _tree(self, target: Array, hint: int) -> tuple[Array, Array]:
        columns, labels = self._run(find_tree, self._depth, target, np.int64(hint))
        if len(columns) == 0:
            raise AssertionError("no tree has the sums that were listed; please report this")
        return columns, labels

    def _code(self, budget: int) -> int:
        return (budget - self._base) // self._divisor

    def _run(self, function: Callable[..., Any], depth: int, *arguments: Any, after: tuple[Any, ...] = ()) -> Any:
        """What a function of `lists.py` gives for all rows; raises Interrupted if it was stopped or had no room."""
        engine = self._engine
        if engine.priced_for is not self:
            engine.price(self._costs, self._split_cost)
            engine.priced_for = self
        engine.control[STOP] = 0
        found: list[Any] = []

        def run() -> None:
            found.append(
                function(
                    engine.workspace.engine, engine.rows, np.int64(depth), *arguments,
                    self._weights, self._under, self._split, self._bounds, self._scratch, *after,
                )  # fmt: skip
            )

        reason = None
        if depth <= SHALLOW and self._deadline is None:
            run()
        else:
            reason = watch.run([run], engine.control, self._deadline, lambda: None)
        if self._bounds[FULL]:
            reason = reason or "memory"
        if reason is not None:
            raise Interrupted(reason)
        return found[0]


def _space(orders: Orders, width: int) -> int:
    """How many entries a list may have."""
    left = memory.free() if orders.memory_limit is None else orders.memory_limit - memory.resident()
    return max(_FEWEST, int(left * _SHARE / (8 * width * _COPIES)))


