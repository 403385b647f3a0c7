"""Dataset: the one place where input is validated and cast; columns, rows, labels, weights and names.

`table` takes what a caller hands over apart into columns (0/1 arrays the fast way), `reading` reads one, `column` turns
its values into codes, also those of new rows, `ordered` ranks those whose every threshold is a question, `labels` does
so for y, `rows` checks what stands beside the rows, and `dataset` joins them.
"""

from streed.data.column import Column
from streed.data.dataset import Dataset
from streed.data.ordered import Cut, Kind, OrderedValues

__all__ = ["Column", "Cut", "Dataset", "Kind", "OrderedValues"]
