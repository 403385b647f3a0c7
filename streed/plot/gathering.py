"""Leaves below one node that predict the same, drawn as one: a child per category repeats what categories share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from streed.plot.survey import Seen, renumbered


def gathered(nodes: Sequence[Seen]) -> tuple[Seen, ...]:
    """The nodes, with one leaf for all those below a node of more than two children that predict the same.

    It has the rows, the classes and the costs of all, and is reached by any of their answers; a mean is left out, for
    the weights that it would take are not known here.
    """
    leading: dict[int, list[Seen]] = {}
    for seen in nodes:
        if len(seen.children) > 2:
            alike: dict[Any, list[Seen]] = {}
            for child in seen.children:
                if nodes[child].is_leaf:
                    alike.setdefault((type(nodes[child].shows), nodes[child].shows), []).append(nodes[child])
            leading |= {several[0].place: several for several in alike.values() if len(several) > 1}
    dropped = {seen.place for several in leading.values() for seen in several[1:]}
    return renumbered([_merged(leading.get(seen.place, [seen])) for seen in nodes if seen.place not in dropped])


def _merged(several: Sequence[Seen]) -> Seen:
    first = several[0]
    if len(several) == 1:
        return first
    costs = [seen.cost for seen in several]
    counts = [seen.counts for seen in several if seen.counts is not None]
    others = [seen.answer for seen in several[1:]]
    return attrs.evolve(
        first,
        answer=", ".join([first.answer, *others]),
        holds=" or ".join([first.holds, *others]),
        rows=sum(seen.rows for seen in several),
        cost=None if any(isinstance(cost, tuple) for cost in costs) else sum(costs),
        counts=tuple(map(sum, zip(*counts, strict=True))) if counts else None,
        mean=None,
    )
