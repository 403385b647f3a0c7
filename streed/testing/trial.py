"""Trying one law: Hypothesis draws data and choices, and makes a counterexample small."""

from __future__ import annotations

import contextlib
import time
import traceback
from typing import final

import hypothesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky, Unsatisfiable
from hypothesis.strategies import SearchStrategy

from streed.data import Dataset
from streed.errors import InputError, TaskError
from streed.task import Task
from streed.task.contract import check_contract, own_line
from streed.testing.cases import Case, Law, Violation
from streed.testing.report import HOLDS, NOT_APPLICABLE, VIOLATED, Counterexample, Finding
from streed.testing.strategies import Tag

Source = SearchStrategy[tuple["Dataset", "list[Tag]"]]
"""Data with a tag for every row."""

_TRIES_PER_ROW = 30  # ways to choose all else, once a row is left out of a counterexample


class OutOfTime(BaseException):
    """No time is left. No Exception, because Hypothesis would take that for a counterexample."""


class UnusableData(Exception):
    """The task refuses the data that is drawn; the message is its last refusal."""


@final
class Trial:
    """One law on one task. It keeps the smallest counterexample that was met.

    Hypothesis would report the last one itself, but not for a task whose answers change from call to call.
    """

    def __init__(self, law: Law, task: Task, data: Source, time_limit: float) -> None:
        self.law = law
        self.task = task
        self.data = data
        self.deadline = time.monotonic() + time_limit
        self.concerned = 0
        self.refusal = ""
        self.smallest: Counterexample | None = None
        self.data_found: Dataset | None = None
        self.tags: list[Tag] = []
        self.breach: tuple[int, str] | None = None
        """How the task breaks the contract, on data of how few rows."""

    def run(self, *, max_examples: int, seed: int | None) -> Finding:
        """The finding; raises TaskError where the task breaks the contract, UnusableData where it accepts no data."""
        try:
            self._search(self.data, max(1, round(max_examples * self.law.effort)), seed)
        except Unsatisfiable:
            raise UnusableData(self.refusal) from None
        except (TaskError, Flaky):
            if self.breach is None:
                raise
            raise TaskError(self.breach[1]) from None
        if self.smallest is not None:
            concerned = self.concerned
            self._drop_rows(seed)
            return Finding(self.law, VIOLATED, concerned, counterexample=self.smallest)
        if not self.concerned:
            return Finding(self.law, NOT_APPLICABLE, 0, self.law.unconcerned)
        return Finding(self.law, HOLDS, self.concerned)

    def _drop_rows(self, seed: int | None) -> None:
        """Makes the counterexample smaller by rows that it does not need, which Hypothesis does not find by itself."""
        row = 0
        while row < len(self.tags):
            data, tags = self.data_found, self.tags
            assert data is not None
            others = [other for other in range(len(tags)) if other != row]
            if not others:
                return
            fewer = data.subset(others), [tags[other] for other in others]
            with contextlib.suppress(Unsatisfiable, TaskError):
                self._search(st.just(fewer), _TRIES_PER_ROW, seed)
            if self.data_found is data:
                row += 1

    def _search(self, data: Source, max_examples: int, seed: int | None) -> None:
        """Keeps the smallest counterexample on the data, if there is one."""

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
            self._attempt(*choices.draw(data), choices)

        before = self.smallest
        try:
            (attempt if seed is None else hypothesis.seed(seed)(attempt))()
        except (Violation, Flaky, OutOfTime):
            if self.smallest is before and time.monotonic() <= self.deadline:
                raise

    def _attempt(self, data: Dataset, tags: list[Tag], choices: st.DataObject) -> None:
        if time.monotonic() > self.deadline:
            raise OutOfTime
        if self.law.max_rows is not None and data.n_rows > self.law.max_rows:
            data, tags = data.subset(range(self.law.max_rows)), tags[: self.law.max_rows]
        try:
            check_contract(self.task, data)
            case = Case(self.task, data, tags, choices.draw)
        except InputError as error:
            self.refusal = str(error)
            hypothesis.reject()
        except TaskError as error:
            self._break(data, error)
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
                self._break(data, error)
                raise
            raised = _raised(error)
            self._keep(case, raised)
            raise raised from error

    def _break(self, data: Dataset, error: TaskError) -> None:
        if self.breach is None or data.n_rows <= self.breach[0]:
            self.breach = data.n_rows, str(error)

    def _keep(self, case: Case, violation: Violation) -> None:
        found = Counterexample(case.data, violation.headline, violation.facts)
        if self.smallest is None or _size(found) <= _size(self.smallest):
            self.smallest, self.data_found, self.tags = found, case.data, list(case.tags)


def _size(found: Counterexample) -> tuple[int, int]:
    return found.rows, len(found.to_text())


def _raised(error: Exception) -> Violation:
    """What the task's own code raised, with the line that raised it."""
    said = "".join(traceback.format_exception_only(error)).strip()
    return Violation(f"the task raised {said}", ("at", own_line(error) or "streed itself; please report it"))
