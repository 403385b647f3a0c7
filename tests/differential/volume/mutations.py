"""Changes to saved trees and to tables: by their structure, with values that hurt, and byte by byte."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

LONG = "9" * 5_000

NUMBERS: list[Any] = [0, -1, 1, 7, 2**63, -(2**63), 10**400, 2.0, 0.5, -0.0, 1e308, 5e-324, True]

TEXTS = ["", "1/0", "3/7", "1e30000000", "Infinity", "NaN", "\u0000", "a\nb", "\u2028", "\x1b[31m", "'", "]]>"]
TEXTS += ["<b>", "${x}", LONG, "\ufffe", "streed.tasks.accuracy", "Accuracy", "no", "outlook", "group", '"; DROP']

TYPED: list[Any] = [{"int": 1}, {"float": 1.0}, {"bool": True}, {"str": "no"}, {"none": True}, {"fraction": "1/3"}]
TYPED += [{"float": 10**400}, {"fraction": "1/0"}, {"fraction": LONG + "/7"}, {"int": 2.0}, {"str": 5}, {}]

CLASSES = [("accuracy", "WeightedAccuracy"), ("cost_sensitive", "CostSensitive"), ("cost_tables", "CostTable")]
CLASSES += [("cost_tables", "TestCost"), ("linear", "LinearLeaves"), ("metrics", "FBeta"), ("mdl", "BayesianTree")]
CLASSES += [("quantile", "QuantileError"), ("support", "MinSupport"), ("policy", "PolicyValue"), ("", "Accuracy")]
CLASSES = [(f"streed.tasks.{module}", name) for module, name in CLASSES]
CLASSES += [("subprocess", "Popen"), ("os", "system"), ("builtins", "eval"), ("streed.tasks.accuracy", "Path")]
CLASSES += [("streed.task.objective", "Objective"), ("streed.task.algebra.sums", "WeightedSum")]

PARAMETERS = ["costs", "lam", "task", "parts", "class_weight", "beta", "limit", "notion", "min_rows", "matrix", "tests"]
PARAMETERS += ["method", "quantile", "function", "ridge", "concentration", "positive", "feature", "columns", "classes"]


def mutate_tree(rng: random.Random, base: bytes, secret: str) -> bytes:
    """A saved tree with one to four changes; `secret` is a path that some of them name."""
    if rng.random() < 0.25:
        return _bytes_changed(rng, base)
    document = json.loads(base)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        document = _changed(rng, document, secret)
    text = json.dumps(document, ensure_ascii=rng.random() < 0.5)
    return _text_changed(rng, text).encode("utf-8", "surrogatepass")


def _changed(rng: random.Random, document: Any, secret: str) -> Any:
    document = copy.deepcopy(document)
    if rng.random() < 0.3 and isinstance(document, dict) and isinstance(document.get("claims"), dict):
        document["claims"]["task"] = _task(rng, secret, document["claims"].get("task"))
        return document
    places = list(_places(document))
    holder, key = rng.choice(places)
    kind = rng.randrange(8)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, list):
        holder.insert(rng.randrange(len(holder) + 1), copy.deepcopy(holder[key]))
    elif kind == 2 and isinstance(holder, list):
        rng.shuffle(holder)
    elif kind == 3 and isinstance(holder, dict):
        holder[rng.choice([*holder, *TEXTS[:12], "shows", "cost"])] = _value(rng, secret)
    elif kind == 4:
        other, place = rng.choice(places)
        holder[key] = copy.deepcopy(other[place])
    elif isinstance(holder[key], dict) and set(holder[key]) <= {"int", "str", "float", "bool", "none", "fraction"}:
        holder[key] = rng.choice(TYPED)
    elif isinstance(holder[key], (int, float)) and rng.random() < 0.6:
        holder[key] = rng.choice([*NUMBERS, holder[key] + rng.choice([-1, 1])])
    elif isinstance(holder[key], str) and rng.random() < 0.6:
        holder[key] = rng.choice([*TEXTS, secret])
    else:
        holder[key] = _value(rng, secret)
    return document


def _task(rng: random.Random, secret: str, known: Any) -> Any:
    """A description of a task that may be anything."""
    module, name = rng.choice(CLASSES)
    given = {rng.choice(PARAMETERS): _parameter(rng, secret, known) for _ in range(rng.choice([0, 1, 1, 2, 3]))}
    return {"class": name, "module": module, "parameters": given}


def _parameter(rng: random.Random, secret: str, known: Any) -> Any:
    return rng.choice(
        [
            secret,
            rng.choice(NUMBERS),
            rng.choice(TEXTS),
            {"fraction": rng.choice(TEXTS)},
            {"items": [[rng.choice(["no", "yes", 1, [1], {"items": []}]), rng.choice(NUMBERS)]]},
            {"items": rng.choice([1, [[1]], [[1, 2], [1.0, 3]]])},
            [rng.choice(NUMBERS), rng.choice(TEXTS)],
            [[0, 1], [rng.choice(NUMBERS), 0]],
            [known, known],
            known,
            None,
            {
                "class": "CostTable",
                "module": "streed.tasks.cost_tables",
                "parameters": {"matrix": [[0, 1], [5, 0]], "tests": secret},
            },
        ]
    )


def _value(rng: random.Random, secret: str) -> Any:
    return rng.choice(
        [
            None,
            secret,
            [],
            {},
            rng.choice(NUMBERS),
            rng.choice(TEXTS),
            rng.choice(TYPED),
            [rng.choice(NUMBERS)] * rng.choice([1, 2, 300]),
            _nested(rng.choice([5, 60, 250])),
            {"a": {"b": rng.choice(TEXTS)}},
        ]
    )


def _nested(depth: int) -> Any:
    made: Any = 1
    for _ in range(depth):
        made = [made]
    return made


def _places(thing: Any) -> Any:
    """(holder, key) of everything that the document holds."""
    for key in list(thing) if isinstance(thing, dict) else range(len(thing)):
        yield thing, key
        if isinstance(thing[key], (dict, list)):
            yield from _places(thing[key])


def _text_changed(rng: random.Random, text: str) -> str:
    """Now and then what `json.dumps` does not write."""
    if rng.random() > 0.2:
        return text
    numbers = ["NaN", "Infinity", "-Infinity", "1e999", LONG, "1." + LONG, "1e-999", "-0", "01", "1.0", "[" * 5_000]
    kind = rng.randrange(5)
    if kind == 0:
        return text.replace(": 1", f": {rng.choice(numbers)}", 1)
    if kind == 1:
        return text.replace(": 0", f": {rng.choice(numbers)}", rng.choice([1, 3]))
    if kind == 2:
        return text.replace('"rows": ', '"rows": 3, "rows": ', 1)
    if kind == 3:
        return text.replace('"name": "', '"name": "' + rng.choice(["\\ud800", "\\u0000", "\\u001b", "\x01"]), 1)
    return rng.choice(
        ["\ufeff" + text, text + text, text[: rng.randrange(len(text))], "[" * 100_000, " " * 1_000 + text]
    )


def _bytes_changed(rng: random.Random, base: bytes) -> bytes:
    data = bytearray(base)
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(6)
        if kind == 0 and at < len(data):
            data[at] = rng.randrange(256)
        elif kind == 1:
            del data[at : at + rng.choice([1, 3, 30])]
        elif kind == 2:
            data[at:at] = bytes(rng.randrange(256) for _ in range(rng.choice([1, 4])))
        elif kind == 3:
            end = rng.randrange(len(data) + 1)
            data[at:at] = data[min(at, end) : max(at, end)][:200]
        elif kind == 4:
            data[at:at] = rng.choice([b"\xff\xfe", b"\xef\xbb\xbf", b"\x00", b"\r", b"\n", b'"', b",", b"\xed\xa0\x80"])
        elif at < len(data) and chr(data[at]).isdigit():
            data[at : at + 1] = rng.choice([b"0", b"9" * 30, LONG.encode(), b"1e999", b"-1", b"0.5", b"1e-400"])
        if not data:
            return b""
    return bytes(data)


CELLS = ["", "?", "NaN", "-inf", "1e999", "-1", "0", "2", "0.1", "1e-320", LONG, "0x10", "01", "a", "no", "\u0000"]
CELLS += ["\x1b", '"', 'a"b', '"a\nb"', "'", "\\", "é", "\u2028", "2020-13-01", "9999-12-31", "x" * 3_000, "<b>&"]
CELLS += ["2020-01-01T00:00:00+99:99", "missing", "=1+1"]


def mutate_table(rng: random.Random, base: bytes) -> bytes:
    """A table with one to ten changes."""
    if rng.random() < 0.35:
        return _bytes_changed(rng, base)
    rows = [line.split(",") for line in base.decode().splitlines()]
    for _ in range(rng.choice([1, 1, 2, 4, 10])):
        row = rng.randrange(len(rows))
        column = rng.randrange(len(rows[row])) if rows[row] else 0
        kind = rng.randrange(9)
        if kind < 4 and rows[row]:
            rows[row][column] = rng.choice(CELLS)
        elif kind == 4:
            value = rng.choice(CELLS)
            rows = [[value if j == column else cell for j, cell in enumerate(cells)] for cells in rows]
        elif kind == 5:
            rows.insert(row, list(rng.choice(rows)))
        elif kind == 6 and len(rows) > 1:
            del rows[row]
        elif kind == 7:
            rows = [[cell for j, cell in enumerate(cells) if j != column] for cells in rows]
        else:
            width = rng.choice([1, 1, 3, 400])
            rows = [[*cells, *[cells[0] if cells else ""] * width] for cells in rows]
            if rng.random() < 0.7:
                rows[0] = [f"c{j}" if j >= 7 else cell for j, cell in enumerate(rows[0])]
    delimiter = rng.choice([",", ",", ",", ";", "\t", " "])
    end = rng.choice(["\n", "\n", "\r\n", "\r"])
    return end.join(delimiter.join(cells) for cells in rows).encode("utf-8", "surrogatepass")
