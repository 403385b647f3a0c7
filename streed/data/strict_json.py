"""Files and JSON of strangers, within limits: every key once, no number without a value, nothing endless."""

from __future__ import annotations

import json
import math
import numbers
import os
import re
import stat
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO

from streed.errors import InputError

MOST_BYTES = 1 << 24
"""Of a saved tree: some hundred thousand nodes."""

MOST_DIGITS = 4_000
"""Of a whole number; Python itself refuses to write or read 4,300."""

MOST_LETTERS = 100_000
"""Of a name, label or category."""

_DEEPEST = 200  # brackets within brackets
_MOST_PARTS = 400_000  # lists and dicts: each takes its time to be checked
_SURROGATE = re.compile(r"\\u[dD][89abAB]")  # how half of a character is written, which no file can hold

_FRACTION = re.compile(r"(-?[0-9]+)(?:/([0-9]+))?")


def parse(text: str, argument: str, remedy: str) -> Any:
    """What the JSON text holds, as dicts, lists, texts, ints, finite floats, truth values and None.

    Raises InputError, naming `argument`, for what is no JSON, a key given twice, NaN and infinities, numbers too large
    to be a float or of more than 4,000 digits, brackets more than 200 deep, texts of more than 100,000 letters or with
    half a character, more than 400,000 lists and dicts, and texts of more than 16 MB.
    """
    if len(text) > MOST_BYTES:
        raise InputError(argument, f"it has more than {MOST_BYTES:,} letters", remedy)
    try:
        found = json.loads(
            text, parse_constant=_constant, parse_float=_real, parse_int=_whole, object_pairs_hook=_distinct
        )
    except RecursionError:
        raise InputError(argument, f"it is nested more than {_DEEPEST} deep", remedy) from None
    except (ValueError, TypeError) as error:
        raise InputError(argument, f"it is no JSON that can be read ({error})", remedy) from None
    said = _fault(found, _SURROGATE.search(text) is not None)
    if said is not None:
        raise InputError(argument, said, remedy)
    return found


def whole_fraction(text: str) -> Fraction:
    """The fraction that is written as "3/958" or "-7"; raises ValueError for any other text."""
    match = _FRACTION.fullmatch(text)
    if match is None or max(map(len, text.split("/"))) > MOST_DIGITS or int(match[2] or 1) == 0:
        raise ValueError(f"{text[:40]!r} is no fraction")
    return Fraction(int(match[1]), int(match[2] or 1))


def is_finite(x: int | float | Fraction) -> bool:
    """Whether a float can stand for the number."""
    try:
        return math.isfinite(float(x))
    except OverflowError:
        return False


def plain_value(x: Any) -> Any:
    """A value for JSON: a number as by `plain_number`, a tuple of them as a list, None as null."""
    if x is None:
        return None
    return [plain_number(part) for part in x] if isinstance(x, tuple) else plain_number(x)


def plain_number(x: Any) -> int | float | str:
    """An exact number for JSON: an int, a finite float, a fraction as text, or an infinity as text."""
    if isinstance(x, numbers.Integral):
        return int(x)
    if isinstance(x, Fraction):
        return int(x) if x.denominator == 1 else str(x)
    if isinstance(x, numbers.Real) and not math.isnan(x):
        real = float(x)
        return real if math.isfinite(real) else ("Infinity" if real > 0 else "-Infinity")
    raise InputError("tree", f"{x!r} is no number that a file can hold", "use ints, floats or Fractions")


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _real(text: str) -> float:
    value = float(text) if len(text) <= MOST_DIGITS else math.inf
    if not math.isfinite(value):
        raise ValueError(f"the number {text[:20]} is too large")
    return value


def _whole(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"a number of {len(text):,} digits")
    return int(text)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice[:40]!r} is there twice")
    return found


def _fault(found: Any, halves: bool) -> str | None:
    """What is wrong with the depth or a text of what was read; `halves`: whether to look for half characters."""
    stack, parts = [(found, 1)], 0
    while stack:
        thing, depth = stack.pop()
        if isinstance(thing, str):
            if len(thing) > MOST_LETTERS:
                return f"a text has {len(thing):,} letters"
            if halves and not is_text(thing):
                return f"the text {thing[:40]!r} has half a character"
        elif isinstance(thing, (dict, list)):
            if depth > _DEEPEST:
                return f"it is nested more than {_DEEPEST} deep"
            parts += 1
            if parts > _MOST_PARTS:
                return f"it has more than {_MOST_PARTS:,} lists and dicts"
            if isinstance(thing, dict):
                stack.extend((key, depth) for key in thing)
            stack.extend((part, depth + 1) for part in (thing.values() if isinstance(thing, dict) else thing))
    return None


def is_text(text: str) -> bool:
    """Whether UTF-8 can write it: no half of a character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


STANDARD_INPUT = "-"
"""In place of a path: what is written into the process."""

_BLOCK = 1 << 20


def read_text(source: str | Path, argument: str, most: int, absent: str = "check the path") -> str:
    """The UTF-8 text of a file, or of standard input for "-", without a byte order mark.

    Raises InputError, naming `argument`, for what is not there (do `absent`), no file, no UTF-8 text, or longer than
    `most` bytes.
    """
    shown = "standard input" if str(source) == STANDARD_INPUT else repr(str(source))
    try:
        if str(source) == STANDARD_INPUT:
            if sys.stdin is None:
                raise InputError(argument, "there is no standard input", "name a file")
            data = _read(sys.stdin.buffer, most)
        else:
            with Path(source).open("rb") as file:
                if stat.S_ISCHR(os.fstat(file.fileno()).st_mode) and not file.isatty():
                    raise InputError(argument, f"{shown} is a device", "give a file")
                data = _read(file, most)
    except FileNotFoundError:
        raise InputError(argument, f"there is no file {shown}", absent) from None
    except OSError as error:
        raise InputError(argument, f"{shown} cannot be read ({error.strerror})", "give a readable file") from None
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(argument, f"{shown} is no path ({error})", "check the path") from None
    if len(data) > most:
        raise InputError(argument, f"{shown} has more than {most:,} bytes", "give a smaller file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(argument, f"{shown} is not UTF-8 text", "save it as a UTF-8 text file") from None


def _read(file: BinaryIO, most: int) -> bytes:
    """At most one byte more than `most`."""
    blocks: list[bytes] = []
    rest = most + 1
    while rest > 0:
        block = file.read(min(rest, _BLOCK))
        if not block:
            break
        blocks.append(block)
        rest -= len(block)
    return b"".join(blocks)
