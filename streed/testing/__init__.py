"""Is my task separable? The laws of STreeD's Theorem 4.6 and of the contract, tried on small data.

    from streed.testing import check_separable, separability_suite

    check_separable(MyTask)                        # a report, or NotSeparableError with a counterexample
    test_my_task = separability_suite(MyTask)      # one pytest test per law

`theorem` and `laws` hold the laws, `cases` what they are tried on. Hypothesis searches for counterexamples
and makes them small.
"""

from streed.errors import MissingPackageError

try:
    from streed.testing.cases import Law, datasets, states, trees, values
    from streed.testing.laws import LAWS
    from streed.testing.separability import (
        Counterexample,
        Finding,
        Report,
        check_separable,
        find_violations,
        separability_suite,
    )
except ModuleNotFoundError as error:
    if error.name != "hypothesis":
        raise
    raise MissingPackageError(
        "streed.testing needs hypothesis, which is not installed; pip install 'streed[testing]'"
    ) from error

__all__ = ["LAWS", "Counterexample", "Finding", "Law", "Report", "check_separable", "datasets", "find_violations"]
__all__ += ["separability_suite", "states", "trees", "values"]
