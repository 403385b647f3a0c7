"""One call of `streed.solve` as plain data, so that it can be written down, made smaller and solved again."""

from __future__ import annotations

import decimal
import json
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import attrs
import numpy as np

import streed
from streed.data import Dataset
from streed.exact import Array
from streed.task import Task

MANY = 40
"""Of more rows, the reference gets each kind once."""


class Scaling(NamedTuple):
    """The powers of ten that numbers are multiplied by when a problem is solved, not when it is judged."""

    targets: int = 0
    shift: int = 0
    """What is added to the targets before."""
    costs: int = 0
    """Of rows: costs, outcomes and predictions."""
    weights: int = 0
    value: int = 0
    """Of what the value is multiplied by then."""

    def given(self, problem: Problem) -> dict[str, Any]:
        """What is scaled of the problem, by the names of its fields; the numbers are exactly those decimals, or
        ArithmeticError is raised."""
        scaled = {name: each for name, each in problem.row_data.items() if self.costs and name in _COSTS}
        return {
            "y": _times(problem.y, self.targets, self.shift) if self.targets or self.shift else problem.y,
            "sample_weight": _times(problem.weights, self.weights) if self.weights else problem.sample_weight,
            "row_data": {**problem.row_data, **{name: _times(each, self.costs) for name, each in scaled.items()}},
        }

    def undone(self, value: Any) -> Any:
        """A value, or a bound on it, as it is without the scaling."""
        return value if not self.value or value is None else float(decimal.Decimal(repr(value)).scaleb(-self.value))


_COSTS = ("costs", "outcome", "predicted")


def _times(values: Any, power: int, shift: int = 0) -> Any:
    """The values plus the shift times the power of ten, as floats that print as exactly that."""
    if isinstance(values, list):
        return [_times(each, power, shift) for each in values]
    exact = (decimal.Decimal(repr(values)) + shift).scaleb(power)
    if decimal.Decimal(repr(float(exact))) != exact:
        raise ArithmeticError(f"{exact} is no float")
    return float(exact)


@attrs.frozen(eq=False)
class Problem:
    """A task, data, limits on the tree, and how to search."""

    task: str
    """The source of the task, in the names of `kinds.py`."""
    X: Array
    """(n, p) uint8 codes."""
    y: list[Any] | None
    sample_weight: list[Any] | None = None
    frequency: list[int] | None = None
    """How many equal rows each row stands for."""
    categorical: tuple[int, ...] = ()
    row_data: Mapping[str, Any] = attrs.field(factory=dict)
    """By name, lists with an entry per row."""
    limits: Mapping[str, Any] = attrs.field(factory=dict)
    """max_depth, max_nodes, min_leaf."""
    options: Mapping[str, Any] = attrs.field(factory=dict)
    """search and threads."""
    scaling: Scaling = attrs.field(factory=Scaling)

    @property
    def n_rows(self) -> int:
        return len(self.X)

    @property
    def copies(self) -> list[int]:
        """(n,) how many equal rows each row stands for, 1 where nothing is said."""
        return [1] * self.n_rows if self.frequency is None else self.frequency

    @property
    def weights(self) -> list[Any]:
        """(n,) what a copy of each row weighs, 1 where nothing is said."""
        return [1] * self.n_rows if self.sample_weight is None else self.sample_weight

    def solve(self, task: Task) -> streed.Result:
        """What `streed.solve` answers."""
        scaled = self.scaling.given(self)
        y, row_data = scaled.pop("y"), scaled.pop("row_data")
        given = {**scaled, "frequency": self.frequency, "categorical": self.categorical}
        used: dict[str, Any] = {name: value for name, value in given.items() if value}
        return streed.solve(task, self.X, y, **used, **row_data, **self.limits, **self.options)

    def data(self) -> Dataset:
        """What the reference judges by: rows written out, or of many rows those alike put together."""
        plain = self.merged() if self.n_rows > MANY else self.repeated()
        beside = {"sample_weight": plain.sample_weight, "frequency": plain.frequency, **plain.row_data}
        return Dataset.make(plain.X, plain.y, categorical=plain.categorical, **beside)

    def merged(self) -> Self:
        """The same with every kind of rows once, as often as there are."""
        kinds: dict[str, int] = {}
        beside = [self.X.tolist(), self.weights, *self.row_data.values(), *([] if self.y is None else [self.y])]
        of_row = [kinds.setdefault(repr(row), len(kinds)) for row in zip(*beside, strict=True)]
        counts = np.bincount(of_row, weights=self.copies).astype(int)
        return self.subset(np.unique(of_row, return_index=True)[1], counts.tolist())

    def repeated(self) -> Self:
        """The same with every row as often as `frequency` says, and no frequency."""
        return self if self.frequency is None else self.subset(np.repeat(np.arange(self.n_rows), self.frequency), None)

    def subset(self, rows: Array, frequency: list[int] | None) -> Self:
        """The problem on these rows (m,) by number, in this order."""
        chosen = rows.tolist()

        def picked(values: Any) -> Any:
            return None if values is None else [values[row] for row in chosen]

        return attrs.evolve(
            self,
            X=self.X[rows],
            y=picked(self.y),
            sample_weight=picked(self.sample_weight),
            frequency=frequency,
            row_data={name: picked(values) for name, values in self.row_data.items()},
        )

    def without_rows(self, dropped: range) -> Self:
        """The problem without these rows."""
        kept = np.array([row for row in range(self.n_rows) if row not in dropped], np.int64)
        return self.subset(kept, None if self.frequency is None else [self.frequency[row] for row in kept.tolist()])

    def to_plain(self) -> dict[str, Any]:
        """The problem in JSON's types; `from_plain` reads it."""
        plain = {**attrs.asdict(self, recurse=False), "X": ["".join(map(str, row)) for row in self.X.tolist()]}
        plain["categorical"] = list(self.categorical)
        plain["scaling"] = [*self.scaling] if any(self.scaling) else []
        return {name: value for name, value in plain.items() if value not in (None, {}, [])}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """The problem that `to_plain` wrote."""
        codes = [list(map(int, row)) for row in plain["X"]]
        X = np.array(codes, np.uint8).reshape(len(codes), -1)
        given = {"categorical": tuple(plain.get("categorical", ())), "scaling": Scaling(*plain.get("scaling", ()))}
        return cls(**{"y": None, **plain, "X": X, **given})


def to_text(plain: Mapping[str, Any]) -> str:
    """JSON with a line for every name."""
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in plain.items()]
    return "{\n" + ",\n".join(lines) + "\n}"
