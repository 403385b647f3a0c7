"""The check of a wheel with prebuilt libraries: `python -m tests.packaging.prebuilt FOLDER`.

Builds the library of every level that this machine can run, unless --libraries names a folder that has them, puts them
into a copy of the repository, builds the wheel there, and installs it in a fresh virtual environment. Then it solves,
with an empty home and outside the repository, with each level in turn: without numba, and with equal answers.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

from llvmlite import binding

from streed.kernels.prebuilt import levels
from tests.packaging.wheel import ROOT, listed_by_git

LARGEST = 4_000_000
"""Bytes that a wheel may have."""

SOLVES = """
import json, sys
import numpy as np, streed
from streed.tasks import *
from streed.kernels.prebuilt.library import library
draw = np.random.default_rng(0)
X = draw.integers(0, 2, (300, 10)).astype(np.uint8)
y = (X[:, 0] & X[:, 1]) ^ X[:, 2] ^ (draw.random(300) < 0.2)
numbers, score = draw.normal(size=(300, 2)), draw.normal(size=300)
fair = Accuracy().subject_to(DemographicParity() <= 0.02)
answers = [
    streed.solve(Accuracy(), X, y, max_depth=4),
    streed.solve(Accuracy(), X, y + X[:, 3], max_depth=3),
    streed.solve(SparseAccuracy(0.01), X, y),
    streed.solve(F1(), X, y, max_depth=3),
    streed.solve(fair, X, y, max_depth=3, sensitive_features=X[:, 4]),
    streed.solve(Accuracy(), numbers, y, max_depth=3),
    streed.solve(SquaredError(), X, score, max_depth=3),
    streed.solve(SquaredError(), numbers, score, max_depth=2),
    streed.solve(RelativeRisk(), X, draw.exponential(size=300), event=y, max_depth=3),
    streed.solve(Gini(), X, y, max_depth=3),
]
shown = [[repr(each.value), each.tree.to_json()] for each in answers]
print(json.dumps({"level": library().level, "numba": "numba" in sys.modules, "answers": shown}))
"""


def make_wheel(folder: Path, libraries: Path | None) -> Path:
    """The wheel, built in `folder` from a copy of the repository with libraries."""
    source = folder / "source"
    for path in listed_by_git():
        target = source / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, target, follow_symlinks=False)
    place = source / "streed" / "kernels" / "prebuilt" / "libraries"
    if libraries is None:
        environment = {**os.environ, "PYTHONPATH": str(source)}
        subprocess.run(
            [sys.executable, "-m", "streed.prebuild", "--all", "--into", str(place)],
            cwd=source,
            env=environment,
            check=True,
            timeout=3600,
        )
    else:
        shutil.copytree(libraries, place)
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(source)], check=True, timeout=3600
    )
    (wheel,) = folder.glob("*.whl")
    return wheel


def check_wheel(wheel: Path) -> None:
    """Raises SystemExit unless the wheel is named for this machine, small enough, and solves as it should."""
    expected = {f"streed/kernels/prebuilt/libraries/{level.name}.prebuilt" for level in levels.levels()}
    with zipfile.ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if name.endswith(".prebuilt")}
    if found != expected or "-py3-none-manylinux" not in wheel.name or wheel.stat().st_size > LARGEST:
        raise SystemExit(f"error: {wheel.name} of {wheel.stat().st_size} bytes holds {sorted(found)}")
    with tempfile.TemporaryDirectory() as elsewhere:
        home = Path(elsewhere) / "home"
        home.mkdir()
        venv.create(Path(elsewhere) / "venv", with_pip=True)
        python = Path(elsewhere) / "venv" / "bin" / "python"
        # pip would take what is on this path for installed
        clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        subprocess.run(
            [str(python), "-m", "pip", "install", "--quiet", str(wheel)], env=clean, check=True, timeout=3600
        )
        runnable = [level.name for level in levels.runnable(binding.get_host_cpu_features())]
        answers = {level: _solve(python, home, level) for level in ("", *runnable)}
        for level, told in answers.items():
            if told["level"] != (level or runnable[0]) or told["numba"] or told["answers"] != answers[""]["answers"]:
                raise SystemExit(f"error: with {level or 'the best level'}: {json.dumps(told)[:2000]}")
        if list(home.rglob("*.code")):
            raise SystemExit("error: something was compiled")


def _solve(python: Path, home: Path, level: str) -> dict[str, object]:
    """What the installed package says to SOLVES with a level, and nothing on standard error."""
    gone = ("PYTHONPATH", "NUMBA_CACHE_DIR", "STREED_CACHE_DIR", "XDG_CACHE_HOME")
    environment = {key: value for key, value in os.environ.items() if key not in gone}
    environment |= {"HOME": str(home), "STREED_PREBUILT": level}
    run = subprocess.run(
        [str(python), "-c", SOLVES],
        cwd=home,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=3600,
    )
    if run.returncode or run.stderr:
        raise SystemExit(f"error: the installed wheel says: {run.stderr}")
    told: dict[str, object] = json.loads(run.stdout)
    return told


def main(arguments: list[str] | None = None) -> int:
    """0 if all holds."""
    parser = argparse.ArgumentParser(prog="python -m tests.packaging.prebuilt", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the wheel is left")
    parser.add_argument("--libraries", type=Path, metavar="FOLDER", help="that were built from these sources")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    wheel = make_wheel(options.folder, options.libraries)
    check_wheel(wheel)
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, installed and solved alike with every level")
    return 0


if __name__ == "__main__":
    sys.exit(main())
