"""Which class a task calls positive: what F1, recall or equal opportunity are about.

A task, limit or notion that tells two classes apart says so by a field `positive`, None if nobody chose, and a method
`positive_class(data)`, the number of the class. It is `one_sided` if the other class would be another question.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from streed.data import Dataset
from streed.errors import InputError
from streed.task.base import Task, field_names
from streed.task.limits import Limit


def positive_number(data: Dataset, positive: Any, name: str) -> int:
    """The number of the positive class, 0 or 1; raises InputError unless it is one of two classes."""
    classes = list(data.classes)
    if len(classes) != 2:
        found = "every row has the same label" if len(classes) == 1 else f"it has {len(classes)} classes"
        raise InputError("y", found, f"{name} needs two classes, the positive one and the other")
    return 1 if positive is None else given_class(classes, positive)


def given_class(classes: list[Any], positive: Any) -> int:
    """The number of the class that was given; raises InputError for one that no row has."""
    if positive not in classes:
        raise InputError("positive", f"{positive!r} does not occur in y", f"use one of {classes}")
    return classes.index(positive)


def positive_class(task: Task, data: Dataset, *, warn: bool = False) -> int | None:
    """The number of the class that a task or a limit of it calls positive; None if none does.

    Of several, the first that nobody chose. `warn`: where that matters and most of the rows have it.
    """
    found = [(thing, sided, thing.positive_class(data)) for thing, sided in _asking(task, one_sided=False)]
    assumed = [each for each in found if each[0].positive is None and each[2] is not None]
    totals = data.class_totals() if assumed else []
    for thing, sided, number in assumed:
        share = totals[number] / sum(totals)
        if warn and sided and 2 * share > 1:
            warnings.warn(
                f"{type(thing).__name__} takes {data.classes[number]!r} as the positive class, the second label in "
                f"sorted order, and {100 * float(share):.3g} % of the rows have it: say positive= to choose",
                UserWarning,
                stacklevel=4,
            )
            break
    return next((number for _, _, number in [*assumed, *found] if number is not None), None)


def _asking(thing: Any, one_sided: bool) -> Iterator[tuple[Any, bool]]:
    """What a task is made of that calls a class positive, and whether the other class would be another question."""
    one_sided = one_sided or getattr(thing, "one_sided", False)
    if isinstance(thing, tuple):
        for each in thing:
            yield from _asking(each, one_sided)
    elif hasattr(type(thing), "positive_class"):
        yield thing, one_sided
    elif isinstance(thing, (Task, Limit)):
        for name in field_names(type(thing)):
            yield from _asking(getattr(thing, name, None), one_sided)
