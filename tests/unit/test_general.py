"""The general search and fronts of every route, and trees that rise with chosen columns, against all trees."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any, ClassVar

import attrs
import numpy as np
import pandas as pd
import pytest

import streed
from streed.data import Dataset
from streed.drivers import Branches, General
from streed.errors import InputError, MismatchError, NotSeparableError
from streed.estimators import OptimalTreeClassifier
from streed.exact import Array
from streed.reference import Evaluation, OptimizationTask, every_tree, optimum
from streed.task import GeneralTask, State, Task, Totals
from streed.tasks import F1, ClassErrors, MinSupport, Misclassifications, MonotoneErrors, MonotoneMetric, SparseAccuracy
from streed.tree import Leaf, Node, Tree
from streed.tree.evaluation import check
from tests.unit.outcomes import refused
from tests.unit.specimens import chain
from tests.unusual_tasks import (
    ByOwnDominance,
    ClassCounts,
    Discounted,
    ErrorsByClass,
    FewOfEach,
    Gini,
    Lexicographic,
    Priced,
    Spread,
    WorstOfEach,
    general,
    random_data,
)


def test_costs_hidden_from_a_glance_are_searched_with_their_path() -> None:
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 2, (16, 3))
    data = Dataset.make(np.column_stack([codes, 1 - codes[:, 0]]), rng.integers(0, 2, 16))
    for task in (Discounted(), Discounted().subject_to(MinSupport(2))):
        found = optimum(task, data, max_depth=3)
        assert general(task, data, max_depth=3).value == found[0]


def test_equal_columns_of_different_price_are_not_the_same() -> None:
    column = [0, 0, 1, 1]
    result = general(Priced(), [[0, 0, c, c] for c in column], column)
    assert (result.value, result.tree.root.column) == (2, 2)
    dear_first = general(Dearer(), [[c, c] for c in column], column)
    assert dear_first.value == 1


@attrs.frozen
class Dearer(ClassCounts):
    """Errors, twice each, and 2 for a branch on column 0, 1 for one on column 1."""

    def leaf_cost(self, s: State, k: int) -> Any:
        return 2 * (sum(s.rows_of) - s.rows_of[k])

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return 2 - split


@attrs.frozen
class Orderly(ClassCounts):
    """Errors, where only the column after those above may be asked about: one tree of every depth."""

    def leaf_cost(self, s: State, k: int) -> Any:
        return sum(s.rows_of) - s.rows_of[k]

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return 0 if split == len(path) else 10**6

    def lower_bound(self, s: State) -> Any:
        return 0


def test_a_tree_of_hundreds_of_levels() -> None:
    _, data = chain(240)
    result = general(Orderly(), data.X, data.y)
    assert (result.value, result.status) == (0, "optimal")
    assert result.tree.depth == 240


@attrs.frozen(eq=False)
class Fickle(GeneralTask):
    """Costs that change with every call."""

    calls: list[int] = attrs.field(factory=lambda: [0])

    def rows_cost(self, data: Dataset, rows: Array, k: int) -> Any:
        self.calls[0] += 1
        return self.calls[0]


def test_a_tree_that_does_not_have_its_value_is_an_error() -> None:
    with pytest.raises(MismatchError, match="the search claimed"):
        general(Fickle(), random_data(8, 2), max_depth=1)


def test_neighbours_of_one_label_are_in_order() -> None:
    assert general(MonotoneErrors(["x0", "x1"]), [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 1], max_depth=2).value == 0


def test_of_equally_good_trees_the_shallowest_and_first() -> None:
    constant = general(Gini(), [[0, 0], [0, 1], [1, 0], [1, 1]], [0] * 4)
    assert constant.tree.n_branches == 0
    either = general(Gini(), [[0, 0, 0], [0, 0, 0], [1, 1, 1], [1, 1, 0]], [0, 0, 1, 1])
    assert either.tree.to_text().startswith("x0")


def test_best_first_search_meets_sides_that_were_solved_elsewhere() -> None:
    given = [[1, 1, 1], [1, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 0]], [1, 1, 2, 2, 2]
    assert streed.solve(SparseAccuracy(0.05), *given, search=General(Branches())).status == "optimal"


X = [[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)] * 2
Y = [0, 1, 1, 0, 1, 0, 0, 1, 0, 0, 1, 1, 1, 1, 0, 1]


@pytest.mark.parametrize("task", [FewOfEach(), FewOfEach(3), ErrorsByClass(), ByOwnDominance(), Lexicographic()])
def test_every_tree_of_a_front_can_be_saved_and_checked(task: Task) -> None:
    data = Dataset.make(X, Y, sample_weight=[0.5, 1] * 8)
    result = general(task, data, max_depth=2)
    assert result.front
    for value, tree in result.front:
        again = Tree.from_json(tree.to_json())
        assert again == tree
        assert (again.claims.value, again.claims.status) == (value, "optimal")
        checks = check(tree, data)
        assert all(each.holds for each in checks)
        assert tree.claims is not None
        for wrong in (0, (*value, 0), tuple(x + 1 for x in value)):
            lie = attrs.evolve(tree, claims=attrs.evolve(tree.claims, value=wrong, upper_bound=wrong))
            assert {each.what for each in check(lie, data) if not each.holds} >= {"value"}


@attrs.frozen
class BestProduct(ErrorsByClass):
    """The front of errors by class; its best solution has the least product, shown as a number to be maximised."""

    maximize: ClassVar[bool] = True
    size: int = streed.task.base.bound(0)

    def bind(self, data: Dataset) -> BestProduct:
        return attrs.evolve(self, size=data.size)

    def score(self, value: Any, totals: Any) -> Any:
        return -Fraction(value[0] * value[1]) / self.size


def test_the_score_chooses_from_the_front() -> None:
    result = general(BestProduct(), X, Y, max_depth=1)
    plain = general(ErrorsByClass(), X, Y, max_depth=1)
    assert len(result.front) == len(plain.front) > 1
    assert result.value == max(-a * b / 16 for (a, b, _), _ in plain.front)
    assert type(result.value) in {int, float}
    assert result.lower_bound == result.value == result.upper_bound


def test_states_know_their_rows_where_the_task_reads_them() -> None:
    data = Dataset.make([[0], [0], [0], [1], [1]], [1, 2, 6, 10, 12])
    o = OptimizationTask(Spread(), data)
    states = [o.statistics(o.t(o.s0, 0)[1]), Evaluation(Spread(), data).state([4, 3])]
    for state in states:
        assert state.members.tolist() == [3, 4]
        assert state.members.dtype == np.int64
        assert state.data is data
        assert state.rows == 2
    totals = Totals(Spread().subject_to(MinSupport(2)), data)
    assert totals.members.tolist() == [0, 1, 2, 3, 4]
    assert totals.data is data


RNG = np.random.default_rng(11)
ROWS = RNG.integers(0, 2, (30, 4))
SAID = (ROWS[:, 0] & ROWS[:, 1]) ^ (RNG.random(30) < 0.25)
Y3 = RNG.integers(0, 3, 30)


def test_what_the_engine_cannot_take_goes_the_general_way() -> None:
    for task in (WorstOfEach(), ByOwnDominance(), 0 * streed.tasks.Gini()):
        assert streed.solve(task, ROWS, SAID, max_depth=1).stats["route"] == "general"
    wide = streed.solve(ClassErrors(), ROWS, SAID, sample_weight=[2**50 + row for row in range(30)], max_depth=1)
    assert (wide.stats["route"], wide.status) == ("general", "optimal")


@pytest.mark.compiles
def test_a_stopped_front_has_points_and_bounds() -> None:
    rng = np.random.default_rng(0)
    many, labels = rng.integers(0, 2, (1500, 30)), rng.integers(0, 2, 1500)
    perfect = streed.solve(ClassErrors(), many[:200], labels[:200], max_depth=6, time_limit=60)
    assert (perfect.status, perfect.front[0][0], len(perfect.front)) == ("optimal", (0, 0), 1)
    result = streed.solve(ClassErrors(), many, labels, max_depth=6, time_limit=1.5)
    assert (result.status, result.stats["stopped"]) == ("feasible", "time")
    assert len(result.front) >= 2
    points = [value for value, _ in result.front]
    assert not any(a != b and a[0] <= b[0] and a[1] <= b[1] for a, b in itertools.permutations(points, 2))
    for value, tree in result.front[:5]:
        predicted = tree.predict(many)
        assert value == (((predicted == 1) & (labels == 0)).sum(), ((predicted == 0) & (labels == 1)).sum())
    lower = streed.solve(ClassErrors(), many, labels, max_depth=3)
    assert min(map(sum, points)) < min(sum(value) for value, _ in lower.front)  # by the lookahead, at depth six
    for bound in result.stats["missing"]:
        least = min(sum(w * x for w, x in zip(bound["weights"], value, strict=True)) for value in points)
        assert least >= bound["bound"]


def test_refused_input() -> None:
    refused("y", "same label", call=lambda: streed.solve(ClassErrors(), ROWS, [1] * 30))
    refused("y", "7 classes", "6 at most", call=lambda: streed.solve(ClassErrors(), ROWS, np.arange(30) % 7))
    refused("y", "3 classes", call=lambda: streed.solve(F1(), ROWS, Y3))
    with pytest.raises(NotSeparableError, match="class 1"):
        streed.solve(MonotoneMetric(lambda *v: v[1]), ROWS, Y3, max_depth=1)
    with pytest.raises(InputError):
        streed.solve(MonotoneMetric(lambda *v: v[0]), ROWS, np.arange(30) % 7, max_depth=1)


def labels_of(node: Node) -> list[int]:
    return [node.label] if isinstance(node, Leaf) else [k for child in node.children for k in labels_of(child)]


def in_order(node: Node, signs: dict[int, int]) -> bool:
    """The definition; `signs`: 1 of the columns that leaves rise with, -1 of those that they fall with."""
    if isinstance(node, Leaf):
        return True
    sign = signs.get(node.column, 0)
    low, high = node.children[:: sign or 1][:2]
    rises = sign == 0 or max(labels_of(low)) <= min(labels_of(high))
    return rises and all(in_order(child, signs) for child in node.children)


@pytest.mark.compiles
@pytest.mark.parametrize("seed", range(40))
def test_native_code_finds_what_the_plain_recursion_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 40))
    columns: dict[str, Any] = {
        "x": rng.integers(0, 6, n).astype(float),
        "z": rng.normal(size=n).round(1),
        "b": rng.integers(0, 2, n),
        "gap": np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 5, n)),
        "city": rng.choice(["r", "s", "t"], n),
    }
    chosen = rng.permutation(["x", "z", "b"])
    split = int(rng.integers(0, 4))
    task = MonotoneErrors(
        chosen[:split].tolist(),
        chosen[split : split + 1].tolist(),
        cost_complexity=Fraction(int(rng.integers(0, 3)), 2),
    )
    given: dict[str, Any] = {"min_leaf": int(rng.integers(1, 4)), "max_cuts": 4, "max_depth": int(rng.integers(0, 3))}
    if seed % 3 == 0:
        given["frequency"] = rng.integers(0, 3, n) + 1
    elif seed % 3 == 1:
        given["sample_weight"] = rng.integers(1, 5, n) / 4
    y = rng.integers(0, int(rng.integers(2, 4)), n)
    table = {name: columns[name] for name in rng.permutation(list(columns))[: int(rng.integers(3, 6))]}
    if any(name not in table for name in (*task.increasing, *task.decreasing)):
        table = columns
    if seed % 4 == 0:
        table = {name: (column > 2).astype(int) for name, column in table.items() if name in ("x", "b")} | {
            "z": columns["b"]
        }
    found = streed.solve(task, table, y, **given)
    plain = streed.solve(task, table, y, search="general", **given)
    assert (found.status, found.value) == (plain.status, plain.value)
    assert found.tree is None or found.stats["route"] == "in order"
    assert found.tree is None or found.lower_bound == found.value
    if found.tree is not None:
        assert sum(leaf.cost for leaf in found.tree.leaves()) <= found.value
        names, signs = list(table), {**dict.fromkeys(task.increasing, 1), **dict.fromkeys(task.decreasing, -1)}
        assert in_order(found.tree.root, {names.index(name): sign for name, sign in signs.items()})
        of_rows = {name: given[name] for name in ("frequency", "sample_weight", "max_cuts") if name in given}
        assert all(each.holds for each in check(found.tree, streed.Dataset.make(table, y, **of_rows)))


SIGNS: list[tuple[Any, dict[int, int]]] = [
    (None, {}),
    ([0, 0, 0], {}),
    ([1, 0, 0], {0: 1}),
    (np.array([-1.0, 0, 1]), {0: -1, 2: 1}),
    ((0, 1, -1), {1: 1, 2: -1}),
    ({"b": 1, "a": -1, "c": 0}, {0: -1, 1: 1}),
]


@pytest.mark.compiles
@pytest.mark.parametrize(("cst", "signs"), SIGNS)
@pytest.mark.parametrize("names", [["no", "yes"], [2, 10, 30]])
def test_the_classifier_takes_what_scikit_learn_calls_monotonic_cst(cst: Any, signs: Any, names: list[Any]) -> None:
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.integers(0, 2, (14, 3)), columns=["a", "b", "c"])
    numbers, weights = rng.integers(0, len(names), 14), rng.integers(1, 4, 14)
    model = OptimalTreeClassifier(max_depth=2, cost_complexity=0.05, monotonic_cst=cst)
    model.fit(table, np.array(names)[numbers], sample_weight=weights)
    data = streed.Dataset.make(table, numbers, sample_weight=weights)
    evaluation = Evaluation(Misclassifications(), data)
    every = [root for root in every_tree(Misclassifications(), data, max_depth=2) if in_order(root, signs)]
    costs = [evaluation.cost(root) / int(weights.sum()) + 0.05 * evaluation.shape(root)[1] for root in every]
    assert model.optimal_
    assert model.value_ == pytest.approx(min(costs), abs=1e-12)
    assert in_order(model.tree_.root, signs)


@pytest.mark.compiles
@pytest.mark.parametrize(
    ("cst", "found", "more"),
    [
        ([1, 0, 0], "X has 2 features", {}),
        ([2, 0], "Observed values: [2]", {}),
        ("increasing", "give one of -1, 0 and 1", {}),
        ({"z": 1}, "unexpected feature names: ['z']", {}),
        ({"sex": 1}, "texts", {}),
        ([0, -1], "texts", {}),
        ([1, 0], "a task is given", {"task": "f1"}),
        ([1, 0], "that of their letters", {"y": ["low", "mid", "top", "low"]}),
    ],
)
def test_what_is_no_monotonic_cst(cst: Any, found: str, more: dict[str, Any]) -> None:
    table = pd.DataFrame({"age": [1.5, 2.0, 3.0, 1.0], "sex": ["f", "m", "m", "f"]})
    y, task = more.get("y", [0, 1, 1, 0]), more.get("task")
    refused("monotonic_cst", found, call=lambda: OptimalTreeClassifier(task, monotonic_cst=cst).fit(table, y))
