"""Costs by kind of row written into a workspace that is packed already: what `groups.py` does, without the rows."""

from __future__ import annotations

from numba import int64

from streed.kernels.compiled import entry
from streed.kernels.counting.group_kernels import divisor_of


@entry
def set_prices(costs, sizes, split, profits, signed_costs):  # type: ignore[no-untyped-def]
    """(base, worst, divisor, accuracy): what every tree pays, the sum of worst minus least costs in units of the
    divisor, that divisor, and 1 if every row costs the same under every label but one.

    costs (G, K) int64 of a row of each group, of which there are sizes (G,); split >= 0. Writes profits (G, K + 1 or
    K + 2): worst cost minus cost, the worst cost, as they stand rows (1, never written), and signed_costs (G, 2): of
    two labels, the cost of the first minus that of the second, and its absolute value.
    """
    groups, labels = costs.shape
    divisor = int64(split)
    for g in range(groups):
        for k in range(1, labels):
            divisor = divisor_of(divisor, abs(costs[g, k] - costs[g, 0]))
    divisor = max(divisor, int64(1))
    base = int64(0)
    total = int64(0)
    accuracy = int64(1)
    for g in range(groups):
        least = costs[g].min()
        most = costs[g].max()
        worst = (most - least) // divisor
        base += sizes[g] * least
        total += sizes[g] * worst
        profit = int64(0)
        for k in range(labels):
            profits[g, k] = (most - costs[g, k]) // divisor
            if profits[g, k] != 0 and (profit != 0 or profits[g, k] != worst):
                accuracy = int64(0)
            profit += profits[g, k]
        profits[g, labels] = worst
        if labels == 2:
            signed_costs[g, 0] = profits[g, 1] - profits[g, 0]
            signed_costs[g, 1] = worst
    return base, total, divisor, accuracy
