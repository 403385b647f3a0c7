"""Tasks as users write them, of random shapes: generated statistics, leaf costs, operators, branching costs, limits.

A shape is a number; its class has parameters that are drawn for every problem, so that its kernels are compiled once.
"""

from __future__ import annotations

import functools
import linecache
import random
from typing import Any

import attrs
import numpy as np

from streed.task import Task
from tests.differential.volume.draws import (
    EDGES,
    Draw,
    Size,
    draw_columns,
    draw_frequency,
    draw_labels,
    draw_limits,
    draw_options,
)
from tests.differential.volume.problem import Problem

SHAPES = 80
"""How many different classes are drawn."""

_HEAD = """
import math
import attrs
import numpy as np
from typing import Any, ClassVar
from streed.task import Task

@attrs.frozen
class {name}(Task):
    {facts}
    a: Any
    b: Any

    def statistics(self, data):
        z = data.row_data["z"]
        return {{{statistics}}}

    def labels(self, data):
        return {labels}

    def leaf_cost(self, s, k):
        {leaf}
"""


@attrs.frozen
class Shape:
    """A class of tasks, and the data that it is for."""

    source: str
    n_classes: int
    whole: bool
    """Whether all numbers are whole, so that values are exact."""
    multiway: bool
    weighted: bool


def make_shape(number: int) -> Shape:
    """The shape of a number below SHAPES."""
    draw = random.Random(f"shape {number}")
    whole = draw.random() < 0.6
    n_classes = draw.choice((2, 2, 3, 4))
    statistics = ['"of": (data.class_numbers[:, None] == np.arange(data.n_classes)).astype(np.int64)']
    if draw.random() < 0.6:
        statistics.append('"z": z')
        if draw.random() < 0.5:
            statistics.append('"square": z * z')
    if draw.random() < 0.4:
        statistics.append('"pair": np.stack([z, np.abs(z)], axis=1)')
    has = {name: any(entry.startswith(f'"{name}"') for entry in statistics) for name in ("z", "square", "pair")}
    combine, better = _operator(draw, whole)
    lines = ["n = sum(s.of)", f"v = {_base(draw, whole, has)}"]
    if draw.random() < 0.4:
        lines += [f"if {draw.choice(('s.rows > 2', 's.of[0] > s.of[1]', 's.rows % 2 == 0'))}:",
                  f"    v += {draw.choice(('self.a', '1', 's.of[0]'))}"]  # fmt: skip
    if draw.random() < 0.2:
        lines.append(f"v = {draw.choice(('max(v, self.b)', 'min(v, 3 * self.b)', 'abs(v)'))}")
    if combine in ("product", "length"):
        lines.append("v = 1 + abs(v)" if whole or combine == "length" else "v = 1 + abs(v) / 16")
    lines.append("return v")
    source = _HEAD.format(
        name=f"Shape{number}",
        facts=f"maximize: ClassVar[bool] = {better}",
        statistics=", ".join(statistics),
        labels=draw.choice(("list(range(data.n_classes))", "list(range(data.n_classes))", '("one",)')),
        leaf="\n        ".join(lines),
    )
    source += _methods(draw, combine, better, whole)
    return Shape(source, n_classes, whole, draw.random() < 0.25, draw.random() < 0.25)


def _base(draw: Draw, whole: bool, has: dict[str, bool]) -> str:
    """The first part of a leaf cost."""
    choices = ["2 * (n - s.of[k])", "n - s.of[k] + self.a", "self.a * n - self.b * s.of[k]"]
    if has["z"]:
        choices += ["abs(s.z - self.a * k)", "max(s.z, self.b * k)", "s.z * (k - 1) + n"]
    if has["pair"]:
        choices += ["s.pair[0] * k + s.pair[1]", "max(s.pair[0], s.pair[1] - self.a * k)"]
    if whole:
        choices += ["(n - s.of[k]) // 2 + k", "(s.of[k] + self.a) % 3 + n - s.of[k]"]
    else:
        choices += ["math.sqrt(n - s.of[k] + 0.25)", "s.of[k] * (n - s.of[k]) / n"]
        if has["square"] and has["z"]:
            choices += ["max(s.square - s.z * s.z / n, 0.0)"] * 4
        if has["z"]:
            choices += ["math.log(1 + abs(s.z)) + n - s.of[k]", "math.exp(-abs(s.z) / n) * self.a"]
    return draw.choice(choices)


def _operator(draw: Draw, whole: bool) -> tuple[str, bool]:
    """The name of the operator, and whether larger values are better."""
    combine = draw.choice(("sum", "sum", "sum", "max", "min", "length" if not whole else "sum", "product"))
    return combine, draw.random() < 0.25


def _methods(draw: Draw, combine: str, better: bool, whole: bool) -> str:
    """The source of the other methods."""
    bodies = {"max": "max(a, b)", "min": "min(a, b)", "product": "a * b", "length": "math.sqrt(a * a + b * b)"}
    text = ""
    if combine in bodies:
        text += f"\n    def combine(self, a, b):\n        return {bodies[combine]}\n"
    if better:
        text += "\n    def better(self, a, b):\n        return a > b\n"
        text += "\n    def score(self, value, totals):\n        return value\n"
    priced = draw.random()
    if priced < 0.5 and combine in ("sum", "max", "min"):
        number = "self.b" if whole else "self.b / 4"
        price = draw.choice((number, "rows // 4", "1 + len(path)", f"split * {number}", "rows % 3 + split"))
        text += f"\n    def branching_cost(self, rows, path, split):\n        return {'-' if better else ''}({price})\n"
    return text


@functools.cache
def task_class(number: int) -> type[Task]:
    """The class of a shape, made once; its source can be read back, as that of a file."""
    name, source = f"<shape {number}>", make_shape(number).source
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope: dict[str, Any] = {"__name__": "shapes"}
    exec(compile(source, name, "exec"), scope)
    made = scope[f"Shape{number}"]
    assert isinstance(made, type)
    return made


def draw_user_task(draw: Draw, rng: np.random.Generator) -> Problem:
    """A problem of some shape, small enough for the reference."""
    number = draw.randrange(SHAPES)
    shape = make_shape(number)
    p = draw.randint(1, 4)
    size = Size("small", draw.randint(shape.n_classes + 1, 14), p, draw.choice((None, 0, 1, 2, 2, 2, 3)))
    if p > 2 and size.depth is None:
        size = size.no_deeper(2)
    if draw.random() < 0.06:
        size = Size("edge", draw.choice(EDGES), min(p, 3), draw.choice((1, 2)))
    X = np.minimum(draw_columns(draw, rng, size)[0], 1)
    if shape.multiway:
        X[:, 0] = rng.integers(0, 3, size.rows)
        X[:3, 0] = range(3)
    z = rng.integers(-4, 5, size.rows).tolist() if shape.whole else rng.normal(0, 2, size.rows).tolist()
    a, b = draw.randint(0, 5), draw.randint(0, 3)
    return Problem(
        task=f"task_class({number})({a if shape.whole else a / 2}, {b if shape.whole else b / 2})",
        X=X,
        y=draw_labels(draw, rng, X, shape.n_classes),
        sample_weight=rng.integers(1, 4, size.rows).tolist() if shape.weighted else None,
        frequency=draw_frequency(draw, rng, size._replace(kind="large" if size.rows > 20 else size.kind)),
        categorical=(0,) if shape.multiway else (),
        row_data={"z": z},
        limits=draw_limits(draw, size),
        options=draw_options(draw),
    )
