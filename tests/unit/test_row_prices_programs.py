"""Linear programs say nothing: standard output is for what a command prints."""

import subprocess
import sys

import pytest

from streed.row_prices.programs import new_program

CODE = """
from streed.row_prices.programs import new_program
import numpy as np
program = new_program(solver={method!r})
program.addCols(1, np.ones(1), np.ones(1), np.ones(1), 0, np.zeros(1, np.int32), np.zeros(0, np.int32), np.zeros(0))
program.run()
print(program.getObjectiveValue())
"""


@pytest.mark.parametrize("method", ["simplex", "ipx"])
def test_nothing_but_what_is_asked_reaches_standard_output(method: str) -> None:
    found = subprocess.run(
        [sys.executable, "-c", CODE.format(method=method)], capture_output=True, text=True, check=True, timeout=600
    )
    assert found.stdout == "1.0\n"


def test_options_are_those_asked_for() -> None:
    program = new_program(solver="simplex", simplex_strategy=4, presolve="off")
    values = [program.getOptionValue(name)[1] for name in ("output_flag", "threads", "solver", "simplex_strategy")]
    assert values == [False, 1, "simplex", 4]
