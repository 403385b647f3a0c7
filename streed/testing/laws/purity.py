"""Markovian costs (STreeD, Prop. 4.3): what a state costs depends on the state and the action, and on nothing else.

Every law asks one question twice, each time right after another question. If the answers differ, something was
remembered that is not in the state: a counter, the sibling, the depth. And a state is the sums of the statistics over
its rows, whichever way it came about (Def. 4.1): one that is computed from several rows at once, such as a median, has
another sum in a subtree than the engine adds up. Constants of the whole data set belong into `bind`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
from hypothesis import strategies as st

from streed.testing.cases import Case, Violation, close, law, show, show_state


@attrs.frozen(eq=False)
class Question:
    """Something to ask a task, in words and as a call."""

    words: str
    ask: Callable[[], Any]


def _leaf(case: Case) -> Question:
    rows, k = case.rows(), case.draw_label()
    words = f"leaf_cost({show_state(case.state(rows))}, {k})"
    return Question(words, lambda: case.task.leaf_cost(case.state(rows), k))


def _branching(case: Case) -> Question:
    columns = range(max(case.data.n_columns, 1))
    rows = case.draw(st.integers(1, case.data.n_rows))
    path = tuple(sorted(case.draw(st.sets(st.sampled_from(columns)))))
    split = case.draw(st.sampled_from(columns))
    words = f"branching_cost(rows={rows}, path={path}, split={split})"
    return Question(words, lambda: case.task.branching_cost(rows, path, split))


def _operator(case: Case) -> Question:
    a, b = (case.leaf_cost(case.rows(), case.draw_label()) for _ in range(2))
    name, arguments = case.draw(
        st.sampled_from([("combine", (a, b)), ("better", (a, b)), ("subtract", (a, b)), ("feasible", (a,))])
    )
    words = f"{name}({', '.join(map(show, arguments))})"
    return Question(words, lambda: getattr(case.task, name)(*arguments))


def _among(case: Case, make: Callable[[Case], Question], question: Question) -> bool:
    """The question is asked after others, itself among them."""
    pool = [question, make(case), _leaf(case)]
    first, second = (case.draw(st.sampled_from(pool)) for _ in range(2))
    return _ask_twice(case, question, first, second)


def _ask_twice(case: Case, question: Question, first: Question, second: Question) -> bool:
    first.ask()
    one = question.ask()
    second.ask()
    other = question.ask()
    if one == other or (one != one and other != other):
        return True
    facts = [
        ("asked", question.words),
        (f"after {first.words}", show(one)),
        (f"after {second.words}", show(other)),
        ("expected", "the same answer, whatever was asked before"),
    ]
    raise Violation("the same question has two answers", *facts)


@law("leaf cost is Markovian", "STreeD, Prop. 4.3")
def _check_leaf_cost(case: Case) -> bool:
    """leaf_cost(s, k) depends on the sums in s and on k alone, not on other leaves or on what was asked before."""
    return _among(case, _leaf, _leaf(case))


@law("leaf cost ignores depth", "STreeD, Prop. 4.3")
def _check_depth(case: Case) -> bool:
    """leaf_cost(s, k) is the same wherever the leaf stands; only branching_cost may depend on the path."""
    return _ask_twice(case, _leaf(case), _branching(case), _branching(case))


@law("branching cost is Markovian", "STreeD, Prop. 4.3", unconcerned="branching costs nothing")
def _check_branching_cost(case: Case) -> bool:
    """branching_cost depends on its three arguments alone."""
    question = _branching(case)
    return question.ask() is not None and _among(case, _branching, question)


@law("operators are functions", "STreeD, Def. 4.1")
def _check_operators(case: Case) -> bool:
    """combine, better, subtract and feasible depend on their arguments alone."""
    return _among(case, _operator, _operator(case))


@law("statistics are additive", "STreeD, Def. 4.1 (t) and Def. B.2")
def _check_additive(case: Case) -> bool:
    """a row contributes to a sum what it contributes in every subtree: a statistic of a row depends on that row."""
    whole = case.task.statistics(case.data)
    sides = case.sides(2)
    for rows in [case.everything] if sides is None else sides:
        apart = case.task.statistics(case.data.subset(rows))
        if set(apart) != set(whole):
            told = [("all rows", ", ".join(whole)), (case.rows_text(rows), ", ".join(apart))]
            raise Violation("the statistics have other names on some of the rows", *told)
        for name, values in whole.items():
            among, alone = np.asarray(values), np.asarray(apart[name])
            if among.shape[1:] != alone.shape[1:]:
                told = [("all rows", str(among.shape)), (case.rows_text(rows), str(alone.shape))]
                raise Violation(f"the statistic {name!r} has another width on some of the rows", *told)
            for place, row in enumerate(rows):
                one, other = _plain(among[row]), _plain(alone[place])
                if not close(one, other):
                    told = [("among all rows", show(one)), (f"among {case.rows_text(rows)}", show(other))]
                    told += [("expected", "the same; compute what needs the whole data set in bind(data)")]
                    raise Violation(f"the statistic {name!r} of row {row} depends on the other rows", *told)
    return True


def _plain(entry: Any) -> Any:
    return tuple(np.ravel(entry).tolist()) if np.ndim(entry) else np.asarray(entry).item()
