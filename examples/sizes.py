"""How good can a tree of each size be? Proven optimal trees of tic-tac-toe endgames, one node at a time.

Run it with `python examples/sizes.py`.
"""

from __future__ import annotations

import streed
from streed.datasets import load
from streed.tasks import Accuracy


def main() -> None:
    """Prints the least number of misclassified boards for every number of branching nodes up to seven."""
    data = load("tic-tac-toe").dataset()
    print("nodes  errors  depth")
    for nodes in range(8):
        result = streed.solve(Accuracy(), data, max_nodes=nodes, max_depth=4)
        assert result.status == "optimal"
        assert result.tree is not None
        print(f"{nodes:5}  {result.value:6}  {result.tree.depth:5}")


if __name__ == "__main__":
    main()
