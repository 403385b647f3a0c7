"""What a branching node may ask of a data set, row by row in plain Python: the splits, and the child of every row."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from streed.data import Cut, Dataset


class Split(NamedTuple):
    """A split on a column; of an ordered one, with its cut."""

    column: int
    cut: Cut | None


def every_split(data: Dataset) -> list[Split]:
    """The splits in the order of the columns; those of an ordered column by rising threshold."""
    splits: list[Split] = []
    for j in range(data.n_columns):
        if j not in data.ordered:
            splits.append(Split(j, None))
            continue
        values = data.ordered[j]
        splits += [Split(j, values.cut(limit, gaps)) for limit, gaps in values.questions().tolist()]
    return splits


def width(data: Dataset, split: Split) -> int:
    """How many children the split has."""
    return len(data.column(split.column).categories) if split.column in data.categorical else 2


def children(data: Dataset, split: Split) -> list[int]:
    """(n,) the number of the child that each row goes to."""
    codes = data.X[:, split.column].tolist()
    if split.cut is None:
        return codes  # type: ignore[no-any-return]
    values = data.ordered[split.column].values.tolist()
    threshold, gaps = split.cut.threshold, split.cut.gaps
    missing = len(values)
    if threshold is None:
        return [int(code == missing) for code in codes]
    return [gaps if code == missing else int(values[code] > threshold) for code in codes]
