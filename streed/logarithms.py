"""Logarithms of ratios, of which native code makes one division less than of the ratio and then its logarithm.

>>> log_ratio(1.0, 1.0)
0.0
"""

from __future__ import annotations

import math
from typing import Any


def log_ratio(a: Any, b: Any) -> Any:
    """log(a / b) of positive numbers; natively they must be normal and finite, or the answer is any number."""
    return math.log(a / b)
