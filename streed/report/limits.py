"""What a tree was subject to, and what each limit came to, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from streed.errors import InputError
from streed.tasks.fairness import RATES
from streed.tree import Claims
from streed.tree.description import rebuild


def limits(claims: Claims) -> list[str]:
    """Everything that the tree was subject to beside its size, as it is written in Python."""
    task = claims.task
    if isinstance(task, Mapping):
        try:
            task = rebuild(task)
        except InputError as unknown:
            return [str(unknown)]
    found: list[Any] = []
    while task is not None:
        found += [*getattr(task, "sum_limits", ()), *getattr(task, "further", ())]
        task = getattr(task, "task", None)
    return list(map(str, found))


def kept(found: Mapping[str, Any]) -> str:
    """What a limit came to, in one line; `found`: an entry of a result's `stats["limits"]`.

    The value and its limit, the favourable label if one matters, and every group's rates with what they are taken of.
    """
    counts = found.get("counts", {})
    value, limit = f"{found['value']:.4g}", f"{found['limit']:g}"
    if not found["rates"]:
        said = [f"{found['limit_on']}: {value}, limit {limit}"]
    elif found["relation"] == ">=":
        said = [f"{found['limit_on']}: {value} of at least {limit}"]
    else:
        said = [f"{found['limit_on']}: gap {value} of at most {limit}"]
    if found.get("favourable") is not None:
        said.append(f"favourable label {found['favourable']}")
    for kind, groups in found["rates"].items():
        each = [_rate(group, rate, counts.get(kind, {}).get(group)) for group, rate in groups.items()]
        said.append(f"{RATES[kind]}: {', '.join(each)}")
    for kind in counts.keys() - found["rates"].keys():
        said.append(f"{kind}: " + ", ".join(f"{group} {a:g} and {b:g}" for group, (a, b) in counts[kind].items()))
    return "; ".join(said)


def _rate(group: str, rate: float, count: Sequence[float] | None) -> str:
    return f"{group} {rate:.4g}" + ("" if count is None else f" ({count[0]:g} of {count[1]:g})")
