"""What packages hold, told without building; and the whole check, `python -m tests.test_packaging FOLDER`.

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

import pytest

import streed
from streed.tasks import Accuracy

ROOT = Path(__file__).resolve().parents[1]

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


in_git = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a git repository: an unpacked sdist, say")


def run_python(code: str, cwd: Path | None = None) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=cwd, check=True, timeout=3600
    )
    return done.stdout.strip()


@in_git
def test_every_package_is_declared() -> None:
    packages = (PurePosixPath(f).parent for f in expected_files(listed_by_git()) if f.endswith("__init__.py"))
    assert {str(each).replace("/", ".") for each in packages} == declared_packages()


@in_git
def test_every_folder_of_the_package_is_a_package() -> None:
    folders = {str(Path(path).parent).replace("/", ".") for path in expected_files(listed_by_git())}
    assert folders == declared_packages()


def test_expected_files() -> None:
    listed = ["tasks/a.py", "streed/b.py", "streed/c/d.py", "streed/py.typed", "tests/e.py", "NEWS.md", "streed/tasks"]
    assert expected_files(listed) == {"streed/tasks/a.py", "streed/b.py", "streed/c/d.py", "streed/py.typed"}


def test_tasks_are_imported_under_one_name() -> None:
    assert Accuracy.__module__ == "streed.tasks.accuracy"
    assert "tasks" not in sys.modules
    assert "tasks.accuracy" not in sys.modules


@pytest.mark.parametrize(
    "statement",
    [
        "import streed",
        "import streed.cli.app",
        "import streed.plot, streed.export, streed.report",
        "from streed import Task, Tree, minimize",
    ],
)
def test_a_light_import(statement: str) -> None:
    heavy = "numba matplotlib hypothesis pandas polars sklearn narwhals jsonschema jinja2"
    assert run_python(f"import sys; {statement}; print(sorted(set({heavy!r}.split()) & set(sys.modules)))") == "[]"


def test_every_public_name_is_there() -> None:
    for name in streed.__all__:
        assert getattr(streed, name) is not None
        assert name in dir(streed)
    with pytest.raises(AttributeError, match="nothing"):
        _ = streed.nothing


@pytest.mark.parametrize(
    "statements",
    [
        "import streed; streed.solve",
        "import streed.solve; import streed",
        "from streed.solve import solve; import streed",
        "import streed; streed.solve; import streed.solve; from streed.solve import solve",
    ],
)
def test_solve_is_the_function_in_whatever_order_modules_are_imported(statements: str) -> None:
    assert run_python(f"{statements}; print(type(streed.solve).__name__)") == "function"


def test_the_version_is_that_of_the_package() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "streed.__version__"}
    assert f"## [{streed.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@in_git
def test_project_files_name_no_absolute_home() -> None:
    """Paths of one machine are of no use on another."""
    for name in listed_by_git():
        path = ROOT / name
        if path.is_file() and path.suffix in {".py", ".md", ".toml", ".yaml", ""} and not path.is_symlink():
            text = path.read_text(encoding="utf-8")
            assert "/ho" + "me/" not in text, name
            assert str(ROOT) + "/" not in text, name


if __name__ == "__main__":
    main(sys.argv[1])
