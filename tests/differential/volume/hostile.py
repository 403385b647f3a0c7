"""Files as an enemy would write them: saved trees and tables, changed by their structure and byte by byte.

They are given to every command of the shell that reads them. Each must end by an exit code of its own with at most one
line on standard error, within seconds and without opening a file that only the changed file names.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import json
import random
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.dom import minidom

import attrs
from click.testing import CliRunner

from streed.cli.app import app

LONG = "9" * 5_000

VALUES: list[Any] = [0, -1, 1, 7, 2**63, -(2**63), 10**400, 2.0, 0.5, -0.0, 1e308, 5e-324, True]

TEXTS = ["", "1/0", "3/7", "1e30000000", "Infinity", "NaN", "\u0000", "a\nb", "\u2028", "\x1b[31m", "'", "]]>"]
TEXTS += ["<b>", "${x}", LONG, "\ufffe", "streed.tasks.accuracy", "Accuracy", "no", "outlook", "group", '"; DROP']

CODED: list[Any] = [{"fraction": "1/3"}, {"fraction": "1/0"}, {"fraction": LONG + "/7"}, {"fraction": 5}, {}]
CODED += [{"float": "inf"}, {"float": "nan"}, {"float": 1}, {"int": 1}, None]

CLASSES = [("accuracy", "WeightedAccuracy"), ("cost_sensitive", "CostSensitive"), ("cost_tables", "CostTable")]
CLASSES += [("cost_tables", "TestCost"), ("linear", "LinearLeaves"), ("metrics", "FBeta"), ("mdl", "BayesianTree")]
CLASSES += [("quantile", "QuantileError"), ("support", "MinSupport"), ("policy", "PolicyValue"), ("", "Accuracy")]
CLASSES = [(f"streed.tasks.{module}", name) for module, name in CLASSES]
CLASSES += [("subprocess", "Popen"), ("os", "system"), ("builtins", "eval"), ("streed.tasks.accuracy", "Path")]
CLASSES += [("streed.task.objective", "Objective"), ("streed.task.joint", "WeightedSum")]

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
    elif isinstance(holder[key], dict) and set(holder[key]) <= {"float", "fraction"}:
        holder[key] = rng.choice(CODED)
    elif isinstance(holder[key], (int, float)) and rng.random() < 0.6:
        holder[key] = rng.choice([*VALUES, holder[key] + rng.choice([-1, 1])])
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
            rng.choice(VALUES),
            rng.choice(TEXTS),
            {"fraction": rng.choice(TEXTS)},
            {"items": [[rng.choice(["no", "yes", 1, [1], {"items": []}]), rng.choice(VALUES)]]},
            {"items": rng.choice([1, [[1]], [[1, 2], [1.0, 3]]])},
            [rng.choice(VALUES), rng.choice(TEXTS)],
            [[0, 1], [rng.choice(VALUES), 0]],
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
            rng.choice(VALUES),
            rng.choice(TEXTS),
            rng.choice(CODED),
            [rng.choice(VALUES)] * rng.choice([1, 2, 300]),
            json.loads("[" * (depth := rng.choice([5, 60, 250])) + "1" + "]" * depth),
            {"a": {"b": rng.choice(TEXTS)}},
        ]
    )


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


PATIENCE = 20
"""Seconds for one command on a table of a few rows."""

SECRET = "the-secret-of-another-file"
"""What stands in the file whose path the trees name: nobody may see it."""

PLAY = """outlook,windy,humidity,times,day,play,group
sunny,0,70,1,2020-01-01,no,f
sunny,1,70,1,2020-01-02,no,m
overcast,0,70,2,2020-01-05,yes,f
rain,0,70.5,1,2020-02-01,yes,m
rain,0,80,1,,yes,f
rain,1,80,1,2021-01-01,no,m
overcast,1,,3,2020-01-01,yes,m
"""

NUMBERS = "a,b,y\n0,1,3\n1,1,4\n0,0,5\n1,0,3\n1,1,9\n"

COSTS = "0 1\n5 0\nname cost discounted group first last\nwindy 1 0.5 x 0 0\n"

BASES: list[tuple[str, str, tuple[str, ...]]] = [
    ("play", "play", ("--weights", "times", "--max-depth", "2")),
    ("play", "play", ("--weights", "times", "--max-depth", "2", "--multiway", "--task", "sparse-accuracy(0.01)")),
    ("play", "play", ("--task", "f1", "--max-depth", "1")),
    ("play", "play", ("--sensitive", "group", "--demographic-parity", "0.5", "--max-depth", "2")),
    ("play", "play", ("--task", "weighted-accuracy", "--param", "class_weight={'no': 4}", "--max-depth", "1")),
    ("play", "play", ("--subject-to", "min-support(2)", "--subject-to", "recall >= 0.5", "--max-depth", "1")),
    ("play", "play", ("--task", "cost-sensitive([[0, 1], [5, 0]])", "--max-depth", "1")),
    ("play", "play", ("--task", "balanced-accuracy", "--cuts", "all", "--max-depth", "2")),
    ("numbers", "y", ("--task", "absolute-error", "--max-depth", "1")),
    ("numbers", "y", ("--task", "squared-error", "--max-depth", "2")),
]
"""(table, target, further arguments) of the trees that are changed."""


@attrs.frozen
class Bench:
    """A folder with the files that are changed."""

    folder: Path
    trees: tuple[tuple[bytes, Path], ...]
    """Saved trees, with the table of each."""
    tables: tuple[tuple[bytes, str, Path], ...]
    """Tables, with the target and a tree of each."""
    secret: Path
    opened: list[str]
    """The times that the secret was opened."""

    @classmethod
    def build(cls, folder: Path) -> Bench:
        """Solves what is to be changed."""
        files = {"play": folder / "play.csv", "numbers": folder / "numbers.csv"}
        files["play"].write_text(PLAY, encoding="utf-8")
        files["numbers"].write_text(NUMBERS, encoding="utf-8")
        secret = folder / "secret.txt"
        secret.write_text(SECRET, encoding="utf-8")
        trees, tables = [], []
        for number, (name, target, more) in enumerate(BASES):
            out = folder / f"tree{number}.json"
            answer = CliRunner().invoke(app, ["solve", str(files[name]), "--target", target, *more, "--out", str(out)])
            if answer.exit_code != 0:
                raise RuntimeError(answer.output)
            trees.append((out.read_bytes(), files[name]))
            tables.append((files[name].read_bytes(), target, out))
        opened: list[str] = []
        sys.addaudithook(
            lambda event, given: opened.extend(given[:1] if event == "open" and str(given[0]) == str(secret) else ())
        )
        return cls(folder, tuple(trees), tuple(tables), secret, opened)

    def tree_faults(self, seed: int, number: int) -> list[str]:
        """What went wrong with the changed tree of this number."""
        rng = random.Random(f"{seed} tree {number}")
        base, table = rng.choice(self.trees)
        text = mutate_tree(rng, base, str(self.secret))
        path = self.folder / "changed.json"
        path.write_bytes(text)
        form = rng.choice(["python", "sql", "dot", "svg", "text"])
        commands = [
            ("verify", str(path), str(table)),
            ("predict", str(path), str(table)),
            ("export", str(path), "--to", form),
        ]
        if number % 20 == 0:
            page = str(self.folder / "page.html")
            commands.append(("report", str(table), "--target", "y", "--tree", str(path), "--out", page))
        return [f"{fault} of {text[:400]!r}" for command in commands for fault in self._faults(command)]

    def table_faults(self, seed: int, number: int) -> list[str]:
        """What went wrong with the changed table of this number."""
        rng = random.Random(f"{seed} table {number}")
        base, target, tree = rng.choice(self.tables)
        text = mutate_table(rng, base)
        path = self.folder / "changed.csv"
        path.write_bytes(text)
        kind = rng.choice([("--cuts", "2"), ("--cuts", "all"), ("--categorical", "all"), ("--weights", "times")])
        commands = [
            ("solve", str(path), "--target", target, "--max-depth", "1", "--time-limit", "5", *kind),
            ("predict", str(tree), str(path)),
            ("verify", str(tree), str(path)),
        ]
        return [f"{fault} of {text[:400]!r}" for command in commands for fault in self._faults(command)]

    def _faults(self, command: tuple[str, ...]) -> Iterator[str]:
        with warnings.catch_warnings(record=True) as warned, _alarm():
            warnings.simplefilter("always")
            answer = CliRunner().invoke(app, list(command), prog_name="streed")
        opened = len(self.opened)
        self.opened.clear()
        told = " ".join(command[:1] + command[-2:])
        if answer.exception is not None and not isinstance(answer.exception, SystemExit):
            yield f"{told}: " + "".join(traceback.format_exception(answer.exception)[-4:])
        elif answer.exit_code == 2 and (not answer.stderr.splitlines()[-1:] or "error: " not in answer.stderr):
            yield f"{told}: no reason for exit code 2"
        elif answer.exit_code == 2 and (answer.stdout or len(_errors(answer.stderr)) != 1):
            yield f"{told}: not one line: {answer.stdout[:200]!r} {answer.stderr[:300]!r}"
        elif answer.exit_code not in _CODES[command[0]]:
            yield f"{told}: exit code {answer.exit_code}: {answer.stderr[:300]}"
        if "not enough memory" in answer.stderr:
            yield f"{told}: out of memory"
        if SECRET in answer.output or SECRET in answer.stderr or opened:
            yield f"{told}: another file was opened"
        if warned:
            yield f"{told}: {warned[0].category.__name__}: {warned[0].message}"
        if command[0] == "export" and answer.exit_code == 0:
            yield from _bad_source(command[-1], answer.stdout)


_CODES = {"solve": (0, 2, 3, 4), "predict": (0, 2), "verify": (0, 1, 2), "export": (0, 2), "report": (0, 2)}


def _errors(text: str) -> list[str]:
    """The lines of standard error from the error on; questions made of columns are told above it."""
    lines = text.splitlines()
    return lines[next((at for at, line in enumerate(lines) if line.startswith("error: ")), 0) :]


def _bad_source(form: str, text: str) -> Iterator[str]:
    """What is wrong with an export."""
    try:
        if form == "python":
            compile(text, "exported", "exec")
        elif form == "svg":
            minidom.parseString(text.encode())
    except Exception as error:  # noqa: BLE001 - any is a fault
        yield f"export to {form}: {type(error).__name__}: {error}"


class _TooLong(BaseException):
    """A command took longer than it may; no command catches it."""


@contextlib.contextmanager
def _alarm() -> Iterator[None]:
    def ring(*_: object) -> None:
        raise _TooLong(f"no answer in {PATIENCE} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@functools.cache
def _bench() -> Bench:
    return Bench.build(Path(tempfile.mkdtemp()))


def wrong(seed: int, number: int) -> list[str]:
    """What went wrong with a changed table or tree."""
    bench = _bench()
    return (bench.table_faults if number % 3 == 2 else bench.tree_faults)(seed, number)
