"""All laws, in the order in which they are reported: the causes first, what follows from them last."""

from streed.testing.laws import agreement, bounds, constraint, facts, order, purity, sums, weights
from streed.testing.laws.law import Law

LAWS: tuple[Law, ...] = (
    *purity.LAWS,
    *sums.LAWS,
    *weights.LAWS,
    *order.LAWS,
    *constraint.LAWS,
    *bounds.LAWS,
    *facts.LAWS,
    *agreement.LAWS,
)

__all__ = ["LAWS", "Law"]
