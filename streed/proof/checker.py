"""Which checker a proof is for, and calling it."""

from __future__ import annotations

from typing import Any

from streed.proof import check, check_limits

LIMITS = ("--max-nodes", "--amounts", "--between")
"""The options of `check_limits.py` that `check.py` does not have."""


def run_checker(arguments: list[str], program: str | None = None, *, compiled: bool = False) -> int:
    """The exit code of `check.py`, or, where the call limits sums, of `check_limits.py`; both say what was proved."""
    checker: Any = check_limits if any(each.partition("=")[0] in LIMITS for each in arguments) else check
    if not compiled:
        return int(checker.main(arguments, program))
    from streed.proof.compiled import CompiledSums

    return int(checker.main(arguments, program, CompiledSums))
