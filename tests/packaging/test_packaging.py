"""What can be told without building: the whole check is `python -m tests.packaging.wheel`, which .ci/run runs."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import streed
from streed.tasks import Accuracy
from tests.packaging.wheel import ROOT, declared_packages, expected_files, listed_by_git, packages_in

in_git = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a git repository: an unpacked sdist, say")


def run_python(code: str, cwd: Path | None = None) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=cwd, check=True, timeout=3600
    )
    return done.stdout.strip()


@in_git
def test_every_package_is_declared() -> None:
    assert packages_in(listed_by_git()) == declared_packages()


@in_git
def test_every_folder_of_the_package_is_a_package() -> None:
    folders = {str(Path(path).parent).replace("/", ".") for path in expected_files(listed_by_git())}
    assert folders == declared_packages()


def test_expected_files() -> None:
    listed = [
        "tasks/a.py",
        "streed/b.py",
        "streed/c/d.py",
        "streed/py.typed",
        "tests/e.py",
        "README.md",
        "streed/tasks",
    ]
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
        "import streed.testing",
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
