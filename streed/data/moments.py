"""Dates as whole numbers: microseconds since 1970, and back as ISO 8601."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np

MICROSECOND = dt.timedelta(microseconds=1)
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
