"""What is maximised and what is minimised: what may be joined, what is refused; and what is derived of tasks."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

import attrs
import numpy as np
import pytest
from click.testing import CliRunner

import streed
from streed.cli.app import app
from streed.data import Dataset
from streed.errors import StreedError, TaskError
from streed.plot import tree_svg
from streed.reference import Evaluation, every_tree
from streed.task import State, Task
from streed.task.algebra import at_most
from streed.task.analysis.facts import explain
from streed.task.base import is_larger_better
from streed.task.contract import check_contract
from streed.tasks import (
    F1,
    Accuracy,
    BalancedAccuracy,
    MatthewsCorrelation,
    MinSupport,
    Misclassifications,
    MonotoneMetric,
    SparseAccuracy,
    Splits,
    WorstLeaf,
)
from tests.shipped import NATIVE

RNG = np.random.default_rng(5)
X = RNG.integers(0, 2, (24, 3))
Y = ((X[:, 0] & X[:, 1]) ^ (RNG.random(24) < 0.2)).astype(int)
DATA = Dataset.make(X, Y)


@attrs.frozen
class Hits(Task):
    """Rows that are labelled right."""

    def statistics(self, data: Dataset) -> Any:
        return {"n": (data.class_numbers[:, None] == np.arange(data.n_classes)).astype(np.int64)}

    def leaf_cost(self, s: State, k: int) -> Any:
        return s.n[k]


@attrs.frozen
class Purity(Hits):
    """The sum over leaves of the square of hits over rows; no sum over rows."""

    def leaf_cost(self, s: State, k: int) -> Any:
        return s.n[k] * s.n[k] / s.rows


def hits(name: str, **members: Any) -> Task:
    """A task as `Hits`, but for these members."""
    made: Any = attrs.frozen(type(name, (Hits,), {"__annotations__": {}, **members}))
    return made()  # type: ignore[no-any-return]


PAID: dict[str, Any] = {"leaf_cost": lambda self, s, k: -s.n[k], "score": lambda self, value, totals: -value}
BY_FIELD = hits("ByField", maximize=True)
BY_BETTER = hits("ByBetter", better=lambda self, a, b: a > b)
SHOWN_POSITIVE = hits("ShownPositive", larger_is_better=True, **PAID)


def worth(tree: Any, gain: Any) -> Any:
    """The value of `gain` on a tree, less 2.5 for every branching node."""
    evaluation = Evaluation(gain, DATA)
    return evaluation.cost(tree) - Fraction(5, 2) * evaluation.shape(tree)[1]


@pytest.mark.parametrize("gain", [Hits(), pytest.param(Purity(), marks=pytest.mark.compiles)], ids=repr)
@pytest.mark.parametrize("search", [*NATIVE, "general"])
def test_a_cost_is_taken_from_what_is_maximised(gain: Task, search: str) -> None:
    best = max(float(worth(tree, gain)) for tree in every_tree(gain, DATA, max_depth=2))
    result = streed.solve(streed.maximize(gain) - 2.5 * Splits(), DATA, max_depth=2, search=search)
    assert result.status == "optimal"
    assert (result.value, result.upper_bound) == pytest.approx((best, best))
    free = streed.solve(streed.maximize(gain), DATA, max_depth=2, search=search)
    assert result.value < free.value


@pytest.mark.compiles
def test_no_tree_pays_an_infinite_price() -> None:
    barred = hits("Barred", maximize=True, branching_cost=lambda self, rows, path, split: -math.inf if split else 0)
    allowed = streed.solve(BY_FIELD, DATA.X[:, :1], DATA.y, max_depth=2)
    assert streed.solve(barred, DATA, max_depth=2).value == allowed.value


def test_a_task_is_tried_on_leaves_that_have_rows() -> None:
    share = hits("Share", leaf_cost=lambda self, s, k: s.n[k] / s.rows)
    check_contract(share, DATA.subset(np.flatnonzero(DATA.class_numbers == 1)))
    with pytest.raises(TaskError, match=r"State\(rows=3,.*raised ZeroDivisionError"):
        check_contract(hits("Three", leaf_cost=lambda self, s, k: s.n[k] / (s.rows - 3)), DATA)


REFUSED: dict[str, tuple[Any, str]] = {
    "maximize(A) + B": (lambda: streed.maximize(Hits()) + 0.1 * Splits(), "write gain - cost"),
    "A + maximize(B)": (lambda: Misclassifications() + streed.maximize(Hits()), r"maximize\(Hits\(\)\) is maximised"),
    "score + B": (lambda: BalancedAccuracy() + 0.1 * Splits(), "BalancedAccuracy\\(\\) - "),
    "maximum - maximum": (lambda: streed.maximize(Hits()) - streed.maximize(Purity()), "both maximised"),
    "minimum - B": (lambda: Misclassifications() - Splits(), "gets a price by \\+"),
    "own score": (lambda: SHOWN_POSITIVE - Splits(), "streed.maximize\\(gain\\)"),
    "larger is better": (lambda: 2 * BY_BETTER, "streed.maximize\\(gain\\)"),
    "minimize a maximum": (lambda: streed.minimize(F1()), "F1 is maximised"),
    "negative weight": (lambda: -1 * Hits(), "streed.maximize\\(A\\)"),
    "power - B": (lambda: MatthewsCorrelation() - 0.01 * Splits(), "max_nodes"),
    "score - costs": (lambda: F1() - SparseAccuracy(0.1), "price of splits"),
    "score - number": (lambda: F1() - 0.01, "price such as"),  # type: ignore[operator]
    "several sums + B": (lambda: F1() + 0.01 * Splits(), "Def. 4.4"),
    "more sums - B": (
        lambda: streed.solve(MonotoneMetric(lambda *errors: -sum(errors[:3])) - Splits(), X, np.arange(24) % 3),
        "has more here",
    ),
    "limits first": (lambda: streed.maximize(Hits()).subject_to(MinSupport(2)) - Splits(), "subject_to last"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_turn_a_sign_round_is_refused_with_what_to_write(name: str) -> None:
    make, said = REFUSED[name]
    with pytest.raises(StreedError, match=said):
        make()


@pytest.mark.parametrize(
    ("task", "said"),
    [
        (
            hits("Falling", maximize=True, **PAID),
            r"Falling\.score falls with the value.*maximize = True, leaf_cost is a gain",
        ),
        (hits("OtherWay", maximize=True, better=lambda self, a, b: a < b), r"OtherWay\.better prefers smaller values"),
        (
            hits("Rewarded", maximize=True, branching_cost=lambda self, rows, path, split: 0.5),
            r"Rewarded\.branching_cost returns 0\.5 for a split.*return -price",
        ),
        (hits("Undeclared", **PAID), r"Undeclared\.score falls with the value.*larger_is_better = True"),
    ],
)
def test_what_says_both_ways_is_refused(task: Task, said: str) -> None:
    for given in (task, task.subject_to(MinSupport(1))):
        with pytest.raises(TaskError, match=said):
            streed.solve(given, DATA, max_depth=1)


@pytest.mark.compiles
@pytest.mark.parametrize("task", [BY_FIELD, BY_BETTER, streed.maximize(Hits()), BY_FIELD - 0.25 * Splits()])
def test_leaves_say_what_they_gain(task: Task) -> None:
    tree = streed.solve(task, DATA, max_depth=2).tree
    right = (tree.predict(X) == Y).sum()
    near = [] if task is BY_BETTER else [next(iter(streed.rashomon(task, DATA, max_depth=2)))]
    for told in (tree, streed.Tree.from_json(tree.to_json()), *near):
        said = re.findall(r"gain (\S+)\)", str(told))
        assert len(said) == tree.n_leaves
        assert sum(map(int, said)) == right
    assert tree_svg(tree).count("gain ") >= tree.n_leaves


@attrs.frozen
class NeedsCosts(Task):
    def statistics(self, data: Dataset) -> dict[str, Any]:
        if "costs" not in data.row_data:
            raise streed.InputError("costs", "it is missing", "give costs=")
        return {"costs": data.row_data["costs"]}

    def leaf_cost(self, s: Any, k: int) -> Any:
        return s.costs


@pytest.mark.parametrize(
    ("task", "said"),
    [
        (Accuracy(), "kernel     signed"),
        (Misclassifications() + 0.01 * Splits(), "1/100 * Splits()"),
        (Accuracy().subject_to(MinSupport(5)), "with MinSupport(min_rows=5) in every leaf"),
        (Accuracy().subject_to(at_most(Splits(), 2)), "Splits() <= 2"),
        (BalancedAccuracy() & Splits(), "front of\n  BalancedAccuracy()\n  Splits()"),
        (streed.maximize(Accuracy()), "maximum of\n  Accuracy()"),
        (WorstLeaf(), "the task's own; never gives a better value"),
        (NeedsCosts(), "costs: it is missing; give costs="),
    ],
)
def test_explain_says_so(task: Task, said: str) -> None:
    assert said in explain(task)
    assert streed.explain is explain


def test_the_shell_explains() -> None:
    result = CliRunner().invoke(app, ["explain", "sparse-accuracy(0.01)", "--subject-to", "min-support(5)"])
    assert result.exit_code == 0, result.output
    assert "SparseAccuracy(lam=0.01)" in result.output
    assert "kernel     signed" in result.output


@pytest.mark.parametrize(
    ("better", "expected"),
    [
        (lambda _, a, b: a > b, True),
        (lambda _, a, b: b < a, True),
        (lambda _, a, b: bool(a > b), True),
        (lambda _, a, b: bool(a < b), False),
        (lambda _, a, b: True if a > b else False, True),  # noqa: SIM210 - as a user may write it
        (lambda _, a, b: not a > b, None),
        (lambda _, a, b: a > b and a < b, None),
        (lambda _, a, b: abs(a) < abs(b), None),
        (lambda _, a, b: True, None),
    ],
)
def test_which_values_are_better(better: Any, expected: bool | None) -> None:
    kind: Any = type("Compared", (Task,), {"statistics": None, "leaf_cost": None, "better": better})
    assert is_larger_better(kind()) is expected
