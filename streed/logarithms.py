"""Logarithms of ratios, of which native code makes one division less than of the ratio and then its logarithm.

>>> log_ratio(1.0, 1.0)
0.0
"""

from __future__ import annotations

import math
from typing import Any


def log_ratio(a: Any, b: Any) -> Any:
    """log(a / b) of positive numbers. Native code makes any number of those that are not positive, or are subnormal or infinite."""
    return math.log(a / b)
