"""What features say about the rows of a factor: features -> prior means, by ridge regression."""

from rprnmf.priors.making import make_features
from rprnmf.priors.prior import Prior

__all__ = ["Prior", "make_features"]
