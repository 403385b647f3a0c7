"""All laws, in the order in which they are reported: the causes first, what follows from them last."""

from streed.testing.cases import Law
from streed.testing.laws import agreement, bounds, order, purity, weights

LAWS: tuple[Law, ...] = tuple(
    found for file in (purity, weights, order, bounds, agreement) for found in vars(file).values() if type(found) is Law
)

__all__ = ["LAWS", "Law"]
