"""Twelve tasks that are not separable, or declare what is not so, each in the way in which people write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from streed.task import PARTIAL, State, Task

if TYPE_CHECKING:
    from streed.data import Dataset
    from streed.exact import Array


@attrs.frozen
class Counted(Task):
    """The rows of each class as the statistic `n`, and misclassified rows as the cost."""

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"n": (data.class_numbers[:, None] == np.arange(data.n_classes)).astype(np.int64)}

    def leaf_cost(self, s: State, k: int) -> Any:
        return sum(s.n) - s.n[k]


@final
@attrs.frozen
class ParityEverywhere(Counted):
    """Errors, and equally many positives in both groups, required of every subtree: a whole may balance its parts."""

    order: ClassVar[str] = PARTIAL

    def statistics(self, data: Dataset) -> dict[str, Array]:
        woman = data.row_data["woman"].astype(np.int64)
        return {**super().statistics(data), "women": woman, "men": 1 - woman}

    def leaf_cost(self, s: State, k: int) -> Any:
        return (super().leaf_cost(s, k), (s.women - s.men) * (k > 0))

    def better(self, a: Any, b: Any) -> bool:
        return bool(a[1] == b[1] and a[0] < b[0])

    def feasible(self, value: Any) -> bool:
        return bool(abs(value[1]) <= 1)


@final
@attrs.frozen
class MeanLeafF1(Counted):
    """The mean over the leaves of their F1 scores: (sum of 1 - F1, leaves)."""

    def leaf_cost(self, s: State, k: int) -> Any:
        found = 2 * s.n[k] / (sum(s.n) + s.n[k]) if sum(s.n) else 0
        return (1 - found, 1)

    def better(self, a: Any, b: Any) -> bool:
        return bool(a[0] * b[1] < b[0] * a[1])


@final
@attrs.frozen
class MeanOfChildren(Counted):
    """Each child counts half, whatever its size."""

    def combine(self, a: Any, b: Any) -> Any:
        return (a + b) / 2


_seen: list[Any] = [None]


@final
@attrs.frozen
class OtherLabelThanSibling(Counted):
    """A leaf costs one more if it has the label of the leaf before it."""

    def leaf_cost(self, s: State, k: int) -> Any:
        same = _seen[0] == k
        _seen[0] = k
        return super().leaf_cost(s, k) + same


_calls = [0]


@final
@attrs.frozen
class Counter(Counted):
    """Leaves become dearer as the search goes on."""

    def leaf_cost(self, s: State, k: int) -> Any:
        _calls[0] += 1
        return super().leaf_cost(s, k) + _calls[0]


@final
@attrs.frozen
class LimitedLoss(Counted):
    """A right row earns one, a wrong one costs two, and no more than two may be lost."""

    def leaf_cost(self, s: State, k: int) -> Any:
        return 2 * sum(s.n) - 3 * s.n[k]

    def feasible(self, value: Any) -> bool:
        return bool(value <= 2)


@final
@attrs.frozen
class MajorityOfClasses(Counted):
    """Better is what has fewer errors on more of the classes."""

    def leaf_cost(self, s: State, k: int) -> Any:
        return tuple(n * (k != j) for j, n in enumerate(s.n))

    def better(self, a: Any, b: Any) -> bool:
        pairs = list(zip(a, b, strict=True))
        return bool(sum(x < y for x, y in pairs) > sum(x > y for x, y in pairs))


@final
@attrs.frozen
class LeafAsLowerBound(Counted):
    """A bound that forgets that a state can be split."""

    def lower_bound(self, s: State) -> Any:
        return sum(s.n) - max(s.n)


@final
@attrs.frozen
class MaxLessSibling(Counted):
    """The worst leaf, with the subtraction of sums."""

    def combine(self, a: Any, b: Any) -> Any:
        return max(a, b)

    def subtract(self, a: Any, b: Any) -> Any:
        return a - b


@final
@attrs.frozen
class DistanceToMedian(Task):
    """The distance of every row to the median of all rows, as if that stayed the same in a subtree."""

    def statistics(self, data: Dataset) -> dict[str, Array]:
        values = np.array(data.classes)[data.class_numbers]
        return {"distance": np.abs(values - np.median(values))}

    def leaf_cost(self, s: State, k: int) -> Any:
        return s.distance


@final
@attrs.frozen
class TolerantDominance(Counted):
    """Pareto dominance of (errors on the first class, other errors) that overlooks differences of one."""

    order: ClassVar[str] = PARTIAL

    def leaf_cost(self, s: State, k: int) -> Any:
        others = sum(s.n) - s.n[0]
        return (s.n[0] * (k != 0), others - s.n[k] * (k != 0))

    def better(self, a: Any, b: Any) -> bool:
        no_worse = all(x <= y + 1 for x, y in zip(a, b, strict=True))
        return no_worse and any(x < y - 1 for x, y in zip(a, b, strict=True))


_depth = [0]


@final
@attrs.frozen
class DeepLeavesCostMore(Counted):
    """A leaf costs its depth, which branching_cost has noted."""

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        _depth[0] = len(path) + 1
        return 0

    def leaf_cost(self, s: State, k: int) -> Any:
        return super().leaf_cost(s, k) + _depth[0]


@final
@attrs.frozen
class BeyondMachineIntegers(Counted):
    """Python's integers have no end, compiled ones have 64 bits."""

    def leaf_cost(self, s: State, k: int) -> Any:
        return (sum(s.n) - s.n[k]) * 4_000_000_007 * 4_000_000_007 % 1009
