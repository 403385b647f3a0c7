"""The papers' equations in plain Python: the judge of every faster way to the same optimum.

`recursion` is STreeD's Eq. 3-8 and 51 on the task that `definition` describes (Def. 4.1); `evaluation` is Eq. 4, the
value of a given tree; `enumerate` tries every tree. No numba, no arrays of machine numbers, no bounds.
"""

from streed.reference.enumerate import Evaluation, best_trees, every_tree
from streed.reference.recursion import optimal_front, optimum

__all__ = ["Evaluation", "best_trees", "every_tree", "optimal_front", "optimum"]
