"""What a database may add up before rows are read: sums in place of rows, where a task only adds.

Rows of equal features go to the same leaf of every tree. Where all that a task reads of them are sums, the sums of such
rows say as much as the rows. A task declares by `pushes_down` which those are: names of row data that it adds up as
they are, or `"moments"`, the sums of y and of its squares; () if it reads nothing of a row. Every other task gets each
different row once, with its frequency: class counts, counts by group, and rows for functions of the rows of a leaf.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from streed.task.weighing import parts_of

if TYPE_CHECKING:
    from streed.task.base import Task


def summed_rows(task: Task) -> frozenset[str]:
    """What may be summed for the task: what its parts name, if every part and every limit can do with sums.

    Limits on sums over the whole tree and gaps read y and groups row by row.
    """
    form = task.vector_form
    if form.limits or form.gaps or any(limit.support is None for limit in task.limits):
        return frozenset()
    found: set[str] = set()
    for part in parts_of(task):
        if part.stands_alone:
            if part.pushes_down is None:
                return frozenset()
            found.update(part.pushes_down)
    return frozenset(found)
