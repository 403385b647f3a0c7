"""Dataset: the one place where input is validated and cast; columns, rows, labels, weights and names.

`binary` holds the fast way for 0/1 arrays, `table` reads everything else column by column, `column` turns a column's
values into codes, `ordered` ranks those whose every threshold is a question, `labels` does so for y, `rows` checks what
stands beside the rows, and `dataset` joins them; `new_rows` reads rows by the columns of data that were read before.
"""

from streed.data.column import Column
from streed.data.dataset import Dataset
from streed.data.new_rows import encode
from streed.data.ordered import Cut, OrderedValues, Scale

__all__ = ["Column", "Cut", "Dataset", "OrderedValues", "Scale", "encode"]
