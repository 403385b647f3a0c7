"""A search that was stopped while a node was opened, and is taken up again with what it has, proves the optimum."""

from __future__ import annotations

import numpy as np
import pytest

import streed
from streed.cluster.pieces import Root
from streed.kernels.control import STOP
from streed.kernels.records import INFINITE, NONE
from streed.tasks import Accuracy

pytestmark = pytest.mark.compiles


@pytest.mark.parametrize("seed", range(3))
def test_a_node_whose_opening_was_stopped_is_opened_anew(seed: int) -> None:
    """Without edges it would seem settled, at the value of the tree that it happened to have."""
    draw = np.random.default_rng(seed)
    X, y = draw.integers(0, 2, (150, 9)).astype(np.uint8), draw.integers(0, 2, 150)
    frontier = streed.frontier(Accuracy(), X, y, max_depth=5)
    root = Root(frontier.problem, (), None)
    try:
        workspace = root.workspace
        # the root as it was before it was opened, and a search that is stopped as it begins
        workspace.nodes[workspace.engine["root"]]["n_edges"] = NONE
        root.control[STOP] = 1
        root._run(True, -1, INFINITE, 0, 1)
        assert workspace.root["n_edges"] == NONE
        root.control[STOP] = 0
        root._run(True, -1, INFINITE, 0, 1)
        assert tuple(workspace.root_edges["split"]) == frontier.splits
    finally:
        root.close()
