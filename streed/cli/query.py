"""`--query`: rows that a database reads and groups, in place of a table that is read row by row."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from streed.errors import InputError

if TYPE_CHECKING:
    from streed.cli.asked import Asked
    from streed.data import Dataset
    from streed.task import Task

_READERS = {".parquet": "read_parquet", ".csv": "read_csv", ".tsv": "read_csv"}


def query_data(asked: Asked, query: str, task: Task) -> Dataset:
    """The rows of a query, in which `data` is the file; of squared errors the database adds up all that they need.

    Raises InputError for a file that is none, and whatever `Dataset.from_query` does.
    """
    from streed.data import Dataset
    from streed.data.database import file_query, own_connection
    from streed.tasks import SquaredError

    reader = _READERS.get(Path(asked.data).suffix.lower())
    if reader is None:
        raise InputError("data", f"{asked.data!r} is no Parquet or CSV file", "name one, such as rows.parquet")
    with own_connection(None, None) as connection:
        connection.execute(f"CREATE VIEW data AS {file_query(asked.data, reader)}")
        groups: dict[str, Any] = {"sensitive_features": list(asked.sensitive)} if asked.sensitive else {}
        return Dataset.from_query(
            connection,
            query,
            target=asked.target,
            sample_weight=asked.weights,
            frequency=asked.frequency,
            categorical=True if "all" in asked.categorical else list(asked.categorical) or None,
            max_cuts=asked.max_cuts,
            moments=isinstance(task, SquaredError),
            **groups,
        )
