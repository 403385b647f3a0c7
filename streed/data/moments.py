"""Dates, clock times and durations as whole numbers of microseconds, and back as text.

A date counts from 1970; one of a zone counts, and is written, in UTC.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import Any

import numpy as np

MICROSECOND = dt.timedelta(microseconds=1)
_DAY = 24 * 3600 * 10**6
EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - dates without a zone stay so
EPOCH_UTC = EPOCH.replace(tzinfo=dt.UTC)

FIRST, LAST = (-62_135_596_800_000_000, 253_402_300_799_999_999)
"""The years 1 to 9999, which Python and SQL have dates of."""


def microseconds(moment: Any) -> int:
    """Since 1970, of a date, a datetime (with a zone: of UTC), a period's beginning or a numpy datetime."""
    if isinstance(moment, np.datetime64):
        return int(moment.astype("datetime64[us]").astype(np.int64))
    if hasattr(moment, "start_time"):
        moment = moment.start_time.to_pydatetime()
    if not isinstance(moment, dt.datetime):
        moment = dt.datetime(moment.year, moment.month, moment.day)  # noqa: DTZ001 - see EPOCH
    return (moment - (EPOCH if moment.tzinfo is None else EPOCH_UTC)) // MICROSECOND  # type: ignore[no-any-return]


def have_zones(zones: Iterable[Any]) -> bool:
    """Whether these (tzinfo or None) are zones; raises ValueError where only some are."""
    found = {zone is not None for zone in zones}
    if len(found) > 1:
        raise ValueError("moments with and without a zone")
    return True in found


def moment_of(moment: int, *, zoned: bool = False) -> dt.datetime:
    """Microseconds since 1970 as a datetime, of UTC if it is `zoned`."""
    return (EPOCH_UTC if zoned else EPOCH) + moment * MICROSECOND


def date_text(moment: int, *, zoned: bool = False) -> str:
    """Microseconds since 1970 as ISO 8601, as short as it can be: of no zone, the date alone at midnight."""
    found = moment_of(moment, zoned=zoned)
    return found.date().isoformat() if not zoned and found.time() == dt.time() else found.isoformat()


def clock(time: dt.time) -> int:
    """Microseconds since midnight."""
    return ((time.hour * 60 + time.minute) * 60 + time.second) * 10**6 + time.microsecond


def clock_text(time: int) -> str:
    """Microseconds since midnight as ISO 8601, such as 08:30:00."""
    return (EPOCH + time * MICROSECOND).time().isoformat()


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
