"""What ships: the drivers, and every task with examples of the arguments and the data that it needs."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from streed import registry
from streed.data import Dataset
from streed.drivers import Native, drivers
from streed.task import Task
from streed.tasks.cost_tables import CostTable, TestCost
from streed.testing import datasets

NATIVE = tuple(name for name, driver in drivers().items() if issubclass(driver, Native))
"""Those that run the native search, each by a procedure of its own; the default comes first."""

CHOSEN = (*NATIVE, "auto")
"""With the one that chooses among them."""

TOTAL_ONLY = ("branches",)
"""Those that refuse partial orders, as a best partial tree needs a total one; all others take every task."""


def fewest(fn: Any, fp: Any, positives: Any, negatives: Any) -> Any:
    """A score of two classes that no error improves."""
    return -(fn + 2 * fp)


_MATRIX = [[0, 2, 5], [1.5, 0, 4], [3, 3, 0]]
_TESTS = [TestCost("first", 1.5, 0.5, "lab", columns=0), TestCost("second", 2, 1, "lab", columns=1)]

_SCORES = st.tuples(st.integers(-3, 6), st.integers(-3, 6), st.integers(-3, 6))


@st.composite
def _past_treatments(draw: Any) -> Dataset:
    """Rows of which the first three were given one of three treatments each."""
    made = draw(datasets(row_data={"outcome": st.integers(0, 4), "predicted": _SCORES}, few_kinds=True))
    n = max(made.n_rows, 3)
    rows = [min(row, made.n_rows - 1) for row in range(n)]
    given = [row if row < 3 else draw(st.integers(0, 2)) for row in range(n)]
    return Dataset.make(
        made.X[rows],
        made.class_numbers[rows],
        categorical=list(made.categorical),
        treatment=given,
        propensity=[draw(st.sampled_from((0.25, 0.5, 1))) for _ in range(n)],
        **{name: values[rows] for name, values in made.row_data.items()},
    )


ARGUMENTS: dict[str, tuple[dict[str, Any], ...]] = {
    "bayesian-tree": ({}, {"concentration": 2.5, "growth": 0.5}, {"concentration": 0.3}, {"concentration": 0.01}),
    "cost-sensitive": ({"costs": CostTable.of(_MATRIX, _TESTS, range(3))},),
    "fbeta": ({"beta": 2},),
    "linear-leaves": ({"ridge": 0.5},),
    "mehta-mdl": ({}, {"tree_bits": False}),
    "minimum-error": ({}, {"m": 0.5}, {"m": 10}, {"m": 0.01}),
    "misclassification-costs": ({"costs": CostTable.of(_MATRIX, classes=range(3))},),
    "monotone-errors": ({"increasing": [0]},),
    "monotone-metric": ({"function": fewest},),
    "pessimistic-error": ({}, *({"confidence": each} for each in (0.0001, 0.001, 0.01, 0.1, 0.6, 1.0))),
    "policy-value": ({"method": "dr"},),
    "quantile-error": ({"quantile": 0.25},),
    "quinlan-mdl": ({}, {"tree_bits": False}),
    "sparse-accuracy": ({"lam": 0.025},),
    "squared-error": ({}, {"cost_complexity": 0.5}, {"cost_complexity": 0.01, "normalized": True}),
    "treatment-costs": ({"costs": {0: 1, 1: 2.5}},),
}
"""Of tasks with parameters; the first is the example where one is enough."""

DATA: dict[str, st.SearchStrategy[Dataset]] = {
    "cost-sensitive": datasets(weights=False, few_kinds=True),
    "instance-costs": datasets(row_data={"costs": _SCORES}, few_kinds=True),
    "linear-leaves": datasets(
        y=st.integers(-2, 4), row_data={"features": st.tuples(st.integers(-2, 2))}, few_kinds=True
    ),
    "misclassification-costs": datasets(few_kinds=True),
    "monotone-errors": datasets(multiway=False, few_kinds=True),
    "poisson-deviance": datasets(y=st.integers(0, 4), row_data={"exposure": st.integers(1, 3)}, few_kinds=True),
    "policy-value": _past_treatments(),
    "quantile-error": datasets(y=st.integers(-2, 4), few_kinds=True),
    "relative-risk": datasets(y=st.integers(0, 6), row_data={"event": st.integers(0, 1)}, few_kinds=True),
    "treatment-costs": datasets(row_data={"predicted": _SCORES}, few_kinds=True),
}
"""Of tasks that ask for row data, or for labels or columns of some kind."""

WHOLE_WEIGHTS = {"lexicographic"}
"""Tasks that take whole row weights only."""


def examples(name: str) -> tuple[Task, ...]:
    """The task with each of its example arguments; fails, naming what is missing, where it needs some and has none."""
    entry = registry.tasks()[name]
    given = ARGUMENTS.get(name, ({},))
    needed = {parameter for parameter, default in entry.parameters.items() if default == "required"}
    for arguments in given:
        assert needed <= set(arguments), f"give an example of {name}'s parameters {needed} in tests/shipped.py"
    return tuple(entry.made_by(**arguments) for arguments in given)


def of_any_data(base: type[Any] | tuple[type[Any], ...]) -> dict[str, registry.Entry]:
    """The entries of tasks of these classes that take any labels and columns, and no row data."""
    return {
        name: entry for name, entry in registry.tasks().items() if name not in DATA and issubclass(entry.made_by, base)
    }
