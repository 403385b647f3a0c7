"""check_separable(): every law, tried on a task; separability_suite(): the same as tests of pytest's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from streed.data import Dataset
from streed.errors import InputError, NotSeparableError, TaskError
from streed.task import Task
from streed.task.contract import build
from streed.testing.cases import Law
from streed.testing.laws import LAWS
from streed.testing.laws.agreement import accepting, drivers_agree
from streed.testing.report import HOLDS, NOT_CHECKED, VIOLATED, Finding, Report
from streed.testing.strategies import MAX_ROWS, Tag, repeated, tagged, tagged_datasets, tagged_subsets
from streed.testing.trial import Trial, UnusableData

DATA_SETS = 100
"""Tried per law, unless the caller says otherwise."""

SECONDS = 20.0
"""Longest search for one law's counterexample, unless the caller says otherwise."""

Data = Dataset | SearchStrategy[Dataset] | Callable[..., Dataset] | None
"""Data to try laws on: a data set whose rows are drawn, a strategy, a function of `draw`, or None for the default."""


def check_separable(
    task: Task | type[Task],
    *,
    data: Data = None,
    row_data: Mapping[str, SearchStrategy[Any]] | None = None,
    y: SearchStrategy[Any] | None = None,
    max_examples: int = DATA_SETS,
    seed: int | None = None,
    time_limit: float = SECONDS,
    drivers: bool = True,
) -> Report:
    """The report of every law on the task; raises NotSeparableError, with it as `report`, where one is violated.

    `task`: a task, or its class if it needs no arguments. `data`: a strategy of small data sets, a function that is
    given Hypothesis' `draw` and returns one, or a data set of which up to eight rows are drawn. By default they are
    those of `streed.testing.datasets` with `y`, the strategy of single labels, and `row_data`, by name the strategy of
    a single row's entry. Every law is tried on `max_examples` data sets, a few on more or fewer, for at most
    `time_limit` seconds. The same call draws the same data; `seed` draws other. `drivers=False` leaves out the engine,
    which compiles when first used.

    Raises TaskError if the task does not keep the contract, or uses none of the data.
    """
    laws = LAWS if drivers else tuple(law for law in LAWS if not law.needs_engine)
    effort: dict[str, Any] = {"max_examples": max_examples, "seed": seed, "time_limit": time_limit}
    report = find_violations(task, laws, data=data, row_data=row_data, y=y, **effort)
    if not report.holds:
        raise not_separable(report)
    return report


def separability_suite(task: Task | type[Task], *, drivers: bool = True, **given: Any) -> Callable[[Law], None]:
    """A test for pytest with one case per law, to be assigned to a name that starts with `test_`.

    The arguments are those of `check_separable`. Laws that do not apply to the task are skipped, with the reason.
    """
    import pytest

    laws = [law for law in LAWS if drivers or not law.needs_engine]

    @pytest.mark.parametrize("law", laws, ids=[law.name for law in laws])
    def test(law: Law) -> None:
        report = find_violations(task, (law,), **given)
        if not report.holds:
            raise not_separable(report)
        (finding,) = report.findings
        if finding.verdict != HOLDS:
            pytest.skip(finding.note)

    return test


def not_separable(report: Report) -> NotSeparableError:
    """The error that tells of the violated laws."""
    error = NotSeparableError(f"{report.task} breaks {', '.join(report.violated)}\n\n{report.explanation()}")
    error.report = report
    return error


def find_violations(
    task: Task | type[Task],
    laws: tuple[Law, ...] = LAWS,
    *,
    data: Data = None,
    row_data: Mapping[str, SearchStrategy[Any]] | None = None,
    y: SearchStrategy[Any] | None = None,
    max_examples: int = DATA_SETS,
    seed: int | None = None,
    time_limit: float = SECONDS,
) -> Report:
    """The report of these laws on the task, as `check_separable` makes it, whatever it says."""
    made = build(task)
    source = _source(data, row_data, y, few_kinds=False)
    for_engine = _source(data, row_data, y, few_kinds=True)
    large = repeated(source)
    findings: list[Finding] = []
    for law in laws:
        if law.after_all and any(each.verdict == VIOLATED for each in findings):
            findings.append(Finding(law, NOT_CHECKED, 0, "it follows from the laws above, and one is violated"))
            continue
        if law.prepare is not None:
            law.prepare()
        try:
            drawn = for_engine if law.needs_engine else source
            finding = Trial(law, made, drawn, time_limit).run(max_examples=max_examples, seed=seed)
            if finding.verdict != VIOLATED and not law.needs_engine and law.max_rows is None:
                further = Trial(law, made, large, time_limit).run(max_examples=max_examples // 4 or 1, seed=seed)
                finding = further if further.verdict == VIOLATED else finding
        except UnusableData as refused:
            raise TaskError(
                f"{type(made).__name__} refuses all data that was drawn ({refused}); "
                "give data=, a strategy of data sets that it accepts"
            ) from None
        findings.append(_noted(finding, made) if law is drivers_agree else finding)
    return Report(type(made).__name__, tuple(findings))


def _source(
    data: Data, row_data: Mapping[str, SearchStrategy[Any]] | None, y: SearchStrategy[Any] | None, *, few_kinds: bool
) -> SearchStrategy[tuple[Dataset, list[Tag]]]:
    if data is None:
        return tagged_datasets(MAX_ROWS, 2, y, True, True, row_data, few_kinds)
    if row_data is not None or y is not None:
        raise InputError("data", "given together with row_data or y", "put them into the data, or leave data out")
    if isinstance(data, Dataset):
        return tagged_subsets(data)
    if isinstance(data, SearchStrategy):
        return tagged(data)
    if callable(data):
        return tagged(st.composite(data)())
    raise InputError("data", f"{data!r}", "give a Dataset, a strategy of them, or a function of Hypothesis' draw")


def _noted(finding: Finding, task: Task) -> Finding:
    """The finding on the drivers, with the names of those that searched and of those that refused."""
    accepted, refused = accepting(task)
    parts = [f"searched by {', '.join(accepted)}"] if accepted else []
    parts += [f"{name} refuses it: {reason}" for name, reason in refused.items()]
    return attrs.evolve(finding, note="; ".join(parts))
