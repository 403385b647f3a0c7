"""End to end: the same optimum by every way there is to find it (STreeD, Thm 4.7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from streed.errors import MismatchError, TaskError
from streed.problem import Driver
from streed.reference import best_trees, optimal_front
from streed.task import Task, Totals, Value
from streed.testing.cases import Case, Violation, close, law, show, show_state

_FEW_TREES = 6
"""Rows: of more, there are too many trees to try them all at every step of a search for a small counterexample."""


def _compile() -> None:
    """Importing the drivers and compiling takes longer than any law; it is nobody's counterexample."""
    import streed
    from streed.tasks import Accuracy

    streed.solve(Accuracy(), [[0], [1]], [0, 1], max_depth=2)


@law(
    "native equals Python",
    "contract: leaf_cost",
    unconcerned="no native kernel",
    prepare=_compile,
    needs_engine=True,
    effort=0.4,
)
def _check_native(case: Case) -> bool:
    """the compiled leaf_cost gives the numbers that the Python method gives."""
    from streed.encoding.generated import native_values

    states = [case.state(case.rows()), case.state(case.everything)]
    try:
        native = native_values(case.task, case.data, states)
    except TaskError:  # no kernel is made of it
        return False
    for s, costs in zip(states, native, strict=True):
        for k, compiled in enumerate(costs):
            python = case.task.leaf_cost(s, k)
            if not close(python, compiled):
                told = [("s", show_state(s)), (f"leaf_cost(s, {k}) in Python", show(python))]
                told += [("compiled", repr(compiled))]
                told += [("expected", "equal numbers; compiled integers have 64 bits, and there are no fractions")]
                raise Violation("leaf_cost gives another number when it is compiled", *told)
    return True


def _limits(case: Case) -> dict[str, Any]:
    """Limits on trees, small enough to try all of them."""
    n_labels = len(case.labels)
    depth = case.draw(st.integers(0, 2 if n_labels <= 4 else 1))
    return {"max_depth": depth, "min_leaf": min(case.draw(st.sampled_from((1, 1, 2))), case.data.n_rows)}


@law("recursion equals enumeration", "STreeD, Thm 4.7 and Eq. 8", effort=0.4, max_rows=_FEW_TREES, after_all=True)
def _check_recursion(case: Case) -> bool:
    """solving subtree by subtree gives the optimum of all trees."""
    limits = _limits(case)
    by_recursion = [value for value, _ in optimal_front(case.given, case.data, **limits)]
    by_trees = [(value, tree) for value, tree in best_trees(case.given, case.data, **limits)]
    missed = [(v, tree) for v, tree in by_trees if not any(case.ties(v, found) for found in by_recursion)]
    wrong = [v for v in by_recursion if not any(case.ties(v, value) for value, _ in by_trees)]
    if missed or wrong:
        facts = [("limits", _words(limits)), ("by subtrees", f"optimal {_list(by_recursion)}")]
        facts += [("by trying all trees", f"{show(value)}, of {case.tree_text(tree)}") for value, tree in missed]
        facts += [("not optimal", show(value)) for value in wrong]
        raise Violation("solving subtree by subtree misses the optimum", *facts)
    return True


def _words(limits: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in limits.items())


def _list(values: Sequence[Value]) -> str:
    return ", ".join(map(show, values)) or "nothing: no tree is feasible"


def accepting(task: Task) -> tuple[dict[str, type[Driver]], dict[str, str]]:
    """The drivers that accept the task by name, and why the others do not."""
    from streed.drivers import drivers

    accepted, refused = {}, {}
    for name, driver in drivers().items():
        try:
            driver().check(task)
        except TaskError as error:
            refused[name] = str(error)
        else:
            accepted[name] = driver
    return accepted, refused


@law(
    "drivers equal recursion",
    "STreeD, Eq. 8",
    unconcerned="no driver accepts the task",
    prepare=_compile,
    needs_engine=True,
    effort=4,
    after_all=True,
)
def drivers_agree(case: Case) -> bool:
    """every driver that accepts the task finds the optimum that the recursion finds."""
    import streed

    accepted, _ = accepting(case.given)
    limits = _limits(case)
    totals = Totals(case.given, case.data)

    def score(value: Value) -> Any:
        return case.given.score(value, totals)

    front = [score(value) for value, _ in optimal_front(case.given, case.data, **limits)]
    best = (max if case.given.larger_is_better else min)(front, default=None)
    for name in accepted:
        try:
            result = streed.solve(case.given, case.data, search=name, **limits)
        except MismatchError as error:
            raise Violation(
                f"the driver {name!r} found a tree of another value than it says",
                ("limits", _words(limits)),
                ("found", str(error)),
            ) from error
        facts = (
            ("limits", _words(limits)),
            (f"streed.solve(..., search={name!r})", f"{result.status}, {result.value!r}"),
            ("by the recursion", "infeasible" if best is None else show(best)),
        )
        if best is None:
            if result.status != "infeasible":
                raise Violation(f"the driver {name!r} finds a tree, and there is none", *facts)
            continue
        if result.status != "optimal" or not close(result.value, best):
            raise Violation(f"the driver {name!r} gives another optimum", *facts)
        for value, tree in result.front:
            if not any(close(value, each) for each in front):
                found = f"{show(value)}, of {case.tree_text(tree.root)}"
                raise Violation(f"the front of the driver {name!r} holds another value", *facts, ("found", found))
    return bool(accepted)
