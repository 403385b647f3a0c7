"""Proofs that a tree is optimal, which a stranger can check with Python and numpy alone.

    import streed
    from streed import proof

    result = streed.solve(task, X, y, max_depth=3)
    made = proof.prove(result, X, y)
    made.save("tree.proof", "table.csv")

Then, by whoever doubts it, `python check.py tree.proof table.csv --max-depth 3`: `streed/proof/check.py` is a file that
stands alone; `check_limits.py`, which needs it beside it, checks proofs under limits on sums and on nodes, and
`check_squares.py`, which needs both, those about squared errors. `check_methods.py` is given a task's own methods, and
`check_prices.py` tries prices of rows on every leaf. What a proof is: docs/explanation/proofs.md; its bytes:
docs/reference/proof-format.md.
"""

from streed.proof.proving import Proof, prove

__all__ = ["Proof", "prove"]
