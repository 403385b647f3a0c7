"""A saved tree against the raw data: every number that it claims, claimed and found."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import attrs

from streed.data import Dataset
from streed.errors import InputError, StreedError
from streed.task import Task, Totals
from streed.tree.description import Claims, rebuild
from streed.tree.evaluation import inspect
from streed.tree.nodes import Leaf, walk, worth
from streed.tree.text import number
from streed.tree.tree import Tree

_RELATIVE = 1e-9  # floats were rounded once when they were written, and sums of real data once per row


@attrs.frozen
class Check:
    """One claim."""

    what: str
    claimed: str
    found: str
    holds: bool


def check(tree: Tree, data: Dataset) -> list[Check]:
    """Every claim of the tree on the data that it was learned from.

    Raises InputError if the tree has no claims, its task is not streed's own or cannot be evaluated with the parameters
    that are claimed, or the data lacks what it asks about.
    """
    claims = tree.claims
    if claims is None:
        raise InputError("tree", "it holds no claims", "save it with its result's claims")
    if not isinstance(claims.task, dict):
        return _checks(tree, claims, claims.task, data)
    task = rebuild(claims.task)
    try:
        return _checks(tree, claims, task, data)
    except StreedError:
        raise
    # a task that a file describes may have any parameters, so whatever it fails by is the file's fault
    except Exception as error:
        said = f"it cannot be evaluated as the tree describes it ({type(error).__name__}: {error})"
        raise InputError("task", said[:300], "use a file that streed wrote") from error


def _checks(tree: Tree, claims: Claims, task: Any, data: Dataset) -> list[Check]:
    if not isinstance(task, Task):
        raise InputError("task", f"{type(task).__name__} is no task", "use a file that streed wrote")
    labels = tuple(task.bind(data).labels(data))
    checks = [
        _equal("rows of the data", claims.n_rows, data.size),
        Check("labels", str(tree.labels), str(labels), tree.labels == labels),
    ]
    if not all(each.holds for each in checks):
        return checks
    found = inspect(tree, task, data)
    shows = tree.shows()
    leaf = 0
    for place, (node, rows) in enumerate(zip(walk(tree.root), found.rows, strict=True)):
        if isinstance(node, Leaf):
            which = f"of leaf {leaf} ({shows[leaf]})"
            checks.append(_equal(f"rows {which}", node.rows, rows))
            checks.append(_equal(f"cost {which}", worth(tree.unit, node.cost), found.leaf_costs[leaf]))
            leaf += 1
        else:
            checks.append(_equal(f"rows of node {place} ({tree.columns[node.column].name})", node.rows, rows))
    value = task.score(found.value, Totals(task, data))
    checks.append(_equal("value", claims.value, value))
    if not task.bind(data).feasible(found.value):
        checks.append(Check("feasible value", number(claims.value), "not feasible", holds=False))
    if claims.over and data.ordered:
        over, found_over = claims.over.partition(";")[0], claims.cut(data).extent
        checks.append(Check(f"{claims.status} over", over, found_over, over == found_over))
    checks.extend(_bounds(claims.status, task.larger_is_better, claims.value, claims.lower_bound, claims.upper_bound))
    smallest, least = min((rows for rows in found.leaf_rows if rows), default=0), claims.min_leaf
    checks.append(Check("fewest rows in a leaf", f"at least {least}", str(smallest), smallest >= least))
    sizes = ("depth", claims.max_depth, tree.depth), ("branching nodes", claims.max_nodes, tree.n_branches)
    checks += [Check(what, f"at most {most}", str(n), n <= most) for what, most, n in sizes if most is not None]
    for limit in task.bind(data).limits:
        broken = [number for number, each in found.broken if each == limit]
        checks.append(Check("limit", repr(limit), f"broken by leaves {broken}" if broken else "kept", not broken))
    return checks


def _bounds(status: str, maximize: bool, value: Any, lower: Any, upper: Any) -> list[Check]:
    """What the status says about the bounds; the proved one itself is the search's to show."""
    own, name = (lower, "lower bound") if maximize else (upper, "upper bound")
    checks = [_equal(f"{name} (the value)", own, value)]
    if (upper if maximize else lower) is None:
        return checks
    if status == "optimal":
        checks.append(_equal("gap of an optimal tree", upper, lower))
    else:
        alike = isinstance(lower, tuple) == isinstance(upper, tuple)
        # further components of a front may be minimised while the first is maximised
        first, last = (each[:1] if isinstance(each, tuple) else each for each in (lower, upper))
        ordered = alike and first is not None and last is not None and bool(first <= last)
        checks.append(Check("lower bound", f"at most {number(upper)}", number(lower), ordered))
    return checks


def _equal(what: str, claimed: Any, found: Any) -> Check:
    return Check(what, number(claimed), number(found), _same(claimed, found))


def _same(claimed: Any, found: Any) -> bool:
    if claimed is None or found is None:
        return claimed is found
    if isinstance(claimed, tuple) or isinstance(found, tuple):
        both = isinstance(claimed, tuple) and isinstance(found, tuple) and len(claimed) == len(found)
        return both and all(map(_same, claimed, found))
    if isinstance(claimed, float) or isinstance(found, float):
        return math.isclose(claimed, found, rel_tol=_RELATIVE, abs_tol=1e-12)
    return bool(Fraction(claimed) == Fraction(found))
