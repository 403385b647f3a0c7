"""The nodes of a tree as arrays: who is whose parent, which nodes are leaves, and what the training rows add up to."""

from __future__ import annotations

import attrs
import numpy as np
from scipy.sparse import csr_matrix

from streed.data import Dataset
from streed.exact import Array
from streed.tree import Tree, flatten


@attrs.frozen(eq=False)
class Nodes:
    """The k nodes of a tree, numbered parents first and children left to right, as scikit-learn does."""

    parents: Array
    """(k,) int64: the parent of each node; -1 of the root."""
    columns: Array
    """(k,) int64: the binarised column that each node asks about; -1 of leaves."""
    leaves: Array
    """(leaves,) int64: the nodes that are leaves, left to right."""
    rows: Array
    """(k,) int64: how many training rows reach each node, unweighted."""
    sums: Array
    """(k, m) float64: the summed statistics of these rows; of a node without rows, those of its parent."""

    @classmethod
    def of(cls, tree: Tree, data: Dataset, statistics: Array) -> Nodes:
        """The nodes, with the statistics (n, m) of the rows of `data` summed up."""
        flat = flatten(tree.root)
        parents, columns, rows = np.full((3, len(flat)), -1)
        for place, (first, second, third, *_) in enumerate(flat):
            if isinstance(second, tuple):
                columns[place], rows[place] = first, third
                parents[list(second)] = place
            else:
                rows[place] = second
        sums = np.zeros((len(flat), statistics.shape[1]))
        made = cls(parents, columns, np.flatnonzero(columns < 0), rows, sums)
        at_leaf = np.zeros((len(made.leaves), statistics.shape[1]))
        np.add.at(at_leaf, tree.apply(data), statistics)
        sums = made.paths().T @ at_leaf
        for empty in np.flatnonzero(made.rows == 0).tolist():  # parents come first
            sums[empty] = sums[parents[empty]]
        return attrs.evolve(made, sums=sums)

    def paths(self) -> csr_matrix:
        """(leaves, k) sparse 0/1: the nodes from the root to each leaf."""
        indices: list[int] = []
        ends = [0]
        for leaf in self.leaves.tolist():
            path, node = [], leaf
            while node >= 0:
                path.append(node)
                node = int(self.parents[node])
            indices += reversed(path)
            ends.append(len(indices))
        ones = np.ones(len(indices), dtype=np.int64)
        return csr_matrix((ones, indices, ends), shape=(len(self.leaves), len(self.parents)))

    def gains(self, worth: Array) -> Array:
        """(k,) what each node costs as a leaf, less what its children do; 0 of leaves. `worth`: (k,) the costs."""
        gains = np.where(self.columns >= 0, worth, 0.0)
        below = (self.parents >= 0) & (self.rows > 0)
        np.subtract.at(gains, self.parents[below], worth[below])
        # Rounding, or a constraint, may make a split look worse than none.
        gained: Array = np.maximum(gains, 0.0)
        return gained
