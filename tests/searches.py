"""The drivers that the tests try: all that are registered (`streed.drivers`), so a new one is tested by being there."""

from __future__ import annotations

from streed.drivers import Native, drivers

NATIVE = tuple(name for name, driver in drivers().items() if issubclass(driver, Native))
"""Those that run the native search, each by a procedure of its own; the default comes first."""

CHOSEN = (*NATIVE, "auto")
"""With the one that chooses among them."""

SCALAR = (*CHOSEN, "general")
"""All that answer a totally ordered task with one tree."""

TOTAL_ONLY = ("branches",)
"""Those that refuse partial orders, as a best partial tree needs a total one; all others take every task."""
