"""What a kernel costs whose traits are lines of its text, or compile-time constants: seconds to compile and to run.

`python -m tests.benchmarks.switches`. One scoring loop with the traits of the template of generated kernels, made three
ways: its text without the lines of other traits; `if TRAIT:` over a constant of the enclosing function, which numba
prunes before it infers types; `if TRAITS[i]:` over a tuple, which it does not. CPU seconds, several of each in turn.
"""

from __future__ import annotations

import itertools
import statistics
import time
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numba import njit

TRAITS = ("TABLE", "CALLED", "COMBINE", "MULTIWAY")

TEXT = """
def score(pairs, sums, total, split_costs, second, out):
    n = pairs.shape[0]
    for j in range(n):
        best1 = np.int64(2**60)
        best0 = np.int64(2**60)
        for k in range(n):
            b = pairs[j, k]
            with_k = max(b, 7 - b) + max(sums[k] - b, b)
            without_k = max(sums[j] - b, b) + max(total - sums[j] - sums[k] + b, b)
            with_k += split_costs[j]  #: TABLE
            without_k += split_costs[j]  #: TABLE
            with_k += second[2 * k, j]  #: CALLED
            without_k += second[2 * k + 1, j]  #: CALLED
            with_k = with_k if with_k <= 2**50 else 2**60  #: COMBINE
            without_k = without_k if without_k <= 2**50 else 2**60  #: COMBINE
            best1 = min(best1, with_k)
            best0 = min(best0, without_k)
        for c in range(n):  #: MULTIWAY
            total_c = np.int64(0)  #: MULTIWAY
            for k in range(n):  #: MULTIWAY
                total_c += abs(pairs[c, k] - sums[k]) // (1 + split_costs[k] % 3)  #: MULTIWAY
            best1 = min(best1, total_c)  #: MULTIWAY
        out[0, j] = best1
        out[1, j] = best0
"""


def chosen(traits: Sequence[str]) -> str:
    """The text without the lines of other traits."""
    lines = [line.partition("  #: ") for line in TEXT.splitlines()]
    return "\n".join(body for body, _, trait in lines if not trait or trait in traits)


def guarded(condition: Callable[[str], str]) -> str:
    """The text with every run of lines of a trait below a condition."""
    out: list[str] = []
    lines = [line.partition("  #: ") for line in TEXT.splitlines()]
    for trait, run in itertools.groupby(lines, key=lambda line: line[2]):
        bodies = [body for body, _, _ in run]
        if trait:
            indent = bodies[0][: len(bodies[0]) - len(bodies[0].lstrip())]
            out += [f"{indent}if {condition(trait)}:", *(f"    {body}" for body in bodies)]
        else:
            out += bodies
    return "\n".join(out)


def variants(traits: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """(name, the function in Python) of the three ways."""
    yield "text", made(chosen(traits))
    body = "\n".join(f"    {line}" for line in guarded(lambda trait: trait).splitlines())
    outer = made(f"def score({', '.join(TRAITS)}):\n{body}\n    return score\n")
    yield "constants", outer(*(trait in traits for trait in TRAITS))
    yield "tuple", made(guarded(lambda trait: f"SWITCHES[{TRAITS.index(trait)}]"), tuple(t in traits for t in TRAITS))


def made(text: str, switches: tuple[bool, ...] = ()) -> Any:
    space: dict[str, Any] = {"np": np, "SWITCHES": switches}
    exec(compile(text, "<score>", "exec"), space)
    return space["score"]


def measure(traits: Sequence[str], arguments: tuple[Any, ...], rounds: int = 7, calls: int = 40) -> None:
    """Prints, for each way, milliseconds to compile (the median) and microseconds to run (the least)."""
    compiled: dict[str, Any] = {}
    to_compile: dict[str, list[float]] = {}
    to_run: dict[str, list[float]] = {}
    for _ in range(rounds):
        for name, function in variants(traits):
            fresh = types.FunctionType(function.__code__, function.__globals__, name, None, function.__closure__)
            compiled[name] = njit(fresh)
            begin = time.process_time()
            compiled[name](*arguments)
            to_compile.setdefault(name, []).append(time.process_time() - begin)
    for _ in range(rounds * 8):
        for name, function in compiled.items():
            begin = time.process_time()
            for _ in range(calls):
                function(*arguments)
            to_run.setdefault(name, []).append((time.process_time() - begin) / calls)
    for name in compiled:
        milliseconds, microseconds = statistics.median(to_compile[name]) * 1e3, min(to_run[name]) * 1e6
        print(f"{'+'.join(traits) or 'none':32} {name:10} compile {milliseconds:5.0f} ms   run {microseconds:7.1f} us")


def main() -> None:
    """Measures no trait, one, and all of them."""
    draw, n = np.random.default_rng(0), 128
    pairs, sums, costs, second = (draw.integers(0, 9, shape) for shape in ((n, n), n, n, (2 * n, n)))
    njit(lambda x: x + 1)(1)  # numba itself is loaded
    for traits in ((), ("TABLE",), TRAITS):
        measure(traits, (pairs, sums, 1000, costs, second, np.zeros((2, n), np.int64)))


if __name__ == "__main__":
    main()
