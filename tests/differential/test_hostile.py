"""A few hundred of the files that `python -m tests.differential.hostile` draws by the thousand."""

from __future__ import annotations

from tests.differential.hostile import run


def test_changed_trees_and_tables_are_refused_or_read() -> None:
    said: list[str] = []
    assert run(trees=150, tables=60, seed=12, say=said.append) == 0, "\n".join(said)
