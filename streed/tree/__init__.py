"""A tree: nested nodes, the columns that they ask about, and what each leaf shows; text, JSON and verification."""

from streed.tree.nodes import Branch, Claims, FlatBranch, Leaf, Node, flatten, nest, route, used_columns, walk, worth
from streed.tree.tree import Tree

__all__ = ["Branch", "Claims", "FlatBranch", "Leaf", "Node", "Tree", "flatten", "nest", "route", "used_columns"]
__all__ += ["walk", "worth"]
