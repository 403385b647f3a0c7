"""The picture of the packages is that of their imports, which go in no circle."""

from __future__ import annotations

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
