"""Dataset: the one place where input is validated and cast; columns, rows, labels, weights and names.

`binary` holds the fast way for 0/1 arrays, `table` reads everything else column by column, `column` turns a column's
values into codes, `labels` does so for y, `rows` checks what stands beside the rows, and `dataset` joins them.
"""

from streed.data.column import Column
from streed.data.dataset import Dataset, encode

__all__ = ["Column", "Dataset", "encode"]
