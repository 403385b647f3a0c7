"""Every exported form of a tree, run on raw tables that are hostile, and compared with the tree itself.

Names and values have quotes, line breaks, signs of other scripts and words of SQL; there are gaps everywhere, values
that no tree has seen, dates of every form, ordered categories, and columns with a child per category. What a row should
get is found by walking the tree node by node and reading one value at a time. Where the tree has no answer, SQL must
give NULL and Python must refuse. Engines that are not installed are left out, and said to be.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pandas as pd

from streed.binarize import make_recipe
from streed.data.questions import TableRecipe
from streed.data.reading import read_column
from streed.errors import InputError
from streed.tree import Branch, Leaf, Node, Tree
from tests.export_forms import CANNOT, FORMS, NO_ANSWER, Case, available, mismatches

NAMES = ("age", "a b", 'say "no"', "it's", "größe", "名前", "x<=3", "select", "a\\b", "{row}", "line\nbreak", "%s", "é")
TEXTS = (
    "f",
    "m",
    "O'Brien",
    'say "hi"',
    "ü",
    "日本",
    "a b",
    "a\\n",
    "%",
    "{x}",
    "null",
    "None",
    "'; --",
    "1",
    "2.5",
    "",
)
LABELS: Any = (("no", "yes"), (0, 1, 2), ("l'un", '"2"', "日本"), (-1, 1), (False, True), (0.1, 2.5))


def draw(rng: np.random.Generator) -> Case:
    """A table drawn at random, a tree grown on it without a search, and new rows with values that it has not seen."""
    n = int(rng.integers(12, 60))
    names = [str(name) for name in rng.permutation(NAMES)[: rng.integers(1, 6)]]
    makers = {name: _column(rng) for name in names}
    held = {name: [make() for _ in range(n)] for name, (_, make, _) in makers.items()}
    table = {name: _steps(values, rng) if makers[name][0] == "TEXT" else values for name, values in held.items()}
    listed = [name for name in names if makers[name][0] == "BIGINT" and rng.random() < 0.3]
    settings: dict[str, Any] = {
        "n_thresholds": int(rng.integers(1, 6)),
        "categories": str(rng.choice(["one-hot", "multiway"])),
        "categorical": listed,
        "max_categories": int(rng.integers(2, 12)),
    }
    unseen = str(rng.choice(["error", "ignore"]))
    recipe = attrs.evolve(make_recipe(table, **settings), unseen=unseen)
    labels = LABELS[rng.integers(len(LABELS))]
    y = [labels[k] for k in rng.integers(0, len(labels), n)]
    y[: len(labels)] = labels
    data = recipe.dataset(recipe.encode(table), y)
    tree = Tree.grown(_grow(data, np.arange(n), int(rng.choice([0, 2, 3, 3, 4])), rng), data)
    new = {
        name: [_changed(makers[name], rng) for _ in range(20)] + held[name][:10]
        for name in map(str, rng.permutation(names))
    }
    rows = [dict(zip(new, row, strict=True)) for row in zip(*new.values(), strict=True)]
    known = {column.name: column.known for column in recipe.columns}
    gaps = [{n: None if value == "" and "" not in known[n] else value for n, value in row.items()} for row in rows]
    expected, of_texts = ([_walk(tree, recipe, row) for row in each] for each in (rows, gaps))
    return Case(tree, new, expected, {name: made[0] for name, made in makers.items()}, of_texts)


def _steps(values: list[Any], rng: np.random.Generator) -> Any:
    """The texts as ordered categories, some of which no row has, in an order drawn at random."""
    return pd.Series(pd.Categorical(values, categories=list(rng.permutation(TEXTS)), ordered=True))


def _column(rng: np.random.Generator) -> tuple[str, Callable[[], Any], Callable[[], Any]]:
    """(its type in a database, a function that draws a value, one that draws a value which may be new)."""
    gaps = float(rng.choice([0.0, 0.0, 0.2]))
    both: tuple[str, Callable[[], Any], Callable[[], Any]]
    kind = rng.choice(["text", "whole", "real", "truth", "date", "moment", "written", "duration", "steps", "large"])

    def with_gaps(make: Callable[[], Any], share: float) -> Callable[[], Any]:
        return lambda: None if rng.random() < share else make()

    def first(k: int) -> dt.date:
        return dt.date(2020, 1, 1) + dt.timedelta(days=int(rng.integers(-k, k)))

    def moment(k: int) -> dt.datetime:
        later = dt.timedelta(seconds=int(rng.integers(-k, k)), microseconds=int(rng.integers(3)))
        return dt.datetime(2020, 1, 1) + later  # noqa: DTZ001 - dates without a zone

    if kind in ("text", "steps"):
        chosen = [str(text) for text in rng.permutation(TEXTS)[: rng.integers(2, 9)]]
        both = (
            "TEXT" if kind == "steps" else "VARCHAR",
            lambda: chosen[rng.integers(len(chosen))],
            lambda: TEXTS[rng.integers(len(TEXTS))],
        )
    elif kind == "whole":
        both = ("BIGINT", lambda: int(rng.integers(-5, 6)), lambda: int(rng.integers(-9, 10)))
    elif kind == "large":
        # Most of these are no doubles.
        both = ("BIGINT", lambda: 2**60 + int(rng.integers(-9, 10)), lambda: 2**60 + int(rng.integers(-300, 300)))
    elif kind == "real":
        scale = float(rng.choice([1e-9, 1.0, 1e12]))
        pool = [float(x) for x in rng.normal(0, scale, 8)]
        # Neighbouring floats have no number between them.
        pool += [float(np.nextafter(pool[0], np.inf))]
        both = (
            "DOUBLE",
            lambda: pool[rng.integers(len(pool))],
            lambda: float(rng.choice([*pool, rng.normal(0, scale)])),
        )
    elif kind == "truth":
        both = ("BOOLEAN", lambda: bool(rng.random() < 0.5), lambda: bool(rng.random() < 0.5))
    elif kind == "date":
        both = ("DATE", lambda: first(9), lambda: first(20))
    elif kind == "moment":
        both = ("TIMESTAMP", lambda: moment(99), lambda: moment(200))
    elif kind == "duration":
        spans = [dt.timedelta(microseconds=int(x)) for x in rng.integers(-(10**12), 10**12, 6)]
        spans += [spans[0] + dt.timedelta(microseconds=1), dt.timedelta(days=int(rng.integers(-900, 900)))]
        spans_or_any = [*spans, dt.timedelta(seconds=float(rng.normal(0, 10**6)))]
        both = ("INTERVAL", lambda: spans[rng.integers(8)], lambda: spans_or_any[rng.integers(9)])
    else:
        form = str(rng.choice([" ", "T"]))
        both = ("VARCHAR", lambda: moment(99).isoformat(form), lambda: moment(200).isoformat(form))
    name, make, make_new = both
    return name, with_gaps(make, gaps), with_gaps(make_new, max(gaps, 0.1))


def _changed(made: tuple[str, Callable[[], Any], Callable[[], Any]], rng: np.random.Generator) -> Any:
    return made[2]() if rng.random() < 0.5 else made[1]()


def _grow(data: Any, rows: Any, depth: int, rng: np.random.Generator) -> Node:
    splits = [j for j in range(data.n_columns) if len(set(data.X[rows, j].tolist())) > 1]
    if not depth or not splits or rng.random() < 0.05:
        return Leaf(int(rng.integers(data.n_classes)), len(rows), 0)
    j = int(rng.choice(splits))
    width = len(data.column(j).categories) if data.column(j).multiway else 2
    children = tuple(_grow(data, rows[data.X[rows, j] == code], depth - 1, rng) for code in range(width))
    return Branch(j, children, len(rows))


def _walk(tree: Tree, recipe: TableRecipe, row: dict[str, Any]) -> Any:
    """What the row should get: one value read at each node that it passes."""
    node = tree.root
    while isinstance(node, Branch):
        place = recipe.sources[node.column]
        each = recipe.columns[place]
        raw = read_column([row[each.name]], each.name)
        try:
            codes = each.answers(raw, recipe.unseen)
        except InputError:
            return NO_ANSWER
        node = node.children[codes[0, node.column - recipe.sources.index(place)]]
    return tree.labels[node.label]


def wrong(seed: int, number: int) -> list[str]:
    """What the forms that can be run here answer otherwise than the tree."""
    case = draw(np.random.default_rng([seed, number]))
    forms = {name: FORMS[name] for name in available()}
    return [f"{name}: {said}" for name, said in mismatches(case, forms) if said != CANNOT]
