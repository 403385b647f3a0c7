"""scikit-learn's own checks of its conventions (`check_estimator`), on every estimator, with counts.

    python -m tests.benchmarks.estimator_checks --json estimator-checks.json

The exit code is 1 if a check fails that no reason is given for.
"""

from __future__ import annotations

import importlib.metadata
import sys
import warnings
from collections import Counter
from typing import Any

import numpy as np
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import _num_samples

from streed.estimators import (
    Binarizer,
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    PolicyTree,
    SurvivalTree,
)
from tests.benchmarks import harness

SKIPPED = {
    "check_array_api_input": "other array libraries are tried only where SCIPY_ARRAY_API is set before Python starts"
}
"""Checks that scikit-learn leaves out itself, with the reason."""

EXPECTED = {
    "check_class_weight_classifiers": "it wants nearly all test rows in the heavy class (min_weight_fraction_leaf); "
    "the optimal tree also has leaves where no training row is of that class",
    **dict.fromkeys(
        ("check_estimator_sparse_array", "check_estimator_sparse_matrix"),
        "a policy is refused, as for any table, where y is one column of outcomes without their treatments",
    ),
}
"""What an exact optimum under weights of 1000 to 0.0001 does not do, with the reason."""


class Grouped(FairTreeClassifier):
    """Finds groups where the checks give none: even and odd rows, whose rates may differ by any amount."""

    def __init__(self, limit: float = 1.0, *, max_depth: int = 3) -> None:
        super().__init__(limit=limit, max_depth=max_depth)

    def _groups(self, X: Any, sensitive_features: Any) -> Any:
        return np.arange(_num_samples(X)) % 2


ESTIMATORS: dict[str, Any] = {
    "Binarizer()": Binarizer(),
    "Binarizer('tree')": Binarizer("tree"),
    "Binarizer('mdlp')": Binarizer("mdlp"),
    "Binarizer('midpoints', categories='multiway')": Binarizer("midpoints", categories="multiway"),
    "OptimalTreeClassifier()": OptimalTreeClassifier(),
    "OptimalTreeRegressor()": OptimalTreeRegressor(),
    "CostSensitiveTreeClassifier()": CostSensitiveTreeClassifier(),
    "FairTreeClassifier(limit=1), even and odd rows as groups": Grouped(),
    "PolicyTree()": PolicyTree(),
    "SurvivalTree()": SurvivalTree(),
}
"""Every estimator, as it is checked."""


def check(estimator: Any) -> list[Any]:
    """What every check says of the estimator: its name and its status."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks give data that deserve warnings
        found: list[Any] = check_estimator(estimator, on_skip=None, on_fail=None, expected_failed_checks=EXPECTED)
    return found


def main(arguments: list[str] | None = None) -> int:
    """1 if a check fails that no reason is given for."""
    parser = harness.parser("estimator_checks", __doc__, data=False)
    options = parser.parse_args(arguments)
    record: harness.Record = {"benchmark": "estimator-checks", "machine": harness.start(options), "rows": []}
    record["scikit-learn"] = importlib.metadata.version("scikit-learn")
    for name, estimator in ESTIMATORS.items():
        found = check(estimator)
        by_status = {
            status: [each["check_name"] for each in found if each["status"] == status]
            for status in ("failed", "skipped", "xfail")
        }
        counts = Counter(each["status"] for each in found)
        record["rows"].append({"estimator": name, "checks": len(found), "passed": counts["passed"], **by_status})
        harness.note(f"{name}: {dict(counts)}")
    harness.finish(options, record, render(record))
    return harness.MISSED if any(row["failed"] for row in record["rows"]) else harness.FINE


def render(record: harness.Record) -> str:
    """The counts, and why checks are left out."""
    cells = [
        [row["estimator"], row["checks"], row["passed"], len(row["xfail"]), len(row["skipped"]), len(row["failed"])]
        for row in record["rows"]
    ]
    heads = ["estimator", "checks", "passed", "expected to fail", "skipped", "failed"]
    reasons = {name for row in record["rows"] for kind in ("xfail", "skipped") for name in row[kind]}
    why = [f"- `{name}`: {reason}." for name, reason in (EXPECTED | SKIPPED).items() if name in reasons]
    failed = [f"- {row['estimator']}: {', '.join(row['failed'])}" for row in record["rows"] if row["failed"]]
    total, passed = (sum(row[what] for row in record["rows"]) for what in ("checks", "passed"))
    told = (
        f"`check_estimator` of scikit-learn {record['scikit-learn']} on every estimator "
        f"(`python -m tests.benchmarks.estimator_checks`): {passed:,} of {total:,} checks pass."
    )
    parts = [told, harness.table(heads, cells), "\n".join(why), "\n".join(["Failed:", "", *failed]) if failed else ""]
    return "\n\n".join(filter(None, parts))


if __name__ == "__main__":
    sys.exit(main())
