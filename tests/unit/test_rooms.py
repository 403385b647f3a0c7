"""The picture of the packages is that of their imports, which go in no circle; and no test waits without an end."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from docs.site.rooms import PICTURE, draw, imports, levels


def test_the_picture_is_up_to_date() -> None:
    assert PICTURE.read_text(encoding="utf-8") == draw(), "run: python -m docs.site.rooms"


def test_no_package_imports_itself_by_way_of_others() -> None:
    graph = imports()
    rows = levels(graph)
    assert sorted(package for row in rows for package in row) == sorted(graph)
    with pytest.raises(ValueError, match="a circle among a, b"):
        levels({"a": {"b"}, "b": {"a"}, "c": set()})


def test_every_process_of_a_test_has_a_time_limit() -> None:
    """`subprocess.run` and its like name one; whoever talks to a child has `tests.processes.started`."""
    tests = Path(__file__).resolve().parents[1]
    endless, starters = [], {"processes.py", "harness.py"}
    for path in tests.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[0] == "subprocess":
                limited = any(k.arg == "timeout" for k in node.keywords) or path.name in starters
                endless += [] if limited else [f"{path.name}:{node.lineno}"]
    assert not endless
