"""A table of every kind of column with labels, targets and groups, on which estimators are tried."""

from __future__ import annotations

import numpy as np
import pandas as pd

RNG = np.random.default_rng(7)


N = 90


TABLE = pd.DataFrame(
    {
        "age": np.where(RNG.random(N) < 0.15, np.nan, RNG.uniform(18, 80, N).round(1)),
        "city": RNG.choice(["Oslo", "Rome", "Lima"], N),
        "member": RNG.random(N) < 0.5,
        "since": pd.to_datetime("2020-01-01") + pd.to_timedelta(RNG.integers(0, 1000, N), unit="D"),
    }
)


TRUTH = ((TABLE["age"].fillna(0) > 40) ^ ((TABLE["city"] == "Rome") & (RNG.random(N) < 0.9))).to_numpy().astype(int)


TARGET = TRUTH * 3.0 + TABLE["member"].to_numpy() + RNG.normal(0, 0.1, N)


SEX = np.where(TABLE["age"].fillna(50) + RNG.normal(0, 15, N) > 50, "f", "m")
