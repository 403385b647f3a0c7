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
        leaves, sums = np.flatnonzero(columns < 0), np.zeros((len(flat), statistics.shape[1]))
        np.add.at(sums, leaves[tree.apply(data)], statistics)
        for node in range(len(flat) - 1, 0, -1):
            sums[parents[node]] += sums[node]
        for empty in np.flatnonzero(rows == 0).tolist():  # parents come first
            sums[empty] = sums[parents[empty]]
        return cls(parents, columns, leaves, rows, sums)

    def paths(self) -> csr_matrix:
        """(leaves, k) sparse 0/1: the nodes from the root to each leaf."""
        ways: list[list[int]] = []
        for node, parent in enumerate(self.parents.tolist()):
            ways.append([*(ways[parent] if parent >= 0 else ()), node])
        chosen = [ways[leaf] for leaf in self.leaves.tolist()]
        nodes: Array = np.concatenate(chosen)
        return csr_matrix(
            (np.ones(len(nodes), np.int64), nodes, np.cumsum([0, *map(len, chosen)])), shape=(len(chosen), len(ways))
        )

    def gains(self, worth: Array) -> Array:
        """(k,) what each node costs as a leaf, less what its children do; 0 of leaves. `worth`: (k,) the costs."""
        gains = np.where(self.columns >= 0, worth, 0.0)
        below = (self.parents >= 0) & (self.rows > 0)
        np.subtract.at(gains, self.parents[below], worth[below])
        # Rounding, or a constraint, may make a split look worse than none.
        gained: Array = np.maximum(gains, 0.0)
        return gained
