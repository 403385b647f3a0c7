"""All near-optimal trees of a task (its Rashomon set): counted exactly, listed in order of value, drawn at random.

    import streed

    trees = streed.rashomon(task, X, y, max_depth=4, epsilon=0.05)
    trees.count, trees.histogram, trees[0], trees.sample(10, rng=0)

`question.py` takes the task apart, `tables/packing.py` puts its sums in one key, the recursion of `dp/` counts trees by
key (`native.py` with the kernels of `tables/`) over the sets of rows of `cells.py`, `unranking.py` finds the i-th tree
again, and `rashomon_set.py` is what users see.
"""

from streed.rashomon.asking import rashomon
from streed.rashomon.rashomon_set import RashomonSet

__all__ = ["RashomonSet", "rashomon"]
