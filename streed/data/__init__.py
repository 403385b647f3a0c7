"""Dataset: the one place where input is validated and cast; columns, rows, labels, weights and names.

`binary` holds the fast way for 0/1 arrays, `table` takes everything else apart into columns, `reading` reads one,
`column` turns its values into codes, `ordered` ranks those whose every threshold is a question, `labels` does so for y,
`rows` checks what stands beside the rows, and `dataset` joins them; `new_rows` reads rows by the columns of data that
were read before.
"""

from streed.data.column import Column
from streed.data.dataset import Dataset
from streed.data.ordered import Cut, Kind, OrderedValues

__all__ = ["Column", "Cut", "Dataset", "Kind", "OrderedValues"]
