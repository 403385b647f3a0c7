"""What Python and native counting agree on."""

from __future__ import annotations

INFINITE = 2**61
"""The key of what there is not; two of them and a price fit int64."""
