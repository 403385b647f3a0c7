"""The papers' equations in plain Python, without arrays of machine numbers or bounds: the judge of every faster way."""

from streed.reference.enumerate import Evaluation, best_trees, every_tree
from streed.reference.recursion import optimal_front, optimum

__all__ = ["Evaluation", "best_trees", "every_tree", "optimal_front", "optimum"]
