"""Dates and durations as whole numbers: microseconds, of dates since 1970; and back as text."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np

MICROSECOND = dt.timedelta(microseconds=1)
_DAY = 24 * 3600 * 10**6
EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - dates without a zone stay so
_EPOCH_UTC = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def microseconds(moment: Any) -> int:
    """Since 1970, of a date, a datetime (with a zone: of UTC) or a numpy datetime."""
    if isinstance(moment, np.datetime64):
        return int(moment.astype("datetime64[us]").astype(np.int64))
    if not isinstance(moment, dt.datetime):
        moment = dt.datetime(moment.year, moment.month, moment.day)  # noqa: DTZ001 - see EPOCH
    return (moment - (EPOCH if moment.tzinfo is None else _EPOCH_UTC)) // MICROSECOND  # type: ignore[no-any-return]


def date_text(moment: int) -> str:
    """Microseconds since 1970 as ISO 8601, as short as it can be: the date alone at midnight."""
    found = EPOCH + moment * MICROSECOND
    return found.date().isoformat() if found.time() == dt.time() else found.isoformat()


def parse_date(text: str) -> int:
    """What `date_text` wrote."""
    return microseconds(dt.datetime.fromisoformat(text))


def duration(span: Any) -> int:
    """Microseconds of a timedelta, also numpy's or pandas'.

    Raises OverflowError beyond 292,000 years, and TypeError for months, which have no number of days.
    """
    if isinstance(span, np.timedelta64):
        check_unit(span.dtype)
        return int(span.astype("timedelta64[us]").astype(np.int64))
    found = int(span // MICROSECOND)
    if not -(2**63) < found < 2**63:
        raise OverflowError("a duration of more than 2**63 microseconds")
    return found


def check_unit(dtype: Any) -> None:
    """Raises TypeError for numpy's durations in months, in years or in nothing, which numpy would guess."""
    if np.datetime_data(dtype)[0] in ("M", "Y", "generic"):
        raise TypeError(f"{dtype} has no number of microseconds")


def duration_text(span: int) -> str:
    """Microseconds as days and hours, as short as they can be: 90 minutes are "1:30:00", 24 hours "1 day".

    >>> duration_text(0), duration_text(-86_400_000_000), duration_text(180_000_000_500_000)
    ('0:00:00', '-1 day', '2083 days 8:00:00.500000')
    """
    days, rest = divmod(abs(span), _DAY)
    seconds, fraction = divmod(rest, 10**6)
    clock = f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}{f'.{fraction:06}' if fraction else ''}"
    said = [*([f"{days} day{'' if days == 1 else 's'}"] if days else []), *([clock] if rest or not days else [])]
    return ("-" if span < 0 else "") + " ".join(said)
