"""Proofs that a tree is optimal, which a stranger can check with Python and numpy alone.

    import streed
    from streed import proof

    result = streed.solve(task, X, y, max_depth=3)
    made = proof.prove(result, X, y)
    made.save("tree.proof", "tree.csv")

Then, by whoever doubts it, `python check.py tree.proof tree.csv --max-depth 3`: `streed/proof/check.py` is a file that
stands alone. What a proof is, and its bytes: docs/reference/proof-format.md.
"""

from streed.proof.proving import Proof, prove

__all__ = ["Proof", "prove"]
