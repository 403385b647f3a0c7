"""What the cases share: their options, and where pictures go."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np


class Absent(Exception):
    """The data of a case are not here; the message says where they are to be had."""


@attrs.frozen
class Options:
    """What a case was asked for."""

    data: Path | None
    out: Path | None

    def find(self, name: str) -> Path:
        """A file below the folder of data; raises Absent where there is none."""
        if self.data is None or not (self.data / name).exists():
            raise Absent(f"{name} is not here; give --data FOLDER with the benchmarks' files")
        return self.data / name

    def save(self, name: str, svg: str) -> None:
        """Writes a picture, if pictures are wanted."""
        if self.out is not None:
            self.out.mkdir(parents=True, exist_ok=True)
            (self.out / name).write_text(svg, encoding="utf-8")


def read_options(about: str | None, given: Sequence[str] | None = None) -> Options:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--data", type=Path, help="the folder of data that do not ship")
    parser.add_argument("--out", type=Path, help="where pictures go")
    chosen = parser.parse_args(given)
    return Options(chosen.data, chosen.out)


def read_numbers(path: Path) -> Any:
    """(n, m) float64: a file of numbers between spaces."""
    return np.loadtxt(path)


def read_names(path: Path) -> list[str]:
    """The names of columns f0, f1, ... that a file lists, a line each."""
    lines = [line.split("\t", 1) for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("f")]
    return [name.strip() for _, name in lines]
