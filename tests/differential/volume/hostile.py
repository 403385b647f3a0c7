"""Files as an enemy would write them: saved trees and tables, changed by their structure and byte by byte.

They are given to every command of the shell that reads them. Each must end by an exit code of its own with at most one
line on standard error, within seconds and without opening a file that only the changed file names.
"""

from __future__ import annotations

import contextlib
import functools
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
from tests.differential.volume.mutations import mutate_table, mutate_tree

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
        return cls(folder, tuple(trees), tuple(tables), secret)

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
        with warnings.catch_warnings(record=True) as warned, _alarm(), _watched(self.secret) as opened:
            warnings.simplefilter("always")
            answer = CliRunner().invoke(app, list(command), prog_name="streed")
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


_watchers: list[tuple[str, list[str]]] = []


def _hook(event: str, given: tuple[Any, ...]) -> None:
    if event == "open" and _watchers:
        path, opened = _watchers[-1]
        if str(given[0]) == path:
            opened.append(path)


@contextlib.contextmanager
def _watched(path: Path) -> Iterator[list[str]]:
    """The times that a file is opened."""
    if not _installed:
        sys.addaudithook(_hook)
        _installed.append(True)
    opened: list[str] = []
    _watchers.append((str(path), opened))
    try:
        yield opened
    finally:
        _watchers.pop()


_installed: list[bool] = []


@functools.cache
def _bench() -> Bench:
    return Bench.build(Path(tempfile.mkdtemp()))


def wrong(seed: int, number: int) -> list[str]:
    """What went wrong with a changed table or tree."""
    bench = _bench()
    return (bench.table_faults if number % 3 == 2 else bench.tree_faults)(seed, number)
