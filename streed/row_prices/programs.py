"""A new linear program of HiGHS, which writes nothing."""

from __future__ import annotations

from typing import Any


def new_program(**options: Any) -> Any:
    """An empty `highspy.Highs` on one thread, with these of its options.

    HiGHS 1.16 writes its name and version to standard output as soon as an object has callbacks, before a caller can
    turn its output off, and what a command prints for another program could not be read. So it is turned off before.
    """
    import highspy

    class Silent(highspy.Highs):  # type: ignore[misc]
        def enableCallbacks(self) -> None:  # noqa: N802 - the library's name
            self.setOptionValue("output_flag", False)
            super().enableCallbacks()

    program = Silent()
    for option, value in {"output_flag": False, "threads": 1, **options}.items():
        if program.setOptionValue(option, value) != highspy.HighsStatus.kOk and value == "ipx":
            program.setOptionValue(option, "ipm")  # older releases have no other one
    return program
