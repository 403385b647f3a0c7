"""What README shows, from an installed wheel: `python -m tests.packaging.readme WHEEL`.

Installs the wheel in a fresh virtual environment, and runs README's shell commands and Python blocks from an empty
folder with small files of the names that README uses. A command passes if its exit code says that all is fine.
"""

from __future__ import annotations

import itertools
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

from tests.packaging.wheel import ROOT

_TASK = '''
import numpy as np
import streed


class MyTask(streed.Task):
    """Misclassified rows."""

    def statistics(self, data):
        return {"counts": data.class_numbers[:, None] == np.arange(data.n_classes)}

    def leaf_cost(self, s, k):
        return s.rows - s.counts[k]
'''


def blocks(language: str) -> list[str]:
    """README's blocks in this language."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)


def commands() -> list[list[str]]:
    """The `streed ...` commands of README's shell blocks, without what installs streed."""
    lines = [line.rpartition("&& ")[2] for block in blocks("bash") for line in block.replace("\\\n", " ").splitlines()]
    return [shlex.split(line, comments=True) for line in lines if line.startswith("streed ")]


def prepare(home: Path) -> None:
    """Writes the files that README's commands name."""
    rows = [(a, b, c, "yes" if a ^ b else "no") for a, b, c in itertools.product((0, 1), repeat=3)] * 4
    text = "\n".join(["a,b,c,class", *(",".join(map(str, row)) for row in rows)]) + "\n"
    for name in ("data.csv", "new.csv"):
        (home / name).write_text(text, encoding="utf-8")
    (home / "my_tasks.py").write_text(_TASK, encoding="utf-8")


def main(wheel: str) -> None:
    """Runs everything and prints how long it took; exits with an error if anything is amiss."""
    with tempfile.TemporaryDirectory() as elsewhere:
        home = Path(elsewhere)
        venv.create(home / "venv", with_pip=True)
        scripts = home / "venv" / ("Scripts" if os.name == "nt" else "bin")
        python = str(scripts / "python")
        # `streed check` draws its data with hypothesis.
        _timed([python, "-m", "pip", "install", "--quiet", f"{Path(wheel).resolve()}[testing]"], home)
        size = sum(path.stat().st_size for path in (home / "venv").rglob("*") if path.is_file())
        print(f"{size / 1e6:.0f} MB on disk, pip and the virtual environment included")
        prepare(home)
        for command in commands():
            _timed([str(scripts / command[0]), *command[1:]], home)
        (home / "readme.py").write_text("\n".join(blocks("python")), encoding="utf-8")
        _timed([python, "readme.py"], home)


def _timed(command: list[str], home: Path) -> None:
    begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "NUMBA_CACHE_DIR")}
    environment |= {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    done = subprocess.run(command, cwd=home, env=environment, check=False, capture_output=True, text=True, timeout=3600)
    shown = shlex.join([Path(command[0]).name, *command[1:]]).replace(str(Path.cwd()), ".")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{time.perf_counter() - begin:7.1f} s, {processor:6.1f} s of processor  {shown}", flush=True)
    if done.returncode:
        raise SystemExit(f"error: {done.returncode}\n{done.stdout}\n{done.stderr}")


if __name__ == "__main__":
    main(sys.argv[1])
