"""What a task's methods depend on: the numbers that they read, and fingerprints that change with all the rest."""

from __future__ import annotations

import enum
import types
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import attrs
import numpy as np
import pytest

from streed.errors import TaskError
from streed.kernels.codegen.capture import fingerprint, numbers_of

SOURCE = """
import math

SCALE = 2
TABLE = np.array([1.5, 2.5])

def helper(x):
    return x * 3

def unused(x):
    return x

def method(self, s, k, offset=1, *, more=5):
    def within(x):
        return x + 7
    return helper(s) * SCALE + TABLE[k] + within(s) + offset + more + other.helper(s) + other.CONSTANT + Kind.A
"""

OTHER = "CONSTANT = 11\nUNUSED = 12\ndef helper(x):\n    return x + 13\n"

KIND = "A = 1\nB = 2\n"


def method(source: str = SOURCE, other: str = OTHER, kind: str = KIND) -> Any:
    """The method of modules with these sources."""
    module = types.ModuleType("other")
    exec(other, vars(module))
    members: dict[str, int] = {}
    exec(kind, {}, members)
    names: dict[str, Any] = {"np": np, "other": module, "Kind": enum.IntEnum("Kind", members)}
    exec(source, names)
    return names["method"]


def mark(function: Any) -> str:
    return fingerprint({"text": "some text", "method": function})


CHANGES = [
    ("SCALE = 2", "SCALE = 3"),
    ("SCALE = 2", "SCALE = 2.0"),
    ("[1.5, 2.5]", "[1.5, 2.25]"),
    ("[1.5, 2.5]", "[1.5, 2.5, 3]"),
    ("x * 3", "x * 4"),
    ("x + 7", "x + 8"),
    ("offset=1", "offset=2"),
    ("more=5", "more=6"),
    ("+ TABLE[k]", "- TABLE[k]"),
]


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_a_change_of_the_method_or_what_it_names_changes_its_fingerprint(old: str, new: str) -> None:
    assert old in SOURCE
    assert mark(method(SOURCE.replace(old, new))) != mark(method())


@pytest.mark.parametrize(("old", "new"), [("CONSTANT = 11", "CONSTANT = 10"), ("x + 13", "x + 14")])
def test_a_change_of_a_module_that_it_names_with_a_dot_does(old: str, new: str) -> None:
    assert old in OTHER
    assert mark(method(other=OTHER.replace(old, new))) != mark(method())


def test_what_is_not_named_does_not_matter() -> None:
    assert mark(method()) == mark(method())
    assert mark(method(SOURCE.replace("return x\n", "return 2 * x\n"))) == mark(method())
    assert mark(method("\n\n" + SOURCE)) == mark(method())
    assert mark(method(other=OTHER.replace("UNUSED = 12", "UNUSED = 13"))) == mark(method())


def test_which_of_two_helpers_is_named_where_matters() -> None:
    def a(x: Any) -> Any:
        return x

    def b(x: Any) -> Any:
        return -x

    def using(f: Any, g: Any, h: Any) -> Callable[[Any], Any]:
        return lambda s: f(s) + 2 * g(s) + 4 * h(s)

    marks = [mark(using(f, g, h)) for f in (a, b) for g in (a, b) for h in (a, b)]
    assert len(set(marks)) == len(marks)


# -- numbers -----------------------------------------------------------------------------------------------------------


@attrs.frozen
class Parameters:
    whole: Any = 3
    real: Any = 0.5
    fraction: Any = Fraction(1, 4)
    decimal: Any = Decimal("0.25")
    prices: Any = (1, 2, 3)
    rates: Any = (1, 0.5)
    table: Any = ((1, 2), (3, 4))
    text: Any = "no number"
    _hidden: Any = 7
    unread: Any = None


def read(self: Any, s: Any) -> Any:
    return self.whole + self.real + self.fraction + self.decimal + self.prices[0] + self.rates[0] + self.table[0, 0]


def test_numbers_by_kind() -> None:
    found = {number.name: (number.kind, number.value) for number in numbers_of(Parameters(), {"leaf_cost": read})}
    assert list(found) == ["decimal", "fraction", "prices", "rates", "real", "table", "whole"]
    assert found["whole"] == ("int", 3)
    assert found["real"] == ("real", 0.5)
    assert found["fraction"] == found["decimal"] == ("real", 0.25)
    kinds = {"prices": ("ints1", np.int64), "rates": ("reals1", np.float64), "table": ("ints2", np.int64)}
    for name, (kind, dtype) in kinds.items():
        assert found[name][0] == kind
        assert found[name][1].dtype == dtype
        assert found[name][1].tolist() == np.array(getattr(Parameters(), name)).tolist()


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(TaskError, match=r"Parameters\.text is 'no number', which native code cannot read"):
        numbers_of(Parameters(), {"leaf_cost": lambda self, s: self.text})
