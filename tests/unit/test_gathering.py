"""Libraries that are gathered: what is compiled waits, and is optimised once, as one module."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from llvmlite import binding

from streed.kernels.prebuilt import levels

_GATHERS = """
import sys
from pathlib import Path

import numpy as np

from streed.kernels.prebuilt import container
from streed.kernels.prebuilt.library import Library
from streed.kernels.signatures import argument_types
from streed.prebuild.emission import Emission
from streed.prebuild.gathering import keep_parts, only_gathered
from tests.unit import prebuilt_toys as toys

keep_parts()
emission = Emission()
values = np.arange(12, dtype=np.uint8).reshape(4, 3)
called = toys.sums_of_rows(values, 2)  # one that is called before is gathered, too
with only_gathered():
    for name, signatures in toys.SIGNATURES.items():
        kinds = [argument_types(each, (toys.Terms,)) for each in signatures]
        for kind in kinds:
            getattr(toys, name).compile(kind)
        emission.add_entry(name, getattr(toys, name), kinds)
path = Path(sys.argv[1])
emission.write(path, "any")
(call,) = Library(path, *container.read(path)).calls("sums_of_rows")
found = call((values, 2))
assert found[0].tolist() == called[0].tolist() == [6, 24, 42, 60], (found, called)
assert found[1:] == called[1:] == (60, True, 33.0), (found, called)
(order,) = Library(path, *container.read(path)).calls("order_of")
print(order((np.array([3, 1, 2]),)).tolist())
"""


@pytest.mark.compiles
@pytest.mark.skipif(
    not levels.runnable(binding.get_host_cpu_features()), reason="no library can be made for this machine"
)
def test_gathered_code_gives_what_compiled_code_gives(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _GATHERS, str(tmp_path / "toys.prebuilt")]
    environment = os.environ | {"STREED_CACHE": "0", "STREED_PREBUILT": "0"}
    root = Path(__file__).parents[2]
    found = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False, timeout=600)
    assert found.returncode == 0, found.stderr
    assert found.stdout == "[1, 2, 0]\n"
