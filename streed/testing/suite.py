"""separability_suite(): the laws as tests of pytest's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from streed.task import Task
from streed.testing.cases import Law
from streed.testing.laws import LAWS
from streed.testing.report import HOLDS
from streed.testing.separability import find_violations, not_separable


def separability_suite(task: Task | type[Task], *, drivers: bool = True, **given: Any) -> Callable[[Law], None]:
    """A test for pytest with one case per law, to be assigned to a name that starts with `test_`.

    The arguments are those of `check_separable`. Laws that do not apply to the task are skipped, with the reason.
    """
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
