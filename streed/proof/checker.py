"""Which checker a proof is for, and calling it."""

from __future__ import annotations

from typing import Any

from streed.proof import by_prices, check, check_limits, check_methods, check_squares
from streed.proof.claim import about_squares

LIMITS = ("--max-nodes", "--amounts", "--between")
"""The options of `check_limits.py` that `check.py` does not have."""


def run_checker(arguments: list[str], program: str | None = None, *, compiled: bool = False) -> int:
    """The exit code of the checker that a call is for; it says what was proved.

    That is `check_squares.py` for squared errors, `check_methods.py` where the call gives methods, `check_limits.py`
    where it limits sums, `check_prices.py` for bounds by row prices, else `check.py`.
    """
    if by_prices.FLAG in arguments:
        return by_prices.main(arguments, program, compiled=compiled)
    if any(each.partition("=")[0] == "--methods" for each in arguments):
        return check_methods.main(arguments, program)  # nothing of it is compiled
    checker: Any = check_limits if any(each.partition("=")[0] in LIMITS for each in arguments) else check
    squares = about_squares(arguments)
    checker = check_squares if squares else checker
    if not compiled:
        return int(checker.main(arguments, program))
    from streed.proof.compiled import CompiledSums
    from streed.proof.compiled_squares import CompiledSquares
    from streed.proof.judge import prove_bound

    by_compiled: dict[Any, Any] = {check: prove_bound, check_limits: CompiledSums, check_squares: CompiledSquares}
    return int(checker.main(arguments, program, by_compiled[checker]))
