"""Dataset: the one place where input is validated and cast. A `table` is taken apart into columns, `reading` reads one,
`column` codes its values, `ordered` ranks those that are cut, `rows` checks what stands beside the rows.
"""

from streed.data.column import Column
from streed.data.dataset import Dataset
from streed.data.ordered import Cut, Kind, OrderedValues

__all__ = ["Column", "Cut", "Dataset", "Kind", "OrderedValues"]
