"""`--query`: rows that a database reads and groups, in place of a table that is read row by row."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streed.errors import InputError

if TYPE_CHECKING:
    from streed.data import Dataset
    from streed.task import Task

_READERS = {".parquet": "read_parquet", ".csv": "read_csv", ".tsv": "read_csv"}


def query_data(
    data: str,
    query: str,
    task: Task,
    *,
    target: str | None,
    weights: str | None,
    frequency: str | None,
    sensitive: Sequence[str],
    categorical: Sequence[str],
    max_cuts: int | None,
) -> Dataset:
    """The rows of a query, in which `data` is the file; what the task only adds up is added up by the database.

    Raises InputError for a file that is none, and whatever `Dataset.from_query` does.
    """
    from streed.data import Dataset
    from streed.data.database import file_query, own_connection

    reader = _READERS.get(Path(data).suffix.lower())
    if reader is None:
        raise InputError("data", f"{data!r} is no Parquet or CSV file", "name one, such as rows.parquet")
    with own_connection(None, None) as connection:
        connection.execute(f"CREATE VIEW data AS {file_query(data, reader)}")
        groups: dict[str, Any] = {"sensitive_features": list(sensitive)} if sensitive else {}
        return Dataset.from_query(
            connection,
            query,
            target=target,
            sample_weight=weights,
            frequency=frequency,
            categorical=True if "all" in categorical else list(categorical) or None,
            max_cuts=max_cuts,
            task=task,
            **groups,
        )
