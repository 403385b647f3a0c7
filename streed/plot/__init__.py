"""Pictures, one call each: the tree, the front, the search over time, the rates of groups, near-optimal trees.

`tree`, `front`, `trace` and `rates` draw on matplotlib's axes, which the extra `plot` brings and which is loaded at the
first picture; `tree_svg` needs nothing. The names ending in `_of` give what the charts show as plain numbers, and those
ending in `_svg` draw that without matplotlib.
"""

from streed.plot.chart_svg import front_svg, rates_svg, trace_svg
from streed.plot.charts import front, rates, trace
from streed.plot.figure import tree
from streed.plot.near_optimal import against_of, against_svg, columns_svg, values_of, values_svg
from streed.plot.series import front_of, rates_of, trace_of
from streed.plot.survey import survey
from streed.plot.svg import tree_svg

__all__ = [
    "against_of",
    "against_svg",
    "columns_svg",
    "front",
    "front_of",
    "front_svg",
    "rates",
    "rates_of",
    "rates_svg",
    "survey",
    "trace",
    "trace_of",
    "trace_svg",
    "tree",
    "tree_svg",
    "values_of",
    "values_svg",
]
