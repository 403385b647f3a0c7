"""What was found: a verdict per law, and for a violated one the smallest counterexample."""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.testing.cases import Law

HOLDS, VIOLATED, NOT_APPLICABLE, NOT_CHECKED = "holds", "violated", "not applicable", "not checked"


@final
@attrs.frozen(eq=False)
class Counterexample:
    """Data on which a law does not hold, and what happens there."""

    data: Dataset
    headline: str
    facts: tuple[tuple[str, str], ...]
    """Pairs of a name and a text, such as ("combine(a, c)", "1/2")."""

    @property
    def rows(self) -> int:
        return self.data.n_rows

    def to_text(self) -> str:
        """The headline, the rows, and the facts, one a line."""
        width = max(len(name) for name, _ in self.facts) if self.facts else 0
        lines = [self.headline, *(f"  {line}" for line in _table(self.data))]
        return "\n".join([*lines, *(f"  {name:<{width}}  {text}" for name, text in self.facts)])

    def to_dict(self) -> dict[str, Any]:
        table = {name: [_cell(x) for x in column] for name, column in _columns(self.data, every=True)}
        return {"rows": self.rows, "headline": self.headline, "facts": dict(self.facts), "data": table}


@final
@attrs.frozen(eq=False)
class Finding:
    """The verdict on one law."""

    law: Law
    verdict: str
    """HOLDS, VIOLATED, NOT_APPLICABLE or NOT_CHECKED."""
    examples: int
    """On how many data sets the law was tried and had something to say."""
    note: str = ""
    """Why it does not apply or was not checked, or what was left out."""
    counterexample: Counterexample | None = None

    def to_dict(self) -> dict[str, Any]:
        shown = None if self.counterexample is None else self.counterexample.to_dict()
        said = {"law": self.law.name, "source": self.law.source, "verdict": self.verdict}
        return said | {"examples": self.examples, "note": self.note, "counterexample": shown}


@final
@attrs.frozen(eq=False, repr=False)
class Report:
    """The findings on a task, one per law."""

    task: str
    findings: tuple[Finding, ...]

    @property
    def holds(self) -> bool:
        """Whether no law is violated."""
        return not self.violated

    @property
    def violated(self) -> tuple[str, ...]:
        """The names of the violated laws."""
        return tuple(each.law.name for each in self.findings if each.verdict == VIOLATED)

    def __getitem__(self, law: str) -> Finding:
        """The finding on a law, by name."""
        return {each.law.name: each for each in self.findings}[law]

    def explanation(self) -> str:
        """Every violated law with its counterexample; the empty text if all hold."""
        return "\n\n".join(
            f"{each.law.name} ({each.law.source}): {each.law.says}\n{each.counterexample.to_text()}"
            for each in self.findings
            if each.counterexample is not None
        )

    def to_text(self) -> str:
        """A line per law, and the counterexamples below."""
        name = max(len(each.law.name) for each in self.findings)
        source = max(len(each.law.source) for each in self.findings)
        verdict = f"{len(self.violated)} of {len(self.findings)} laws violated" if self.violated else "no law violated"
        lines = [f"{self.task}: {verdict}"]
        for each in self.findings:
            shown = each.verdict.upper() if each.verdict == VIOLATED else each.verdict
            said = f"{each.examples} data sets" if each.verdict == HOLDS else ""
            note = "; ".join(filter(None, (said, each.note)))
            lines.append(f"  {shown:<14}  {each.law.name:<{name}}  {each.law.source:<{source}}  {note}".rstrip())
        return "\n".join([*lines, *(["", self.explanation()] if self.violated else [])])

    def to_dict(self) -> dict[str, Any]:
        return {"task": self.task, "holds": self.holds, "findings": [each.to_dict() for each in self.findings]}

    def __repr__(self) -> str:
        return self.to_text()


def _table(data: Dataset) -> list[str]:
    """The rows, without columns of a table in which nothing differs, as lines of text."""
    cells = [("row", list(map(str, range(data.n_rows))))]
    cells += [(name, [str(_cell(x)) for x in column]) for name, column in _columns(data, every=False)]
    widths = [max(map(len, [name, *column])) for name, column in cells]
    lines = [[name for name, _ in cells], *zip(*(column for _, column in cells), strict=True)]
    return ["  ".join(f"{cell:>{width}}" for cell, width in zip(line, widths, strict=True)) for line in lines]


def _columns(data: Dataset, *, every: bool) -> list[tuple[str, list[Any]]]:
    columns: list[tuple[str, list[Any]]] = []
    for j, column in enumerate(data.columns):
        if every or len(set(data.X[:, j].tolist())) > 1:
            columns.append((column.name, [column.categories[code] for code in data.X[:, j]]))
    columns.append(("y", data.y.tolist()))
    if data.weights is not None:
        columns.append(("weight", data.weights.tolist()))
    columns += [(name, list(array)) for name, array in data.row_data.items()]
    return columns


def _cell(x: Any) -> Any:
    return x.tolist() if isinstance(x, (np.generic, np.ndarray)) else x
