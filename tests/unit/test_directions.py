"""What is maximised and what is minimised: what may be joined, what is refused, and which way the values are shown."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.errors import TaskError
from streed.reference import Evaluation, every_tree
from streed.task import State, Task
from streed.tasks import F1, Accuracy, BalancedAccuracy, Gini, MinSupport, Misclassifications, PolicyValue, Splits
from streed.tree.description import describe, rebuild
from tests.searches import NATIVE

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


@attrs.frozen
class ShownNegative(Hits):
    maximize: ClassVar[bool] = True

    def leaf_cost(self, s: State, k: int) -> Any:
        return -s.n[k]


@attrs.frozen
class ShownPositive(ShownNegative):
    def score(self, value: Any, totals: State) -> Any:
        return -value


@attrs.frozen
class LargerIsBetter(Hits):
    maximize: ClassVar[bool] = True

    def better(self, a: Any, b: Any) -> bool:
        return bool(a > b)


def worth(tree: Any, hits: Any) -> Any:
    """The value of `hits` on a tree, less 2.5 for every branching node."""
    evaluation = Evaluation(hits, DATA)
    return evaluation.cost(tree) - Fraction(5, 2) * evaluation.shape(tree)[1]


@pytest.mark.parametrize("gain", [Hits(), pytest.param(Purity(), marks=pytest.mark.compiles)], ids=repr)
@pytest.mark.parametrize("search", [*NATIVE, "general"])
def test_a_cost_is_taken_from_what_is_maximised(gain: Task, search: str) -> None:
    best = max(float(worth(tree, gain)) for tree in every_tree(gain, DATA, max_depth=2))
    result = streed.solve(streed.maximize(gain) - 2.5 * Splits(), DATA, max_depth=2, search=search)
    assert result.status == "optimal"
    assert result.value == pytest.approx(best)
    assert result.upper_bound == pytest.approx(best)
    free = streed.solve(streed.maximize(gain), DATA, max_depth=2, search=search)
    assert free.value is not None
    assert result.value < free.value


def test_costs_of_rows_are_taken_too_and_differences_flatten() -> None:
    both = streed.maximize(Hits()) - Misclassifications() - 0.5 * Splits()
    twice = 2 * streed.maximize(Hits()) - 0.5 * Splits()
    result, other = streed.solve(both, DATA, max_depth=2), streed.solve(twice, DATA, max_depth=2)
    assert result.value == other.value - len(Y)
    assert rebuild(json.loads(json.dumps(describe(streed.maximize(Accuracy()) - 0.5 * Splits())))) == (
        streed.maximize(Accuracy()) - 0.5 * Splits()
    )


def test_maxima_add_up_and_scale() -> None:
    alone = streed.solve(streed.maximize(Hits()), DATA, max_depth=2)
    assert streed.solve(streed.maximize(Hits()) + streed.maximize(Hits()), DATA, max_depth=2).value == 2 * alone.value
    assert streed.solve(0.5 * streed.maximize(Hits()), DATA, max_depth=2).value == alone.value / 2
    assert (streed.maximize(Hits()) + streed.maximize(Purity())).maximize


@pytest.mark.parametrize("search", NATIVE)
def test_costs_are_taken_from_scores_of_rows(search: str) -> None:
    plain = streed.solve(BalancedAccuracy(), DATA, max_depth=2, max_nodes=1, search=search)
    task = BalancedAccuracy() - 0.01 * Splits()
    less = streed.solve(task, DATA, max_depth=2, max_nodes=1, search=search)
    assert less.value == pytest.approx(plain.value - 0.01)
    assert (less.lower_bound, less.upper_bound) == (less.value, less.value)
    three = streed.solve(3 * BalancedAccuracy() - 0.03 * Splits(), DATA, max_depth=2, max_nodes=1, search=search)
    assert three.value == pytest.approx(3 * less.value)
    assert rebuild(json.loads(json.dumps(describe(task)))) == task
    assert less.tree is not None
    assert streed.tree.evaluation.evaluate(less.tree, task, DATA) == 1 - Fraction(less.value).limit_denominator(10**9)


def test_a_price_of_treatments_is_taken_from_a_policys_value() -> None:
    n = len(Y)
    given = {"treatment": [0, 1] * (n // 2), "propensity": [0.5] * n, "outcome": Y.tolist(), "predicted": [[0, 1]] * n}
    plain = streed.solve(PolicyValue("dm"), X, Y, max_depth=1, **given)
    priced = streed.solve(PolicyValue("dm") - 0.25 * Splits(), X, Y, max_depth=1, **given)
    assert priced.value == plain.value == 1
    assert priced.tree is not None
    assert priced.tree.n_branches == 0


REFUSED: dict[str, tuple[Any, str]] = {
    "maximize(A) + B": (lambda: streed.maximize(Hits()) + 0.1 * Splits(), "write gain - cost"),
    "A + maximize(B)": (lambda: Misclassifications() + streed.maximize(Hits()), "Negated is maximised and Accuracy"),
    "score + B": (lambda: BalancedAccuracy() + 0.1 * Splits(), "BalancedAccuracy\\(\\) - "),
    "maximum - maximum": (lambda: streed.maximize(Hits()) - streed.maximize(Purity()), "both maximised"),
    "minimum - B": (lambda: Misclassifications() - Splits(), "gets a price by \\+"),
    "score - leaf costs": (lambda: BalancedAccuracy() - Gini(), "costs per row"),
    "own score": (lambda: ShownPositive() - Splits(), "streed.maximize\\(gain\\)"),
    "larger is better": (lambda: 2 * LargerIsBetter(), "streed.maximize\\(gain\\)"),
    "minimize a maximum": (lambda: streed.minimize(F1()), "F1 is maximised"),
    "negative weight": (lambda: -1 * Hits(), "streed.maximize\\(A\\)"),
    "limits first": (lambda: streed.maximize(Hits()).subject_to(MinSupport(2)) - Splits(), "subject_to last"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_turn_a_sign_round_is_refused_with_what_to_write(name: str) -> None:
    make, said = REFUSED[name]
    with pytest.raises(TaskError, match=said):
        make()


def test_maximised_values_that_would_be_shown_negated_are_refused() -> None:
    for task in (ShownNegative(), ShownNegative().subject_to(MinSupport(1))):
        with pytest.raises(TaskError, match=r"ShownNegative\.maximize is True.*streed\.maximize\(task\)"):
            streed.solve(task, DATA, max_depth=1)


def test_the_three_ways_of_writing_a_maximum_agree() -> None:
    values = [
        streed.solve(task, DATA, max_depth=2).value
        for task in (streed.maximize(Hits()), ShownPositive(), LargerIsBetter())
    ]
    assert (
        values[0]
        == values[1]
        == values[2]
        == max(Evaluation(Hits(), DATA).cost(t) for t in every_tree(Hits(), DATA, max_depth=2))
    )


def test_a_maximum_less_a_cost_is_explained_term_by_term() -> None:
    text = streed.explain(streed.maximize(Accuracy()) - 0.5 * Splits(), DATA)
    assert text.startswith("maximum of\n  sum of\n    Accuracy()\n    -1/2 * Splits()")
    assert "-1/10 * Splits()" in streed.explain(BalancedAccuracy() - 0.1 * Splits(), DATA)
