"""check_separable(): every law, tried on a task, with a verdict and the smallest counterexample of each.

separability_suite() is the same as tests of pytest's. Hypothesis draws data, and makes counterexamples small.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any, final

import attrs
import hypothesis
import numpy as np
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky, Unsatisfiable
from hypothesis.strategies import SearchStrategy

from streed.data import Dataset
from streed.errors import InputError, NotSeparableError, TaskError, own_line
from streed.exact import Range
from streed.task import Task
from streed.task.contract import build, check_contract
from streed.testing.cases import Case, Law, Tag, Tagged, Violation, datasets, repeated, subsets, tagged
from streed.testing.laws import LAWS, accepting, compile_first, drivers_agree

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

    @property
    def size(self) -> tuple[int, int]:
        """Of several, the smallest is shown."""
        return self.rows, len(self.to_text())

    def to_text(self) -> str:
        """The headline, the rows, and the facts, one a line."""
        width = max(len(name) for name, _ in self.facts) if self.facts else 0
        lines = [self.headline, *(f"  {line}" for line in _table(self.data))]
        return "\n".join([*lines, *(f"  {name:<{width}}  {text}" for name, text in self.facts)])

    def to_dict(self) -> dict[str, Any]:
        table = dict(_columns(self.data, every=True))
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
            said = f"{each.examples} data set{'s' * (each.examples > 1)}" if each.verdict == HOLDS else ""
            note = "; ".join(filter(None, (said, each.note)))
            lines.append(f"  {shown:<14}  {each.law.name:<{name}}  {each.law.source:<{source}}  {note}".rstrip())
        return "\n".join([*lines, *(["", self.explanation()] if self.violated else [])])

    def to_dict(self) -> dict[str, Any]:
        return {"task": self.task, "holds": self.holds, "findings": [each.to_dict() for each in self.findings]}

    __repr__ = to_text


def _table(data: Dataset) -> list[str]:
    """The rows, without columns of a table in which nothing differs, as lines of text."""
    cells = [("row", list(map(str, range(data.n_rows))))]
    cells += [(name, list(map(str, column))) for name, column in _columns(data, every=False)]
    widths = [max(map(len, [name, *column])) for name, column in cells]
    lines = [[name for name, _ in cells], *zip(*(column for _, column in cells), strict=True)]
    return ["  ".join(f"{cell:>{width}}" for cell, width in zip(line, widths, strict=True)) for line in lines]


def _columns(data: Dataset, *, every: bool) -> list[tuple[str, list[Any]]]:
    columns = []
    for j in [j for j in range(data.n_columns) if every or len(set(data.X[:, j].tolist())) > 1]:
        known = [*data.ordered[j].values, None] if j in data.ordered else data.column(j).categories
        columns.append((data.names[j], [known[code] for code in data.X[:, j]]))
    columns.append(("y", data.y.tolist()))
    if data.weights is not None:
        columns.append(("weight", data.weights.tolist()))
    columns += [(name, list(array)) for name, array in data.row_data.items()]
    numpys = (np.generic, np.ndarray)
    return [(name, [x.tolist() if isinstance(x, numpys) else x for x in column]) for name, column in columns]


class OutOfTime(BaseException):
    """No time is left. No Exception, because Hypothesis would take that for a counterexample."""


@final
class Trial:
    """One law on one task; it keeps the smallest counterexample, also of tasks whose answers change by the call."""

    def __init__(self, law: Law, task: Task, data: SearchStrategy[Tagged], time_limit: float) -> None:
        self.law = law
        self.task = task
        self.data = data
        self.deadline = time.monotonic() + time_limit
        self.tried, self.is_cut = 0, False
        """How many data sets that the task accepts, and whether time was up before all were."""
        self.concerned = 0
        self.refusal = ""
        self.smallest: Counterexample | None = None
        self.breach = ""
        """How the task breaks the contract on the data that were last tried, the simplest."""

    def run(self, *, max_examples: int, seed: int | None) -> Finding:
        """The finding; raises TaskError where the task breaks the contract, or accepts no data."""
        try:
            self._search(max(1, round(max_examples * self.law.effort)), seed)
        except (TaskError, Flaky, Unsatisfiable) as error:
            if self.breach:
                raise TaskError(self.breach) from None
            if not isinstance(error, Unsatisfiable):
                raise
        if not self.tried:
            found = f"{type(self.task).__name__} refuses all data that was drawn ({self.refusal})"
            raise TaskError(f"{found}; give data=, a strategy of data sets that it accepts")
        if self.smallest is not None:
            return Finding(self.law, VIOLATED, self.concerned, counterexample=self.smallest)
        said = [] if self.concerned else [self.law.unconcerned]
        said += [f"time was up after {self.tried} were tried"] if self.is_cut else []
        return Finding(self.law, HOLDS if self.concerned else NOT_APPLICABLE, self.concerned, "; ".join(said))

    def _search(self, max_examples: int, seed: int | None) -> None:
        """Keeps the smallest counterexample, if there is one."""

        @settings(
            max_examples=max_examples,
            database=None,
            deadline=None,
            derandomize=seed is None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
            print_blob=False,
            verbosity=hypothesis.Verbosity.quiet,
        )
        @hypothesis.given(st.data())
        def attempt(choices: st.DataObject) -> None:
            self._attempt(*choices.draw(self.data), choices)

        try:
            (attempt if seed is None else hypothesis.seed(seed)(attempt))()
        except (Violation, Flaky, OutOfTime):
            if self.smallest is None and time.monotonic() <= self.deadline:
                raise

    def _attempt(self, data: Dataset, tags: list[Tag], whole: bool, choices: st.DataObject) -> None:
        if time.monotonic() > self.deadline and (self.tried or self.refusal):
            self.is_cut = True
            raise OutOfTime
        if self.law.max_rows is not None and data.n_rows > self.law.max_rows:
            data, tags = data.subset(range(self.law.max_rows)), tags[: self.law.max_rows]
        try:
            check_contract(self.task, data, warns=False)  # a law tells it
            case = Case(self.task, data, tags, choices.draw)
            self.tried += 1
        except InputError as error:
            self.refusal = str(error)
            hypothesis.reject()
        except TaskError as error:
            if not whole:  # the rows that the caller gives may need one another
                hypothesis.reject()
            self.breach = str(error)
            raise
        try:
            self.concerned += self.law.check(case)
        except Violation as violation:
            self._keep(case, violation)
            raise
        except hypothesis.errors.HypothesisException:
            raise
        except Exception as error:
            if isinstance(error, TaskError) and own_line(error) is None:  # such as code that does not compile
                self.breach = str(error)
                raise
            said = "".join(traceback.format_exception_only(error)).strip()
            raised = Violation(f"the task raised {said}", ("at", own_line(error) or "streed itself; please report it"))
            self._keep(case, raised)
            raise raised from error

    def _keep(self, case: Case, violation: Violation) -> None:
        found = Counterexample(case.data, violation.headline, violation.facts)
        if self.smallest is None:
            self.deadline = max(self.deadline, time.monotonic() + _TO_SHRINK)
        if self.smallest is None or found.size <= self.smallest.size:
            self.smallest = found


DATA_SETS = 100
"""Tried per law, unless the caller says otherwise."""

SECONDS = 200.0
"""Longest search for counterexamples of all laws together, unless the caller says otherwise."""

_TO_SHRINK = 2.0  # seconds at least to make a counterexample smaller

Data = Dataset | SearchStrategy[Dataset] | Callable[..., Dataset] | None
"""Data to try laws on: a data set whose rows are drawn, a strategy, a function of `draw`, or None for the default."""


def check_separable(
    task: Task | type[Task],
    laws: tuple[Law, ...] = LAWS,
    *,
    data: Data = None,
    row_data: Mapping[str, SearchStrategy[Any]] | None = None,
    y: SearchStrategy[Any] | None = None,
    max_examples: int = DATA_SETS,
    seed: int | None = None,
    time_limit: float = SECONDS,
    drivers: bool = True,
) -> Report:
    """The report of the laws on the task; raises NotSeparableError, with it as `report`, where one is violated.

    `task`: a task, or its class if it needs no arguments. `data`: a strategy of small data sets, a function that is
    given Hypothesis' `draw` and returns one, or a data set of which up to eight rows are drawn. By default they are
    those of `streed.testing.datasets` with `y`, the strategy of single labels, and `row_data`, by name the strategy of
    a single row's entry. Every law is tried on `max_examples` data sets, a few on more or fewer, until its part
    of the `time_limit` in seconds, for all laws together, is over: then its note says so. The same call draws the same
    data; `seed` draws other. `drivers=False` leaves out the engine, which compiles when first used.

    Raises TaskError if the task does not keep the contract, or uses none of the data.
    """
    made = build(task)
    time_limit = float(Range(above=0, meaning="seconds").read("time_limit", time_limit))
    laws = tuple(law for law in laws if drivers or not law.needs_engine)
    source, for_engine = (_source(data, row_data, y, few_kinds=few) for few in (False, True))
    large = repeated(source)
    findings: list[Finding] = []
    until = time.monotonic() + time_limit
    if any(law.needs_engine for law in laws):
        compile_first()
    for place, law in enumerate(laws):
        if law.after_all and any(each.verdict == VIOLATED for each in findings):
            findings.append(Finding(law, NOT_CHECKED, 0, "it follows from the laws above, and one is violated"))
            continue
        drawn = for_engine if law.needs_engine else source
        seconds = (until - time.monotonic()) * law.effort / sum(each.effort for each in laws[place:])
        finding = Trial(law, made, drawn, 0.8 * seconds).run(max_examples=max_examples, seed=seed)
        if finding.verdict != VIOLATED and not law.needs_engine and law.max_rows is None:
            further = Trial(law, made, large, 0.2 * seconds).run(max_examples=max_examples // 4 or 1, seed=seed)
            finding = further if further.verdict == VIOLATED else finding
        findings.append(_noted(finding, made) if law is drivers_agree else finding)
    report = Report(type(made).__name__, tuple(findings))
    if not report.holds:
        error = NotSeparableError(f"{report.task} breaks {', '.join(report.violated)}\n\n{report.explanation()}")
        error.report = report
        raise error
    return report


def find_violations(task: Task | type[Task], laws: tuple[Law, ...] = LAWS, **given: Any) -> Report:
    """The report as `check_separable` makes it, whose arguments are these, whatever it says."""
    try:
        return check_separable(task, laws, **given)
    except NotSeparableError as error:
        if error.report is None:  # its own
            raise
        return error.report  # type: ignore[no-any-return]


def separability_suite(task: Task | type[Task], *, drivers: bool = True, **given: Any) -> Callable[[Law], None]:
    """A test for pytest with one case per law, to be assigned to a name that starts with `test_`.

    The arguments are those of `check_separable`. Laws that do not apply to the task are skipped, with the reason.
    """
    import pytest

    laws = [law for law in LAWS if drivers or not law.needs_engine]

    @pytest.mark.parametrize("law", laws, ids=[law.name for law in laws])
    def test(law: Law) -> None:
        (finding,) = check_separable(task, (law,), **given).findings
        if finding.verdict != HOLDS:
            pytest.skip(finding.note)

    return test


def _source(data: Data, row_data: Any, y: Any, *, few_kinds: bool) -> SearchStrategy[Tagged]:
    if data is None:
        return tagged(datasets(y=y, row_data=row_data, few_kinds=few_kinds))
    if row_data is not None or y is not None:
        raise InputError("data", "given together with row_data or y", "put them into the data, or leave data out")
    if isinstance(data, Dataset):
        return tagged(subsets(data))
    if isinstance(data, SearchStrategy):
        return tagged(data)
    if callable(data):
        return tagged(st.composite(data)())
    raise InputError("data", f"{data!r}", "give a Dataset, a strategy of them, or a function of Hypothesis' draw")


def _noted(finding: Finding, task: Task) -> Finding:
    """The finding on the drivers, with the names of those that searched and of those that refused."""
    accepted, refused = accepting(task)
    parts = [finding.note, f"searched by {', '.join(accepted)}" if accepted else ""]
    parts += [f"{name} refuses it: {reason}" for name, reason in refused.items()]
    return attrs.evolve(finding, note="; ".join(filter(None, parts)))
