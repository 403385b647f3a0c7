"""Instance costs: every row has its own cost for every label, as in choosing the algorithm for each instance.

    minimise sum over rows i of costs[i, label of the leaf of i]

Separable: a sum over rows, so additive over leaves (STreeD, Section 4.1). `costs` is row data, an array (n, K) or a
table with a column per label; the label of column k is its name in a table (or the label of y that the name writes),
its number in an array, or `labels[k]`.

>>> import streed
>>> from streed.tasks import InstanceCosts
>>> seconds = {"quick": [1, 1, 9, 9], "steady": [3, 3, 3, 3]}
>>> result = streed.solve(InstanceCosts(), [[0], [0], [1], [1]], costs=seconds, max_depth=1)
>>> result.value, result.tree.predict([[0], [1]]).tolist()
(8, ['quick', 'steady'])
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, final

import attrs

from streed.data.given import row_matrix
from streed.data.labels import named_labels
from streed.errors import InputError
from streed.exact import Array
from streed.task import RowCostTask

if TYPE_CHECKING:
    from streed.data import Dataset


def _distinct(task: InstanceCosts, attribute: Any, value: Any) -> None:
    if value is not None and (not value or not _are_distinct(value)):
        raise InputError("labels", f"{value!r}", "give every column of the costs a label of its own")


def _are_distinct(values: tuple[Any, ...]) -> bool:
    try:
        return len(set(values)) == len(values)
    except TypeError:  # lists and dicts are no labels
        return False


def _listed(labels: Any) -> tuple[Any, ...] | None:
    if labels is not None and (isinstance(labels, str) or not isinstance(labels, Iterable)):
        raise InputError("labels", f"{labels!r} is no list", "give a label for every column of the costs")
    return None if labels is None else tuple(labels)


@final
@attrs.frozen
class InstanceCosts(RowCostTask):
    """The (weighted) cost of all rows, each with its own cost per label; negative costs are gains."""

    labels_: Sequence[Any] | None = attrs.field(default=None, alias="labels", validator=_distinct, converter=_listed)

    def row_costs(self, data: Dataset) -> Array:
        return row_matrix(data, "costs", "InstanceCosts")[0]

    def labels(self, data: Dataset) -> Sequence[Any]:
        costs, names = row_matrix(data, "costs", "InstanceCosts")
        own = self.labels_
        if own is None:
            return tuple(range(costs.shape[1])) if names is None else named_labels(names, data.classes)
        if len(own) != costs.shape[1]:
            raise InputError("labels", f"there are {len(own)} for {costs.shape[1]} columns of costs", "give one each")
        return own
