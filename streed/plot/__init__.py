"""Pictures, one call each.

`tree_svg` draws a tree as SVG text, which needs nothing further and which notebooks show. The other functions draw
charts on matplotlib's axes (the extra `plot`): `front`, `trace` and `rates` of results, `values`, `against` and
`columns` of near-optimal trees. `front_of` and `rates_of` give what their charts show as plain numbers.
"""

from streed.plot.charts import against, columns, front, rates, trace, values
from streed.plot.measures import front_of, rates_of, survey
from streed.plot.svg import tree_svg

__all__ = ["against", "columns", "front", "front_of", "rates", "rates_of", "survey", "trace", "tree_svg", "values"]
