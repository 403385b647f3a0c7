"""The packaging check: `python -m tests.packaging.wheel FOLDER`.

Builds the sdist, builds the wheel from it, compares the wheel's files with git's, installs the wheel in a fresh virtual
environment, and solves there, outside the repository.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]

SHIPPED = frozenset({".py", ".typed", ".json", ".css", ".html", ".js"})
"""What a package folder may hold beside folders."""


def listed_by_git(root: Path = ROOT) -> list[str]:
    """The files of the repository that git knows, or would add: a new file counts before its first commit."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True, timeout=3600).stdout
    return [path for path in listed.split("\0") if path and (root / path).exists()]


def expected_files(listed: Iterable[str]) -> set[str]:
    """The wheel's files, without its metadata, for these files of the repository: tasks/ ships as streed/tasks/."""
    expected = set()
    for path in map(PurePosixPath, listed):
        if path.parts[0] == "tasks":
            path = PurePosixPath("streed") / path
        if path.parts[0] == "streed" and path.suffix in SHIPPED:
            expected.add(str(path))
    return expected


def files_of(wheel: Path) -> set[str]:
    """The wheel's files, without its metadata."""
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def declared_packages() -> set[str]:
    """The packages that pyproject.toml lists."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        return set(tomllib.load(file)["tool"]["setuptools"]["packages"])


def packages_in(listed: Iterable[str]) -> set[str]:
    """The packages that these files of the repository are."""
    return {str(PurePosixPath(f).parent).replace("/", ".") for f in expected_files(listed) if f.endswith("__init__.py")}


def build(folder: Path) -> Path:
    """The wheel, built from the sdist (as `python -m build` does), in `folder`."""
    _run([sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)])
    (wheel,) = folder.glob("*.whl")
    return wheel


def check_installed(wheel: Path) -> None:
    """Installs the wheel in a fresh virtual environment, then solves and checks the answer from an empty folder."""
    with tempfile.TemporaryDirectory() as elsewhere:
        home = Path(elsewhere)
        venv.create(home / "venv", with_pip=True)
        scripts = home / "venv" / ("Scripts" if os.name == "nt" else "bin")
        _run([str(scripts / "python"), "-m", "pip", "install", "--quiet", str(wheel)])
        environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "NUMBA_CACHE_DIR")}
        command = [str(scripts / "streed"), "solve", "monks-1", "--max-depth", "3", "--json", "--out", "tree.json"]
        solved = _run(command, cwd=home, env=environment)
        answer = json.loads(solved)
        if answer["status"] != "optimal" or not isinstance(answer["value"], int):
            raise SystemExit(f"error: the installed wheel solved monks-1 to {answer['status']} {answer['value']}")
        _run([str(scripts / "streed"), "verify", "tree.json", "monks-1"], cwd=home, env=environment)
        found = "import sys, streed.tasks, streed; print('tasks' in sys.modules, streed.tasks.Accuracy.__module__)"
        where = _run([str(scripts / "python"), "-c", found], cwd=home, env=environment).split()
        if where != ["False", "streed.tasks.accuracy"]:
            raise SystemExit(f"error: the installed tasks are at {where}")


def main(folder: str) -> None:
    """Runs the whole check; exits with an error if anything is amiss."""
    listed = listed_by_git()
    wheel = build(Path(folder))
    expected, found = expected_files(listed), files_of(wheel)
    if expected != found:
        raise SystemExit(f"error: missing from the wheel: {expected - found}; not in git: {found - expected}")
    print(f"{wheel.name}: {len(found)} files, as in git")
    check_installed(wheel)
    print("the installed wheel solves and verifies")


def _run(command: list[str], cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        command, cwd=cwd, env=env, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=3600
    )
    if done.returncode:
        raise SystemExit(f"error: {' '.join(command)} gave {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main(sys.argv[1])
