"""Logarithms that vectorise: LLVM keeps a call of the C library's in a loop scalar, but not these few operations.

log(2^e m) = e ln 2 + log(m), with m between sqrt(1/2) and sqrt(2), and log(1 + f) = 2 atanh(s), s = f / (2 + f), by a
polynomial R in the square of s, of which f - (f^2 / 2 - s (f^2 / 2 + R)) keeps every bit (the scheme of fdlibm, and its
minimax coefficients). The error is below two units in the last place.

Of a ratio, s = (a - b) / (a + b), once b has the exponent of a, which saves the division of one by the other.
"""

from __future__ import annotations

import math
import types
from typing import Any

import numpy as np
from numba import float64, int64, njit

from streed.kernels.coding_kernels import bits_of, real_of
from streed.kernels.views import inline
from streed.logarithms import log_ratio

_COEFFICIENTS = (
    6.666666666666735130e-01,
    3.999999999940941908e-01,
    2.857142874366239149e-01,
    2.222219843214978396e-01,
    1.818357216161805012e-01,
    1.531383769920937332e-01,
    1.479819860511658591e-01,
)
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_LOG2_E = 1.4426950408889634
_SMALLEST_NORMAL = 2.2250738585072014e-308
_MANTISSA = 0x000FFFFFFFFFFFFF
_ONE = 0x3FF0000000000000
_SQRT2 = 1.4142135623730951
_LN2 = 0.6931471805599453
_HALF = 0x0008000000000000
_SERIES = tuple(2.0 / k for k in range(3, 21, 2))
"""Of 2 atanh(s) / s - 2 in the square of s, which is below 1/25: the next term is below one unit in the last place."""

fused = njit(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"contract"})
"""For what may multiply and add in one step."""


@inline
def _parts(x):  # type: ignore[no-untyped-def]
    """(e, log m) of x = 2^e m > 0."""
    is_small = x < _SMALLEST_NORMAL
    scaled = x * 18014398509481984.0 if is_small else x
    bits = bits_of(float64(scaled))
    exponent = (bits >> 52) - (1077 if is_small else 1023)
    m = real_of((bits & int64(_MANTISSA)) | int64(_ONE))
    is_large = m > _SQRT2
    m = m * 0.5 if is_large else m
    exponent = exponent + 1 if is_large else exponent
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    c1, c2, c3, c4, c5, c6, c7 = _COEFFICIENTS
    r = z * (c1 + z * (c2 + z * (c3 + z * (c4 + z * (c5 + z * (c6 + z * c7))))))
    half = 0.5 * f * f
    return float64(exponent), f - (half - s * (half + r))


@inline
def _at_the_edge(x, found):  # type: ignore[no-untyped-def]
    """`found` for 0 < x < inf; what a logarithm is for other x."""
    found = found if x < math.inf else x
    found = found if x > 0.0 else -math.inf
    return found if x >= 0.0 else math.nan


@inline
def log(x):  # type: ignore[no-untyped-def]
    """The natural logarithm; -inf at 0, nan below."""
    exponent, rest = _parts(float64(x))
    return _at_the_edge(x, exponent * _LN2_HIGH + (rest + exponent * _LN2_LOW))


@inline
def log2(x):  # type: ignore[no-untyped-def]
    """The logarithm to base 2, exact at powers of 2; -inf at 0, nan below."""
    exponent, rest = _parts(float64(x))
    return _at_the_edge(x, exponent + rest * _LOG2_E)


@fused
def _log_ratio(a, b):  # type: ignore[no-untyped-def]
    """The natural logarithm of a / b, both positive, normal and finite; any number for others.

    The difference of their bits, rounded to whole exponents, is an e with 2/3 <= a / (2^e b) <= 3/2.
    """
    bits = bits_of(float64(b))
    e = (bits_of(float64(a)) - bits + int64(_HALF)) >> 52
    scaled = real_of(bits + (e << 52))
    s = (a - scaled) / (a + scaled)
    z = s * s
    c1, c2, c3, c4, c5, c6, c7, c8, c9 = _SERIES
    r = z * (c1 + z * (c2 + z * (c3 + z * (c4 + z * (c5 + z * (c6 + z * (c7 + z * (c8 + z * c9))))))))
    return e * _LN2 + (2.0 * s + s * r)


def _like(module: Any) -> types.ModuleType:
    """A module with everything of the given one but these logarithms in place of its own."""
    made = types.ModuleType(module.__name__)
    made.__dict__.update({name: getattr(module, name) for name in dir(module) if not name.startswith("_")})
    made.__dict__.update(log=log, log2=log2)
    return made


STAND_INS: dict[int, Any] = {
    id(math): _like(math),
    id(log_ratio): _log_ratio,
    id(math.log): log,
    id(math.log2): log2,
    id(np.log): log,
    id(np.log2): log2,
}
"""By the identity of what a task's method names: what is compiled instead."""
