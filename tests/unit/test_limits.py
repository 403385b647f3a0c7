"""Limits: rates of groups by hand from the raw groups, statistics of a user's own, and what is refused."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pandas as pd
import polars as pl
import pytest

import streed
from streed.data import Dataset
from streed.errors import TaskError
from streed.reference import best_trees, optimum
from streed.result import Result
from streed.task import Limit, State, Task, Totals
from streed.task.algebra import at_most
from streed.tasks import (
    F1,
    AbsoluteError,
    Accuracy,
    BalancedAccuracy,
    ClassErrors,
    DemographicParity,
    EqualizedOdds,
    EqualOpportunity,
    ErrorRateParity,
    Gini,
    MinSupport,
    MinSupportOf,
    Precision,
    Recall,
    SparseAccuracy,
    Specificity,
    Splits,
    TreatmentEquality,
    WorstLeaf,
)
from streed.tree import Tree
from streed.tree.evaluation import check
from tests.property.broken_tasks import Counted
from tests.unit.outcomes import refused, tree_of

RNG = np.random.default_rng(3)
SEX = RNG.integers(0, 2, 120)
RACE = RNG.integers(0, 3, 120)
X = np.column_stack([RNG.integers(0, 2, (120, 5)), (SEX ^ (RNG.random(120) < 0.15)).astype(int)])
Y = ((X[:, 0] + X[:, 1] + SEX + RNG.integers(0, 2, 120)) >= 2).astype(int)


def gap(predicted: Any, y: Any, groups: Any, counted: tuple[int, ...]) -> float:
    """The largest difference between two groups' rates of prediction 1."""
    rates = [(predicted[(groups == each) & np.isin(y, counted)] == 1).mean() for each in np.unique(groups)]
    return float(max(rates) - min(rates))


def solve(limit: Any, base: Any = None, groups: Any = SEX, **options: Any) -> Result:
    task = (Accuracy() if base is None else base).subject_to(limit)
    return streed.solve(task, X, Y, max_depth=2, sensitive_features=groups, **options)


@pytest.mark.parametrize(
    "groups",
    [
        SEX.astype(bool),
        SEX.astype(float),
        SEX.tolist(),
        np.where(SEX, "male", "female"),
        ["m" if s else "f" for s in SEX],
        pd.Series(np.where(SEX, "m", "f")),
        pd.Series(SEX, dtype="category"),
        pl.Series(SEX),
        SEX[:, None],
        pd.DataFrame({"sex": SEX}),
        {"sex": SEX.tolist()},
    ],
)
def test_groups_of_every_form(groups: Any) -> None:
    assert solve(DemographicParity() <= 0.02, groups=groups).value == solve(DemographicParity() <= 0.02).value


def test_named_columns_and_their_combinations() -> None:
    table = pd.DataFrame({"sex": SEX, "race": RACE})
    assert solve(DemographicParity("sex") <= 0.02, groups=table).value == solve(DemographicParity() <= 0.02).value
    race = solve(DemographicParity("race") <= 0.05, groups=table)
    predicted = tree_of(race).predict(X)
    assert gap(predicted, Y, RACE, (0, 1)) <= 0.05
    assert set(race.stats["limits"][0]["rates"]["all"]) == {"0", "1", "2"}
    both = solve(DemographicParity(["sex", "race"]) <= 0.1, groups=table)
    assert gap(tree_of(both).predict(X), Y, 3 * SEX + RACE, (0, 1)) <= 0.1
    assert len(both.stats["limits"][0]["rates"]["all"]) == 6


def test_more_than_two_classes_with_a_named_favourable_one() -> None:
    y = Y + (X[:, 2] & X[:, 3])
    task = Accuracy().subject_to(DemographicParity(positive=2) <= 0.03)
    result = streed.solve(task, X, y, max_depth=2, sensitive_features=SEX)
    assert gap(tree_of(result).predict(X) == 2, y, SEX, (0, 1, 2)) <= 0.03
    free = Accuracy().subject_to(DemographicParity() <= 0.03)
    refused("y", "3 classes", call=lambda: streed.solve(free, X, y, sensitive_features=SEX))


def test_a_front_beside_a_gap_is_of_the_scores_that_are_maximised() -> None:
    result = streed.solve(BalancedAccuracy() & DemographicParity(), X, Y, max_depth=2, sensitive_features=SEX)
    best = streed.solve(BalancedAccuracy(), X, Y, max_depth=2).value
    assert result.value[0] == pytest.approx(best)
    assert len(result.front) > 1
    for value, tree in result.front:
        predicted = tree.predict(X)
        recall = np.mean([(predicted[k == Y] == k).mean() for k in (0, 1)])
        assert value == pytest.approx((recall, gap(predicted, Y, SEX, (0, 1))))
    short: dict[str, Any] = {"max_depth": 4, "time_limit": 1e-4, "sensitive_features": SEX}
    stopped = streed.solve(BalancedAccuracy() & DemographicParity(), X, Y, **short)
    assert stopped.status == "feasible"
    assert stopped.upper_bound[0] >= best
    assert stopped.upper_bound[1] == 0


def test_refused_input() -> None:
    refused("sensitive_features", "needs it", call=lambda: solve(DemographicParity() <= 0.1, groups=None))
    refused("sensitive_features", "119 rows", call=lambda: solve(DemographicParity() <= 0.1, groups=SEX[:-1]))
    refused("sensitive_features", "one group", call=lambda: solve(DemographicParity() <= 0.1, groups=[1] * 120))
    missing = [None, *SEX[1:]]
    refused("sensitive_features", "missing", call=lambda: solve(DemographicParity() <= 0.1, groups=missing))
    only_negative = np.where(Y == 1, 0, SEX)
    opportunity = EqualOpportunity() <= 0.1
    refused("sensitive_features", "'1'", "positive rows", call=lambda: solve(opportunity, groups=only_negative))
    table = {"sex": SEX, "race": RACE}
    refused("sensitive_features", "sex, race", call=lambda: solve(DemographicParity() <= 0.1, groups=table))
    refused("sensitive_features", "'age'", call=lambda: solve(DemographicParity("age") <= 0.1, groups=table))
    refused("sensitive_features", "'sex'", call=lambda: solve(DemographicParity("sex") <= 0.1))
    two = np.column_stack([SEX, RACE])
    refused("sensitive_features", "no names", call=lambda: solve(DemographicParity() <= 0.1, groups=two))
    refused("positive", "7", call=lambda: solve(DemographicParity(positive=7) <= 0.1))
    for limit in (-0.01, 1.5, float("nan"), True, "0.1"):
        refused("limit", call=functools.partial(DemographicParity().__le__, limit))


def test_saved_trees_hold_their_claims() -> None:
    data = Dataset.make(X, Y, sensitive_features=SEX)
    for task in (Accuracy() & DemographicParity(), Accuracy().subject_to(DemographicParity() <= 0.05)):
        for _, tree in streed.solve(task, data, max_depth=1).front:
            assert all(each.holds for each in check(Tree.from_json(tree.to_json()), data))


def test_gaps_that_are_refused() -> None:
    given: dict[str, Any] = {"max_depth": 2, "sensitive_features": np.where(Y == 1, 0, SEX)}
    refused("sensitive_features", "needs it", call=lambda: streed.solve(Accuracy() & DemographicParity(), X, Y))
    refused("sensitive_features", "positive", call=lambda: streed.solve(Accuracy() & EqualOpportunity(), X, Y, **given))
    with pytest.raises(TaskError, match="sums over rows"):
        _ = WorstLeaf() & DemographicParity()
    with pytest.raises(TaskError, match="objective first"):
        _ = DemographicParity() & Accuracy()
    with pytest.raises(TaskError, match="sums over rows"):
        _ = ClassErrors() & DemographicParity()
    with pytest.raises(TaskError, match="subject_to last"):
        _ = Accuracy().subject_to(MinSupport(2)) & DemographicParity()
    fronts = streed.solve(Splits() & DemographicParity(), X, Y, **given).front
    assert min(value for value, _ in fronts) == (0, 0.0)


DRAW = np.random.default_rng(11)
GROUPS = DRAW.integers(0, 3, 90)
ROWS = np.column_stack([DRAW.integers(0, 2, (90, 3)), (GROUPS == 0) ^ (DRAW.random(90) < 0.1)]).astype(int)
TRUTH = ((ROWS[:, 0] + ROWS[:, 3] + DRAW.integers(0, 2, 90)) >= 2).astype(int)
NAMES = np.array(["a", "b", "c"])[GROUPS]


def stumps() -> list[Any]:
    """The predictions of all trees of depth one."""
    found = [np.full(90, k) for k in (0, 1)]
    for j, (a, b) in itertools.product(range(4), itertools.product((0, 1), repeat=2)):
        found.append(np.where(ROWS[:, j] == 1, a, b))
    return found


def rates(predicted: Any, event: str) -> list[tuple[int, int]]:
    """(how often, of how many) by group."""
    counted = {"positive": TRUTH == 1, "negative": TRUTH == 0}.get(event, np.ones(90, bool))
    happens = predicted != TRUTH if event == "errors" else predicted == 1
    return [(int((happens & counted & (g == GROUPS)).sum()), int((counted & (g == GROUPS)).sum())) for g in range(3)]


def total(predicted: Any, event: str) -> int:
    return sum(hits for hits, _ in rates(predicted, event))


def ratio_holds(predicted: Any, event: str) -> bool:
    """Whether five times every group's rate is at least three times any other's, in whole numbers."""
    return all(5 * p * m >= 3 * q * n for (p, n), (q, m) in itertools.permutations(rates(predicted, event), 2))


def balance(predicted: Any) -> bool:
    """Whether every group has at least half, and at most twice as many false negatives as false positives."""
    for g in range(3):
        fn = int(((predicted == 0) & (TRUTH == 1) & (g == GROUPS)).sum())
        fp = int(((predicted == 1) & (TRUTH == 0) & (g == GROUPS)).sum())
        if not fp <= 4 * fn <= 16 * fp:
            return False
    return True


LIMITS: list[tuple[str, Any, Callable[[Any], bool]]] = [
    ("selection ratio", DemographicParity().ratio >= 0.6, lambda p: ratio_holds(p, "all")),
    ("true positive ratio", EqualOpportunity().ratio >= 0.6, lambda p: ratio_holds(p, "positive")),
    ("odds ratio", EqualizedOdds().ratio >= 0.6, lambda p: ratio_holds(p, "positive") and ratio_holds(p, "negative")),
    ("lowest recall", EqualOpportunity().lowest >= 0.5, lambda p: all(2 * k >= n for k, n in rates(p, "positive"))),
    ("lowest selection", DemographicParity().lowest >= 0.2, lambda p: all(5 * k >= n for k, n in rates(p, "all"))),
    ("highest errors", ErrorRateParity().highest <= 0.3, lambda p: all(10 * k <= 3 * n for k, n in rates(p, "errors"))),
    (
        "error gap",
        ErrorRateParity() <= 0.1,
        lambda p: all(
            10 * abs(k * m - i * n) <= n * m for (k, n), (i, m) in itertools.combinations(rates(p, "errors"), 2)
        ),
    ),
    ("balance of errors", TreatmentEquality(0.25, 4), balance),
    ("recall", Recall() >= 0.9, lambda p: 10 * total(p, "positive") >= 9 * TRUTH.sum()),
    ("specificity", Specificity() >= 0.9, lambda p: 10 * total(p, "negative") <= (TRUTH == 0).sum()),
    ("precision", Precision() >= 1, lambda p: total(p, "positive") == total(p, "all")),
]


@pytest.mark.parametrize(("limit", "keeps"), [each[1:] for each in LIMITS], ids=[each[0] for each in LIMITS])
def test_the_best_tree_that_keeps_the_limit(limit: Any, keeps: Callable[[Any], bool]) -> None:
    result = streed.solve(Accuracy().subject_to(limit), ROWS, TRUTH, max_depth=1, sensitive_features=NAMES)
    allowed = [int((predicted != TRUTH).sum()) for predicted in stumps() if keeps(predicted)]
    assert 0 < len(allowed) < len(stumps())  # the limit forbids something
    assert result.value == min(allowed)
    assert keeps(tree_of(result).predict(ROWS))
    (told,) = result.stats["limits"]
    assert told["holds"]
    assert told.get("favourable", 1) == (None if isinstance(getattr(limit, "notion", None), ErrorRateParity) else 1)
    assert all(set(of) == {"a", "b", "c"} for of in told.get("counts", {}).values())  # rates of all rows have none


def test_what_is_refused() -> None:
    with pytest.raises(TaskError, match=r">= 0\.8"):
        _ = DemographicParity().ratio <= 0.8
    with pytest.raises(TaskError, match="equality too"):
        _ = DemographicParity().lowest > 0.8
    refused("limit", call=lambda: DemographicParity().ratio >= 80)
    refused("low", call=lambda: TreatmentEquality(2, 1))
    refused("high", call=lambda: TreatmentEquality(0, -1))
    half = Accuracy().subject_to(Recall() >= 0.5)
    refused("y", "3 classes", call=lambda: streed.solve(half, ROWS, np.arange(90) % 3))
    for limit in (-0.1, 1.1, True, "0.5"):
        refused("limit", call=functools.partial(Recall().__ge__, limit))
    refused("positive", "7", call=lambda: streed.solve(Accuracy().subject_to(Recall(positive=7) >= 0.5), ROWS, TRUTH))
    with pytest.raises(TaskError, match="from below"):
        _ = Recall() <= 0.5
    with pytest.raises(TaskError, match=r">= 0\.5"):
        _ = Recall() > 0.5


def test_the_first_tree_within_a_limit_may_err_once_more_than_the_bound() -> None:
    table = np.array([[row >> bit & 1 for bit in range(5)] for row in (29, 4, 20, 27, 30, 8, 4, 18, 4, 8, 24)])
    data = Dataset.make(table[:, :1:-1], table[:, 1], sensitive_features=table[:, 0])
    task = Accuracy().subject_to(DemographicParity() <= 0.27)
    values = [task.score(value, Totals(task, data)) for value, _ in best_trees(task, data, max_depth=2)]
    assert streed.solve(task, data, max_depth=2).value == min(values) == 2


def test_a_limit_on_errors_and_splits_together_is_kept_exactly() -> None:
    task = F1().subject_to(at_most(SparseAccuracy(0.05), 0.4))
    result = streed.solve(task, ROWS, TRUTH, max_depth=2)
    values = [value for value, _ in best_trees(task, Dataset.make(ROWS, TRUTH), max_depth=2)]
    assert result.value == max(task.score(value, Totals(task, Dataset.make(ROWS, TRUTH))) for value in values)
    predicted = tree_of(result).predict(ROWS)
    assert (predicted != TRUTH).mean() + 0.05 * tree_of(result).n_branches <= 0.4 + 1e-12


OWN_RNG = np.random.default_rng(2)
BITS = OWN_RNG.integers(0, 2, (30, 3))
SAID = BITS[:, 0] ^ (BITS[:, 1] & BITS[:, 2])
WOMAN = np.where(BITS[:, 0], OWN_RNG.random(30) < 0.3, True).astype(int)


@attrs.frozen
class HalfWomen(Limit):
    """At least half of the rows of a leaf are women."""

    def statistics(self, data: Dataset) -> Any:
        return {"women": data.row_data["woman"]}

    def allows(self, s: State) -> bool:
        return bool(2 * s.women >= s.rows)


@attrs.frozen
class LimitedErrors(Counted):
    @property
    def limits(self) -> tuple[Limit, ...]:
        return (HalfWomen(),)


@pytest.mark.compiles
@pytest.mark.parametrize("search", ["depth-first", "general"])
@pytest.mark.parametrize("weights", [None, OWN_RNG.choice([0.5, 3], 30)])
def test_limits_may_ask_for_statistics(search: str, weights: Any) -> None:
    given: dict[str, Any] = {"sample_weight": weights, "woman": WOMAN}
    task = Counted().subject_to(HalfWomen())
    found = streed.solve(task, BITS, SAID, max_depth=2, search=search, **given)
    free = streed.solve(Counted(), BITS, SAID, max_depth=2, search=search, **given)
    expected = optimum(task, Dataset.make(BITS, SAID, **given), max_depth=2)
    assert found.value == expected[0] > free.value
    assert found.status == "optimal"


@pytest.mark.compiles
def test_a_task_that_sets_limits_itself_is_refused() -> None:
    with pytest.raises(TaskError, match=r"LimitedErrors.limits are the task's own; set them by subject_to"):
        streed.solve(LimitedErrors(), BITS, SAID, woman=WOMAN, max_depth=1)


def limit(name: str, **members: Any) -> Any:
    return type(name, (Limit,), members)()


FIRST = {"statistics": lambda self, data: {"first": data.class_numbers}}


@pytest.mark.compiles
@pytest.mark.parametrize(
    ("limit", "said"),
    [
        (
            limit("Three", allows=lambda self, s: 3),  # here: three
            "Three.allows(State(rows=30, n=",
        ),
        (
            limit("Missing", **FIRST, allows=lambda self, s: s.second > 0),  # here: missing
            "Missing.allows(State(rows=30, first=",
        ),
        (
            limit("Named", statistics=lambda self, data: {"rows": data.y}, allows=lambda self, s: True),  # here: named
            "Named.statistics has the name 'rows'",
        ),
    ],
)
def test_errors_of_a_limit_name_the_limit_and_its_line(limit: Limit, said: str) -> None:
    with pytest.raises(TaskError) as caught:
        streed.solve(Counted().subject_to(MinSupport(1), limit), BITS, SAID, max_depth=1)
    first, second = str(caught.value).split("\n")
    assert first.startswith(said)
    assert second.endswith(f"here: {type(limit).__name__.lower()}")
    if said.startswith("Missing"):
        assert "no statistic 'second'; it has first, rows" in first


FIVE = [[0, 0], [0, 0], [0, 1], [1, 1], [1, 1]]
LABELS = [0, 0, 1, 1, 1]
SEXES = ["f", "m", "f", "m", "f"]


def leaves(task: Task, **given: Any) -> int | None:
    tree = streed.solve(task, FIVE, LABELS, max_depth=2, **given).tree
    return None if tree is None else tree.n_leaves


@pytest.mark.compiles
@pytest.mark.parametrize("task", [Accuracy(), Gini(), AbsoluteError()])
def test_any_task_takes_limits_with_statistics_of_their_own(task: Task) -> None:
    assert leaves(task) > 1  # type: ignore[operator]
    assert leaves(task.subject_to(MinSupportOf("class", 1))) == 1
    assert leaves(task.subject_to(MinSupportOf("sex", 1)), sex=SEXES) == 2
    assert leaves(task.subject_to(MinSupportOf("sex", 1), MinSupport(3)), sex=SEXES) == 1
    assert leaves(task.subject_to(MinSupportOf("sex", 2)), sex=SEXES) == 1
    assert leaves(task.subject_to(MinSupportOf("sex", 1), MinSupportOf("class", 1)), sex=SEXES) == 1


@pytest.mark.compiles
def test_row_weights_do_not_count() -> None:
    limited = Accuracy().subject_to(MinSupportOf("class", 2))
    heavy: dict[str, Any] = {"sample_weight": [9, 9, 9, 9, 9]}
    assert streed.solve(limited, FIVE, LABELS, max_depth=1).value == 2
    assert leaves(Accuracy().subject_to(MinSupportOf("class", 3))) is None
    assert streed.solve(limited, FIVE, LABELS, max_depth=1, **heavy).value == 18
    assert streed.solve(limited, FIVE, LABELS, max_depth=1, search="general", **heavy).value == 18


def test_support_that_is_refused() -> None:
    refused("sex", "MinSupportOf needs it", call=lambda: leaves(Accuracy().subject_to(MinSupportOf("sex", 1))))
    refused("values", "empty", call=lambda: MinSupportOf("sex", 1, values=[]))
    refused("sex", "is 'x'", call=lambda: leaves(Accuracy().subject_to(MinSupportOf("sex", 1, ["x"])), sex=SEXES))
    refused("min_rows", "0", call=lambda: MinSupportOf("sex", 0))
